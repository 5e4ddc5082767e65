"""The array library of an array, and the way back to NumPy."""

import array_api_strict
import numpy as np
import pytest

from latefusion.arrays import namespace, to_numpy


def test_namespace_is_shared_by_arrays_of_one_library(xp):
    array = xp.asarray([1.0, 2.0])
    assert namespace(array, array).__name__ == xp.__name__


def test_arrays_of_two_libraries_have_no_namespace():
    with pytest.raises(TypeError, match="Multiple namespaces"):
        namespace(np.zeros(2), array_api_strict.zeros(2))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
def test_numpy_round_trip_keeps_values_and_type(xp, dtype):
    values = np.array([[1, 0], [2, 3]]).astype(dtype)
    back = to_numpy(xp.asarray(values))
    assert type(back) is np.ndarray
    assert back.dtype == values.dtype
    np.testing.assert_array_equal(back, values)


def test_numpy_arrays_are_not_copied():
    array = np.zeros(3)
    assert to_numpy(array) is array
