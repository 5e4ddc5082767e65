from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from latefusion.baselines.support.graphs import adaptive_neighbors, neighbor_graph, symmetrize
from latefusion.baselines.swmc import SelfWeightedGraph, solve_swmc
from latefusion.datasets import make_views
from latefusion.similarities.adaptive import Neighbors, adaptive_weights, connected_components, without_zeros


def published_neighbors(points, n_neighbors):
    """The authors skip the first of the sorted samples, which with duplicates need not be the sample itself."""
    distances = cdist(points, points, "sqeuclidean")
    np.fill_diagonal(distances, 0.0)
    order = np.argsort(distances, axis=1, kind="stable")[:, 1 : n_neighbors + 2]
    return Neighbors(order, np.take_along_axis(distances, order, axis=1))


def golden_graphs(problem):
    graphs = []
    for view in range(len(problem["sigma"])):
        near = published_neighbors(problem[f"X{view + 1}"], 10)
        graphs.append(symmetrize(without_zeros(neighbor_graph(near, adaptive_weights(near)))))
    return graphs


@pytest.mark.parametrize("name", ["synth", "digits"])
def test_golden(golden, name):
    problem, expected = golden(f"problem_{name}"), golden(f"swmc_{name}")
    result, state = solve_swmc(golden_graphs(problem), int(problem["k"]))
    np.testing.assert_allclose(state.graph.toarray(), expected["S"], atol=1e-8)
    np.testing.assert_allclose(result.weights, expected["alpha"], atol=1e-8)
    np.testing.assert_allclose(result.objective, expected["obj"], rtol=1e-10)
    assert result.converged
    assert state.n_components == int(expected["ncomp"])
    assert adjusted_rand_score(result.labels, expected["labels"]) == 1.0


def test_golden_labels_from_features(golden):
    problem, expected = golden("problem_synth"), golden("swmc_synth")
    model = SelfWeightedGraph(3, n_neighbors=10).fit([problem[f"X{view}"] for view in (1, 2, 3)])
    assert adjusted_rand_score(model.labels_, expected["labels"]) == 1.0
    np.testing.assert_allclose(model.view_weights_, expected["alpha"] / expected["alpha"].sum(), atol=1e-8)


def test_labels_are_the_components_of_a_graph_with_rows_on_the_simplex(seed):
    data = make_views(90, n_views=2, n_uninformative=1, random_state=seed)
    model = SelfWeightedGraph(3).fit(data.views)
    assert model.n_components_ == 3
    np.testing.assert_array_equal(connected_components(model.graph_)[1], model.labels_)
    np.testing.assert_allclose(np.asarray(model.graph_.sum(axis=1)).ravel(), 1.0)
    assert model.graph_.data.min() > 0
    assert adjusted_rand_score(model.labels_, data.target) > 0.9


def test_weights_are_inverse_distances_and_noise_weighs_least(seed):
    data = make_views(90, n_views=2, n_uninformative=1, random_state=seed)
    model = SelfWeightedGraph(3).fit(data.views)
    graphs = [symmetrize(adaptive_neighbors(view, 10)).toarray() for view in data.views.arrays]
    inverse = np.array([1.0 / np.linalg.norm(model.graph_.toarray() - graph) for graph in graphs])
    np.testing.assert_allclose(model.view_weights_, inverse / inverse.sum(), rtol=1e-10)
    assert np.argmin(model.view_weights_) == 2


def test_a_single_view_that_already_has_its_components_is_left_alone(seed):
    generator = np.random.default_rng(seed)
    points = np.concatenate([generator.standard_normal((15, 2)) + 50.0 * center for center in range(3)])
    model = SelfWeightedGraph(3, n_neighbors=4).fit([points])
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1, 2], 15))


def test_unreached_components_warn_and_still_give_all_clusters(seed):
    data = make_views(30, n_views=2, random_state=seed)
    # A graph without self-loops has at most n / 2 components.
    with pytest.warns(ConvergenceWarning, match=r"instead of n_clusters=20"):
        model = SelfWeightedGraph(20, max_iter=3, tol=1e9, random_state=0).fit(data.views)
    assert model.n_components_ != 20
    assert len(np.unique(model.labels_)) == 20


def test_more_components_than_clusters_raise_the_neighbours(seed):
    generator = np.random.default_rng(seed)
    points = np.concatenate([generator.standard_normal((15, 2)) + 50.0 * center for center in range(4)])
    model = SelfWeightedGraph(1, n_neighbors=3).fit([points, points[:, ::-1]])
    assert model.n_neighbors_ > 3
    assert np.all(model.labels_ == 0)
