"""K-means for tall, thin data with several starts, in any array library.

The starts are computed on a random subset of the rows, all of them together: one matrix product per iteration computes
the distances to the centers of every start that has not converged. Starts that are much worse than the best, or equal
to another one, are dropped. One pass over all rows selects the best of the others, and Lloyd's iterations on all rows
finish it. Rows are read in blocks, so that only the labels have the size of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import (
    device_of,
    draw_rows,
    is_device_array,
    kmeans_plus_plus_rows,
    row_blocks,
    share_blocks,
    take_rows,
    to_numpy,
)
from latefusion.types import Array

# Rows in the subset: enough for thousands per cluster, with a small cost compared with a full pass.
SUBSET_ROWS = 20_000
SUBSET_ROWS_PER_CLUSTER = 200
# A start that is worse than the best one on the subset by this factor is dropped; one that differs from a better one by
# less than this factor has the same clusters.
HOPELESS = 0.01
SAME = 1e-5
# Cap on the iterations over that subset, and over all rows.
SETTLING_STEPS = 100
MAX_PASSES = 100
# Movement of the centers, relative to the mean variance of the columns, at which to stop.
TOLERANCE = 1e-4
# Entries of a block of distances.
BLOCK_ENTRIES = 2**18
DEVICE_BLOCK_ENTRIES = 2**27


class Members(NamedTuple):
    """Sums over some rows, by their nearest center, for several starts; those of all rows are the sum over blocks.

    Attributes
    ----------
    sums : array of shape (n_starts, n_clusters, n_features)
    sizes : array of shape (n_starts, n_clusters)
    costs : array of shape (n_starts,)
        Squared distances.
    """

    sums: Array
    sizes: Array
    costs: Array


def kmeans(rows: Array, n_clusters: int, *, n_init: int, generator: np.random.RandomState, xp: Any) -> Array:
    """K-means with several starts.

    Parameters
    ----------
    rows : array of shape (n_samples, n_features)
    n_clusters : int
    n_init : int
        Number of k-means++ starts.
    generator : RandomState
        Random numbers are drawn by NumPy and copied, so that all array libraries have the same starts.
    xp : module
        Array namespace of ``rows``.

    Returns
    -------
    array of shape (n_clusters, n_features)
        The centers.
    """
    chosen = draw_subset(rows.shape[0], n_clusters, generator)
    subset = rows if len(chosen) == rows.shape[0] else take_rows(rows, chosen)
    starts, limit = find_starts(subset, n_clusters, n_init=n_init, generator=generator, xp=xp)
    return finish_starts(lambda centers: gather_members(rows, centers, xp), starts, limit, xp=xp)[0]


def draw_subset(n_samples: int, n_clusters: int, generator: np.random.RandomState) -> NDArray[np.intp]:
    """The rows of the subset, ascending."""
    return draw_rows(n_samples, max(SUBSET_ROWS, SUBSET_ROWS_PER_CLUSTER * n_clusters), generator)


def find_starts(
    subset: Array, n_clusters: int, *, n_init: int, generator: np.random.RandomState, xp: Any
) -> tuple[Array, float]:
    """Starts that have converged on a subset of the rows and may be the best one on all rows.

    Parameters
    ----------
    subset : array of shape (n_rows, n_features)
    n_clusters, n_init, generator, xp : as in `kmeans`

    Returns
    -------
    starts : array of shape (n_starts, n_clusters, n_features)
    limit : float
        Squared movement of the centers of a start up to which it has converged.
    """
    limit = TOLERANCE * float(xp.mean(xp.var(subset, axis=0)))
    drawn = kmeans_plus_plus_rows(subset, n_clusters, n_starts=n_init, generator=generator, xp=xp)
    starts = xp.reshape(xp.take(subset, xp.reshape(drawn, (-1,)), axis=0), (n_init, n_clusters, -1))
    return _hopeful(subset, _settle(subset, starts, limit, xp), xp), limit


def finish_starts(gather: Callable[[Array], Members], starts: Array, limit: float, *, xp: Any) -> tuple[Array, int]:
    """Lloyd's iterations on all rows from the best of some starts, which is selected in one pass.

    Parameters
    ----------
    gather : callable
        Takes the centers of starts and returns the `Members` of all rows, in one pass over them.
    starts : array of shape (n_starts, n_clusters, n_features)
    limit : float
        From `find_starts`.
    xp : module

    Returns
    -------
    centers : array of shape (n_clusters, n_features)
    n_passes : int
        Number of calls of `gather`.
    """
    members = gather(starts)
    best = int(xp.argmin(members.costs))
    centers, passes = _move(starts, members, xp)[best : best + 1, ...], 1
    previous = starts[best : best + 1, ...]
    while passes < MAX_PASSES and float(xp.sum((centers - previous) ** 2)) > limit:
        previous, centers = centers, _move(centers, gather(centers), xp)
        passes += 1
    return centers[0, ...], passes


def _settle(rows: Array, starts: Array, limit: float, xp: Any) -> Array:
    """Lloyd's iterations for all starts together; starts that have converged are not updated."""
    converged = []
    for _ in range(SETTLING_STEPS):
        moved = _move(starts, gather_members(rows, starts, xp), xp)
        moving = to_numpy(xp.sum((moved - starts) ** 2, axis=(1, 2))) > limit
        converged.append(take_rows(moved, np.flatnonzero(~moving)))
        starts = take_rows(moved, np.flatnonzero(moving))
        if not moving.any():
            break
    return xp.concat([*converged, starts])


