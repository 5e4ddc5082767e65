"""OMSC: golden runs, exact updates, labels, and no empty cluster."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from latefusion.baselines.omsc import OrthogonalSubspaceClustering, solve_omsc
from latefusion.baselines.support.standardized_views import standardize_columns
from latefusion.baselines.support.unified_anchors import published_start
from latefusion.datasets import make_views


def first_samples(n_samples, n_clusters):
    positions = np.arange(n_samples)
    return np.where(positions < n_clusters, positions, -1)


def golden_run(golden, name, key, **options):
    problem, expected = golden(f"problem_{name}"), golden(f"omsc_{name}")
    views = [standardize_columns(problem[f"X{view + 1}"]) for view in range(len(problem["sigma"]))]
    k, n_anchors = int(problem["k"]), len(expected[f"{key}Z"])
    start = published_start(views, n_anchors, k)
    labels = first_samples(len(views[0]), k)
    return expected, solve_omsc(views, start, labels, np.eye(n_anchors, k), **options)


@pytest.mark.parametrize("key", ["a1k_", "a2k_"])
@pytest.mark.parametrize("name", ["synth", "digits"])
def test_golden(golden, name, key):
    expected, (result, model) = golden_run(golden, name, key, fill_clusters=False)
    assert result.n_iter == len(expected[f"{key}obj"]) == 15
    np.testing.assert_allclose(result.objective, expected[f"{key}obj"], rtol=1e-10)
    np.testing.assert_allclose(model.graph, expected[f"{key}Z"].T, atol=1e-8)
    np.testing.assert_allclose(result.weights, expected[f"{key}alpha"], atol=1e-8)
    np.testing.assert_array_equal(result.labels, expected[f"{key}labels"] - 1)


def test_a_cluster_that_is_empty_in_the_golden_run_is_filled(golden):
    expected, (result, _) = golden_run(golden, "digits", "a2k_")
    assert len(np.unique(expected["a2k_labels"])) == 9
    assert len(np.unique(result.labels)) == 10
    assert adjusted_rand_score(result.labels, expected["a2k_labels"]) > 0.8


def test_estimator_repeats_the_golden_run(golden):
    problem, expected = golden("problem_synth"), golden("omsc_synth")
    views = [problem[f"X{view}"] for view in (1, 2, 3)]
    for n_anchors, key in (("k", "a1k_"), ("2k", "a2k_"), (6, "a2k_")):
        model = OrthogonalSubspaceClustering(3, n_anchors=n_anchors, init="published").fit(views)
        np.testing.assert_array_equal(model.labels_, expected[f"{key}labels"] - 1)
        np.testing.assert_allclose(model.anchor_graph_, expected[f"{key}Z"].T, atol=1e-8)


@pytest.mark.parametrize("options", [{}, {"n_anchors": 4, "n_components": 5}])
def test_exact_updates_never_raise_the_objective(seed, options):
    data = make_views(60, 3, n_views=3, n_features=[5, 8, 11], noise=2.5, random_state=seed)
    model = OrthogonalSubspaceClustering(3, updates="exact", max_iter=30, random_state=0, **options).fit(data.views)
    assert np.all(np.diff(model.objective_) <= 1e-9 * model.objective_[0])
    assert model.objective_[-1] < model.objective_[0]


def test_labels_are_the_nearest_centroids(seed):
    data = make_views(60, 3, n_views=2, n_features=[5, 8], noise=2.0, random_state=seed)
    views = [standardize_columns(view) for view in data.views.arrays]
    labels = first_samples(60, 3)
    result, model = solve_omsc(views, published_start(views, 6, 3), labels, np.eye(6, 3), max_iter=40)
    # At the fixed point, centroids are the polar factor of the sums of the clusters.
    sums = np.stack([model.graph[result.labels == cluster].sum(axis=0) for cluster in range(3)], axis=1)
    left, _, right = np.linalg.svd(sums, full_matrices=False)
    centroids = left @ right
    distances = np.linalg.norm(model.graph[:, None] - centroids.T, axis=2)
    assert np.array_equal(np.argmin(distances, axis=1), result.labels)
    fits = model.weights**2 @ model.squared_residuals
    assert result.objective[-1] == pytest.approx(
        fits + np.sum((model.graph - centroids[:, result.labels].T) ** 2), rel=1e-6
    )


def test_a_strong_penalty_makes_the_graph_a_partition():
    data = make_views(60, 3, n_views=2, n_features=[5, 8], noise=2.0, random_state=0)
    distances = {}
    for regularization in (1e-4, 1e4):
        model = OrthogonalSubspaceClustering(3, regularization=regularization, updates="exact", random_state=0)
        graph = model.fit(data.views).anchor_graph_
        means = np.stack([graph[model.labels_ == cluster].mean(axis=0) for cluster in range(3)])
        distances[regularization] = np.sum((graph - means[model.labels_]) ** 2)
    assert distances[1e4] < 0.01 * distances[1e-4]


def test_every_cluster_is_used_where_samples_coincide():
    rows = np.repeat(np.random.default_rng(0).standard_normal((3, 4)), 5, axis=0)
    labels = OrthogonalSubspaceClustering(5, random_state=0).fit_predict([rows, rows[:, :3] ** 2])
    assert len(np.unique(labels)) == 5


def test_fewer_anchors_than_clusters_are_refused():
    data = make_views(60, 3, random_state=0)
    with pytest.raises(ValueError, match="n_anchors=2 must be at least n_clusters=3"):
        OrthogonalSubspaceClustering(3, n_anchors=2).fit(data.views)
