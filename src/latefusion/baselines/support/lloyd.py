"""Lloyd's iterations on dense or sparse rows, with clusters that are never empty.

The k-means of `latefusion.assignment` works on tall, thin, dense embeddings. Here rows are whole views: they may be
sparse, and are used through products with the centres only. A round costs O(n d k) and memory of O(n) beside the rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import row_blocks
from latefusion.baselines.support.shifted_rows import ShiftedRows

# Entries of a block of distances.
BLOCK_ENTRIES = 2**20


class Assignment(NamedTuple):
    """Samples and their nearest centres.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
    distances : ndarray of shape (n_samples,)
        Squared distance of every sample to its centre.
    """

    labels: NDArray[np.intp]
    distances: NDArray[Any]


def nearest_centers(rows: ShiftedRows, norms: NDArray[Any], centers: NDArray[Any]) -> Assignment:
    """Assign every sample to its nearest centre; of equally near ones to the first.

    Parameters
    ----------
    rows : ShiftedRows
    norms : ndarray of shape (n_samples,)
        Squared norms of the rows.
    centers : ndarray of shape (n_clusters, n_features)

    Returns
    -------
    Assignment
    """
    n_samples, n_clusters = len(norms), len(centers)
    half = 0.5 * np.einsum("ij,ij->i", centers, centers)
    labels = np.empty(n_samples, dtype=np.intp)
    distances = np.empty(n_samples)
    for block in row_blocks(n_samples, max(1, BLOCK_ENTRIES // n_clusters)):
        scores = half - rows.products(block, centers)
        labels[block] = np.argmin(scores, axis=1)
        nearest = np.take_along_axis(scores, labels[block, None], axis=1)[:, 0]
        distances[block] = np.maximum(norms[block] + 2.0 * nearest, 0.0)
    return Assignment(labels, distances)


def fill_empty_clusters(found: Assignment, n_clusters: int) -> Assignment:
    """Give every empty cluster the sample that is farthest from its centre, among clusters with other samples.

    The sample becomes the centre of the cluster, so its distance is zero and the sum of distances does not rise.

    Parameters
    ----------
    found : Assignment
    n_clusters : int
        At most the number of samples.

    Returns
    -------
    Assignment
    """
    sizes = np.bincount(found.labels, minlength=n_clusters)
    empty = np.flatnonzero(sizes == 0)
    if not empty.size:
        return found
    labels, distances = found.labels.copy(), found.distances.copy()
    candidates = iter(np.argsort(-distances, kind="stable").tolist())
    for cluster in empty.tolist():
        sample = next(one for one in candidates if sizes[labels[one]] > 1)
        sizes[labels[sample]] -= 1
        sizes[cluster] += 1
        labels[sample], distances[sample] = cluster, 0.0
    return Assignment(labels, distances)


def cluster_means(rows: ShiftedRows, labels: NDArray[np.intp], n_clusters: int) -> NDArray[Any]:
    """Mean row of every cluster; zero for an empty one."""
    sizes = np.bincount(labels, minlength=n_clusters)
    means: NDArray[Any] = rows.sums(labels, n_clusters) / np.maximum(sizes, 1)[:, None]
    return means


def spread_rows(
    rows: ShiftedRows, norms: NDArray[Any], n_clusters: int, generator: np.random.RandomState
) -> NDArray[np.intp]:
    """Draw rows by greedy k-means++.

    Some candidates are drawn with probability proportional to the squared distance to the nearest row before; the one
    that leaves the smallest sum of these distances is kept.

    Parameters
    ----------
    rows : ShiftedRows
    norms : ndarray of shape (n_samples,)
        Squared norms of the rows.
    n_clusters : int
        Number of rows to draw.
    generator : RandomState

    Returns
    -------
    ndarray of shape (n_clusters,)
        If there are fewer different rows, some are repeated.
    """
    n_candidates = 2 + int(np.log(n_clusters))
    first, *draws = generator.random_sample((n_clusters, n_candidates))
    n_samples = len(norms)
    chosen = [int(first[0] * n_samples)]
    closest = _squared_distances(rows, norms, chosen)[:, 0]
    for draw in draws:
        steps = np.cumsum(closest)
        candidates = np.minimum(np.searchsorted(steps, draw * steps[-1], side="right"), n_samples - 1).tolist()
        left = np.minimum(closest[:, None], _squared_distances(rows, norms, candidates))
        best = int(np.argmin(left.sum(axis=0)))
        chosen.append(candidates[best])
        closest = left[:, best]
    return np.array(chosen, dtype=np.intp)


def _squared_distances(rows: ShiftedRows, norms: NDArray[Any], chosen: list[int]) -> NDArray[Any]:
    """From all rows to the chosen ones, shape (n_samples, n_chosen)."""
    inner = rows.products(slice(None), rows.dense_rows(chosen))
    squared: NDArray[Any] = np.maximum(norms[:, None] + norms[chosen] - 2.0 * inner, 0.0)
    squared[chosen, np.arange(len(chosen))] = 0.0
    return squared


def centers_of_rows(rows: ShiftedRows, start: NDArray[np.intp], n_rounds: int) -> tuple[NDArray[Any], Assignment]:
    """Run a few rounds of Lloyd's iterations from some rows.

    Parameters
    ----------
    rows : ShiftedRows
    start : ndarray of shape (n_clusters,)
        Positions of the rows that are the first centres.
    n_rounds : int

    Returns
    -------
    centers : ndarray of shape (n_clusters, n_features)
        Means of the clusters.
    found : Assignment
        The clusters, none of them empty; distances are those to the centres of the round before.
    """
    norms = rows.squared_norms()
    centers = rows.dense_rows(start)
    previous: NDArray[np.intp] | None = None
    for _ in range(n_rounds):
        found = fill_empty_clusters(nearest_centers(rows, norms, centers), len(centers))
        centers = cluster_means(rows, found.labels, len(centers))
        if previous is not None and np.array_equal(found.labels, previous):
            break
        previous = found.labels
    return centers, found
