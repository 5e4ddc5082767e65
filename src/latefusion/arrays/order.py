"""Order statistics, which the array API has only by sorting all values."""

from __future__ import annotations

import array_api_compat
import numpy as np

from latefusion.arrays.namespace import is_device_array, namespace
from latefusion.types import Array

# Values on a device whose median is computed, at most: a device takes much longer to sort values than to read them.
MEDIAN_VALUES = 2**20


def median(values: Array) -> float:
    """Median of all values; on a device, of evenly spaced ones if there are many.

    Parameters
    ----------
    values : array of one dimension
        Not empty.

    Returns
    -------
    float
    """
    if not is_device_array(values):
        return float(np.median(values))
    step = -(-values.shape[0] // MEDIAN_VALUES)
    ordered = namespace(values).sort(values[::step])
    size = ordered.shape[0]
    return (float(ordered[(size - 1) // 2]) + float(ordered[size // 2])) / 2


def smallest_values(matrix: Array, n_values: int) -> Array:
    """The smallest values of every row of a matrix on a device, ascending.

    Parameters
    ----------
    matrix : array of shape (n_rows, n_columns)
    n_values : int
        At most the number of columns.

    Returns
    -------
    array of shape (n_rows, n_values)
    """
    if array_api_compat.is_torch_array(matrix):  # faster than a sort of all columns
        return matrix.topk(n_values, dim=1, largest=False, sorted=True).values
    xp = namespace(matrix)
    if array_api_compat.is_cupy_array(matrix):
        matrix = xp.partition(matrix, n_values - 1, axis=1)[:, :n_values]
    return xp.sort(matrix, axis=1)[:, :n_values]
