import numpy as np
import pytest

import latefusion as lf
from latefusion.plots import RegularizationPathDisplay

VIEWS = lf.datasets.make_views(60, 3, random_state=0).views


def test_lines_hold_the_weights_of_the_path(model):
    values = [4.0, 0.5, 1.0]
    display = RegularizationPathDisplay.from_estimator(model, VIEWS, regularizations=values)
    path = model.regularization_path(VIEWS, sorted(values))
    for line, weights, name in zip(display.lines_, path.weights.T, model.view_names_, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), [0.5, 1.0, 4.0])
        np.testing.assert_allclose(line.get_ydata(), weights)
        assert line.get_label() == name
    expected = [lf.metrics.adjusted_rand(path.labels[place], path.labels[place + 1]) for place in range(2)]
    np.testing.assert_allclose(display.agreement_.get_ydata(), expected)
    np.testing.assert_array_equal(display.agreement_.get_xdata(), [1.0, 4.0])


def test_the_default_is_the_grid_of_the_paper(model):
    display = RegularizationPathDisplay.from_estimator(model, VIEWS)
    np.testing.assert_array_equal(np.log2(display.regularizations), np.arange(-5, 6))


@pytest.mark.parametrize("values", [[0.0], [0.0, 1.0], [2.0]])
def test_zero_has_its_place(values):
    display = RegularizationPathDisplay(values, np.ones((len(values), 2)), "ab").plot()
    display.figure_.canvas.draw()
    places = display.ax_.transData.transform(np.column_stack([values, np.zeros(len(values))]))
    assert np.isfinite(places).all()
    assert np.all(np.diff(places[:, 0]) > 10)
    assert display.agreement_ is None
