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
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse
from joblib import Parallel, delayed
from numpy.typing import NDArray

from latefusion.arrays import top_eigenpairs
from latefusion.partitions.neighborhoods import BLOCK_ENTRIES, NeighborCounts, count_neighbors
from latefusion.types import Array


class SimilarityExtension(Protocol):
    """Similarities of new samples to the training samples of one view."""

    def cross(self, view: Array, diagonal: NDArray[Any] | None = None) -> Any:
        """Similarities on the scale of the training matrix, shape (n_new, n_samples)."""
        ...

    def closeness(self, view: Array, cross: Any) -> NDArray[Any]:
        """What neighbourhoods are ranked by, dense, shape (n_new, n_samples)."""
        ...


class Similarity(Protocol):
    """A way to compare the samples of one view: `KernelPartition`, `GraphPartition`, or any object with this method."""

    def similarity(self, view: Array, n_clusters: int) -> tuple[Any, SimilarityExtension]:
        """Similarity matrix of the training samples, dense or sparse, and its extension to new ones."""
        ...


class Eigenmap(NamedTuple):
    """Leading eigenvectors of a similarity, with null directions set to zero, and the inverse eigenvalues."""

    vectors: NDArray[Any]
    inverse_values: NDArray[Any]

    def extend(self, cross: Any) -> NDArray[Any]:
        """Rows of new samples from their similarities to the training samples."""
        rows: NDArray[Any] = np.asarray(cross @ self.vectors) * self.inverse_values
        return rows


class ExtendedPartitions(NamedTuple):
    """Rows of new samples: in every base partition, in that of the mean, and their neighbour counts (or None)."""

    partitions: list[NDArray[Any]]
    average: NDArray[Any]
    counts: list[NDArray[np.intp]] | None


@dataclass(frozen=True)
class BasePartitions:
    """Base partitions of the training samples and their extension.

    Attributes
    ----------
    eigenmaps : list of Eigenmap
        One per view; ``eigenmaps[p].vectors`` is H_p.
    average : Eigenmap
        The same of the mean similarity; its vectors are M.
    extensions : list of SimilarityExtension
    neighbors : list of NeighborCounts or None
        Neighbour counts per view, and last those of the mean similarity; only for local alignment.
    """

    eigenmaps: list[Eigenmap]
    average: Eigenmap
    extensions: list[SimilarityExtension]
    neighbors: list[NeighborCounts] | None = None

    def extend(self, views: Sequence[Array], diagonals: Sequence[Any] | None = None) -> ExtendedPartitions:
        """Rows of new samples in all partitions, block by block."""
        n_new, n_training = views[0].shape[0], len(self.average.vectors)
        block = max(1, BLOCK_ENTRIES // n_training)
        parts = [
            self._extend_block(
                [view[start : start + block] for view in views],
                None if diagonals is None else [_slice(diagonal, start, block) for diagonal in diagonals],
            )
            for start in range(0, n_new, block)
        ]
        return ExtendedPartitions(
            [np.concatenate(rows) for rows in zip(*(part.partitions for part in parts), strict=True)],
            np.concatenate([part.average for part in parts]),
            None
            if self.neighbors is None
            else [np.concatenate(c) for c in zip(*(part.counts or [] for part in parts), strict=True)],
        )

    def _extend_block(self, views: Sequence[Array], diagonals: Sequence[Any] | None) -> ExtendedPartitions:
        n_views = len(self.extensions)
        rows: list[NDArray[Any]] = []
        counts: list[NDArray[np.intp]] = []
        average: Any = 0.0
        mean_closeness: Any = 0.0
        for p, (extension, view) in enumerate(zip(self.extensions, views, strict=True)):
            cross = extension.cross(view, None if diagonals is None else diagonals[p])
            rows.append(self.eigenmaps[p].extend(cross))
            average = average + self.average.extend(cross) / n_views
            if self.neighbors is not None:
                closeness = extension.closeness(view, cross)
                counts.append(self.neighbors[p].count_new(closeness))
                mean_closeness = mean_closeness + closeness / n_views
        if self.neighbors is not None:
            counts.append(self.neighbors[-1].count_new(np.asarray(mean_closeness)))
        return ExtendedPartitions(rows, np.asarray(average), counts if self.neighbors is not None else None)


class _FittedView(NamedTuple):
    matrix: Any
    extension: SimilarityExtension
    eigenmap: Eigenmap
    closeness: NDArray[Any] | None
    neighbors: NeighborCounts | None


def fit_base_partitions(
    views: Sequence[Array],
    similarities: Sequence[Similarity],
    n_clusters: int,
    *,
    n_neighbors: int | None = None,
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
    n_neighbors : int, default=None
        Size of the neighbourhoods to count for local alignment; no counts when None.
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
    mean = _RunningMean(len(views))
    mean_closeness = _RunningMean(len(views))
    eigenmaps, extensions, neighbors = [], [], []
    for one in fitted:
        mean.add(one.matrix)
        eigenmaps.append(one.eigenmap)
        extensions.append(one.extension)
        if one.neighbors is not None:
            neighbors.append(one.neighbors)
            mean_closeness.add(one.closeness)
    average = _eigenmap(mean.value, n_clusters)
    if n_neighbors is None:
        return BasePartitions(eigenmaps, average, extensions)
    neighbors.append(count_neighbors(mean_closeness.value, n_neighbors))
    return BasePartitions(eigenmaps, average, extensions, neighbors)


def _fit_view(view: Array, similarity: Similarity, n_clusters: int, n_neighbors: int | None) -> _FittedView:
    matrix, extension = similarity.similarity(view, n_clusters)
    eigenmap = _eigenmap(matrix, n_clusters)
    if n_neighbors is None:
        return _FittedView(matrix, extension, eigenmap, None, None)
    closeness = extension.closeness(view, matrix)
    return _FittedView(matrix, extension, eigenmap, closeness, count_neighbors(closeness, n_neighbors))


def _eigenmap(matrix: Any, n_clusters: int) -> Eigenmap:
    values, vectors = top_eigenpairs(matrix, n_clusters)
    # Below this share of the largest, an eigenvalue is rounding error, and dividing by it would extend noise.
    present = values > np.finfo(values.dtype).eps ** (2 / 3) * max(float(values[0]), 0.0)
    inverse = np.where(present, 1.0 / np.where(present, values, 1.0), 0.0).astype(vectors.dtype)
    return Eigenmap(vectors * present, inverse)


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
