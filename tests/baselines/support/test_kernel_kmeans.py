"""Relaxed kernel k-means and the alternation with regularised weights."""

from __future__ import annotations

import numpy as np
import pytest

from latefusion.baselines.support.kernel_kmeans import (
    explained_traces,
    has_converged,
    kernel_kmeans,
    kernel_products,
    partition_costs,
    regularized_objective,
    solve_regularized_weights,
)


def random_kernels(rng, n_samples=30, n_kernels=4, rank=6):
    factors = rng.standard_normal((n_kernels, n_samples, rank))
    return [factor @ factor.T / rank for factor in factors]


def random_orthonormal(rng, n_samples, n_columns):
    return np.linalg.qr(rng.standard_normal((n_samples, n_columns)))[0]


def test_no_orthonormal_matrix_explains_more_than_the_partition(seed):
    rng = np.random.default_rng(seed)
    kernels = random_kernels(rng)
    coefficients = rng.random(4)
    partition, eigenvalues = kernel_kmeans(kernels, coefficients, 3)
    best = coefficients @ explained_traces(kernels, partition)
    np.testing.assert_allclose(partition.T @ partition, np.eye(3), atol=1e-12)
    assert best == pytest.approx(eigenvalues.sum())
    for size in (1e-3, 0.1, 10.0):
        nearby, _ = np.linalg.qr(partition + size * rng.standard_normal(partition.shape))
        assert coefficients @ explained_traces(kernels, nearby) < best


def test_costs_are_the_squared_distances_to_the_span(seed):
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((20, 5))
    partition = random_orthonormal(rng, 20, 3)
    outside = factor - partition @ (partition.T @ factor)
    np.testing.assert_allclose(partition_costs([factor @ factor.T], partition), [np.sum(outside**2)])


def test_costs_of_a_complete_basis_are_exactly_zero(seed):
    rng = np.random.default_rng(seed)
    kernels = random_kernels(rng)
    np.testing.assert_array_equal(partition_costs(kernels, random_orthonormal(rng, 30, 30)), np.zeros(4))


def test_kernel_products_are_traces_of_products(seed):
    kernels = random_kernels(np.random.default_rng(seed))
    expected = [[np.trace(left @ right) for right in kernels] for left in kernels]
    np.testing.assert_allclose(kernel_products(kernels), expected)


@pytest.mark.parametrize(
    ("objective", "settled"),
    [([], False), ([1.0, 1.0], False), ([2.0, 1.0, 1.0], True), ([1.0, 1.0, 0.9], False), ([1.0, 0.0, 0.0], True)],
)
def test_settles_from_the_third_value_on(objective, settled):
    assert has_converged(objective, 1e-6) is settled


def test_regularized_objective_never_rises_and_the_weights_are_optimal(seed):
    rng = np.random.default_rng(seed)
    kernels = random_kernels(rng)
    regularizer = 0.1 * kernel_products(kernels)
    result = solve_regularized_weights(kernels, 3, regularizer, tol=1e-10, max_iter=500)
    assert result.converged
    assert np.all(np.diff(result.objective) <= 1e-12 * result.objective[0])
    assert result.weights.min() >= 0
    assert result.weights.sum() == pytest.approx(1.0)
    costs = partition_costs(kernels, result.consensus)
    reached = regularized_objective(costs, result.weights, regularizer)
    assert reached <= result.objective[-1] * (1 + 1e-12)
    for _ in range(200):
        share = rng.choice([1e-4, 1e-2, 1.0])
        nearby = (1 - share) * result.weights + share * rng.dirichlet(np.ones(4))
        assert regularized_objective(costs, nearby, regularizer) >= reached * (1 - 1e-10)


def test_stops_at_the_cap_and_says_so(seed):
    kernels = random_kernels(np.random.default_rng(seed))
    result = solve_regularized_weights(kernels, 3, np.zeros((4, 4)), max_iter=2)
    assert (result.n_iter, len(result.objective), result.converged) == (2, 2, False)


def test_weights_depend_on_the_kernels_not_on_their_order(seed):
    rng = np.random.default_rng(seed)
    kernels = random_kernels(rng)
    regularizer = 0.01 * kernel_products(kernels)
    order = rng.permutation(4)
    straight = solve_regularized_weights(kernels, 3, regularizer)
    permuted = solve_regularized_weights([kernels[p] for p in order], 3, regularizer[np.ix_(order, order)])
    np.testing.assert_allclose(permuted.weights, straight.weights[order], atol=1e-8)


@pytest.mark.parametrize(("combination", "exponent"), [("squared", 2), ("linear", 1)])
def test_the_partition_is_that_of_the_kernels_as_they_are_combined(combination, exponent, seed):
    rng = np.random.default_rng(seed)
    kernels = [size * kernel for size, kernel in zip((1.0, 2.0, 4.0, 8.0), random_kernels(rng), strict=True)]
    regularizer = 0.05 * kernel_products(kernels)
    result = solve_regularized_weights(kernels, 3, regularizer, combination=combination, tol=1e-13, max_iter=2000)
    combined = sum(weight**exponent * kernel for weight, kernel in zip(result.weights, kernels, strict=True))
    leading = np.linalg.eigh(combined)[1][:, -3:]
    np.testing.assert_allclose(result.consensus @ result.consensus.T, leading @ leading.T, atol=1e-4)
