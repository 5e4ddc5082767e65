"""Many quadratic programmes over the simplex: optimality conditions, a general solver, and the two methods in it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from latefusion.baselines.support import simplex_regression
from latefusion.baselines.support.simplex import project_rows_to_simplex
from latefusion.baselines.support.simplex_regression import regress_on_simplex
from tests.properties import examples


def problem(seed, n_samples=20, size=6, rank=3, ridge=0.1, scale=1.0):
    generator = np.random.default_rng(seed)
    anchors = scale * generator.standard_normal((size, rank))
    samples = scale * generator.standard_normal((n_samples, rank))
    return anchors @ anchors.T + ridge * np.eye(size), samples @ anchors.T


def assert_optimal(hessian, targets, weights):
    """KKT: where a weight is positive the gradient is lowest, and nowhere is it lower."""
    scale = np.abs(hessian).max() + np.abs(targets).max()
    assert weights.min() >= 0
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-12)
    gradient = (weights @ hessian - targets) / scale
    lowest = np.sum(weights * gradient, axis=1, keepdims=True)
    assert np.all(gradient >= lowest - 1e-11)


@examples(80)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 9),
    rank=st.integers(1, 4),
    ridge=st.sampled_from([1e-8, 1e-2, 1.0]),
    scale=st.sampled_from([1e-3, 1.0, 1e4]),
)
def test_rows_are_optimal(seed, size, rank, ridge, scale):
    hessian, targets = problem(seed, size=size, rank=rank, ridge=ridge * scale**2, scale=scale)
    assert_optimal(hessian, targets, regress_on_simplex(hessian, targets))


def test_rows_agree_with_a_general_solver(seed):
    hessian, targets = problem(seed, n_samples=5)
    found = regress_on_simplex(hessian, targets)
    for row, target in zip(found, targets, strict=True):
        general = scipy.optimize.minimize(
            lambda z, target=target: 0.5 * z @ hessian @ z - target @ z,
            np.full(6, 1 / 6),
            jac=lambda z, target=target: hessian @ z - target,
            bounds=[(0, None)] * 6,
            constraints={"type": "eq", "fun": lambda z: z.sum() - 1, "jac": np.ones_like},
            method="SLSQP",
            options={"ftol": 1e-14},
        )
        np.testing.assert_allclose(row, general.x, atol=1e-5)


def test_a_multiple_of_the_identity_is_a_projection(seed):
    targets = np.random.default_rng(seed).standard_normal((10, 5))
    np.testing.assert_allclose(
        regress_on_simplex(2.5 * np.eye(5), 2.5 * targets), project_rows_to_simplex(targets), atol=1e-14
    )


def test_the_descent_finds_the_same_rows(seed):
    hessian, targets = problem(seed, n_samples=200, size=12, ridge=1e-3)
    offset = targets - targets.max(axis=1, keepdims=True)
    descended = simplex_regression._descend(hessian, offset)
    assert_optimal(hessian, targets, descended)
    np.testing.assert_allclose(descended, regress_on_simplex(hessian, targets), atol=1e-9)


def test_rows_that_do_not_settle_descend(monkeypatch, seed):
    hessian, targets = problem(seed, n_samples=50, size=12, ridge=1e-3)
    expected = regress_on_simplex(hessian, targets)
    monkeypatch.setattr(simplex_regression, "ROUNDS", 1)
    np.testing.assert_allclose(regress_on_simplex(hessian, targets), expected, atol=1e-9)


def test_a_nearly_singular_hessian_is_solved_to_rounding():
    # Anchors with few columns of large numbers: the descent must end, at a point that satisfies the conditions.
    hessian, targets = problem(0, n_samples=500, size=30, rank=4, ridge=0.01, scale=1e4)
    assert_optimal(hessian, targets, regress_on_simplex(hessian, targets))
    assert_optimal(hessian, targets, simplex_regression._descend(hessian / 1e8, targets / 1e8))


def test_identical_anchors_share_their_weight(seed):
    hessian, targets = problem(seed, size=4)
    twice = np.kron(hessian - 0.1 * np.eye(4), np.ones((2, 2))) + 0.1 * np.eye(8)
    weights = regress_on_simplex(twice, np.repeat(targets, 2, axis=1))
    np.testing.assert_allclose(weights[:, ::2], weights[:, 1::2], atol=1e-12)


@pytest.mark.parametrize("block", [1, 100])
def test_blocks_do_not_matter(monkeypatch, block):
    hessian, targets = problem(3)
    whole = regress_on_simplex(hessian, targets)
    monkeypatch.setattr(simplex_regression, "BLOCK_ENTRIES", block)
    np.testing.assert_allclose(regress_on_simplex(hessian, targets), whole, atol=1e-14)


def test_equal_anchors_have_a_solution():
    """Two equal anchors and no ridge: the Hessian is singular, and any share of the two is a solution."""
    anchors = np.array([[0.0, 0.0], [1e6, 0.0], [1e6, 0.0], [0.0, 1e6]])
    samples = np.array([[7e5, 0.0], [1e6, 0.0], [0.0, 3e5], [2e5, 5e5]])
    weights = regress_on_simplex(anchors @ anchors.T, samples @ anchors.T)
    np.testing.assert_allclose(weights @ anchors, samples, atol=1e-2)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert weights.min() >= 0
