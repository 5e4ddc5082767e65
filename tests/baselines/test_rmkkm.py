"""RMKKM: its clustering and its weight step against reference numbers, whole runs against the reference objective."""

from __future__ import annotations

import numpy as np
import pytest

from latefusion.baselines.rmkkm import (
    RobustClustering,
    RobustMKKM,
    nearest_centers,
    own_center_deviations,
    random_centers,
    reweighted_centers,
    robust_kernel_kmeans,
    robust_weights,
    solve_rmkkm,
    squared_distances,
)

PROBLEMS = ["synth", "digits"]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_golden_clustering(golden, problem):
    data, expected = golden(f"problem_{problem}"), golden(f"rmkkm_{problem}")
    kernel, n_clusters = data["K"].mean(axis=0), int(data["k"])
    seeds = np.zeros((len(kernel), n_clusters))
    seeds[expected["l21_seeds"], np.arange(n_clusters)] = 1.0
    found = robust_kernel_kmeans(kernel, seeds)
    np.testing.assert_array_equal(found.labels + 1, expected["l21_labels"])
    assert found.distances.sum() == pytest.approx(float(expected["l21_obj"]), rel=1e-12)
    np.testing.assert_allclose(np.bincount(found.labels, found.distances), expected["l21_sumD"], atol=1e-10)
    # The reference updates its centres once more after the labels have settled.
    centers = reweighted_centers(found.distances**2, found.labels, n_clusters)
    np.testing.assert_allclose(centers, expected["l21_center"], atol=1e-10)


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_golden_weight_step(golden, problem, number):
    data, expected = golden(f"problem_{problem}"), golden(f"rmkkm_{problem}")
    prefix, exponent = f"g{number}_", float(expected["gammas"][number - 1])
    centers, labels = expected[prefix + "center"], expected[prefix + "labels"] - 1
    deviations = own_center_deviations(list(data["K"]), RobustClustering(labels, centers, np.empty(0)))
    weights, slopes = robust_weights(deviations, expected[prefix + "kw_prev"], exponent)
    np.testing.assert_allclose(slopes, expected[prefix + "h"], rtol=1e-10)
    np.testing.assert_allclose(weights, expected[prefix + "kw"], atol=1e-10)
    assert np.sqrt(deviations @ weights).sum() == pytest.approx(expected[prefix + "objHistory"][-1], rel=1e-10)


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_whole_runs_reach_the_reference(golden, problem, number):
    data, expected = golden(f"problem_{problem}"), golden(f"rmkkm_{problem}")
    exponent = float(expected["gammas"][number - 1])
    result = solve_rmkkm(list(data["K"]), int(data["k"]), exponent=exponent, random_state=np.random.RandomState(0))
    assert result.converged
    assert result.objective[-1] <= 1.02 * expected[f"g{number}_objHistory"].min()
    assert np.all(np.diff(result.objective) <= 0)
    assert np.sum(result.weights**exponent) == pytest.approx(1.0)


def test_distances_are_those_of_the_features(seed):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((12, 4))
    coefficients = rng.dirichlet(np.ones(12), size=3).T
    centers = coefficients.T @ features
    expected = ((features[:, None] - centers) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared_distances(features @ features.T, coefficients), expected)


def test_rounds_of_the_clustering_lower_the_sum_of_distances(golden):
    kernel = golden("problem_synth")["K"].mean(axis=0)
    start = random_centers(150, 3, np.random.RandomState(0))
    sums = [robust_kernel_kmeans(kernel, start, max_iter=rounds).distances.sum() for rounds in range(1, 12)]
    assert np.all(np.diff(sums) <= 1e-12)
    assert sums[-1] < sums[0]


def test_no_weights_beat_the_tangent_minimum(seed):
    rng = np.random.default_rng(seed)
    deviations, exponent = rng.random((20, 4)), 0.4
    old = rng.random(4)
    old /= np.sum(old**exponent) ** (1 / exponent)
    weights, slopes = robust_weights(deviations, old, exponent)
    assert np.sum(weights**exponent) == pytest.approx(1.0)
    assert np.sqrt(deviations @ weights).sum() <= np.sqrt(deviations @ old).sum()
    for _ in range(200):
        other = weights * np.exp(rng.choice([1e-3, 0.1, 1.0]) * rng.standard_normal(4))
        other /= np.sum(other**exponent) ** (1 / exponent)
        assert slopes @ other >= slopes @ weights * (1 - 1e-12)


def test_empty_clusters_take_far_samples_and_empty_no_other():
    # The farthest sample is alone in its cluster, so the second farthest moves.
    squared = np.array([[0.1, 9.0, 9.0], [0.2, 9.0, 9.0], [0.7, 9.0, 9.0], [9.0, 0.9, 9.0]])
    np.testing.assert_array_equal(nearest_centers(squared), [0, 0, 2, 1])


def test_identical_samples_still_fill_every_cluster():
    kernel = np.ones((6, 6))
    found = robust_kernel_kmeans(kernel, random_centers(6, 3, np.random.RandomState(0)))
    assert set(found.labels) == {0, 1, 2}
    np.testing.assert_array_equal(found.distances, 0.0)


@pytest.mark.parametrize("scale", [1e-15, 1e15])
def test_the_unit_of_the_kernel_does_not_matter(golden, scale):
    # Known trap: with 18 kernels and exponent 0.1 the weights add up to 1e-12.
    kernel = golden("problem_synth")["K"].mean(axis=0)
    start = random_centers(150, 3, np.random.RandomState(0))
    plain, scaled = robust_kernel_kmeans(kernel, start), robust_kernel_kmeans(scale * kernel, start)
    np.testing.assert_array_equal(plain.labels, scaled.labels)
    np.testing.assert_allclose(scaled.centers, plain.centers, atol=1e-12)


def test_an_outlier_pulls_a_centre_less_than_in_kmeans():
    features = np.array([[0.0], [0.1], [-0.1], [10.0]])
    found = robust_kernel_kmeans(features @ features.T, np.full((4, 1), 0.25))
    assert abs(found.centers[:, 0] @ features[:, 0]) < 0.5 * features.mean()


def test_exponents_near_one_choose_a_single_view(golden):
    kernels = list(golden("problem_synth")["K"])
    largest = []
    for exponent in (0.3, 0.9):
        weights = RobustMKKM(3, similarity="precomputed", exponent=exponent, random_state=0).fit(kernels).view_weights_
        largest.append(weights.max() / weights.sum())
    assert largest[0] < 0.5 < 0.95 < largest[1]


def test_the_seed_decides(golden):
    kernels = list(golden("problem_synth")["K"])
    first, second = (RobustMKKM(3, similarity="precomputed", random_state=3).fit(kernels) for _ in range(2))
    np.testing.assert_array_equal(first.labels_, second.labels_)
    np.testing.assert_array_equal(first.objective_, second.objective_)
