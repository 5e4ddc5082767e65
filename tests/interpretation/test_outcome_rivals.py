import numpy as np
import pytest

import latefusion as lf
from latefusion.interpretation.outcome_rivals import baseline_clusterings, view_clusterings


@pytest.fixture(scope="module")
def views():
    return lf.datasets.make_views(80, 3, n_views=2, n_features=5, random_state=0).views


def test_clusters_of_views_are_those_of_the_model(views):
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(views)
    found = view_clusterings(model)
    assert list(found.labels) == ["view view_0", "view view_1"]
    np.testing.assert_array_equal(np.stack(list(found.labels.values()), axis=1), model.view_labels())
    one = lf.GlobalAlignmentClustering(3, random_state=0).fit(views.arrays[0])
    assert view_clusterings(one).labels == {}


def test_clusterings_of_a_consensus_are_compared_if_they_are_given():
    rng = np.random.default_rng(0)
    labels = {"first": rng.integers(0, 3, 60), "second": rng.integers(0, 4, 60)}
    model = lf.consensus(labels, 3, random_state=0)
    assert view_clusterings(model).notes == ("The single clusterings are compared if they are given as views=X.",)
    found = view_clusterings(model, labels)
    for name, own in labels.items():
        assert lf.metrics.adjusted_rand(found.labels[f"view {name}"], own) == 1.0


def test_baselines_have_as_many_clusters_as_the_model_and_skip_missing_views(views):
    mask = np.ones((80, 2), dtype=bool)
    mask[:12, 1] = False
    arrays = [views.arrays[0], np.where(mask[:, 1:], views.arrays[1], np.nan)]
    incomplete = lf.Views(arrays, mask=mask)
    model = lf.LateFusionClustering(3, random_state=0).fit(incomplete)
    found = baseline_clusterings(model, incomplete, 0)
    assert list(found.labels) == ["KMeans on view_0", "KMeans on view_1", "concat-kmeans", "concat-spectral", "A-MKKM"]
    for labels in found.labels.values():
        assert (labels[:12] == -1).all()
        assert set(labels[12:]) == {0, 1, 2}
    assert found.notes == ("Baselines were run on 68 of 80 samples (all that have all views).",)


def test_too_few_complete_samples_are_noted(views):
    mask = np.ones((80, 2), dtype=bool)
    mask[10:, 1] = False
    incomplete = lf.Views([views.arrays[0], np.where(mask[:, 1:], views.arrays[1], np.nan)], mask=mask)
    with pytest.warns(UserWarning, match="Only 10 of the 80 samples"):
        model = lf.GlobalAlignmentClustering(3, random_state=0).fit(incomplete)
    found = baseline_clusterings(model, incomplete, 0)
    assert found.labels == {}
    assert found.notes == ("Only 10 samples have all views. Baselines were not run.",)


def test_views_of_labels_have_no_baselines():
    labels = [np.arange(60) % 3, np.arange(60) % 4]
    model = lf.consensus(labels, 3, random_state=0)
    assert baseline_clusterings(model, labels, 0).labels == {}
    assert "features or of similarities only" in baseline_clusterings(model, labels, 0).notes[0]


def test_kernels_have_baselines_of_kernels(views):
    kernels = [array @ array.T for array in views.arrays]
    model = lf.GlobalAlignmentClustering(3, similarity="precomputed", random_state=0).fit(kernels)
    found = baseline_clusterings(model, kernels, 0)
    assert "kernel k-means on view_0" in found.labels
    assert all(set(labels) == {0, 1, 2} for labels in found.labels.values())
