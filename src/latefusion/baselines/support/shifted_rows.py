"""Standardised views side by side, sparse where they are sparse: X = S - A Bᵀ.

Subtracting means would fill a sparse view. Both the mean of a column and the mean of a row are terms of rank one, so
that a view with s stored entries keeps them, and products with X cost O(s) instead of O(n d).

========  ======  =============================================================
here      symbol  shape
========  ======  =============================================================
matrix    S       n_samples x n_features, dense or sparse
left      A       n_samples x q, one column per view that is sparse
right     B       n_features x q
========  ======  =============================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.baselines.support.standardize import standardize_rows
from latefusion.types import Array

Scaling = Literal["sample", "feature"]


class ShiftedRows(NamedTuple):
    """The matrix X = S - A Bᵀ by its products only.

    Attributes
    ----------
    matrix : ndarray or csr_array of shape (n_samples, n_features)
    left : ndarray of shape (n_samples, q)
    right : ndarray of shape (n_features, q)
    """

    matrix: Array
    left: NDArray[Any]
    right: NDArray[Any]

    def dense_rows(self, rows: Any) -> NDArray[Any]:
        """Some rows, written out."""
        part = self.matrix[rows]
        dense: NDArray[Any] = (part.toarray() if scipy.sparse.issparse(part) else part) - self.left[rows] @ self.right.T
        return dense

    def products(self, rows: Any, other: NDArray[Any]) -> NDArray[Any]:
        """Inner products of some rows with the rows of a dense matrix, shape (n_rows, n_others)."""
        inner: NDArray[Any] = self.matrix[rows] @ other.T
        if self.left.shape[1]:
            inner -= self.left[rows] @ (other @ self.right).T
        return inner

    def sums(self, labels: NDArray[np.intp], n_clusters: int) -> NDArray[Any]:
        """Sum of the rows of every cluster, shape (n_clusters, n_features)."""
        n_samples = len(labels)
        members = scipy.sparse.csr_array(
            (np.ones(n_samples), labels, np.arange(n_samples + 1)), shape=(n_samples, n_clusters)
        ).T
        added = members @ self.matrix
        total: NDArray[Any] = added.toarray() if scipy.sparse.issparse(added) else np.asarray(added)
        total -= (members @ self.left) @ self.right.T
        return total

    def squared_norms(self) -> NDArray[Any]:
        """Squared Euclidean norms of the rows."""
        if not scipy.sparse.issparse(self.matrix):
            norms: NDArray[Any] = np.einsum("ij,ij->i", self.matrix, self.matrix)
            return norms
        squares = np.asarray(self.matrix.multiply(self.matrix).sum(axis=1)).ravel()
        across = np.einsum("ij,ij->i", self.matrix @ self.right, self.left)
        shift = np.einsum("ij,jk,ik->i", self.left, self.right.T @ self.right, self.left)
        positive: NDArray[Any] = np.maximum(squares - 2.0 * across + shift, 0.0)
        return positive


def without_shift(matrix: Array) -> ShiftedRows:
    """The matrix as it is."""
    return ShiftedRows(matrix, np.zeros((matrix.shape[0], 0)), np.zeros((matrix.shape[1], 0)))


def standardized_view(view: Array, scaling: Scaling | None) -> ShiftedRows:
    """Standardise a view.

    Parameters
    ----------
    view : ndarray or csr_array of shape (n_samples, n_features)
    scaling : {"sample", "feature"} or None
        "sample" gives every row mean zero and deviation one over its features, unless there are fewer than three;
        "feature" does the same for every column over its samples. Constant rows or columns become zero.

    Returns
    -------
    ShiftedRows
        Sparse where the view is sparse.
    """
    if scaling is None or (scaling == "sample" and view.shape[1] < 3):
        return without_shift(view)
    if scipy.sparse.issparse(view):
        return _standardized_rows(view) if scaling == "sample" else _standardized_columns(view)
    if scaling == "sample":
        return without_shift(standardize_rows(view))
    return without_shift(standardize_rows(view.T).T if len(view) > 2 else view - view.mean(axis=0))


def _standardized_rows(view: Any) -> ShiftedRows:
    means, inverse = _moments(view, axis=1)
    scaled = (scipy.sparse.diags_array(inverse) @ view).tocsr()
    return ShiftedRows(scaled, (means * inverse)[:, None], np.ones((view.shape[1], 1)))


def _standardized_columns(view: Any) -> ShiftedRows:
    means, inverse = _moments(view, axis=0)
    scaled = (view @ scipy.sparse.diags_array(inverse)).tocsr()
    return ShiftedRows(scaled, np.ones((view.shape[0], 1)), (means * inverse)[:, None])


def _moments(view: Any, axis: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Means and inverse deviations along an axis; zero instead of the inverse where all values are equal."""
    size = view.shape[axis]
    means = np.asarray(view.sum(axis=axis)).ravel() / size
    squares = np.asarray(view.multiply(view).sum(axis=axis)).ravel()
    variances = (squares - size * means**2) / max(size - 1, 1)
    # Equal values leave a variance of rounding errors.
    varies = variances > 1e-12 * squares
    return means, np.where(varies, 1.0 / np.sqrt(np.where(varies, variances, 1.0)), 0.0)


def side_by_side(views: Sequence[ShiftedRows]) -> ShiftedRows:
    """All views as one matrix, sparse if one of them is sparse."""
    left = np.concatenate([view.left for view in views], axis=1)
    right = np.zeros((sum(view.right.shape[0] for view in views), left.shape[1]))
    row = column = 0
    for view in views:
        height, width = view.right.shape
        right[row : row + height, column : column + width] = view.right
        row, column = row + height, column + width
    if any(scipy.sparse.issparse(view.matrix) for view in views):
        matrix = scipy.sparse.hstack([scipy.sparse.csr_array(view.matrix) for view in views], format="csr")
    else:
        matrix = np.concatenate([view.matrix for view in views], axis=1)
    return ShiftedRows(matrix, left, right)


def centered(rows: ShiftedRows) -> tuple[ShiftedRows, NDArray[Any]]:
    """Rows minus their mean, and the mean: distances do not change, and their rounding errors shrink."""
    n_samples = rows.matrix.shape[0]
    middle = rows.sums(np.zeros(n_samples, dtype=np.intp), 1)[0] / n_samples
    if not scipy.sparse.issparse(rows.matrix):
        return rows._replace(matrix=rows.matrix - middle), middle
    left = np.concatenate([rows.left, np.ones((n_samples, 1))], axis=1)
    right = np.concatenate([rows.right, middle[:, None]], axis=1)
    return ShiftedRows(rows.matrix, left, right), middle
