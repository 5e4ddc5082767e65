from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from latefusion.baselines.gmc import (
    UPDATES,
    GraphBasedClustering,
    _effective_distances,
    _exact_rows,
    _exact_target,
    _published_rows,
    solve_gmc,
)
from latefusion.baselines.support.graphs import adaptive_neighbors, nearest_samples
from latefusion.baselines.support.standardize import standardize_rows
from latefusion.datasets import make_views
from latefusion.similarities.adaptive import Neighbors, adaptive_weights, connected_components


def published_neighbors(points, n_neighbors):
    """The authors skip the first of the sorted samples, which with duplicates need not be the sample itself."""
    distances = cdist(points, points, "sqeuclidean")
    np.fill_diagonal(distances, 0.0)
    order = np.argsort(distances, axis=1, kind="stable")[:, 1 : n_neighbors + 2]
    return Neighbors(order, np.take_along_axis(distances, order, axis=1))


def features(problem, normalize):
    views = [problem[f"X{view + 1}"] for view in range(len(problem["sigma"]))]
    return [standardize_rows(view) for view in views] if normalize else views


@pytest.mark.parametrize("normalize", [0, 1])
@pytest.mark.parametrize("name", ["synth", "digits"])
def test_golden(golden, name, normalize):
    problem, expected = golden(f"problem_{name}"), golden(f"gmc_{name}")
    neighbors = [published_neighbors(view, 15) for view in features(problem, normalize)]
    result, state = solve_gmc(neighbors, int(problem["k"]))
    assert result.n_iter == int(expected[f"norm{normalize}_iters"])
    assert state.n_components == int(expected[f"norm{normalize}_ncomp"])
    np.testing.assert_allclose(state.graph.toarray(), expected[f"norm{normalize}_U"], atol=1e-8)
    np.testing.assert_allclose(result.weights, expected[f"norm{normalize}_w_final"], atol=1e-8)


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("name", ["synth", "digits"])
def test_golden_labels_from_features(golden, name, normalize):
    problem, expected = golden(f"problem_{name}"), golden(f"gmc_{name}")
    model = GraphBasedClustering(int(problem["k"]), normalize=normalize).fit(features(problem, False))
    assert adjusted_rand_score(model.labels_, expected[f"norm{int(normalize)}_labels"]) == 1.0


def test_golden_start_graphs(golden):
    problem, expected = golden("problem_synth"), golden("gmc_synth")
    for view, points in enumerate(features(problem, True)):
        graph = adaptive_neighbors(points, 15).toarray()
        np.testing.assert_allclose(graph, expected[f"norm1_S0init{view + 1}"], atol=1e-12)


@pytest.mark.parametrize("updates", sorted(UPDATES))
def test_labels_are_the_components_of_the_unified_graph(seed, updates):
    data = make_views(90, n_views=2, n_uninformative=1, random_state=seed)
    model = GraphBasedClustering(3, updates=updates, normalize=False).fit(data.views)
    assert model.n_components_ == 3
    np.testing.assert_array_equal(connected_components(model.graph_)[1], model.labels_)
    np.testing.assert_allclose(np.asarray(model.graph_.sum(axis=1)).ravel(), 1.0)
    assert adjusted_rand_score(model.labels_, data.target) > 0.9
    assert np.argmin(model.view_weights_) == 2


def test_rows_without_a_unified_graph_are_the_adaptive_weights(seed):
    near = nearest_samples(np.random.default_rng(seed).standard_normal((25, 3)), 5)
    empty = scipy.sparse.csr_array((25, 25))
    for rows in (_published_rows, _exact_rows):
        np.testing.assert_allclose(rows(near, _effective_distances(near, empty, 0.7)), adaptive_weights(near))


def test_exact_rows_minimise_their_problem_where_the_published_ones_leave_the_simplex(seed):
    generator = np.random.default_rng(seed)
    near = nearest_samples(generator.standard_normal((25, 3)), 5)
    # A unified graph that likes the far neighbours outweighs the distances.
    unified = scipy.sparse.csr_array(generator.random((25, 25)))
    weight = 2.0
    effective = _effective_distances(near, unified, weight)
    rows = _exact_rows(near, effective)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0)
    assert rows.min() >= 0
    assert np.abs(_published_rows(near, effective).sum(axis=1) - 1.0).max() > 0.1
    support = np.take_along_axis(unified.toarray(), near.indices, axis=1)
    # The regularisation for which the furthest of the q + 1 candidates just reaches zero
    curvature = 0.5 * (effective.max(axis=1, keepdims=True) - effective).sum(axis=1) - weight

    def cost(candidate):
        fit = near.squared_distances * candidate + weight * (support - candidate) ** 2
        return (fit + curvature[:, None] * candidate**2).sum(axis=1)

    for _ in range(50):
        other = np.abs(rows + 0.05 * generator.standard_normal(rows.shape))
        other /= other.sum(axis=1, keepdims=True)
        assert np.all(cost(other) >= cost(rows) - 1e-12)


def test_exact_target_minimises_the_weighted_distance(seed):
    generator = np.random.default_rng(seed)
    graphs = [scipy.sparse.csr_array(generator.random((6, 6))) for _ in range(3)]
    weights = generator.random(3)
    target, strength = _exact_target(graphs, weights)

    def cost(matrix):
        return sum(w * np.sum((matrix - graph.toarray()) ** 2) for w, graph in zip(weights, graphs, strict=True))

    for _ in range(20):
        assert cost(target.toarray() + 0.1 * generator.standard_normal((6, 6))) > cost(target.toarray())
    assert strength == pytest.approx(1.0 / weights.sum())


def test_unreached_components_warn_and_still_give_all_clusters(seed):
    data = make_views(30, n_views=2, random_state=seed)
    with pytest.warns(ConvergenceWarning, match=r"instead of n_clusters=20") as caught:
        model = GraphBasedClustering(20, max_iter=3, random_state=0).fit(data.views)
    assert len(caught) == 1
    assert not model.converged_
    assert len(np.unique(model.labels_)) == 20


@pytest.mark.parametrize("copies", [1, 2])
def test_views_without_disagreement_do_not_freeze_the_unified_graph(seed, copies):
    # The first unified graph of a single view equals its own graph: the weight of the view would be infinite.
    data = make_views(90, n_views=1, noise=0.8, random_state=seed)
    model = GraphBasedClustering(3).fit([data.views.arrays[0]] * copies)
    assert model.n_components_ == 3
    assert adjusted_rand_score(model.labels_, data.target) > 0.8
