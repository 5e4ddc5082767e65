"""Factors side by side in blocks of rows."""

import numpy as np
import pytest

from latefusion.arrays import row_blocks
from latefusion.datasets import make_views
from latefusion.kernels import fit_kernel
from latefusion.partitions import factor_stack as room
from latefusion.similarities.factor import Factor, fit_linear_map, fit_nystrom_map

VIEWS = make_views(300, 4, n_views=3, n_features=[5, 7, 9], random_state=0).views.arrays


@pytest.fixture
def stack():
    return room.FactorStack([Factor(view, fit_linear_map(view)) for view in VIEWS])


def dense_features(stack):
    return np.hstack([factor.rows(0, stack.n_samples) for factor in stack.factors])


@pytest.mark.parametrize("entries", [1, 21 * 300, 2**19])
def test_blocks_put_together_are_all_features(stack, monkeypatch, entries):
    monkeypatch.setattr(room, "BLOCK_ENTRIES", entries)
    again = room.FactorStack(stack.factors)
    parts = [again.features(rows) for rows in row_blocks(300, again.block)]
    np.testing.assert_allclose(np.vstack(parts), dense_features(stack))
    assert [part.shape[1] for part in again.split(parts[0])] == [5, 7, 9]


@pytest.mark.parametrize("entries", [1, 21 * 300, 2**19])
def test_products_are_those_of_all_features(stack, monkeypatch, entries):
    monkeypatch.setattr(room, "BLOCK_ENTRIES", entries)
    again, features = room.FactorStack(stack.factors), dense_features(stack)
    np.testing.assert_allclose(again.products(), features.T @ features, atol=1e-10)
    matrix = np.random.default_rng(0).standard_normal((21, 4))
    np.testing.assert_allclose(again.times(matrix), features @ matrix, atol=1e-12)


def test_whitened_projections_give_orthonormal_columns(stack):
    features = dense_features(stack)
    values, projection = room.whitened(stack.products(), 6, stack.precision)
    rows = features @ projection
    np.testing.assert_allclose(rows.T @ rows, np.eye(6), atol=1e-10)
    np.testing.assert_allclose(features @ (features.T @ rows), rows * values, atol=1e-8)


def test_costly_features_are_kept_between_passes():
    view = VIEWS[0]
    calls = []
    feature_map = fit_nystrom_map(view, fit_kernel("gaussian", view), n_landmarks=40)

    class Counting:
        width = feature_map.width

        def __call__(self, rows):
            calls.append(len(rows))
            return feature_map(rows)

    stack = room.FactorStack([Factor(view, Counting())])
    stack.products()
    stack.times(np.eye(feature_map.width, 3))
    assert sum(calls) == 300
