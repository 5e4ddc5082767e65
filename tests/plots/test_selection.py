import numpy as np
import pytest

from latefusion.plots import SelectionDisplay


def test_every_candidate_is_drawn_best_on_top(selecting_model):
    display = SelectionDisplay.from_estimator(selecting_model)
    scores = np.array([row["score"] for row in selecting_model.selection_])
    line = display.dots_.lines[0]
    np.testing.assert_array_equal(line.get_xdata(), np.sort(scores)[::-1])
    assert np.all(np.diff(line.get_ydata()) == -1)
    assert display.ax_.get_ylim()[0] < 0 < len(scores) - 1 < display.ax_.get_ylim()[1]


def test_labels_stand_beside_their_scores(selecting_model):
    display = SelectionDisplay.from_estimator(selecting_model)
    line = display.dots_.lines[0]
    scores = dict(zip(line.get_ydata(), line.get_xdata(), strict=True))
    shown = {label.get_text(): scores[label.get_position()[1]] for label in display.ax_.get_yticklabels()}
    for row in selecting_model.selection_:
        assert shown[f"{row['similarity']}, {row['weighting']}, λ = {row['regularization']:g}"] == row["score"]


def test_the_chosen_one_is_marked(selecting_model):
    display = SelectionDisplay.from_estimator(selecting_model)
    chosen = next(row for row in selecting_model.selection_ if row["chosen"])
    assert display.mark_.get_xdata()[0] == chosen["score"]
    red = [label.get_text() for label in display.ax_.get_yticklabels() if label.get_color() != "black"]
    assert red == [f"{chosen['similarity']}, {chosen['weighting']}, λ = {chosen['regularization']:g}"]


def test_of_many_candidates_the_best_are_shown_and_the_chosen_one():
    display = SelectionDisplay([f"c{one}" for one in range(54)], np.linspace(1, 0, 54), np.full(54, 0.1), 40).plot()
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == [*(f"c{one}" for one in range(19)), "c40"]
    np.testing.assert_allclose(display.mark_.get_xydata(), [[np.linspace(1, 0, 54)[40], 0]])
    assert "34 candidates not shown" in display.ax_.get_xlabel()


def test_an_estimator_without_candidates_is_refused(model):
    with pytest.raises(ValueError, match="GlobalAlignmentClustering does not choose among candidates"):
        SelectionDisplay.from_estimator(model)


def test_error_bars_have_the_spread_and_options_reach_matplotlib():
    display = SelectionDisplay(["a", "b"], [0.2, 0.5], [0.01, 0.03], 0).plot(color="black")
    (bars,) = display.dots_.lines[2]
    lengths = [np.ptp(segment[:, 0]) for segment in bars.get_segments()]
    np.testing.assert_allclose(lengths, [0.06, 0.02])
    assert display.dots_.lines[0].get_color() == "black"
    np.testing.assert_allclose(display.mark_.get_xydata(), [[0.2, 0]])
