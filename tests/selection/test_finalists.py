"""The best candidates are compared by their final labels."""

import numpy as np
import pytest

import latefusion as lf
from latefusion.selection import finalists, search
from latefusion.selection.alternatives import score_difference
from latefusion.selection.finalists import with_labels
from latefusion.selection.label_assignment import Assigned, assign_selected, with_moved_halves
from latefusion.selection.table import is_gain

# Views without clear clusters, in which a finalist with another rank before the refinement is better after it.
UNCLEAR = [(3, 2.5, 0), (4, 2.5, 3), (4, 2.5, 5)]


def fit(n_clusters, noise, seed, **parameters):
    views = lf.datasets.make_views(150, n_clusters, n_views=3, noise=noise, random_state=seed).views
    return lf.LateFusionClustering(n_clusters, random_state=0, **parameters).fit(views)


@pytest.mark.parametrize("problem", UNCLEAR)
def test_no_alternative_scores_significantly_higher(problem):
    model = fit(*problem)
    for one in model.alternatives_:
        assert not is_gain(one.difference, one.standard_error), one


@pytest.mark.parametrize("assign_labels", ["auto", "kmeans", "average"])
def test_the_model_has_the_labels_by_which_its_candidate_was_chosen(monkeypatch, assign_labels):
    found = []
    original = finalists._finish

    def recorded(*args):
        one = original(*args)
        found.append(one.finished)
        return one

    monkeypatch.setattr(finalists, "_finish", recorded)
    model = fit(3, 2.5, 0, assign_labels=assign_labels)
    own = [one for one in found if settings(one) == settings(model.selection_[chosen_row(model)])]
    assert len(own) == 1
    moved = with_moved_halves(model._state, model.consensus_, Assigned(own[0].labels, None, assign_labels))
    np.testing.assert_array_equal(moved.labels, model.labels_)
    assert own[0].score.value <= model.criterion()(model.labels_) + 1e-12
    first = found[0]
    better = [one for one in found if is_gain(*score_difference(first, one))]
    expected = max(better, key=lambda one: one.score.value, default=first)
    assert expected is own[0]


def chosen_row(model):
    (position,) = [position for position, row in enumerate(model.selection_) if row["chosen"]]
    return position


def settings(one):
    names = ("similarity", "weighting", "regularization")
    return tuple(one[name] if isinstance(one, dict) else getattr(one, name) for name in names)


def test_the_table_says_which_candidate_was_chosen_and_why():
    model = fit(3, 2.5, 0)
    row = model.selection_[chosen_row(model)]
    assert settings(row) == (model.similarity_, model.weighting_, model.regularization_)
    assert row["score"] < max(one["score"] for one in model.selection_)
    assert "Best final labels of the first 7 of 18 candidates" in model.selection_.reason
    assert f"regularization={model.regularization_:g}" in model.selection_.reason


def test_clear_clusters_have_one_finalist(monkeypatch):
    monkeypatch.setattr(finalists, "_finish", lambda *args: pytest.fail("nothing has to be compared"))
    views = lf.datasets.make_views(90, 3, n_views=3, noise=0.5, random_state=0).views
    model = lf.LateFusionClustering(3, random_state=0).fit(views)
    assert model.alternatives_ == ()


def test_a_finalist_that_explains_fewer_views_is_not_chosen(monkeypatch):
    """Breadth is compared with the default, as among all candidates."""
    model = fit(3, 2.5, 0)
    original = finalists._finish

    def narrow(selected, spaces, candidate):
        one = original(selected, spaces, candidate)
        first = settings(candidate) == settings(selected.candidate)
        score = one.finished.score._replace(breadth=0.0)
        return one if first else one._replace(finished=one.finished._replace(score=score))

    monkeypatch.setattr(finalists, "_finish", narrow)
    again = fit(3, 2.5, 0)
    assert model.selection_.reason.startswith("Best final labels")
    assert again.selection_.reason.startswith("Best of 18")


def test_final_labels_have_a_score_of_the_same_criterion():
    model = fit(3, 2.5, 0)
    state = model._state
    again = with_labels(state.candidate, model.labels_, state.criterion)
    assert again.score.value == pytest.approx(model.criterion()(model.labels_))
    np.testing.assert_array_equal(again.labels, model.labels_)
    assert {one["regularization"] for one in model.selection_} == set(search.REGULARIZATIONS)


@pytest.mark.parametrize("n_samples", [150, 700])
def test_final_labels_are_computed_once_and_are_those_of_the_assignment(n_samples):
    """Labels of k-means that the search knows already, with all starts, are not computed again."""
    views = lf.datasets.make_views(n_samples, 3, n_views=3, noise=2.5, random_state=0).views
    model = lf.LateFusionClustering(3, random_state=0).fit(views)
    assert model._state.final is not None
    again = assign_selected(model._state, model.consensus_, None)
    np.testing.assert_array_equal(again.labels, model.labels_)
    assert again.assign_labels == model.assign_labels_
