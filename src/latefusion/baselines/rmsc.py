"""RMSC: robust multi-view spectral clustering by low-rank and sparse decomposition.

    min  ‖P‖_* + λ Σ_p ‖E_p‖₁
    subject to T_p = P + E_p for every view, P >= 0, P 1 = 1

T_p = D_p^{-1} A_p is the random walk on the affinity A_p of view p. All views share a low-rank transition matrix P,
from which each of them departs by sparse errors E_p. Spectral clustering of the walk P gives the labels.

==============  ======  =====================================================
here            paper   shape
==============  ======  =====================================================
transitions     T_p     m matrices, n_samples x n_samples, rows sum to one
shared          P       n_samples x n_samples, rows sum to one
low_rank        Q       n_samples x n_samples, the copy of P that is low-rank
multipliers     Y_p     m matrices, n_samples x n_samples, for T_p = P + E_p
coupling        Z       n_samples x n_samples, multiplier for P = Q
penalty         μ       grows by the factor ρ in every iteration
regularization  λ       weight of the errors
==============  ======  =====================================================

The method of multipliers updates P (a projection of every row to the simplex), Q (singular values lowered by 1/μ),
and E_p (entries lowered by λ/μ) in turn. The penalty grows fast, so the result is near the convex optimum, not at
it, and depends on the start and growth of the penalty: the authors' values are the defaults. As in their code the
iterations stop when all T_p - E_p - P are small; whether P - Q is small as well is not tested.

Cost. An iteration takes O(m n²) and one threshold of the singular values of an n x n matrix B. The singular values
that survive are roots of eigenvalues of BᵀB above 1/μ². While the penalty is small there are none, as a bound on the
norm of B shows; while they are few, only these are computed. Memory is that of about 3 m + 10 matrices of size n x n,
the affinities included: errors E_p are never kept, because Y_p and P determine them.

Xia, Pan, Du, Yin: Robust Multi-view Spectral Clustering via Low-rank and Sparse Decomposition. AAAI 2014.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from latefusion.arrays import top_eigenpairs
from latefusion.baselines.base import ITERATION_CONSTRAINTS, KERNEL_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.simplex import project_rows_to_simplex
from latefusion.baselines.support.spectral import positive_degrees
from latefusion.types import SolverResult

MAX_PENALTY = 1e10
# The weight of the errors that is usually quoted.
QUOTED_PRICE = 0.005
# Probability of a jump to a random sample: the stationary distribution is unique even if the graph falls into parts.
TELEPORTATION = 1e-8


class SharedTransitions(NamedTuple):
    """The transition matrix shared by all views, and the course of its computation.

    Attributes
    ----------
    shared : ndarray of shape (n_samples, n_samples)
    objective : list of float
        ‖Q‖_* + λ Σ_p ‖E_p‖₁ after every iteration.
    converged : bool
    """

    shared: NDArray[Any]
    objective: list[float]
    converged: bool


def solve_rmsc(
    affinities: Sequence[NDArray[Any]],
    n_clusters: int,
    *,
    regularization: float = QUOTED_PRICE,
    penalty: float = 1e-3,
    penalty_growth: float = 1.9,
    max_iter: int = 300,
    tol: float = 1e-6,
) -> SolverResult:
    """Spectral embedding of the low-rank random walk that all affinities share.

    Parameters
    ----------
    affinities : sequence of ndarray of shape (n_samples, n_samples)
        Non-negative, with positive row sums.
    n_clusters : int
    regularization : float, default=0.005
        Weight λ of the errors.
    penalty : float, default=1e-3
        First penalty μ.
    penalty_growth : float, default=1.9
        Factor ρ > 1.
    max_iter : int, default=300
    tol : float, default=1e-6
        Largest row sum of |T_p - E_p - P| at which to stop.

    Returns
    -------
    SolverResult
    """
    # Double precision throughout: the last singular values that matter are 10⁻⁵ of the largest, their squares 10⁻¹⁰.
    transitions = [(affinity / positive_degrees(affinity)[:, None]).astype(np.float64) for affinity in affinities]
    found = share_transitions(
        transitions,
        regularization=regularization,
        penalty=penalty,
        penalty_growth=penalty_growth,
        max_iter=max_iter,
        tol=tol,
    )
    embedding = walk_embedding(found.shared, stationary_distribution(found.shared), n_clusters)
    return SolverResult(embedding, None, found.objective, len(found.objective), found.converged)


def default_regularization(n_samples: int, n_views: int, n_clusters: int) -> float:
    """Weight λ of the errors that preserves clusters, max(0.005, k / (m n)).

    Separate clusters of equal size give P the nuclear norm k. A P with the same distribution in every row has norm one
    and errors of 2 (1 - 1/k) in every row of every view: a lower objective without clusters, unless λ exceeds k / (2 m
    n). The default is twice that, and never below the value that is usually quoted.
    """
    return max(QUOTED_PRICE, n_clusters / (n_views * n_samples))


def share_transitions(
    transitions: Sequence[NDArray[Any]],
    *,
    regularization: float,
    penalty: float,
    penalty_growth: float,
    max_iter: int,
    tol: float,
) -> SharedTransitions:
    """Find the low-rank transition matrix P that all T_p share up to sparse errors.

    Parameters
    ----------
    transitions : sequence of ndarray of shape (n_samples, n_samples)
        Non-negative rows that sum to one.
    regularization, penalty, penalty_growth, max_iter, tol
        See `solve_rmsc`.

    Returns
    -------
    SharedTransitions
    """
    n_views = len(transitions)
    multipliers = [np.zeros_like(transition) for transition in transitions]
    # The target of P, Q - Z/μ + Σ_p (T_p - E_p - Y_p/μ); all but T_p are zero at the start.
    attraction = np.sum(transitions, axis=0)
    coupling = np.zeros_like(attraction)
    rank = 0
    objective: list[float] = []
    converged = False
    while not converged and len(objective) < max_iter:
        shared = project_rows_to_simplex(attraction / (n_views + 1))
        low_rank, nuclear_norm, rank = threshold_singular_values(shared + coupling / penalty, 1.0 / penalty, rank)
        coupling += penalty * (shared - low_rank)
        next_penalty = min(penalty * penalty_growth, MAX_PENALTY)
        attraction = low_rank - coupling / next_penalty
        residual, magnitude = 0.0, 0.0
        for transition, multiplier in zip(transitions, multipliers, strict=True):
            error, gap = _update_view(transition, multiplier, shared, penalty, regularization)
            attraction += transition - error - multiplier / next_penalty
            residual = max(residual, gap)
            magnitude += float(np.abs(error).sum())
        penalty = next_penalty
        objective.append(nuclear_norm + regularization * magnitude)
        converged = residual < tol
    return SharedTransitions(shared, objective, converged)


def _update_view(
    transition: NDArray[Any],
    multiplier: NDArray[Any],
    shared: NDArray[Any],
    penalty: float,
    regularization: float,
) -> tuple[NDArray[Any], float]:
    # E = shrink(B, λ/μ) with B = T - P - Y/μ. What the shrinkage takes away, clip(B, ±λ/μ), is minus the new Y over μ:
    # Y + μ(P + E - T) = -μ (B - E). The residual P + E - T is the change of Y over μ.
    error = transition - shared - multiplier / penalty
    removed = np.clip(error, -regularization / penalty, regularization / penalty)
    error -= removed
    removed *= -penalty
    gap = float(np.abs(removed - multiplier).sum(axis=1).max()) / penalty
    multiplier[...] = removed
    return error, gap


def threshold_singular_values(
    matrix: NDArray[Any], threshold: float, expected_rank: int
) -> tuple[NDArray[Any], float, int]:
    """Lower singular values by a threshold, from the eigenpairs of the Gram matrix that matter.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
    threshold : float
        Positive. Singular values below sqrt(machine epsilon) times the largest are not resolved.
    expected_rank : int
        A guess at the number of singular values above the threshold; it chooses the solver, not the result.

    Returns
    -------
    lowered : ndarray of shape (n, n)
        The matrix with all singular values lowered by the threshold, or to zero.
    nuclear_norm : float
        The sum of the lowered singular values.
    rank : int
        The number of them that are positive.
    """
    magnitudes = np.abs(matrix)
    # ‖B‖₂² <= ‖B‖₁ ‖B‖_∞
    if magnitudes.sum(axis=0).max() * magnitudes.sum(axis=1).max() <= threshold**2:
        return np.zeros_like(matrix), 0.0, 0
    gram = matrix.T @ matrix
    options: dict[str, Any] = {"driver": "evd"}
    if 4 * expected_rank < len(matrix):
        options = {"driver": "evr", "subset_by_value": (threshold**2, np.inf)}
    try:
        values, vectors = scipy.linalg.eigh(gram, **options, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:  # the search for a subset gives up where eigenvalues are equal up to rounding
        values, vectors = scipy.linalg.eigh(matrix.T @ matrix, driver="evd", check_finite=False)
    surviving = values > threshold**2
    values, vectors = values[surviving], vectors[:, surviving]
    singular = np.sqrt(values)
    lowered = ((matrix @ vectors) * (1.0 - threshold / singular)) @ vectors.T
    return lowered, float(np.sum(singular - threshold)), len(singular)


def stationary_distribution(shared: NDArray[Any]) -> NDArray[Any]:
    """Find the distribution π that the random walk leaves as it is, πᵀP = πᵀ, Σπ = 1.

    Parameters
    ----------
    shared : ndarray of shape (n_samples, n_samples)
        Non-negative rows that sum to one.

    Returns
    -------
    ndarray of shape (n_samples,)
        Positive. Where the walk falls into parts that do not reach each other, every part has the share of the samples
        that end up in it.
    """
    n_samples = len(shared)
    system = (TELEPORTATION - 1.0) * shared.T
    system[np.diag_indices(n_samples)] += 1.0
    distribution = scipy.linalg.solve(
        system, np.full(n_samples, TELEPORTATION / n_samples), overwrite_a=True, check_finite=False
    )
    distribution = np.maximum(distribution, TELEPORTATION**2)
    normalised: NDArray[Any] = distribution / distribution.sum()
    return normalised


def walk_embedding(shared: NDArray[Any], distribution: NDArray[Any], n_clusters: int) -> NDArray[Any]:
    """Leading eigenvectors of the random walk made symmetric, ½ (Π^{1/2} P Π^{-1/2} + its transpose)."""
    roots = np.sqrt(distribution)
    walk = roots[:, None] * shared / roots
    return top_eigenpairs(0.5 * (walk + walk.T), n_clusters)[1]


class RobustMultiViewSpectral(ComparisonMethod):
    """Spectral clustering of the low-rank random walk that all views share up to sparse errors (RMSC).

    Minimises ‖P‖_* + λ Σ_p ‖T_p - P‖₁ over transition matrices P, where T_p is the random walk on the affinity of
    view p.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    views : dict or list, default=None
        Which columns belong to which view, when one table holds them all.
    similarity : {"auto", "precomputed"}, default="auto"
        Whether the views are features or kernels already computed, whose negative entries then count as zero.
    kernel : str or callable, default="gaussian"
        Affinity of every view; that of "gaussian" has the median distance as its width.
    kernel_params : dict, default=None
        Parameters of the kernel; those left out come from the data.
    regularization : float or "auto", default="auto"
        Weight λ of the errors. "auto" is 0.005, the value usually quoted, or k / (m n) for k clusters, m views and n
        samples where that is more: with few samples, 0.005 makes errors so cheap that P loses the clusters.
    penalty : float, default=1e-3
        First penalty μ of the method of multipliers. The result depends on it, slightly.
    penalty_growth : float, default=1.9
        Factor of the penalty from one iteration to the next.
    max_iter : int, default=300
        Maximum number of iterations.
    tol : float, default=1e-6
        Largest row sum of the residuals T_p - P - E_p at which to stop.
    n_init : int, default=10
        Number of k-means starts for the labels.
    random_state : int, RandomState or None, default=None
        Seed of these starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        Leading eigenvectors of the shared random walk, made symmetric.
    objective_ : ndarray of shape (n_iter_,)
        ‖Q‖_* + λ Σ_p ‖E_p‖₁ after every iteration, with Q the low-rank copy of P. The constraints are met at the end
        only, so it need not fall.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the residuals fell below ``tol``.

    References
    ----------
    Xia, Pan, Du, Yin: Robust Multi-view Spectral Clustering via Low-rank and Sparse Decomposition. AAAI 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion.baselines.rmsc import RobustMultiViewSpectral
    >>> centers = np.repeat(4 * np.eye(3), 4, axis=0)
    >>> X = [centers + np.random.RandomState(view).normal(size=(12, 3)) for view in range(2)]
    >>> RobustMultiViewSpectral(n_clusters=3, random_state=0).fit_predict(X)
    array([2, 2, 2, 2, 0, 0, 0, 0, 1, 1, 1, 1])
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {"regularization": [2.0**power for power in range(-20, 11)]}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "regularization": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "penalty": [Interval(Real, 0, MAX_PENALTY, closed="neither")],
        "penalty_growth": [Interval(Real, 1, None, closed="neither")],
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
        regularization: float | Literal["auto"] = "auto",
        penalty: float = 1e-3,
        penalty_growth: float = 1.9,
        max_iter: int = 300,
        tol: float = 1e-6,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.regularization = regularization
        self.penalty = penalty
        self.penalty_growth = penalty_growth
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> RobustMultiViewSpectral:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict, Views, array or data frame
            The views.
        y : ignored

        Returns
        -------
        RobustMultiViewSpectral
        """
        affinities = self._fit_affinities(X)
        price = self.regularization
        if price == "auto":
            price = default_regularization(len(affinities[0]), len(affinities), self.n_clusters)
        result = solve_rmsc(
            affinities,
            self.n_clusters,
            regularization=price,
            penalty=self.penalty,
            penalty_growth=self.penalty_growth,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self._store(result)
        return self
