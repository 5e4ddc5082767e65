"""OPLFMVC: one-pass late fusion multi-view clustering.

    max  Tr((Y C)ᵀ Σ_p β_p H_p W_p)
    subject to Y one-hot rows, CᵀC = I, W_pᵀW_p = I, β >= 0, ‖β‖₂ = 1

Late fusion whose consensus is a hard clustering from the start: no k-means on an embedding at the end.

============  ======  ==================================================
here          paper   shape
============  ======  ==================================================
partitions    H_p     m matrices, n_samples x n_clusters
rotations     W_p     m matrices, n_clusters x n_clusters
weights       β       m, on the unit sphere, non-negative
centroids     C       n_clusters x n_clusters, orthogonal
labels        Y       n_samples, the column of the one in every row
fused         R       Σ_p β_p H_p W_p, n_samples x n_clusters
============  ======  ==================================================

An iteration costs O(m n k²) and needs no kernel. Every step is exact on its own block, so the objective never falls.

Differences from the authors' code:

- The code does not prevent empty clusters. Here Y ranges over clusterings in which every cluster has a sample: an empty
  cluster takes the sample that loses least by moving, and if that is worse than the clustering before, the latter
  stays; so the objective is still monotone.
- A view whose alignment is negative (possible with ``init="identity"``, where the weights are updated with rotations
  that do not depend on the clustering yet) gets no weight, instead of a negative one.
- The start C is the polar factor of the k-means centroids, the nearest orthogonal matrix to them. The authors keep
  the left singular vectors only, which mixes the centroids.
- Rotations start at ``polar(H_pᵀ M)`` by default, where M is the partition of the mean kernel.

Columns of Y are not scaled by the cluster sizes, which favours large clusters; this is a property of the method.

Liu, Liu, Liao, Wang, Zhang, Tu, Tang, Liu, Zhu: One Pass Late Fusion Multi-view Clustering. ICML 2021.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions

from latefusion.arrays import polar
from latefusion.assignment import assign_by_kmeans
from latefusion.baselines.base import ITERATION_CONSTRAINTS, KERNEL_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.hard_labels import assign_rows
from latefusion.baselines.support.kernel_kmeans import has_converged
from latefusion.baselines.support.late_fusion_blocks import (
    Start,
    align_rotations,
    alignments,
    base_partitions,
    fuse,
    observed_kernels,
    start_rotations,
    view_weights,
)
from latefusion.types import SolverResult


def solve_one_pass(
    partitions: Sequence[NDArray[Any]],
    centroids: NDArray[Any],
    rotations: Sequence[NDArray[Any]],
    *,
    max_iter: int = 100,
    tol: float = 1e-4,
) -> SolverResult:
    """Maximise the alignment of a hard clustering with rotated base partitions.

    Parameters
    ----------
    partitions : sequence of ndarray of shape (n_samples, n_clusters)
        Base partitions H_p, with zero rows where a sample is not observed.
    centroids : ndarray of shape (n_clusters, n_clusters)
        Start of C, orthogonal.
    rotations : sequence of ndarray of shape (n_clusters, n_clusters)
        Start of W_p.
    max_iter : int, default=100
    tol : float, default=1e-4
        Relative change of the objective at which to stop.

    Returns
    -------
    SolverResult
        ``consensus`` is the fused partition R, ``labels`` the clustering.
    """
    weights = np.full(len(partitions), len(partitions) ** -0.5)
    fused = fuse(partitions, rotations, weights)
    labels: NDArray[np.intp] | None = None
    objective: list[float] = []
    converged = False
    # With one cluster and centred kernels the objective is zero, and its changes are rounding errors.
    rounding = float(np.finfo(fused.dtype).eps) * fused.size
    while not converged and len(objective) < max_iter:
        labels = assign_rows(fused @ centroids.T, labels)
        centroids = polar(_cluster_sums(fused, labels), xp=np).isometry
        target = centroids[labels]
        weights = view_weights(alignments(partitions, rotations, target))
        rotations = align_rotations(partitions, target)
        fused = fuse(partitions, rotations, weights)
        objective.append(float(np.vdot(target, fused)))
        converged = has_converged(objective, tol) or abs(objective[-1]) <= rounding
    return SolverResult(
        fused, weights, objective, len(objective), converged, rotations=np.stack(list(rotations)), labels=labels
    )


def _cluster_sums(fused: NDArray[Any], labels: NDArray[np.intp]) -> NDArray[Any]:
    # YᵀR
    sums = np.zeros((fused.shape[1], fused.shape[1]), dtype=fused.dtype)
    np.add.at(sums, labels, fused)
    return sums


class OnePassLateFusion(ComparisonMethod):
    """Late fusion that learns the labels directly, without k-means on a consensus embedding (OPLFMVC).

    Maximises Tr((Y C)ᵀ Σ_p β_p H_p W_p) over one-hot Y, orthogonal C and W_p, and weights β on the unit sphere,
    where the base partition H_p holds the leading eigenvectors of the kernel of view p. Samples may be missing in
    some views.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    views : dict or list, default=None
        Which columns belong to which view, when one table holds them all.
    similarity : {"auto", "kernel", "graph", "precomputed"}, default="auto"
        Whether the views are features, compared by a kernel or by a graph of neighbours, or kernels already computed.
    kernel : str or callable, default="gaussian"
        Kernel of every view.
    kernel_params : dict, default=None
        Parameters of the kernel; those left out come from the data.
    init : {"align", "identity"}, default="align"
        Start of the rotations. "align" turns every base partition towards that of the mean kernel; "identity" is the
        choice of the authors and depends on the arbitrary signs of eigenvectors.
    max_iter : int, default=100
        Maximum number of iterations.
    tol : float, default=1e-4
        Relative change of the objective at which to stop.
    n_init : int, default=10
        Number of k-means starts for the centroids to start from.
    random_state : int, RandomState or None, default=None
        Seed of these starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        The fused partition Σ_p β_p H_p W_p.
    view_weights_ : ndarray of shape (n_views,)
        Weight β of every view, on the unit sphere.
    rotations_ : ndarray of shape (n_views, n_clusters, n_clusters)
        Rotation W_p of every base partition.
    objective_ : ndarray of shape (n_iter_,)
        Alignment after every iteration; it never falls.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the relative change of the objective fell below ``tol``.

    References
    ----------
    Liu, Liu, Liao, Wang, Zhang, Tu, Tang, Liu, Zhu: One Pass Late Fusion Multi-view Clustering. ICML 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion.baselines.one_pass import OnePassLateFusion
    >>> centers = np.repeat(4 * np.eye(3), 4, axis=0)
    >>> X = [centers + np.random.RandomState(view).normal(size=(12, 3)) for view in range(2)]
    >>> OnePassLateFusion(n_clusters=3, random_state=0).fit_predict(X)
    array([2, 2, 2, 2, 0, 0, 0, 0, 1, 1, 1, 1])
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {}

    accepts_missing_views: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "init": [StrOptions({"align", "identity"})],
        **ITERATION_CONSTRAINTS,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Mapping[str, Any] | Sequence[Any] | None = None,
        similarity: Any = "auto",
        kernel: str | Callable[..., Any] = "gaussian",
        kernel_params: Mapping[str, Any] | None = None,
        init: Start = "align",
        max_iter: int = 100,
        tol: float = 1e-4,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> OnePassLateFusion:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict, Views, array or data frame
            The views. Samples may be missing in some of them (`Views` with a mask).
        y : ignored

        Returns
        -------
        OnePassLateFusion
        """
        views = self._fit_views(X)
        kernels = observed_kernels(views.arrays, self._similarities(views), views.mask, self.n_clusters)
        partitions, average = base_partitions(kernels, self.n_clusters)
        _, rule = assign_by_kmeans(average, self.n_clusters, n_init=self.n_init, random_state=self.random_state)
        result = solve_one_pass(
            partitions,
            polar(rule.centers, xp=np).isometry,
            start_rotations(partitions, average, self.init),
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self._store(result)
        return self
