import numpy as np

from latefusion.plots import ViewWeightsDisplay


def test_bars_hold_the_weights_from_top_to_bottom(model):
    display = ViewWeightsDisplay.from_estimator(model)
    np.testing.assert_allclose([bar.get_width() for bar in display.bars_], model.view_weights_)
    heights = [bar.get_y() for bar in display.bars_]
    assert heights == sorted(heights, reverse=True)
    dots = display.ax_.lines[0]
    np.testing.assert_allclose(dots.get_xdata(), model.agreement_)


def test_agreement_may_be_absent():
    display = ViewWeightsDisplay([0.6, 0.8], ["a", "b"]).plot()
    assert not display.ax_.lines
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["a", "b"]
