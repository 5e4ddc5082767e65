import numpy as np

from latefusion.plots import ConfidenceDisplay


def test_medians_and_whiskers_are_those_of_the_clusters(model):
    display = ConfidenceDisplay.from_estimator(model)
    for cluster in range(3):
        own = model.confidence_[model.labels_ == cluster]
        assert display.boxes_["medians"][cluster].get_xdata()[0] == np.median(own)
        ends = [line.get_xdata()[1] for line in display.boxes_["whiskers"][2 * cluster : 2 * cluster + 2]]
        low, high = np.percentile(own, [5, 95])
        assert low <= ends[0] <= np.median(own) <= ends[1] <= high
    names = {tick.get_text() for tick in display.ax_.get_yticklabels()}
    assert names == {f"{one} ({size})" for one, size in enumerate(np.bincount(model.labels_))}


def test_the_first_cluster_is_on_top():
    display = ConfidenceDisplay([0.1, 0.2, 0.9, 0.8], [0, 0, 1, 1]).plot()
    heights = [line.get_ydata().mean() for line in display.boxes_["medians"]]
    assert heights == sorted(heights, reverse=True)
    assert display.ax_.get_xlim() == (0, 1)


def test_options_reach_matplotlib():
    display = ConfidenceDisplay([0.1, 0.2, 0.9], [0, 0, 1]).plot(patch_artist=False, widths=0.2)
    assert np.ptp(display.boxes_["medians"][0].get_ydata()) < 0.21
