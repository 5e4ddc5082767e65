"""Standardised views as arrays and as operators, and clusterings that do not depend on the order of the samples."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from latefusion.baselines.support import standardized_views
from latefusion.baselines.support.standardized_views import (
    cluster_rows,
    cluster_sums,
    kmeans_labels,
    nearest_centers,
    one_hot,
    principal_scores,
    sort_rows,
    squared_norm,
    standardize_columns,
)


def sparse_view(seed, n_samples=30, n_features=7):
    generator = np.random.default_rng(seed)
    dense = generator.poisson(0.7, (n_samples, n_features)).astype(float)
    dense[:, 3] = 0.0
    dense[:, 5] = 0.1  # constant, and its mean is not exact
    return dense


def test_columns_have_mean_zero_and_sample_deviation_one(seed):
    view = sparse_view(seed)
    before = view.copy()
    standardized = standardize_columns(view)
    np.testing.assert_array_equal(view, before)
    np.testing.assert_allclose(standardized.mean(axis=0), 0.0, atol=1e-14)
    np.testing.assert_allclose(np.delete(standardized, [3, 5], axis=1).std(axis=0, ddof=1), 1.0)
    np.testing.assert_array_equal(standardized[:, [3, 5]], 0.0)


@pytest.mark.parametrize("format", ["csr_array", "csc_matrix", "coo_array"])
def test_a_sparse_view_becomes_an_operator_with_the_same_products(seed, format):
    dense = sparse_view(seed)
    expected = standardize_columns(dense)
    operator = standardize_columns(getattr(scipy.sparse, format)(dense.astype(np.float32)).astype(np.float64))
    assert not isinstance(operator, np.ndarray)
    expected = standardize_columns(dense.astype(np.float32).astype(np.float64))
    generator = np.random.default_rng(seed)
    right, left = generator.standard_normal((7, 2)), generator.standard_normal((30, 2))
    np.testing.assert_allclose(operator @ right, expected @ right, atol=1e-12)
    np.testing.assert_allclose(operator.T @ left, expected.T @ left, atol=1e-12)
    assert squared_norm(operator) == pytest.approx(squared_norm(expected))
    assert squared_norm(expected) == pytest.approx(5 * 29)
    indicator = one_hot(generator.integers(-1, 3, 30), 3)
    np.testing.assert_allclose(cluster_sums(operator, indicator), cluster_sums(expected, indicator), atol=1e-12)


def test_indicator_and_sums_leave_out_samples_without_a_label():
    labels = np.array([1, -1, 0, 1])
    np.testing.assert_array_equal(one_hot(labels, 3).toarray(), [[0, 1, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0]])
    view = np.arange(8.0).reshape(4, 2)
    np.testing.assert_array_equal(cluster_sums(view, one_hot(labels, 3)), [[4, 6, 0], [5, 8, 0]])


def test_scores_are_the_leading_part_of_all_views_divided_by_their_norms(seed):
    generator = np.random.default_rng(seed)
    views = [standardize_columns(generator.standard_normal((40, d)) * np.arange(1, d + 1)) for d in (3, 6)]
    stacked = np.concatenate([view * np.sqrt(40 / np.sum(view**2)) for view in views], axis=1)
    left, values, _ = np.linalg.svd(stacked, full_matrices=False)
    scores = principal_scores(views, 4)
    np.testing.assert_allclose(scores @ scores.T, (left[:, :4] * values[:4] ** 2) @ left[:, :4].T, atol=1e-9)
    assert principal_scores(views, 20).shape == (40, 20)
    np.testing.assert_array_equal(principal_scores(views, 20)[:, 9:], 0.0)


def test_scores_in_blocks_are_the_same(monkeypatch, seed):
    views = [np.random.default_rng(seed).standard_normal((40, 5))]
    whole = principal_scores(views, 3)
    monkeypatch.setattr(standardized_views, "BLOCK_ENTRIES", 80)
    np.testing.assert_allclose(principal_scores(views, 3), whole, atol=1e-10)


def test_order_of_samples_and_views_does_not_matter(seed):
    generator = np.random.default_rng(seed)
    views = [generator.standard_normal((50, d)) for d in (4, 6)]
    rows = generator.permutation(50)
    labels = [
        kmeans_labels(each, 5, n_init=2, generator=np.random.RandomState(seed))
        for each in (views, [views[1][rows], views[0][rows]])
    ]
    np.testing.assert_array_equal(labels[0][rows], labels[1])


def test_sorted_rows_are_ordered_by_their_distance_to_the_mean(seed):
    view = sparse_view(seed)
    lengths = np.linalg.norm(view - view.mean(axis=0), axis=1)
    for rows in (view, scipy.sparse.csr_array(view)):
        assert np.all(np.diff(lengths[sort_rows(rows)]) >= -1e-12)


def test_another_seed_is_another_clustering():
    rows = np.random.default_rng(0).standard_normal((60, 3))
    found = [cluster_rows(rows, 8, n_init=1, generator=np.random.RandomState(seed))[0] for seed in range(4)]
    assert len({tuple(labels) for labels in found}) > 1


def test_nearest_centers_are_nearest(seed, monkeypatch):
    generator = np.random.default_rng(seed)
    rows, centers = generator.standard_normal((30, 4)), generator.standard_normal((5, 4))
    monkeypatch.setattr(standardized_views, "BLOCK_ENTRIES", 20)
    distances = np.linalg.norm(rows[:, None] - centers, axis=2)
    np.testing.assert_array_equal(nearest_centers(rows, centers), np.argmin(distances, axis=1))


def test_fewer_different_rows_than_clusters(seed):
    rows = np.repeat(np.random.default_rng(seed).standard_normal((2, 3)), 5, axis=0)
    labels, centers = cluster_rows(rows, 4, n_init=2, generator=np.random.RandomState(seed))
    assert len(np.unique(labels)) == 2
    assert np.isfinite(centers).all()
