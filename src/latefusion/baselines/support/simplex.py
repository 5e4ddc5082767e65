"""The probability simplex: Euclidean projection, and quadratic programmes over it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

# Steps to the boundary that differ by less than this, as those of identical views do by rounding, count as equal.
TIE = 1e-9
# Singular values below this share of the largest count as zero.
ROUNDING = 1e-13


def project_rows_to_simplex(matrix: NDArray[Any]) -> NDArray[Any]:
    """The nearest point of the probability simplex for every row.

    Parameters
    ----------
    matrix : ndarray of shape (n, d)

    Returns
    -------
    ndarray of shape (n, d)
        Non-negative rows that sum to one.

    Notes
    -----
    With the entries sorted in descending order, u_1 >= u_2 >= ..., the projection is max(v - θ, 0) where θ is the mean
    excess of the longest prefix whose last entry stays positive.
    """
    # Adding a constant to a row does not move its projection; without its offset a large row keeps its last digits.
    matrix = matrix - matrix.max(axis=1, keepdims=True)
    descending = -np.sort(-matrix, axis=1)
    excess = np.cumsum(descending, axis=1) - 1.0
    counts = np.arange(1, matrix.shape[1] + 1, dtype=matrix.dtype)
    support = np.count_nonzero(descending - excess / counts > 0, axis=1)
    threshold = excess[np.arange(len(matrix)), support - 1] / counts[support - 1]
    projected: NDArray[Any] = np.maximum(matrix - threshold[:, None], 0.0)
    return projected


def simplex_quadratic(matrix: NDArray[Any], *, tol: float = 1e-12) -> NDArray[Any]:
    """Minimise ½ γᵀQγ over the probability simplex, by a primal active-set method.

    Parameters
    ----------
    matrix : ndarray of shape (m, m)
        Symmetric, positive semi-definite on the simplex's directions.
    tol : float, default=1e-12
        Relative size below which a multiplier counts as non-negative.

    Returns
    -------
    ndarray of shape (m,)
        The minimiser.

    Notes
    -----
    Starts with every weight free. The equality-constrained problem on the free weights has the closed form
    γ = Q⁻¹1 / 1ᵀQ⁻¹1; a step towards it stops where weights would turn negative, which are then fixed at zero, and
    fixed weights are freed when their multipliers show that the objective would fall. Each working set is visited at
    most once, so the method ends; it is fast because m is the number of views.

    Identical views have the same weight at every step: they are fixed together and freed together. One by one, the
    weight of the last to be fixed would go to the first to be freed, at no loss to the objective.
    """
    size = len(matrix)
    scale = float(np.max(np.abs(matrix)))
    if scale == 0.0:
        return np.full(size, 1.0 / size)
    quadratic = matrix / scale
    weights = np.full(size, 1.0 / size)
    free = np.ones(size, dtype=bool)
    for _ in range(50 * size + 50):
        target = np.zeros(size)
        target[free] = _equality_minimiser(quadratic[np.ix_(free, free)])
        step = target - weights
        blocking = free & (step < 0) & (target < 0)
        if blocking.any():
            ratios = np.full(size, np.inf)
            ratios[blocking] = weights[blocking] / -step[blocking]
            weights = np.maximum(weights + ratios.min() * step, 0.0)
            first = ratios <= ratios.min() + TIE
            weights[first] = 0.0
            free[first] = False
            continue
        weights = target
        gradient = quadratic @ weights
        multipliers = np.where(free, 0.0, gradient - gradient[free].mean())
        if multipliers.min() >= -tol:
            break
        free |= multipliers < -tol
    weights = np.maximum(weights, 0.0)
    normalised: NDArray[Any] = weights / weights.sum()
    return normalised


def _equality_minimiser(quadratic: NDArray[Any]) -> NDArray[Any]:
    # γ = Q⁻¹1 / 1ᵀQ⁻¹1. A singular Q (two identical views) is solved in the least-squares sense of its KKT system,
    # whose minimum-norm solution divides the weight equally between them. The zero among its singular values is a
    # rounding error of a few units; dividing by it would give the weight to one of them by chance.
    size = len(quadratic)
    system = np.zeros((size + 1, size + 1))
    system[:size, :size] = quadratic
    system[size, :size] = system[:size, size] = 1.0
    right = np.zeros(size + 1)
    right[size] = 1.0
    solution: NDArray[Any] = scipy.linalg.lstsq(system, right, cond=ROUNDING)[0][:size]
    return solution
