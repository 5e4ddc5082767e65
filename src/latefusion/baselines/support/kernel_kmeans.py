"""Kernel k-means in its spectral relaxation, and the alternation that also learns weights of the kernels.

The relaxed problem for one kernel is

    min_H  Tr(K) - Tr(Hᵀ K H)    subject to HᵀH = I,

solved by the leading k eigenvectors of K. With several kernels, K = Σ_p c_p K_p, the cost of a partition H splits into
one number a_p = Tr(K_p) - Tr(Hᵀ K_p H) per kernel, and the updates of the weights depend on these numbers only.

Symbols: kernels K_p (n x n), m of them; partition H (n x k); weights γ (m,) on the probability simplex.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays.linalg import top_eigenpairs
from latefusion.baselines.support.simplex import simplex_quadratic
from latefusion.kernels import combine_kernels
from latefusion.types import SolverResult

Combination = Literal["squared", "linear"]
EXPONENTS: dict[Combination, int] = {"squared": 2, "linear": 1}

# Weights below this are set to zero, as the authors of the regularised methods do.
NEGLIGIBLE_WEIGHT = 1e-6


def kernel_kmeans(
    kernels: Sequence[NDArray[Any]], coefficients: NDArray[Any], n_clusters: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Relaxed kernel k-means on Σ_p c_p K_p.

    Parameters
    ----------
    kernels : sequence of ndarray of shape (n_samples, n_samples)
    coefficients : ndarray of shape (n_kernels,)
        The factors c_p, non-negative.
    n_clusters : int

    Returns
    -------
    partition : ndarray of shape (n_samples, n_clusters)
        Orthonormal columns.
    eigenvalues : ndarray of shape (n_clusters,)
        Descending; their sum is Tr(Hᵀ K H).
    """
    eigenvalues, partition = top_eigenpairs(combine_kernels(kernels, coefficients.tolist()), n_clusters)
    return partition, eigenvalues


def partition_costs(kernels: Sequence[NDArray[Any]], partition: NDArray[Any]) -> NDArray[Any]:
    """Cost of a partition for every kernel: a_p = Tr(K_p) - Tr(Hᵀ K_p H).

    Parameters
    ----------
    kernels : sequence of ndarray of shape (n_samples, n_samples)
    partition : ndarray of shape (n_samples, n_clusters)

    Returns
    -------
    ndarray of shape (n_kernels,)
        Non-negative; a difference that is only rounding error counts as zero.
    """
    traces = np.array([np.trace(kernel, dtype=np.float64) for kernel in kernels])
    costs = traces - explained_traces(kernels, partition)
    rounding = 10.0 * float(np.finfo(partition.dtype).eps) * len(partition)
    exact: NDArray[Any] = np.where(costs > rounding * traces, costs, 0.0)
    return exact


def explained_traces(kernels: Sequence[NDArray[Any]], partition: NDArray[Any]) -> NDArray[Any]:
    """Trace of every kernel on the span of a partition, Tr(Hᵀ K_p H), shape (n_kernels,)."""
    return np.array([float(np.vdot(partition, kernel @ partition)) for kernel in kernels])


def kernel_products(kernels: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Inner products of the kernels, M_pq = Tr(K_p K_q), shape (n_kernels, n_kernels)."""
    flat = [np.ravel(kernel) for kernel in kernels]
    products = np.empty((len(flat), len(flat)))
    for row, left in enumerate(flat):
        for column, right in enumerate(flat[: row + 1]):
            products[row, column] = products[column, row] = float(left @ right)
    return products


def has_converged(objective: Sequence[float], tol: float) -> bool:
    """Whether the last change is at most ``tol`` relative to the value before it, from the third value on."""
    return len(objective) > 2 and abs(objective[-2] - objective[-1]) <= tol * abs(objective[-2])


def solve_regularized_weights(
    kernels: Sequence[NDArray[Any]],
    n_clusters: int,
    regularizer: NDArray[Any],
    *,
    combination: Combination = "squared",
    max_iter: int = 100,
    tol: float = 1e-6,
) -> SolverResult:
    """Kernel k-means with kernel weights under a quadratic penalty.

    min_{H, γ}  Σ_p γ_p² a_p(H) + ½ γᵀ R γ    subject to HᵀH = I, γ on the simplex.

    Parameters
    ----------
    kernels : sequence of ndarray of shape (n_samples, n_samples)
    n_clusters : int
    regularizer : ndarray of shape (n_kernels, n_kernels)
        The matrix R, positive semi-definite.
    combination : {"squared", "linear"}, default="squared"
        Whether the partition is taken from Σ_p γ_p² K_p, which minimises the objective, or from Σ_p γ_p K_p.
    max_iter : int, default=100
    tol : float, default=1e-6
        Relative change of the objective at which to stop.

    Returns
    -------
    SolverResult
        Every value of the objective is that of a partition and the weights it was computed from. The weights returned
        are one update newer than the last partition.
    """
    weights = np.full(len(kernels), 1.0 / len(kernels))
    objective: list[float] = []
    converged = False
    while not converged and len(objective) < max_iter:
        partition, _ = kernel_kmeans(kernels, weights ** EXPONENTS[combination], n_clusters)
        costs = partition_costs(kernels, partition)
        objective.append(regularized_objective(costs, weights, regularizer))
        weights = _regularized_weights(costs, regularizer)
        converged = has_converged(objective, tol)
    return SolverResult(partition, weights, objective, len(objective), converged)


def regularized_objective(costs: NDArray[Any], weights: NDArray[Any], regularizer: NDArray[Any]) -> float:
    """Σ_p γ_p² a_p + ½ γᵀ R γ."""
    return float(costs @ weights**2 + 0.5 * weights @ regularizer @ weights)


def _regularized_weights(costs: NDArray[Any], regularizer: NDArray[Any]) -> NDArray[Any]:
    weights = simplex_quadratic(2.0 * np.diag(costs) + regularizer)
    weights[weights < NEGLIGIBLE_WEIGHT] = 0.0
    normalised: NDArray[Any] = weights / weights.sum()
    return normalised
