"""Regression with coefficients on the probability simplex: many quadratic programmes with one Hessian.

    min_{z_i}  ½ z_iᵀ H z_i - c_iᵀ z_i    subject to  z_i >= 0,  1ᵀz_i = 1,      i = 1, ..., n

with H positive definite. For given positive entries S of z_i, the solution is z_S = H_SS⁻¹ (c_S + μ 1), where μ makes
the sum one. The primal-dual active-set method guesses S for all rows together: an entry leaves S where z is not
positive and joins it where the gradient is below μ. It ends after a few rounds in nearly all rows, at the exact
solution. Rows in which it does not settle are solved by a primal active-set method, which descends and therefore ends.

========  ======  =======================
here      symbol  shape
========  ======  =======================
hessian   H       r x r
targets   c_i     n x r
weights   z_i     n x r
free      S       n x r, boolean
========  ======  =======================

A round costs O(n s³) for s positive entries in a row, at most r, and memory is that of a block of s x s systems.

Hintermüller, Ito, Kunisch: The primal-dual active set strategy as a semismooth Newton method. SIAM J. Optimization,
2002.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import row_blocks
from latefusion.baselines.support.simplex import project_rows_to_simplex

# Entries of a block of r x r systems.
BLOCK_ENTRIES = 2**21
# Rounds after which a row counts as unsettled.
ROUNDS = 30
# Relative size up to which a multiplier counts as non-negative.
TOLERANCE = 1e-12


def regress_on_simplex(hessian: NDArray[Any], targets: NDArray[Any]) -> NDArray[Any]:
    """Minimise ½ zᵀHz - cᵀz over the probability simplex, for every row c of the targets.

    Parameters
    ----------
    hessian : ndarray of shape (n_anchors, n_anchors)
        Symmetric and positive definite. If it is singular up to rounding, rounding errors are added to its diagonal.
    targets : ndarray of shape (n_samples, n_anchors)

    Returns
    -------
    ndarray of shape (n_samples, n_anchors)
        Non-negative rows that sum to one.
    """
    scale = float(np.max(np.abs(np.diag(hessian))))
    size = len(hessian)
    weights = np.empty_like(targets, dtype=np.float64)
    hessian = hessian / scale
    rounding = size * float(np.finfo(np.float64).eps)
    if np.linalg.eigvalsh(hessian)[0] <= rounding:  # equal anchors, and an α far below their squared lengths
        hessian = hessian + rounding * np.eye(size)
    for rows in row_blocks(len(targets), max(1, BLOCK_ENTRIES // size**2)):
        weights[rows] = _solve_block(hessian, targets[rows] / scale)
    return weights


def _solve_block(hessian: NDArray[Any], targets: NDArray[Any]) -> NDArray[Any]:
    # Only differences of the entries of c matter; without their offset they keep their digits.
    targets = targets - targets.max(axis=1, keepdims=True)
    weights = project_rows_to_simplex(targets)
    free = weights > 0
    unsettled = np.arange(len(targets))
    for _ in range(ROUNDS):
        found, multipliers = _equality_minimisers(hessian, targets[unsettled], free[unsettled])
        positive = np.where(free[unsettled], found > 0, multipliers < -_slack(hessian, targets[unsettled]))
        settled = (positive == free[unsettled]).all(axis=1)
        weights[unsettled[settled]] = found[settled]
        free[unsettled] = positive
        unsettled = unsettled[~settled]
        if not unsettled.size:
            return weights
    weights[unsettled] = _descend(hessian, targets[unsettled])
    return weights


def _slack(hessian: NDArray[Any], targets: NDArray[Any]) -> NDArray[Any]:
    # The size of the terms of the gradient, times the rounding error of their sum
    slack: NDArray[Any] = TOLERANCE * (np.abs(hessian).max() + np.abs(targets).max(axis=1, keepdims=True))
    return slack


def _equality_minimisers(
    hessian: NDArray[Any], targets: NDArray[Any], free: NDArray[np.bool_]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Minimisers with zeros outside of the free entries and sum one, and the multipliers of these zeros."""
    weights = np.zeros_like(targets)
    levels = np.empty((len(targets), 1))
    widths = np.minimum(2 ** np.ceil(np.log2(free.sum(axis=1))).astype(int), len(hessian))
    for width in np.unique(widths):
        rows = np.flatnonzero(widths == width)
        columns = np.argsort(~free[rows], axis=1, kind="stable")[:, :width]
        used = np.take_along_axis(free[rows], columns, axis=1)
        found, levels[rows] = _solve_systems(hessian, np.take_along_axis(targets[rows], columns, axis=1), columns, used)
        weights[rows[:, None], columns] = found
    return weights, weights @ hessian - targets - levels


def _solve_systems(
    hessian: NDArray[Any], targets: NDArray[Any], columns: NDArray[np.intp], used: NDArray[np.bool_]
) -> tuple[NDArray[Any], NDArray[Any]]:
    # The system of both z and μ: its solution has no large terms that cancel, unlike H_SS⁻¹ c and H_SS⁻¹ 1 by
    # themselves where H is nearly singular. Columns that are not used fill the systems up to one size.
    width = columns.shape[1]
    systems = np.zeros((len(targets), width + 1, width + 1))
    systems[:, :width, :width] = hessian[columns[:, :, None], columns[:, None, :]]
    systems[:, :width, :width] *= used[:, :, None] & used[:, None, :]
    systems[:, np.arange(width), np.arange(width)] += ~used
    systems[:, :width, width] = systems[:, width, :width] = used
    right = np.concatenate([targets * used, np.ones((len(targets), 1))], axis=1)
    solved = np.linalg.solve(systems, right[:, :, None])[:, :, 0]
    return np.where(used, solved[:, :width], 0.0), -solved[:, width:]


def _descend(hessian: NDArray[Any], targets: NDArray[Any]) -> NDArray[Any]:
    """The same by a primal active-set method from the projected targets.

    Every step fixes a weight at zero, or arrives at the minimiser of the free entries. A row ends where no fixed weight
    has a negative multiplier, or where an arrival is not lower than the one before up to rounding, so no free set is
    visited twice.
    """
    weights = project_rows_to_simplex(targets)
    free = weights > 0
    values = np.full(len(targets), np.inf)
    active = np.arange(len(targets))
    while active.size:
        found, multipliers = _equality_minimisers(hessian, targets[active], free[active])
        blocked = free[active] & (found < 0)
        # A blocked step ends where the first weight reaches zero, which is then fixed there.
        steps = weights[active] - found
        ratios = np.where(blocked, weights[active] / np.where(blocked, steps, 1.0), np.inf)
        fractions = np.minimum(ratios.min(axis=1, keepdims=True), 1.0)
        moved = np.maximum(weights[active] - fractions * steps, 0.0)
        fixed = blocked & (ratios <= fractions)
        weights[active] = np.where(fixed, 0.0, moved)
        # At the minimiser of the free entries, the fixed entry with the lowest multiplier is freed.
        arrived = ~blocked.any(axis=1)
        lowest = np.argmin(np.where(free[active], 0.0, multipliers), axis=1)
        rises = multipliers[np.arange(len(active)), lowest] >= -_slack(hessian, targets[active])[:, 0]
        value = np.einsum("ij,ij->i", weights[active], weights[active] @ hessian / 2 - targets[active])
        rises |= value >= values[active]
        values[active[arrived]] = value[arrived]
        freed = arrived & ~(rises | free[active, lowest])
        free[active] &= ~fixed
        free[active[freed], lowest[freed]] = True
        active = active[~(arrived & ~freed)]
    return weights
