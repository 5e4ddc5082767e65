"""LMKKM against reference numbers, and its quadratic programme against optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest

from latefusion.baselines.lmkkm import (
    LocalizedMKKM,
    localized_objective,
    minimize_over_simplices,
    solve_lmkkm,
)
from latefusion.baselines.mkkm import solve_mkkm


@pytest.mark.parametrize("problem", ["synth", "digits"])
def test_golden(golden, problem):
    data, expected = golden(f"problem_{problem}"), golden(f"lmkkm_{problem}")
    result, sample_weights = solve_lmkkm(list(data["K"]), int(data["k"]))
    np.testing.assert_allclose(result.objective, -expected["obj"], rtol=1e-6)
    np.testing.assert_allclose(sample_weights, expected["Theta"], atol=1e-3)
    projector = expected["F"] @ expected["F"].T
    np.testing.assert_allclose(result.consensus @ result.consensus.T, projector, atol=1e-5)


def random_quadratics(rng, n_samples=30, n_kernels=4, rank=40):
    factors = rng.standard_normal((n_kernels, n_samples, rank))
    quadratics = factors @ factors.transpose(0, 2, 1)
    return quadratics, float(np.linalg.eigvalsh(quadratics).max())


def value_at(quadratics, sample_weights):
    return np.einsum("ip,pij,jp->", sample_weights, quadratics, sample_weights)


def test_no_feasible_weights_nearby_do_better(seed):
    rng = np.random.default_rng(seed)
    quadratics, curvature = random_quadratics(rng)
    solution, value = minimize_over_simplices(quadratics, np.full((30, 4), 0.25), curvature)
    assert solution.min() >= 0
    np.testing.assert_allclose(solution.sum(axis=1), 1.0)
    assert value == pytest.approx(value_at(quadratics, solution))
    for _ in range(200):
        share = rng.choice([1e-4, 1e-2, 1.0])
        nearby = (1 - share) * solution + share * rng.dirichlet(np.ones(4), size=30)
        assert value_at(quadratics, nearby) >= value * (1 - 1e-8)


def test_minimum_does_not_depend_on_the_start(seed):
    rng = np.random.default_rng(seed)
    quadratics, curvature = random_quadratics(rng)
    values = [
        minimize_over_simplices(quadratics, rng.dirichlet(np.full(4, 0.3), size=30), curvature)[1] for _ in range(3)
    ]
    np.testing.assert_allclose(values, values[0], rtol=2e-8)


def test_objective_never_rises_and_is_that_of_the_result(golden):
    kernels = list(golden("problem_synth")["K"])
    result, sample_weights = solve_lmkkm(kernels, 3, max_iter=25)
    assert np.all(np.diff(result.objective) <= 1e-8 * result.objective[0])
    assert localized_objective(kernels, result.consensus, sample_weights) == pytest.approx(result.objective[-1])


def test_weights_of_samples_reach_below_weights_of_views(golden):
    kernels = list(golden("problem_synth")["K"])
    assert solve_lmkkm(kernels, 3)[0].objective[-1] < solve_mkkm(kernels, 3, tol=1e-12).objective[-1]


def test_a_tolerance_ends_the_iterations(golden):
    kernels = list(golden("problem_synth")["K"])
    result, _ = solve_lmkkm(kernels, 3, max_iter=100, tol=1e-4)
    assert result.converged
    assert result.n_iter < 10
    assert not solve_lmkkm(kernels, 3, max_iter=4, tol=1e-9)[0].converged


def test_twins_share_their_weight(golden):
    kernels = golden("problem_synth")["K"]
    model = LocalizedMKKM(3, similarity="precomputed", random_state=0).fit([kernels[0], kernels[0], kernels[1]])
    np.testing.assert_allclose(model.sample_weights_[:, 0], model.sample_weights_[:, 1], atol=1e-10)
    np.testing.assert_allclose(model.view_weights_, model.sample_weights_.mean(axis=0))
