import numpy as np
import pytest

from latefusion.plots import ConsensusDisplay


@pytest.mark.parametrize("method", ["tsne", "pca"])
def test_one_point_per_sample_and_one_legend_entry_per_cluster(model, method):
    display = ConsensusDisplay.from_estimator(model, method=method)
    assert display.points_.get_offsets().shape == (60, 2)
    entries = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert entries == ["0", "1", "2"]
    opacity = display.points_.get_facecolors()[:, 3]
    assert np.argmax(opacity) == np.argmax(model.confidence_)


def test_many_clusters_have_no_legend():
    rng = np.random.default_rng(0)
    display = ConsensusDisplay(rng.random((50, 2)), np.arange(50)).plot()
    assert display.ax_.get_legend() is None


def test_unknown_method(model):
    with pytest.raises(ValueError, match="got 'mds'"):
        ConsensusDisplay.from_estimator(model, method="mds")
