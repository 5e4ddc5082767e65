"""Neighbourhoods of LF-MVC-LAM: how often every sample is among the nearest of the others.

The paper sums over samples i the partition restricted to the neighbourhood N(i). That sum is the partition with row j
multiplied by c(j) = #{i : j in N(i)}, so only these counts are needed, and never a matrix per sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Rows of a similarity matrix are ranked in blocks of at most this many entries, so that no second n x n array exists.
BLOCK_ENTRIES = 2**24


@dataclass(frozen=True)
class NeighborCounts:
    """Counts of the training samples, and what counts new ones.

    Attributes
    ----------
    counts : ndarray of shape (n_samples,)
        c(j), the number of samples that have j in their neighbourhood; nobody is in their own.
    thresholds : ndarray of shape (n_samples,)
        Similarity of sample i to the last member of its neighbourhood.
    """

    counts: NDArray[np.intp]
    thresholds: NDArray[Any]

    def count_new(self, closeness: NDArray[Any]) -> NDArray[np.intp]:
        """In how many training neighbourhoods new samples would fall, from their similarities (n_new, n_samples).

        A new sample that coincides with a training sample (similarity one) takes its count: nobody is in their own
        neighbourhood, and of equally similar samples only those with the lowest index were counted.
        """
        # The last member of a neighbourhood sits on the threshold itself, and similarities round differently here.
        rounding = np.finfo(closeness.dtype).eps
        inside = np.count_nonzero(closeness >= self.thresholds - rounding**0.6, axis=1)
        # Indefinite kernels have similarities above one, too, so the one nearest to one is looked for. A similarity
        # that falls with the distance itself, not its square, feels the root of the rounding error.
        apart = np.abs(closeness - 1.0)
        nearest = np.argmin(apart, axis=1)
        coincides = apart[np.arange(len(apart)), nearest] <= rounding**0.4
        counts: NDArray[np.intp] = np.where(coincides, self.counts[nearest], inside)
        return counts


def neighborhood_size(neighborhood: float, n_samples: int) -> int:
    """Number of neighbours for a fraction of the samples (at most 1.0) or a count (an integer).

    Halves round up, as in the authors' code; the result lies between 1 and ``n_samples - 1``.
    """
    if isinstance(neighborhood, (int, np.integer)) and not isinstance(neighborhood, bool):
        size = int(neighborhood)
    else:
        size = floor(neighborhood * n_samples + 0.5)
    return max(1, min(size, n_samples - 1))


def count_neighbors(similarity: NDArray[Any], n_neighbors: int) -> NeighborCounts:
    """Exact counts from a symmetric similarity matrix, in blocks of rows.

    Parameters
    ----------
    similarity : ndarray of shape (n_samples, n_samples)
    n_neighbors : int
        Size of every neighbourhood, the sample itself not counted; between 1 and ``n_samples - 1``.

    Returns
    -------
    NeighborCounts

    Notes
    -----
    Of equally similar samples those with the lowest index come first.
    """
    n_samples = len(similarity)
    counts = np.zeros(n_samples, dtype=np.intp)
    thresholds = np.empty(n_samples, dtype=similarity.dtype)
    block = max(1, BLOCK_ENTRIES // n_samples)
    for start in range(0, n_samples, block):
        rows = similarity[start : start + block].copy()
        own = np.arange(len(rows))
        rows[own, start + own] = -np.inf
        edge = np.partition(rows, n_samples - n_neighbors, axis=1)[:, n_samples - n_neighbors]
        thresholds[start : start + block] = edge
        above = rows > edge[:, None]
        counts += np.count_nonzero(above, axis=0)
        # Places left after the strictly nearer samples go to the ties, lowest index first.
        places = n_neighbors - np.count_nonzero(above, axis=1)
        tied = rows == edge[:, None]
        tied &= np.cumsum(tied, axis=1) <= places[:, None]
        counts += np.count_nonzero(tied, axis=0)
    return NeighborCounts(counts, thresholds)
