"""K-means for tall, thin data with several starts, in any array library.

The starts are found on a random subset of the rows, all of them at once: one matrix product per iteration gives the
distances to the centres of every start that still moves. Then one pass over all rows tells which start is best there,
without those that have no hope or that found what another one found, and Lloyd's iterations on all rows finish it. Rows
are read in blocks, so nothing of the size of the data is made but the labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from latefusion.arrays import device_of, lies_elsewhere, spread_rows, take_rows, to_numpy
from latefusion.types import Array

# Rows on which the starts compete: enough for thousands per cluster, few enough to cost nothing beside a full pass.
SUBSET_ROWS = 20_000
SUBSET_ROWS_PER_CLUSTER = 200
# A start this much worse than the best one on the subset will not be the best one on all rows; one that differs less
# than this from a better one has found the same clusters.
HOPELESS = 0.01
SAME = 1e-5
# Entries of a block of distances.
BLOCK_ENTRIES = 2**20
DEVICE_BLOCK_ENTRIES = 2**27


class Clusters(NamedTuple):
    """Centres, their cost on the data, and the number of full passes that were needed."""

    centers: Array
    inertia: float
    n_passes: int


def kmeans(
    rows: Array,
    n_clusters: int,
    *,
    n_init: int,
    generator: np.random.RandomState,
    max_iter: int = 100,
    tol: float = 1e-4,
    xp: Any,
) -> Clusters:
    """K-means with several starts.

    Parameters
    ----------
    rows : array of shape (n_samples, n_features)
    n_clusters : int
    n_init : int
        Number of k-means++ starts.
    generator : RandomState
        Random numbers are drawn in NumPy and moved, so that every array library starts alike.
    max_iter : int, default=100
        Cap on the iterations over all rows.
    tol : float, default=1e-4
        Movement of the centres, relative to the mean variance of the columns, at which to stop.
    xp : module
        Array namespace of ``rows``.

    Returns
    -------
    Clusters
    """
    n_samples = rows.shape[0]
    size = min(n_samples, max(SUBSET_ROWS, SUBSET_ROWS_PER_CLUSTER * n_clusters))
    chosen = np.sort(generator.choice(n_samples, size, replace=False)) if size < n_samples else np.arange(n_samples)
    subset = rows if size == n_samples else take_rows(rows, chosen)
    limit = tol * float(xp.mean(xp.var(subset, axis=0)))
    drawn = spread_rows(subset, n_clusters, n_starts=n_init, generator=generator, xp=xp)
    starts = xp.reshape(xp.take(subset, xp.reshape(drawn, (-1,)), axis=0), (n_init, n_clusters, -1))
    starts = _hopeful(subset, _settle(subset, starts, max_iter, limit, xp), xp)
    moved, costs, _ = _lloyd_step(rows, starts, xp)
    best = int(xp.argmin(costs))
    centers, passes = moved[best : best + 1, ...], 1
    previous = starts[best : best + 1, ...]
    cost = float(costs[best])
    while passes < max_iter and float(xp.sum((centers - previous) ** 2)) > limit:
        previous = centers
        centers, costs, _ = _lloyd_step(rows, centers, xp)
        cost = float(costs[0])
        passes += 1
    return Clusters(centers[0, ...], cost, passes)


def _settle(rows: Array, starts: Array, max_iter: int, limit: float, xp: Any) -> Array:
    """Lloyd's iterations for all starts together; a start that stands still is no longer looked at."""
    settled = []
    for _ in range(max_iter):
        moved, _, _ = _lloyd_step(rows, starts, xp)
        moving = to_numpy(xp.sum((moved - starts) ** 2, axis=(1, 2))) > limit
        settled.append(take_rows(moved, np.flatnonzero(~moving)))
        starts = take_rows(moved, np.flatnonzero(moving))
        if not moving.any():
            break
    return xp.concat([*settled, starts])


def _hopeful(rows: Array, starts: Array, xp: Any) -> Array:
    """The starts that may be the best one on more rows than these, each kind of result once."""
    costs = to_numpy(_lloyd_step(rows, starts, xp)[1])
    order = np.argsort(costs, kind="stable")
    kept = [order[0]]
    for position in order[1:]:
        if (1 + SAME) * costs[kept[-1]] < costs[position] <= (1 + HOPELESS) * costs[order[0]]:
            kept.append(position)
    return take_rows(starts, np.asarray(kept))


def nearest_centers(rows: Array, centers: Array, *, xp: Any) -> Array:
    """Index of the nearest centre for every row, in blocks."""
    parts = [
        xp.argmin(_half_distances(block, centers[None, ...], xp)[:, 0, :], axis=1)
        for block in _blocks(rows, centers.shape[0])
    ]
    return xp.concat(parts) if len(parts) > 1 else parts[0]


def _lloyd_step(rows: Array, starts: Array, xp: Any) -> tuple[Array, Array, Array]:
    """Means of the rows nearest to every centre, cost and sizes before the step, for all starts in one pass."""
    n_starts, n_clusters, width = starts.shape
    sums = xp.zeros((n_starts, n_clusters, width), dtype=xp.float64, device=device_of(rows))
    sizes = xp.zeros((n_starts, n_clusters), dtype=xp.float64, device=device_of(rows))
    costs = xp.zeros((n_starts,), dtype=xp.float64, device=device_of(rows))
    positions = xp.arange(n_clusters, device=device_of(rows))
    for block in _blocks(rows, n_starts * n_clusters):
        distances = _half_distances(block, starts, xp)
        nearest = xp.argmin(distances, axis=2)
        norms = xp.sum(xp.astype(block, xp.float64) ** 2)
        lowest = xp.min(distances, axis=2)
        costs = costs + 2 * xp.sum(xp.astype(lowest, xp.float64), axis=0) + norms
        member = xp.astype(nearest[..., None] == positions, rows.dtype)
        member = xp.reshape(member, (block.shape[0], n_starts * n_clusters))
        added = xp.reshape(xp.matrix_transpose(member) @ block, (n_starts, n_clusters, width))
        sums = sums + xp.astype(added, xp.float64)
        sizes = sizes + xp.astype(xp.reshape(xp.sum(member, axis=0), (n_starts, n_clusters)), xp.float64)
    # A centre that nobody is nearest to stays where it is.
    occupied = sizes > 0
    means = sums / xp.where(occupied, sizes, xp.ones_like(sizes))[..., None]
    kept = xp.astype(starts, xp.float64)
    return xp.astype(xp.where(occupied[..., None], means, kept), starts.dtype), costs, sizes


def _half_distances(block: Array, starts: Array, xp: Any) -> Array:
    """Half the squared distances to all centres of all starts, less half the squared norm of the row."""
    n_starts, n_clusters, width = starts.shape
    flat = xp.reshape(starts, (n_starts * n_clusters, width))
    half_norms = xp.sum(flat**2, axis=1) / 2
    return xp.reshape(half_norms - block @ xp.matrix_transpose(flat), (block.shape[0], n_starts, n_clusters))


def _blocks(rows: Array, n_columns: int) -> Iterator[Array]:
    step = max(1, (DEVICE_BLOCK_ENTRIES if lies_elsewhere(rows) else BLOCK_ENTRIES) // n_columns)
    for start in range(0, rows.shape[0], step):
        yield rows[start : min(start + step, rows.shape[0]), :]
