"""Labels of the samples of a search, and of those without any view."""

from dataclasses import replace

import numpy as np
import pytest

import latefusion as lf
from latefusion.assignment import assign_by_kmeans
from latefusion.selection.label_assignment import (
    Assigned,
    assign_known,
    assign_refined,
    assign_selected,
    with_moved_halves,
)
from latefusion.selection.options import AUTOMATIC


@pytest.fixture(scope="module")
def model():
    data = lf.datasets.make_views(150, 3, n_views=3, noise=2.0, random_state=0)
    return lf.LateFusionClustering(3, random_state=0).fit(data.views)


def test_samples_of_which_nothing_is_known_make_no_cluster():
    rows = np.concatenate([np.repeat([[1.0, 0.0], [0.0, 0.9]], 5, axis=0), np.zeros((30, 2))])
    mask = np.repeat([True, False], [10, 30])[:, None]
    labels, rule = assign_known(assign_by_kmeans, rows, mask, 2, random_state=0)
    assert len(set(labels[:5])) == len(set(labels[5:10])) == 1
    assert labels[0] != labels[5]
    assert np.all(labels[10:] == labels[5])  # the nearer center
    np.testing.assert_array_equal(rule.predict(rows), labels)
    np.testing.assert_array_equal(
        assign_known(assign_by_kmeans, rows, None, 2, random_state=0)[0], assign_by_kmeans(rows, 2, random_state=0)[0]
    )


def test_automatic_labels_are_those_of_their_rule(model):
    labels, rule, chosen = assign_selected(model._state, model.consensus_, None)
    assert chosen in AUTOMATIC
    np.testing.assert_array_equal(rule.predict(model.consensus_), labels)
    np.testing.assert_array_equal(labels, model.labels_)


def test_automatic_labels_score_no_less_than_k_means(model):
    """The best of several assignments is refined only while its score rises."""
    state = model._state
    labels, _, _ = assign_selected(state, model.consensus_, None)
    plain, _ = state.options.assign(model.consensus_, 3)
    own, other = (state.criterion.score(one, 3).per_entropy(one, 3).value for one in (labels, plain))
    assert own >= other - 0.01  # the discriminant may change a few labels of the refined ones


def test_an_assignment_by_name_is_used_as_it_is(model):
    state = replace(model._state, options=replace(model._state.options, assign_labels="kmeans"))
    labels, _, chosen = assign_selected(state, model.consensus_, None)
    assert chosen == "kmeans"
    np.testing.assert_array_equal(labels, state.options.assign(model.consensus_, 3)[0])


def test_moves_of_halves_raise_the_score_of_the_final_labels(model):
    state = model._state
    refined = assign_refined(state, model.consensus_, None)
    found = with_moved_halves(state, model.consensus_, refined)
    value, before = (state.criterion.score(one.labels, 3).value for one in (found, refined))
    assert value >= before
    np.testing.assert_array_equal(found.rule.predict(model.consensus_), found.labels)


def test_half_of_a_cluster_in_a_wrong_cluster_is_moved_back_with_its_rule():
    """Labels as a near tie would have them; the rule for new samples follows."""
    data = lf.datasets.make_views(200, 4, n_views=2, noise=0.5, random_state=1)
    model = lf.LateFusionClustering(4, random_state=0).fit(data.views)
    members = np.flatnonzero(model.labels_ == 0)
    upper = model.consensus_[members] @ model.consensus_[members[0]]
    labels = model.labels_.copy()
    labels[members[upper > np.median(upper)]] = 1
    start = Assigned(labels, None, "kmeans")
    found = with_moved_halves(model._state, model.consensus_, start)
    np.testing.assert_array_equal(found.labels, model.labels_)
    np.testing.assert_array_equal(found.rule.predict(model.consensus_), model.labels_)
    by_name = replace(model._state, options=replace(model._state.options, assign_labels="kmeans"))
    assert with_moved_halves(by_name, model.consensus_, start) is start
