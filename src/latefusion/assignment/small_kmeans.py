"""K-means of a few thousand rows: all starts at once, with the draws and the iterations of scikit-learn.

For the same seed the clusters are those of `sklearn.cluster.KMeans`. That class computes one start after the other, and
for a few hundred rows checking its input takes several times as long as the distances. The search for a model without
labels needs some thirty clusterings, so here one matrix product per step serves all starts.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from latefusion.arrays import row_blocks

FloatArray = NDArray[np.floating[Any]]

# Movement of the centers, relative to the mean variance of the columns, at which to stop.
TOLERANCE = 1e-4
# Maximum number of iterations of a start.
MAX_STEPS = 300
# Costs that differ by at most this share of the sum of squares are equal: then the first start counts, so that
# rounding does not decide about the order of the clusters.
EQUAL_COSTS = 1e-6
# Rounds in which many centers are drawn, and their iterations.
ROUNDS = 8
FEW_STEPS = 20
# Entries of a block of distances: of as many starts as fit, at least of one.
BLOCK_ENTRIES = 2**18


def small_kmeans(rows: FloatArray, n_clusters: int, *, n_init: int, random_state: Any = None) -> FloatArray:
    """Centers of the best of several starts.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_features)
    n_clusters : int
        At most the number of rows.
    n_init : int
        Number of k-means++ starts.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    ndarray of shape (n_clusters, n_features)
    """
    means = rows.mean(axis=0)
    rows = rows - means  # distances of rows near each other have smaller rounding errors
    drawn = greedy_starts(rows, n_clusters, n_init, check_random_state(random_state))
    limit = TOLERANCE * float(np.mean(np.var(rows, axis=0)))
    group = max(1, BLOCK_ENTRIES // (len(rows) * n_clusters))
    found = [_lloyd(rows, rows[drawn[starts]], limit, MAX_STEPS) for starts in row_blocks(n_init, group)]
    costs = np.concatenate([costs for _, costs in found])
    best = np.argmax(costs <= costs.min() + EQUAL_COSTS * np.sum(rows**2, dtype=np.float64))
    centers: FloatArray = np.concatenate([centers for centers, _ in found])[best]
    n_distinct = len(np.unique(np.argmax(_closeness(rows, centers[None])[0], axis=0)))
    if n_distinct < n_clusters:
        warnings.warn(
            f"K-means found {n_distinct} distinct clusters, fewer than n_clusters={n_clusters}: the rows have no more "
            f"different values.",
            ConvergenceWarning,
            stacklevel=3,
        )
    shifted: FloatArray = centers + means
    return shifted


def many_centers(rows: FloatArray, n_centers: int, *, random_state: Any = None) -> FloatArray:
    """Centers of many small clusters, from a few iterations of one start.

    The start is drawn in a few rounds. In each of them, many rows are drawn at once, with probabilities proportional to
    their squared distances to the rows drawn before. So rows far from the others are likely to be drawn, as with
    k-means++, at a small part of its cost (Bahmani et al.: Scalable k-means++, VLDB 2012).

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_features)
    n_centers : int
        Less than the number of rows.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    ndarray of shape (n_found, n_features)
        Centers of clusters that have rows; at most ``n_centers``.
    """
    generator = check_random_state(random_state)
    columns, norms = np.ascontiguousarray(rows.T), np.einsum("ij,ij->i", rows, rows)
    nearest, drawn = np.ones(len(rows)), np.empty(0, dtype=np.intp)
    for part in row_blocks(n_centers, -(-n_centers // ROUNDS)):
        size = min(part.stop - part.start, np.count_nonzero(nearest))
        if not size:  # as many centers as different rows
            break
        chosen = generator.choice(len(rows), size, replace=False, p=nearest / nearest.sum())
        drawn = np.append(drawn, chosen)
        closest = np.min(_squared_distances(rows, columns, norms, chosen), axis=0)
        nearest = closest if part.start == 0 else np.minimum(nearest, closest)
        nearest[drawn] = 0.0  # not a rounding error
    centers, _ = _lloyd(rows, rows[drawn][None], 0.0, FEW_STEPS)
    kept: FloatArray = centers[0, np.unique(np.argmax(_closeness(rows, centers)[0], axis=0))]
    return kept


def greedy_starts(
    rows: FloatArray, n_clusters: int, n_starts: int, generator: np.random.RandomState
) -> NDArray[np.intp]:
    """Rows drawn by greedy k-means++: of some candidates per step, the one that reduces the distances most.

    A candidate is drawn with a probability proportional to its squared distance to the nearest of the rows chosen
    before.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_features)
    n_clusters : int
    n_starts : int
    generator : RandomState
        Used as scikit-learn does, start by start.

    Returns
    -------
    ndarray of int of shape (n_starts, n_clusters)
    """
    n_samples, n_candidates = len(rows), 2 + int(np.log(n_clusters))
    draws = generator.random_sample((n_starts, 1 + (n_clusters - 1) * n_candidates))
    steps = draws[:, 1:].reshape(n_starts, n_clusters - 1, n_candidates)
    columns, norms = np.ascontiguousarray(rows.T), np.einsum("ij,ij->i", rows, rows)
    starts = np.arange(n_starts)
    chosen = np.empty((n_starts, n_clusters), dtype=np.intp)
    chosen[:, 0] = np.minimum(draws[:, 0] * n_samples, n_samples - 1)
    nearest = _squared_distances(rows, columns, norms, chosen[:, 0])
    for step in range(1, n_clusters):
        sums = np.cumsum(nearest, axis=1, dtype=np.float64)
        targets = steps[:, step - 1] * sums[:, -1:]
        candidates = np.stack([np.searchsorted(*one) for one in zip(sums, targets, strict=True)])
        np.minimum(candidates, n_samples - 1, out=candidates)
        distances = _squared_distances(rows, columns, norms, candidates.ravel())
        distances = distances.reshape(n_starts, n_candidates, n_samples)
        np.minimum(distances, nearest[:, None], out=distances)
        best = np.argmin(distances.sum(axis=2, dtype=np.float64), axis=1)
        nearest, chosen[:, step] = distances[starts, best], candidates[starts, best]
    return chosen


def _squared_distances(
    rows: FloatArray, columns: FloatArray, norms: FloatArray, chosen: NDArray[np.intp]
) -> FloatArray:
    """From the chosen rows to all rows, shape (n_chosen, n_samples)."""
    squared: FloatArray = (-2 * rows[chosen]) @ columns
    squared += norms
    squared += norms[chosen, None]
    return np.maximum(squared, 0.0, out=squared)


def _lloyd(rows: FloatArray, starts: FloatArray, limit: float, max_iter: int) -> tuple[FloatArray, NDArray[np.float64]]:
    """Lloyd's iterations of all starts until each has converged, and the costs of the results."""
    converged, active = starts.copy(), np.arange(len(starts))
    for _ in range(max_iter):
        moved = _means(rows, starts)
        moving = np.sum((moved - starts) ** 2, axis=(1, 2)) > limit
        converged[active] = moved
        starts, active = moved[moving], active[moving]
        if not len(active):
            break
    closest = np.max(_closeness(rows, converged), axis=1)
    costs: NDArray[np.float64] = np.asarray(-2 * np.sum(closest, axis=1, dtype=np.float64))
    return converged, costs


