"""Choices of the estimator that needs nothing but the views: what is tried, what is taken, and on which samples."""

from functools import partial

import numpy as np
import pytest

import latefusion as lf
from latefusion.selection import search, spaces
from latefusion.selection.alternatives import FEW_SHARE
from latefusion.selection.table import choose

N, K = 120, 3
DATA = lf.datasets.make_views(N, K, n_views=3, n_features=[4, 6, 8], noise=1.2, random_state=0)
VIEWS = DATA.views.arrays


def fit(X, n_clusters=K, **parameters):
    return lf.LateFusionClustering(n_clusters, random_state=0, **parameters).fit(X)


def test_the_choice_is_in_the_table_of_what_was_tried():
    model = fit(DATA.views)
    [row] = [row for row in model.selection_ if row["chosen"]]
    assert (row["similarity"], row["weighting"]) == (model.similarity_, model.weighting_)
    assert row["regularization"] == model.regularization_
    assert model.selection_.n_samples == N
    assert {one["similarity"] for one in model.selection_} == {"both", "graph", "kernel"}
    assert {one["regularization"] for one in model.selection_} == set(search.REGULARIZATIONS)


def test_a_given_regularization_is_taken():
    model = fit(VIEWS, regularization=0.3)
    assert model.regularization_ == 0.3
    assert {row["regularization"] for row in model.selection_} == {0.3}


@pytest.mark.parametrize("similarity", ["auto", "precomputed"])
def test_the_search_looks_at_some_samples_and_the_fit_at_all(monkeypatch, similarity):
    monkeypatch.setattr(spaces, "SEARCH_SAMPLES", 60)
    X = [lf.kernels.gaussian_kernel(view) for view in VIEWS] if similarity == "precomputed" else VIEWS
    model = fit(X, similarity=similarity)
    assert model.selection_.n_samples == 60
    assert model.labels_.shape == (N,)
    assert lf.metrics.clustering_accuracy(DATA.target, model.labels_) > 0.95
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.transform(X), model.consensus_, atol=1e-7)
    np.testing.assert_array_equal(fit(X, similarity=similarity).labels_, model.labels_)


def test_the_search_looks_at_more_samples_than_clusters(monkeypatch):
    monkeypatch.setattr(spaces, "SEARCH_SAMPLES", 10)
    assert len(set(fit(VIEWS, n_clusters=12).labels_)) == 12


@pytest.mark.parametrize("numbers", [[], [1, 3], [2.5]], ids=str)
def test_numbers_of_clusters_that_cannot_be_are_named(numbers):
    with pytest.raises(ValueError, match="a range or list of integers >= 2"):
        fit(VIEWS, n_clusters=numbers)


def check_alternatives(model):
    """What holds for the alternatives of any model."""
    for one in model.alternatives_:
        np.testing.assert_array_equal(one.moved, one.samples[one.labels != model.labels_[one.samples]])
        np.testing.assert_array_equal(lf.metrics.match_labels(model.labels_[one.samples], one.labels), one.labels)
        assert one.share > FEW_SHARE
        assert abs(one.difference) <= one.standard_error


def test_views_with_different_clusters_have_the_clusters_of_the_other_view_as_an_alternative(conflict):
    views, first, second = conflict
    model = fit(views)
    check_alternatives(model)
    (one,) = model.alternatives_
    taken, other = (first, second) if one.view == "right" else (second, first)
    assert lf.metrics.clustering_accuracy(taken, model.labels_) > 0.95
    assert lf.metrics.clustering_accuracy(other, one.labels) > 0.95
    np.testing.assert_array_equal(one.samples, np.arange(N))
    assert one.score == pytest.approx(model.criterion()(one.labels))
    assert one.difference == pytest.approx(one.score - model.criterion()(model.labels_))


def test_the_other_view_may_be_missing_for_some_samples(conflict):
    views = {name: view.copy() for name, view in conflict[0].items()}
    views["left"][:1] = np.nan
    model = fit(views)
    check_alternatives(model)
    (one,) = model.alternatives_
    assert one.view == "left"
    assert one.n_shared_components is not None
    assert lf.metrics.clustering_accuracy(conflict[1], one.labels) > 0.95


def test_clear_clusters_have_no_alternative():
    assert fit(VIEWS).alternatives_ == ()


def test_alternatives_are_for_the_samples_that_the_search_used(conflict, monkeypatch):
    monkeypatch.setattr(spaces, "SEARCH_SAMPLES", 70)
    views, first, second = conflict
    model = fit(views)
    check_alternatives(model)
    (one,) = model.alternatives_
    np.testing.assert_array_equal(one.samples, model.searched_samples())
    other = second if one.view == "right" else first
    assert lf.metrics.clustering_accuracy(other[one.samples], one.labels) > 0.95


def test_samples_without_any_view_are_not_in_alternatives():
    """Rows of zeros in views of counts are missing, so a sample can be without any view."""
    rng = np.random.default_rng(2)
    rates = rng.gamma(0.3, 1.0, size=(2, 3, 30))
    first = np.repeat(np.arange(3), 40)
    second = np.where(rng.random(N) < 0.6, first, rng.integers(3, size=N))
    counts = [rng.poisson(own[labels]) for own, labels in zip(rates, (first, second), strict=True)]
    mask = np.ones((N, 2), dtype=bool)
    mask[:20, 1] = False
    for view in counts:
        view[~view.any(axis=1), 0] = 1
        view[[30, 50]] = 0
    model = fit(lf.Views(counts, mask=mask))
    np.testing.assert_array_equal(model.n_observed_views_[[30, 50]], 0)
    check_alternatives(model)
    assert len(model.alternatives_) > 0
    for one in model.alternatives_:
        np.testing.assert_array_equal(one.samples, np.delete(np.arange(N), [30, 50]))


def test_an_alternative_is_what_the_model_would_be(monkeypatch):
    """If the settings of an alternative are chosen, its labels are those of the model."""
    unclear = lf.datasets.make_views(150, 3, n_views=3, noise=3.0, random_state=0).views
    model = fit(unclear)
    check_alternatives(model)
    assert len(model.alternatives_) > 0
    for one in model.alternatives_:
        wanted = (one.similarity, one.weighting, one.regularization)
        with monkeypatch.context() as patch:
            patch.setattr(search, "choose", partial(choose_settings, wanted))
            patch.setattr(search, "choose_finalist", lambda selected, *_: selected)
            again = fit(unclear)
        assert (again.similarity_, again.weighting_, again.regularization_) == wanted
        assert again.assign_labels_ == one.assign_labels
        np.testing.assert_array_equal(lf.metrics.match_labels(model.labels_, again.labels_), one.labels)


def choose_settings(wanted, candidates, n_samples):
    """`choose`, with the choice of similarity, weighting and λ fixed."""
    if len({one.regularization for one in candidates}) > 1:
        candidates = [one for one in candidates if (one.similarity, one.weighting, one.regularization) == wanted]
    return choose(candidates, n_samples)
