"""Neighborhoods of LF-MVC-LAM: in how many neighborhoods every sample is.

The paper sums over samples i the partition restricted to the neighborhood N(i). That sum is the partition with row j
multiplied by c(j) = #{i : j in N(i)}, so only these counts are needed, and never a matrix per sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import beside, device_of, namespace, row_blocks, take_rows
from latefusion.partitions.spectra import scatter_rows
from latefusion.types import Array

# Number of neighborhoods that are used if there are too many samples for all of them.
DEFAULT_SAMPLES = 512
# Rows from which the threshold of a sampled neighborhood is estimated; their quantiles have an error below 1 %.
THRESHOLD_ROWS = 10_000

# Up to this many samples all neighborhoods are used, also if no similarity matrix is formed.
EXACT_COUNTS = 5000
# Samples coincide if their similarity differs from one by at most this many rounding errors.
EQUAL_ERRORS = 16
# Rows of a similarity matrix are ranked in blocks of at most this many entries, so that no second n x n array exists.
BLOCK_ENTRIES = 2**24
# The same for similarities that are computed only to rank them.
CLOSENESS_ENTRIES = 2**21


@dataclass(frozen=True)
class NeighborCounts:
    """Neighbor counts of the training samples, and the thresholds that count new samples.

    Attributes
    ----------
    counts : ndarray of shape (n_samples,)
        c(j), the number of samples that have j in their neighborhood. A sample is not in its own. Estimates if only
        some neighborhoods were used. New samples need only those of ``samples``.
    thresholds : ndarray of shape (n_columns,)
        Similarity of a sample to the last member of its neighborhood.
    n_samples : int
        Number of training samples.
    samples : ndarray of shape (n_columns,) or None
        The samples whose neighborhoods were used; all of them when None.
    """

    counts: Array
    thresholds: Array
    n_samples: int
    samples: NDArray[np.intp] | None = None

    @property
    def relative_errors(self) -> Array:
        """Standard error of every count relative to its value."""
        if self.samples is None:
            return np.zeros(len(self.counts))
        return count_errors(self.counts, self.n_samples, len(self.samples))

    def for_new_samples(self) -> NeighborCounts:
        """The same without the counts that new samples do not need."""
        if self.samples is None or self.counts.shape[0] == len(self.samples):
            return self
        known = namespace(self.counts).take(self.counts, beside(self.samples, self.counts))
        return replace(self, counts=known)

    def count_new(self, closeness: Array) -> Array:
        """Number of training neighborhoods that would contain new samples, from their similarities (n_new, n_columns).

        A new sample that coincides with a training sample (similarity one) has its count: a sample is not in its own
        neighborhood, and of equally similar samples only those with the lowest index were counted. Training samples
        that coincide share their counts.
        """
        # The similarity of the last member is the threshold itself, and similarities are rounded differently here.
        xp = namespace(closeness)
        rounding = float(xp.finfo(closeness.dtype).eps)
        inside = xp.count_nonzero(closeness >= self.thresholds - rounding**0.6, axis=1)
        # Indefinite kernels have similarities above one as well, so the one nearest to one is used. The error of a
        # similarity that falls with the distance itself, not its square, is the root of the rounding error.
        apart = xp.abs(closeness - 1.0)
        nearest = xp.argmin(apart, axis=1)
        coincides = xp.min(apart, axis=1) <= rounding**0.4
        if self.samples is None:
            return xp.where(coincides, self.counts[nearest], inside)
        known = self.for_new_samples().counts
        estimate = xp.astype(inside, known.dtype) * ((self.n_samples - 1) / len(self.samples))
        return xp.where(coincides, xp.take(known, nearest), estimate)


def count_errors(counts: Array, n_samples: int, n_columns: int) -> Array:
    """Relative standard errors of estimated counts c: sqrt((1 - π) / (π s)), π = c / n, s neighborhoods."""
    share = namespace(counts).clip(counts / n_samples, min=1 / n_samples, max=1.0)
    return ((1 - share) / (share * n_columns)) ** 0.5


@dataclass(frozen=True)
class NeighborWeights:
    """Weights of the blocks of a new sample in local alignment: neighbor counts over the number of training samples.

    Attributes
    ----------
    counters : tuple of NeighborCounts
        One per view, of the training samples that have it.
    mean : NeighborCounts or None
        By the mean closeness of the blocks of M. None takes the mean weight of the views instead.
    """

    counters: tuple[NeighborCounts, ...]
    mean: NeighborCounts | None

    @property
    def width(self) -> int:
        """Largest number of training samples that a sample is compared with."""
        return max(int(one.thresholds.shape[0]) for one in self.counters)

    def __call__(self, closeness: Sequence[Any], presence: NDArray[np.bool_] | None) -> Array:
        """Weights of all blocks: those of the views, which come first, and those of M.

        Parameters
        ----------
        closeness : sequence of arrays of shape (n_present, n_columns) or None
            Per block, of the samples that have it; None if no sample has it.
        presence : ndarray of bool of shape (n_samples, n_blocks) or None
            None if all samples have all blocks.

        Returns
        -------
        array of shape (n_samples, n_blocks)
            Missing views have the weight of M, which applies to imputed columns.
        """
        n_views, n_blocks = len(self.counters), len(closeness)
        if presence is None:
            weights = [_weights(*one) for one in zip(self.counters, closeness, strict=False)]
            if self.mean is None:
                mean = sum(weights) / n_views
            else:
                mean = _weights(self.mean, sum(closeness[n_views:]) / (n_blocks - n_views))
        else:
            weights, mean = self._with_missing(closeness, presence)
        return namespace(mean).stack([*weights, *[mean] * (n_blocks - n_views)], axis=1)

    def _with_missing(self, closeness: Sequence[Any], presence: NDArray[np.bool_]) -> tuple[list[Any], Any]:
        """Weights of every view, and of M."""
        of_views, of_mean = np.split(presence, [len(self.counters)], axis=1)
        own = [np.zeros(len(presence)) for _ in self.counters]
        for weights, counter, near, seen in zip(own, self.counters, closeness, of_views.T, strict=False):
            if near is not None:
                weights[seen] = _weights(counter, near)
        mean = np.sum(own, axis=0) / np.maximum(of_views.sum(axis=1), 1)
        known = of_mean.sum(axis=1)
        if self.mean is not None and known.any():
            parts = zip(closeness[len(own) :], of_mean.T, strict=True)
            total = sum(scatter_rows(near, seen) for near, seen in parts if near is not None)
            mean = np.where(known > 0, _weights(self.mean, total / np.maximum(known, 1)[:, None]), mean)
        return [np.where(seen, weights, mean) for weights, seen in zip(own, of_views.T, strict=True)], mean


def _weights(counter: NeighborCounts, closeness: Array) -> Array:
    found = counter.count_new(closeness)
    xp = namespace(found)
    return xp.astype(found, xp.float64) / counter.n_samples


def neighborhood_size(neighborhood: float, n_samples: int) -> int:
    """Number of neighbors for a fraction of the samples (at most 1.0) or a count (an integer).

    Halves are rounded up, as in the authors' code; the result is between 1 and ``n_samples - 1``.
    """
    if isinstance(neighborhood, (int, np.integer)) and not isinstance(neighborhood, bool):
        size = int(neighborhood)
    else:
        size = floor(neighborhood * n_samples + 0.5)
    return max(1, min(size, n_samples - 1))


def sizes_within(sizes: Sequence[int], n_samples: int, n_observed: int) -> list[int]:
    """Sizes of neighborhoods that are the same share of fewer samples."""
    return [max(1, min(round(size * n_observed / n_samples), n_observed - 1)) for size in sizes]


def count_neighbors(similarity: NDArray[Any], sizes: Sequence[int]) -> list[NeighborCounts]:
    """Exact counts from a symmetric similarity matrix, in blocks of rows.

    Parameters
    ----------
    similarity : ndarray of shape (n_samples, n_samples)
    sizes : sequence of int
        Sizes of neighborhoods, the sample itself not counted; between 1 and ``n_samples - 1``.

    Returns
    -------
    list of NeighborCounts
        Of every size.

    Notes
    -----
    Of equally similar samples those with the lowest index come first. Samples that coincide share their counts.
    """
    step = max(1, BLOCK_ENTRIES // len(similarity))
    return _count_exactly(len(similarity), sizes, 1, step, lambda rows: [similarity[rows].copy()])[0]


def _count_exactly(
    n_samples: int, sizes: Sequence[int], n_parts: int, step: int, similarities: Callable[[slice], Iterable[Array]]
) -> list[list[NeighborCounts]]:
    """Counts by several similarities, from blocks of rows of each, which are overwritten."""
    counts = np.zeros((n_parts, len(sizes), n_samples))
    first = np.tile(np.arange(n_samples), (n_parts, 1))
    thresholds: list[list[NDArray[Any]]] = [[] for _ in range(n_parts)]
    for rows in row_blocks(n_samples, step):
        for part, similarity in enumerate(similarities(rows)):
            first[part, rows] = _first_equal(similarity, rows.start)
            members, edges = _count_block(similarity, rows.start, sizes)
            counts[part] += members
            thresholds[part].append(edges)
    return [
        [
            NeighborCounts(_shared(one, equal), edge, n_samples)
            for one, edge in zip(own, np.concatenate(edges, axis=1), strict=True)
        ]
        for own, edges, equal in zip(counts, thresholds, first, strict=True)
    ]


def _first_equal(rows: NDArray[Any], start: int) -> NDArray[np.intp]:
    """The first sample that coincides with each sample (similarity one), from rows of their similarities."""
    found = np.arange(start, start + len(rows))
    near = 1.0 - EQUAL_ERRORS * float(np.finfo(rows.dtype).eps)
    several = np.flatnonzero(np.count_nonzero(rows >= near, axis=1) > 1)
    equal = np.abs(rows[several] - 1.0) <= 1.0 - near
    equal[np.arange(len(several)), found[several]] = True
    found[several] = np.argmax(equal, axis=1)
    return found


def _shared(counts: NDArray[np.float64], first: NDArray[np.intp]) -> NDArray[np.float64]:
    """The mean count of samples that coincide, which new samples cannot tell apart."""
    if np.array_equal(first, np.arange(len(first))):
        return counts
    sums, sizes = np.bincount(first, counts, len(first)), np.bincount(first, minlength=len(first))
    means: NDArray[np.float64] = sums[first] / sizes[first]
    return means


def _count_block(rows: NDArray[Any], start: int, sizes: Sequence[int]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Neighbor counts from the rows of some samples, and the thresholds of these samples.

    Both have one row per size.
    """
    own = np.arange(len(rows))
    rows[own, start + own] = -np.inf
    positions = [rows.shape[1] - size for size in sizes]
    edges = np.partition(rows, positions, axis=1)[:, positions].T
    return np.stack([_count_members(rows, edge, size) for edge, size in zip(edges, sizes, strict=True)]), edges


