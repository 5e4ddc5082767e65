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

from latefusion.arrays import device_of, namespace
from latefusion.types import Array

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

    counts: Array
    thresholds: Array
    samples: NDArray[np.intp] | None = None

    @property
    def relative_errors(self) -> Array:
        """Standard error of every count relative to its value: sqrt((1 - π) / (π s)), π = c / n, s neighbourhoods."""
        if self.samples is None:
            return np.zeros(len(self.counts))
        n_samples = self.counts.shape[0]
        share = namespace(self.counts).clip(self.counts / n_samples, min=1 / n_samples, max=1.0)
        return ((1 - share) / (share * len(self.samples))) ** 0.5

    def count_new(self, closeness: Array) -> Array:
        """In how many training neighbourhoods new samples would fall, from their similarities (n_new, n_columns).

        A new sample that coincides with a training sample (similarity one) takes its count: nobody is in their own
        neighbourhood, and of equally similar samples only those with the lowest index were counted.
        """
        # The last member of a neighbourhood sits on the threshold itself, and similarities round differently here.
        xp = namespace(closeness)
        rounding = float(xp.finfo(closeness.dtype).eps)
        inside = xp.count_nonzero(closeness >= self.thresholds - rounding**0.6, axis=1)
        # Indefinite kernels have similarities above one, too, so the one nearest to one is looked for. A similarity
        # that falls with the distance itself, not its square, feels the root of the rounding error.
        apart = xp.abs(closeness - 1.0)
        nearest = xp.argmin(apart, axis=1)
        coincides = xp.min(apart, axis=1) <= rounding**0.4
        if self.samples is None:
            return xp.where(coincides, self.counts[nearest], inside)
        known = xp.take(self.counts, xp.asarray(self.samples, device=device_of(self.counts)))
        estimate = xp.astype(inside, known.dtype) * ((self.counts.shape[0] - 1) / len(self.samples))
        return xp.where(coincides, xp.take(known, nearest), estimate)


def neighborhood_size(neighborhood: float, n_samples: int) -> int:
    """Number of neighbours for a fraction of the samples (at most 1.0) or a count (an integer).

    Halves round up, as in the authors' code; the result lies between 1 and ``n_samples - 1``.
    """
    if isinstance(neighborhood, (int, np.integer)) and not isinstance(neighborhood, bool):
        size = int(neighborhood)
    else:
        size = floor(neighborhood * n_samples + 0.5)
    return max(1, min(size, n_samples - 1))


