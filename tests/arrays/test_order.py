"""Medians and smallest values are those of NumPy, in every array library."""

import array_api_strict
import numpy as np
import pytest

from latefusion.arrays import median, order, smallest_values


@pytest.mark.parametrize("size", [1, 2, 7, 100])
def test_the_median_is_that_of_numpy(xp, size, seed):
    values = np.random.default_rng(seed).standard_normal(size)
    assert median(xp.asarray(values)) == pytest.approx(np.median(values), rel=1e-15)


def test_many_values_on_a_device_are_represented_by_evenly_spaced_ones(xp, monkeypatch):
    monkeypatch.setattr(order, "MEDIAN_VALUES", 101)
    values = np.random.default_rng(0).standard_normal(5000)
    assert abs(median(xp.asarray(np.sort(values))) - np.median(values)) < 0.05


@pytest.mark.parametrize("n_values", [1, 3, 8])
def test_smallest_values_are_those_of_a_sort(n_values, seed):
    matrix = np.random.default_rng(seed).integers(0, 5, (20, 8)) * 1.0
    expected = np.sort(matrix, axis=1)[:, :n_values]
    np.testing.assert_array_equal(np.from_dlpack(smallest_values(array_api_strict.asarray(matrix), n_values)), expected)
    np.testing.assert_array_equal(smallest_values(matrix, n_values), expected)


def test_smallest_values_of_torch_are_those_of_a_sort(seed):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    matrix = np.random.default_rng(seed).integers(0, 5, (20, 8)) * 1.0
    found = smallest_values(torch.asarray(matrix), 3)
    np.testing.assert_array_equal(found.numpy(), np.sort(matrix, axis=1)[:, :3])
