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

from latefusion.arrays import item_bytes, lies_elsewhere, require_memory, row_blocks
from latefusion.partitions.factor import Factor
from latefusion.partitions.factor_partitions import FactorStack, factor_closeness, factor_partitions, factor_projections
from latefusion.partitions.given import GivenMap, nearest_subspace
from latefusion.partitions.neighborhoods import (
    EXACT_COUNTS,
    NeighborCounts,
    SampledNeighborhoods,
    Sizes,
    count_by_closeness,
    count_neighbors,
    draw_samples,
)
from latefusion.partitions.operator_partitions import (
    Leading,
    OperatorPartitions,
    leading_eigenvectors,
    operator_partitions,
)
from latefusion.partitions.operators import takes_gram
from latefusion.progress import report_progress
from latefusion.types import Array

# Features of new samples, and their closeness to training samples, come in blocks of at most this many entries.
BLOCK_ENTRIES = 2**22


class SimilarityExtension(Protocol):
    """What relates new samples to the training samples of one view."""

    def features(self, view: Array, diagonal: NDArray[Any] | None = None) -> Any:
        """Features whose product with a projection gives partition rows, shape (n_new, n_features)."""
        ...

    def closeness(self, view: Array, features: Any = None) -> NDArray[Any]:
        """What neighbourhoods are ranked by, dense, shape (n_new, n_columns).

        ``features`` are those of the view where they are known already. An extension of a similarity that is not a
        dense array also has a method ``with_columns(view, samples)``, which gives the extension whose columns are these
        samples of the training view.
        """
        ...


class Similarity(Protocol):
    """A way to compare the samples of one view: `KernelPartition`, `GraphPartition`, or any object with this method."""

    def similarity(self, view: Array, n_clusters: int) -> tuple[Any, SimilarityExtension]:
        """Similarity of the training samples (dense, sparse, or a `Factor`) and its extension to new ones."""
        ...


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
        Neighbour counts per view, and last those of the mean similarity; only for local alignment. Where several sizes
        were asked for, every entry is a list with one `NeighborCounts` per size, and one of them has to be chosen (by
        `dataclasses.replace`) before new samples are extended.
    """

    partitions: list[Array]
    average: Array
    extensions: Sequence[SimilarityExtension]
    projections: list[Array]
    neighbors: list[NeighborCounts] | None = None


def fit_base_partitions(
    views: Sequence[Array],
    similarities: Sequence[Similarity],
    n_clusters: int,
    *,
    n_neighbors: Sizes | None = None,
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
        Number of neighbourhoods to look at for the counts where no view is a dense kernel; None looks at all of them
        up to 5000 samples and at 512 beyond.
    n_jobs : int, default=None
        Views treated at the same time (threads); each holds its similarity while it is worked on, a dense kernel one
        n x n array.

    Returns
    -------
    BasePartitions

    Notes
    -----
    Narrow factors with dense rows take two passes over the views, see `factor_partitions`. Other factors, and graphs,
    are solved by products with vectors, see `operator_partitions`. An n x n array exists only where a view is a dense
    kernel; then the others are formed as well, for the mean.
    """
    fitted = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
        delayed(_fit_view)(view, similarity, n_clusters, n_neighbors)
        for view, similarity in zip(views, similarities, strict=True)
    )
    mean, mean_closeness = _RunningMean(len(views)), _RunningMean(len(views))
    results: list[_FittedView] = []
    for position, one in enumerate(fitted, start=1):
        report_progress(f"base partitions of {position} of {len(views)} views", position / len(views))
        if isinstance(one.matrix, np.ndarray):
            mean.add(one.matrix)
            if one.closeness is not None:
                mean_closeness.add(one.closeness)
            one = one._replace(matrix=None, closeness=None)
        results.append(one)
    if _fit_into_gram(results, n_clusters):
        base = _from_factors(views, results, n_clusters, n_neighbors, count_samples)
    elif mean.value is None:
        base = _from_operators(views, results, n_clusters, n_neighbors, count_samples)
    else:
        base = _from_matrices(views, results, mean, mean_closeness, n_clusters, n_neighbors)
    for position, one in enumerate(results):
        if isinstance(one.matrix, Factor) and isinstance(one.matrix.feature_map, GivenMap):
            _settle(base, position, one.matrix)
    return base


