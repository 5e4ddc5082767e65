"""SimpleMKKM: the convex minimum, certified, also where the objective has kinks."""

from __future__ import annotations

import numpy as np
import pytest

from latefusion.baselines.simple_mkkm import SimpleMKKM, minimize_model, solve_simple_mkkm
from latefusion.kernels import combine_kernels, standardize_kernel


def largest_eigenvalue_sum(kernels, weights, n_clusters):
    return np.linalg.eigvalsh(combine_kernels(kernels, weights**2))[-n_clusters:].sum()


@pytest.mark.parametrize("problem", ["synth", "digits"])
def test_golden(golden, problem):
    data, expected = golden(f"problem_{problem}"), golden(f"simplemkkm_{problem}")
    result = solve_simple_mkkm(list(data["K"]), int(data["k"]))
    assert result.converged
    # The reference stops up to 2e-7 above the minimum, so ours lies below it.
    assert result.objective[-1] <= expected["obj_at_gamma"]
    assert result.objective[-1] == pytest.approx(float(expected["obj_at_gamma"]), rel=1e-6)
    np.testing.assert_allclose(result.weights, expected["gamma"], atol=5e-4)
    projector = expected["F_at_gamma"] @ expected["F_at_gamma"].T
    np.testing.assert_allclose(result.consensus @ result.consensus.T, projector, atol=5e-4)


def test_consensus_belongs_to_the_weights(golden):
    kernels = list(golden("problem_synth")["K"])
    result = solve_simple_mkkm(kernels, 3)
    combined = combine_kernels(kernels, result.weights**2)
    explained = np.vdot(result.consensus, combined @ result.consensus)
    assert explained == pytest.approx(result.objective[-1], rel=1e-12)
    assert explained == pytest.approx(largest_eigenvalue_sum(kernels, result.weights, 3), rel=1e-12)


def test_no_weights_do_better(golden, seed):
    rng = np.random.default_rng(seed)
    kernels = list(golden("problem_synth")["K"])
    result = solve_simple_mkkm(kernels, 3)
    assert np.all(np.diff(result.objective) <= 0)
    for _ in range(50):
        share = rng.choice([1e-3, 1e-2, 1.0])
        nearby = (1 - share) * result.weights + share * rng.dirichlet(np.ones(3))
        assert largest_eigenvalue_sum(kernels, nearby, 3) >= result.objective[-1] * (1 - 1e-7)


def kinked_kernels(rng, n_samples, n_kernels):
    kernels = []
    for _ in range(n_kernels):
        features = rng.standard_normal((n_samples, 3))
        squared = ((features[:, None] - features) ** 2).sum(axis=2)
        kernels.append(standardize_kernel(np.exp(-squared / squared.mean()))[0])
    return kernels


@pytest.mark.parametrize("n_clusters", [1, 2, 5])
@pytest.mark.parametrize("n_kernels", [2, 7, 15])
def test_certified_where_eigenvalues_meet(n_clusters, n_kernels, seed):
    kernels = kinked_kernels(np.random.default_rng(seed), 25, n_kernels)
    result = solve_simple_mkkm(kernels, n_clusters)
    assert result.converged
    reached = largest_eigenvalue_sum(kernels, result.weights, n_clusters)
    assert reached == pytest.approx(result.objective[-1], rel=1e-12)


def test_the_minimum_of_these_kernels_is_a_kink():
    # Here the two largest eigenvalues meet at the minimum: a method that follows gradients cannot stop there.
    kernels = kinked_kernels(np.random.default_rng(1), 25, 7)
    weights = solve_simple_mkkm(kernels, 1, tol=1e-9).weights
    values = np.linalg.eigvalsh(combine_kernels(kernels, weights**2))
    assert values[-1] == pytest.approx(values[-2], rel=1e-6)


def test_model_minimum_of_one_cut_is_the_harmonic_one():
    cuts = np.array([[1.0, 2.0, 4.0]])
    multipliers, weights, bound = minimize_model(cuts, np.ones(1))
    np.testing.assert_array_equal(multipliers, [1.0])
    np.testing.assert_allclose(weights, np.array([4.0, 2.0, 1.0]) / 7)
    assert bound == pytest.approx(1 / 1.75)


def test_model_minimum_is_the_lowest_maximum_of_the_cuts(seed):
    rng = np.random.default_rng(seed)
    cuts = rng.random((9, 4)) + 0.1
    start = np.eye(9)[0]
    multipliers, weights, bound = minimize_model(cuts, start)
    assert multipliers.min() >= 0
    assert multipliers.sum() == pytest.approx(1.0)
    assert np.max(cuts @ weights**2) == pytest.approx(bound, rel=1e-6)
    for _ in range(200):
        share = rng.choice([1e-3, 1e-2, 1.0])
        nearby = (1 - share) * weights + share * rng.dirichlet(np.ones(4))
        assert np.max(cuts @ nearby**2) >= bound * (1 - 1e-12)


def test_twins_count_as_one_view(golden):
    # Two copies share what one would get: γ_1² + γ_2² is smallest when they are equal.
    kernels = golden("problem_synth")["K"]
    model = SimpleMKKM(3, similarity="precomputed", random_state=0)
    weights = model.fit([kernels[0], kernels[1], kernels[1]]).view_weights_
    assert weights[1] == pytest.approx(weights[2], abs=1e-6)
