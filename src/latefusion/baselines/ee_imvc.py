"""EE-IMVC: efficient and effective incomplete multi-view clustering, and its regularised version EE-R-IMVC.

    max  Tr(Fᵀ (Σ_p β_p H_p W_p + λ M)),    H_p = [H_p° ; H_pᵘ]
    subject to FᵀF = I, W_pᵀW_p = I, (H_pᵘ)ᵀH_pᵘ = I, β >= 0, Σ_p β_p^q = 1

The rows of the observed samples, H_p°, do not change; the rows of the missing ones, H_pᵘ, are imputed from the
consensus. λ = 0 is EE-IMVC, λ > 0 the regularised version.

==============  ======  =================================================================
here            paper   shape
==============  ======  =================================================================
consensus       F       n_samples x n_clusters, orthonormal columns
partitions      H_p     m matrices, n_samples x n_clusters, zero rows where missing
filled          H_p     the same with the missing rows imputed
average         M       n_samples x n_clusters, partition of the mean of the kernels with zeros
rotations       W_p     m matrices, n_clusters x n_clusters
weights         β       m
regularization  λ       pull of the consensus towards M
exponent        q       2 in the papers: weights on the unit sphere
==============  ======  =================================================================

An iteration costs O(m n k²). Every step is exact on its own block: the objective never falls.

With u < k missing rows, H_pᵘ cannot have orthonormal columns. The constraint is then ‖H_pᵘ‖₂ <= 1, of which the
orthonormal columns are the extreme points for u >= k, and the maximiser has orthonormal rows; with no row missing
nothing is imputed. H_p as a whole is not orthonormal, H_pᵀH_p = 2I once k rows are missing, so views with missing
samples get larger weights; this is a property of the method.

Differences from the authors' code: they centre and scale the complete kernels and apply the mask afterwards, which uses
values that would be missing; here the observed block is centred on itself. Rotations start at ``polar(H_pᵀ M)`` by
default.

Liu, Li, Tang, Xia, Xiong, Liu, Kloft, Zhu: Efficient and Effective Regularized Incomplete Multi-view Clustering.
IEEE Trans. Pattern Analysis and Machine Intelligence, 2021. The unregularised version: Liu, Zhu, Li, Tang, Zhu,
Yin, Gao: Efficient and Effective Incomplete Multi-view Clustering. AAAI 2019.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from latefusion.arrays import polar
from latefusion.baselines.base import ITERATION_CONSTRAINTS, KERNEL_CONSTRAINTS, ComparisonMethod
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


def solve_ee_imvc(
    partitions: Sequence[NDArray[Any]],
    average: NDArray[Any],
    rotations: Sequence[NDArray[Any]],
    mask: NDArray[np.bool_],
    *,
    regularization: float = 0.0,
    exponent: float = 2.0,
    max_iter: int = 100,
    tol: float = 1e-4,
) -> SolverResult:
    """Impute the missing rows of base partitions and fuse them.

    Parameters
    ----------
    partitions : sequence of ndarray of shape (n_samples, n_clusters)
        Partitions of the observed samples, with zero rows elsewhere.
    average : ndarray of shape (n_samples, n_clusters)
        Partition M of the mean kernel.
    rotations : sequence of ndarray of shape (n_clusters, n_clusters)
        Start of W_p.
    mask : ndarray of bool of shape (n_samples, n_views)
        True where a sample is observed in a view.
    regularization : float, default=0.0
        The factor λ.
    exponent : float, default=2.0
        The exponent q > 1 of the constraint on the weights.
    max_iter : int, default=100
    tol : float, default=1e-4
        Relative change of the objective at which to stop.

    Returns
    -------
    SolverResult
    """
    n_views = len(partitions)
    filled = list(partitions)
    weights = np.full(n_views, n_views ** (-1.0 / exponent))
    objective: list[float] = []
    converged = False
    while not converged and len(objective) < max_iter:
        fused = fuse(filled, rotations, weights) + regularization * average
        consensus = polar(fused, xp=np).isometry
        rotations = align_rotations(filled, consensus)
        filled = [
            fill_missing(partition, rotation, consensus, observed)
            for partition, rotation, observed in zip(partitions, rotations, mask.T, strict=True)
        ]
        gains = alignments(filled, rotations, consensus)
        weights = view_weights(gains, exponent)
        objective.append(float(weights @ gains) + regularization * float(np.vdot(consensus, average)))
        converged = has_converged(objective, tol)
    return SolverResult(consensus, weights, objective, len(objective), converged, rotations=np.stack(list(rotations)))


def fill_missing(
    partition: NDArray[Any], rotation: NDArray[Any], consensus: NDArray[Any], observed: NDArray[np.bool_]
) -> NDArray[Any]:
    """Impute the rows of the missing samples from the consensus, H_pᵘ = polar(F_u W_pᵀ); observed rows do not change.

    Parameters
    ----------
    partition : ndarray of shape (n_samples, n_clusters)
    rotation : ndarray of shape (n_clusters, n_clusters)
    consensus : ndarray of shape (n_samples, n_clusters)
    observed : ndarray of bool of shape (n_samples,)

    Returns
    -------
    ndarray of shape (n_samples, n_clusters)
        ``similarity`` itself when no sample is missing.
    """
    if observed.all():
        return partition
    filled = partition.copy()
    filled[~observed] = polar(consensus[~observed] @ rotation.T, xp=np).isometry
    return filled


class EfficientIncompleteLateFusion(ComparisonMethod):
    """Late fusion that imputes the missing rows of base partitions (EE-IMVC, EE-R-IMVC).

    Maximises Tr(Fᵀ (Σ_p β_p H_p W_p + λ M)) over orthonormal F, orthogonal W_p, weights β and the rows of H_p that
    belong to missing samples; the other rows hold the leading eigenvectors of the kernel of the observed samples.

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
    regularization : float, default=0.0
        Pull λ of the consensus towards the partition of the mean kernel. Zero is EE-IMVC, more is EE-R-IMVC.
    exponent : float, default=2.0
        Exponent q > 1 of the constraint Σ_p β_p^q = 1 on the weights.
    init : {"align", "identity"}, default="align"
        Start of the rotations. "align" turns every base partition towards that of the mean kernel; "identity" is the
        choice of the authors and depends on the arbitrary signs of eigenvectors.
    max_iter : int, default=200
        Maximum number of iterations.
    tol : float, default=1e-4
        Relative change of the objective at which to stop.
    n_init : int, default=10
        Number of k-means starts for the labels.
    random_state : int, RandomState or None, default=None
        Seed of these starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        Consensus partition F.
    view_weights_ : ndarray of shape (n_views,)
        Weight β of every view, non-negative with Σ_p β_p^q = 1.
    rotations_ : ndarray of shape (n_views, n_clusters, n_clusters)
        Rotation W_p of every base partition.
    objective_ : ndarray of shape (n_iter_,)
        Value after every iteration; it never falls.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the relative change of the objective fell below ``tol``.

    References
    ----------
    Liu, Zhu, Li, Tang, Zhu, Yin, Gao: Efficient and Effective Incomplete Multi-view Clustering. AAAI 2019.

    Liu, Li, Tang, Xia, Xiong, Liu, Kloft, Zhu: Efficient and Effective Regularized Incomplete Multi-view
    Clustering. IEEE Trans. Pattern Analysis and Machine Intelligence, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion.baselines.ee_imvc import EfficientIncompleteLateFusion
    >>> centers = np.repeat(4 * np.eye(3), 4, axis=0)
    >>> X = [centers + np.random.RandomState(view).normal(size=(12, 3)) for view in range(2)]
    >>> EfficientIncompleteLateFusion(n_clusters=3, random_state=0).fit_predict(X)
    array([2, 2, 2, 2, 0, 0, 0, 0, 1, 1, 1, 1])
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {"regularization": [2.0**power for power in range(-15, 16, 3)]}

    accepts_missing_views: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "regularization": [Interval(Real, 0, None, closed="left")],
        "exponent": [Interval(Real, 1, None, closed="neither")],
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
        regularization: float = 0.0,
        exponent: float = 2.0,
        init: Start = "align",
        max_iter: int = 200,
        tol: float = 1e-4,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.regularization = regularization
        self.exponent = exponent
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> EfficientIncompleteLateFusion:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict, Views, array or data frame
            The views. Samples may be missing in some of them (`Views` with a mask).
        y : ignored

        Returns
        -------
        EfficientIncompleteLateFusion
        """
        views = self._fit_views(X)
        mask = np.ones((len(views), views.n_views), dtype=bool) if views.mask is None else views.mask
        kernels = observed_kernels(views.arrays, self._similarities(views), mask, self.n_clusters)
        partitions, average = base_partitions(kernels, self.n_clusters)
        result = solve_ee_imvc(
            partitions,
            average,
            start_rotations(partitions, average, self.init),
            mask,
            regularization=self.regularization,
            exponent=self.exponent,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self._store(result)
        return self
