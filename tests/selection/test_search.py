"""Choices of the estimator that needs nothing but the views: what is tried, what is taken, and on which samples."""

import numpy as np
import pytest

import latefusion as lf
from latefusion.selection import search

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
    monkeypatch.setattr(search, "SEARCH_SAMPLES", 60)
    X = [lf.kernels.gaussian_kernel(view) for view in VIEWS] if similarity == "precomputed" else VIEWS
    model = fit(X, similarity=similarity)
    assert model.selection_.n_samples == 60
    assert model.labels_.shape == (N,)
    assert lf.metrics.clustering_accuracy(DATA.target, model.labels_) > 0.95
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.transform(X), model.consensus_, atol=1e-7)
    np.testing.assert_array_equal(fit(X, similarity=similarity).labels_, model.labels_)


def test_the_search_looks_at_more_samples_than_clusters(monkeypatch):
    monkeypatch.setattr(search, "SEARCH_SAMPLES", 10)
    assert len(set(fit(VIEWS, n_clusters=12).labels_)) == 12


@pytest.mark.parametrize("numbers", [[], [1, 3], [2.5]], ids=str)
def test_numbers_of_clusters_that_cannot_be_are_named(numbers):
    with pytest.raises(ValueError, match="a range or list of integers >= 2"):
        fit(VIEWS, n_clusters=numbers)
