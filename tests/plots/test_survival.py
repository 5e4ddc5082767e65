import numpy as np
import pytest

import latefusion as lf
from latefusion.metrics import kaplan_meier
from latefusion.plots import SurvivalDisplay

RNG = np.random.default_rng(0)
LABELS = np.repeat(["a", "b", "c"], 20)
TIME, EVENT = RNG.exponential(30.0, 60), RNG.random(60) < 0.6


@pytest.fixture
def found():
    return lf.outcome(LABELS, {"months": TIME, "event": EVENT}, survival=("months", "event"), n_permutations=19)


def test_curves_are_the_estimates(found):
    display = SurvivalDisplay.from_outcome(found)
    assert list(display.curves_) == ["a", "b", "c"]
    for name, line in display.curves_.items():
        inside = np.isin(LABELS, name)
        curve = kaplan_meier(TIME[inside], EVENT[inside])
        np.testing.assert_array_equal(line.get_xdata(), curve.times)
        np.testing.assert_array_equal(line.get_ydata(), curve.survival)
        np.testing.assert_array_equal(display.censored_[name].get_xdata(), curve.times[curve.censored > 0])
    assert display.ax_.get_xlabel() == "months"


def test_numbers_at_risk_stand_below_the_ticks(found):
    display = SurvivalDisplay.from_outcome(found)
    start, end = display.ax_.get_xlim()
    ticks = [tick for tick in display.ax_.get_xticks() if start <= tick <= end]
    for name, texts in display.numbers_.items():
        expected = [str((TIME[np.isin(LABELS, name)] >= tick).sum()) for tick in ticks]
        assert [text.get_text() for text in texts] == expected
        assert [text.xy[0] for text in texts] == ticks
    rows = [texts[0].xyann[1] for texts in display.numbers_.values()]
    assert rows == sorted(rows, reverse=True)
    assert rows[0] < 0


def test_texts_do_not_overlap(found):
    display = SurvivalDisplay.from_outcome(found)
    display.figure_.canvas.draw()
    boxes = [one.get_window_extent() for one in display.ax_.texts]
    for position, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[:position])
        assert one.x0 >= 0
        assert one.y0 >= 0


def test_p_is_written_if_there_is_one(found):
    texts = [text.get_text() for text in SurvivalDisplay.from_outcome(found).ax_.texts]
    assert f"log-rank p = {found.survival.p:.2g}" in texts
    alone = SurvivalDisplay({0: kaplan_meier(TIME, EVENT)}).plot()
    assert not any("log-rank" in text.get_text() for text in alone.ax_.texts)


def test_intervals_are_drawn_if_asked_for(found):
    assert len(SurvivalDisplay.from_outcome(found).ax_.collections) == 3  # of the legend
    assert len(SurvivalDisplay.from_outcome(found, intervals=True).ax_.collections) == 6


def test_options_reach_the_curves(found):
    display = SurvivalDisplay.from_outcome(found, linewidth=5)
    assert {line.get_linewidth() for line in display.curves_.values()} == {5}


def test_many_clusters_have_no_numbers():
    curves = {name: kaplan_meier(TIME[name::25], EVENT[name::25]) for name in range(25)}
    assert SurvivalDisplay(curves).plot().numbers_ == {}


def test_an_outcome_without_survival_is_refused():
    found = lf.outcome(LABELS, {"age": TIME}, n_permutations=19)
    with pytest.raises(ValueError, match="This outcome has no survival"):
        SurvivalDisplay.from_outcome(found)
