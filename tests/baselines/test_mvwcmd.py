from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from latefusion.baselines.mvwcmd import (
    WeightedDiscreteConsensus,
    _laplacian,
    cluster_centers,
    nearest_labels,
    power_steps,
    solve_mvwcmd,
)
from latefusion.baselines.support.graphs import adaptive_neighbors, laplacian_eigenvectors, mean_graph, symmetrize
from latefusion.datasets import make_views


def problem(seed, n_samples=60):
    data = make_views(n_samples, n_views=3, random_state=seed)
    graphs = [adaptive_neighbors(view, 8) for view in data.views.arrays]
    embedding = laplacian_eigenvectors(mean_graph(graphs), 3)
    labels = np.random.default_rng(seed).integers(0, 3, n_samples)
    labels[:3] = np.arange(3)
    return graphs, embedding, labels


@pytest.mark.parametrize("smoothness", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("discretization", [1e-3, 1.0, 1e3])
def test_objective_never_rises_and_matches_the_result(seed, smoothness, discretization):
    graphs, embedding, labels = problem(seed)
    result, graph = solve_mvwcmd(
        graphs, embedding, labels, smoothness=smoothness, discretization=discretization, max_iter=30, tol=0.0
    )
    objective = np.array(result.objective)
    assert np.all(np.diff(objective) <= 1e-9 * np.abs(objective[:-1]))
    np.testing.assert_allclose(result.consensus.T @ result.consensus, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(np.asarray(graph.sum(axis=1)).ravel(), 1.0)
    assert set(result.labels) == {0, 1, 2}
    weights = symmetrize(graph).toarray()
    laplacian = np.diag(weights.sum(axis=1)) - weights
    centers = cluster_centers(result.consensus, result.labels)
    recomputed = (
        sum(np.linalg.norm(graph.toarray() - given.toarray()) for given in graphs)
        + 2 * smoothness * np.trace(result.consensus.T @ laplacian @ result.consensus)
        + discretization * np.sum((result.consensus - centers[result.labels]) ** 2)
    )
    assert objective[-1] == pytest.approx(recomputed, rel=1e-10)


def test_power_steps_lower_their_block_and_stay_orthonormal(seed):
    graphs, embedding, labels = problem(seed)
    laplacian = _laplacian(graphs[0])
    generator = np.random.default_rng(seed)
    start = np.linalg.qr(generator.standard_normal(embedding.shape))[0]
    points = generator.standard_normal((3, 3))[labels]

    def cost(candidate):
        return 2 * 0.7 * np.trace(candidate.T @ (laplacian @ candidate)) + 0.4 * np.sum((candidate - points) ** 2)

    found = power_steps(laplacian, start, points, 0.7, 0.4)
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-10)
    assert cost(found) < cost(start)
    assert cost(power_steps(laplacian, found, points, 0.7, 0.4)) <= cost(found) + 1e-12


def test_centers_are_the_means(seed):
    generator = np.random.default_rng(seed)
    embedding, labels = generator.standard_normal((12, 3)), np.arange(12) % 3
    centers = cluster_centers(embedding, labels)
    for cluster in range(3):
        np.testing.assert_allclose(centers[cluster], embedding[labels == cluster].mean(axis=0))


def test_nearest_labels_never_empty_a_cluster_and_never_cost_more(seed):
    generator = np.random.default_rng(seed)
    for _ in range(100):
        embedding = generator.standard_normal((8, 4))
        labels = generator.permutation(np.arange(8) % 4)
        # Centres far away lose all their members at once.
        centers = generator.standard_normal((4, 4)) * generator.choice([1.0, 30.0], size=(4, 1))
        moved = nearest_labels(embedding, centers, labels)
        assert len(np.unique(moved)) == 4
        before = np.sum((embedding - centers[labels]) ** 2)
        assert np.sum((embedding - centers[moved]) ** 2) <= before + 1e-12


def test_planted_clusters_are_recovered_and_noise_weighs_least(seed):
    data = make_views(90, n_views=2, n_uninformative=1, random_state=seed)
    model = WeightedDiscreteConsensus(3, random_state=0).fit(data.views)
    assert adjusted_rand_score(model.labels_, data.target) > 0.9
    assert np.argmin(model.view_weights_) == 2
    assert model.view_weights_.sum() == pytest.approx(1.0)


def test_documentation_says_that_it_is_a_reconstruction():
    assert "RECONSTRUCTION" in WeightedDiscreteConsensus.__doc__
    assert "not compare" in " ".join(WeightedDiscreteConsensus.__doc__.split())
