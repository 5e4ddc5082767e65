"""Find the array library of an array, and bring small results to NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from latefusion.types import Array

# The name of the device of NumPy arrays and sparse matrices of SciPy.
IN_NUMPY = "NumPy"


def namespace(*arrays: Array) -> Any:
    """The array API namespace shared by the arrays."""
    return array_api_compat.array_namespace(*arrays)


def device_of(array: Array) -> Any:
    """The device of an array, to create others on it."""
    return array_api_compat.device(array)


def is_device_array(array: Array) -> bool:
    """Whether the array belongs to another library than NumPy and SciPy, such as a tensor on a GPU."""
    return array_api_compat.is_array_api_obj(array) and not array_api_compat.is_numpy_array(array)


def device_name(array: Array) -> str:
    """Library and device of an array in words, such as "torch on cuda:0"; NumPy and SciPy are "NumPy"."""
    if not is_device_array(array):
        return IN_NUMPY
    library = str(namespace(array).__name__).removeprefix("array_api_compat.").partition(".")[0]
    return f"{library} on {device_of(array)}"


def item_bytes(array: Array) -> int:
    """Size of one number of a float array, in bytes."""
    limits = namespace(array).finfo if is_device_array(array) else np.finfo
    return int(limits(array.dtype).bits) // 8


def numpy_dtype(array: Array) -> np.dtype[Any]:
    """The type of NumPy for the numbers of a float array."""
    return np.dtype(f"f{item_bytes(array)}") if is_device_array(array) else np.dtype(array.dtype)


def is_lazy(array: Array) -> bool:
    """Whether an array may not be computed yet, or is immutable (Dask, JAX)."""
    return bool(array_api_compat.is_lazy_array(array))


def detached(array: Array) -> Array:
    """The same values without the autograd graph of torch."""
    return array.detach() if array_api_compat.is_torch_array(array) else array


def beside(values: Any, array: Array, dtype: Any = None) -> Array:
    """Small NumPy values as an array of the same library on the same device; NumPy values beside a sparse matrix."""
    if not is_device_array(array):
        return np.asarray(values, dtype=dtype)
    return namespace(array).asarray(values, dtype=dtype, device=device_of(array))


def take_rows(array: Array, rows: NDArray[np.intp]) -> Array:
    """Some rows of a dense or sparse array, by numbers that come from NumPy."""
    return namespace(array).take(array, beside(rows, array), axis=0) if is_device_array(array) else array[rows]


def take_columns(array: Array, columns: NDArray[np.intp]) -> Array:
    """The same for columns."""
    return namespace(array).take(array, beside(columns, array), axis=1) if is_device_array(array) else array[:, columns]


def row_blocks(n_rows: int, block: int) -> Iterator[slice]:
    """Consecutive ranges that cover all rows."""
    for start in range(0, n_rows, block):
        yield slice(start, min(start + block, n_rows))


def row_lengths(array: Array, *, xp: Any) -> Array:
    """Euclidean norms of the rows."""
    if isinstance(array, np.ndarray):
        return np.sqrt(np.einsum("ij,ij->i", array, array))  # makes no array of squares
    return xp.linalg.vector_norm(array, axis=1)


def on_host(array: Array) -> Array:
    """The array in the memory of the host: a copy if it is on a device; sparse matrices stay sparse."""
    return to_numpy(array) if is_device_array(array) else array


def to_numpy(array: Array) -> NDArray[Any]:
    """The array as a NumPy array, copied from its device if necessary."""
    if isinstance(array, np.ndarray):
        return array
    if array_api_compat.is_torch_array(array):
        return np.asarray(array.detach().cpu())
    if array_api_compat.is_cupy_array(array):
        return np.asarray(array.get())
    try:
        return np.asarray(array)
    except TypeError:
        # array-api-strict refuses np.asarray on purpose but supports DLPack
        return np.from_dlpack(array)