def count_neighbors(similarity: NDArray[Any], n_neighbors: Any) -> Any:
    """Exact counts from a symmetric similarity matrix, in blocks of rows.

    Parameters
    ----------
    similarity : ndarray of shape (n_samples, n_samples)
    n_neighbors : int or sequence of int
        Size of every neighbourhood, the sample itself not counted; between 1 and ``n_samples - 1``.

    Returns
    -------
    NeighborCounts, or list of NeighborCounts for several sizes

    Notes
    -----
    Of equally similar samples those with the lowest index come first.
    """
    if isinstance(n_neighbors, (tuple, list)):
        return [count_neighbors(similarity, size) for size in n_neighbors]
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
    thresholds : list of arrays of shape (n_columns,)
        Per view, and last for the mean similarity.
    """

    def __init__(
        self, samples: NDArray[np.intp], columns: list[Array], thresholds: list[Array], n_samples: int
    ) -> None:
        self.samples = samples
        self.columns = columns
        self.thresholds = thresholds
        self.xp = namespace(columns[0])
        self._inside = self.xp.zeros((len(thresholds), n_samples), dtype=self.xp.float64, device=device_of(columns[0]))

    @classmethod
    def draw(
        cls,
        features_of: Callable[[NDArray[np.intp]], list[Array]],
        n_samples: int,
        n_neighbors: Any,
        n_columns: int | None = None,
        seed: int = 0,
    ) -> Any:
        """Draw samples and find how near a neighbour of each has to be.

        Parameters
        ----------
        features_of : callable
            Gives the features of some samples, one array per view; similarities are their inner products.
        n_samples : int
        n_neighbors : int or sequence of int
            Size of every neighbourhood, the sample itself not counted.
        n_columns : int, default=None
            Number of neighbourhoods; 512 when None.
        seed : int, default=0

        Returns
        -------
        SampledNeighborhoods, or SampledSizes for several sizes
        """
        if isinstance(n_neighbors, (tuple, list)):
            return SampledSizes([cls.draw(features_of, n_samples, size, n_columns, seed) for size in n_neighbors])
        generator = np.random.default_rng(seed)
        size = min(n_samples, DEFAULT_SAMPLES if n_columns is None else n_columns)
        samples = np.sort(generator.choice(n_samples, size, replace=False))
        judges = np.sort(generator.choice(n_samples, min(n_samples, THRESHOLD_ROWS), replace=False))
        columns, rows = features_of(samples), features_of(judges)
        places = max(1, round(n_neighbors * len(judges) / n_samples))
        own = namespace(columns[0]).asarray(judges[:, None] == samples, device=device_of(columns[0]))
        thresholds = []
        for similarity in _with_mean(rows, columns):
            similarity[own] = -np.inf
            thresholds.append(_kth_largest(similarity, places))
        return cls(samples, columns, thresholds, n_samples)

    def count(self, rows: slice, features: list[Array]) -> None:
        """Count a block of rows, given its features in every view."""
        for p, similarity in enumerate(_with_mean(features, self.columns)):
            # The same slack as for new samples, see `NeighborCounts.count_new`.
            slack = float(self.xp.finfo(similarity.dtype).eps) ** 0.6
            inside = self.xp.count_nonzero(similarity >= self.thresholds[p] - slack, axis=1)
            self._inside[p, rows] = self.xp.astype(inside, self.xp.float64)

    def results(self) -> list[NeighborCounts]:
        """Estimated counts of all samples, per view and for the mean similarity."""
        n_samples, n_columns = self._inside.shape[1], len(self.samples)
        # A sampled sample lies above its own threshold, but nobody is in their own neighbourhood.
        own = np.zeros(n_samples)
        own[self.samples] = 1.0
        scale = (n_samples - 1) / np.maximum(1, n_columns - own)
        own, scale = (self.xp.asarray(one, device=device_of(self._inside)) for one in (own, scale))
        counts = self.xp.clip(self._inside - own, min=0.0) * scale
        return [NeighborCounts(counts[p, :], one, self.samples) for p, one in enumerate(self.thresholds)]


class SampledSizes:
    """Neighbourhoods of several sizes around the same samples, counted together.

    Attributes
    ----------
    members : list of SampledNeighborhoods
        One per size.
    columns : ndarray of shape (n_columns, total width)
        Features of the sampled samples.
    """

    def __init__(self, members: list[SampledNeighborhoods]) -> None:
        self.members = members
        self.columns = members[0].columns

    def count(self, rows: slice, features: list[Array]) -> None:
        """Count a block of rows, given its features in every view."""
        for member in self.members:
            member.count(rows, features)

    def results(self) -> list[list[NeighborCounts]]:
        """Estimated counts of all samples, per view and for the mean similarity, and there per size."""
        return [list(sizes) for sizes in zip(*(member.results() for member in self.members), strict=True)]


def _kth_largest(similarity: Array, k: int) -> Array:
    """The k-th largest entry of every column."""
    size = similarity.shape[0]
    if isinstance(similarity, np.ndarray):
        return np.partition(similarity, size - k, axis=0)[size - k]
    return namespace(similarity).sort(similarity, axis=0)[size - k, :]


def _with_mean(rows: list[Array], columns: list[Array]) -> Iterator[Array]:
    """Similarities of rows and columns in every view, and last their mean."""
    mean: Any = 0.0
    for row_features, column_features in zip(rows, columns, strict=True):
        similarity = row_features @ column_features.T
        mean = mean + similarity * (1.0 / len(rows))
        yield similarity
    yield mean
