"""Two passes over the rows of all factors."""

import numpy as np
import pytest

from latefusion.datasets import make_views
from latefusion.partitions import factor_stack
from latefusion.partitions import gram as room
from latefusion.partitions.factor_stack import FactorStack
from latefusion.partitions.neighborhoods import count_neighbors, sample_neighborhoods
from latefusion.similarities.factor import Factor, FactorExtension, fit_linear_map

VIEWS = make_views(300, 4, n_views=3, n_features=[5, 7, 9], random_state=0).views.arrays


@pytest.fixture
def stack():
    return FactorStack([Factor(view, fit_linear_map(view)) for view in VIEWS])


def dense_features(stack):
    return np.hstack([factor.rows(0, stack.n_samples) for factor in stack.factors])


def test_projections_give_orthonormal_eigenvectors(stack):
    rows = room.factor_partitions(stack, room.factor_projections(stack, 4), None)
    features = dense_features(stack)
    for p, partition in enumerate(np.split(rows, 4, axis=1)):
        own = features if p == 3 else stack.split(features)[p]
        np.testing.assert_allclose(partition.T @ partition, np.eye(4), atol=1e-10)
        values = np.linalg.norm(own.T @ partition, axis=0) ** 2
        np.testing.assert_allclose(own @ (own.T @ partition), partition * values, atol=1e-8)
        assert np.all(np.diff(values) <= 1e-9)


def test_more_clusters_than_columns_leave_zero_columns(stack):
    projections = room.factor_projections(stack, 8)
    assert not projections[:5, 5:8].any()
    rows = room.factor_partitions(stack, projections, None)
    assert np.linalg.matrix_rank(rows[:, :8]) == 5


def test_neighbors_are_counted_in_the_same_pass(stack, monkeypatch):
    monkeypatch.setattr(factor_stack, "BLOCK_ENTRIES", 21 * 300)
    extensions = [FactorExtension(factor.feature_map) for factor in stack.factors]
    extensions, sampled = sample_neighborhoods(VIEWS, extensions, [30], 300)
    columns = [one.columns for one in extensions]
    room.factor_partitions(FactorStack(stack.factors), room.factor_projections(stack, 2), sampled, columns)
    similarities = [factor.toarray() for factor in stack.factors]
    for (found,), similarity in zip(sampled.results(), [*similarities, np.mean(similarities, axis=0)], strict=True):
        np.testing.assert_allclose(found.counts, count_neighbors(similarity, [30])[0].counts)
