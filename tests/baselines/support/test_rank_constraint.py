from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from latefusion.arrays import memory
from latefusion.baselines.support.graphs import adaptive_neighbors, laplacian_eigenvectors, symmetrize
from latefusion.baselines.support.rank_constraint import (
    constrain_components,
    edge_distances,
    graph_distances,
    penalized_rows,
    self_weights,
    steer_penalty,
    with_values,
)
from latefusion.baselines.support.simplex import project_rows_to_simplex
from latefusion.similarities.adaptive import connected_components


def three_heaps(seed, spread=1.0):
    generator = np.random.default_rng(seed)
    centers = 6.0 * np.eye(3)
    heap = np.arange(90) % 3
    return symmetrize(adaptive_neighbors(centers[heap] + spread * generator.standard_normal((90, 3)), 12)), heap


def test_rows_are_projections_on_the_stored_entries(seed):
    generator = np.random.default_rng(seed)
    target = scipy.sparse.random_array((15, 15), density=0.4, rng=generator, format="csr")
    embedding = generator.standard_normal((15, 3))
    rows = penalized_rows(target, embedding, 0.3, scale=2.0)
    for sample in range(15):
        entries = slice(target.indptr[sample], target.indptr[sample + 1])
        columns = target.indices[entries]
        if not len(columns):
            continue
        d = ((embedding[sample] - embedding[columns]) ** 2).sum(axis=1)
        expected = project_rows_to_simplex(((target.data[entries] - 0.3 * d) / 2.0)[None])[0]
        np.testing.assert_allclose(rows.data[entries], expected, atol=1e-14)


def test_rows_minimise_the_penalised_distance(seed):
    generator = np.random.default_rng(seed)
    target, _ = three_heaps(seed)
    embedding = laplacian_eigenvectors(target, 3)
    penalty = 0.7
    distances = edge_distances(target, embedding)
    rows = penalized_rows(target, embedding, 0.5 * penalty)

    # ‖S - A‖² + 2λ Tr(FᵀLF), where 2 Tr(FᵀLF) = Σ_ij d_ij s_ij
    def cost(values):
        return ((values - target.data) ** 2).sum() + penalty * (distances * values).sum()

    laplacian_term = np.diag(np.asarray(symmetrize(rows).sum(axis=1)).ravel()) - symmetrize(rows).toarray()
    assert 2 * np.trace(embedding.T @ laplacian_term @ embedding) == pytest.approx((distances * rows.data).sum())
    for _ in range(30):
        other = np.maximum(rows.data + 0.02 * generator.standard_normal(rows.nnz), 0.0)
        sums = np.add.reduceat(other, rows.indptr[:-1])
        assert cost(other / np.repeat(sums, np.diff(rows.indptr))) >= cost(rows.data) - 1e-12


def test_an_empty_row_stays_empty():
    target = scipy.sparse.csr_array(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.5, 0.5, 0.0]]))
    rows = penalized_rows(target, np.zeros((3, 1)), 1.0)
    np.testing.assert_array_equal(rows.toarray(), target.toarray())


def test_a_graph_without_edges_stays_without():
    bare = penalized_rows(scipy.sparse.csr_array((4, 4)), np.ones((4, 2)), 0.5)
    assert bare.nnz == 0
    assert bare.shape == (4, 4)


def test_edge_distances_do_not_depend_on_the_block_size(seed, monkeypatch):
    graph, _ = three_heaps(seed)
    embedding = np.random.default_rng(seed).standard_normal((90, 4))
    whole = edge_distances(graph, embedding)
    monkeypatch.setattr("latefusion.baselines.support.rank_constraint.CACHED_ENTRIES", 7)
    np.testing.assert_array_equal(edge_distances(graph, embedding), whole)
    every_pair = edge_distances(scipy.sparse.csr_array(np.ones((90, 90))), embedding).reshape(90, 90)
    ends = graph.tocoo()
    np.testing.assert_allclose(whole, every_pair[ends.row, ends.col])
    np.testing.assert_allclose(whole, ((embedding[ends.row] - embedding[ends.col]) ** 2).sum(axis=1))


def test_planted_components_are_found_and_stay_near_the_target(seed):
    target, heap = three_heaps(seed, spread=1.6)
    assert connected_components(target)[0] < 3
    state = constrain_components(target, laplacian_eigenvectors(target, 3))
    assert state.n_components == 3
    np.testing.assert_allclose(np.asarray(state.graph.sum(axis=1)).ravel(), 1.0, atol=1e-12)
    assert state.graph.data.min() >= 0
    # The embedding is constant on components and different between them.
    assert len(np.unique(state.embedding.round(12), axis=0)) == 3
    agreement = np.mean((heap[:, None] == heap) == (state.labels[:, None] == state.labels))
    assert agreement > 0.95


def test_penalty_doubles_halves_and_rests():
    graph = scipy.sparse.csr_array(scipy.sparse.block_diag([np.ones((3, 3))] * 4))
    for n_clusters, expected in ((6, 2.0), (4, 1.0), (2, 0.5)):
        embedding = np.eye(12)[:, :n_clusters]
        state, penalty = steer_penalty(graph, embedding, 1.0)
        assert penalty == expected
        assert state.n_components == 4
        # With too many components the lowest eigenvectors are a matter of chance: the embedding is kept.
        assert (state.embedding is embedding) == (n_clusters == 2)


def test_failure_is_reported_not_hidden():
    # A complete graph without diagonal cannot fall into as many parts as it has samples.
    target = scipy.sparse.csr_array(np.ones((6, 6)) - np.eye(6))
    state = constrain_components(target, laplacian_eigenvectors(target, 6), max_iter=5)
    assert state.n_components != 6
    assert state.embedding.shape == (6, 6)


def test_other_values_share_the_places():
    graph = scipy.sparse.csr_array(np.array([[0.0, 2.0], [3.0, 0.0]]))
    changed = with_values(graph, np.array([0.0, 5.0]))
    np.testing.assert_array_equal(changed.toarray(), [[0.0, 0.0], [5.0, 0.0]])
    assert changed.nnz == 2
    np.testing.assert_array_equal(graph.data, [2.0, 3.0])


def test_self_weights_are_the_slopes_of_unsquared_norms(seed):
    generator = np.random.default_rng(seed)
    graph = scipy.sparse.csr_array(generator.random((5, 5)))
    others = [scipy.sparse.csr_array(generator.random((5, 5))) for _ in range(3)]
    distances = graph_distances(graph, others)
    np.testing.assert_allclose(distances, [np.linalg.norm((graph - other).toarray()) for other in others])
    np.testing.assert_allclose(2 * self_weights(distances) * distances, 1.0)
    assert np.all(np.isfinite(self_weights(np.zeros(2))))


def test_distances_of_all_pairs_are_asked_for_before_they_are_taken(monkeypatch, seed):
    generator = np.random.default_rng(seed)
    thin = scipy.sparse.random_array((20, 20), density=0.4, rng=generator, format="csr")
    thick = scipy.sparse.random_array((20, 20), density=0.6, rng=generator, format="csr")
    embedding = generator.standard_normal((20, 3))
    size = (20 * 20 + 2 * thick.nnz) * 8
    monkeypatch.setattr(memory, "available_memory", lambda like=None: size)
    edge_distances(thick, embedding)
    monkeypatch.setattr(memory, "available_memory", lambda like=None: size - 1)
    edge_distances(thin, embedding)
    with pytest.raises(MemoryError, match=r"joins most of 20 samples, 20 x 20 distances"):
        edge_distances(thick, embedding)
