import numpy as np

from latefusion.plots import ConvergenceDisplay


def test_line_holds_the_objective(model):
    display = ConvergenceDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.line_.get_ydata(), model.objective_)
    np.testing.assert_array_equal(display.line_.get_xdata(), np.arange(1, model.n_iter_ + 1))
    assert display.line_.get_label() == "GlobalAlignmentClustering"
    assert display.ax_.get_xlabel() == "iteration"
    assert display.figure_ is display.ax_.figure


def test_options_reach_matplotlib(model):
    display = ConvergenceDisplay(model.objective_).plot(color="black", linewidth=3)
    assert display.line_.get_color() == "black"
    assert display.line_.get_linewidth() == 3
