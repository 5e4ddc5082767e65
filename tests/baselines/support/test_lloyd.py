"""Lloyd's iterations on rows given by their products."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from latefusion.baselines.support import lloyd
from latefusion.baselines.support.lloyd import (
    Assignment,
    centers_of_rows,
    cluster_means,
    fill_empty_clusters,
    nearest_centers,
    spread_rows,
)
from latefusion.baselines.support.shifted_rows import standardized_view, without_shift


def points(seed, n_samples=60):
    return np.random.default_rng(seed).standard_normal((n_samples, 4))


def norms_of(matrix):
    return (matrix**2).sum(axis=1)


def test_nearest_centers_in_one_block_and_in_many(seed, monkeypatch):
    matrix, centers = points(seed), points(seed + 9, 7)
    distances = cdist(matrix, centers, "sqeuclidean")
    for entries in (2**20, 7 * 11):
        monkeypatch.setattr(lloyd, "BLOCK_ENTRIES", entries)
        found = nearest_centers(without_shift(matrix), norms_of(matrix), centers)
        np.testing.assert_array_equal(found.labels, distances.argmin(axis=1))
        np.testing.assert_allclose(found.distances, distances.min(axis=1), atol=1e-12)


def test_of_equally_near_centers_the_first_is_taken():
    matrix = np.array([[1.0, 0.0], [0.0, 0.0]])
    centers = np.array([[2.0, 0.0], [0.0, 0.0], [2.0, 0.0]])
    found = nearest_centers(without_shift(matrix), norms_of(matrix), centers)
    np.testing.assert_array_equal(found.labels, [0, 1])


def test_empty_clusters_take_the_farthest_samples_that_leave_company_behind():
    found = Assignment(np.array([0, 0, 0, 3]), np.array([1.0, 5.0, 2.0, 9.0]))
    filled = fill_empty_clusters(found, 4)
    np.testing.assert_array_equal(filled.labels, [0, 1, 2, 3])
    np.testing.assert_array_equal(filled.distances, [1.0, 0.0, 0.0, 9.0])
    np.testing.assert_array_equal(found.labels, [0, 0, 0, 3])
    assert fill_empty_clusters(filled, 4) is filled


def test_no_cluster_is_empty_for_any_labels(seed):
    generator = np.random.default_rng(seed)
    for _ in range(100):
        labels = generator.integers(0, 6, 8) ** 2 % 6
        filled = fill_empty_clusters(Assignment(labels, generator.random(8)), 6)
        assert set(filled.labels) == set(range(6))


def test_means_are_those_of_the_members_and_zero_without_any(seed):
    matrix, labels = points(seed), np.arange(60) % 3
    means = cluster_means(without_shift(scipy.sparse.csr_array(matrix)), labels, 4)
    for cluster in range(3):
        np.testing.assert_allclose(means[cluster], matrix[labels == cluster].mean(axis=0))
    np.testing.assert_array_equal(means[3], 0.0)


def test_drawn_rows_are_spread(seed):
    matrix = np.repeat(100 * np.eye(4), 15, axis=0) + 0.01 * points(seed)
    chosen = spread_rows(without_shift(matrix), norms_of(matrix), 4, np.random.RandomState(seed))
    assert set(chosen // 15) == set(range(4))


def test_drawn_rows_are_different_while_there_are_different_ones(seed):
    matrix = np.repeat(points(seed, 5), 3, axis=0)
    chosen = spread_rows(without_shift(matrix), norms_of(matrix), 5, np.random.RandomState(seed))
    assert set(chosen // 3) == set(range(5))
    many = spread_rows(without_shift(matrix), norms_of(matrix), 9, np.random.RandomState(seed))
    assert set(many // 3) == set(range(5))
    alike = np.full((4, 2), 0.3)
    assert spread_rows(without_shift(alike), norms_of(alike), 3, np.random.RandomState(seed)).shape == (3,)


def test_first_row_is_drawn_uniformly_and_the_second_by_squared_distance():
    matrix = np.array([[0.0], [0.0], [0.0], [1.0], [3.0]])
    generator = np.random.RandomState(0)
    rows, norms = without_shift(matrix), norms_of(matrix)
    pairs = np.array([spread_rows(rows, norms, 2, generator) for _ in range(4000)])
    shares = np.bincount(pairs[:, 0], minlength=5) / len(pairs)
    np.testing.assert_allclose(shares, 0.2, atol=0.03)
    # From 0, sample 3 has probability 1/10 and sample 4 has 9/10; of two candidates 4 is kept if it is among them.
    second = pairs[pairs[:, 0] < 3, 1]
    assert set(second) == {3, 4}
    np.testing.assert_allclose(np.mean(second == 4), 0.99, atol=0.01)


def test_rounds_are_those_of_k_means(seed):
    matrix = points(seed, 200)
    start = np.random.default_rng(seed).choice(200, 6, replace=False)
    centers, found = centers_of_rows(without_shift(matrix), start, 300)
    reference = KMeans(6, init=matrix[start], n_init=1, tol=0).fit(matrix)
    np.testing.assert_array_equal(found.labels, reference.labels_)
    np.testing.assert_allclose(centers, reference.cluster_centers_, atol=1e-10)
    one_round, _ = centers_of_rows(without_shift(matrix), start, 1)
    labels = cdist(matrix, matrix[start]).argmin(axis=1)
    np.testing.assert_allclose(one_round, cluster_means(without_shift(matrix), labels, 6), atol=1e-12)


def test_sparse_standardised_rows_give_the_centers_of_dense_ones(seed):
    view = np.random.default_rng(seed).poisson(0.5, size=(50, 12)).astype(float)
    start = np.arange(5)
    dense = centers_of_rows(standardized_view(view, "feature"), start, 20)[0]
    sparse = centers_of_rows(standardized_view(scipy.sparse.csr_array(view), "feature"), start, 20)[0]
    np.testing.assert_allclose(sparse, dense, atol=1e-10)
