"""Statistics of columns: those of NumPy, and the same for any division of the rows into parts."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp

from latefusion.encoding.column_statistics import BLOCK_ROWS, column_statistics, merge_statistics

module = sys.modules["latefusion.encoding.column_statistics"]  # the room has a function of the same name
RNG = np.random.default_rng(0)
CONTAINERS = [np.asarray, sp.csr_array, sp.csr_matrix]


def sample_rows(statistics):
    return statistics.sample.toarray() if sp.issparse(statistics.sample) else statistics.sample


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_one_block_has_exactly_the_statistics_of_numpy(dtype, order):
    view = np.asarray(RNG.normal(size=(3000, 7)) * 10.0 ** np.arange(7) + 5, dtype=dtype, order=order)
    found = column_statistics(view)
    np.testing.assert_array_equal(found.means, view.mean(axis=0, dtype=np.float64))
    np.testing.assert_array_equal(found.deviations, view.std(axis=0, dtype=np.float64))
    assert found.sample is view


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("n_rows", [BLOCK_ROWS + 1, 3 * BLOCK_ROWS])
def test_several_blocks_have_the_statistics_of_all_rows(container, n_rows):
    view = np.maximum(RNG.normal(size=(n_rows, 4)) * [1, 10, 100, 1e-3], 0)
    found = column_statistics(container(view), view[:5])
    assert found.n_rows == n_rows
    np.testing.assert_allclose(found.means, view.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.variances, view.var(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(found.n_nonzero, np.count_nonzero(view, axis=0))
    np.testing.assert_array_equal(found.sample, view[:5])


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("edges", [[], [1], [0, 0, 40], [7, 50, 50, 99], [100]])
def test_parts_may_be_divided_anywhere(container, edges):
    view = RNG.poisson(0.7, (100, 5)) * 1.0
    parts = [column_statistics(container(part)) for part in np.split(view, edges)]
    found = merge_statistics(parts)
    np.testing.assert_allclose(found.means, view.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.variances, view.var(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(found.n_nonzero, np.count_nonzero(view, axis=0))
    np.testing.assert_array_equal(sample_rows(found), view)


@pytest.mark.parametrize("container", CONTAINERS)
def test_parts_of_nothing_have_no_rows(container):
    found = merge_statistics([column_statistics(container(np.zeros((0, 3))))] * 2)
    assert found.n_rows == 0
    assert not found.means.any()
    assert not found.variances.any()


def test_deviations_are_exact_far_from_the_origin_and_zero_for_constant_columns():
    view = np.column_stack([RNG.normal(size=40), np.full(40, 0.1), np.zeros(40)])
    for offset in (0.0, 1e8):
        for container in CONTAINERS:
            found = column_statistics(container(view + offset))
            np.testing.assert_allclose(found.deviations, [view[:, 0].std(), 0, 0], rtol=1e-6)
            np.testing.assert_allclose(found.means, view.mean(axis=0) + offset)


def test_single_precision_deviations_of_many_samples_are_not_lost():
    view = (100 + RNG.normal(size=(200_000, 1))).astype(np.float32)
    np.testing.assert_allclose(column_statistics(view).deviations, 1.0, rtol=0.01)


def test_means_alone_are_the_same_means():
    view = RNG.normal(size=(2 * BLOCK_ROWS, 3))
    found, everything = column_statistics(view, only_means=True), column_statistics(view)
    np.testing.assert_array_equal(found.means, everything.means)


@pytest.mark.parametrize("block", [10, 2**20])
def test_statistics_are_the_same_in_every_array_library(xp, block, monkeypatch):
    monkeypatch.setattr(module, "DEVICE_BLOCK_ENTRIES", block)
    view = np.maximum(RNG.normal(size=(50, 4)) * [1, 10, 100, 1e-3], 0)
    found, expected = column_statistics(xp.asarray(view)), column_statistics(view)
    for name in ("means", "variances", "deviations", "n_nonzero"):
        assert type(getattr(found, name)) is np.ndarray
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12)
    assert found.mean_squared_distance == pytest.approx(expected.mean_squared_distance)
    assert found.n_rows == 50
