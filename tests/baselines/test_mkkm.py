"""MKKM against reference numbers; its weight update; its exponent."""

from __future__ import annotations

import numpy as np
import pytest

from latefusion.baselines.mkkm import MultipleKernelKMeans, optimal_weights, solve_mkkm


@pytest.mark.parametrize("problem", ["synth", "digits"])
def test_golden(golden, problem):
    data, expected = golden(f"problem_{problem}"), golden(f"mkkm_{problem}")
    result = solve_mkkm(list(data["K"]), int(data["k"]))
    projector = expected["F"] @ expected["F"].T
    np.testing.assert_allclose(result.consensus @ result.consensus.T, projector, atol=1e-8)
    np.testing.assert_allclose(result.weights, expected["gamma"], atol=1e-8)
    np.testing.assert_allclose(result.objective, expected["obj"], rtol=1e-10)
    assert result.converged


@pytest.mark.parametrize("problem", ["synth", "digits"])
def test_agrees_with_ten_iterations_of_another_implementation(golden, problem):
    data, expected = golden(f"problem_{problem}"), golden(f"mkkm_{problem}")
    result = solve_mkkm(list(data["K"]), int(data["k"]), max_iter=10, tol=-1.0)
    np.testing.assert_allclose(result.objective, -expected["gonen_obj"], rtol=1e-8)
    np.testing.assert_allclose(result.weights, expected["gonen_gamma"], atol=1e-8)


@pytest.mark.parametrize("exponent", [1.2, 2.0, 5.0])
def test_no_point_of_the_simplex_beats_the_weights(seed, exponent):
    rng = np.random.default_rng(seed)
    costs = rng.random(5) + 0.1
    weights = optimal_weights(costs, exponent)
    lowest = costs @ weights**exponent
    assert weights.sum() == pytest.approx(1.0)
    for _ in range(200):
        share = rng.choice([1e-4, 1e-2, 1.0])
        nearby = (1 - share) * weights + share * rng.dirichlet(np.ones(5))
        assert costs @ nearby**exponent >= lowest * (1 - 1e-12)


def test_kernels_without_cost_share_the_weight():
    np.testing.assert_array_equal(optimal_weights(np.array([1.0, 0.0, 2.0, 0.0]), 2.0), [0.0, 0.5, 0.0, 0.5])


def test_weights_survive_costs_of_any_scale():
    np.testing.assert_allclose(optimal_weights(np.array([1e-200, 1e-200, 1e200]), 1.1), [0.5, 0.5, 0.0])


@pytest.mark.parametrize("exponent", [1.3, 2.0, 4.0])
def test_objective_never_rises(golden, exponent):
    kernels = list(golden("problem_synth")["K"])
    result = solve_mkkm(kernels, 3, exponent=exponent, tol=1e-9, max_iter=200)
    assert np.all(np.diff(result.objective) <= 1e-12 * result.objective[0])


def test_larger_exponents_spread_the_weight(golden):
    kernels = list(golden("problem_synth")["K"])
    largest = [solve_mkkm(kernels, 3, exponent=q, max_iter=500).weights.max() for q in (1.3, 2.0, 4.0)]
    assert largest[0] > largest[1] > largest[2]


def test_a_nearly_low_rank_kernel_takes_the_weight(golden):
    # Known trap: such a kernel is explained well by any partition that contains its few directions.
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((150, 2))
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    kernels = [*golden("problem_synth")["K"], noise @ noise.T + 1e-3 * np.eye(150)]
    assert solve_mkkm(kernels, 3).weights[3] > 0.9


def test_as_many_clusters_as_samples_cost_nothing():
    rng = np.random.default_rng(0)
    model = MultipleKernelKMeans(10, random_state=0).fit([rng.standard_normal((10, 3)), rng.standard_normal((10, 2))])
    np.testing.assert_array_equal(model.objective_, 0.0)
    np.testing.assert_array_equal(model.view_weights_, [0.5, 0.5])
    assert len(set(model.labels_)) == 10


def test_a_kernel_explained_completely_ends_the_iterations():
    # Three centred samples span two dimensions: the objective falls to rounding error and must be recognised as zero.
    rng = np.random.default_rng(0)
    for _ in range(20):
        model = MultipleKernelKMeans(2, random_state=0).fit([rng.standard_normal((3, 10)) for _ in range(2)])
        assert model.converged_
