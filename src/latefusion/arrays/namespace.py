"""Find the array library of an array, and bring small results to NumPy."""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from latefusion.types import Array


def namespace(*arrays: Array) -> Any:
    """The array API namespace shared by the arrays."""
    return array_api_compat.array_namespace(*arrays)


def to_numpy(array: Array) -> NDArray[Any]:
    """The array as a NumPy array, copied from its device where it lies on one."""
    if isinstance(array, np.ndarray):
        return array
    if array_api_compat.is_torch_array(array):
        return np.asarray(array.detach().cpu())
    if array_api_compat.is_cupy_array(array):
        return np.asarray(array.get())
    try:
        return np.asarray(array)
    except TypeError:
        # array-api-strict refuses np.asarray on purpose but speaks DLPack
        return np.from_dlpack(array)
