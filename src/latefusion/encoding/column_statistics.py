"""Statistics of the columns of a view, added up over blocks of rows.

A view in memory is one sequence of blocks, a chunked view one sequence per chunk. Everything that scales a view is
fitted from these statistics, so that both get the same scaling.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils.sparsefuncs import mean_variance_axis

from latefusion.arrays import is_device_array, namespace, row_blocks, to_numpy
from latefusion.types import Array

# Rows of a block. A view with fewer rows has the statistics that NumPy computes.
BLOCK_ROWS = 2**12
# Entries of a block on a device, which needs larger ones.
DEVICE_BLOCK_ENTRIES = 2**26


class ColumnStatistics(NamedTuple):
    """Statistics of the columns of a view, or of some of its rows.

    Attributes
    ----------
    n_rows : int
    means : ndarray of shape (n_features,)
        In double precision.
    variances : ndarray of shape (n_features,)
        In double precision; zero if only means were computed.
    n_nonzero : ndarray of shape (n_features,)
        Number of values other than zero; zero if only means were computed.
    sample : array or sparse matrix of shape (n_sampled, n_features)
        Rows that represent the view: all rows of a view in memory. They may be on a device; all else is in NumPy.
    """

    n_rows: int
    means: NDArray[np.float64]
    variances: NDArray[np.float64]
    n_nonzero: NDArray[np.intp]
    sample: Array

    @property
    def deviations(self) -> NDArray[np.float64]:
        """Standard deviations; zero for columns that vary by no more than rounding error."""
        deviations = np.sqrt(self.variances)
        rounding = np.finfo(np.float64).eps * self.n_rows * np.abs(self.means)
        limits = namespace(self.sample).finfo if is_device_array(self.sample) else np.finfo
        least = float(limits(self.sample.dtype).smallest_normal)
        return np.where(deviations > np.maximum(rounding, least), deviations, 0.0)

    @property
    def mean_squared_distance(self) -> float:
        """Mean squared distance between two rows drawn at random: twice the sum of the variances."""
        return float(2 * np.sum(self.deviations**2))


def column_statistics(view: Array, sample: Array | None = None, *, only_means: bool = False) -> ColumnStatistics:
    """Statistics of the columns of a view.

    Parameters
    ----------
    view : array or sparse matrix of shape (n_samples, n_features)
    sample : array or sparse matrix of shape (n_sampled, n_features), default=None
        Rows that represent the view; all of its rows by default.
    only_means : bool, default=False

    Returns
    -------
    ColumnStatistics
    """
    block = max(1, DEVICE_BLOCK_ENTRIES // view.shape[1]) if is_device_array(view) else BLOCK_ROWS
    if view.shape[0] <= block:
        statistics = _block_statistics(view, only_means)
    else:
        parts = [_block_statistics(view[rows, :], only_means) for rows in row_blocks(view.shape[0], block)]
        statistics = merge_statistics([part._replace(sample=view[:0, :]) for part in parts])
    return statistics._replace(sample=view if sample is None else sample)


def merge_statistics(parts: Sequence[ColumnStatistics]) -> ColumnStatistics:
    """Statistics of all rows from those of consecutive parts.

    Parameters
    ----------
    parts : sequence of ColumnStatistics

    Returns
    -------
    ColumnStatistics
        With the sample rows of all parts in the same order.
    """
    if len(parts) == 1:
        return parts[0]
    n_rows = sum(part.n_rows for part in parts)
    means = np.sum([part.n_rows * part.means for part in parts], axis=0) / max(1, n_rows)
    # The variance within each part, and that of its mean about the mean of all rows.
    scatter = np.sum([part.n_rows * (part.variances + (part.means - means) ** 2) for part in parts], axis=0)
    n_nonzero = np.sum([part.n_nonzero for part in parts], axis=0)
    return ColumnStatistics(
        n_rows, means, scatter / max(1, n_rows), n_nonzero, stack_rows([one.sample for one in parts])
    )


def stack_rows(parts: Sequence[Array]) -> Array:
    """Rows of several dense or several sparse arrays, one below the other."""
    if scipy.sparse.issparse(parts[0]):
        return scipy.sparse.vstack(parts, format="csr")
    return namespace(*parts).concat(list(parts))


def _block_statistics(rows: Array, only_means: bool) -> ColumnStatistics:
    n_rows, moments = max(1, rows.shape[0]), rows.shape[0] > 0 and not only_means
    variances: Array = np.zeros(rows.shape[1])
    n_nonzero: Array = np.zeros(rows.shape[1], dtype=np.intp)
    with np.errstate(over="ignore", invalid="ignore"):  # callers check the means, and name the view and the rows
        if scipy.sparse.issparse(rows):
            means = np.asarray(rows.sum(axis=0, dtype=np.float64)).ravel() / n_rows
            if moments:
                variances = mean_variance_axis(rows.astype(np.float64), axis=0)[1]
                n_nonzero = np.asarray((rows != 0).sum(axis=0)).ravel()
        else:
            xp = namespace(rows)
            means = xp.sum(rows, axis=0, dtype=xp.float64) / n_rows
            if moments:
                variances = xp.sum((rows - means) ** 2, axis=0) / n_rows
                n_nonzero = xp.count_nonzero(rows, axis=0)
    return ColumnStatistics(rows.shape[0], to_numpy(means), to_numpy(variances), to_numpy(n_nonzero), rows)
