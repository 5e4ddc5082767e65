"""Partitions of the training samples, and the map that extends them to new samples.

A partition consists of the leading eigenvectors V_j of one similarity of one view. B = [V_1 | … | V_s] is the matrix of
all partitions side by side. The row of a new sample x with features φ_j(x) is φ_j(x) P_j, which is the row of V_j for a
training sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import beside, device_of, is_device_array, namespace, row_blocks, to_numpy
from latefusion.partitions.imputation import Fill
from latefusion.similarities.extension import SimilarityExtension
from latefusion.types import Array

# Features of new samples are computed in blocks of at most this many entries.
BLOCK_ENTRIES = 2**22
# Rows whose inner products are summed at a time.
PRODUCT_ROWS = 2**14
DEVICE_PRODUCT_ROWS = 2**18


class PartitionKey(NamedTuple):
    """A view and its similarity; the number of views is the key of all views together."""

    view: int
    name: str


@dataclass(frozen=True)
class Block:
    """One similarity of one view, or of all views together: from the view to the columns of its partition.

    Attributes
    ----------
    view : int
        Position of the view; the number of views for all of them together.
    name : str
        Name of the similarity, such as "kernel" or "graph 10".
    encoding : Encoding
        From the given view to the coordinates that the similarity compares.
    extension : SimilarityExtension
        Computes the features φ_j of a sample.
    projection : array of shape (n_features, n_columns)
        P_j.
    """

    view: int
    name: str
    encoding: Any
    extension: SimilarityExtension
    projection: Array

    @property
    def key(self) -> PartitionKey:
        """View and name."""
        return PartitionKey(self.view, self.name)

    def rows(self, coordinates: Array, diagonal: NDArray[Any] | None = None) -> NDArray[Any]:
        """φ_j(x) P_j of samples with encoded views, in blocks."""
        parts = [np.empty((0, self.projection.shape[1]), dtype=self.projection.dtype)]
        for rows in row_blocks(coordinates.shape[0], max(1, BLOCK_ENTRIES // self.projection.shape[0])):
            own = None if diagonal is None else diagonal[rows]
            parts.append(np.asarray(self.extension.features(coordinates[rows], own) @ self.projection))
        return np.concatenate(parts).astype(self.projection.dtype, copy=False)


class Mean(NamedTuple):
    """M, the partition of the mean similarity, which regularizes alignments.

    The row of M of a sample x is [φ_1(x) P_1 | … ] · mixing over the blocks of M. These are one of

    - the features of every view times N_p, its share of M, which add up: ``mixing`` is a column of identities;
    - the blocks of all H_p once more, if missing rows of H_p are imputed and M is a linear function of them;
    - a single block of all views side by side.

    Attributes
    ----------
    rows : array of shape (n_samples, n_clusters)
        M itself.
    blocks : tuple of Block
        A block with the key of a base partition has the same features.
    mixing : ndarray of shape (n_blocks * n_clusters, n_clusters)
    """

    rows: Array
    blocks: tuple[Block, ...]
    mixing: NDArray[Any]


@dataclass(frozen=True)
class Partitions:
    """Partitions of the training samples.

    Attributes
    ----------
    blocks : tuple of Block
    vectors : tuple of array of shape (n_samples, n_columns)
        Rows of the training samples in every block. Zero or imputed for missing views.
    values : tuple of ndarray of shape (n_columns,)
        Eigenvalues, descending. Empty for alignments, which do not use them.
    mask : ndarray of bool of shape (n_samples, n_views) or None
        Which views samples have; None if no view is missing.
    fill : Fill or None
        How rows of samples with missing views are filled. Applies to the columns of views, which come first, and to
        those of the blocks of M, if there is one.
    mean : Mean or None
        For alignments.
    counts : tuple or None
        For local alignment: the `NeighborCounts` of every view, of the samples that have it, and last those of the
        similarity of M, or None if the mean of the counts is used for them. For several sizes of neighborhoods, a list
        of them each.
    """

    blocks: tuple[Block, ...]
    vectors: tuple[Array, ...]
    values: tuple[NDArray[Any], ...] = ()
    mask: NDArray[np.bool_] | None = None
    fill: Fill | None = None
    mean: Mean | None = None
    counts: tuple[Any, ...] | None = None

    @property
    def n_samples(self) -> int:
        """Number of rows of B."""
        return int(self.vectors[0].shape[0])

    @property
    def dtype(self) -> Any:
        """Float type of B."""
        return namespace(*self.vectors).result_type(*[one.dtype for one in self.vectors])

    @cached_property
    def keys(self) -> list[PartitionKey]:
        """View and name of every block."""
        return [block.key for block in self.blocks]

    @cached_property
    def columns(self) -> list[slice]:
        """The columns of every block in B."""
        edges = np.concatenate([[0], np.cumsum([one.shape[1] for one in self.vectors])])
        return [slice(int(start), int(stop)) for start, stop in pairwise(edges)]

    def position(self, key: PartitionKey) -> int:
        """Which of the blocks has this key."""
        return self.keys.index(key)

    @cached_property
    def products(self) -> NDArray[np.float64]:
        """BᵀB in double precision, in NumPy."""
        xp, width, like = namespace(*self.vectors), self.columns[-1].stop, self.vectors[0]
        products = xp.zeros((width, width), dtype=xp.float64, device=device_of(like))
        for rows in row_blocks(self.n_samples, DEVICE_PRODUCT_ROWS if is_device_array(like) else PRODUCT_ROWS):
            block = xp.concat([one[rows, :] for one in self.vectors], axis=1)
            block = xp.astype(block, xp.float64, copy=False)
            products += block.T @ block
        return to_numpy(products)

    def basis(self) -> NDArray[np.float64]:
        """B."""
        basis: NDArray[np.float64] = np.concatenate(self.vectors, axis=1, dtype=np.float64)
        return basis

    def times(self, coefficients: NDArray[Any]) -> Array:
        """B times a matrix."""
        pairs = zip(self.vectors, self.columns, strict=True)
        return sum(one @ beside(coefficients[own], one, one.dtype) for one, own in pairs)

    def joined(self, other: Partitions) -> Partitions:
        """These and more blocks of the same samples."""
        return replace(
            self,
            blocks=self.blocks + other.blocks,
            vectors=self.vectors + other.vectors,
            values=self.values + other.values,
        )

    def restricted(self, keys: Sequence[PartitionKey]) -> Partitions:
        """Some of the blocks, if no view is missing."""
        positions = [self.position(key) for key in keys]
        found = replace(
            self,
            blocks=tuple(self.blocks[position] for position in positions),
            vectors=tuple(self.vectors[position] for position in positions),
            values=tuple(self.values[position] for position in positions),
        )
        if "products" in vars(self):
            own = np.concatenate([np.arange(one.start, one.stop) for one in map(self.columns.__getitem__, positions)])
            vars(found)["products"] = self.products[np.ix_(own, own)]
        return found
