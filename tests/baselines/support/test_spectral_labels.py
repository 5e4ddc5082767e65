"""Spectral embeddings, labels by rotation, and numbers of clusters by eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

from latefusion.baselines.support.spectral_labels import (
    label_embedding,
    rank_cluster_numbers,
    rotation_labels,
    spectral_embedding,
)


def blocks(seed, n_groups=4, size=15, between=0.02):
    generator = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), size)
    weights = np.where(group[:, None] == group, 1.0, between) * generator.random((len(group), len(group)))
    return weights + weights.T, group


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_array])
def test_embedding_solves_the_eigenproblem_of_the_normalised_laplacian(seed, container):
    graph, _ = blocks(seed)
    values, vectors = spectral_embedding(container(graph), 5)
    degrees = graph.sum(axis=1)
    laplacian = np.eye(60) - graph / np.sqrt(np.outer(degrees, degrees))
    np.testing.assert_allclose(laplacian @ vectors, vectors * values, atol=1e-9)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-10)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(laplacian)[:5], atol=1e-9)


def test_a_sparse_graph_with_components_has_as_many_zero_eigenvalues(seed):
    graph, group = blocks(seed, between=0.0)
    values, vectors = spectral_embedding(scipy.sparse.csr_array(graph), 5)
    np.testing.assert_allclose(values[:4], 0.0, atol=1e-9)
    assert values[4] > 0.1
    assert adjusted_rand_score(rotation_labels(vectors[:, :4]), group) == 1.0


@pytest.mark.parametrize("rule", ["rotation", "kmeans", "published"])
def test_every_rule_finds_clear_clusters(seed, rule):
    graph, group = blocks(seed)
    embedding = spectral_embedding(graph, 4)[1]
    labels = label_embedding(embedding, 4, rule, n_init=3, random_state=0)
    assert adjusted_rand_score(labels, group) == 1.0


def test_rotation_does_not_depend_on_the_basis_of_the_embedding(seed):
    graph, _ = blocks(seed, between=0.4)
    embedding = spectral_embedding(graph, 4)[1]
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((4, 4)))[0]
    assert adjusted_rand_score(rotation_labels(embedding), rotation_labels(embedding @ turn)) == 1.0


def test_rotation_ends_where_labels_and_rotation_fit_each_other(seed):
    graph, _ = blocks(seed, between=0.3)
    embedding = spectral_embedding(graph, 4)[1]
    rows = embedding / np.linalg.norm(embedding, axis=1, keepdims=True)
    labels = rotation_labels(embedding)
    left, _, right = np.linalg.svd(np.eye(4)[labels].T @ rows)
    np.testing.assert_array_equal(np.argmax(rows @ (left @ right).T, axis=1), labels)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_array])
def test_the_number_of_planted_clusters_comes_first(seed, weighted, container):
    graph, _ = blocks(seed)
    before = graph.copy()
    ranked = rank_cluster_numbers(container(graph), range(2, 10), weighted=weighted)
    assert ranked[0] == 4
    assert sorted(ranked) == list(range(2, 10))
    np.testing.assert_array_equal(graph, before)


def test_the_diagonal_does_not_count_for_the_number_of_clusters(seed):
    graph, _ = blocks(seed, between=0.2)
    heavy = graph + np.diag(np.random.default_rng(seed).random(60) * 100)
    assert rank_cluster_numbers(heavy, range(2, 9), weighted=False) == rank_cluster_numbers(
        graph, range(2, 9), weighted=False
    )


@pytest.mark.parametrize("candidates", [[0, 2], [2, 60]])
def test_candidates_are_checked(candidates):
    with pytest.raises(ValueError, match=rf"candidates must be .* from 1 to n_samples - 1 = 59; got \{candidates}"):
        rank_cluster_numbers(blocks(0)[0], candidates, weighted=False)
