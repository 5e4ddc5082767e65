from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from scipy.spatial.distance import cdist

from latefusion.arrays import memory
from latefusion.baselines.support.graphs import (
    adaptive_neighbors,
    combine_graphs,
    component_indicator,
    laplacian_eigenvectors,
    lowest_eigenvectors,
    mean_graph,
    nearest_samples,
    neighbor_graph,
    normalized_affinities,
    reach_components,
    symmetrize,
)
from latefusion.similarities.adaptive import connected_components


def dense_laplacian(graph):
    weights = symmetrize(graph).toarray()
    np.fill_diagonal(weights, 0.0)
    return np.diag(weights.sum(axis=1)) - weights


def blocks(n_blocks, size, seed, bridge=0.0):
    """A random graph of dense blocks, neighbours in a chain joined by one edge of weight ``bridge``."""
    generator = np.random.default_rng(seed)
    parts = [generator.random((size, size)) for _ in range(n_blocks)]
    graph = scipy.sparse.lil_array(scipy.sparse.block_diag(parts))
    for block in range(n_blocks - 1):
        graph[block * size, (block + 1) * size] = bridge
    return scipy.sparse.csr_array(graph)


@pytest.mark.parametrize("n_features", [1, 3, 40])
def test_nearest_samples_are_the_stable_order_of_exact_distances(seed, n_features):
    points = np.random.default_rng(seed).standard_normal((60, n_features)) + 100.0
    distances = cdist(points, points, "sqeuclidean")
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, :8]
    neighbors = nearest_samples(points, 7)
    np.testing.assert_array_equal(neighbors.indices, order)
    np.testing.assert_allclose(neighbors.squared_distances, np.take_along_axis(distances, order, axis=1), rtol=1e-10)


def test_precomputed_distances_give_the_same_neighbours_and_stay_unchanged(seed):
    points = np.random.default_rng(seed).standard_normal((40, 4))
    distances = cdist(points, points, "sqeuclidean")
    before = distances.copy()
    from_distances = nearest_samples(distances, 5, precomputed=True)
    np.testing.assert_array_equal(from_distances.indices, nearest_samples(points, 5).indices)
    np.testing.assert_array_equal(distances, before)


def test_ties_go_to_the_lowest_index_and_a_twin_never_replaces_the_sample_itself():
    # A grid has ties everywhere; every point of it stands there three times.
    grid = np.repeat(np.stack(np.meshgrid(np.arange(4.0), np.arange(4.0)), axis=-1).reshape(-1, 2), 3, axis=0)
    neighbors = nearest_samples(grid, 5)
    distances = cdist(grid, grid, "sqeuclidean")
    np.fill_diagonal(distances, np.inf)
    np.testing.assert_array_equal(neighbors.indices, np.argsort(distances, axis=1, kind="stable")[:, :6])
    assert not np.any(neighbors.indices == np.arange(len(grid))[:, None])


def test_blocks_of_rows_do_not_change_the_neighbours(seed, monkeypatch):
    points = np.random.default_rng(seed).standard_normal((50, 6))
    whole = nearest_samples(points, 4)
    monkeypatch.setattr("latefusion.baselines.support.graphs.BLOCK_ENTRIES", 350)
    monkeypatch.setattr("latefusion.baselines.support.graphs.CACHED_ENTRIES", 20)
    pieces = nearest_samples(points, 4)
    np.testing.assert_array_equal(whole.indices, pieces.indices)
    np.testing.assert_array_equal(whole.squared_distances, pieces.squared_distances)


def test_too_few_samples_is_an_error_that_names_the_number():
    with pytest.raises(ValueError, match=r"at least 3 samples, got n_samples=2"):
        nearest_samples(np.eye(2), 1)


def test_more_neighbours_than_samples_are_cut_down():
    points = np.random.default_rng(0).standard_normal((10, 2))
    assert nearest_samples(points, 50).n_neighbors == 8


def test_adaptive_graph_stores_no_zeros_and_no_diagonal(seed):
    points = np.random.default_rng(seed).standard_normal((40, 5))
    graph = adaptive_neighbors(points, 6)
    assert scipy.sparse.issparse(graph)
    assert np.all(graph.data > 0)
    np.testing.assert_allclose(graph.sum(axis=1), 1.0)
    np.testing.assert_array_equal(graph.diagonal(), 0.0)
    assert np.max(np.diff(graph.indptr)) <= 6


def test_neighbours_are_doubled_until_there_are_few_components(seed):
    generator = np.random.default_rng(seed)
    points = np.concatenate([generator.standard_normal((20, 2)) + 100.0 * center for center in range(4)])
    assert connected_components(adaptive_neighbors(points, 5))[0] >= 4
    neighbors, graphs = reach_components([points, points[:, :1]], 5, 4)
    assert neighbors[0].n_neighbors == 5
    neighbors, graphs = reach_components([points, points[:, :1]], 5, 1)
    assert neighbors[0].n_neighbors > 5
    assert connected_components(mean_graph(graphs))[0] == 1


def test_neighbours_stop_growing_when_all_samples_are_neighbours():
    # Two heaps of identical samples never meet with fewer neighbours than a heap has members.
    points = np.repeat([[0.0], [1.0]], 6, axis=0)
    neighbors, _ = reach_components([points], 3, 1)
    assert neighbors[0].n_neighbors <= 10


