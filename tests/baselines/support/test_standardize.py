import numpy as np

from latefusion.baselines.support.standardize import standardize_rows


def test_standardised_rows(seed):
    view = np.random.default_rng(seed).standard_normal((5, 8))
    view[3] = 2.5
    rows = standardize_rows(view)
    np.testing.assert_allclose(rows.mean(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(rows.std(axis=1, ddof=1)[[0, 1, 2, 4]], 1.0)
    np.testing.assert_array_equal(rows[3], 0.0)
    narrow = view[:, :2]
    np.testing.assert_array_equal(standardize_rows(narrow), narrow)


def test_equal_features_whose_mean_is_rounded_are_constant():
    view = np.tile(np.array([[0.1], [1 / 3], [1e8 + 0.1]]), 7)
    assert np.ptp(view - view.mean(axis=1, keepdims=True)) > 0
    np.testing.assert_array_equal(standardize_rows(view), 0.0)
