from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from latefusion.arrays import memory
from latefusion.baselines.mvgl import (
    GraphLearning,
    _column_sums,
    _full_pattern,
    _on_pattern,
    _pattern,
    combination_weights,
    learn_view_graph,
    solve_mvgl,
)
from latefusion.baselines.support.graphs import nearest_samples
from latefusion.datasets import make_views
from latefusion.similarities.adaptive import Neighbors, connected_components


def published_neighbors(points, n_neighbors):
    """The authors skip the first of the sorted samples, which with duplicates need not be the sample itself."""
    distances = cdist(points, points, "sqeuclidean")
    np.fill_diagonal(distances, 0.0)
    order = np.argsort(distances, axis=1, kind="stable")[:, 1 : n_neighbors + 2]
    return Neighbors(order, np.take_along_axis(distances, order, axis=1))


def golden_neighbors(problem):
    return [published_neighbors(problem[f"X{view + 1}"], 15) for view in range(len(problem["sigma"]))]


@pytest.mark.parametrize("local", [1, 0])
@pytest.mark.parametrize("name", ["synth", "digits"])
def test_golden(golden, name, local):
    problem, expected = golden(f"problem_{name}"), golden(f"mvgl_{name}")
    result, state, sample_weights = solve_mvgl(golden_neighbors(problem), int(problem["k"]), local=bool(local))
    prefix = f"local{local}_"
    np.testing.assert_allclose(state.graph.toarray(), expected[prefix + "A"], atol=1e-8)
    np.testing.assert_allclose(sample_weights.T, expected[prefix + "alpha"], atol=1e-8)
    np.testing.assert_allclose(result.objective, expected[prefix + "obj"], rtol=1e-8)
    assert state.n_components == int(expected[prefix + "ncomp"])
    assert adjusted_rand_score(result.labels, expected[prefix + "labels"]) == 1.0


@pytest.mark.parametrize("local", [1, 0])
@pytest.mark.parametrize("name", ["synth", "digits"])
def test_golden_view_graphs(golden, name, local):
    problem, expected = golden(f"problem_{name}"), golden(f"mvgl_{name}")
    k = int(problem["k"])
    graphs = [learn_view_graph(near, k, local=bool(local)) for near in golden_neighbors(problem)]
    np.testing.assert_array_equal([graph.nnz for graph in graphs], expected[f"local{local}_Sv_nnz"])
    if f"local{local}_Sv" in expected:
        np.testing.assert_allclose([graph.toarray() for graph in graphs], expected[f"local{local}_Sv"], atol=1e-8)


def test_view_graphs_have_as_many_components_as_asked(seed):
    data = make_views(90, n_views=1, random_state=seed)
    graph = learn_view_graph(nearest_samples(data.views.arrays[0], 10), 3)
    assert connected_components(graph)[0] == 3
    assert abs(graph - graph.T).max() == 0


def test_labels_are_the_components_of_the_graph(seed):
    data = make_views(90, n_views=2, n_uninformative=1, random_state=seed)
    model = GraphLearning(3).fit(data.views)
    assert model.n_components_ == 3
    np.testing.assert_array_equal(connected_components(model.graph_)[1], model.labels_)
    np.testing.assert_allclose(np.asarray(model.graph_.sum(axis=1)).ravel(), 1.0)
    np.testing.assert_allclose(model.sample_weights_.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.view_weights_, model.sample_weights_.mean(axis=0))
    assert adjusted_rand_score(model.labels_, data.target) > 0.9


def test_combination_weights_are_the_best_that_sum_to_one(seed):
    generator = np.random.default_rng(seed)
    pattern = _full_pattern(7)
    values, views = generator.random(49), generator.random((49, 3))
    weights = combination_weights(values, views, _column_sums(pattern))
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    columns = views.reshape(7, 7, 3)

    def cost(candidate):
        return ((values.reshape(7, 7) - np.einsum("ijv,jv->ij", columns, candidate)) ** 2).sum(axis=0)

    for _ in range(50):
        step = generator.standard_normal((7, 3))
        step -= step.mean(axis=1, keepdims=True)
        assert np.all(cost(weights + 0.1 * step) >= cost(weights))


def test_twin_views_share_their_weight_and_a_perfect_fit_is_no_trouble(seed):
    generator = np.random.default_rng(seed)
    columns = _column_sums(_full_pattern(6))
    values, first, second = generator.random((3, 36))
    weights = combination_weights(values, np.column_stack([first, second, second]), columns)
    alone = combination_weights(values, np.column_stack([first, second]), columns)
    np.testing.assert_allclose(weights[:, 1], weights[:, 2], atol=1e-8)
    np.testing.assert_allclose(weights[:, 0], alone[:, 0], atol=1e-8)
    exact = combination_weights(values, np.column_stack([values, second]), columns)
    np.testing.assert_allclose(exact, np.tile([1.0, 0.0], (6, 1)), atol=1e-6)
    np.testing.assert_allclose(combination_weights(values, np.column_stack([values] * 3), columns), 1 / 3)


def test_pattern_holds_the_edges_of_all_views(seed):
    generator = np.random.default_rng(seed)
    graphs = [scipy.sparse.random_array((9, 9), density=0.3, rng=generator, format="csr") for _ in range(2)]
    graphs[1] = graphs[1] - graphs[0]
    pattern = _pattern(graphs, local=True)
    assert np.all(pattern.data == 0)
    for graph in graphs:
        values = _on_pattern(graph, pattern)
        rebuilt = scipy.sparse.csr_array((values, pattern.indices, pattern.indptr), shape=(9, 9))
        np.testing.assert_array_equal(rebuilt.toarray(), graph.toarray())
        np.testing.assert_allclose(_column_sums(pattern) @ values, graph.toarray().sum(axis=0))


def test_unreached_components_warn_and_still_give_all_clusters(seed):
    data = make_views(30, n_views=2, random_state=seed)
    with pytest.warns(ConvergenceWarning, match=r"instead of n_clusters=20"):
        model = GraphLearning(20, max_iter=3, tol=1e9, random_state=0).fit(data.views)
    assert model.n_components_ != 20
    assert len(np.unique(model.labels_)) == 20


def test_a_graph_of_all_pairs_is_asked_for_before_it_is_made(monkeypatch):
    views = make_views(30, 3, n_views=2, random_state=0).views
    monkeypatch.setattr(memory, "available_memory", lambda like=None: 30 * 30 * 16 - 1)
    GraphLearning(1, n_neighbors=5).fit(views)
    with pytest.raises(MemoryError, match=r"local=False.* 30 x 30 .*local=True"):
        GraphLearning(1, n_neighbors=5, local=False).fit(views)