def _settle(base: BasePartitions, position: int, factor: Factor) -> None:
    """All eigenvalues of a given partition are one: where it has more than k directions, take those nearest to M."""
    n_clusters = base.average.shape[1]
    if factor.feature_map.width > n_clusters:
        base.projections[position][:, :n_clusters] = nearest_subspace(factor, base.average)
        own = base.projections[position][:, :n_clusters]
        for rows in row_blocks(len(base.average), max(1, BLOCK_ENTRIES // len(own))):
            base.partitions[position][rows] = factor.rows(rows.start, rows.stop) @ own


class _FittedView(NamedTuple):
    """A view's similarity (None where it went into the mean already), and what is known of it so far."""

    matrix: Any
    extension: Any
    leading: Leading | None = None
    closeness: NDArray[Any] | None = None
    neighbors: NeighborCounts | None = None


def _fit_view(view: Array, similarity: Similarity, n_clusters: int, n_neighbors: Sizes | None) -> _FittedView:
    matrix, extension = similarity.similarity(view, n_clusters)
    if isinstance(matrix, Factor):
        return _FittedView(matrix, extension)
    leading = leading_eigenvectors(matrix, n_clusters)
    if n_neighbors is None or scipy.sparse.issparse(matrix):
        return _FittedView(matrix, extension, leading)
    closeness = extension.closeness(view, matrix)
    return _FittedView(matrix, extension, leading, closeness, count_neighbors(closeness, n_neighbors))


def _fit_into_gram(results: list[_FittedView], n_clusters: int) -> bool:
    """Whether all views are factors with dense rows, narrow enough for one Gram matrix of all of them together."""
    if not all(isinstance(one.matrix, Factor) and one.matrix.has_dense_rows for one in results):
        return False
    width = sum(one.matrix.feature_map.width for one in results)
    return lies_elsewhere(results[0].matrix.view) or takes_gram(width, n_clusters, dense=True)


def _from_factors(
    views: Sequence[Array],
    results: list[_FittedView],
    n_clusters: int,
    n_neighbors: Sizes | None,
    count_samples: int | None,
) -> BasePartitions:
    """Narrow dense factors only: two passes over the rows."""
    extensions = [one.extension for one in results]
    n_views = len(results)
    stack = FactorStack([one.matrix for one in results])
    projections = factor_projections(stack, n_clusters)
    sampled, columns = None, []
    neighbors: list[NeighborCounts] | None = None
    few = stack.n_samples <= EXACT_COUNTS and not stack.on_device
    if n_neighbors is not None and count_samples is None and few:
        extensions, neighbors = count_by_closeness(views, extensions, n_neighbors)
    elif n_neighbors is not None:
        samples, judges = draw_samples(stack.n_samples, count_samples)
        columns = stack.take(samples)
        extensions = [replace(one, columns=part) for one, part in zip(extensions, columns, strict=True)]
        sampled = SampledNeighborhoods(
            samples,
            judges,
            factor_closeness(stack.take(judges), columns),
            n_samples=stack.n_samples,
            n_neighbors=n_neighbors,
            n_views=n_views,
        )
    rows = factor_partitions(stack, projections, sampled, columns)
    if sampled is not None:
        neighbors = sampled.results()
    *partitions, average = [rows[:, p * n_clusters : (p + 1) * n_clusters] for p in range(n_views + 1)]
    shares = []
    for p in range(n_views):
        own = projections[int(stack.edges[p]) : int(stack.edges[p + 1]), :]
        both = [own[:, p * n_clusters : (p + 1) * n_clusters], own[:, n_views * n_clusters :]]
        shares.append(stack.xp.astype(stack.xp.concat(both, axis=1), stack.dtype))
    return BasePartitions(partitions, average, extensions, shares, neighbors)


def _from_operators(
    views: Sequence[Array],
    results: list[_FittedView],
    n_clusters: int,
    n_neighbors: Sizes | None,
    count_samples: int | None,
) -> BasePartitions:
    """Factors of any kind and sparse graphs: products with vectors only."""
    extensions, neighbors = [one.extension for one in results], None
    if n_neighbors is not None:
        extensions, neighbors = count_by_closeness(views, extensions, n_neighbors, count_samples)
    found = _solve(views, results, n_clusters, None)
    return BasePartitions(found.partitions, found.average, extensions, found.projections, neighbors)


def _from_matrices(
    views: Sequence[Array],
    results: list[_FittedView],
    mean: _RunningMean,
    mean_closeness: _RunningMean,
    n_clusters: int,
    n_neighbors: Sizes | None,
) -> BasePartitions:
    """Dense similarities, which are in the mean already, and others among them, which are formed to join it."""
    _require_formed(results, mean.value, n_neighbors)
    for position, (view, one) in enumerate(zip(views, results, strict=True)):
        if one.matrix is None:
            continue
        mean.add(one.matrix.toarray() if isinstance(one.matrix, Factor) else one.matrix)
        if n_neighbors is not None:
            extension = one.extension.with_columns(view, np.arange(view.shape[0]))
            closeness = extension.closeness(view)
            mean_closeness.add(closeness)
            results[position] = one._replace(extension=extension, neighbors=count_neighbors(closeness, n_neighbors))
    found = _solve(views, results, n_clusters, mean.value)
    neighbors = None
    if n_neighbors is not None:
        neighbors = [one.neighbors for one in results if one.neighbors is not None]
        neighbors.append(count_neighbors(mean_closeness.value, n_neighbors))
    return BasePartitions(
        found.partitions, found.average, [one.extension for one in results], found.projections, neighbors
    )


def _require_formed(results: list[_FittedView], mean: NDArray[Any], n_neighbors: Sizes | None) -> None:
    """A factor, and what any view's neighbourhoods are ranked by, are formed and scaled; a graph is added to a copy."""
    others = [one.matrix for one in results if one.matrix is not None]
    if not others:
        return
    n_samples = len(mean)
    n_copies = 1 if n_neighbors is None and not any(isinstance(one, Factor) for one in others) else 2
    require_memory(
        n_copies * n_samples**2 * item_bytes(mean),
        f"Beside a dense kernel, {len(others)} of {len(results)} views are formed as well, one at a time, for the mean "
        f"of all: {n_samples} x {n_samples} numbers in {n_copies} copies, which",
        "Use KernelPartition(method='factor') for the dense kernels, so that nothing is formed, or fewer samples; "
        "float32 views need half.",
    )


def _solve(views: Sequence[Array], results: list[_FittedView], n_clusters: int, mean: Any) -> OperatorPartitions:
    return operator_partitions(
        [one.matrix for one in results],
        [one.leading for one in results],
        [
            view.dtype if one.leading is None else one.leading.vectors.dtype
            for view, one in zip(views, results, strict=True)
        ],
        n_clusters,
        mean=mean,
    )


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
