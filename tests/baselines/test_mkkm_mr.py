"""MKKM-MR against reference numbers of the paper's form and of the published one."""

from __future__ import annotations

import numpy as np
import pytest

from latefusion.baselines.mkkm import solve_mkkm
from latefusion.baselines.mkkm_mr import MatrixRegularizedMKKM, solve_mkkm_mr

VARIANTS = [("squared", "fixed"), ("linear", "published")]


@pytest.mark.parametrize(("combination", "variant"), VARIANTS)
@pytest.mark.parametrize("problem", ["synth", "digits"])
def test_golden(golden, problem, combination, variant):
    data, expected = golden(f"problem_{problem}"), golden(f"mkkm_mr_{variant}_{problem}")
    for number, regularization in enumerate(expected["lambdas"], start=1):
        result = solve_mkkm_mr(list(data["K"]), int(data["k"]), regularization=regularization, combination=combination)
        reference = expected[f"l{number}_F"]
        np.testing.assert_allclose(result.consensus @ result.consensus.T, reference @ reference.T, atol=1e-8)
        np.testing.assert_allclose(result.weights, expected[f"l{number}_gamma"], atol=1e-8)
        np.testing.assert_allclose(result.objective, expected[f"l{number}_obj"], rtol=1e-10)
        assert result.converged


@pytest.mark.parametrize("regularization", [2.0**-10, 2.0**-4, 1.0])
def test_squared_combination_never_rises(golden, regularization):
    result = solve_mkkm_mr(list(golden("problem_synth")["K"]), 3, regularization=regularization, tol=1e-12)
    assert np.all(np.diff(result.objective) <= 1e-12 * result.objective[0])


def test_linear_combination_can_rise(golden):
    # Known trap: the published partition step and weight step belong to different objectives.
    kernels = list(golden("problem_digits")["K"])
    rises = np.diff(solve_mkkm_mr(kernels, 10, regularization=1.0, combination="linear").objective)
    assert rises.max() > 1e-6


def test_without_penalty_it_is_mkkm(golden):
    kernels = list(golden("problem_synth")["K"])
    plain = solve_mkkm(kernels, 3, tol=1e-12, max_iter=200)
    result = solve_mkkm_mr(kernels, 3, regularization=0.0, tol=1e-12, max_iter=200)
    np.testing.assert_allclose(result.weights, plain.weights, atol=1e-6)


def test_large_penalties_forget_the_clusters(golden):
    kernels = list(golden("problem_synth")["K"])
    weights = [solve_mkkm_mr(kernels, k, regularization=2.0**15).weights for k in (2, 30)]
    np.testing.assert_allclose(weights[0], weights[1], atol=1e-4)


def test_penalty_grows_faster_than_the_costs(golden):
    # Known trap: twice the samples need half the regularisation for the same weights.
    kernels = [np.tile(kernel, (2, 2)) for kernel in golden("problem_synth")["K"]]
    single = solve_mkkm_mr(list(golden("problem_synth")["K"]), 3, regularization=0.0625)
    doubled = solve_mkkm_mr(kernels, 3, regularization=0.0625 / 2)
    np.testing.assert_allclose(doubled.weights, single.weights, atol=1e-8)


def test_a_twin_halves_the_weight_of_a_view(golden):
    kernels = golden("problem_synth")["K"]
    model = MatrixRegularizedMKKM(3, similarity="precomputed", random_state=0)
    weights = model.fit([kernels[0], kernels[1], kernels[1], kernels[2]]).view_weights_
    assert weights[1] == pytest.approx(weights[2])
    assert weights[1] < model.fit(list(kernels)).view_weights_[1]
