import numpy as np
import pytest

from latefusion.plots import NumberOfClustersDisplay


def test_lines_hold_the_evidence(selecting_model):
    display = NumberOfClustersDisplay.from_estimator(selecting_model)
    found = selecting_model.number_selection_
    numbers = [one.n_clusters for one in found.evidence]
    stability = display.stability_.lines[0]
    np.testing.assert_array_equal(stability.get_xdata(), numbers)
    np.testing.assert_array_equal(stability.get_ydata(), [one.stability for one in found.evidence])
    np.testing.assert_array_equal(display.null_.get_ydata(), [one.stability for one in found.null])
    assert list(display.mark_.get_xdata()) == [selecting_model.n_clusters_] * 2


def test_the_score_peaks_where_the_number_was_taken(selecting_model):
    display = NumberOfClustersDisplay.from_estimator(selecting_model)
    assert selecting_model.number_selection_.has_structure
    score = display.score_.get_ydata()
    assert display.score_.get_xdata()[np.argmax(score)] == selecting_model.n_clusters_
    assert score.max() == display.information_.get_ydata().max() == 1


def test_negative_stability_is_in_the_picture_and_scores_zero():
    display = NumberOfClustersDisplay([2, 3], [-0.1, -0.2], [0.05, 0.05], [0.3, 0.4], 2).plot()
    assert display.ax_.get_ylim()[0] <= -0.25
    assert display.null_ is None
    assert not display.score_.get_ydata().any()


def test_a_given_number_has_no_evidence(model):
    with pytest.raises(ValueError, match="GlobalAlignmentClustering did not choose the number of clusters"):
        NumberOfClustersDisplay.from_estimator(model)
