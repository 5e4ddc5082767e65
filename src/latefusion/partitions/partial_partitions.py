"""Base partitions of views that some samples lack, and rows of new samples that lack some.

With S_p the similarity of the n_p samples that have view p, and E_p what puts their rows among all n (zero rows for the
others), the base partition is H_p = (n_p / n)^{1/2} E_p V_p: entries of orthonormal columns are the larger the fewer
they are, and the factor takes that back, so that a view of few samples gains no weight by it. The mean similarity is

    D^{-1/2} (Σ_p E_p S_p E_pᵀ / m) D^{-1/2},    D the share of views that a sample has,

in which two samples are compared by the views that both have, and nobody counts less for having few. Nothing is formed
that the complete views would not form: factors stay factors, graphs sparse.

What a sample lacks stays zero in H_p, or is filled in, see `latefusion.partitions.imputation`.
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

from latefusion.arrays import top_eigenpairs
from latefusion.partitions.base_partitions import BasePartitions
from latefusion.partitions.imputation import FactorModel, fit_factor_model, sum_patterns
from latefusion.partitions.neighborhoods import NeighborCounts, Sizes, count_by_closeness, count_neighbors
from latefusion.partitions.operator_partitions import Leading, leading_eigenvectors, mean_partition
from latefusion.partitions.operators import feature_matrix, inverse_values, leading_projection
from latefusion.similarities.extension import Similarity
from latefusion.similarities.factor import Factor
from latefusion.similarities.kernel import PrecomputedPartition
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
    imputation : Imputation or None
        How rows were imputed; None if they stayed zero.
    """

    mask: NDArray[np.bool_] | None = None
    counters: list[NeighborCounts] | None = None
    square: tuple[bool, ...] = ()
    imputation: Imputation | None = None


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
    return base if missing == "align" else _imputed(base)


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
class Imputation:
    """The model that imputes rows of base partitions, and M from all of them together.

    Attributes
    ----------
    model : FactorModel
        Of [H_1 | … | H_m].
    mixing : ndarray of shape (n_views * n_clusters, n_clusters)
        M = [H_1 | … | H_m] times this, with imputed rows.
    """

    model: FactorModel
    mixing: NDArray[Any]


def _imputed(base: PartialPartitions) -> PartialPartitions:
    """The same with imputed rows of missing views, and M, the leading directions of all of them together."""
    assert base.mask is not None
    n_clusters = base.average.shape[1]
    model = fit_rows_model(base.partitions, base.mask)
    rows = model.impute(np.concatenate(base.partitions, axis=1), base.mask)
    exact = rows.astype(np.float64)
    values, vectors = top_eigenpairs(exact.T @ exact, n_clusters)
    mixing = vectors * np.sqrt(inverse_values(values, base.average.dtype))
    neighbors = base.neighbors
    if neighbors is not None:
        everywhere = [
            _counts_everywhere(one, neighbors[-1], seen) for one, seen in zip(neighbors, base.mask.T, strict=False)
        ]
        neighbors = [*everywhere, neighbors[-1]]
    return replace(
        base,
        partitions=np.split(rows, len(base.partitions), axis=1),
        average=(rows @ mixing).astype(base.average.dtype),
        neighbors=neighbors,
        imputation=Imputation(model, mixing),
    )


def _counts_everywhere(own: Any, mean: Any, observed: NDArray[np.bool_]) -> Any:
    """Counts in which a sample that lacks the view has that of the others on average."""
    if isinstance(own, list):
        return [_counts_everywhere(one, other, observed) for one, other in zip(own, mean, strict=True)]
    return replace(own, counts=np.where(observed, own.counts, mean.counts))


def fit_rows_model(partitions: Sequence[NDArray[Any]], mask: NDArray[np.bool_] | None = None) -> FactorModel:
    """The model that imputes rows of H_p from those of the other views.

    Parameters
    ----------
    partitions : sequence of ndarray of shape (n_samples, n_clusters)
    mask : ndarray of bool of shape (n_samples, n_views), default=None
        Which samples have which views; all by default.

    Returns
    -------
    FactorModel
    """
    rows = np.concatenate(partitions, axis=1)
    n_views, n_clusters = len(partitions), partitions[0].shape[1]
    mask = np.ones((len(rows), n_views), dtype=bool) if mask is None else mask
    owners = np.repeat(np.arange(n_views), n_clusters)
    return fit_factor_model(sum_patterns(rows, mask, owners), owners, n_clusters)
