"""Neighbourhoods of LF-MVC-LAM: how often every sample is among the nearest of the others.

The paper sums over samples i the partition restricted to the neighbourhood N(i). That sum is the partition with row j
multiplied by c(j) = #{i : j in N(i)}, so only these counts are needed, and never a matrix per sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Neighbourhoods that are looked at when there are too many samples for all of them.
DEFAULT_SAMPLES = 512
# Rows from which the threshold of a sampled neighbourhood is read off; a quantile of this many has an error below 1 %.
THRESHOLD_ROWS = 10_000

# Rows of a similarity matrix are ranked in blocks of at most this many entries, so that no second n x n array exists.
BLOCK_ENTRIES = 2**24


@dataclass(frozen=True)
class NeighborCounts:
    """Counts of the training samples, and what counts new ones.

    Attributes
    ----------
    counts : ndarray of shape (n_samples,)
        c(j), the number of samples that have j in their neighbourhood; nobody is in their own. Estimates when
        neighbourhoods were sampled.
    thresholds : ndarray of shape (n_columns,)
        Similarity of a sample to the last member of its neighbourhood.
    samples : ndarray of shape (n_columns,) or None
        The samples whose neighbourhoods were looked at; all of them when None.
    """

    counts: NDArray[Any]
    thresholds: NDArray[Any]
    samples: NDArray[np.intp] | None = None

    @property
    def relative_errors(self) -> NDArray[Any]:
        """Standard error of every count relative to its value: sqrt((1 - π) / (π s)), π = c / n, s neighbourhoods."""
        if self.samples is None:
            return np.zeros(len(self.counts))
        share = np.clip(self.counts / len(self.counts), 1 / len(self.counts), 1.0)
        errors: NDArray[Any] = np.sqrt((1 - share) / (share * len(self.samples)))
        return errors

    def count_new(self, closeness: NDArray[Any]) -> NDArray[Any]:
        """In how many training neighbourhoods new samples would fall, from their similarities (n_new, n_columns).

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
        known = self.counts if self.samples is None else self.counts[self.samples]
        estimate = inside if self.samples is None else inside * ((len(self.counts) - 1) / len(self.samples))
        counts: NDArray[Any] = np.where(coincides, known[nearest], estimate)
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


class SampledNeighborhoods:
    """Neighbourhoods of a random sample of the samples; the counts of all samples are estimated from them.

    If j lies in h of s sampled neighbourhoods, (n - 1) h / s is an unbiased estimate of c(j). The samples are drawn
    once for all views, so that the mean similarity costs no more than the views.

    Attributes
    ----------
    samples : ndarray of shape (n_columns,)
    columns : ndarray of shape (n_columns, total width)
        Features of the sampled samples.
    thresholds : ndarray of shape (n_views + 1, n_columns)
        Per view, and last for the mean similarity.
    """

    def __init__(
        self, samples: NDArray[np.intp], columns: list[NDArray[Any]], thresholds: NDArray[Any], n_samples: int
    ) -> None:
        self.samples = samples
        self.columns = columns
        self.thresholds = thresholds
        self._inside = np.zeros((len(thresholds), n_samples))

    @classmethod
    def draw(
        cls,
        features_of: Callable[[NDArray[np.intp]], list[NDArray[Any]]],
        n_samples: int,
        n_neighbors: int,
        n_columns: int | None = None,
        seed: int = 0,
    ) -> SampledNeighborhoods:
        """Draw samples and find how near a neighbour of each has to be.

        Parameters
        ----------
        features_of : callable
            Gives the features of some samples, one array per view; similarities are their inner products.
        n_samples : int
        n_neighbors : int
            Size of every neighbourhood, the sample itself not counted.
        n_columns : int, default=None
            Number of neighbourhoods; 512 when None.
        seed : int, default=0

        Returns
        -------
        SampledNeighborhoods
        """
        generator = np.random.default_rng(seed)
        size = min(n_samples, DEFAULT_SAMPLES if n_columns is None else n_columns)
        samples = np.sort(generator.choice(n_samples, size, replace=False))
        judges = np.sort(generator.choice(n_samples, min(n_samples, THRESHOLD_ROWS), replace=False))
        columns, rows = features_of(samples), features_of(judges)
        places = max(1, round(n_neighbors * len(judges) / n_samples))
        own = judges[:, None] == samples
        thresholds = []
        for similarity in _with_mean(rows, columns):
            similarity[own] = -np.inf
            thresholds.append(np.partition(similarity, len(judges) - places, axis=0)[len(judges) - places])
        return cls(samples, columns, np.array(thresholds), n_samples)

    def count(self, rows: slice, features: list[NDArray[Any]]) -> None:
        """Count a block of rows, given its features in every view."""
        for p, similarity in enumerate(_with_mean(features, self.columns)):
            self._inside[p, rows] = np.count_nonzero(similarity >= self.thresholds[p], axis=1)

    def results(self) -> list[NeighborCounts]:
        """Estimated counts of all samples, per view and for the mean similarity."""
        n_samples, n_columns = self._inside.shape[1], len(self.samples)
        scale = np.full(n_samples, (n_samples - 1) / n_columns)
        # A sampled sample lies above its own threshold, but nobody is in their own neighbourhood.
        scale[self.samples] = (n_samples - 1) / max(1, n_columns - 1)
        inside = self._inside.copy()
        inside[:, self.samples] = np.maximum(inside[:, self.samples] - 1, 0)
        return [
            NeighborCounts(counts * scale, thresholds, self.samples)
            for counts, thresholds in zip(inside, self.thresholds, strict=True)
        ]


def _with_mean(rows: list[NDArray[Any]], columns: list[NDArray[Any]]) -> Iterator[NDArray[Any]]:
    """Similarities of rows and columns in every view, and last their mean."""
    mean: Any = 0.0
    for row_features, column_features in zip(rows, columns, strict=True):
        similarity = row_features @ column_features.T
        mean = mean + similarity / similarity.dtype.type(len(rows))
        yield similarity
    yield mean
