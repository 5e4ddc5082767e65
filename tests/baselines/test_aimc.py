"""AIMC: golden runs, a monotone objective, and what its centres do not do."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

from latefusion.arrays import polar
from latefusion.baselines.aimc import IntegralSpaceClustering, solve_aimc
from latefusion.baselines.support.standardized_views import cluster_sums, one_hot, standardize_columns
from latefusion.datasets import make_views


def random_views(seed, n_samples=30, widths=(4, 6)):
    generator = np.random.default_rng(seed)
    return [standardize_columns(generator.standard_normal((n_samples, width))) for width in widths]


def golden_problem(golden, name):
    problem, expected = golden(f"problem_{name}"), golden(f"aimc_{name}")
    views = [standardize_columns(problem[f"X{view + 1}"]) for view in range(len(problem["sigma"]))]
    positions = np.arange(len(views[0]))
    return views, np.where(positions < int(problem["k"]), positions, -1), int(problem["k"]), expected


@pytest.mark.parametrize("name", ["synth", "digits"])
def test_golden(golden, name):
    views, labels, k, expected = golden_problem(golden, name)
    # The first maps of the reference are not determined by its start, so they are given.
    maps = [expected[f"Gfirst{view + 1}"] for view in range(len(views))]
    sums = [cluster_sums(view, one_hot(labels, k)) for view in views]
    shared = np.sum([own.T @ total for own, total in zip(maps, sums, strict=True)], axis=0) / len(views)
    centers = polar(shared, xp=np).isometry
    result = solve_aimc(views, labels, k, prototypes=[own @ centers for own in maps])
    assert result.converged
    assert result.n_iter == len(expected["obj"])
    np.testing.assert_allclose(result.objective, expected["obj"], rtol=1e-10)
    np.testing.assert_allclose(result.weights, expected["alpha"], rtol=1e-10)
    np.testing.assert_array_equal(result.labels, expected["labels"] - 1)


@pytest.mark.parametrize("name", ["synth", "digits"])
def test_golden_centers_are_absorbed_by_the_maps(golden, name):
    """G_v F of the reference is the polar factor of the sums of the clusters, whatever F is."""
    views, _, k, expected = golden_problem(golden, name)
    labels = expected["labels"] - 1
    for view, rows in enumerate(views):
        product = expected[f"G{view + 1}"] @ expected["F"]
        own = polar(cluster_sums(rows, one_hot(labels, k)), xp=np).isometry
        # Up to the direction that is arbitrary, since the columns of the view have mean zero.
        centered = [one - one.mean(axis=1, keepdims=True) for one in (product, own)]
        np.testing.assert_allclose(*centered, atol=1e-6)


def test_objective_never_rises_and_is_half_the_sum_of_the_norms(seed):
    views = random_views(seed)
    labels = np.random.default_rng(seed).integers(3, size=30)
    result = solve_aimc(views, labels, 3, tol=0.0, max_iter=30)
    assert np.all(np.diff(result.objective) <= 1e-10)
    assert result.objective[-1] < result.objective[0]
    before = solve_aimc(views, labels, 3, tol=0.0, max_iter=result.n_iter - 1)
    residuals = []
    for view in views:
        left, _, right = np.linalg.svd(cluster_sums(view, one_hot(before.labels, 3)), full_matrices=False)
        residuals.append(np.linalg.norm(view - (left @ right).T[result.labels]))
    assert result.objective[-1] == pytest.approx(np.sum(residuals) / 2, rel=1e-10)
    np.testing.assert_allclose(result.weights, 0.5 / np.array(residuals), rtol=1e-10)


def test_the_first_labels_are_the_best_of_all(seed):
    views = random_views(seed, n_samples=7, widths=(3, 4))
    labels = np.arange(7) % 3
    result = solve_aimc(views, labels, 3, max_iter=1)
    prototypes = [polar(cluster_sums(view, one_hot(labels, 3)), xp=np).isometry for view in views]

    def cost(one):
        # Columns of completed prototypes have length one.
        fits = [
            np.sum(view**2) - 2 * np.sum(view * own.T[one]) + 7 for view, own in zip(views, prototypes, strict=True)
        ]
        return np.mean(fits)

    every = [np.array(one) for one in itertools.product(range(3), repeat=7) if len(set(one)) == 3]
    assert cost(result.labels) == pytest.approx(min(cost(one) for one in every))


def test_weights_favour_the_view_that_is_explained():
    data = make_views(90, 3, n_views=2, n_features=6, n_uninformative=1, noise=0.5, random_state=0)
    model = IntegralSpaceClustering(3, random_state=0).fit(data.views)
    assert np.argmin(model.view_weights_) == 2
    assert model.view_weights_.sum() == pytest.approx(1.0)


def test_published_start_depends_on_the_order_of_samples():
    data = make_views(60, 4, n_views=2, n_features=[5, 8], noise=2.5, random_state=2)
    agreements = []
    for seed in range(5):
        rows = np.random.default_rng(seed).permutation(60)
        permuted = [view[rows] for view in data.views.arrays]
        pair = [IntegralSpaceClustering(4, init="published").fit_predict(one) for one in (data.views, permuted)]
        agreements.append(adjusted_rand_score(pair[0][rows], pair[1]))
        default = [IntegralSpaceClustering(4, random_state=0).fit_predict(one) for one in (data.views, permuted)]
        assert adjusted_rand_score(default[0][rows], default[1]) == 1.0
    assert min(agreements) < 1.0


def test_sparse_views_are_clustered_as_dense_ones():
    data = make_views(80, 3, n_views=2, noise=0.5, random_state=0)
    views = [np.where(view > 0, view, 0.0) for view in data.views.arrays]
    dense, sparse = (
        IntegralSpaceClustering(3, random_state=0).fit(each)
        for each in (views, [scipy.sparse.csr_array(view) for view in views])
    )
    np.testing.assert_allclose(sparse.objective_, dense.objective_, rtol=1e-10)
    np.testing.assert_array_equal(sparse.labels_, dense.labels_)


def test_a_view_with_fewer_columns_than_clusters():
    truth = np.repeat(np.arange(4), 10)
    noise = 0.05 * np.random.default_rng(0).standard_normal((40, 6))
    views = [np.column_stack([truth % 2, truth // 2]) + noise[:, :2], np.eye(4)[truth] + noise[:, 2:]]
    assert adjusted_rand_score(truth, IntegralSpaceClustering(4, random_state=0).fit_predict(views)) == 1.0


def test_every_cluster_is_used_where_samples_coincide():
    rows = np.repeat(np.random.default_rng(0).standard_normal((3, 4)), 5, axis=0)
    labels = IntegralSpaceClustering(5, random_state=0).fit_predict([rows, rows[:, :3] ** 2])
    assert len(np.unique(labels)) == 5
