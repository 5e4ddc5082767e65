"""CRSC and Co-reg: co-regularised spectral clustering (Kumar, Rai, Daumé: Co-regularized multi-view spectral clustering.
NIPS, 2011).

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

Every update is a set of leading eigenvectors, so the objective never falls. A sweep costs m eigenproblems of size n for k
vectors; the terms U_qU_qᵀ are applied as factors and never formed. Memory: the affinities.

The seed paper of this library lists the method twice, as CRSC (on kernels) and as Co-reg (on features). In the pairwise form
the authors read labels off the first view, which they advise to be the best one; nobody knows which that is, so labels come
from all embeddings side by side unless ``embedding="first"``. (In the code "concatenation" keeps k columns: the first view
again.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse.linalg
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from latefusion.arrays import top_eigenpairs
from latefusion.base import KERNEL_CONSTRAINTS, ComparisonMethod
from latefusion.partitions.spectral import normalized_affinity
from latefusion.solvers.kernel_kmeans import explained_traces, has_settled
from latefusion.types import SolverResult


def solve_pairwise(
    affinities: Sequence[NDArray[Any]],
    n_clusters: int,
    *,
    regularization: float = 0.01,
    max_iter: int = 30,
    tol: float = 1e-6,
) -> tuple[SolverResult, NDArray[Any]]:
    """Pull the embeddings of all pairs of views together.

    Parameters
    ----------
    affinities : sequence of ndarray of shape (n_samples, n_samples)
        Normalised affinities S_p.
    n_clusters : int
    regularization : float, default=0.01
        The weight λ of the agreement.
    max_iter : int, default=30
        Most sweeps over the views.
    tol : float, default=1e-6
        Relative change of the objective at which to stop; zero takes all sweeps unless nothing changes any more.

    Returns
    -------
    result : SolverResult
        Without a consensus.
    embeddings : ndarray of shape (n_views, n_samples, n_clusters)
    """
    embeddings = _spectral_embeddings(affinities, n_clusters)
    # The authors' order: the first view comes last, so that it has seen all the others.
    order = [*range(1, len(affinities)), 0]
    objective: list[float] = []
    converged = False
    while len(objective) < max_iter and not converged:
        for view in order:
            others = np.delete(embeddings, view, axis=0)
            embeddings[view] = _pulled_embedding(affinities[view], others, regularization)
        objective.append(pairwise_objective(affinities, embeddings, regularization))
        converged = has_settled(objective, tol)
    return SolverResult(None, None, objective, len(objective), converged), embeddings


def solve_centroid(
    affinities: Sequence[NDArray[Any]],
    n_clusters: int,
    *,
    regularization: float = 0.01,
    max_iter: int = 30,
    tol: float = 1e-6,
) -> tuple[SolverResult, NDArray[Any]]:
    """Pull the embeddings of all views towards a common one.

    Parameters
    ----------
    affinities : sequence of ndarray of shape (n_samples, n_samples)
        Normalised affinities S_p.
    n_clusters : int
    regularization : float, default=0.01
        The weight λ of the agreement.
    max_iter : int, default=30
        Most sweeps over the views.
    tol : float, default=1e-6
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
        converged = has_settled(objective, tol)
    return SolverResult(consensus, None, objective, len(objective), converged), embeddings


def pairwise_objective(affinities: Sequence[NDArray[Any]], embeddings: NDArray[Any], regularization: float) -> float:
    """Σ_p Tr(U_pᵀ S_p U_p) + λ Σ_{p<q} ‖U_pᵀU_q‖²."""
    agreement = sum(
        float(np.sum((embeddings[left].T @ embeddings[right]) ** 2))
        for left in range(len(embeddings))
        for right in range(left)
    )
    return _spectral_fit(affinities, embeddings) + regularization * agreement


def centroid_objective(
    affinities: Sequence[NDArray[Any]], embeddings: NDArray[Any], consensus: NDArray[Any], regularization: float
) -> float:
    """Σ_p Tr(U_pᵀ S_p U_p) + λ Σ_p ‖U_pᵀU_*‖²."""
    agreement = sum(float(np.sum((embedding.T @ consensus) ** 2)) for embedding in embeddings)
    return _spectral_fit(affinities, embeddings) + regularization * agreement


def _spectral_fit(affinities: Sequence[NDArray[Any]], embeddings: NDArray[Any]) -> float:
    pairs = zip(affinities, embeddings, strict=True)
    return sum(float(explained_traces([affinity], embedding)[0]) for affinity, embedding in pairs)


def _spectral_embeddings(affinities: Sequence[NDArray[Any]], n_clusters: int) -> NDArray[Any]:
    return np.stack([top_eigenpairs(affinity, n_clusters)[1] for affinity in affinities])


def _pulled_embedding(affinity: NDArray[Any], others: NDArray[Any], regularization: float) -> NDArray[Any]:
    # U_p: leading eigenvectors of S_p + λ Σ_q U_q U_qᵀ
    factor = np.concatenate(list(others), axis=1) if len(others) else np.zeros((len(affinity), 0))

    def multiply(vectors: NDArray[Any]) -> NDArray[Any]:
        product: NDArray[Any] = affinity @ vectors + regularization * (factor @ (factor.T @ vectors))
        return product

    operator = scipy.sparse.linalg.LinearOperator(
        affinity.shape, matvec=multiply, matmat=multiply, dtype=affinity.dtype
    )
    return top_eigenpairs(operator, others.shape[2])[1]


def _centroid(embeddings: NDArray[Any]) -> NDArray[Any]:
    # U_*: leading eigenvectors of Σ_p U_p U_pᵀ, which are the leading left singular vectors of [U_1 ... U_m]
    left = scipy.linalg.svd(np.concatenate(list(embeddings), axis=1), full_matrices=False)[0]
    consensus: NDArray[Any] = left[:, : embeddings.shape[2]]
    return consensus
