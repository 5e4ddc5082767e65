"""Columns of a view in blocks: sparse views stay sparse, and memory is bounded by the size of a block."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from latefusion.arrays import take_columns, to_numpy
from latefusion.types import Array

# Values of a block.
BLOCK_ENTRIES = 2**22


class ColumnBlock:
    """Some consecutive columns of a view, with their values divided into groups of samples.

    Values are stored column by column, without missing values. Sparse views store no zeros.

    Parameters
    ----------
    columns, groups : ndarray of int of shape (n_stored,)
        Column, counted from the first one of the block, and group of every stored value; columns ascend. Values of the
        group -1 and NaN are dropped.
    values : ndarray of shape (n_stored,)
    n_columns : int
    sizes : ndarray of int of shape (n_groups,)
        Number of samples in every group.
    is_sparse : bool
        Whether samples without a stored value have the value zero.

    Attributes
    ----------
    columns, groups, values : as above
    counts : ndarray of float of shape (n_columns, n_groups)
        Number of samples with a value, zeros included.
    """

    def __init__(
        self,
        columns: NDArray[np.intp],
        groups: NDArray[np.intp],
        values: NDArray[Any],
        n_columns: int,
        sizes: NDArray[np.intp],
        *,
        is_sparse: bool,
    ) -> None:
        values = values.astype(np.float64, copy=False)
        self._shape = (n_columns, len(sizes))
        missing = np.isnan(values) & (groups >= 0)
        absent = self._per_group(columns[missing], groups[missing])
        stored = (groups >= 0) & ~missing
        if is_sparse:
            stored &= values != 0
        if not stored.all():
            columns, groups, values = columns[stored], groups[stored], values[stored]
        self.columns, self.groups, self.values = columns, groups, values
        self.counts = sizes - absent

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return self._shape[1]

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """Position of the first stored value of every column, and the number of all stored values."""
        lengths = np.bincount(self.columns, minlength=self._shape[0])
        return np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)

    @cached_property
    def zeros(self) -> NDArray[np.float64]:
        """Number of zeros that are not stored, of shape (n_columns, n_groups)."""
        return self.counts - self._per_group(self.columns, self.groups)

    def sums(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of one weight per stored value, of shape (n_columns, n_groups)."""
        return self._per_group(self.columns, self.groups, weights)

    def _per_group(
        self, columns: NDArray[np.intp], groups: NDArray[np.intp], weights: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        n_columns, n_groups = self._shape
        found = np.bincount(columns * n_groups + groups, weights, minlength=n_columns * n_groups)
        return found.reshape(self._shape).astype(np.float64, copy=False)


def column_blocks(array: Array, groups: NDArray[np.intp], n_groups: int) -> Iterator[ColumnBlock]:
    """All columns of a view, block by block.

    Parameters
    ----------
    array : array or sparse matrix of shape (n_samples, n_features)
        NaN where a value is missing.
    groups : ndarray of int of shape (n_samples,)
        Group of every sample; -1 for samples that are left out.
    n_groups : int

    Yields
    ------
    ColumnBlock
    """
    sizes = np.bincount(groups[groups >= 0], minlength=n_groups)
    for first, last in _ranges(array):
        if issparse(array):
            part = array[:, first:last].tocsc()
            part.sum_duplicates()
            columns = np.repeat(np.arange(last - first), np.diff(part.indptr))
            values, own = part.data, groups[part.indices]
        else:
            values = to_numpy(take_columns(array, np.arange(first, last))).T.ravel()
            columns, own = np.repeat(np.arange(last - first), len(groups)), np.tile(groups, last - first)
        yield ColumnBlock(columns, own, values, last - first, sizes, is_sparse=issparse(array))


def _ranges(array: Array) -> Iterator[tuple[int, int]]:
    """First and last column of blocks with at most `BLOCK_ENTRIES` values, or one column."""
    n_samples, width = array.shape
    stored = np.full(width, n_samples) if not issparse(array) else _stored_values(array)
    ends = np.cumsum(stored)
    first = 0
    while first < width:
        before = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + BLOCK_ENTRIES, side="right")))
        yield first, last
        first = last


def _stored_values(array: csr_array) -> NDArray[np.intp]:
    """Number of stored values in every column, without a copy of all column numbers."""
    indices, counts = array.indices, np.zeros(array.shape[1], dtype=np.intp)
    for start in range(0, len(indices), BLOCK_ENTRIES):
        counts += np.bincount(indices[start : start + BLOCK_ENTRIES], minlength=len(counts))
    return counts
