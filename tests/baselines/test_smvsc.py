"""SMVSC: golden runs, exact updates, and starts."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

from latefusion.baselines.smvsc import UnifiedAnchorClustering, solve_smvsc
from latefusion.baselines.support.standardized_views import standardize_columns
from latefusion.baselines.support.unified_anchors import published_start
from latefusion.datasets import make_views


def standardized(problem):
    return [standardize_columns(problem[f"X{view + 1}"]) for view in range(len(problem["sigma"]))]


@pytest.mark.parametrize("key", ["a1k_", "a2k_"])
@pytest.mark.parametrize("name", ["synth", "digits"])
def test_golden(golden, name, key):
    problem, expected = golden(f"problem_{name}"), golden(f"smvsc_{name}")
    views, k = standardized(problem), int(problem["k"])
    graph = expected[f"{key}Z"].T
    result, model = solve_smvsc(views, published_start(views, graph.shape[1], k))
    assert result.converged
    assert result.n_iter == len(expected[f"{key}obj"])
    np.testing.assert_allclose(result.objective, expected[f"{key}obj"], rtol=1e-10)
    np.testing.assert_allclose(model.graph, graph, atol=1e-8)
    np.testing.assert_allclose(result.weights, expected[f"{key}alpha"], atol=1e-8)
    # The reference completes the singular vectors where anchors are not in use; ours are those of the others.
    reference = expected[f"{key}U"]
    used = np.linalg.matrix_rank(graph)
    projector = reference @ reference.T
    assert result.consensus.shape[1] == used
    nearly_unused = (name, key) == ("synth", "a2k_")
    np.testing.assert_allclose(projector @ result.consensus, result.consensus, atol=1e-3 if nearly_unused else 1e-8)
    if used == graph.shape[1]:
        own = result.consensus @ result.consensus.T
        np.testing.assert_allclose(own, projector, atol=1e-3 if nearly_unused else 1e-8)


def test_golden_anchors_in_the_views(golden):
    # W_v A up to the direction that is arbitrary: the same column added to all anchors
    problem, expected = golden("problem_synth"), golden("smvsc_synth")
    views = standardized(problem)
    _, model = solve_smvsc(views, published_start(views, 3, 3))
    for view, own in enumerate(model.maps):
        reference, ours = expected[f"a1k_W{view + 1}"] @ expected["a1k_A"], own @ model.anchors
        np.testing.assert_allclose(
            ours - ours.mean(axis=1, keepdims=True), reference - reference.mean(axis=1, keepdims=True), atol=1e-8
        )


@pytest.mark.parametrize("options", [{}, {"n_anchors": 4, "n_components": 5}])
def test_exact_updates_never_raise_the_objective(seed, options):
    data = make_views(60, 3, n_views=3, n_features=[5, 8, 11], noise=2.5, random_state=seed)
    model = UnifiedAnchorClustering(3, updates="exact", tol=0.0, max_iter=30, random_state=0, **options)
    with pytest.warns(match="did not converge in 30"):
        model.fit(data.views)
    assert np.all(np.diff(model.objective_) <= 1e-9 * model.objective_[0])


def test_objective_is_that_of_the_result(seed):
    data = make_views(50, 3, n_views=2, n_features=[5, 8], noise=2.0, random_state=seed)
    views = [standardize_columns(view) for view in data.views.arrays]
    result, model = solve_smvsc(views, published_start(views, 6, 3), regularization=0.3, updates="exact")
    fits = [
        np.sum((view - model.graph @ (own @ model.anchors).T) ** 2) for view, own in zip(views, model.maps, strict=True)
    ]
    value = model.weights**2 @ fits + 0.3 * np.sum(model.graph**2)
    assert result.objective[-1] == pytest.approx(value, rel=1e-10)


def test_published_updates_make_the_graph_nearly_one_hot():
    data = make_views(90, 3, n_views=3, noise=0.8, random_state=0)
    hard, soft = (
        UnifiedAnchorClustering(3, updates=updates, random_state=0).fit(data.views).anchor_graph_.max(axis=1).mean()
        for updates in ("published", "exact")
    )
    assert hard > soft


def test_published_start_depends_on_the_order_of_samples_and_the_default_does_not():
    data = make_views(60, 3, n_views=3, noise=2.0, random_state=1)
    rows = np.random.default_rng(1).permutation(60)
    views = data.views.arrays
    changes = {}
    for init in ("published", "kmeans"):
        first, second = (
            UnifiedAnchorClustering(3, init=init, random_state=0).fit(each).anchor_graph_
            for each in (views, [view[rows] for view in views])
        )
        changes[init] = np.abs((first @ first.T)[np.ix_(rows, rows)] - second @ second.T).max()
    assert changes["published"] > 0.1
    assert changes["kmeans"] < 1e-8


def test_sparse_views_are_clustered_as_dense_ones():
    data = make_views(80, 3, n_views=2, noise=0.5, random_state=0)
    views = [np.where(view > 0, view, 0.0) for view in data.views.arrays]
    dense, sparse = (
        UnifiedAnchorClustering(3, random_state=0).fit(each)
        for each in (views, [scipy.sparse.csr_array(view) for view in views])
    )
    np.testing.assert_allclose(sparse.view_weights_, dense.view_weights_, atol=1e-8)
    np.testing.assert_array_equal(sparse.labels_, dense.labels_)


def test_more_anchors_and_leading_vectors():
    data = make_views(90, 3, n_views=3, noise=0.8, random_state=0)
    every, leading = (
        UnifiedAnchorClustering(3, n_anchors="3k", embedding=embedding, random_state=0).fit(data.views)
        for embedding in ("all", "leading")
    )
    assert every.anchor_graph_.shape == (90, 9)
    assert leading.consensus_.shape == (90, 3)
    assert every.consensus_.shape[1] > 3
    assert adjusted_rand_score(data.target, leading.labels_) > 0.9


def test_views_with_fewer_columns_than_clusters_and_coinciding_samples():
    generator = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 10)
    narrow = np.column_stack([truth % 2, truth // 2]).astype(float)
    wide = 3 * np.eye(4)[truth]
    model = UnifiedAnchorClustering(4, random_state=0).fit([narrow, wide + 0.01 * generator.standard_normal((40, 4))])
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert adjusted_rand_score(truth, UnifiedAnchorClustering(4, random_state=0).fit_predict([narrow, wide])) == 1.0


def test_constant_columns_change_nothing():
    data = make_views(60, 3, n_views=2, noise=0.8, random_state=0)
    views = data.views.arrays
    plain = UnifiedAnchorClustering(3, random_state=0).fit(views)
    constant = UnifiedAnchorClustering(3, random_state=0).fit([np.column_stack([views[0], np.full(60, 0.1)]), views[1]])
    np.testing.assert_allclose(constant.view_weights_, plain.view_weights_, atol=1e-10)
    np.testing.assert_array_equal(constant.labels_, plain.labels_)


def test_fewer_anchors_than_clusters_are_refused():
    data = make_views(60, 3, random_state=0)
    with pytest.raises(ValueError, match="n_anchors=2 must be at least n_clusters=3"):
        UnifiedAnchorClustering(3, n_anchors=2).fit(data.views)
