"""Bipartite graphs with k components: projections, singular vectors, penalties, and the search for λ."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse

from latefusion.baselines.support import bipartite
from latefusion.baselines.support.bipartite import (
    ColumnOrder,
    Sides,
    edge_penalties,
    has_components,
    leading_vectors,
    project_both_ways,
    project_segments,
    read_parts,
    sample_components,
    split_graph,
    stack_values,
)
from latefusion.baselines.support.simplex import project_rows_to_simplex


def random_graph(seed, n_samples=40, n_anchors=12, density=0.4):
    generator = np.random.default_rng(seed)
    weights = generator.random((n_samples, n_anchors)) * (generator.random((n_samples, n_anchors)) < density)
    weights[:, 0] += 0.1
    return scipy.sparse.csr_array(weights / weights.sum(axis=1, keepdims=True))


def loose_groups(seed, n_groups=3, between=0.15):
    """A graph whose groups of samples and anchors have weak edges to each other."""
    generator = np.random.default_rng(seed)
    sample, anchor = np.arange(60) % n_groups, np.arange(12) % n_groups
    weights = np.where(sample[:, None] == anchor, 1.0, between) * generator.random((60, 12))
    return scipy.sparse.csr_array(weights / weights.sum(axis=1, keepdims=True)), sample


def test_segments_are_projected_like_rows(seed):
    generator = np.random.default_rng(seed)
    lengths = np.array([5, 0, 1, 30, 0, 2, 7])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    values = generator.standard_normal(lengths.sum()) * np.repeat([1, 1, 100, 0.01, 1, 1e6, 1], lengths) + 3.0
    found = project_segments(values, indptr)
    for start, stop in itertools.pairwise(indptr):
        if stop > start:
            expected = project_rows_to_simplex(values[start:stop][None])[0]
            np.testing.assert_allclose(found[start:stop], expected, atol=1e-12)
    assert project_segments(np.zeros(0), np.zeros(4, dtype=int)).shape == (0,)


def test_equal_entries_share_a_segment():
    np.testing.assert_allclose(project_segments(np.full(7, -3.0), np.array([0, 3, 7])), [1 / 3] * 3 + [1 / 4] * 4)


def test_both_ways_is_the_mean_of_rows_and_columns(seed):
    graph = random_graph(seed)
    values = np.random.default_rng(seed).standard_normal(graph.nnz)
    found = project_both_ways(values, graph.indptr, ColumnOrder.of(graph))
    dense = np.full(graph.shape, -np.inf)
    dense[graph.nonzero()] = values

    def rows_of(matrix):
        lowest = np.where(np.isfinite(matrix), matrix, matrix.max(axis=1, keepdims=True) - 2.0)
        return project_rows_to_simplex(lowest)

    expected = 0.5 * (rows_of(dense) + rows_of(dense.T).T)
    np.testing.assert_allclose(found, expected[graph.nonzero()], atol=1e-12)


@pytest.mark.parametrize("dense_rows", [0.0, 1.0])
def test_vectors_are_singular_vectors(seed, monkeypatch, dense_rows):
    monkeypatch.setattr(bipartite, "DENSE_ROWS", dense_rows)
    monkeypatch.setattr(bipartite, "BLOCK_ENTRIES", 50)
    graph = random_graph(seed)
    sides = leading_vectors(graph, 4)
    dense = graph.toarray()
    normalized = dense / np.sqrt(np.outer(dense.sum(axis=1), dense.sum(axis=0)))
    left, values, right = np.linalg.svd(normalized, full_matrices=False)
    np.testing.assert_allclose(sides.values, values[:5] ** 2, atol=1e-12)
    for own, reference in ((sides.samples, left[:, :4]), (sides.anchors, right[:4].T)):
        np.testing.assert_allclose(2 * own @ own.T, reference @ reference.T, atol=1e-9)
    np.testing.assert_allclose(2 * sides.samples.T @ normalized @ sides.anchors, np.diag(values[:4]), atol=1e-9)


def test_many_anchors_are_decomposed_by_component(seed, monkeypatch):
    graph = scipy.sparse.block_diag([random_graph(seed + part) for part in range(4)], format="csr")
    whole = leading_vectors(graph, 6)
    monkeypatch.setattr(bipartite, "DENSE_PRODUCTS", 0)
    for dense_rows in (0.0, 1.0):
        monkeypatch.setattr(bipartite, "DENSE_ROWS", dense_rows)
        found = leading_vectors(graph, 6)
        np.testing.assert_allclose(found.values, whole.values, atol=1e-10)
        np.testing.assert_allclose(found.samples @ found.samples.T, whole.samples @ whole.samples.T, atol=1e-8)


def test_there_are_as_many_unit_values_as_components(seed):
    graph = scipy.sparse.block_diag([random_graph(seed + part) for part in range(3)], format="csr")
    sides = leading_vectors(graph, 3)
    np.testing.assert_allclose(sides.values[:3], 1.0, atol=1e-12)
    assert sides.values[3] < 0.99
    assert has_components(sides)
    assert not has_components(leading_vectors(graph, 4))
    # On components both ends of an edge have the same scaled vector.
    np.testing.assert_allclose(edge_penalties(graph, sides), 0.0, atol=1e-12)


def test_empty_rows_and_columns_have_no_vectors_and_no_penalty():
    dense = random_graph(0).toarray()
    dense[3], dense[:, 5] = 0.0, 0.0
    sides = leading_vectors(scipy.sparse.csr_array(dense), 3)
    assert not sides.samples[3].any()
    assert sides.sample_scales[3] == sides.anchor_scales[5] == 0.0
    assert np.isfinite(sides.anchors).all()
    penalties = edge_penalties(scipy.sparse.csr_array(np.ones(dense.shape)), sides).reshape(dense.shape)
    assert not penalties[3].any()
    assert not penalties[:, 5].any()
    assert np.count_nonzero(penalties) == 39 * 11


def test_penalties_are_squared_differences(seed, monkeypatch):
    monkeypatch.setattr(bipartite, "CACHED_ENTRIES", 30)
    generator = np.random.default_rng(seed)
    graph = random_graph(seed)
    sides = Sides(
        generator.standard_normal((40, 3)),
        generator.standard_normal((12, 3)),
        generator.random(40) + 0.1,
        generator.random(12) + 0.1,
        np.ones(4),
    )
    rows, columns = graph.nonzero()
    left, right = sides.samples * sides.sample_scales[:, None], sides.anchors * sides.anchor_scales[:, None]
    np.testing.assert_allclose(edge_penalties(graph, sides), ((left[rows] - right[columns]) ** 2).sum(axis=1))


def test_the_penalty_is_the_sum_of_missing_singular_values(seed):
    graph = random_graph(seed)
    sides = leading_vectors(graph, 3)
    # Σ P_ij t_ij = Tr UᵀU + Tr VᵀV - 2 Tr UᵀP̂V, and U, V are singular vectors divided by √2
    total = float((graph.data * edge_penalties(graph, sides)).sum())
    assert total == pytest.approx(3 - np.sqrt(sides.values[:3]).sum())


@pytest.mark.parametrize("restore", [False, True])
@pytest.mark.parametrize("with_start", [False, True])
def test_groups_are_separated(seed, restore, with_start):
    graph, group = loose_groups(seed)
    start = leading_vectors(graph, 3) if with_start else None
    found = split_graph(graph, 3, start, restore=restore)
    n_components, labels = sample_components(found.graph)
    assert n_components == 3
    assert len(set(zip(labels, group, strict=True))) == 3
    sums = np.asarray(found.graph.sum(axis=1)).ravel()
    assert sums.min() >= 0.5 - 1e-12
    assert sums.max() <= 1.0 + 1e-12
    assert found.graph.data.min() >= 0.0
    np.testing.assert_allclose(found.sides.values[:3], 1.0, atol=1e-7)
    # The graph may only lose edges.
    assert not np.any((found.graph.toarray() > 0) & (graph.toarray() == 0))


def test_the_first_step_without_vectors_has_no_penalty(seed):
    graph, _ = loose_groups(seed)
    once = split_graph(graph, 3, max_iter=1)
    expected = project_both_ways(graph.data, graph.indptr, ColumnOrder.of(graph))
    np.testing.assert_allclose(once.graph.data, expected, atol=1e-15)
    scaled = split_graph(scipy.sparse.csr_array(2.5 * graph), 3, scale=2.5, max_iter=1)
    np.testing.assert_allclose(scaled.graph.data, expected, atol=1e-12)
    assert once.n_steps == 1


def test_the_penalty_doubles_while_components_are_missing(seed):
    graph = random_graph(seed, density=1.0)
    found = split_graph(graph, 3, leading_vectors(graph, 3), max_iter=4)
    assert found.n_steps == 4
    assert found.penalty == pytest.approx(0.1 * 2**3)


def test_the_penalty_is_halved_where_a_graph_has_too_many_components(seed):
    graph = scipy.sparse.block_diag([random_graph(seed + part) for part in range(4)], format="csr")
    start = leading_vectors(graph, 2)
    kept = split_graph(graph, 2, start, restore=True, max_iter=3)
    assert kept.penalty == pytest.approx(0.1 / 2**2)
    np.testing.assert_array_equal(kept.sides.samples, start.samples)
    lost = split_graph(graph, 2, start, restore=False, max_iter=3)
    assert np.abs(lost.sides.samples - start.samples).max() > 1e-6


def test_components_count_only_where_there_are_samples():
    graph = scipy.sparse.csr_array(np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    n_components, labels = sample_components(graph)
    assert n_components == 3
    assert labels.tolist() == [0, 0, 1, 2]


def test_parts_of_a_graph_are_labels_or_an_embedding_of_the_target(seed):
    target, group = loose_groups(seed)
    found = split_graph(target, 3)
    parts = read_parts(found.graph, target, 3)
    assert parts.n_components == 3
    assert len(set(zip(parts.labels, group, strict=True))) == 3
    np.testing.assert_allclose(parts.embedding.T @ parts.embedding, np.eye(3), atol=1e-8)
    missed = read_parts(target, target, 3)
    assert (missed.n_components, missed.labels) == (1, None)
    reference = leading_vectors(target, 3).samples
    np.testing.assert_allclose(missed.embedding, np.sqrt(2) * reference)


def test_graphs_on_their_common_edges(seed):
    graphs = [random_graph(seed + part, density=0.2) for part in range(3)]
    graphs[1] = scipy.sparse.csr_array(graphs[1], copy=True)
    graphs[1].data[::3] = 0.0
    before = [graph.copy() for graph in graphs]
    union, values = stack_values(graphs)
    np.testing.assert_allclose(union.toarray(), sum(graph.toarray() for graph in graphs))
    for column, graph in zip(values.T, graphs, strict=True):
        rebuilt = scipy.sparse.csr_array((column, union.indices, union.indptr), shape=union.shape)
        np.testing.assert_array_equal(rebuilt.toarray(), graph.toarray())
    for graph, old in zip(graphs, before, strict=True):
        np.testing.assert_array_equal(graph.indices, old.indices)
    assert stack_values(graphs[1:2])[0].nnz == np.count_nonzero(graphs[1].data)
    assert graphs[1].nnz == before[1].nnz
