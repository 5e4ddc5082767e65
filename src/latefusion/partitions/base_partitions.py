"""All base partitions of a problem: one per view, one of the mean similarity, and the map that gives new ones theirs.

With S_p the similarity of view p (a standardised kernel or a normalised graph), the base partition H_p holds its k
leading eigenvectors and M those of the mean of all S_p. For a new sample with similarities s to the training samples
the same eigenvectors extend as h = sᵀ V Λ^{-1}, which returns the training row for a training sample.

A view whose similarity has fewer than k positive eigenvalues contributes as many directions as it has: the other
columns of H_p are zero. Completing them from the null space, as an eigensolver would, adds directions that mean
nothing, differ from machine to machine, and cannot be extended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse
from joblib import Parallel, delayed
from numpy.typing import NDArray

from latefusion.arrays import namespace, top_eigenpairs
from latefusion.partitions.factor import Factor, FactorExtension
from latefusion.partitions.factor_partitions import (
    FactorStack,
    exact_factor_counts,
    factor_partitions,
    factor_projections,
)
from latefusion.partitions.neighborhoods import BLOCK_ENTRIES, NeighborCounts, SampledNeighborhoods, count_neighbors
from latefusion.types import Array

# Up to this many samples the neighbour counts of factors are exact, from one n x n similarity at a time.
EXACT_COUNTS = 5000


class SimilarityExtension(Protocol):
    """What relates new samples to the training samples of one view."""

    def features(self, view: Array, diagonal: NDArray[Any] | None = None) -> Any:
        """Features whose product with a projection gives partition rows, shape (n_new, n_features)."""
        ...

    def closeness(self, view: Array, features: Any) -> NDArray[Any]:
        """What neighbourhoods are ranked by, dense, shape (n_new, n_columns)."""
        ...


class Similarity(Protocol):
    """A way to compare the samples of one view: `KernelPartition`, `GraphPartition`, or any object with this method."""

    def similarity(self, view: Array, n_clusters: int) -> tuple[Any, SimilarityExtension]:
        """Similarity of the training samples (dense, sparse, or a `Factor`) and its extension to new ones."""
        ...


class ExtendedPartitions(NamedTuple):
    """Rows of new samples: in every base partition, in that of the mean, and their neighbour counts (or None)."""

    partitions: list[Array]
    average: Array
    counts: list[Array] | None


@dataclass(frozen=True)
class BasePartitions:
    """Base partitions of the training samples and their extension.

    Attributes
    ----------
    partitions : list of ndarray of shape (n_samples, n_clusters)
        H_p, one per view.
    average : ndarray of shape (n_samples, n_clusters)
        M, the same of the mean similarity.
    extensions : list of SimilarityExtension
    projections : list of ndarray of shape (n_features, 2 * n_clusters)
        Per view what turns the features of a new sample into its row of H_p and into the view's share of its row of M.
    neighbors : list of NeighborCounts or None
        Neighbour counts per view, and last those of the mean similarity; only for local alignment.
    """

    partitions: list[Array]
    average: Array
    extensions: Sequence[SimilarityExtension]
    projections: list[Array]
    neighbors: list[NeighborCounts] | None = None

    def extend(self, views: Sequence[Array], diagonals: Sequence[Any] | None = None) -> ExtendedPartitions:
        """Rows of new samples in all partitions, block by block."""
        n_new = views[0].shape[0]
        block = max(1, BLOCK_ENTRIES // max(len(projection) for projection in self.projections))
        parts = [
            self._extend_block(
                [view[start : start + block] for view in views],
                None if diagonals is None else [_slice(diagonal, start, block) for diagonal in diagonals],
            )
            for start in range(0, n_new, block)
        ]
        concat = namespace(self.average).concat
        return ExtendedPartitions(
            [concat(rows) for rows in zip(*(part.partitions for part in parts), strict=True)],
            concat([part.average for part in parts]),
            None
            if self.neighbors is None
            else [concat(counts) for counts in zip(*(part.counts or [] for part in parts), strict=True)],
        )

    def _extend_block(self, views: Sequence[Array], diagonals: Sequence[Any] | None) -> ExtendedPartitions:
        n_views, n_clusters = len(self.extensions), self.average.shape[1]
        partitions: list[Array] = []
        counts: list[Array] = []
        average: Any = 0.0
        mean_closeness: Any = 0.0
        for p, (extension, view) in enumerate(zip(self.extensions, views, strict=True)):
            features = extension.features(view, None if diagonals is None else diagonals[p])
            rows = features @ self.projections[p]
            partitions.append(rows[:, :n_clusters])
            average = average + rows[:, n_clusters:]
            if self.neighbors is not None:
                closeness = extension.closeness(view, features)
                counts.append(self.neighbors[p].count_new(closeness))
                mean_closeness = mean_closeness + closeness * (1.0 / n_views)
        if self.neighbors is not None:
            counts.append(self.neighbors[-1].count_new(mean_closeness))
        return ExtendedPartitions(partitions, average, counts if self.neighbors is not None else None)


def fit_base_partitions(
    views: Sequence[Array],
    similarities: Sequence[Similarity],
    n_clusters: int,
    *,
    n_neighbors: int | None = None,
    count_samples: int | None = None,
    n_jobs: int | None = None,
) -> BasePartitions:
    """Base partitions of all views and of their mean similarity.

    Parameters
    ----------
    views : sequence of arrays
    similarities : sequence of Similarity
        One per view.
    n_clusters : int
        Number of columns of every partition.
    n_neighbors : int or tuple of int, default=None
        Size of the neighbourhoods to count for local alignment; no counts when None. For several sizes every entry of
        ``neighbors`` is a list with one `NeighborCounts` per size.
    count_samples : int, default=None
        Number of neighbourhoods to sample for the counts of factors; None counts all of them up to 5000 samples and
        512 beyond.
    n_jobs : int, default=None
        Views treated at the same time (threads); each holds one n x n similarity while it is worked on.

    Returns
    -------
    BasePartitions
    """
    fitted = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
        delayed(_fit_view)(view, similarity, n_clusters, n_neighbors)
        for view, similarity in zip(views, similarities, strict=True)
    )
    mean, mean_closeness = _RunningMean(len(views)), _RunningMean(len(views))
    results: list[_FittedView] = []
    for one in fitted:
        if one.vectors is not None:
            mean.add(one.matrix)
            if one.closeness is not None:
                mean_closeness.add(one.closeness)
            one = one._replace(matrix=None, closeness=None)
        results.append(one)
    factors = [one.matrix for one in results if one.matrix is not None]
    if len(factors) == len(results):
        return _from_factors(factors, [one.extension for one in results], n_clusters, n_neighbors, count_samples)
    return _from_matrices(results, mean, mean_closeness, n_clusters, n_neighbors)


class _FittedView(NamedTuple):
    matrix: Any
    extension: Any
    vectors: Any
    inverse_values: Any
    closeness: NDArray[Any] | None
    neighbors: NeighborCounts | None


def _fit_view(view: Array, similarity: Similarity, n_clusters: int, n_neighbors: int | None) -> _FittedView:
    matrix, extension = similarity.similarity(view, n_clusters)
    if isinstance(matrix, Factor):
        return _FittedView(matrix, extension, None, None, None, None)
    vectors, inverse_values = _leading(matrix, n_clusters)
    if n_neighbors is None:
        return _FittedView(matrix, extension, vectors, inverse_values, None, None)
    closeness = extension.closeness(view, matrix)
    counts = count_neighbors(closeness, n_neighbors)
    return _FittedView(matrix, extension, vectors, inverse_values, closeness, counts)


def _leading(matrix: Any, n_clusters: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Leading eigenvectors, with null directions set to zero, and the inverse eigenvalues."""
    values, vectors = top_eigenpairs(matrix, n_clusters)
    # Below this share of the largest, an eigenvalue is rounding error, and dividing by it would extend noise.
    present = values > np.finfo(values.dtype).eps ** (2 / 3) * max(float(values[0]), 0.0)
    inverse = np.where(present, 1.0 / np.where(present, values, 1.0), 0.0).astype(vectors.dtype)
    return vectors * present, inverse