def _count_members(rows: NDArray[Any], edge: NDArray[Any], n_neighbors: int) -> NDArray[np.intp]:
    above = rows > edge[:, None]
    counts: NDArray[np.intp] = np.count_nonzero(above, axis=0)
    # The remaining neighbors after the strictly nearer samples are ties, lowest index first.
    positions = n_neighbors - np.count_nonzero(above, axis=1)
    tied = rows == edge[:, None]
    tied &= np.cumsum(tied, axis=1) <= positions[:, None]
    counts += np.count_nonzero(tied, axis=0)
    return counts


def count_by_closeness(
    views: Sequence[Array], extensions: Sequence[Any], sizes: Sequence[int], n_columns: int | None = None
) -> tuple[list[Any], list[list[NeighborCounts]]]:
    """Counts of all samples from blocks of rows of their closeness to some or all samples.

    Parameters
    ----------
    views : sequence of arrays
    extensions : sequence of SimilarityExtension
    sizes : sequence of int
        Sizes of neighborhoods, the sample itself not counted.
    n_columns : int, default=None
        Number of neighborhoods to use; None uses all of them up to 5000 samples, and 512 beyond.

    Returns
    -------
    extensions : list of SimilarityExtension
        With the samples whose neighborhoods were used.
    counts : list of list of NeighborCounts
        Per view, and last for the mean of all closeness, those of every size.
    """
    n_samples, n_views = views[0].shape[0], len(views)

    def closeness(rows: slice) -> Iterator[Array]:
        return (one.closeness(view[rows]) for one, view in zip(extensions, views, strict=True))

    if n_columns is None and n_samples <= EXACT_COUNTS:
        everything, step = np.arange(n_samples), max(1, CLOSENESS_ENTRIES // n_samples)
        extensions = [one.with_columns(view, everything) for one, view in zip(extensions, views, strict=True)]
        return extensions, _count_exactly(
            n_samples, sizes, n_views + 1, step, lambda rows: _with_mean(closeness(rows), n_views)
        )
    extensions, sampled = sample_neighborhoods(views, extensions, sizes, n_columns)
    for rows in row_blocks(n_samples, max(1, CLOSENESS_ENTRIES // len(sampled.samples))):
        sampled.count(rows, closeness(rows))
    return extensions, sampled.results()


def sample_neighborhoods(
    views: Sequence[Array], extensions: Sequence[Any], sizes: Sequence[int], n_columns: int | None
) -> tuple[list[Any], SampledNeighborhoods]:
    """Neighborhoods of some samples; parameters and extensions are those of `count_by_closeness`."""
    n_samples = views[0].shape[0]
    samples, references = draw_samples(n_samples, n_columns)
    extensions = [one.with_columns(view, samples) for one, view in zip(extensions, views, strict=True)]
    closeness = (one.closeness(take_rows(view, references)) for one, view in zip(extensions, views, strict=True))
    thresholds = sampled_thresholds(samples, references, closeness, n_samples, sizes, len(views))
    return extensions, SampledNeighborhoods(samples, thresholds, n_samples)


def draw_samples(n_samples: int, n_columns: int | None = None) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Draw the samples whose neighborhoods are used, and those from which their thresholds are estimated.

    Parameters
    ----------
    n_samples : int
    n_columns : int, default=None
        Number of neighborhoods; 512 when None.

    Returns
    -------
    samples, references : ndarray of int
        Ascending.
    """
    generator = np.random.default_rng(0)
    size = min(n_samples, DEFAULT_SAMPLES if n_columns is None else n_columns)
    samples = np.sort(generator.choice(n_samples, size, replace=False))
    references = np.sort(generator.choice(n_samples, min(n_samples, THRESHOLD_ROWS), replace=False))
    return samples, references


class SampledNeighborhoods:
    """Neighborhoods of a random sample of the samples; the counts of all samples are estimated from them.

    If j is in h of s sampled neighborhoods, (n - 1) h / s is an unbiased estimate of c(j). The samples are drawn once
    for all views, so that the mean similarity has no extra cost.

    Parameters
    ----------
    samples : ndarray of int
        From `draw_samples`.
    thresholds : list of arrays of shape (n_sizes, n_columns)
        From `sampled_thresholds`.
    n_samples : int
    """

    def __init__(self, samples: NDArray[np.intp], thresholds: Sequence[Array], n_samples: int) -> None:
        self.samples = samples
        self.thresholds = thresholds
        self.xp = namespace(thresholds[0])
        shape = (len(thresholds), thresholds[0].shape[0], n_samples)
        self._inside = self.xp.zeros(shape, dtype=self.xp.float64, device=device_of(thresholds[0]))

    def count(self, rows: slice, closeness: Iterable[Array], *, with_mean: bool = False) -> None:
        """Count a block of rows, given its closeness to the samples in every view, and optionally the mean of all."""
        for p, inside in enumerate(count_inside(closeness, self.thresholds, with_mean=with_mean)):
            self._inside[p, :, rows] = self.xp.astype(inside, self.xp.float64)

    def results(self) -> list[list[NeighborCounts]]:
        """Estimated counts of all samples, per view and for the mean similarity, of every size."""
        n_samples = self._inside.shape[2]
        own = np.zeros(n_samples)
        own[self.samples] = 1.0
        counts = estimate_counts(self._inside, own, n_samples, len(self.samples))
        return [
            [NeighborCounts(counts[p, one, :], edges[one, :], n_samples, self.samples) for one in range(edges.shape[0])]
            for p, edges in enumerate(self.thresholds)
        ]


def sampled_thresholds(
    samples: NDArray[np.intp],
    references: NDArray[np.intp],
    closeness: Iterable[Array],
    n_samples: int,
    sizes: Sequence[int],
    n_views: int,
) -> list[Array]:
    """Thresholds of the neighborhoods of some samples, estimated from others.

    Parameters
    ----------
    samples, references : ndarray of int
        From `draw_samples`.
    closeness : iterable of arrays of shape (n_references, n_columns)
        Of the references to the samples, one per view.
    n_samples : int
    sizes : sequence of int
        Sizes of neighborhoods, the sample itself not counted.
    n_views : int

    Returns
    -------
    list of arrays of shape (n_sizes, n_columns)
        Per view, and last for the mean similarity.
    """
    positions = [max(1, round(size * len(references) / n_samples)) for size in sizes]
    thresholds: list[Array] = []
    own: Any = None
    for similarity in _with_mean(closeness, n_views):
        if own is None:
            own = beside(references[:, None] == samples, similarity)
        similarity[own] = -np.inf
        thresholds.append(_largest(similarity, positions))
    return thresholds


def count_inside(
    closeness: Iterable[Array], thresholds: Sequence[Array], *, with_mean: bool = False
) -> Iterator[Array]:
    """Number of sampled neighborhoods that contain every row, for every size: per view, and last for the mean.

    Parameters
    ----------
    closeness : iterable of arrays of shape (n_rows, n_columns)
        Of the rows to the sampled samples, one per view.
    thresholds : sequence of arrays of shape (n_sizes, n_columns)
        From `sampled_thresholds`.
    with_mean : bool, default=False
        Whether the last of the arrays is the mean of the others already.

    Yields
    ------
    array of shape (n_sizes, n_rows)
    """
    similarities = closeness if with_mean else _with_mean(closeness, len(thresholds) - 1)
    for similarity, own in zip(similarities, thresholds, strict=True):
        xp = namespace(similarity)
        # The same slack as for new samples, see `NeighborCounts.count_new`.
        slack = float(xp.finfo(similarity.dtype).eps) ** 0.6
        counted = [xp.count_nonzero(similarity >= own[size, :] - slack, axis=1) for size in range(own.shape[0])]
        yield xp.stack(counted)


def estimate_counts(inside: Array, own: NDArray[Any], n_samples: int, n_columns: int) -> Array:
    """Counts from the number of sampled neighborhoods that contain a sample.

    Parameters
    ----------
    inside : array of shape (..., n_rows)
    own : ndarray of shape (n_rows,)
        One for a sampled sample, zero for others: it is above its own threshold, but not in its own neighborhood.
    n_samples, n_columns : int
        Of all samples, and of those whose neighborhoods were used.

    Returns
    -------
    array of shape (..., n_rows)
    """
    scale = (n_samples - 1) / np.maximum(1, n_columns - own)
    return namespace(inside).clip(inside - beside(own, inside), min=0.0) * beside(scale, inside)


def _largest(similarity: Array, positions: Sequence[int]) -> Array:
    """The entries at these positions of every descending column, one row each; reorders NumPy arrays."""
    from_below = [similarity.shape[0] - place for place in positions]
    if isinstance(similarity, np.ndarray):
        similarity.partition(from_below, axis=0)  # in place, to save a copy
        return similarity[from_below]
    xp = namespace(similarity)
    return xp.take(xp.sort(similarity, axis=0), beside(from_below, similarity), axis=0)


def _with_mean(closeness: Iterable[Array], n_views: int) -> Iterator[Array]:
    """The similarities of every view, and last their mean."""
    mean: Any = None
    for similarity in closeness:
        share = similarity * (1.0 / n_views)
        mean = share if mean is None else mean + share
        del share
        yield similarity
    yield mean
