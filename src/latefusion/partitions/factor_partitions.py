"""Base partitions from factors, in two passes over the rows and with no copy of a view.

With Φ_p the factor of view p and Φ = [Φ_1 | … | Φ_m], the similarities Φ_pΦ_pᵀ and their mean ΦΦᵀ/m have the
eigenvectors Φ_p V_p Λ_p^{-1/2} and Φ V Λ^{-1/2}, where V_p, Λ_p and V, Λ belong to the diagonal blocks and to the
whole of the small matrix ΦᵀΦ. The first pass sums up that matrix, the second multiplies the rows by the small matrices
that come out of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import top_eigenpairs
from latefusion.partitions.factor import Factor, LinearMap
from latefusion.partitions.neighborhoods import NeighborCounts, SampledNeighborhoods, count_neighbors
from latefusion.types import Array

# Entries of a block of features: large enough for matrix products at full speed, small enough for the cache.
BLOCK_ENTRIES = 2**19
# Features that are costly to compute are kept between the passes while they need no more than this.
KEPT_BYTES = 2**28


class FactorStack:
    """The factors of all views side by side, Φ = [Φ_1 | … | Φ_m], read in blocks of rows."""

    def __init__(self, factors: Sequence[Factor]) -> None:
        self.factors = factors
        widths = [factor.feature_map.width for factor in factors]
        self.edges = np.concatenate([[0], np.cumsum(widths)])
        self.n_samples = factors[0].shape[0]
        self.dtype = np.result_type(*[factor.view.dtype for factor in factors])
        self.block = max(256, BLOCK_ENTRIES // int(self.edges[-1]))
        costly = any(not isinstance(factor.feature_map, LinearMap) for factor in factors)
        size = self.n_samples * int(self.edges[-1]) * self.dtype.itemsize
        self.kept: dict[int, Array] | None = {} if costly and size <= KEPT_BYTES else None

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Row ranges and the rows of Φ in them."""
        for start in range(0, self.n_samples, self.block):
            rows = slice(start, min(start + self.block, self.n_samples))
            if self.kept is None:
                yield rows, self._features(rows)
                continue
            if start not in self.kept:
                self.kept[start] = self._features(rows)
            yield rows, self.kept[start]

    def take(self, samples: NDArray[np.intp]) -> list[Array]:
        """Rows of every Φ_p of some samples."""
        return [factor.feature_map(factor.view[samples]) for factor in self.factors]

    def split(self, features: Array) -> list[Array]:
        """The columns of every view."""
        return [features[:, start:stop] for start, stop in zip(self.edges[:-1], self.edges[1:], strict=True)]

    def _features(self, rows: slice) -> Array:
        features = np.empty((rows.stop - rows.start, int(self.edges[-1])), dtype=self.dtype)
        for part, factor in zip(self.split(features), self.factors, strict=True):
            part[:] = factor.rows(rows.start, rows.stop)
        return features


def factor_projections(stack: FactorStack, n_clusters: int) -> NDArray[np.float64]:
    """The matrix that turns rows of Φ into rows of all base partitions and, last, of the mean similarity's.

    Parameters
    ----------
    stack : FactorStack
    n_clusters : int

    Returns
    -------
    ndarray of shape (total width, (n_views + 1) * n_clusters)
    """
    width, n_views = int(stack.edges[-1]), len(stack.factors)
    gram = np.zeros((width, width))
    for _, features in stack.blocks():
        gram += features.T @ features
    projections = np.zeros((width, (n_views + 1) * n_clusters))
    for p in range(n_views):
        own = slice(int(stack.edges[p]), int(stack.edges[p + 1]))
        projections[own, p * n_clusters : (p + 1) * n_clusters] = _whitened(gram[own, own], n_clusters, stack.dtype)
    projections[:, n_views * n_clusters :] = _whitened(gram, n_clusters, stack.dtype)
    return projections


def _whitened(gram: NDArray[np.float64], n_clusters: int, dtype: Any) -> NDArray[np.float64]:
    """V Λ^{-1/2} of the leading eigenpairs; columns of eigenvalues that are rounding error are zero."""
    values, vectors = top_eigenpairs(gram, min(n_clusters, len(gram)))
    present = values > np.finfo(dtype).eps ** (2 / 3) * max(float(values[0]), 0.0)
    whitened = np.zeros((len(gram), n_clusters))
    whitened[:, : len(values)] = vectors * np.where(present, 1 / np.sqrt(np.where(present, values, 1.0)), 0.0)
    return whitened


def factor_partitions(
    stack: FactorStack, projections: NDArray[np.float64], neighborhoods: SampledNeighborhoods | None
) -> Array:
    """Rows of all partitions, in one pass that also counts neighbours.

    Parameters
    ----------
    stack : FactorStack
    projections : ndarray of shape (total width, n_columns)
    neighborhoods : SampledNeighborhoods or None
        Filled with the counts of all samples.

    Returns
    -------
    ndarray of shape (n_samples, n_columns)
    """
    rows_of_all = np.empty((stack.n_samples, projections.shape[1]), dtype=stack.dtype)
    small = projections.astype(stack.dtype)
    for rows, features in stack.blocks():
        np.matmul(features, small, out=rows_of_all[rows])
        if neighborhoods is not None:
            neighborhoods.count(rows, stack.split(features))
    return rows_of_all


def exact_factor_counts(stack: FactorStack, n_neighbors: int) -> list[NeighborCounts]:
    """Neighbour counts of every view and, last, of the mean similarity, from one n x n similarity at a time."""
    counts, mean = [], np.zeros((stack.n_samples, stack.n_samples), dtype=stack.dtype)
    for features in stack.take(np.arange(stack.n_samples)):
        similarity = features @ features.T
        counts.append(count_neighbors(similarity, n_neighbors))
        mean += similarity / stack.dtype.type(len(stack.factors))
    return [*counts, count_neighbors(mean, n_neighbors)]
