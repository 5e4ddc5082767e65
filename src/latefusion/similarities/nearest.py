"""Nearest neighbours of samples among each other.

Of few samples with many columns, nearly all the time goes into x_iᵀx_j, from which the squared distances
‖x_i‖² + ‖x_j‖² - 2 x_iᵀx_j come. They are symmetric, and one half is enough; scikit-learn's search, which also takes
other queries, computes both. Then the k smallest entries of every row are wanted. The smallest entry of each of some
groups of columns bounds them: the k-th smallest of these is at least the k-th smallest of all, and few entries are
below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from latefusion.arrays import namespace, row_blocks, share_blocks
from latefusion.types import Array

# Columns from which products take more time than looking for the smallest distances.
MANY_COLUMNS = 100
# Distances that may exist at the same time.
DISTANCES = 2**23
# Rows that are treated at a time: they stay in the cache.
BLOCK_ROWS = 128
# Columns of single precision that are converted at a time.
BLOCK_COLUMNS = 512
# Entries of a row among which one is the smallest of its group.
GROUP = 16


def nearest_neighbors(samples: Array, n_neighbors: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Distances and positions of the nearest samples in ascending order, the sample itself being one of them.

    Parameters
    ----------
    samples : array or sparse matrix of shape (n_samples, n_features)
        Its origin among the samples: distances are as exact as norms are small.
    n_neighbors : int
        At most the number of samples.

    Returns
    -------
    distances, neighbors : ndarray of shape (n_samples, n_neighbors)
    """
    n_samples, n_features = samples.shape
    if scipy.sparse.issparse(samples) or n_features < MANY_COLUMNS or n_samples**2 > DISTANCES:
        found: tuple[NDArray[Any], NDArray[np.intp]]
        found = NearestNeighbors(n_neighbors=n_neighbors).fit(samples).kneighbors(samples)
        return found
    products = inner_products(samples)
    squared_norms = np.diagonal(products).copy()
    distances = np.empty((n_samples, n_neighbors), dtype=samples.dtype)
    neighbors = np.empty((n_samples, n_neighbors), dtype=np.intp)

    def select(parts: Sequence[slice]) -> None:
        for rows in parts:
            smallest, neighbors[rows] = smallest_entries(squared_norms - 2 * products[rows], n_neighbors)
            distances[rows] = np.sqrt(np.maximum(smallest + squared_norms[rows, None], 0.0))

    share_blocks(select, row_blocks(n_samples, BLOCK_ROWS), is_heavy=True)
    return distances, neighbors


def nearest_anchors(rows: Array, anchors: Array, n_neighbors: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Squared distances and positions of the nearest of a few hundred anchors, in ascending order.

    Single precision is enough, unless squares leave its range: weights of anchors depend on differences of squares that
    are not much smaller than these.

    Parameters
    ----------
    rows : array or sparse matrix of shape (n_samples, n_features)
    anchors : array or sparse matrix of shape (n_anchors, n_features)
    n_neighbors : int
        At most the number of anchors.

    Returns
    -------
    squares, positions : ndarray of shape (n_samples, n_neighbors)
    """
    if scipy.sparse.issparse(rows) or scipy.sparse.issparse(anchors):
        finder = NearestNeighbors(n_neighbors=n_neighbors, algorithm="brute").fit(anchors)
        distances, positions = finder.kneighbors(rows)
        return distances.astype(np.float64) ** 2, positions
    limits, largest = np.finfo(rows.dtype), float(np.max(np.abs(anchors)))
    if not float(limits.tiny) ** 0.25 < largest < float(limits.max) ** 0.25:
        rows, anchors = rows.astype(np.float64), anchors.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        partial = rows @ (-2 * anchors.T)
        partial += np.einsum("ij,ij->i", anchors, anchors)
    if not np.isfinite(partial[:, 0]).all():
        return nearest_anchors(rows.astype(np.float64), anchors.astype(np.float64), n_neighbors)
    smallest, positions = smallest_entries(partial, n_neighbors)
    squares = smallest.astype(np.float64) + np.einsum("ij,ij->i", rows, rows, dtype=np.float64)[:, None]
    return np.maximum(squares, 0.0), positions


def shifted_squares(rows: Array, anchors: Array) -> Array:
    """Squared distances of rows to anchors on a device, less the squared norms of the rows.

    Parameters
    ----------
    rows : array of shape (n_samples, n_features)
    anchors : array of shape (n_anchors, n_features)

    Returns
    -------
    array of shape (n_samples, n_anchors)
    """
    xp = namespace(rows)
    squares = rows @ xp.matrix_transpose(-2.0 * anchors)
    squares += xp.sum(anchors**2, axis=1)
    return squares


def inner_products(samples: NDArray[Any]) -> NDArray[Any]:
    """All x_iᵀx_j in double precision; entries right of the diagonal blocks are copied from below them.

    Parameters
    ----------
    samples : ndarray of shape (n_samples, n_features)

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
    """
    products = np.zeros((len(samples), len(samples)))
    # Single precision is converted some columns at a time, so that there is no copy of all of them.
    width = samples.shape[1] if samples.dtype == np.float64 else BLOCK_COLUMNS
    for columns in row_blocks(samples.shape[1], width):
        _add_products(products, samples[:, columns].astype(np.float64, copy=False))
    return products


def _add_products(products: NDArray[np.float64], samples: NDArray[np.float64]) -> None:
    def multiply(parts: Sequence[slice]) -> None:
        for rows in parts:
            below = products[rows, : rows.stop]
            below += samples[rows] @ samples[: rows.stop].T
            products[: rows.start, rows] = below[:, : rows.start].T

    share_blocks(multiply, row_blocks(len(samples), BLOCK_ROWS), is_heavy=True)


def smallest_entries(matrix: NDArray[Any], n_entries: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The smallest entries of every row in ascending order, and their columns; of equal ones the first.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_columns)
    n_entries : int
        At most the number of columns.

    Returns
    -------
    entries, columns : ndarray of shape (n_rows, n_entries)
    """
    n_rows, n_columns = matrix.shape
    group = max(1, min(GROUP, n_columns // (2 * n_entries)))
    n_groups = n_columns // group
    whole = matrix[:, : n_groups * group].reshape(n_rows, group, n_groups).min(axis=1)
    bounds = np.partition(whole, n_entries - 1, axis=1)[:, n_entries - 1]
    row, column = np.divmod(np.flatnonzero(matrix <= bounds[:, None]), n_columns)  # quicker than in two dimensions
    counts = np.bincount(row, minlength=n_rows)
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    entries = np.full((n_rows, counts.max()), np.inf)
    columns = np.zeros(entries.shape, dtype=np.intp)
    entries[row, place] = matrix[row, column]
    columns[row, place] = column
    order = np.argsort(entries, axis=1, kind="stable")[:, :n_entries]
    return np.take_along_axis(entries, order, axis=1), np.take_along_axis(columns, order, axis=1)
