"""LMVSC: golden runs, coefficients as solutions of their problem, and options of the paper."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from latefusion.baselines import lmvsc
from latefusion.baselines.lmvsc import LargeScaleSubspaceClustering, choose_anchors, express_by_anchors, solve_lmvsc
from latefusion.datasets import make_views


@pytest.mark.parametrize("key", ["a0p01", "a1"])
@pytest.mark.parametrize("n_anchors", ["k", 20])
@pytest.mark.parametrize("name", ["synth", "digits"])
def test_golden(golden, name, n_anchors, key):
    problem, expected = golden(f"problem_{name}"), golden(f"lmvsc_{name}")
    n_views, k = len(problem["sigma"]), int(problem["k"])
    number = k if n_anchors == "k" else n_anchors
    views = [problem[f"X{view + 1}"] for view in range(n_views)]
    anchors = [expected[f"r{number}_anchors{view + 1}"] for view in range(n_views)]
    result, graph = solve_lmvsc(views, anchors, k, regularization={"a0p01": 0.01, "a1": 1.0}[key])
    if f"r{number}_{key}_Z" in expected:
        ours = np.sqrt(n_views) * graph.toarray().reshape(-1, n_views, number)
        np.testing.assert_allclose(ours.transpose(1, 2, 0), expected[f"r{number}_{key}_Z"], atol=1e-8)
    singular = np.linalg.svd(graph.toarray(), compute_uv=False)[:k]
    np.testing.assert_allclose(singular, expected[f"r{number}_{key}_sv"], atol=1e-8)
    reference = expected[f"r{number}_{key}_U"]
    np.testing.assert_allclose(result.consensus @ result.consensus.T, reference @ reference.T, atol=1e-8)


def cost(view, anchors, graph, regularization):
    return np.sum((view - graph @ anchors) ** 2) + regularization * np.sum(graph**2)


@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_coefficients_are_the_best_and_the_objective_is_theirs(seed, offset, monkeypatch):
    generator = np.random.default_rng(seed)
    view, anchors = offset + generator.standard_normal((30, 3)), offset + generator.standard_normal((6, 3))
    found = express_by_anchors(view, anchors, 0.1)
    graph = found.graph.toarray()
    np.testing.assert_allclose(graph.sum(axis=1), 1.0)
    assert graph.min() >= 0
    assert found.objective == pytest.approx(cost(view, anchors, graph, 0.1), rel=1e-8)
    for step in (1.0, 0.1, 1e-3):
        for other in generator.dirichlet(np.ones(6), (10, 30)):
            assert cost(view, anchors, (1 - step) * graph + step * other, 0.1) >= found.objective - 1e-8
    monkeypatch.setattr(lmvsc, "BLOCK_ENTRIES", 40)
    blocks = express_by_anchors(view, anchors, 0.1)
    np.testing.assert_allclose(blocks.graph.toarray(), graph, atol=1e-12)
    sparse = express_by_anchors(scipy.sparse.csr_array(view), anchors, 0.1)
    np.testing.assert_allclose(sparse.graph.toarray(), graph, atol=1e-8)
    assert sparse.objective == pytest.approx(found.objective, rel=1e-6, abs=1e-6)


def test_large_regularization_spreads_the_coefficients(seed):
    generator = np.random.default_rng(seed)
    view, anchors = generator.standard_normal((30, 3)), generator.standard_normal((6, 3))
    np.testing.assert_allclose(express_by_anchors(view, anchors, 1e9).graph.toarray(), 1 / 6, atol=1e-6)


def test_relative_regularization_has_no_unit(seed):
    data = make_views(60, 3, n_views=2, random_state=seed)
    for options, same in (({"relative_regularization": True}, True), ({}, False)):
        first, second = (
            LargeScaleSubspaceClustering(3, n_anchors="2k", random_state=0, **options)
            .fit([factor * view for view in data.views.arrays])
            .anchor_graph_.toarray()
            for factor in (1.0, 100.0)
        )
        assert (np.abs(first - second).max() < 1e-6) == same


def test_normalized_anchors_make_the_products_doubly_stochastic(seed):
    data = make_views(60, 3, n_views=2, random_state=seed)
    anchors = [choose_anchors(view, 6, n_init=2, seed=0) for view in data.views.arrays]
    plain, graph = solve_lmvsc(data.views.arrays, anchors, 3)
    scaled, same = solve_lmvsc(data.views.arrays, anchors, 3, normalize_anchors=True)
    np.testing.assert_array_equal(graph.toarray(), same.toarray())
    # The first vector of the normalised graph is constant, that of the plain one carries the sizes of the anchors.
    assert np.ptp(scaled.consensus[:, 0]) < 1e-10
    assert np.ptp(plain.consensus[:, 0]) > 1e-3


def test_anchors_do_not_depend_on_the_order_of_samples(seed):
    generator = np.random.default_rng(seed)
    dense = generator.standard_normal((60, 4))
    rows = generator.permutation(60)
    for view in (dense, scipy.sparse.csr_array(np.where(dense > 0, dense, 0.0))):
        first, second = (choose_anchors(one, 8, n_init=2, seed=seed) for one in (view, view[rows]))
        np.testing.assert_allclose(first[np.lexsort(first.T)], second[np.lexsort(second.T)], atol=1e-10)


def test_sparse_views_are_clustered_as_dense_ones():
    data = make_views(90, 3, n_views=2, noise=0.3, random_state=0)
    views = [np.where(view > 0, view, 0.0) for view in data.views.arrays]
    dense, sparse = (
        LargeScaleSubspaceClustering(3, random_state=0).fit_predict(each)
        for each in (views, [scipy.sparse.csr_array(view) for view in views])
    )
    assert adjusted_rand_score(dense, sparse) == 1.0


@pytest.mark.parametrize("unit_rows", [True, False])
def test_coinciding_samples_have_one_label(unit_rows):
    rows = np.repeat(np.random.default_rng(0).standard_normal((4, 3)), 10, axis=0)
    labels = LargeScaleSubspaceClustering(4, unit_rows=unit_rows, random_state=0).fit_predict([rows, rows**2])
    assert adjusted_rand_score(labels, np.repeat(np.arange(4), 10)) == 1.0


@pytest.mark.parametrize("unit_rows", [True, False])
def test_fewer_different_samples_than_clusters_warn(unit_rows):
    rows = np.repeat(np.random.default_rng(0).standard_normal((4, 3)), 10, axis=0)
    model = LargeScaleSubspaceClustering(6, unit_rows=unit_rows, random_state=0)
    with pytest.warns(ConvergenceWarning, match="only 4 of n_clusters=6 clusters have samples") as caught:
        labels = model.fit_predict([rows, rows**2])
    assert len(caught) == 1
    assert len(np.unique(labels)) == 4


def test_anchors_without_samples_are_left_out():
    view = np.random.default_rng(0).standard_normal((20, 2))
    anchors = np.concatenate([view[:4], [[1e3, 1e3]]])
    result, graph = solve_lmvsc([view], [anchors], 3, regularization=1e-3, normalize_anchors=True)
    assert graph.toarray()[:, 4].max() < 1e-2
    assert np.isfinite(result.consensus).all()


def test_fewer_anchors_than_clusters_are_refused():
    data = make_views(60, 3, random_state=0)
    with pytest.raises(ValueError, match="n_anchors=2 must be at least n_clusters=3"):
        LargeScaleSubspaceClustering(3, n_anchors=2).fit(data.views)
