import numpy as np
import pytest

import latefusion as lf
from latefusion.plots import ViewMapsDisplay
from latefusion.plots.embedding import embed


def test_every_view_has_a_map_of_its_own_partition(model):
    display = ViewMapsDisplay.from_estimator(model, method="pca")
    assert [ax.get_title() for ax in display.axes_] == list(model.view_names_)
    for ax, partition in zip(display.axes_, model.partitions_, strict=True):
        np.testing.assert_allclose(ax.collections[0].get_offsets(), embed(partition, "pca"))
    assert [ax.get_legend() is not None for ax in display.axes_] == [False, False, True]


def test_colours_are_those_of_the_consensus_and_absent_samples_are_not_drawn():
    views = lf.datasets.make_views(80, 3, missing=0.3, random_state=0).views
    model = lf.LateFusionClustering(3, random_state=0).fit(views)
    display = ViewMapsDisplay.from_estimator(model, method="pca")
    seen = {}
    for ax, observed in zip(display.axes_, model.observed_.T, strict=True):
        colors = ax.collections[0].get_facecolors()[:, :3]
        assert len(colors) == observed.sum()
        for label, color in zip(model.labels_[observed], map(tuple, colors), strict=True):
            assert seen.setdefault(label, color) == color
    assert len(set(seen.values())) == 3


def test_axes_are_given_one_per_view(model):
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(2, 2)
    display = ViewMapsDisplay.from_estimator(model, method="pca", axes=axes)
    assert display.axes_[0] is axes[0, 0]
    with pytest.raises(ValueError, match="2 axes for 3 views"):
        ViewMapsDisplay.from_estimator(model, method="pca", axes=axes[0])


def test_methods_without_base_partitions_have_no_maps():
    views = lf.datasets.make_views(40, 2, random_state=0).views
    model = lf.baselines.METHODS["concat-kmeans"](2, random_state=0).fit(views)
    with pytest.raises(ValueError, match="has no base partitions"):
        ViewMapsDisplay.from_estimator(model)
