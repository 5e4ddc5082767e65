"""Base partitions of views that some samples lack, and rows of new samples that lack some.

With S_p the similarity of the n_p samples that have view p, and E_p what puts their rows among all n (zero rows for the
others), the base partition is H_p = (n_p / n)^{1/2} E_p V_p: entries of orthonormal columns are the larger the fewer
they are, and the factor takes that back, so that a view of few samples gains no weight by it. The mean similarity is

    D^{-1/2} (Σ_p E_p S_p E_pᵀ / m) D^{-1/2},    D the share of views that a sample has,

in which two samples are compared by the views that both have, and nobody counts less for having few. Nothing is formed
that the complete views would not form: factors stay factors, graphs sparse.

What a sample lacks stays zero in H_p, or is filled in, see `latefusion.partitions.completion`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from latefusion.arrays import row_blocks, top_eigenpairs
from latefusion.partitions.base_partitions import BLOCK_ENTRIES, BasePartitions, ExtendedPartitions, Similarity
from latefusion.partitions.completion import Completion, fit_completion
from latefusion.partitions.factor import Factor
from latefusion.partitions.kernel import PrecomputedPartition
from latefusion.partitions.neighborhoods import NeighborCounts, Sizes, count_by_closeness, count_neighbors
from latefusion.partitions.operator_partitions import Leading, leading_eigenvectors, mean_partition
from latefusion.partitions.operators import feature_matrix, inverse_values, leading_projection
from latefusion.types import Array


@dataclass(frozen=True)
class PartialPartitions(BasePartitions):
    """Base partitions of samples that may lack views.

    Attributes
    ----------
    mask : ndarray of bool of shape (n_samples, n_views)
        Which views samples have.
    counters : list of NeighborCounts or None
        Per view those of the samples that have it.
    square : list of bool
        Whether a view of new samples has one column per training sample.
    repair : Repair or None
        What filled in rows; None if they stayed zero.
    """

    mask: NDArray[np.bool_] | None = None
    counters: list[NeighborCounts] | None = None
    square: tuple[bool, ...] = ()
    repair: Repair | None = None


class ScatteredRows(LinearOperator):
    """Rows of features among those of more samples, times a factor each; the others are zero.

    Parameters
    ----------
    features : array, sparse matrix or operator of shape (n_observed, width)
    observed : ndarray of bool of shape (n_samples,)
    factors : ndarray of shape (n_observed,)
    """

    def __init__(self, features: Any, observed: NDArray[np.bool_], factors: NDArray[np.float64]) -> None:
        self.features = features
        self.samples = np.flatnonzero(observed)
        self.factors = factors[:, None]
        super().__init__(np.dtype(np.float64), (len(observed), features.shape[1]))

    def _matmat(self, right: NDArray[Any]) -> NDArray[Any]:
        rows = np.zeros((self.shape[0], right.shape[1]))
        rows[self.samples] = self.factors * (self.features @ right)
        return rows

    def _rmatvec(self, left: NDArray[Any]) -> Any:
        return self._rmatmat(left.reshape(-1, 1)).reshape(-1)  # SciPy before 1.16 does not do so by itself

    def _rmatmat(self, left: NDArray[Any]) -> Any:
        return self.features.T @ (self.factors * left[self.samples])


def fit_partial_partitions(
    views: Sequence[Array],
    mask: NDArray[np.bool_],
    similarities: Sequence[Similarity],
    n_clusters: int,
    *,
    missing: str = "align",
    n_neighbors: Sizes | None = None,
    count_samples: int | None = None,
    n_jobs: int | None = None,
) -> PartialPartitions:
    """Base partitions of all views, each of the samples that have it, and of their mean similarity.

    Parameters
    ----------
    views : sequence of arrays
        What they hold for samples that lack the view is not read.
    mask : ndarray of bool of shape (n_samples, n_views)
    similarities : sequence of Similarity
    n_clusters : int
    missing : {"align", "impute"}, default="align"
        Whether rows of samples that lack a view stay zero, or are filled in.
    n_neighbors : int or tuple of int, default=None
        Size of the neighbourhoods to count, among all samples; in a view of fewer samples it is as much smaller.
    count_samples, n_jobs
        As in `fit_base_partitions`.

    Returns
    -------
    PartialPartitions
    """
    fitted = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_fit_view)(view, observed, similarity, n_clusters, n_neighbors, count_samples)
        for view, observed, similarity in zip(views, mask.T, similarities, strict=True)
    )
    n_samples, n_views = mask.shape
    factors = np.sqrt(n_views / mask.sum(axis=1))
    average, shares = _mean_of(fitted, mask, factors, n_clusters)
    partitions, projections = [], []
    for one, observed, share in zip(fitted, mask.T, shares, strict=True):
        scale = one.rows.dtype.type(np.sqrt(np.mean(observed)))
        rows = np.zeros((n_samples, n_clusters), dtype=one.rows.dtype)
        rows[observed] = scale * one.rows
        partitions.append(rows)
        projections.append(np.concatenate([scale * one.projection, share], axis=1).astype(one.rows.dtype))
    base = PartialPartitions(
        partitions,
        average,
        [one.extension for one in fitted],
        projections,
        _scattered_counts([one.neighbors for one in fitted], mask, n_neighbors),
        mask,
        None if n_neighbors is None else [one.neighbors for one in fitted],
        tuple(isinstance(similarity, PrecomputedPartition) for similarity in similarities),
    )
    return base if missing == "align" else _filled(base)


@dataclass(frozen=True)
class _PartialView:
    """The similarity of the samples that have a view, its leading eigenvectors, and what extends them."""

    matrix: Any
    extension: Any
    rows: NDArray[Any]
    projection: NDArray[Any]
    neighbors: Any = None

    @cached_property
    def features(self) -> Any:
        """Φ where the similarity is a factor."""
        return feature_matrix(self.matrix)


def _fit_view(
    view: Array,
    observed: NDArray[np.bool_],
    similarity: Similarity,
    n_clusters: int,
    n_neighbors: Sizes | None,
    count_samples: int | None,
) -> _PartialView:
    samples = np.flatnonzero(observed)
    part = view[samples]
    if isinstance(similarity, PrecomputedPartition):
        part = part[:, samples]
    matrix, extension = similarity.similarity(part, n_clusters)
    neighbors = None
    if n_neighbors is not None:
        sizes = _sizes_within(n_neighbors, len(observed), len(samples))
        if isinstance(matrix, np.ndarray):
            neighbors = count_neighbors(extension.closeness(part, matrix), sizes)
        else:
            (extension,), (neighbors, _) = count_by_closeness([part], [extension], sizes, count_samples)
    if isinstance(matrix, Factor):
        features = feature_matrix(matrix)
        projection = leading_projection(features, n_clusters, view.dtype)
        return _PartialView(matrix, extension, (features @ projection).astype(view.dtype), projection, neighbors)
    leading: Leading = leading_eigenvectors(matrix, n_clusters)
    return _PartialView(matrix, extension, leading.vectors, leading.vectors * leading.inverse_values, neighbors)


def _sizes_within(n_neighbors: Sizes, n_samples: int, n_observed: int) -> Sizes:
    """The same share of fewer samples."""
    if isinstance(n_neighbors, Sequence):
        return tuple(_size_within(size, n_samples, n_observed) for size in n_neighbors)
    return _size_within(n_neighbors, n_samples, n_observed)


def _size_within(size: int, n_samples: int, n_observed: int) -> int:
    return max(1, min(round(size * n_observed / n_samples), n_observed - 1))


def _mean_of(
    fitted: Sequence[_PartialView], mask: NDArray[np.bool_], factors: NDArray[np.float64], n_clusters: int
) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """Leading eigenvectors of the mean similarity, and what turns features of new samples into rows of them."""
    n_samples, n_views = mask.shape
    precision = np.result_type(*[one.rows.dtype for one in fitted])
    mean = None
    if any(isinstance(one.matrix, np.ndarray) for one in fitted):
        mean = np.zeros((n_samples, n_samples), dtype=precision)
        for one, observed in zip(fitted, mask.T, strict=True):
            dense = one.matrix if isinstance(one.matrix, np.ndarray) else one.matrix.toarray()
            weights = factors[observed]
            mean[np.ix_(observed, observed)] += dense * (weights[:, None] * weights / n_views)
    features, graphs = [], []
    for one, observed in zip(fitted, mask.T, strict=True):
        is_factor = isinstance(one.matrix, Factor)
        features.append(ScatteredRows(one.features, observed, factors[observed]) if is_factor else None)
        graphs.append(_scattered_graph(one.matrix, observed, factors) if scipy.sparse.issparse(one.matrix) else None)
    average, shares = mean_partition(graphs, features, mean, n_clusters, precision)
    own = [
        share if isinstance(one.matrix, Factor) else factors[observed, None] * share[observed]
        for one, share, observed in zip(fitted, shares, mask.T, strict=True)
    ]
    return average, own


def _scattered_graph(graph: Any, observed: NDArray[np.bool_], factors: NDArray[np.float64]) -> Any:
    entries = graph.tocoo()
    samples = np.flatnonzero(observed)
    rows, columns = samples[entries.row], samples[entries.col]
    values = entries.data * (factors[rows] * factors[columns]).astype(entries.dtype)
    return scipy.sparse.csr_array((values, (rows, columns)), shape=(len(observed), len(observed)))


def _scattered_counts(
    neighbors: Sequence[Any], mask: NDArray[np.bool_], n_neighbors: Sizes | None
) -> list[NeighborCounts] | None:
    """Counts of all samples, per view and last their mean over the views that a sample has."""
    if n_neighbors is None:
        return None
    if isinstance(n_neighbors, Sequence):
        by_size = [
            _scattered_counts([one[position] for one in neighbors], mask, size) or []
            for position, size in enumerate(n_neighbors)
        ]
        return [list(one) for one in zip(*by_size, strict=True)]  # type: ignore[misc]
    n_samples = len(mask)
    everywhere = []
    for one, observed in zip(neighbors, mask.T, strict=True):
        counts = np.zeros(n_samples)
        counts[observed] = one.counts * (n_samples / np.count_nonzero(observed))
        everywhere.append(NeighborCounts(counts, one.thresholds, one.samples))
    mean = sum(one.counts for one in everywhere) / mask.sum(axis=1)
    return [*everywhere, NeighborCounts(mean, everywhere[0].thresholds, everywhere[0].samples)]


@dataclass(frozen=True)
class Repair:
    """What fills in rows of base partitions, and what makes M of them.

    Attributes
    ----------
    completion : Completion
        Of [H_1 | … | H_m].
    mixing : ndarray of shape (n_views * n_clusters, n_clusters) or None
        M = [H_1 | … | H_m] times this, once rows are filled in; None leaves M as it is.
    """

    completion: Completion
    mixing: NDArray[Any] | None = None

    def fill(
        self, partitions: Sequence[NDArray[Any]], average: NDArray[Any], mask: NDArray[np.bool_]
    ) -> tuple[list[NDArray[Any]], NDArray[Any]]:
        """Partitions whose rows are filled in where samples lack the view, and M."""
        rows = self.completion.fill(np.concatenate(partitions, axis=1), mask)
        filled = np.split(rows, len(partitions), axis=1)
        if self.mixing is not None:
            return filled, (rows @ self.mixing).astype(average.dtype)
        # M of complete training samples stays what it is; a row without all views is as long as the others.
        return filled, average


def _filled(base: PartialPartitions) -> PartialPartitions:
    """The same with rows of missing views filled in, and M, the leading directions of all of them together."""
    assert base.mask is not None
    n_clusters = base.average.shape[1]
    completion = learn_repair(base).completion
    rows = completion.fill(np.concatenate(base.partitions, axis=1), base.mask).astype(np.float64)
    values, vectors = top_eigenpairs(rows.T @ rows, n_clusters)
    repair = Repair(completion, vectors * np.sqrt(inverse_values(values, base.average.dtype)))
    partitions, average = repair.fill(base.partitions, base.average, base.mask)
    neighbors = base.neighbors
    if neighbors is not None:
        everywhere = [
            _counts_everywhere(one, neighbors[-1], seen) for one, seen in zip(neighbors, base.mask.T, strict=False)
        ]
        neighbors = [*everywhere, neighbors[-1]]
    return replace(base, partitions=partitions, average=average, neighbors=neighbors, repair=repair)


def _counts_everywhere(own: Any, mean: Any, observed: NDArray[np.bool_]) -> Any:
    """Counts in which a sample that lacks the view has that of the others on average."""
    if isinstance(own, list):
        return [_counts_everywhere(one, other, observed) for one, other in zip(own, mean, strict=True)]
    return replace(own, counts=np.where(observed, own.counts, mean.counts))


def learn_repair(base: BasePartitions) -> Repair:
    """What fills in rows of H_p from those of the other views."""
    n_samples, n_clusters = base.average.shape
    mask = getattr(base, "mask", None)
    if mask is None:
        mask = np.ones((n_samples, len(base.partitions)), dtype=bool)
    owners = np.repeat(np.arange(len(base.partitions)), n_clusters)
    return Repair(fit_completion(np.concatenate(base.partitions, axis=1), mask, owners, n_clusters))


def extend_partial(
    base: BasePartitions,
    views: Sequence[Array],
    mask: NDArray[np.bool_],
    diagonals: Sequence[Any],
    repair: Repair | None = None,
) -> ExtendedPartitions:
    """Rows of new samples from the views that they have.

    Parameters
    ----------
    base : BasePartitions
        Of training samples that have all views, or not.
    views : sequence of arrays
    mask : ndarray of bool of shape (n_new, n_views)
    diagonals : sequence of ndarray of shape (n_new,) or None
    repair : Repair, default=None
        What fills in the rows of missing views; they stay zero when None.

    Returns
    -------
    ExtendedPartitions
    """
    n_new, n_clusters = len(mask), base.average.shape[1]
    training = getattr(base, "mask", None)
    counters = getattr(base, "counters", None) or base.neighbors
    partitions, counts = [], []
    average = np.zeros((n_new, n_clusters), dtype=base.average.dtype)
    closeness_of_all: Any = 0.0
    for p, (extension, projection) in enumerate(zip(base.extensions, base.projections, strict=True)):
        rows = np.zeros((n_new, 2 * n_clusters), dtype=projection.dtype)
        counted = np.zeros(n_new)
        samples = np.flatnonzero(mask[:, p])
        width = max(projection.shape[0], 1 if counters is None else counters[p].thresholds.shape[0])
        nearness = []
        for block in row_blocks(len(samples), max(1, BLOCK_ENTRIES // width)):
            own = samples[block]
            view = views[p][own]
            if training is not None and base.square[p]:  # type: ignore[attr-defined]
                view = view[:, training[:, p]]
            features = extension.features(view, None if diagonals[p] is None else diagonals[p][own])
            rows[own] = features @ projection
            if counters is not None:
                closeness = extension.closeness(view, features)
                counted[own] = counters[p].count_new(closeness)
                nearness.append(closeness)
        partitions.append(rows[:, :n_clusters])
        average += rows[:, n_clusters:]
        if counters is not None:
            share = 1.0 if training is None else np.mean(training[:, p])
            counts.append(counted / share)
            if training is None:
                closeness_of_all = closeness_of_all + _scattered(nearness, samples, n_new, counters[p])
    average *= np.sqrt(mask.shape[1] / mask.sum(axis=1))[:, None].astype(average.dtype)
    if counters is not None:
        if training is None:
            counts.append(counters[-1].count_new(closeness_of_all / mask.sum(axis=1)[:, None]))
        else:
            counts.append(sum(counts) / mask.sum(axis=1))
    if repair is not None:
        partitions, average = repair.fill(partitions, average, mask)
        if counters is not None:
            counts[:-1] = [np.where(seen, own, counts[-1]) for own, seen in zip(counts, mask.T, strict=False)]
    return ExtendedPartitions(partitions, average, counts if counters is not None else None)


def _scattered(
    blocks: Sequence[NDArray[Any]], samples: NDArray[np.intp], n_new: int, counter: NeighborCounts
) -> NDArray[Any]:
    rows = np.zeros((n_new, counter.thresholds.shape[0]))
    if len(samples):
        rows[samples] = np.concatenate(blocks)
    return rows
