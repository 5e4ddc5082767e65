"""Blocks of the methods with unified anchors: each is the best of its block, and polar factors behave as documented."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from latefusion.arrays import polar
from latefusion.baselines.support.standardized_views import standardize_columns
from latefusion.baselines.support.unified_anchors import (
    Pull,
    anchor_products,
    anchor_rounds,
    count_anchors,
    fit_graph,
    has_settled,
    inverse_squared_residuals,
    kmeans_start,
    left_singular_vectors,
    published_start,
)


def random_views(seed, n_samples=40, widths=(5, 7)):
    generator = np.random.default_rng(seed)
    return [standardize_columns(generator.standard_normal((n_samples, width))) for width in widths]


def orthonormal(generator, rows, columns):
    return np.linalg.svd(generator.standard_normal((rows, columns)), full_matrices=False)[0]


def random_maps(seed, widths, n_components, n_anchors):
    generator = np.random.default_rng(seed)
    return [orthonormal(generator, width, n_components) for width in widths], orthonormal(
        generator, n_components, n_anchors
    )


def cost(views, maps, anchors, graph, weights, pull):
    fits = [np.sum((view - graph @ (own @ anchors).T) ** 2) for view, own in zip(views, maps, strict=True)]
    target = 0.0 if pull.target is None else pull.target
    return weights**2 @ fits + pull.strength * np.sum((graph - target) ** 2)


def rounds(views, start, number, *, regularization=1.0, updates="exact"):
    def update(maps, anchors, weights):
        return fit_graph(views, maps, anchors, weights, Pull(regularization), updates=updates)

    return list(islice(anchor_rounds(views, start, update, inverse_squared_residuals), number))


def start_of(views, n_anchors, n_components, seed=0):
    generator = np.random.RandomState(seed)
    return kmeans_start(views, n_anchors, n_components, n_init=3, generator=generator)


@pytest.mark.parametrize("widths", [(5, 7), (2, 7)])
@pytest.mark.parametrize("n_anchors", [3, 6])
def test_exact_graph_is_the_best_of_its_block(seed, n_anchors, widths):
    views = random_views(seed, widths=widths)
    generator = np.random.default_rng(seed)
    maps = [np.linalg.qr(generator.standard_normal((7, 7)))[0][:width, :3] for width in widths]
    maps = [polar(one, xp=np).isometry for one in maps]
    anchors = polar(generator.standard_normal((3, n_anchors)), xp=np).isometry
    weights, pull = np.array([0.3, 0.7]), Pull(0.5, generator.random((40, n_anchors)))
    graph = fit_graph(views, maps, anchors, weights, pull, updates="exact")
    best = cost(views, maps, anchors, graph, weights, pull)
    np.testing.assert_allclose(graph.sum(axis=1), 1.0)
    for step in (1.0, 0.1, 1e-3):
        for other in (generator.dirichlet(np.ones(n_anchors), 40), np.eye(n_anchors)[np.arange(40) % n_anchors]):
            assert cost(views, maps, anchors, (1 - step) * graph + step * other, weights, pull) >= best - 1e-9


def test_published_graph_leaves_out_the_weights(seed):
    views = random_views(seed)
    maps, anchors = random_maps(seed, (5, 7), 3, 3)
    target = np.random.default_rng(seed).random((40, 3))
    # With two equal weights of one half, the sum of the exact update is a quarter of the published one.
    published = fit_graph(views, maps, anchors, np.full(2, 0.5), Pull(1.0, target))
    scaled = [4.0 * view for view in views]
    exact = fit_graph(scaled, maps, anchors, np.full(2, 0.5), Pull(1.0, 2 * target), updates="exact")
    np.testing.assert_allclose(published, exact, atol=1e-12)


def test_without_a_penalty_a_singular_hessian_is_solved(seed):
    views = random_views(seed)
    maps, _ = random_maps(seed, (5, 7), 2, 2)
    anchors = polar(np.random.default_rng(seed).standard_normal((2, 5)), xp=np).isometry
    weights = np.array([0.4, 0.6])
    graph = fit_graph(views, maps, anchors, weights, Pull(0.0), updates="exact")
    best = cost(views, maps, anchors, graph, weights, Pull(0.0))
    for other in np.random.default_rng(seed).dirichlet(np.ones(5), (20, 40)):
        assert cost(views, maps, anchors, other, weights, Pull(0.0)) >= best


@pytest.mark.parametrize("n_anchors", [3, 4])
def test_rounds_with_exact_updates_never_rise(seed, n_anchors):
    views = random_views(seed)
    objective = [
        model.weights**2 @ model.squared_residuals + np.sum(model.graph**2)
        for model in rounds(views, start_of(views, n_anchors, 4), 25)
    ]
    assert np.all(np.diff(objective) <= 1e-9 * objective[0])
    assert objective[-1] < objective[0]


@pytest.mark.parametrize("n_anchors", [3, 6])
def test_maps_and_weights_are_the_best_of_their_blocks(seed, n_anchors):
    views = random_views(seed)
    generator = np.random.default_rng(seed)
    before, after = rounds(views, start_of(views, n_anchors, 3), 2)
    for view, own in zip(views, after.maps, strict=True):
        best = np.vdot(own @ before.anchors, view.T @ before.graph)
        for _ in range(20):
            other = orthonormal(generator, view.shape[1], 3)
            assert np.vdot(other @ before.anchors, view.T @ before.graph) <= best + 1e-9
    weights = after.weights
    assert weights.sum() == pytest.approx(1.0)
    for other in generator.dirichlet(np.ones(2), 20):
        assert other**2 @ after.squared_residuals >= weights**2 @ after.squared_residuals - 1e-9


def completed(matrix):
    """A matrix with orthonormal columns that agrees with a partial isometry on its range."""
    left, _, right = np.linalg.svd(matrix, full_matrices=False)
    return left @ right


@pytest.mark.parametrize("n_anchors", [3, 6])
def test_residuals_are_those_of_completed_isometries(seed, n_anchors):
    views = random_views(seed, widths=(5, 7, 2))
    model = rounds(views, start_of(views, n_anchors, 3), 3)[-1]
    anchors = completed(model.anchors)
    for view, own, squared in zip(views, model.maps, model.squared_residuals, strict=True):
        direct = np.sum((view - model.graph @ (completed(own) @ anchors).T) ** 2)
        assert squared == pytest.approx(direct, rel=1e-10)


def test_a_completion_of_the_maps_does_not_move_the_graph(seed):
    # Rows of Z sum to one and columns of the views to zero, so that the maps have one free direction.
    views = random_views(seed)
    model = rounds(views, start_of(views, 3, 3), 3)[-1]
    weights = np.full(2, 0.5)
    graphs = [
        fit_graph(views, maps, model.anchors, weights, Pull(1.0), updates="exact")
        for maps in (model.maps, [completed(own) for own in model.maps])
    ]
    np.testing.assert_allclose(graphs[0], graphs[1], atol=1e-10)


def test_square_anchors_have_no_effect(seed):
    views = random_views(seed)
    start = start_of(views, 3, 3)
    rotation = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]
    plain, turned = (rounds(views, start._replace(anchors=anchors), 4)[-1] for anchors in (np.eye(3), rotation))
    np.testing.assert_allclose(plain.graph, turned.graph, atol=1e-9)
    np.testing.assert_allclose(plain.weights, turned.weights, atol=1e-9)


def test_products_of_anchors(seed):
    generator = np.random.default_rng(seed)
    own, anchors = orthonormal(generator, 6, 3), orthonormal(generator, 3, 2)
    np.testing.assert_allclose(anchor_products(own, anchors), (own @ anchors).T @ own @ anchors, atol=1e-12)
    wide, flat = polar(generator.standard_normal((3, 5)), xp=np).isometry, orthonormal(generator, 3, 2).T
    np.testing.assert_allclose(anchor_products(own, wide), (own @ wide).T @ own @ wide, atol=1e-12)
    np.testing.assert_allclose(anchor_products(flat, wide), (flat @ wide).T @ flat @ wide, atol=1e-12)


def test_published_start_takes_the_first_samples_and_columns():
    start = published_start([np.zeros((4, 3)), np.zeros((4, 1))], 2, 2)
    np.testing.assert_array_equal(start.graph, [[1, 0], [0, 1], [0, 0], [0, 0]])
    np.testing.assert_array_equal(start.maps[0], [[1, 0], [0, 1], [0, 0]])
    np.testing.assert_array_equal(start.maps[1], [[1, 0]])
    assert not start.anchors.any()


def test_start_by_kmeans_is_one_hot_and_its_anchors_orthonormal(seed):
    views = random_views(seed)
    for n_anchors, n_components in ((3, 3), (6, 3), (2, 4)):
        start = start_of(views, n_anchors, n_components, seed)
        assert set(np.unique(start.graph)) == {0.0, 1.0}
        np.testing.assert_array_equal(start.graph.sum(axis=1), 1.0)
        singular = np.linalg.svd(start.anchors, compute_uv=False)
        # Sums of centred scores over all clusters add up to zero: one direction is missing where r <= d.
        np.testing.assert_allclose(singular[: min(n_anchors - (n_anchors < n_components), n_components)], 1.0)


def test_singular_vectors_of_anchors_in_use(seed):
    graph = np.random.default_rng(seed).random((20, 5))
    graph[:, [1, 3]] = 0.0
    vectors = left_singular_vectors(graph)
    assert vectors.shape == (20, 3)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(vectors @ (vectors.T @ graph), graph, atol=1e-12)
    np.testing.assert_array_equal(left_singular_vectors(graph, 2), vectors[:, :2])


def test_numbers_of_anchors():
    assert [count_anchors(given, 4, 100) for given in ("k", "2k", "3k", 7, 4)] == [4, 8, 12, 7, 4]
    assert count_anchors("3k", 4, 10) == 10
    with pytest.raises(ValueError, match=r"n_anchors=3 must be at least n_clusters=4.*Raise n_anchors"):
        count_anchors(3, 4, 100)


def test_settled_objectives():
    assert has_settled([2.0, 1.0, 1.0005])
    assert not has_settled([2.0, 1.0, 0.99])
    assert not has_settled([1.0])


def test_too_many_anchors_are_refused_before_they_are_made():
    views = [np.zeros((10**7, 1))]
    with pytest.raises(MemoryError, match=r"10000000 samples and 100000 anchors.*smaller n_anchors"):
        start_of(views, 10**5, 1)
