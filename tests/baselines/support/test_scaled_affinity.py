"""Distances, affinities with a local width, and the largest entries of rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from scipy.spatial.distance import cdist

from latefusion.baselines.support.scaled_affinity import (
    largest_entries,
    scaled_affinity,
    squared_distances,
    unit_deviations,
    view_distances,
)
from latefusion.kernels import linear_kernel


def points(seed, n_samples=40, n_features=6):
    return np.random.default_rng(seed).standard_normal((n_samples, n_features))


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_distances_are_those_of_differences(seed, container, offset):
    rows = points(seed)
    rows[7] = rows[3]
    rows[11] = rows[5] + 1e-9
    found = squared_distances(container(rows + offset))
    expected = cdist(rows + offset, rows + offset, "sqeuclidean")
    np.testing.assert_allclose(found, expected, rtol=1e-6 if offset == 0 else 1e-2, atol=1e-12)
    assert found[3, 7] == found[7, 3] == 0.0
    assert not np.diagonal(found).any()
    np.testing.assert_array_equal(found, found.T)


def test_distances_of_many_blocks_are_those_of_one(seed, monkeypatch):
    rows = points(seed)
    whole = squared_distances(rows)
    monkeypatch.setattr("latefusion.baselines.support.scaled_affinity.BLOCK_ENTRIES", 100)
    np.testing.assert_allclose(squared_distances(rows), whole, atol=1e-13)
    affinity = scaled_affinity(np.sqrt(whole), 5, 0.5)
    monkeypatch.undo()
    np.testing.assert_allclose(affinity, scaled_affinity(np.sqrt(squared_distances(rows)), 5, 0.5), rtol=1e-9)


def test_columns_get_unit_deviation_dense_and_sparse(seed):
    rows = np.column_stack([points(seed) * [1, 10, 1e3, 1, 1, 1] + 5.0, np.full(40, 0.1), np.zeros(40)])
    dense, sparse = unit_deviations(rows), unit_deviations(scipy.sparse.csr_array(rows))
    np.testing.assert_allclose(dense.std(axis=0, ddof=1), [1] * 6 + [0] * 2, atol=1e-12)
    np.testing.assert_allclose(squared_distances(sparse), squared_distances(dense), rtol=1e-8, atol=1e-10)
    assert scipy.sparse.issparse(sparse)


def test_standardised_distances_do_not_depend_on_units(seed):
    rows = points(seed)
    expected = view_distances(rows, "features", standardize=True, distance="euclidean")
    moved = rows * [1, 1e5, 1e-5, 3, 7, 2] - 4.0
    np.testing.assert_allclose(
        view_distances(moved, "features", standardize=True, distance="euclidean"), expected, atol=1e-9
    )
    squared = view_distances(rows, "features", standardize=True, distance="sqeuclidean")
    np.testing.assert_allclose(squared, expected**2, atol=1e-10)


def test_distances_in_a_kernel_are_those_of_its_centred_unit_vectors(seed):
    rows = points(seed)
    centred = rows - rows.mean(axis=0)
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    found = view_distances(7.0 * linear_kernel(rows), "precomputed", standardize=True, distance="euclidean")
    np.testing.assert_allclose(found, cdist(unit, unit), atol=1e-6)


def test_affinity_is_its_formula(seed):
    distances = cdist(points(seed), points(seed))
    expected = np.empty((40, 40))
    nearest = np.sort(distances, axis=1)[:, 1:6].mean(axis=1)
    for i in range(40):
        for j in range(40):
            deviation = 0.4 * (nearest[i] + nearest[j] + distances[i, j]) / 3
            expected[i, j] = np.exp(-0.5 * (distances[i, j] / deviation) ** 2) / (np.sqrt(2 * np.pi) * deviation)
    np.testing.assert_allclose(scaled_affinity(distances, 5, 0.4), expected, rtol=1e-10)


def test_a_unit_of_the_view_is_a_factor_of_the_affinity(seed):
    distances = cdist(points(seed), points(seed))
    once = scaled_affinity(distances.copy(), 5, 0.5)
    np.testing.assert_allclose(scaled_affinity(1e3 * distances, 5, 0.5), once / 1e3, rtol=1e-9)


@pytest.mark.parametrize("n_neighbors", [0, 40, 41])
def test_the_number_of_neighbours_is_checked(n_neighbors):
    with pytest.raises(ValueError, match=rf"n_neighbors={n_neighbors} must be .* below n_samples=40. Use fewer"):
        scaled_affinity(np.zeros((40, 40)), n_neighbors, 0.5)


def test_coinciding_samples_have_finite_affinities():
    affinity = scaled_affinity(cdist(np.repeat(np.eye(3), 10, axis=0), np.repeat(np.eye(3), 10, axis=0)), 4, 0.5)
    assert np.isfinite(affinity).all()
    assert affinity[0, 1] > 1e6 * affinity[0, 15]


def test_largest_entries_of_rows(seed):
    matrix = np.random.default_rng(seed).random((12, 30))
    kept = largest_entries(matrix, 4)
    np.testing.assert_array_equal(np.diff(kept.indptr), 4)
    np.testing.assert_allclose(kept.sum(axis=1), 1.0)
    for row, entries in zip(matrix, kept.toarray(), strict=True):
        assert row[entries > 0].min() > row[entries == 0].max()
        np.testing.assert_allclose(entries[entries > 0], row[entries > 0] / row[entries > 0].sum())
    np.testing.assert_allclose(largest_entries(matrix, 4, ties="last").toarray(), kept.toarray())
    assert largest_entries(np.zeros((2, 5)), 3).nnz == 0


def test_ties_are_kept_together_or_by_the_highest_index():
    row = np.array([[3.0, 1.0, 2.0, 1.0, 1.0, 0.0]])
    assert list(largest_entries(row, 3).indices) == [0, 1, 2, 3, 4]
    assert list(largest_entries(row, 3, ties="last").indices) == [0, 2, 4]
    order = np.random.default_rng(0).permutation(6)
    np.testing.assert_array_equal(
        largest_entries(row[:, order], 3).toarray(), largest_entries(row, 3).toarray()[:, order]
    )
