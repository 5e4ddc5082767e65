"""The choices of a model for one more view: stored partitions give the same as partitions that are fitted again."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import latefusion as lf
from latefusion.selection import spaces
from latefusion.selection.added_views import fit_all_samples, of_views, select_as_before
from latefusion.selection.search import fuse_selected
from latefusion.selection.sources import view_source


@pytest.fixture(scope="module")
def views():
    return lf.datasets.make_views(150, 3, random_state=0).views


def selected_of(views, seed=0):
    model = lf.LateFusionClustering(3, random_state=seed).fit(views)
    return model._state


def more_sources(before, views):
    named = before.options.named
    return [*before.sources, view_source(views, len(before.sources), "auto", named)]


@pytest.mark.parametrize("most", [3000, 80])
def test_stored_partitions_are_those_of_a_fit(views, most, monkeypatch):
    monkeypatch.setattr(spaces, "SEARCH_SAMPLES", most)
    before = selected_of(views.arrays[:2])
    assert len(before.partitions) == (1 if most > 150 else 2)
    sources = more_sources(before, views)
    found = []
    for one in (before, replace(before, partitions=())):
        selected, space = select_as_before(one, sources, one.options)
        space, fused = fuse_selected(selected, space, fit_all_samples(selected))
        found.append((selected, space.partitions.times(fused.coefficients)))
    (stored, first), (fitted, second) = found
    np.testing.assert_allclose(first, second, atol=1e-10)
    np.testing.assert_allclose(list(stored.plan.values()), list(fitted.plan.values()), rtol=1e-10)
    np.testing.assert_allclose(stored.candidate.score.value, fitted.candidate.score.value, rtol=1e-10)
    np.testing.assert_array_equal(stored.candidate.labels, fitted.candidate.labels)


def test_choices_are_kept_and_the_rest_is_of_all_views(views):
    before = selected_of(views.arrays[:2])
    selected, space = select_as_before(before, more_sources(before, views), before.options)
    for name in ("n_clusters", "similarity", "weighting", "regularization", "n_shared_components", "assign_labels"):
        assert getattr(selected.candidate, name) == getattr(before.candidate, name)
    assert selected.selection is before.selection
    assert selected.samples is before.samples
    assert (selected.ties, selected.final) == ((), None)
    assert len(selected.sources) == len(selected.shares) == space.n_views == 3
    assert {key.view for key in selected.plan} >= {0, 1, 2}
    assert selected.dependence.shape == (3, 3)


def test_what_is_stored(views):
    """Partitions of single views, not of all views together; nothing if views are missing."""
    before = selected_of(views)
    (kept,) = before.partitions
    assert {key.view for key in kept.keys} == {0, 1, 2}
    mask = np.random.default_rng(0).random((150, 3)) > 0.2
    mask[~mask.any(axis=1)] = True
    assert selected_of(lf.Views(views.arrays, mask=mask)).partitions == ()


def test_no_copies_are_stored(views):
    """Of a search among all samples, the partitions of the fit are the stored ones."""
    model = lf.LateFusionClustering(3, random_state=0).fit(views)
    (kept,) = model._state.partitions
    names = list(map(str, model.view_names_))
    for (view, name), partition in zip(model.partition_names_, model.partitions_, strict=True):
        if view in names:
            stored = kept.vectors[[tuple(key) for key in kept.keys].index((names.index(view), name))]
            assert np.shares_memory(stored, partition)


def test_pickles_have_none_and_can_do_without(views):
    model = lf.LateFusionClustering(3, random_state=0).fit(views.arrays[:2])
    copied = pickle.loads(pickle.dumps(model))
    assert copied._state.partitions == ()
    added, again = model.add_view(views.arrays[2]), copied.add_view(views.arrays[2])
    np.testing.assert_array_equal(added.labels_, again.labels_)
    np.testing.assert_allclose(added.consensus_, again.consensus_, atol=1e-10)


def test_of_views_of_two_spaces(views):
    before = selected_of(views.arrays[:2])
    _, space = select_as_before(before, before.sources, before.options)
    assert len(of_views(space, space)) == 1
    assert len(of_views(space, replace(space))) == 2
