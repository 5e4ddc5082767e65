"""The array library of an array, and the way back to NumPy."""

import array_api_strict
import numpy as np
import pytest
import scipy.sparse

from latefusion.arrays import (
    beside,
    detached,
    device_name,
    is_lazy,
    item_bytes,
    namespace,
    numpy_dtype,
    on_host,
    take_columns,
    take_rows,
    to_numpy,
)


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


def test_places_have_names(xp):
    place = device_name(xp.asarray([1.0]))
    assert place == "NumPy" if xp is not array_api_strict else place.startswith("array_api_strict on ")
    assert device_name(scipy.sparse.eye_array(2)) == "NumPy"


def test_rows_and_columns_are_taken_by_numbers_from_numpy(xp):
    values = np.arange(12.0).reshape(4, 3)
    rows, columns = np.array([2, 0]), np.array([2, 1])
    np.testing.assert_array_equal(to_numpy(take_rows(xp.asarray(values), rows)), values[rows])
    np.testing.assert_array_equal(to_numpy(take_columns(xp.asarray(values), columns)), values[:, columns])
    np.testing.assert_array_equal(take_rows(scipy.sparse.csr_array(values), rows).toarray(), values[rows])


@pytest.mark.parametrize(("dtype", "size"), [("float32", 4), ("float64", 8)])
def test_small_arrays_are_put_beside_others(xp, dtype, size):
    array = xp.zeros(3, dtype=getattr(xp, dtype))
    other = beside(np.ones(2), array, array.dtype)
    assert other.dtype == array.dtype
    assert item_bytes(other) == size
    assert namespace(other, array).__name__ == xp.__name__


def test_values_beside_a_sparse_matrix_are_those_of_numpy():
    values = np.ones(3, dtype=np.float32)
    assert beside(values, scipy.sparse.eye_array(3)) is values


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_float_types_have_a_name_in_numpy(xp, dtype):
    assert numpy_dtype(xp.zeros(3, dtype=getattr(xp, dtype))) == np.dtype(dtype)


def test_the_host_has_numpy_arrays_and_sparse_matrices(xp):
    found = on_host(xp.asarray([1.0, 2.0]))
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, [1.0, 2.0])
    sparse = scipy.sparse.eye_array(2)
    assert on_host(sparse) is sparse


def test_values_that_are_there_are_not_lazy(xp):
    assert not is_lazy(xp.zeros(3))


def test_the_record_of_gradients_is_left_behind():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    tensor = torch.ones(2, requires_grad=True)
    assert not detached(tensor).requires_grad
    assert detached(tensor).data_ptr() == tensor.data_ptr()
    array = np.zeros(2)
    assert detached(array) is array
