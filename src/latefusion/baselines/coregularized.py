"""CRSC and Co-reg: co-regularised spectral clustering.

With S_p = D_p^{-1/2} A_p D_p^{-1/2} the normalised affinity of view p and all U_p, U_* orthonormal,

    pairwise:  max  Σ_p Tr(U_pᵀ S_p U_p) + λ Σ_{p<q} ‖U_pᵀU_q‖_F²
    centroid:  max  Σ_p Tr(U_pᵀ S_p U_p) + λ Σ_p ‖U_pᵀU_*‖_F²

so the spectral embeddings of all views are pulled together, either all pairs or each towards a common one.

==============  ======  =====================================================
here            paper   shape
==============  ======  =====================================================
affinities      S_p     m matrices, n_samples x n_samples
embeddings      U_p     m x n_samples x n_clusters, orthonormal columns
consensus       U_*     n_samples x n_clusters, centroid form only
regularization  λ       number
==============  ======  =====================================================

Every update is a set of leading eigenvectors, so the objective never falls. A sweep costs m eigenproblems of size n
for k vectors; the terms U_qU_qᵀ are applied as factors unless k is a large part of n. Memory: the affinities.

The paper of this library lists the method twice, as CRSC (on kernels) and as Co-reg (on features). In the pairwise form
the authors take the labels from the first view, which should be the best one. Which view is best is not known without
classes, so the labels come from the embeddings of all views side by side unless ``labels_from="first"``. (The
"concatenation" in their code keeps only k columns, which are the first view again.)

Kumar, Rai, Daumé: Co-regularized Multi-view Spectral Clustering. NIPS 2011.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
import scipy.sparse.linalg
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from latefusion.arrays import top_eigenpairs
from latefusion.assignment import assign_by_kmeans
from latefusion.baselines.base import ITERATION_CONSTRAINTS, KERNEL_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.graphs import MANY_VECTORS_FRACTION, lowest_eigenvectors, normalized_affinities
from latefusion.baselines.support.kernel_kmeans import explained_traces, has_converged
from latefusion.types import SolverResult


def solve_pairwise(
    affinities: Sequence[NDArray[Any]],
    n_clusters: int,
    *,
    regularization: float = 0.01,
    max_iter: int = 50,
    tol: float = 1e-4,
) -> tuple[SolverResult, NDArray[Any]]:
    """Pull the embeddings of all pairs of views together.

    Parameters
    ----------
    affinities : sequence of ndarray of shape (n_samples, n_samples)
        Normalised affinities S_p.
    n_clusters : int
    regularization : float, default=0.01
        The weight λ of the agreement.
    max_iter : int, default=50
        Maximum number of sweeps over the views.
    tol : float, default=1e-4
        Relative change of the objective at which to stop; with zero, only if it does not change at all.

    Returns
    -------
    result : SolverResult
        Without a consensus.
    embeddings : ndarray of shape (n_views, n_samples, n_clusters)
    """
    embeddings = _spectral_embeddings(affinities, n_clusters)
    # The authors' order: the first view comes last, so that its update uses the new embeddings of all others.
    order = [*range(1, len(affinities)), 0]
    objective: list[float] = []
    converged = False
    while len(objective) < max_iter and not converged:
        for view in order:
            others = np.delete(embeddings, view, axis=0)
            embeddings[view] = _pulled_embedding(affinities[view], others, regularization)
        objective.append(pairwise_objective(affinities, embeddings, regularization))
        converged = has_converged(objective, tol)
    return SolverResult(None, None, objective, len(objective), converged), embeddings


def solve_centroid(
    affinities: Sequence[NDArray[Any]],
    n_clusters: int,
    *,
    regularization: float = 0.01,
    max_iter: int = 50,
    tol: float = 1e-4,
) -> tuple[SolverResult, NDArray[Any]]:
    """Pull the embeddings of all views towards a common one.

    Parameters
    ----------
    affinities : sequence of ndarray of shape (n_samples, n_samples)
        Normalised affinities S_p.
    n_clusters : int
    regularization : float, default=0.01
        The weight λ of the agreement.
    max_iter : int, default=50
        Maximum number of sweeps over the views.
    tol : float, default=1e-4
        Relative change of the objective at which to stop.

    Returns
    -------
    result : SolverResult
        The consensus is U_*; as in the authors' code the embeddings are updated once more after it.
    embeddings : ndarray of shape (n_views, n_samples, n_clusters)
    """
    embeddings = _spectral_embeddings(affinities, n_clusters)
    objective: list[float] = []
    converged = False
    while len(objective) < max_iter and not converged:
        consensus = _centroid(embeddings)
        for view, affinity in enumerate(affinities):
            embeddings[view] = _pulled_embedding(affinity, consensus[None], regularization)
        objective.append(centroid_objective(affinities, embeddings, consensus, regularization))
        converged = has_converged(objective, tol)
    return SolverResult(consensus, None, objective, len(objective), converged), embeddings


def pairwise_objective(affinities: Sequence[NDArray[Any]], embeddings: NDArray[Any], regularization: float) -> float:
    """Σ_p Tr(U_pᵀ S_p U_p) + λ Σ_{p<q} ‖U_pᵀU_q‖²."""
    agreement = sum(
        float(np.sum((embeddings[left].T @ embeddings[right]) ** 2))
        for left in range(len(embeddings))
        for right in range(left)
    )
    return float(_spectral_fit(affinities, embeddings) + regularization * agreement)


def centroid_objective(
    affinities: Sequence[NDArray[Any]], embeddings: NDArray[Any], consensus: NDArray[Any], regularization: float
) -> float:
    """Σ_p Tr(U_pᵀ S_p U_p) + λ Σ_p ‖U_pᵀU_*‖²."""
    agreement = sum(float(np.sum((embedding.T @ consensus) ** 2)) for embedding in embeddings)
    return float(_spectral_fit(affinities, embeddings) + regularization * agreement)


def _spectral_fit(affinities: Sequence[NDArray[Any]], embeddings: NDArray[Any]) -> float:
    pairs = zip(affinities, embeddings, strict=True)
    return sum(float(explained_traces([affinity], embedding)[0]) for affinity, embedding in pairs)


def _spectral_embeddings(affinities: Sequence[NDArray[Any]], n_clusters: int) -> NDArray[Any]:
    return np.stack([top_eigenpairs(affinity, n_clusters)[1] for affinity in affinities])


def _pulled_embedding(affinity: NDArray[Any], others: NDArray[Any], regularization: float) -> NDArray[Any]:
    # U_p: leading eigenvectors of S_p + λ Σ_q U_q U_qᵀ
    n_samples, n_clusters = others.shape[1:]
    factor = np.concatenate([np.zeros((n_samples, 0)), *others], axis=1)
    if n_clusters > MANY_VECTORS_FRACTION * n_samples:
        return lowest_eigenvectors(-affinity - regularization * (factor @ factor.T), n_clusters)

    def multiply(vectors: NDArray[Any]) -> NDArray[Any]:
        product: NDArray[Any] = affinity @ vectors + regularization * (factor @ (factor.T @ vectors))
        return product

    operator = scipy.sparse.linalg.LinearOperator(
        affinity.shape, matvec=multiply, matmat=multiply, dtype=affinity.dtype
    )
    return top_eigenpairs(operator, n_clusters)[1]


def _centroid(embeddings: NDArray[Any]) -> NDArray[Any]:
    # U_*: leading eigenvectors of Σ_p U_p U_pᵀ, which are the leading left singular vectors of [U_1 ... U_m]
    left = scipy.linalg.svd(np.concatenate(list(embeddings), axis=1), full_matrices=False)[0]
    consensus: NDArray[Any] = left[:, : embeddings.shape[2]]
    return consensus


SOLVERS = {"pairwise": solve_pairwise, "centroid": solve_centroid}


class CoregularizedSpectral(ComparisonMethod):
    """Co-regularised spectral clustering (CRSC, Co-reg).

    Computes spectral embeddings of all views that agree with each other, in pairs or with a common one.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    views : dict or list, default=None
        Which columns belong to which view, when one table holds them all.
    similarity : {"auto", "precomputed"}, default="auto"
        Whether the views are features or kernels that are already computed; also one entry per view. Kernels are
        scaled to unit diagonal, negative similarities count as zero; they must not be centred.
    kernel : str or callable, default="gaussian"
        Affinity of the views that are features.
    kernel_params : dict, default=None
        Parameters of the kernel; the width of the Gaussian is the median distance unless given.
    form : {"pairwise", "centroid"}, default="pairwise"
        Whether every two embeddings are pulled together or all of them towards a common one.
    regularization : float, default=0.01
        Weight λ of the agreement of the views.
    labels_from : {"all", "first"}, default="all"
        Input of k-means in the pairwise form: the embeddings of all views side by side, or that of the first view, as
        in the authors' code.
    max_iter : int, default=50
        Maximum number of sweeps over the views.
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
    view_embeddings_ : ndarray of shape (n_views, n_samples, n_clusters)
        Spectral embedding of every view, orthonormal columns.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        The common embedding; centroid form only.
    objective_ : ndarray of shape (n_iter_,)
        Objective after every sweep; it never falls.
    n_iter_ : int
        Number of sweeps.
    converged_ : bool
        Whether the objective converged before ``max_iter``.

    See Also
    --------
    latefusion.baselines.spectral.BestViewSpectral : One view alone.

    References
    ----------
    Kumar, Rai, Daumé: Co-regularized Multi-view Spectral Clustering. NIPS 2011.

    Examples
    --------
    >>> from latefusion.baselines.coregularized import CoregularizedSpectral
    >>> from latefusion.datasets import make_views
    >>> from latefusion.metrics import clustering_accuracy
    >>> data = make_views(60, n_views=2, n_uninformative=1, random_state=0)
    >>> model = CoregularizedSpectral(n_clusters=3, random_state=0).fit(data.views)
    >>> round(clustering_accuracy(data.target, model.labels_), 2)
    0.93
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {"regularization": [0.01, 0.02, 0.03, 0.04, 0.05]}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "form": [StrOptions(set(SOLVERS))],
        "regularization": [Interval(Real, 0, None, closed="left")],
        "labels_from": [StrOptions({"all", "first"})],
        **ITERATION_CONSTRAINTS,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Any = None,
        similarity: Any = "auto",
        kernel: str | Callable[..., Any] = "gaussian",
        kernel_params: Mapping[str, Any] | None = None,
        form: str = "pairwise",
        regularization: float = 0.01,
        labels_from: str = "all",
        max_iter: int = 50,
        tol: float = 1e-4,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.form = form
        self.regularization = regularization
        self.labels_from = labels_from
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> CoregularizedSpectral:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict or Views of arrays, or one array
            The views; rows are samples.
        y : ignored

        Returns
        -------
        CoregularizedSpectral
            The fitted estimator.
        """
        affinities = normalized_affinities(self._fit_affinities(X), self.view_names_)
        result, self.view_embeddings_ = SOLVERS[self.form](
            affinities,
            self.n_clusters,
            regularization=self.regularization,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        labels, _ = assign_by_kmeans(
            self._seen_by_kmeans(result), self.n_clusters, n_init=self.n_init, random_state=self.random_state
        )
        self._store(result, labels)
        return self

    def _seen_by_kmeans(self, result: SolverResult) -> NDArray[Any]:
        if result.consensus is not None:
            return np.asarray(result.consensus)
        if self.labels_from == "first":
            return np.asarray(self.view_embeddings_[0])
        return np.concatenate(self.view_embeddings_, axis=1)


class CentroidCoregularizedSpectral(CoregularizedSpectral):
    """Co-regularised spectral clustering in its centroid form (CRSC-centroid).

    `CoregularizedSpectral` with another default of ``form``.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    form : {"pairwise", "centroid"}, default="centroid"
        Whether every two embeddings are pulled together or all of them towards a common one.
    views, partition, kernel, kernel_params, regularization, labels_from, max_iter, tol, n_init, random_state
        As in `CoregularizedSpectral`.

    Attributes
    ----------
    labels_, view_embeddings_, consensus_, objective_, n_iter_, converged_
        As in `CoregularizedSpectral`.

    References
    ----------
    Kumar, Rai, Daumé: Co-regularized Multi-view Spectral Clustering. NIPS 2011.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Any = None,
        similarity: Any = "auto",
        kernel: str | Callable[..., Any] = "gaussian",
        kernel_params: Mapping[str, Any] | None = None,
        form: str = "centroid",
        regularization: float = 0.01,
        labels_from: str = "all",
        max_iter: int = 50,
        tol: float = 1e-4,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_clusters,
            views=views,
            similarity=similarity,
            kernel=kernel,
            kernel_params=kernel_params,
            form=form,
            regularization=regularization,
            labels_from=labels_from,
            max_iter=max_iter,
            tol=tol,
            n_init=n_init,
            random_state=random_state,
        )
