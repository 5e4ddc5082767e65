"""k-means++ seeding, for the starts of k-means and for landmarks."""

from __future__ import annotations

from typing import Any

import numpy as np

from latefusion.arrays.namespace import beside, row_lengths
from latefusion.types import Array


def kmeans_plus_plus_rows(
    rows: Array, n_rows: int, *, n_starts: int, generator: np.random.RandomState, xp: Any
) -> Array:
    """Positions of rows drawn by k-means++: with probability proportional to the squared distance to the nearest one.

    All independent draws are made together, with one matrix product per row, and without synchronization of the device.

    Parameters
    ----------
    rows : array of shape (n_samples, n_features)
    n_rows : int
        Number of rows in a draw; if there are fewer different rows, some are repeated.
    n_starts : int
        Number of independent draws.
    generator : RandomState
        Random numbers are drawn by NumPy and copied, so that all array libraries draw the same rows.
    xp : module
        Array namespace of ``rows``.

    Returns
    -------
    array of int of shape (n_starts, n_rows)
    """
    draws = generator.random_sample((n_rows, n_starts))
    n_samples = rows.shape[0]
    chosen = [beside((draws[0] * n_samples).astype(np.int64), rows)]
    norms = row_lengths(rows, xp=xp)[:, None] ** 2
    closest = _squared_distances(rows, norms, chosen[0], xp)
    for draw in draws[1:]:
        steps = xp.cumulative_sum(xp.astype(closest, xp.float64), axis=0)
        target = beside(draw, rows) * steps[-1, ...]
        passed = xp.sum(xp.astype(steps < target, xp.int64), axis=0)
        chosen.append(xp.where(passed < n_samples, passed, xp.full_like(passed, n_samples - 1)))
        closest = xp.minimum(closest, _squared_distances(rows, norms, chosen[-1], xp))
    return xp.stack(chosen, axis=1)


def _squared_distances(rows: Array, norms: Array, chosen: Array, xp: Any) -> Array:
    """From all rows to the chosen ones, shape (n_samples, n_chosen)."""
    squared = norms - 2 * rows @ xp.matrix_transpose(xp.take(rows, chosen, axis=0))
    squared = squared + xp.take(norms[:, 0], chosen, axis=0)
    return xp.where(squared > 0, squared, xp.zeros_like(squared))
