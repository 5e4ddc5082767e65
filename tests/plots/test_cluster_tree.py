from itertools import pairwise

import numpy as np
import pytest

import latefusion as lf
from latefusion.plots import ClusterTreeDisplay
from latefusion.plots.cluster_tree import tree_layout

LABELS = np.column_stack([np.repeat([0, 2], [60, 30]), np.repeat([0, 1, 2], [40, 20, 30])])


def test_bars_are_as_high_as_clusters_are_large():
    display = ClusterTreeDisplay([2, 3], LABELS, n_clusters=3).plot()
    heights = {key: bar.get_height() for key, bar in display.bars_.items()}
    assert heights == pytest.approx({(2, 0): 6 / 9, (2, 2): 3 / 9, (3, 0): 4 / 9, (3, 1): 2 / 9, (3, 2): 3 / 9})


def test_bars_of_a_column_do_not_overlap_and_parts_stay_together():
    display = ClusterTreeDisplay([2, 3], LABELS).plot()
    column = sorted((bar.get_y(), one) for (number, one), bar in display.bars_.items() if number == 3)
    assert [one for _, one in column] == [0, 1, 2]  # the new cluster is next to the one it comes from
    for (low, one), (next_low, _) in pairwise(column):
        assert low + display.bars_[3, one].get_height() < next_low


def test_bands_connect_clusters_with_common_samples():
    display = ClusterTreeDisplay([2, 3], LABELS).plot()
    assert len(display.bands_) == 3
    points = display.bands_[0].get_paths()[0].vertices
    assert points[:, 0].min() > 0
    assert points[:, 0].max() < 1


def test_a_cluster_keeps_its_colour():
    display = ClusterTreeDisplay([2, 3], LABELS).plot()
    assert display.bars_[2, 0].get_facecolor() == display.bars_[3, 0].get_facecolor()
    assert display.bars_[3, 1].get_facecolor() != display.bars_[3, 0].get_facecolor()


def test_the_number_of_the_model_is_emphasized():
    display = ClusterTreeDisplay([2, 3], LABELS, n_clusters=3).plot()
    assert [text.get_fontweight() for text in display.ax_.get_xticklabels()] == ["normal", "bold"]
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["2", "3"]


def test_options_go_to_the_bands():
    display = ClusterTreeDisplay([2, 3], LABELS).plot(alpha=0.9)
    assert {band.get_alpha() for band in display.bands_} == {0.9}


def test_the_path_of_a_model_is_drawn(selecting_model):
    display = ClusterTreeDisplay.from_estimator(selecting_model, numbers=[2, 4])
    np.testing.assert_array_equal(display.numbers, [2, 3, 4])
    np.testing.assert_array_equal(display.labels, selecting_model.n_clusters_path([2, 4]).labels)
    assert display.n_clusters == selecting_model.n_clusters_
    sizes = np.bincount(selecting_model.labels_) / 60
    assert [display.bars_[3, one].get_height() for one in range(3)] == pytest.approx(sizes)


def test_models_without_training_data_are_refused(selecting_model, tmp_path):
    lf.save(selecting_model, tmp_path / "m")
    with pytest.raises(ValueError, match="loaded from a file"):
        ClusterTreeDisplay.from_estimator(lf.load(tmp_path / "m"))


def test_bands_leave_and_enter_bars_completely():
    """The bands at a bar are as wide as the bar, and lie in it."""
    layout = tree_layout(LABELS)
    for bar in layout.bars:
        if bar.place == 1:
            own = [band for band in layout.bands if band.cluster == bar.cluster]
            assert sum(band.share for band in own) == pytest.approx(bar.share)
            assert min(band.right for band in own) == pytest.approx(bar.low)
    assert sum(band.share for band in layout.bands) == pytest.approx(1)
    assert layout.high - layout.low >= 1
