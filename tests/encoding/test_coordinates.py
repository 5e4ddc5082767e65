"""From views as they were given to the coordinates that similarities compare."""

import numpy as np
import pytest
import scipy.sparse as sp

from latefusion.encoding import column_statistics, fit_preparation
from latefusion.encoding.coordinates import ImputedCoordinates, SideBySide, Unchanged, put_side_by_side

VIEWS = [np.random.default_rng(0).standard_normal((6, 3)), np.random.default_rng(1).standard_normal((6, 2)) * [1, 50]]


def test_unchanged_is_the_view_or_the_columns_of_observed_samples():
    assert Unchanged()(VIEWS[0]) is VIEWS[0]
    np.testing.assert_array_equal(Unchanged(np.array([True, False, True]))(VIEWS[0]), VIEWS[0][:, [0, 2]])


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_views_side_by_side_are_scaled_one_by_one(container):
    scales = np.array([2.0, 0.5])
    found = put_side_by_side([container(VIEWS[0]), VIEWS[1]], scales)
    assert sp.issparse(found) == (container is sp.csr_array)
    dense = found.toarray() if sp.issparse(found) else found
    np.testing.assert_allclose(dense, np.hstack([2 * VIEWS[0], VIEWS[1] / 2]))


def test_all_views_together_are_encoded_and_scaled():
    encodings = tuple(fit_preparation(column_statistics(view)) for view in VIEWS)
    found = SideBySide(encodings, np.array([1.0, 3.0]))(VIEWS, [None, None])
    np.testing.assert_allclose(found, np.hstack([encodings[0](VIEWS[0]), 3 * encodings[1](VIEWS[1])]))


def test_imputed_coordinates_are_scaled_columns():
    rows = np.arange(12.0).reshape(3, 4)
    found = ImputedCoordinates(np.array([3, 1]), np.array([2.0, 10.0]), np.float32)(rows)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, rows[:, [3, 1]] * [2, 10])
