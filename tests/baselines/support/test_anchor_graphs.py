"""Anchors and groups that do not depend on the order of samples and views, and graphs between samples and anchors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

from latefusion.baselines.support import anchor_graphs
from latefusion.baselines.support.anchor_graphs import (
    anchor_graph,
    centered,
    order_free_anchors,
    order_free_labels,
    principal_coordinates,
    squared_norm,
)
from latefusion.datasets import make_views


def views_of(seed, n_samples=70, noise=1.0):
    data = make_views(n_samples, 3, n_views=3, n_features=[4, 7, 9], noise=noise, random_state=seed)
    return list(data.views.arrays), data.target


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_array])
def test_the_norm_is_that_of_centred_columns(seed, container):
    view = np.random.default_rng(seed).standard_normal((30, 5)) + 3.0
    expected = np.linalg.norm(view - view.mean(axis=0)) ** 2
    assert squared_norm(centered(container(view))) == pytest.approx(expected)
    assert squared_norm(centered(container(np.full((4, 2), 0.5)))) == 0.0


@pytest.mark.parametrize("n_samples", [12, 70])
def test_coordinates_are_principal_components_of_views_of_unit_norm(seed, n_samples):
    views, _ = views_of(seed, n_samples)
    side_by_side = np.concatenate(
        [(view - view.mean(axis=0)) / np.linalg.norm(view - view.mean(axis=0)) for view in views], axis=1
    )
    left, values, _ = np.linalg.svd(side_by_side, full_matrices=False)
    found = principal_coordinates([centered(view) for view in views], 5)
    np.testing.assert_allclose(found @ found.T, (left[:, :5] * values[:5] ** 2) @ left[:, :5].T, atol=1e-10)
    np.testing.assert_allclose(np.linalg.norm(found, axis=0), values[:5], atol=1e-10)
    assert principal_coordinates([centered(views[0])], 50).shape == (n_samples, 4)


def test_a_constant_view_does_not_count(seed):
    views, _ = views_of(seed)
    expected = principal_coordinates([centered(view) for view in views], 3)
    found = principal_coordinates([centered(view) for view in [*views, np.ones((70, 2))]], 3)
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-12)


def test_sparse_views_have_the_same_coordinates(seed):
    views = [view * (np.abs(view) > 0.5) for view in views_of(seed)[0]]
    dense = principal_coordinates([centered(view) for view in views], 4)
    sparse = principal_coordinates([centered(scipy.sparse.csr_array(view)) for view in views], 4)
    np.testing.assert_allclose(sparse @ sparse.T, dense @ dense.T, atol=1e-10)


def test_groups_do_not_depend_on_the_order_of_samples_and_views(seed):
    views, _ = views_of(seed, noise=3.0)
    order = np.random.default_rng(seed).permutation(70)

    def labels(arrays, n_groups=6):
        generator = np.random.RandomState(3)
        return order_free_labels([centered(view) for view in arrays], n_groups, n_init=2, generator=generator)

    reference = labels(views)
    moved = labels([view[order] for view in views[::-1]])
    np.testing.assert_array_equal(moved, reference[order])
    clear, truth = views_of(seed, noise=0.3)
    assert adjusted_rand_score(labels(clear, 3), truth) == 1.0


def test_anchors_do_not_depend_on_the_order_of_samples_and_views(seed):
    views, _ = views_of(seed, noise=3.0)
    order = np.random.default_rng(seed).permutation(70)
    reference = order_free_anchors(views, 15, generator=np.random.RandomState(3))
    moved = order_free_anchors([view[order] for view in views[::-1]], 15, generator=np.random.RandomState(3))
    for own, other in zip(reference, moved[::-1], strict=True):
        np.testing.assert_allclose(other, own, atol=1e-9)


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_array])
def test_anchors_are_means_of_the_same_groups_in_all_views(seed, container):
    views, _ = views_of(seed)
    # The second view is a linear map of the first, which keeps means.
    mapped = views[0] @ np.random.default_rng(seed).standard_normal((4, 6))
    first, second = order_free_anchors([container(views[0]), container(mapped)], 9, generator=np.random.RandomState(0))
    np.testing.assert_allclose(second, first @ np.linalg.lstsq(views[0], mapped, rcond=None)[0], atol=1e-10)
    assert first.shape == (9, 4)


def test_every_sample_can_be_an_anchor(seed):
    views, _ = views_of(seed, 20)
    anchors = order_free_anchors(views, 20, generator=np.random.RandomState(0))
    for own, view in zip(anchors, views, strict=True):
        assert cdist(own, view).min(axis=0).max() < 1e-8


def test_anchors_of_few_different_samples_are_repeated():
    view = np.repeat(np.eye(3), 10, axis=0)
    (anchors,) = order_free_anchors([view], 7, generator=np.random.RandomState(0))
    assert len(anchors) == 7
    assert {tuple(row) for row in anchors.round(12)} == {tuple(row) for row in np.eye(3)}


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_array])
def test_edges_are_adaptive_weights_of_the_nearest_anchors(seed, container, monkeypatch):
    monkeypatch.setattr(anchor_graphs, "BLOCK_ENTRIES", 60)
    view = np.random.default_rng(seed).standard_normal((40, 5)) + 2.0
    anchors = view[::5]
    graph = anchor_graph(container(view), anchors, 3)
    np.testing.assert_allclose(graph.sum(axis=1), 1.0)
    distances = np.sort(cdist(view, anchors, "sqeuclidean"), axis=1)
    ranks = np.argsort(cdist(view, anchors), axis=1)
    for sample in range(40):
        gaps = distances[sample, 3] - distances[sample, :3]
        np.testing.assert_allclose(graph.toarray()[sample, ranks[sample, :3]], gaps / gaps.sum(), atol=1e-10)
    assert graph.nnz == 120


def test_edges_minimise_their_problem(seed):
    generator = np.random.default_rng(seed)
    view, anchors = generator.standard_normal((10, 3)), generator.standard_normal((8, 3))
    rows, distances = anchor_graph(view, anchors, 4).toarray(), cdist(view, anchors, "sqeuclidean")
    ordered = np.sort(distances, axis=1)
    strength = (4 * ordered[:, 4] - ordered[:, :4].sum(axis=1)) / 2

    def cost(weights):
        return (distances * weights).sum(axis=1) + strength * (weights**2).sum(axis=1)

    for _ in range(50):
        other = np.abs(rows + 0.05 * generator.standard_normal(rows.shape))
        assert np.all(cost(other / other.sum(axis=1, keepdims=True)) >= cost(rows) - 1e-12)
