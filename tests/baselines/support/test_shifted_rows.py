"""Standardised views side by side: sparse ones have the products of dense ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from latefusion.baselines.support.shifted_rows import (
    centered,
    side_by_side,
    standardized_view,
    without_shift,
)


def sparse_view(seed, width=9):
    view = np.random.default_rng(seed).poisson(0.7, size=(20, width)).astype(float)
    view[4], view[:, 2:3] = 3.0, 3.0
    return view


def written_out(rows):
    return rows.dense_rows(slice(None))


@pytest.mark.parametrize("scaling", ["sample", "feature", None])
@pytest.mark.parametrize("width", [1, 2, 3, 9])
def test_sparse_views_are_standardised_like_dense_ones(seed, scaling, width):
    view = sparse_view(seed, 9)[:, :width]
    dense = written_out(standardized_view(view, scaling))
    sparse = standardized_view(scipy.sparse.csr_array(view), scaling)
    assert scipy.sparse.issparse(sparse.matrix)
    assert sparse.matrix.nnz <= np.count_nonzero(view)
    np.testing.assert_allclose(written_out(sparse), dense, atol=1e-12)


@pytest.mark.parametrize(("scaling", "axis"), [("sample", 1), ("feature", 0)])
def test_moments_of_a_standardised_view(seed, scaling, axis):
    view = sparse_view(seed)
    rows = written_out(standardized_view(view, scaling))
    np.testing.assert_allclose(rows.mean(axis=axis), 0.0, atol=1e-12)
    deviations = rows.std(axis=axis, ddof=1)
    constant = np.ptp(view, axis=axis) == 0
    assert constant.any()
    np.testing.assert_array_equal(deviations[constant], 0.0)
    np.testing.assert_allclose(deviations[~constant], 1.0)


def test_without_scaling_values_stay(seed):
    view = sparse_view(seed)
    np.testing.assert_array_equal(written_out(standardized_view(view, None)), view)
    np.testing.assert_array_equal(written_out(standardized_view(view[:, :2], "sample")), view[:, :2])
    np.testing.assert_allclose(written_out(standardized_view(view[:2], "feature")), view[:2] - view[:2].mean(axis=0))


def test_products_sums_and_norms_are_those_of_the_matrix(seed):
    views = [sparse_view(seed), sparse_view(seed + 5, 4), np.random.default_rng(seed).standard_normal((20, 3))]
    given = [scipy.sparse.csr_array(views[0]), scipy.sparse.csr_array(views[1]), views[2]]
    parts = [standardized_view(view, scaling) for view, scaling in zip(given, ["sample", "feature", None], strict=True)]
    rows = side_by_side(parts)
    matrix = np.concatenate([written_out(part) for part in parts], axis=1)
    assert scipy.sparse.issparse(rows.matrix)
    np.testing.assert_allclose(written_out(rows), matrix, atol=1e-12)
    np.testing.assert_allclose(rows.squared_norms(), (matrix**2).sum(axis=1), rtol=1e-10)
    other = np.random.default_rng(seed + 1).standard_normal((6, matrix.shape[1]))
    np.testing.assert_allclose(rows.products(slice(3, 12), other), matrix[3:12] @ other.T, atol=1e-10)
    labels = np.random.default_rng(seed).integers(0, 3, 20)
    expected = np.stack([matrix[labels == cluster].sum(axis=0) for cluster in range(4)])
    np.testing.assert_allclose(rows.sums(labels, 4), expected, atol=1e-10)


def test_dense_views_stay_dense(seed):
    views = [sparse_view(seed), sparse_view(seed + 1, 4)]
    rows = side_by_side([without_shift(view) for view in views])
    assert isinstance(rows.matrix, np.ndarray)
    np.testing.assert_array_equal(written_out(rows), np.concatenate(views, axis=1))
    np.testing.assert_allclose(rows.squared_norms(), (rows.matrix**2).sum(axis=1))


def test_centered_rows_are_the_rows_minus_their_mean(seed):
    view = sparse_view(seed)
    for given in (view, scipy.sparse.csr_array(view)):
        for scaling in ("sample", None):
            rows = standardized_view(given, scaling)
            moved, middle = centered(rows)
            np.testing.assert_allclose(middle, written_out(rows).mean(axis=0), atol=1e-12)
            np.testing.assert_allclose(written_out(moved) + middle, written_out(rows), atol=1e-12)
            np.testing.assert_allclose(moved.squared_norms(), (written_out(moved) ** 2).sum(axis=1), atol=1e-10)
            assert scipy.sparse.issparse(moved.matrix) == scipy.sparse.issparse(given)