def _from_matrices(
    results: list[_FittedView],
    mean: _RunningMean,
    mean_closeness: _RunningMean,
    n_clusters: int,
    n_neighbors: int | None,
) -> BasePartitions:
    """Dense and sparse similarities, and factors among them, which are formed for the purpose."""
    n_views = len(results)
    for position, one in enumerate(results):
        if one.matrix is None:
            continue
        matrix = one.matrix.toarray()
        mean.add(matrix)
        vectors, inverse_values = _leading(matrix, n_clusters)
        counts = None
        extension = one.extension
        if n_neighbors is not None:
            counts = count_neighbors(matrix, n_neighbors)
            mean_closeness.add(matrix)
            extension = replace(extension, columns=one.matrix.rows(0, len(matrix)))
        results[position] = one._replace(
            extension=extension, vectors=vectors, inverse_values=inverse_values, neighbors=counts
        )
    average, inverse_average = _leading(mean.value, n_clusters)
    projections = []
    for one in results:
        both = np.concatenate([one.vectors * one.inverse_values, average * (inverse_average / n_views)], axis=1)
        projections.append(both if one.matrix is None else one.matrix.rows(0, len(both)).T @ both)
    neighbors = None
    if n_neighbors is not None:
        neighbors = [one.neighbors for one in results if one.neighbors is not None]
        neighbors.append(count_neighbors(mean_closeness.value, n_neighbors))
    partitions = [one.vectors for one in results]
    return BasePartitions(partitions, average, [one.extension for one in results], projections, neighbors)


