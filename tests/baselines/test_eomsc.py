"""EOMSC-CA: golden runs, exact blocks, and labels that are never too many."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from latefusion.arrays import memory
from latefusion.baselines.eomsc import (
    OnePassSubspaceClustering,
    allowed_edges,
    anchor_scores,
    attach_samples,
    fit_anchors,
    published_start,
    solve_eomsc,
    squared_residuals,
    start_from_labels,
    view_weights,
)
from latefusion.baselines.support.anchor_graphs import centered, squared_norm
from latefusion.baselines.support.bipartite import sample_components
from latefusion.baselines.support.scaled_affinity import unit_deviations
from latefusion.datasets import make_views

PROBLEMS = pytest.mark.parametrize("name", ["synth", "digits"])
ANCHORS = pytest.mark.parametrize("anchors", ["a1k", "a2k"])


def standardised(arrays):
    return [centered(unit_deviations(view)) for view in arrays]


def problem_views(problem):
    return standardised([problem[f"X{view + 1}"] for view in range(len(problem["sigma"]))])


@PROBLEMS
@ANCHORS
def test_golden(golden, name, anchors):
    problem, golden_file = golden(f"problem_{name}"), golden(f"eomsc_{name}")
    expected = {key.removeprefix(f"{anchors}_d1k_"): value for key, value in golden_file.items() if anchors in key}
    views, k = problem_views(problem), int(problem["k"])
    start = published_start(views, k, expected["A"].shape[1], k)
    for view, projection in enumerate(start.projections):
        np.testing.assert_array_equal(projection, expected[f"Wfirst{view + 1}"])
    result, factors = solve_eomsc(views, start, k)
    np.testing.assert_allclose(result.objective, expected["obj"], rtol=1e-8)
    assert factors.n_steps == expected["inner"].tolist()
    np.testing.assert_allclose(result.weights, expected["alpha"], atol=1e-8)
    np.testing.assert_allclose(factors.anchors, expected["A"], atol=1e-8)
    for view, projection in enumerate(factors.projections):
        np.testing.assert_allclose(projection, expected[f"W{view + 1}"], atol=1e-8)
    # Samples without edges are clusters of their own in the code; here they are attached at the end.
    with_edges = expected["Z"].sum(axis=0) > 0
    np.testing.assert_allclose(factors.graph.toarray()[with_edges], expected["Z"].T[with_edges], atol=1e-8)
    alone = np.count_nonzero(~with_edges)
    assert factors.n_components + alone == int(expected["n_components"][-1])
    assert adjusted_rand_score(result.labels[with_edges], expected["labels"][with_edges]) == 1.0
    assert len(np.unique(result.labels)) == k


@PROBLEMS
@ANCHORS
def test_golden_first_round(golden, name, anchors):
    problem, expected = golden(f"problem_{name}"), golden(f"eomsc_{name}")
    views, k = problem_views(problem), int(problem["k"])
    first = expected[f"{anchors}_d1k_Afirst"]
    start = published_start(views, k, first.shape[1], k)
    weights = np.full(len(views), 1 / len(views))
    sums = [view.rmatmat(start.graph.toarray()) for view in views]
    np.testing.assert_allclose(fit_anchors(start.projections, sums, weights), first, atol=1e-10)
    scores = anchor_scores(views, start.projections, first, weights)
    np.testing.assert_allclose(scores, expected[f"{anchors}_d1k_Bfirst"], atol=1e-10)
    result, factors = solve_eomsc(views, start, k, max_iter=1)
    reference = expected[f"{anchors}_d1k_Zfirst"].T
    with_edges = reference.sum(axis=1) > 0
    np.testing.assert_allclose(factors.graph.toarray()[with_edges], reference[with_edges], atol=1e-8)
    assert not result.converged


@pytest.mark.parametrize("updates", ["published", "exact"])
def test_labels_are_the_components_of_the_graph(seed, updates):
    data = make_views(90, 3, n_views=3, random_state=seed)
    model = OnePassSubspaceClustering(3, updates=updates, random_state=0).fit(data.views)
    n_components, labels = sample_components(model.graph_)
    assert model.n_components_ == n_components == 3
    np.testing.assert_array_equal(labels, model.labels_)
    assert np.asarray(model.graph_.sum(axis=1)).min() >= 0.5 - 1e-12
    assert adjusted_rand_score(model.labels_, data.target) > 0.9


def random_blocks(seed):
    generator = np.random.default_rng(seed)
    arrays = [generator.standard_normal((30, width)) for width in (4, 6, 9)]
    views = standardised(arrays)
    graph = scipy.sparse.csr_array(generator.random((30, 3)) * (generator.random((30, 3)) > 0.3))
    weights = generator.random(3)
    projections = [np.linalg.qr(generator.standard_normal((width, 3)))[0] for width in (4, 6, 9)]
    return generator, views, graph, weights, projections


def dense(view):
    return view @ np.eye(view.shape[1])


def test_residuals_are_those_of_the_model(seed):
    _, views, graph, _, projections = random_blocks(seed)
    anchors = np.random.default_rng(seed).standard_normal((3, 3))
    sums = [view.rmatmat(graph.toarray()) for view in views]
    norms = np.array([squared_norm(view) for view in views])
    found = squared_residuals(norms, projections, anchors, sums, graph)
    for view, projection, value in zip(views, projections, found, strict=True):
        assert value == pytest.approx(np.linalg.norm(dense(view) - graph @ (projection @ anchors).T) ** 2)


def test_anchors_are_the_best_orthonormal_ones(seed):
    generator, views, graph, weights, projections = random_blocks(seed)
    sums = [view.rmatmat(graph.toarray()) for view in views]
    anchors = fit_anchors(projections, sums, weights)
    np.testing.assert_allclose(anchors.T @ anchors, np.eye(3), atol=1e-12)

    def cost(candidate):
        norms = np.array([squared_norm(view) for view in views])
        return np.sum(weights**2 * squared_residuals(norms, projections, candidate, sums, graph))

    for _ in range(50):
        turn = np.linalg.qr(np.eye(3) + 0.1 * generator.standard_normal((3, 3)))[0]
        turn *= np.sign(np.diagonal(turn))
        assert cost(anchors @ turn) >= cost(anchors) - 1e-10


def test_the_targets_are_the_unconstrained_minimisers_of_the_graph(seed):
    _, views, graph, weights, projections = random_blocks(seed)
    anchors = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]
    scores = anchor_scores(views, projections, anchors, weights)
    norms = np.array([squared_norm(view) for view in views])

    def cost(candidate):
        sums = [view.rmatmat(candidate) for view in views]
        sparse = scipy.sparse.csr_array(candidate)
        return np.sum(weights**2 * squared_residuals(norms, projections, anchors, sums, sparse))

    best = minimize(lambda row: cost(np.vstack([row, graph.toarray()[1:]])), np.zeros(3))
    np.testing.assert_allclose(best.x, scores[0] / np.sum(weights**2), atol=1e-3)


def test_exact_weights_minimise_the_sum_of_residuals(seed):
    generator = np.random.default_rng(seed)
    residuals, norms = generator.random(4) + 0.1, np.ones(4)
    weights = view_weights(residuals, norms, 2.0)
    assert weights.sum() == pytest.approx(1.0)
    for _ in range(50):
        other = weights * np.exp(0.2 * generator.standard_normal(4))
        assert np.sum((other / other.sum()) ** 2 * residuals) >= np.sum(weights**2 * residuals) - 1e-12
    published = view_weights(residuals, norms, 1.0)
    np.testing.assert_allclose(published * np.sqrt(residuals), published[0] * np.sqrt(residuals[0]))


def test_constant_and_perfectly_fitted_views_have_finite_weights():
    weights = view_weights(np.array([0.0, 1.0, 0.0]), np.array([0.0, 4.0, 4.0]), 1.0)
    assert weights[0] == 0.0
    assert weights.sum() == pytest.approx(1.0)
    assert np.isfinite(weights).all()
    assert not view_weights(np.zeros(2), np.zeros(2), 2.0).any()


def test_samples_without_positive_entry_get_an_edge():
    scores = np.array([[0.5, -1.0, 0.2], [-3.0, -1.0, -2.0], [0.0, 0.0, 0.0]])
    plain, attached = allowed_edges(scores, attach=False), allowed_edges(scores, attach=True)
    assert plain.nnz == 2
    np.testing.assert_array_equal(np.diff(attached.indptr), [2, 1, 1])
    assert attached.indices[2:].tolist() == [1, 0]
    np.testing.assert_array_equal(attached.toarray(), plain.toarray())
    graph = attach_samples(plain, scores)
    np.testing.assert_array_equal(graph.toarray(), [[0.5, 0, 0.2], [0, 1, 0], [1, 0, 0]])


def test_the_start_is_at_the_groups(seed):
    data = make_views(60, 3, noise=0.3, random_state=seed)
    views = standardised(data.views.arrays)
    start = start_from_labels(views, data.target.astype(np.intp), 3, 3)
    np.testing.assert_array_equal(start.graph.toarray(), np.eye(3)[data.target])
    result, _ = solve_eomsc(views, start, 3)
    assert adjusted_rand_score(result.labels, data.target) == 1.0


@pytest.mark.parametrize("options", [{}, {"n_anchors": "2k"}, {"n_components": 2}, {"n_components": "3k"}])
@pytest.mark.parametrize("updates", ["published", "exact"])
def test_the_graph_does_not_depend_on_the_order_of_samples_views_and_columns(seed, options, updates):
    arrays = make_views(60, 3, noise=2.0, random_state=seed).views.arrays
    order = np.random.default_rng(seed).permutation(60)
    reference = OnePassSubspaceClustering(3, updates=updates, random_state=0, **options).fit(arrays)
    moved = OnePassSubspaceClustering(3, updates=updates, random_state=0, **options).fit(
        [view[order][:, ::-1] for view in arrays[::-1]]
    )
    expected = (reference.graph_ @ reference.graph_.T).toarray()[np.ix_(order, order)]
    np.testing.assert_allclose((moved.graph_ @ moved.graph_.T).toarray(), expected, atol=1e-7)
    np.testing.assert_allclose(moved.view_weights_[::-1], reference.view_weights_, atol=1e-8)


def test_the_published_start_depends_on_the_order(seed):
    arrays = make_views(60, 3, noise=4.0, random_state=seed).views.arrays
    order = np.random.default_rng(seed).permutation(60)
    reference = OnePassSubspaceClustering(3, start="published").fit(arrays)
    moved = OnePassSubspaceClustering(3, start="published").fit([view[order] for view in arrays])
    assert np.abs(moved.objective_[-1] - reference.objective_[-1]) > 1e-6


@pytest.mark.parametrize("updates", ["published", "exact"])
def test_views_with_fewer_columns_than_clusters(seed, updates):
    data = make_views(80, 5, n_views=3, n_features=[2, 3, 8], noise=0.4, random_state=seed)
    model = OnePassSubspaceClustering(5, updates=updates, random_state=0).fit(data.views)
    assert len(np.unique(model.labels_)) == 5
    assert adjusted_rand_score(model.labels_, data.target) > 0.5


def test_the_result_does_not_depend_on_units_or_constant_columns(seed):
    arrays = make_views(60, 3, noise=1.5, random_state=seed).views.arrays
    reference = OnePassSubspaceClustering(3, random_state=0).fit(arrays)
    other = [np.column_stack([100.0 * view + 3.0, np.full(60, 2.0)]) for view in arrays]
    found = OnePassSubspaceClustering(3, random_state=0).fit(other)
    np.testing.assert_allclose(found.graph_.toarray(), reference.graph_.toarray(), atol=1e-7)


def test_sparse_views_give_the_same_graph(seed):
    views = [view * (np.abs(view) > 0.5) for view in make_views(60, 3, random_state=seed).views.arrays]
    plain = OnePassSubspaceClustering(3, random_state=0).fit(views)
    sparse = OnePassSubspaceClustering(3, random_state=0).fit([scipy.sparse.csr_array(view) for view in views])
    np.testing.assert_allclose(sparse.graph_.toarray(), plain.graph_.toarray(), atol=1e-7)


@pytest.mark.parametrize(("n_anchors", "expected"), [("k", 3), ("4k", 12), (5, 5), (2, 3), ("7k", 20)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_number_of_anchors(n_anchors, expected):
    data = make_views(20, 3, random_state=0)
    model = OnePassSubspaceClustering(3, n_anchors=n_anchors, random_state=0).fit(data.views)
    assert model.n_anchors_ == model.graph_.shape[1] == expected


def test_a_graph_that_does_not_separate_warns_and_gives_no_more_labels_than_clusters():
    heap = np.arange(60) % 6
    views = [20.0 * np.eye(6)[heap] + np.random.default_rng(view).standard_normal((60, 6)) for view in range(3)]
    with pytest.warns(ConvergenceWarning, match=r"6 connected .* instead of n_clusters=3.*Another n_anchors"):
        model = OnePassSubspaceClustering(3, n_anchors=6, n_components=6, random_state=0).fit(views)
    assert len(np.unique(model.labels_)) == 3


def test_few_rounds_warn():
    data = make_views(60, 3, noise=2.0, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"did not converge in 2 iterations"):
        OnePassSubspaceClustering(3, max_iter=2, random_state=0).fit(data.views)


def test_memory_is_checked_for_the_graph(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda like=None: 1000)
    with pytest.raises(MemoryError, match=r"OnePassSubspaceClustering .* 60 samples to 3 anchors.*smaller n_anchors"):
        OnePassSubspaceClustering(3).fit(make_views(60, 3, random_state=0).views)
