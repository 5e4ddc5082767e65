"""LF-IMVC: late fusion incomplete multi-view clustering.

    max  Tr(Fᵀ Σ_p H_p W_p) + λ Σ_p Tr(H_pᵀ H_p⁰)
    subject to FᵀF = I, H_pᵀH_p = I, W_pᵀW_p = I

The base partitions are variables: each is adjusted to agree with the consensus, and kept close to the partition H_p⁰ of
the samples observed in its view. Rows of samples that are not observed are zero in H_p⁰, so that they are not
constrained.

==============  ======  ===================================================
here            paper   shape
==============  ======  ===================================================
consensus       F       n_samples x n_clusters, orthonormal columns
partitions      H_p⁰    m matrices, n_samples x n_clusters
repaired        H_p     m matrices, n_samples x n_clusters, orthonormal columns
rotations       W_p     m matrices, n_clusters x n_clusters
regularization  λ       weight that keeps the adjusted partitions close to H_p⁰
==============  ======  ===================================================

An iteration costs O(m n k²). Every step is a polar factor, exact on its own block: the objective never falls.

Differences from the authors' code: their demonstration loads the pattern of missing samples but does not use it, and
divides the rows of H_p⁰ by their norms, which gives λ another scale; here H_p⁰ is the partition of the observed
samples, centred on them. Rotations start at ``polar(H_pᵀ M)`` by default, where M is the partition of the mean kernel.
The method has no view weights.

Liu, Zhu, Li, Wang, Tang, Yin, Shen, Wang, Gao: Late Fusion Incomplete Multi-View Clustering. IEEE Trans. Pattern
Analysis and Machine Intelligence, 2019.
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
)
from latefusion.types import SolverResult


def solve_lf_imvc(
    partitions: Sequence[NDArray[Any]],
    rotations: Sequence[NDArray[Any]],
    *,
    regularization: float,
    max_iter: int = 200,
    tol: float = 1e-4,
) -> SolverResult:
    """Adjust base partitions and fuse them.

    Parameters
    ----------
    partitions : sequence of ndarray of shape (n_samples, n_clusters)
        Partitions H_p⁰ of the observed samples, with zero rows elsewhere.
    rotations : sequence of ndarray of shape (n_clusters, n_clusters)
        Start of W_p.
    regularization : float
        The factor λ.
    max_iter : int, default=200
    tol : float, default=1e-4
        Relative change of the objective at which to stop.

    Returns
    -------
    SolverResult
    """
    repaired = list(partitions)
    equal = np.ones(len(repaired))
    objective: list[float] = []
    converged = False
    while not converged and len(objective) < max_iter:
        consensus = polar(fuse(repaired, rotations, equal), xp=np).isometry
        rotations = align_rotations(repaired, consensus)
        repaired = repair_partitions(partitions, rotations, consensus, regularization)
        fit = alignments(repaired, rotations, consensus).sum()
        fidelity = sum(float(np.vdot(new, old)) for new, old in zip(repaired, partitions, strict=True))
        objective.append(float(fit + regularization * fidelity))
        converged = has_converged(objective, tol)
    return SolverResult(consensus, None, objective, len(objective), converged, rotations=np.stack(list(rotations)))


def repair_partitions(
    partitions: Sequence[NDArray[Any]],
    rotations: Sequence[NDArray[Any]],
    consensus: NDArray[Any],
    regularization: float,
) -> list[NDArray[Any]]:
    """H_p = polar(F W_pᵀ + λ H_p⁰): a compromise between the consensus and the observed partition."""
    return [
        polar(consensus @ rotation.T + regularization * partition, xp=np).isometry
        for partition, rotation in zip(partitions, rotations, strict=True)
    ]


class IncompleteLateFusion(ComparisonMethod):
    """Late fusion that adjusts the base partitions of incomplete views (LF-IMVC).

    Maximises Tr(Fᵀ Σ_p H_p W_p) + λ Σ_p Tr(H_pᵀ H_p⁰) over orthonormal F and H_p and orthogonal W_p, where H_p⁰
    holds the leading eigenvectors of the kernel of the samples observed in view p. It also applies to complete views.

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
    regularization : float, default=1.0
        Weight λ that keeps the adjusted partitions close to those of the observed samples.
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
    Liu, Zhu, Li, Wang, Tang, Yin, Shen, Wang, Gao: Late Fusion Incomplete Multi-View Clustering. IEEE Trans. Pattern
    Analysis and Machine Intelligence, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion.baselines.lf_imvc import IncompleteLateFusion
    >>> centers = np.repeat(4 * np.eye(3), 4, axis=0)
    >>> X = [centers + np.random.RandomState(view).normal(size=(12, 3)) for view in range(2)]
    >>> IncompleteLateFusion(n_clusters=3, random_state=0).fit_predict(X)
    array([2, 2, 2, 2, 0, 0, 0, 0, 1, 1, 1, 1])
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {"regularization": [2.0**power for power in range(-15, 16, 3)]}

    accepts_missing_views: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "regularization": [Interval(Real, 0, None, closed="left")],
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
        regularization: float = 1.0,
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
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> IncompleteLateFusion:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict, Views, array or data frame
            The views. Samples may be missing in some of them (`Views` with a mask).
        y : ignored

        Returns
        -------
        IncompleteLateFusion
        """
        views = self._fit_views(X)
        kernels = observed_kernels(views.arrays, self._similarities(views), views.mask, self.n_clusters)
        partitions, average = base_partitions(kernels, self.n_clusters)
        result = solve_lf_imvc(
            partitions,
            start_rotations(partitions, average, self.init),
            regularization=self.regularization,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self._store(result)
        return self
