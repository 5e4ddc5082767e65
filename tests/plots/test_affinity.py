import numpy as np

from latefusion.plots import BlockAffinityDisplay
from latefusion.plots.affinity import MOST_SAMPLES


def test_what_is_drawn_are_the_cosines_of_the_consensus(model):
    display = BlockAffinityDisplay.from_estimator(model)
    rows = model.consensus_ / np.linalg.norm(model.consensus_, axis=1, keepdims=True)
    expected = (rows @ rows.T)[np.ix_(display.order, display.order)]
    np.testing.assert_allclose(display.image_.get_array(), expected, atol=1e-12)
    np.testing.assert_allclose(np.diag(expected), 1)
    assert np.sort(display.order).tolist() == list(range(60))


def test_clusters_are_blocks_and_typical_samples_come_first(model):
    display = BlockAffinityDisplay.from_estimator(model)
    shown = model.labels_[display.order]
    assert np.all(np.diff(shown) >= 0)
    same = shown[:, None] == shown
    assert display.affinity[same].mean() > 0.5 > 0.1 > display.affinity[~same].mean()
    rows = model.consensus_ / np.linalg.norm(model.consensus_, axis=1, keepdims=True)
    for cluster in range(3):
        members = display.order[shown == cluster]
        assert np.all(np.diff(rows[members] @ rows[members].mean(axis=0)) <= 1e-12)
    assert [tick.get_text() for tick in display.ax_.get_xticklabels()] == ["0", "1", "2"]


def test_many_samples_are_thinned_out_evenly():
    labels = np.repeat([0, 1, 2], [3000, 1500, 1])
    display = BlockAffinityDisplay(np.eye(3)[labels], labels).plot()
    assert display.affinity.shape == (MOST_SAMPLES, MOST_SAMPLES)
    np.testing.assert_allclose(np.bincount(labels[display.order], minlength=3)[:2], [400, 200], atol=1)
    assert display.image_.get_cmap().name == "cividis"
