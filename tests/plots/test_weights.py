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


def test_intervals_end_where_the_bootstrap_says(selecting_model):
    display = ViewWeightsDisplay.from_estimator(selecting_model, intervals=True)
    found = selecting_model.weight_intervals()
    (lines,) = display.intervals_.lines[2]
    ends = np.array([segment[:, 0] for segment in lines.get_segments()])
    np.testing.assert_allclose(ends, np.transpose([found.lower, found.upper]))
    entries = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert entries == ["weight", "95 % interval", "agreement with the consensus"]
    assert ViewWeightsDisplay.from_estimator(selecting_model).intervals_ is None
