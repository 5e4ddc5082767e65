"""SFMC: golden graphs, weights on the simplex, and anchors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from latefusion.arrays import memory
from latefusion.baselines.sfmc import BipartiteGraphFusion, fit_weights, published_anchors, solve_sfmc
from latefusion.baselines.support.anchor_graphs import anchor_graph
from latefusion.baselines.support.bipartite import sample_components, stack_values
from latefusion.datasets import make_views

PROBLEMS = pytest.mark.parametrize("name", ["synth", "digits"])
RATES = pytest.mark.parametrize("rate", ["r10", "r50"])


def golden_graphs(problem, expected, rate):
    views = [problem[f"X{view + 1}"] for view in range(len(problem["sigma"]))]
    chosen = expected[f"{rate}_anchor_index"]
    scaled = [view / view.max() for view in views]
    return [anchor_graph(view, view[chosen], 10) for view in scaled]


@PROBLEMS
@RATES
def test_golden(golden, name, rate):
    problem, expected = golden(f"problem_{name}"), golden(f"sfmc_{name}")
    graphs = golden_graphs(problem, expected, rate)
    if f"{rate}_B" in expected:
        for graph, reference in zip(graphs, expected[f"{rate}_B"], strict=True):
            np.testing.assert_allclose(graph.toarray(), reference, atol=1e-10)
    products = np.array([[(one * other).sum() for other in graphs] for one in graphs])
    np.testing.assert_allclose(products, expected[f"{rate}_A"], atol=1e-8)
    result, fusion = solve_sfmc(graphs, int(problem["k"]), max_iter=10, tol=0.0)
    # The authors' weights are not converged, ours are exact.
    np.testing.assert_allclose(result.weights, expected[f"{rate}_alpha"][:, -1], atol=1e-2)
    np.testing.assert_allclose(fusion.graph.toarray(), expected[f"{rate}_P"], atol=1e-3)
    assert fusion.n_steps == expected[f"{rate}_inner"].tolist()
    assert adjusted_rand_score(result.labels, expected[f"{rate}_labels"]) == 1.0


@pytest.mark.parametrize("updates", ["published", "exact"])
def test_labels_are_the_components_of_the_graph(seed, updates):
    data = make_views(90, 3, n_views=2, n_uninformative=1, random_state=seed)
    model = BipartiteGraphFusion(3, updates=updates, random_state=0).fit(data.views)
    n_components, labels = sample_components(model.graph_)
    assert model.n_components_ == n_components == 3
    np.testing.assert_array_equal(labels, model.labels_)
    sums = np.asarray(model.graph_.sum(axis=1)).ravel()
    assert sums.min() >= 0.5 - 1e-12
    assert sums.max() <= 1.0 + 1e-12
    assert adjusted_rand_score(model.labels_, data.target) > 0.9
    assert np.argmin(model.view_weights_) == 2
    assert model.view_weights_.sum() == pytest.approx(1.0)


def test_weights_are_the_best_on_the_simplex(seed):
    generator = np.random.default_rng(seed)
    values, learned = generator.random((40, 4)), generator.random(40)
    learned += 2.0 * values[:, 1] - values[:, 2]
    weights, value = fit_weights(values, learned)

    def cost(alpha):
        return float(np.sum((values @ alpha - learned) ** 2))

    assert value == pytest.approx(cost(weights))
    best = minimize(
        cost,
        np.full(4, 0.25),
        bounds=[(0, 1)] * 4,
        constraints={"type": "eq", "fun": lambda alpha: alpha.sum() - 1},
        options={"ftol": 1e-14},
    )
    assert value <= best.fun + 1e-9
    np.testing.assert_allclose(weights, best.x, atol=1e-5)


def test_weights_of_views_equal_to_the_graph():
    values = np.random.default_rng(0).random((30, 3))
    weights, value = fit_weights(values, values[:, 1])
    np.testing.assert_allclose(weights, [0, 1, 0], atol=1e-12)
    assert value == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(fit_weights(values[:, [1, 1]], values[:, 1])[0], [0.5, 0.5])


def test_a_mean_graph_with_enough_components_is_kept():
    blocks = scipy.sparse.csr_array(np.kron(np.eye(3), np.full((5, 2), 0.5)))
    result, fusion = solve_sfmc([blocks, blocks], 3)
    np.testing.assert_allclose(fusion.graph.toarray(), blocks.toarray())
    assert fusion.n_steps == [0, 0]
    np.testing.assert_array_equal(result.labels, np.repeat([0, 1, 2], 5))
    assert result.objective == pytest.approx([0.0])


def test_a_view_without_weight_leaves_the_edges_of_the_others(seed):
    data = make_views(60, 3, n_views=1, noise=0.5, random_state=seed)
    view = data.views.arrays[0]
    own = anchor_graph(view, view[::4], 4)
    other = anchor_graph(
        np.random.default_rng(seed).standard_normal((60, 2)), np.random.default_rng(9).random((15, 2)), 4
    )
    before = own.copy(), other.copy()
    result, fusion = solve_sfmc([own, other], 3, max_iter=50)
    assert fusion.n_components == 3
    for graph, old in zip((own, other), before, strict=True):
        np.testing.assert_array_equal(graph.toarray(), old.toarray())
    union, values = stack_values([own, other])
    target = np.zeros(union.shape)
    target[union.nonzero()] = values @ result.weights
    assert not np.any((fusion.graph.toarray() > 0) & (target == 0))


def test_published_anchors_are_the_sequence_of_the_logistic_map(seed):
    generator = np.random.default_rng(seed)
    views = [generator.standard_normal((20, 3)), 5.0 * generator.standard_normal((20, 2))]
    stacked = np.concatenate([view / view.max() for view in views], axis=1)
    scores = (stacked - stacked.min(axis=0)).sum(axis=1)
    scores /= scores.max()
    expected = [int(np.argmax(scores))]
    for _ in range(4):
        scores = scores * (1 - scores)
        scores /= scores.max()
        expected.append(int(np.argmax(scores)))
    assert published_anchors(views, 5).tolist() == sorted(set(expected))
    sparse = [scipy.sparse.csr_array(view) for view in views]
    assert published_anchors(sparse, 5).tolist() == sorted(set(expected))


def test_published_anchors_of_equal_samples_are_refused():
    views = [np.eye(3)[np.arange(30) % 3], np.eye(3)[np.arange(30) % 3]]
    with pytest.raises(ValueError, match=r"anchors='published' finds 1 different .* n_clusters=3 .*anchors='kmeans'"):
        BipartiteGraphFusion(3, anchors="published").fit(views)


@pytest.mark.parametrize(("n_anchors", "expected"), [(None, 30), (0.25, 15), (1.0, 60), (8, 8), (1, 3), (500, 60)])
def test_number_of_anchors(n_anchors, expected):
    data = make_views(60, 3, random_state=0)
    model = BipartiteGraphFusion(3, n_anchors=n_anchors, random_state=0).fit(data.views)
    assert model.n_anchors_ == model.graph_.shape[1] == expected
    assert model.n_neighbors_ <= max(expected - 1, 1)


def test_many_samples_have_a_thousand_anchors_by_default():
    assert BipartiteGraphFusion(3)._wanted_anchors(10**6) == 1000
    assert BipartiteGraphFusion(3, n_anchors=0.5)._wanted_anchors(10**6) == 500_000


def test_neighbours_are_doubled_until_the_graph_is_connected_enough():
    heap = np.repeat(np.arange(6), 15)
    views = [100.0 * np.eye(6)[heap] + np.random.default_rng(view).standard_normal((90, 6)) for view in range(2)]
    model = BipartiteGraphFusion(2, n_neighbors=2, random_state=0).fit(views)
    assert model.n_neighbors_ > 2
    assert model.n_components_ == 2
    assert len({(a, b) for a, b in zip(heap, model.labels_, strict=True)}) == 6


@pytest.mark.filterwarnings("ignore:K-means found 4 distinct clusters")
def test_fewer_different_samples_than_clusters_warn_and_give_no_more_labels():
    heap = np.arange(60) % 4
    views = [np.eye(4)[heap], np.eye(4)[heap] @ np.diag([1.0, 2.0, 3.0, 4.0])]
    with pytest.warns(ConvergenceWarning, match=r"4 connected .* n_clusters=8.*singular vectors.*Another n_anchors"):
        model = BipartiteGraphFusion(8, random_state=0).fit(views)
    assert model.n_components_ == 4
    assert adjusted_rand_score(model.labels_, heap) == 1.0


@pytest.mark.parametrize("n_anchors", [3, 4, 6, 60])
def test_coinciding_samples_are_clusters_for_any_number_of_anchors(n_anchors):
    heap = np.arange(60) % 3
    model = BipartiteGraphFusion(3, n_anchors=n_anchors, random_state=0).fit([np.eye(3)[heap]] * 2)
    assert model.n_components_ == 3
    assert adjusted_rand_score(model.labels_, heap) == 1.0


@pytest.mark.filterwarnings("ignore:BipartiteGraphFusion did not converge")
def test_the_graph_does_not_depend_on_the_order_of_samples_and_views(seed):
    arrays = make_views(60, 3, noise=2.5, random_state=seed).views.arrays
    order = np.random.default_rng(seed).permutation(60)
    reference = BipartiteGraphFusion(3, max_iter=5, random_state=0).fit(arrays)
    moved = BipartiteGraphFusion(3, max_iter=5, random_state=0).fit([view[order] for view in arrays[::-1]])
    np.testing.assert_allclose(
        (moved.graph_ @ moved.graph_.T).toarray(),
        (reference.graph_ @ reference.graph_.T).toarray()[np.ix_(order, order)],
        atol=1e-8,
    )


def test_units_of_views_do_not_matter_for_the_graph(seed):
    arrays = make_views(60, 3, noise=1.5, random_state=seed).views.arrays
    reference = BipartiteGraphFusion(3, random_state=0).fit(arrays)
    other = BipartiteGraphFusion(3, random_state=0).fit([arrays[0] * 1e4, arrays[1] + 7.0, *arrays[2:]])
    np.testing.assert_allclose(other.graph_.toarray(), reference.graph_.toarray(), atol=1e-8)


def test_sparse_views_give_the_same_graph(seed):
    views = [view * (np.abs(view) > 0.5) for view in make_views(60, 3, random_state=seed).views.arrays]
    dense = BipartiteGraphFusion(3, random_state=0).fit(views)
    sparse = BipartiteGraphFusion(3, random_state=0).fit([scipy.sparse.csr_array(view) for view in views])
    np.testing.assert_allclose(sparse.graph_.toarray(), dense.graph_.toarray(), atol=1e-8)


def test_memory_is_checked_for_the_anchors(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda like=None: 1000)
    with pytest.raises(MemoryError, match=r"BipartiteGraphFusion .* 30 anchors, 30 x 30 .*smaller n_anchors"):
        BipartiteGraphFusion(3).fit(make_views(60, 3, random_state=0).views)
