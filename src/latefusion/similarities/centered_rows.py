"""Centred, scaled rows by their products only, D (X - 1 mᵀ): centring would fill a sparse X, and copy a wide one."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from latefusion.arrays import row_blocks, row_lengths
from latefusion.types import Array

# Entries of a dense block that is centred, or turned into double precision, at a time.
BLOCK_ENTRIES = 2**19


class CenteredRows(LinearOperator):
    """The matrix D (X - 1 mᵀ) as an operator: the mean is a rank-one term, the scaling a diagonal matrix.

    Products are in double precision, also where X is not: the rank-one term takes away what X has in common with it,
    and rounding error would stay.

    Parameters
    ----------
    rows : array or sparse matrix of shape (n_rows, n_columns)
        X.
    mean : ndarray of shape (n_columns,)
        m, of the training samples.
    scale : ndarray of shape (n_rows,)
        The diagonal of D.
    """

    def __init__(self, rows: Array, mean: NDArray[Any], scale: NDArray[Any]) -> None:
        self.rows = rows
        self.mean = mean.astype(np.float64)
        self.scale = scale.astype(np.float64)
        super().__init__(np.dtype(np.float64), rows.shape)

    def _matmat(self, right: NDArray[Any]) -> NDArray[Any]:
        product: NDArray[Any] = _product(self.rows, right) - self.mean @ right
        return product * self.scale[:, None]

    def _rmatvec(self, left: NDArray[Any]) -> NDArray[Any]:
        return self._rmatmat(left.reshape(-1, 1)).reshape(-1)  # SciPy before 1.16 does not do so by itself

    def _rmatmat(self, left: NDArray[Any]) -> NDArray[Any]:
        scaled = left * self.scale[:, None]
        product: NDArray[Any] = _transposed_product(self.rows, scaled) - np.outer(self.mean, scaled.sum(axis=0))
        return product

    def __getitem__(self, block: slice) -> NDArray[Any]:
        """Some rows, written out; for dense rows."""
        explicit: NDArray[Any] = (self.rows[block] - self.mean) * self.scale[block, None]
        return explicit

    def inner_products(self, other: CenteredRows) -> NDArray[Any]:
        """Inner products with the rows of another one with the same mean, dense, in the float type of the rows."""
        mine, others = (one.rows.astype(np.float64, copy=False) for one in (self, other))
        products = mine @ others.T
        products = products.toarray() if scipy.sparse.issparse(products) else products
        products -= (mine @ self.mean)[:, None]
        products -= others @ self.mean - self.mean @ self.mean
        products *= self.scale[:, None]
        products *= other.scale
        inner: NDArray[Any] = products.astype(self.rows.dtype, copy=False)
        return inner


def centered_lengths(rows: Array, mean: NDArray[Any]) -> NDArray[Any]:
    """Euclidean lengths of the rows of X - 1 mᵀ, in double precision."""
    mean = mean.astype(np.float64)
    if scipy.sparse.issparse(rows):
        doubled = rows.astype(np.float64)
        squares = np.asarray(doubled.multiply(doubled).sum(axis=1)).ravel() - 2 * (doubled @ mean) + mean @ mean
        lengths: NDArray[Any] = np.sqrt(np.maximum(squares, 0.0))
        return lengths
    parts = [row_lengths(rows[block] - mean, xp=np) for block in _blocks(rows)]
    return np.concatenate(parts)


def _product(rows: Array, right: NDArray[Any]) -> Any:
    if scipy.sparse.issparse(rows) or rows.dtype == np.float64:
        return rows @ right
    return np.concatenate([rows[block].astype(np.float64) @ right for block in _blocks(rows)])


def _transposed_product(rows: Array, left: NDArray[Any]) -> Any:
    if scipy.sparse.issparse(rows) or rows.dtype == np.float64:
        return rows.T @ left
    total = np.zeros((rows.shape[1], left.shape[1]))
    for block in _blocks(rows):
        total += rows[block].astype(np.float64).T @ left[block]
    return total


def _blocks(rows: Array) -> Any:
    return row_blocks(rows.shape[0], max(1, BLOCK_ENTRIES // rows.shape[1]))
