"""Thin factors must do what the n x n matrices they stand for would do."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from latefusion.baselines.support.low_rank_expression import (
    Product,
    compress,
    lower_singular_values,
    solve_gap_system,
    update_expression,
    zero_expression,
)
from tests.baselines.proximal import lower_dense_singular_values

N_SAMPLES = 20


def random_products(seed, ranks=(3, 2, 4)):
    generator = np.random.default_rng(seed)
    return [Product(*generator.standard_normal((2, N_SAMPLES, rank))) for rank in ranks]


@pytest.mark.parametrize("ranks", [(3, 2, 4), (9, 9, 9), (0, 2, 1)], ids=["thin", "wider than n", "empty term"])
def test_compressed_sum_is_the_sum(seed, ranks):
    terms = random_products(seed, ranks)
    expression = compress(terms, shift=0.7)
    total = sum(term.dense() for term in terms)
    np.testing.assert_allclose(expression.dense(), total, atol=1e-12)
    shifted = expression.left @ expression.shifted @ expression.right.T
    np.testing.assert_allclose(shifted, total + 0.7 * terms[-1].dense(), atol=1e-12)
    assert expression.left.shape[1] <= N_SAMPLES
    for basis in (expression.left, expression.right):
        np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-12)


def test_products_with_rows(seed):
    rows = np.random.default_rng(seed + 10).standard_normal((4, N_SAMPLES))
    terms = random_products(seed)
    expression = compress(terms, shift=0.0)
    np.testing.assert_allclose(terms[0].apply(rows), rows @ terms[0].dense(), atol=1e-12)
    np.testing.assert_allclose(expression.apply(rows), rows @ expression.dense(), atol=1e-12)
    np.testing.assert_allclose(expression.apply_transposed(rows), rows @ expression.dense().T, atol=1e-12)


@pytest.mark.parametrize("threshold", [0.5, 10.0, 1e3])
def test_threshold_is_that_of_the_dense_matrix(seed, threshold):
    terms = random_products(seed)
    expression = compress(terms, shift=0.7)
    lowered, nuclear_norm = lower_singular_values(expression, threshold)
    dense, dense_norm = lower_dense_singular_values(sum(t.dense() for t in terms) + 0.7 * terms[-1].dense(), threshold)
    np.testing.assert_allclose(lowered.dense(), dense, atol=1e-11)
    assert nuclear_norm == pytest.approx(dense_norm, abs=1e-10)


@pytest.mark.parametrize("shift", [1e-4, 1.0])
def test_gap_system_is_a_sylvester_equation(seed, shift):
    expression = compress(random_products(seed), shift=0.0)
    right_hand = np.random.default_rng(seed + 10).standard_normal((4, N_SAMPLES))
    gap = np.eye(N_SAMPLES) - expression.dense()
    expected = scipy.linalg.solve_sylvester(shift * np.eye(4), gap @ gap.T, right_hand)
    np.testing.assert_allclose(solve_gap_system(right_hand, expression, shift), expected, rtol=1e-7, atol=1e-8)


def test_gap_system_of_nothing():
    right_hand = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(solve_gap_system(right_hand, zero_expression(3), 0.5), right_hand / 1.5)


def test_expression_update_is_stationary(seed):
    generator = np.random.default_rng(seed)
    latent, targets = generator.standard_normal((2, 5, N_SAMPLES))
    auxiliary, dual, _ = random_products(seed + 10)
    center = auxiliary.dense() - dual.dense()
    expression = center + update_expression(latent, targets, auxiliary, dual).dense()
    gradient = -latent.T @ (latent - latent @ expression - targets) + expression - center
    np.testing.assert_allclose(gradient, 0.0, atol=1e-9)
