from __future__ import annotations

import numpy as np
import scipy.sparse
from scipy.spatial.distance import cdist

from latefusion.arrays import to_numpy
from latefusion.similarities.adaptive import (
    Neighbors,
    adaptive_weights,
    connected_components,
    dense_adaptive_weights,
    without_zeros,
)


def nearest(points, n_neighbors):
    distances = cdist(points, points, "sqeuclidean")
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1)[:, : n_neighbors + 1]
    return Neighbors(order, np.take_along_axis(distances, order, axis=1))


def test_adaptive_weights_follow_the_formula_and_have_no_unit(seed):
    points = np.random.default_rng(seed).standard_normal((30, 3))
    near = nearest(points, 6)
    weights = adaptive_weights(near)
    d = near.squared_distances
    expected = (d[:, [6]] - d[:, :6]) / (6 * d[:, [6]] - d[:, :6].sum(axis=1, keepdims=True))
    np.testing.assert_allclose(weights[:, :6], expected, rtol=1e-12)
    np.testing.assert_array_equal(weights[:, 6], 0.0)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(adaptive_weights(nearest(1e-9 * points, 6)), weights, rtol=1e-6)


def test_adaptive_weights_minimise_their_problem(seed):
    generator = np.random.default_rng(seed)
    near = nearest(generator.standard_normal((20, 3)), 5)
    weights = adaptive_weights(near)
    d = near.squared_distances
    # The regularisation that leaves exactly q weights positive
    gamma = 0.5 * (5 * d[:, 5] - d[:, :5].sum(axis=1))

    def cost(rows):
        return (d * rows).sum(axis=1) + gamma * (rows**2).sum(axis=1)

    best = cost(weights)
    for _ in range(50):
        other = np.abs(weights + 0.05 * generator.standard_normal(weights.shape))
        other /= other.sum(axis=1, keepdims=True)
        assert np.all(cost(other) >= best - 1e-12)


def test_equally_distant_neighbours_weigh_the_same():
    near = Neighbors(np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]), np.zeros((4, 3)))
    np.testing.assert_array_equal(adaptive_weights(near), np.tile([0.5, 0.5, 0.0], (4, 1)))


def test_stored_zeros_are_no_edges():
    edges = scipy.sparse.csr_array((np.array([1.0, 0.0, 1.0]), ([0, 1, 2], [1, 2, 3])), shape=(4, 4))
    assert edges.nnz == 3
    count, labels = connected_components(edges)
    assert count == 2
    np.testing.assert_array_equal(labels, [0, 0, 1, 1])
    assert without_zeros(edges).nnz == 2
    assert edges.nnz == 3


def test_dense_weights_are_those_of_the_neighbors(xp, seed):
    points = np.random.default_rng(seed).standard_normal((30, 3))
    squares = cdist(points, points[:12], "sqeuclidean")
    order = np.argsort(squares, axis=1)[:, :6]
    near = Neighbors(order, np.take_along_axis(squares, order, axis=1))
    expected = np.zeros_like(squares)
    np.put_along_axis(expected, order, adaptive_weights(near), axis=1)
    shifted = squares - np.sum(points**2, axis=1, keepdims=True)  # a number per row changes nothing
    np.testing.assert_allclose(to_numpy(dense_adaptive_weights(xp.asarray(shifted), 5)), expected, atol=1e-12)


def test_dense_weights_of_equal_distances_are_equal(xp):
    squares = np.array([[1.0, 1.0, 1.0, 2.0, 3.0], [3.0, 1.0, 2.0, 1.0, 1.0]])
    found = to_numpy(dense_adaptive_weights(xp.asarray(squares), 2))
    np.testing.assert_allclose(found, np.array([[1, 1, 1, 0, 0], [0, 1, 0, 1, 1]]) / 3, atol=1e-15)