def _from_factors(
    factors: list[Factor],
    extensions: list[FactorExtension],
    n_clusters: int,
    n_neighbors: int | None,
    count_samples: int | None,
) -> BasePartitions:
    """Factors only: two passes over the rows, no n x n array."""
    stack = FactorStack(factors)
    projections = factor_projections(stack, n_clusters)
    sampled = None
    neighbors: list[NeighborCounts] | None = None
    few = stack.n_samples <= EXACT_COUNTS and not stack.on_device
    if n_neighbors is not None and count_samples is None and few:
        neighbors = exact_factor_counts(stack, n_neighbors)
        columns = stack.take(np.arange(stack.n_samples))
    elif n_neighbors is not None:
        sampled = SampledNeighborhoods.draw(stack.take, stack.n_samples, n_neighbors, count_samples)
        columns = sampled.columns
    rows = factor_partitions(stack, projections, sampled)
    if sampled is not None:
        neighbors = sampled.results()
    if neighbors is not None:
        extensions = [replace(one, columns=part) for one, part in zip(extensions, columns, strict=True)]
    *partitions, average = [rows[:, p * n_clusters : (p + 1) * n_clusters] for p in range(len(factors) + 1)]
    shares = []
    for p in range(len(factors)):
        own = projections[int(stack.edges[p]) : int(stack.edges[p + 1]), :]
        both = [own[:, p * n_clusters : (p + 1) * n_clusters], own[:, len(factors) * n_clusters :]]
        shares.append(stack.xp.astype(stack.xp.concat(both, axis=1), stack.dtype))
    return BasePartitions(partitions, average, extensions, shares, neighbors)


class _RunningMean:
    """Mean of matrices that come one by one; dense as soon as one of them is."""

    def __init__(self, n_terms: int) -> None:
        self.n_terms = n_terms
        self.value: Any = None

    def add(self, matrix: Any) -> None:
        term = matrix * matrix.dtype.type(1.0 / self.n_terms)  # SciPy divides single precision into double
        if self.value is None:
            self.value = term
        elif scipy.sparse.issparse(self.value) or scipy.sparse.issparse(term):
            self.value = self.value + term
            if not scipy.sparse.issparse(self.value):
                self.value = np.asarray(self.value)
        else:
            self.value = self.value + term if self.value.dtype != term.dtype else np.add(self.value, term, self.value)


def _slice(diagonal: Any, start: int, length: int) -> Any:
    return None if diagonal is None else diagonal[start : start + length]