def _means(rows: FloatArray, starts: FloatArray) -> FloatArray:
    """The mean of the rows nearest to every center."""
    closeness = _closeness(rows, starts)
    members = (closeness == np.max(closeness, axis=1, keepdims=True)).astype(rows.dtype)
    sizes = members.sum(axis=2)
    if np.any(sizes.sum(axis=1) > len(rows)):  # a row between several centers belongs to the first of them
        first = np.argmax(closeness, axis=1)[:, None]
        members = (first == np.arange(starts.shape[1])[:, None]).astype(rows.dtype)
        sizes = members.sum(axis=2)
    for start in np.flatnonzero(np.any(sizes == 0, axis=1)):
        _fill_empty(rows, closeness[start], members[start])
        sizes[start] = members[start].sum(axis=1)
    sums = (members.reshape(-1, len(rows)) @ rows).reshape(starts.shape)
    occupied = sizes[..., None] > 0
    return np.where(occupied, sums / np.where(occupied, sizes[..., None], 1), starts)


def _fill_empty(rows: FloatArray, closeness: FloatArray, members: FloatArray) -> None:
    """Move the rows furthest from their centers to the empty clusters, in place."""
    empty = np.flatnonzero(members.sum(axis=1) == 0)
    distances = np.einsum("ij,ij->i", rows, rows) - 2 * np.max(closeness, axis=0)
    furthest = np.argsort(-distances, kind="stable")[: len(empty)]
    furthest = furthest[distances[furthest] > 0]
    members[:, furthest] = 0
    members[empty[: len(furthest)], furthest] = 1


def _closeness(rows: FloatArray, starts: FloatArray) -> FloatArray:
    """Half of ‖x‖² - ‖x - c‖², for all centers c of all starts, shape (n_starts, n_clusters, n_samples)."""
    flat = starts.reshape(-1, starts.shape[2])
    closeness: FloatArray = flat @ rows.T
    closeness -= np.einsum("ij,ij->i", flat, flat)[:, None] / 2
    return closeness.reshape(*starts.shape[:2], len(rows))
