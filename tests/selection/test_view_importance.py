"""The importance of every view."""

from dataclasses import replace

import numpy as np
import pytest

import latefusion as lf
from latefusion.selection import spaces as space_fitting
from latefusion.selection.view_importance import _labels_of


@pytest.fixture(scope="module")
def model():
    data = lf.datasets.make_views(n_samples=200, n_clusters=3, n_uninformative=1, random_state=0)
    with pytest.warns(UserWarning, match="'noise_0' is statistically unrelated"):
        return lf.LateFusionClustering(3, random_state=0).fit(data.views)


def test_intervals_hold_the_weights_and_narrow_with_the_level(model):
    wide, narrow = model.weight_intervals(50), model.weight_intervals(50, level=0.5)
    assert np.all(wide.lower <= wide.upper)
    assert np.all(wide.upper - wide.lower >= narrow.upper - narrow.lower)
    np.testing.assert_array_equal(wide.weights, model.view_weights_)
    assert np.all((wide.lower <= wide.weights) & (wide.weights <= wide.upper))


def test_intervals_are_the_same_every_time(model):
    np.testing.assert_array_equal(model.weight_intervals(10), model.weight_intervals(10))


def test_a_view_of_labels_has_intervals_and_contributions():
    """Four labels have three directions, one less than there are clusters."""
    data = lf.datasets.make_views(n_samples=120, n_clusters=4, n_views=1, random_state=0)
    views = {"features": data.views.arrays[0], "labels": np.array(list("abcd"))[data.target]}
    model = lf.LateFusionClustering(4, random_state=0).fit(views)
    assert {one.shape[1] for one in model.partitions_} == {3, 4}
    intervals = model.weight_intervals(10)
    assert np.all((intervals.lower > 0) & (intervals.lower <= intervals.upper))
    np.testing.assert_allclose(model.sample_view_weights().sum(axis=1), 1)


@pytest.mark.parametrize(("n_bootstrap", "level"), [(1, 0.9), (10, 0.0), (10, 1.0)])
def test_wrong_intervals_are_named(model, n_bootstrap, level):
    with pytest.raises(ValueError, match="n_bootstrap must be at least 2"):
        model.weight_intervals(n_bootstrap, level)


def test_dropping_noise_changes_nothing_and_dropping_signal_costs_stability(model):
    verdicts = {verdict.view: verdict for verdict in model.leave_one_view_out()}
    assert list(verdicts) == list(model.view_names_)
    noise = verdicts.pop("noise_0")
    assert noise.changed == 0
    assert noise.gain == 0
    assert noise.gain > max(verdict.gain for verdict in verdicts.values())
    assert str(noise).startswith("Without 'noise_0': ")


@pytest.mark.parametrize("similarity", ["both", "graph", "kernel"])
@pytest.mark.parametrize("weighting", ["equal", "agreement"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_a_choice_is_repeated_as_it_was_made(similarity, weighting, missing):
    views = lf.datasets.make_views(120, 3, missing=missing, random_state=0).views
    selected = lf.LateFusionClustering(3, random_state=0).fit(views)._state
    candidate = selected.candidate._replace(similarity=similarity, weighting=weighting)
    spaces = space_fitting.fit_spaces(selected.sources, 3, selected.options)
    space = spaces[candidate.n_shared_components]
    plan = space.plan(similarity, weighting)
    (fused,) = space.fuse(plan, [candidate.regularization], **selected.options.solver)
    expected = selected.options.assign(space.partitions.times(fused.coefficients), 3)[0]
    found = _labels_of(selected.sources, replace(selected, candidate=candidate))
    assert lf.metrics.adjusted_rand(found, expected) == 1


def test_one_view_cannot_be_left_out():
    view = lf.datasets.make_views(n_samples=60, n_clusters=2, n_views=1, random_state=0).views
    with pytest.raises(ValueError, match="only one view"):
        lf.LateFusionClustering(2, random_state=0).fit(view).leave_one_view_out()


def test_the_criterion_is_what_the_search_looked_at(model):
    score = model.criterion()
    chosen = next(row for row in model.selection_ if row["chosen"])
    assert score(model.labels_) == pytest.approx(chosen["score"], abs=0.02)
    assert score(np.random.default_rng(0).permutation(model.labels_)) < 0.5 * score(model.labels_)
    assert score(np.array(["b", "c", "a"])[model.labels_]) == pytest.approx(score(model.labels_))
    np.testing.assert_array_equal(model.searched_samples(), np.arange(200))


def test_of_many_samples_the_search_looks_at_some(monkeypatch):
    monkeypatch.setattr(space_fitting, "SEARCH_SAMPLES", 60)
    views = lf.datasets.make_views(n_samples=150, n_clusters=3, random_state=0).views
    model = lf.LateFusionClustering(3, random_state=0).fit(views)
    seen = model.searched_samples()
    assert len(seen) == 60 == model.selection_.n_samples
    other = model.labels_.copy()
    other[np.setdiff1d(np.arange(150), seen)] = 0
    assert model.criterion()(other) == model.criterion()(model.labels_)
