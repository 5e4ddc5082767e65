"""Clusterings with other numbers of clusters, by the choices of a fitted model."""

import numpy as np
import pytest

import latefusion as lf
from latefusion.selection.other_numbers import ViewPartitions


def nested_views(seed=0):
    """Four clusters, in two pairs: two views."""
    generator = np.random.default_rng(seed)
    target = np.arange(120) % 4
    centers = np.array([[-12.0, -3.0], [-12.0, 3.0], [12.0, -3.0], [12.0, 3.0]])
    views = [
        np.column_stack([centers[target], np.zeros((120, 2))]) @ generator.standard_normal((4, 4))
        + 0.5 * generator.standard_normal((120, 4))
        for _ in range(2)
    ]
    return views, target


@pytest.fixture(scope="module")
def nested():
    views, target = nested_views()
    return lf.LateFusionClustering(4, random_state=0).fit(views), target


@pytest.fixture(scope="module")
def incomplete():
    data = lf.datasets.make_views(n_samples=90, n_clusters=3, random_state=0)
    mask = np.random.default_rng(0).random((90, 3)) > 0.25
    mask[~mask.any(axis=1)] = True
    return lf.LateFusionClustering(3, random_state=0).fit(lf.Views(data.views.arrays, mask=mask))


def test_planted_nested_clusters_give_the_right_tree(nested):
    model, target = nested
    path = model.n_clusters_path([2, 4])
    assert lf.metrics.adjusted_rand(path.labels_for(2), target // 2) == 1
    assert lf.metrics.adjusted_rand(path.labels_for(4), target) == 1
    children = [one for one in path.clusters if one.n_clusters == 4]
    assert [one.share for one in children] == [1.0] * 4
    parents = [one.parent for one in children]
    assert sorted(parents.count(parent) for parent in set(parents)) == [2, 2]
    assert [depth for depth, _ in path.tree()] == [0, 1, 0, 1]


def test_at_the_number_of_the_model_labels_are_those_of_the_model(nested):
    model, _ = nested
    path = model.n_clusters_path(range(2, 6))
    np.testing.assert_array_equal(path.labels_for(4), model.labels_)
    np.testing.assert_array_equal(model.n_clusters_path([2]).labels_for(4), model.labels_)
    assert path.numbers == (2, 3, 4, 5)


@pytest.mark.parametrize("assign_labels", ["auto", "kmeans", "rotation"])
def test_the_same_computation_gives_the_labels_of_the_model(assign_labels):
    data = lf.datasets.make_views(n_samples=120, n_clusters=3, separation=2.0, random_state=0)
    model = lf.LateFusionClustering(3, assign_labels=assign_labels, random_state=0).fit(data.views)
    np.testing.assert_array_equal(ViewPartitions.fit(model._state, 3).labels(3), model.labels_)


def test_the_same_computation_gives_the_labels_of_the_model_with_missing_views(incomplete):
    np.testing.assert_array_equal(ViewPartitions.fit(incomplete._state, 3).labels(3), incomplete.labels_)


def test_the_same_computation_gives_the_labels_of_the_model_if_the_search_uses_some_samples(monkeypatch):
    monkeypatch.setattr("latefusion.selection.spaces.SEARCH_SAMPLES", 100)
    data = lf.datasets.make_views(n_samples=240, n_clusters=3, random_state=0)
    model = lf.LateFusionClustering(3, random_state=0).fit(data.views)
    assert len(model.searched_samples()) == 100
    np.testing.assert_array_equal(ViewPartitions.fit(model._state, 3).labels(3), model.labels_)
    path = model.n_clusters_path([2, 4])
    assert path.labels.shape == (240, 3)
    assert [len(np.unique(column)) for column in path.labels.T] == [2, 3, 4]


def test_another_number_gives_what_a_fit_with_the_same_choices_gives():
    data = lf.datasets.make_views(n_samples=160, n_clusters=4, random_state=1)
    fixed = {"similarity": "kernel", "regularization": 1.0, "random_state": 0}
    path = lf.LateFusionClustering(3, **fixed).fit(data.views).n_clusters_path([4])
    other = lf.LateFusionClustering(4, **fixed).fit(data.views)
    assert lf.metrics.adjusted_rand(path.labels_for(4), other.labels_) == 1
    assert lf.metrics.adjusted_rand(path.labels_for(4), data.target) > 0.95


def test_missing_views_have_a_path(incomplete):
    path = incomplete.n_clusters_path(range(2, 5))
    assert path.labels.shape == (90, 3)
    assert [len(np.unique(column)) for column in path.labels.T] == [2, 3, 4]


def test_the_order_of_the_samples_permutes_the_path(nested):
    model, _ = nested
    order = np.random.default_rng(1).permutation(120)
    shuffled = lf.LateFusionClustering(4, random_state=0).fit([view[order] for view in nested_views()[0]])
    path, other = model.n_clusters_path([2]), shuffled.n_clusters_path([2])
    for number in (2, 4):
        assert lf.metrics.adjusted_rand(path.labels_for(number)[order], other.labels_for(number)) == 1
    assert [(depth, one.size, one.share) for depth, one in path.tree()] == [
        (depth, one.size, one.share) for depth, one in other.tree()
    ]


def test_by_default_the_path_goes_two_beyond_the_model(nested):
    model, _ = nested
    assert model.n_clusters_path().numbers == (2, 3, 4, 5, 6)


def test_the_path_does_not_change_the_model(nested):
    model, _ = nested
    before = {name: value for name, value in vars(model).items() if name != "_state"}
    state = model._state
    model.n_clusters_path([2])
    assert model._state is state
    assert vars(model).keys() == {*before, "_state"}
    assert all(vars(model)[name] is value for name, value in before.items())


def test_too_many_clusters_are_named(nested):
    model, _ = nested
    with pytest.raises(ValueError, match=r"121 clusters were given and one view has 120 samples.*Give numbers up to"):
        model.n_clusters_path([3, 121])


@pytest.mark.parametrize("wrong", [[], [1, 2], [2.5], "most"])
def test_wrong_numbers_are_named(nested, wrong):
    model, _ = nested
    with pytest.raises(ValueError, match="must be an integer >= 1, 'auto', or a range or list of integers >= 2"):
        model.n_clusters_path(wrong)
