"""Affinities whose width follows the distances to the nearest neighbours: the views of SNF and NEMO.

With distances δ_ij and e_i the mean distance of sample i to its K nearest samples,

    σ_ij = (e_i + e_j + δ_ij) / 3,    W_ij = exp(-δ_ij² / (2 μ² σ_ij²)) / (√(2π) μ σ_ij).

The factor 1 / σ_ij gives small distances a larger weight than an exponential alone. W does not depend on the unit of
the view, up to a common factor.

| name | symbol | shape |
|---|---|---|
| distances | δ | n x n, symmetric, zero diagonal |
| n_neighbors | K | number |
| width | μ | number |

Cost: O(n² d) for the distances of d columns, O(n²) for the affinity; memory is n² numbers and blocks of rows.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.arrays import row_blocks
from latefusion.kernels import standardize_kernel
from latefusion.similarities.nearest import inner_products
from latefusion.types import Array

Distance = Literal["euclidean", "sqeuclidean"]
Ties = Literal["all", "last"]

EPSILON = float(np.finfo(float).eps)
# Entries of a block of rows.
BLOCK_ENTRIES = 2**20
# Squared distances below this share of the squared lengths lose digits in ‖x‖² + ‖y‖² - 2xᵀy and are computed anew.
CANCELLED = 1e-7
# Entries this close to the threshold, relative to it, count as equal to it.
TIE = 1e-10


def view_distances(view: Array, kind: str, *, standardize: bool, distance: Distance) -> NDArray[Any]:
    """Distances of all samples of a view.

    Parameters
    ----------
    view : ndarray or sparse matrix of shape (n_samples, n_features) or (n_samples, n_samples)
        Features, or a kernel if ``kind`` is "precomputed".
    kind : str
    standardize : bool
        Whether columns are divided by their standard deviations; a constant column does not count. Distances in a
        kernel are those of its centred feature space, scaled to unit length.
    distance : {"euclidean", "sqeuclidean"}

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
        Symmetric, with zero diagonal.
    """
    if kind == "precomputed":
        squared = _kernel_distances(np.asarray(view, dtype=np.float64))
    else:
        points = scipy.sparse.csr_array(view) if scipy.sparse.issparse(view) else np.asarray(view)
        points = points.astype(np.float64)
        squared = squared_distances(unit_deviations(points) if standardize else points)
    return np.sqrt(squared, out=squared) if distance == "euclidean" else squared


def unit_deviations(points: Array) -> Any:
    """Columns divided by their standard deviations (n - 1); not centred, which would not change distances.

    Parameters
    ----------
    points : ndarray or csr_array of shape (n_samples, n_features)

    Returns
    -------
    ndarray or csr_array of shape (n_samples, n_features)
        A column that is constant up to rounding becomes zero.
    """
    n_samples = points.shape[0]
    means = np.asarray(points.mean(axis=0)).ravel()
    if scipy.sparse.issparse(points):
        squares = np.asarray(points.multiply(points).sum(axis=0)).ravel()
        variances = (squares - n_samples * means**2) / max(n_samples - 1, 1)
        rounding = EPSILON * squares
    else:
        variances = np.var(points, axis=0, ddof=1) if n_samples > 1 else np.zeros(points.shape[1])
        rounding = (EPSILON * np.abs(means)) ** 2 * n_samples
    varies = variances > rounding
    scale = np.where(varies, 1.0 / np.sqrt(np.where(varies, variances, 1.0)), 0.0)
    if scipy.sparse.issparse(points):
        return (points @ scipy.sparse.diags_array(scale)).tocsr()
    return (points - means) * scale


def squared_distances(points: Array) -> NDArray[Any]:
    """Squared Euclidean distances of all rows, exactly zero for equal rows.

    Parameters
    ----------
    points : ndarray or csr_array of shape (n_samples, n_features)

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
    """
    sparse = scipy.sparse.issparse(points)
    if not sparse:
        points = points - points.mean(axis=0)
    squared: NDArray[Any] = (points @ points.T).toarray() if sparse else inner_products(points)
    lengths = np.diagonal(squared).copy()
    for rows in _blocks(len(squared)):
        block = squared[rows]
        magnitudes = lengths[rows, None] + lengths
        np.subtract(magnitudes, 2.0 * block, out=block)
        left, right = np.nonzero(block <= CANCELLED * magnitudes)
        block[left, right] = _paired_distances(points, left + rows.start, right)
    return squared


def _paired_distances(points: Array, left: NDArray[np.intp], right: NDArray[np.intp]) -> NDArray[Any]:
    distances = np.empty(len(left))
    step = max(1, BLOCK_ENTRIES // max(1, points.shape[1]))
    for start in range(0, len(left), step):
        part = slice(start, start + step)
        difference = points[left[part]] - points[right[part]]
        if scipy.sparse.issparse(difference):
            distances[part] = np.asarray(difference.multiply(difference).sum(axis=1)).ravel()
        else:
            distances[part] = np.einsum("ij,ij->i", difference, difference)
    return distances


def _kernel_distances(kernel: NDArray[Any]) -> NDArray[Any]:
    standardized, _ = standardize_kernel(kernel)
    lengths = np.diagonal(standardized)
    squared = np.maximum(lengths[:, None] + lengths - (standardized + standardized.T), 0.0)
    np.fill_diagonal(squared, 0.0)
    return np.asarray(squared)


def scaled_affinity(distances: NDArray[Any], n_neighbors: int, width: float) -> NDArray[Any]:
    """The affinity W of distances δ; it replaces them in memory.

    Parameters
    ----------
    distances : ndarray of shape (n_samples, n_samples)
        Overwritten.
    n_neighbors : int
        Number of nearest samples K in the mean distance e_i, without the sample itself; below ``n_samples``.
    width : float
        The factor μ.

    Returns
    -------
    ndarray of shape (n_samples, n_samples)

    Raises
    ------
    ValueError
        If there are not enough samples.
    """
    n_samples = len(distances)
    if not 1 <= n_neighbors < n_samples:
        raise ValueError(
            f"n_neighbors={n_neighbors} must be at least 1 and below n_samples={n_samples}. Use fewer neighbours or "
            "more samples."
        )
    nearest = np.concatenate(
        [np.partition(distances[rows], n_neighbors, axis=1)[:, : n_neighbors + 1] for rows in _blocks(n_samples)]
    )
    means = nearest.sum(axis=1) / n_neighbors + EPSILON  # the distance of a sample to itself adds zero
    for rows in _blocks(n_samples):
        block = distances[rows]
        deviations = width * np.maximum((means[rows, None] + means + block) / 3.0 + EPSILON, EPSILON)
        block /= deviations
        np.exp(-0.5 * block**2, out=block)
        block /= np.sqrt(2.0 * np.pi) * deviations
    return distances


def largest_entries(matrix: NDArray[Any], n_entries: int, *, ties: Ties = "all") -> scipy.sparse.csr_array:
    """The largest entries of every row, scaled to sum one.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_columns)
        Non-negative.
    n_entries : int
    ties : {"all", "last"}, default="all"
        Of the entries that are equal to the smallest one that is kept, all are kept, or those with the highest indices
        as in R. With "all" the result does not depend on the order of the columns.

    Returns
    -------
    csr_array of shape (n_rows, n_columns)
        An entry of zero is not stored; a row of zeros stays empty.
    """
    n_rows, n_columns = matrix.shape
    parts = []
    for rows in _blocks(n_rows, n_columns):
        block = matrix[rows]
        if ties == "all":
            least = np.partition(block, n_columns - n_entries, axis=1)[:, n_columns - n_entries]
            kept = np.where(block >= (1.0 - TIE) * least[:, None], block, 0.0)
        else:
            chosen = np.argsort(block, axis=1, kind="stable")[:, n_columns - n_entries :]
            kept = np.zeros_like(block)
            np.put_along_axis(kept, chosen, np.take_along_axis(block, chosen, axis=1), axis=1)
        sums = kept.sum(axis=1, keepdims=True)
        parts.append(scipy.sparse.csr_array(kept / np.where(sums > 0, sums, 1.0)))
    return scipy.sparse.vstack(parts, format="csr")


def _blocks(n_rows: int, n_columns: int | None = None) -> list[slice]:
    columns = n_rows if n_columns is None else n_columns
    return list(row_blocks(n_rows, max(1, BLOCK_ENTRIES // columns)))
