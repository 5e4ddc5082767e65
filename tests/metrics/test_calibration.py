import numpy as np
import pytest
from sklearn.calibration import calibration_curve as of_scikit_learn

from latefusion.metrics import calibration_curve

RNG = np.random.default_rng(0)


def test_a_curve_by_hand():
    curve = calibration_curve([0.0, 0.04, 0.55, 0.55, 1.0], [0, 0, 1, 0, 1])
    np.testing.assert_allclose(curve.predicted, [0.02, 0.55, 1.0])
    np.testing.assert_allclose(curve.observed, [0.0, 0.5, 1.0])
    np.testing.assert_array_equal(curve.counts, [2, 2, 1])
    assert curve.error == pytest.approx((2 * 0.02 + 2 * 0.05) / 5)


def test_the_curve_is_that_of_scikit_learn():
    predicted = RNG.uniform(size=400)
    observed = RNG.uniform(size=400) < predicted
    curve = calibration_curve(predicted, observed, n_bins=7)
    shares, means = of_scikit_learn(observed, predicted, n_bins=7)
    np.testing.assert_allclose(curve.observed, shares)
    np.testing.assert_allclose(curve.predicted, means)


def test_counts_are_repeated_comparisons():
    predicted, compared = RNG.uniform(size=60), RNG.integers(0, 5, 60)
    observed = RNG.binomial(compared, 0.4)
    curve = calibration_curve(predicted, observed, compared)
    outcomes = np.concatenate([np.arange(n) < c for n, c in zip(compared, observed, strict=True)])
    long = calibration_curve(np.repeat(predicted, compared), outcomes)
    for one, other in zip(curve, long, strict=True):
        np.testing.assert_allclose(one, other)
    assert curve.error == pytest.approx(long.error)


def test_probabilities_that_are_true_have_a_small_error_and_others_a_large_one():
    predicted = RNG.uniform(size=20_000)
    observed = RNG.uniform(size=20_000) < predicted
    assert calibration_curve(predicted, observed).error < 0.02
    assert calibration_curve(predicted**4, observed).error > 0.2


def test_without_comparisons_there_is_no_error():
    assert calibration_curve([0.5], [0], [0]).error == 0.0