def test_component_indicator_spans_the_null_space():
    graph = blocks(3, 5, 0)
    count, labels = connected_components(graph)
    indicator = component_indicator(labels, count)
    np.testing.assert_allclose(indicator.T @ indicator, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(dense_laplacian(graph) @ indicator, 0.0, atol=1e-12)


@pytest.mark.parametrize("bridge", [0.0, 1e-9, 1e-3, 1.0])
@pytest.mark.parametrize("n_vectors", [1, 3, 6])
def test_laplacian_eigenvectors_are_the_lowest(seed, bridge, n_vectors):
    graph = blocks(4, 10, seed, bridge)
    laplacian = dense_laplacian(graph)
    vectors = laplacian_eigenvectors(graph, n_vectors)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n_vectors), atol=1e-10)
    lowest = scipy.linalg.eigvalsh(laplacian)[:n_vectors]
    np.testing.assert_allclose(np.diag(vectors.T @ laplacian @ vectors), lowest, atol=1e-10)


@pytest.mark.parametrize("bridge", [0.0, 1e-12, 1e-6])
def test_lanczos_misses_no_copy_of_a_small_eigenvalue(bridge):
    generator = np.random.default_rng(0)
    points = generator.standard_normal((900, 6))
    heap = np.arange(900) % 5
    graph = adaptive_neighbors(points + 50.0 * generator.standard_normal((5, 6))[heap], 8).tolil()
    graph[0:4, 1:5] = graph[0:4, 1:5].toarray() + bridge * np.eye(4)
    graph = scipy.sparse.csr_array(graph)
    vectors = laplacian_eigenvectors(graph, 7)
    laplacian = dense_laplacian(graph)
    lowest = scipy.linalg.eigvalsh(laplacian, subset_by_index=[0, 6])
    np.testing.assert_allclose(np.diag(vectors.T @ laplacian @ vectors), lowest, atol=1e-11)


def test_laplacian_eigenvectors_allow_negative_weights(seed):
    graph = adaptive_neighbors(np.random.default_rng(seed).standard_normal((700, 3)), 8)
    graph.data[::7] *= -1.0
    vectors = laplacian_eigenvectors(graph, 4)
    laplacian = dense_laplacian(graph)
    lowest = scipy.linalg.eigvalsh(laplacian, subset_by_index=[0, 3])
    np.testing.assert_allclose(np.diag(vectors.T @ laplacian @ vectors), lowest, atol=1e-8)


def test_sums_of_graphs_are_sums_of_matrices(seed):
    generator = np.random.default_rng(seed)
    near = nearest_samples(generator.standard_normal((12, 2)), 3)
    graphs = [neighbor_graph(near, generator.random((12, 4))) for _ in range(3)]
    dense = np.stack([graph.toarray() for graph in graphs])
    np.testing.assert_allclose(mean_graph(graphs).toarray(), dense.mean(axis=0))
    coefficients = np.array([0.5, 2.0, -1.0])
    np.testing.assert_allclose(combine_graphs(graphs, coefficients).toarray(), np.tensordot(coefficients, dense, 1))
    np.testing.assert_allclose(symmetrize(graphs[0]).toarray(), (dense[0] + dense[0].T) / 2)


def test_a_sample_without_affinity_is_named_with_its_view():
    isolated = np.ones((4, 4))
    isolated[2, :] = isolated[:, 2] = 0.0
    with pytest.raises(ValueError, match=r"View 'colour': Sample 2 has degree 0"):
        normalized_affinities([np.ones((4, 4)), isolated], ["shape", "colour"])


def test_a_far_outlier_does_not_blur_the_others(seed):
    points = np.random.default_rng(seed).standard_normal((40, 3))
    near = nearest_samples(points, 5)
    with_outlier = nearest_samples(np.vstack([points, [[1e6, 0.0, 0.0]]]), 5)
    np.testing.assert_array_equal(with_outlier.indices[:40], near.indices)


def test_lapack_finds_as_many_vectors_as_asked_when_an_eigenvalue_repeats():
    matrix = np.diag(np.repeat([0.0, 1.0], [7, 5]))
    vectors = lowest_eigenvectors(matrix, 6)
    assert vectors.shape == (12, 6)
    np.testing.assert_allclose(vectors[7:], 0.0, atol=1e-12)


def test_neighbours_that_do_not_fit_are_refused(monkeypatch):
    view = np.random.default_rng(0).standard_normal((40, 3))
    monkeypatch.setattr(memory, "available_memory", lambda like=None: 40 * 11 * 16)
    nearest_samples(view, 10)
    with pytest.raises(MemoryError, match=r"the 12 nearest samples of each of 40.*smaller n_neighbors"):
        nearest_samples(view, 11)


def test_only_a_laplacian_that_becomes_dense_is_asked_for(monkeypatch):
    sparse = adaptive_neighbors(np.random.default_rng(0).standard_normal((64, 3)), 5)
    dense = scipy.sparse.csr_array(np.random.default_rng(0).random((64, 64)))
    monkeypatch.setattr(memory, "available_memory", lambda like=None: 3 * 64 * 64 * 8)
    laplacian_eigenvectors(dense, 4)
    monkeypatch.setattr(memory, "available_memory", lambda like=None: 3 * 64 * 64 * 8 - 1)
    laplacian_eigenvectors(sparse, 4)
    for graph, n_vectors in ((dense, 4), (sparse, 5)):
        with pytest.raises(MemoryError, match=r"Laplacian of a graph of 64 samples.* 64 x 64 .*fewer clusters"):
            laplacian_eigenvectors(graph, n_vectors)
