"""K-means of few rows: the clusters of scikit-learn for the same seed, centers that are means, no empty cluster."""

import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from latefusion.assignment import small_kmeans as room
from latefusion.assignment.small_kmeans import greedy_starts, small_kmeans


def draw(n_samples, width, n_groups, seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    centers = 2 * rng.standard_normal((n_groups, width))
    return (centers[rng.integers(n_groups, size=n_samples)] + rng.standard_normal((n_samples, width))).astype(dtype)


def nearest(rows, centers):
    return np.argmin(np.sum((rows[:, None] - centers) ** 2, axis=2), axis=1)


def cost(rows, centers):
    return np.sum((rows - centers[nearest(rows, centers)]) ** 2)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("n_samples", "width", "n_clusters"), [(40, 2, 2), (200, 5, 6), (900, 10, 10), (300, 12, 40), (30, 3, 30)]
)
def test_clusters_are_those_of_scikit_learn(n_samples, width, n_clusters, dtype, seed):
    rows = draw(n_samples, width, n_clusters, seed, dtype)
    expected = KMeans(n_clusters, n_init=4, random_state=seed).fit(rows)
    centers = small_kmeans(rows, n_clusters, n_init=4, random_state=seed)
    assert centers.dtype == rows.dtype
    # Where rounding decides between two candidates of a start, the results may differ, but not in quality.
    if adjusted_rand_score(expected.labels_, nearest(rows, centers)) < 1:
        assert cost(rows, centers) == pytest.approx(expected.inertia_, rel=0.02)
    else:
        matched = centers[nearest(expected.cluster_centers_, centers)]
        np.testing.assert_allclose(matched, expected.cluster_centers_, atol=1e-5)


def test_most_results_are_equal_to_scikit_learns():
    equal = 0
    for seed in range(40):
        rows = draw(150, 4, 5, seed)
        expected = KMeans(5, n_init=3, random_state=seed).fit_predict(rows)
        equal += adjusted_rand_score(expected, nearest(rows, small_kmeans(rows, 5, n_init=3, random_state=seed))) == 1
    assert equal >= 39


def test_starts_are_the_draws_of_scikit_learn(seed):
    rows = draw(200, 5, 6, seed)
    rows -= rows.mean(axis=0)
    found = greedy_starts(rows, 6, 3, np.random.RandomState(seed))
    generator = np.random.RandomState(seed)
    expected = [kmeans_plusplus(rows, 6, random_state=generator)[1] for _ in range(3)]
    np.testing.assert_array_equal(found, expected)


def test_converged_centers_are_the_means_of_their_rows(seed, monkeypatch):
    monkeypatch.setattr(room, "TOLERANCE", 0.0)
    rows = draw(400, 6, 5, seed)
    centers = small_kmeans(rows, 5, n_init=2, random_state=seed)
    labels = nearest(rows, centers)
    np.testing.assert_allclose(centers, [rows[labels == cluster].mean(axis=0) for cluster in range(5)], atol=1e-10)


def test_groups_of_starts_change_nothing(seed, monkeypatch):
    rows = draw(300, 4, 5, seed)
    together = small_kmeans(rows, 5, n_init=7, random_state=seed)
    monkeypatch.setattr(room, "BLOCK_ENTRIES", 1)
    np.testing.assert_allclose(small_kmeans(rows, 5, n_init=7, random_state=seed), together, atol=1e-12)


def test_more_starts_never_cost_more(seed):
    rows = draw(200, 3, 8, seed)
    costs = [cost(rows, small_kmeans(rows, 8, n_init=n_init, random_state=seed)) for n_init in (1, 3, 9)]
    assert costs == sorted(costs, reverse=True)


def test_a_shift_changes_no_cluster(seed):
    rows = draw(200, 3, 4, seed)
    labels = [nearest(rows + shift, small_kmeans(rows + shift, 4, n_init=5, random_state=0)) for shift in (0.0, 1e3)]
    assert adjusted_rand_score(*labels) == 1.0


def test_an_empty_cluster_gets_the_furthest_row():
    rows = np.array([[0.0], [0.1], [0.2], [5.0], [9.0]])
    starts = np.array([[[0.1], [100.0], [200.0]]])
    moved = room._means(rows, starts)
    np.testing.assert_allclose(moved[0], [[0.1], [9.0], [5.0]])


def test_a_row_between_two_centers_belongs_to_one():
    rows = np.array([[-1.0], [0.0], [1.0]])
    np.testing.assert_allclose(room._means(rows, np.array([[[-1.0], [1.0]]])), [[[-0.5], [1.0]]])


@pytest.mark.parametrize("n_clusters", [1, 3])
def test_as_many_clusters_as_different_rows(n_clusters):
    rows = np.repeat(np.eye(3)[:n_clusters], 20, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        centers = small_kmeans(rows, n_clusters, n_init=3, random_state=0)
    np.testing.assert_allclose(np.sort(centers, axis=0), np.sort(np.eye(3)[:n_clusters], axis=0), atol=1e-12)


def test_fewer_different_rows_than_clusters_are_named():
    rows = np.repeat(np.eye(3), 20, axis=0)
    with pytest.warns(ConvergenceWarning, match="found 3 distinct clusters, fewer than n_clusters=5"):
        centers = small_kmeans(rows, 5, n_init=2, random_state=0)
    assert np.isfinite(centers).all()
    assert cost(rows, centers) == pytest.approx(0.0, abs=1e-12)
