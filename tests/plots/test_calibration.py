import numpy as np

from latefusion.metrics import calibration_curve
from latefusion.plots import CalibrationDisplay


def test_the_curve_of_a_model_is_that_of_its_calibration(model):
    display = CalibrationDisplay.from_estimator(model)
    curve = model.calibration_.curve
    np.testing.assert_array_equal(display.curve_.get_xdata(), curve.predicted)
    np.testing.assert_array_equal(display.curve_.get_ydata(), curve.observed)
    np.testing.assert_allclose(
        display.markers_.get_sizes() / display.markers_.get_sizes().max(), curve.counts / curve.counts.max()
    )
    np.testing.assert_array_equal(display.diagonal_.get_xydata(), [[0, 0], [1, 1]])
    assert display.ax_.get_xlim() == display.ax_.get_ylim() == (0, 1)


def test_memberships_and_outcomes_are_binned():
    membership, kept = np.random.default_rng(0).uniform(size=50), np.arange(50) % 3
    display = CalibrationDisplay.from_memberships(membership, kept, np.full(50, 2), n_bins=5)
    expected = calibration_curve(membership, kept, np.full(50, 2), n_bins=5)
    np.testing.assert_array_equal(display.curve_.get_xydata(), np.column_stack(expected[:2]))


def test_options_reach_matplotlib():
    display = CalibrationDisplay([0.2, 0.9], [0.1, 1.0], [3, 4]).plot(color="red", linestyle="--")
    assert display.curve_.get_color() == "red"
    assert display.curve_.get_linestyle() == "--"


def test_a_curve_without_comparisons_is_empty():
    display = CalibrationDisplay([], [], []).plot()
    assert len(display.curve_.get_xdata()) == 0