def _hopeful(rows: Array, starts: Array, xp: Any) -> Array:
    """The starts that may be the best one on more rows, each different result once."""
    costs = np.maximum(to_numpy(gather_members(rows, starts, xp).costs), 0.0)  # zero may be rounded below zero
    kept: list[int] = []
    level = -np.inf
    for position in np.argsort(costs, kind="stable").tolist():
        if costs[position] > (1 + HOPELESS) * costs.min():
            break
        if costs[position] > (1 + SAME) * level:
            level = costs[position]
            kept.append(position)
        else:  # keep the first of equal results, independent of rounding
            kept[-1] = min(kept[-1], position)
    return take_rows(starts, np.asarray(kept))


def gather_members(rows: Array, starts: Array, xp: Any) -> Members:
    """Sums and numbers of the rows nearest to every center, and their cost, for all starts in one pass."""
    n_starts, n_clusters, width = starts.shape

    def gather(ranges: Sequence[slice]) -> Members:
        sums = xp.zeros((n_starts, n_clusters, width), dtype=xp.float64, device=device_of(rows))
        sizes = xp.zeros((n_starts, n_clusters), dtype=xp.float64, device=device_of(rows))
        costs = xp.zeros((n_starts,), dtype=xp.float64, device=device_of(rows))
        for own in ranges:
            block = rows[own, :]
            distances = _half_distances(block, starts, xp)
            lowest = xp.min(distances, axis=1, keepdims=True)
            norms = xp.sum(xp.astype(block, xp.float64) ** 2)
            costs += 2 * xp.sum(xp.astype(lowest[:, 0, :], xp.float64), axis=1) + norms
            member = xp.astype(distances == lowest, rows.dtype)
            members = xp.sum(member, axis=2)
            if int(xp.sum(xp.astype(members, xp.int64))) > n_starts * block.shape[0]:
                member /= xp.sum(member, axis=1, keepdims=True)  # a row between two centers belongs to both by half
                members = xp.sum(member, axis=2)
            sizes += xp.astype(members, xp.float64)
            added = xp.reshape(member, (n_starts * n_clusters, block.shape[0])) @ block
            sums += xp.astype(xp.reshape(added, (n_starts, n_clusters, width)), xp.float64)
        return Members(sums, sizes, costs)

    on_device = is_device_array(rows)
    step = max(1, (DEVICE_BLOCK_ENTRIES if on_device else BLOCK_ENTRIES) // (n_starts * n_clusters))
    return add_members(share_blocks(gather, row_blocks(rows.shape[0], step), on_device=on_device))


def add_members(parts: Sequence[Members]) -> Members:
    """The members of several sets of rows together."""
    return Members(*(sum(parts) for parts in zip(*parts, strict=True)))


def _move(starts: Array, members: Members, xp: Any) -> Array:
    """Every center moves to the mean of its members; a center without members does not move."""
    occupied = members.sizes > 0
    means = members.sums / xp.where(occupied, members.sizes, xp.ones_like(members.sizes))[..., None]
    kept = xp.astype(starts, xp.float64)
    return xp.astype(xp.where(occupied[..., None], means, kept), starts.dtype)


def _half_distances(block: Array, starts: Array, xp: Any) -> Array:
    """Half the squared distances of all rows to all centers of all starts, less half the squared norm of the row."""
    n_starts, n_clusters, width = starts.shape
    flat = xp.reshape(starts, (n_starts * n_clusters, width))
    half_norms = xp.sum(flat**2, axis=1)[:, None] / 2
    distances = half_norms - flat @ xp.matrix_transpose(block)
    return xp.reshape(distances, (n_starts, n_clusters, block.shape[0]))
