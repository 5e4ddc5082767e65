"""Spectral embedding of the samples in a bipartite graph."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse

from latefusion.baselines.support.bipartite_cut import membership_graph, transfer_cut


def graph(seed, n_samples=30, n_columns=8):
    generator = np.random.default_rng(seed)
    weights = generator.random((n_samples, n_columns)) * (generator.random((n_samples, n_columns)) < 0.5)
    weights[:, 0] += 0.1
    return weights


def test_embedding_solves_the_eigenproblem_of_the_whole_graph(seed):
    """The singular vectors of the normalised weights on the side of the samples, divided by the roots of degrees."""
    weights = graph(seed)
    rows, columns = weights.sum(axis=1), weights.sum(axis=0)
    normalized = weights / np.sqrt(rows)[:, None] / np.sqrt(columns)
    left, values, _ = np.linalg.svd(normalized, full_matrices=False)
    # E = D_x^{-1/2} (D_x^{-1/2} B D_y^{-1/2} V), whose columns have the singular values as lengths.
    expected = left[:, :3] * values[:3] / np.sqrt(rows)[:, None]
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    cut = transfer_cut(scipy.sparse.csr_array(weights), 3)
    np.testing.assert_allclose(cut.embedding @ cut.embedding.T, expected @ expected.T, atol=1e-10)
    np.testing.assert_allclose(cut.eigenvalues, values[:3] ** 2, atol=1e-10)
    laplacian = np.block([[np.diag(rows), -weights], [-weights.T, np.diag(columns)]])
    lowest = scipy.linalg.eigh(laplacian, np.diag(np.concatenate([rows, columns])), eigvals_only=True)[:3]
    np.testing.assert_allclose(1 - np.sqrt(cut.eigenvalues), lowest, atol=1e-10)


def test_components_are_eigenvalues_of_one_and_constant_rows(seed):
    blocks = [graph(seed + part, 12, 4) for part in range(3)]
    cut = transfer_cut(scipy.sparse.csr_array(scipy.linalg.block_diag(*blocks)), 3)
    np.testing.assert_allclose(cut.eigenvalues, 1.0, atol=1e-12)
    assert cut.n_parts == 3
    np.testing.assert_array_equal(cut.parts, np.repeat(np.arange(3), 12))
    same = np.kron(np.eye(3), np.ones((12, 12)))
    np.testing.assert_allclose(cut.embedding @ cut.embedding.T, same, atol=1e-10)


def test_more_parts_than_components_leave_the_smaller_ones_out(seed):
    blocks = [graph(seed + part, size, 3) for part, size in enumerate((5, 12, 9))]
    cut = transfer_cut(scipy.sparse.csr_array(scipy.linalg.block_diag(*blocks)), 2)
    assert cut.n_parts == 3
    np.testing.assert_array_equal(cut.parts, np.repeat([0, 1, 2], [5, 12, 9]))
    np.testing.assert_array_equal(cut.embedding, np.repeat([[0, 0], [1, 0], [0, 1]], [5, 12, 9], axis=0))
    np.testing.assert_array_equal(cut.eigenvalues, 1.0)


def test_unused_columns_and_the_scale_of_all_weights_have_no_effect(seed):
    weights = graph(seed)
    reference = transfer_cut(scipy.sparse.csr_array(weights), 3)
    wider = np.insert(7.0 * weights, 4, 0.0, axis=1)
    cut = transfer_cut(scipy.sparse.csr_array(wider), 3)
    np.testing.assert_allclose(cut.embedding @ cut.embedding.T, reference.embedding @ reference.embedding.T, atol=1e-10)
    np.testing.assert_allclose(cut.eigenvalues, reference.eigenvalues, atol=1e-12)


def test_more_components_than_columns_are_zero(seed):
    cut = transfer_cut(scipy.sparse.csr_array(graph(seed, n_columns=2)), 4)
    assert cut.embedding.shape == (30, 4)
    np.testing.assert_array_equal(cut.embedding[:, 2:], 0.0)
    np.testing.assert_array_equal(cut.eigenvalues[2:], 0.0)
    np.testing.assert_allclose(np.linalg.norm(cut.embedding, axis=1), 1.0)


@pytest.mark.filterwarnings("error")
def test_many_columns_are_solved_sparse(seed):
    n_clusterings, size = 30, 60
    labelings = np.random.default_rng(seed).integers(0, size, (1500, n_clusterings))
    labelings[:, :3] = np.arange(1500)[:, None] % 4
    cut = transfer_cut(membership_graph(labelings), 4)
    dense = membership_graph(labelings).toarray()
    within = dense.T @ dense / n_clusterings
    scale = 1 / np.sqrt(dense.sum(axis=0) + (dense.sum(axis=0) == 0))
    expected = np.linalg.eigvalsh(scale[:, None] * within * scale)[::-1][:4]
    np.testing.assert_allclose(cut.eigenvalues, expected, atol=1e-10)


def test_membership_graph_has_one_edge_per_clustering():
    labelings = np.array([[0, 2], [1, 0], [0, 2]])
    expected = [[1, 0, 0, 0, 1], [0, 1, 1, 0, 0], [1, 0, 0, 0, 1]]
    np.testing.assert_array_equal(membership_graph(labelings).toarray(), expected)
