"""Centering, unit diagonals and combination of kernels, and the same for new samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latefusion.kernels import (
    center_kernel,
    combine_kernels,
    fit_kernel,
    gaussian_kernel,
    linear_kernel,
    normalize_kernel,
    standardize_kernel,
)
from tests.properties import examples

seeds = st.integers(0, 2**32 - 1)


def random_kernel(seed, n=8, d=3):
    rows = np.random.default_rng(seed).standard_normal((n, d)) + 0.5
    return linear_kernel(rows), rows


@examples(30)
@given(seed=seeds, n=st.integers(2, 15), d=st.integers(1, 5))
def test_centering_is_the_kernel_of_centered_features(seed, n, d):
    kernel, rows = random_kernel(seed, n, d)
    centered = center_kernel(kernel)
    np.testing.assert_allclose(centered.sum(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(centered.sum(axis=1), 0, atol=1e-10)
    np.testing.assert_allclose(centered, linear_kernel(rows - rows.mean(axis=0)), atol=1e-10)
    np.testing.assert_allclose(center_kernel(centered), centered, atol=1e-10)


@examples(30)
@given(seed=seeds, n=st.integers(2, 15), scale=st.sampled_from([1e-300, 1e-9, 1.0, 1e9, 1e140]))
def test_normalizing_gives_cosines(seed, n, scale):
    kernel, rows = random_kernel(seed, n)
    normalized = normalize_kernel(kernel * scale)
    np.testing.assert_array_equal(np.diagonal(normalized), 1.0)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(normalized, unit @ unit.T, atol=1e-10)


def test_a_sample_at_the_origin_has_similarity_zero():
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 1.0]])
    normalized = normalize_kernel(linear_kernel(rows))
    assert not normalized[0].any()
    assert not normalized[:, 0].any()
    np.testing.assert_array_equal(np.diagonal(normalized), [0.0, 1.0, 1.0])


@examples(40)
@given(seed=seeds, n=st.integers(1, 10), single=st.booleans())
def test_a_sample_at_the_mean_has_similarity_zero(seed, n, single):
    """Its centered self-similarity is zero but for rounding errors, which must not be blown up to unit length."""
    generator = np.random.default_rng(seed)
    steps = generator.standard_normal((n, 2))
    rows = 10 * generator.standard_normal(2) + np.r_[np.zeros((1, 2)), steps, -steps]
    standardized, statistics = standardize_kernel(linear_kernel(rows.astype(np.float32 if single else np.float64)))
    assert not standardized[0].any()
    assert not standardized[:, 0].any()
    assert statistics.inverse_root[0] == 0.0
    assert np.isfinite(standardized).all()


@pytest.mark.parametrize("kernel", [np.ones((4, 4)), np.zeros((4, 4)), np.full((4, 4), 3.7), -np.ones((3, 3))])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_constant_kernels_vanish_without_nan(kernel, dtype):
    standardized, statistics = standardize_kernel(kernel.astype(dtype))
    assert not standardized.any()
    assert not statistics.inverse_root.any()


@examples(30)
@given(seed=seeds, n=st.integers(2, 15))
def test_standardizing_is_centering_then_normalizing(seed, n):
    kernel, _ = random_kernel(seed, n)
    expected = normalize_kernel(center_kernel(kernel))
    standardized, _ = standardize_kernel(kernel)
    np.testing.assert_allclose(standardized, expected, atol=1e-9)


@examples(30)
@given(seed=seeds, n=st.integers(3, 15))
def test_statistics_give_training_samples_their_rows(seed, n):
    kernel, _ = random_kernel(seed, n)
    standardized, statistics = standardize_kernel(kernel)
    np.testing.assert_allclose(statistics.apply(kernel, np.diagonal(kernel)), standardized, atol=1e-9)
    np.testing.assert_allclose(statistics.apply(kernel[1:3], np.diagonal(kernel)[1:3]), standardized[1:3], atol=1e-9)


def test_statistics_center_new_samples_by_the_training_mean():
    rng = np.random.default_rng(3)
    rows, new = rng.standard_normal((10, 3)), rng.standard_normal((4, 3))
    _, statistics = standardize_kernel(linear_kernel(rows))
    got = statistics.apply(linear_kernel(new, rows), np.sum(new**2, axis=1))
    moved, moved_new = rows - rows.mean(axis=0), new - rows.mean(axis=0)
    lengths = np.outer(np.linalg.norm(moved_new, axis=1), np.linalg.norm(moved, axis=1))
    np.testing.assert_allclose(got, moved_new @ moved.T / lengths, atol=1e-12)


@pytest.mark.parametrize("function", [center_kernel, normalize_kernel, lambda kernel: standardize_kernel(kernel)[0]])
def test_input_stays_and_precision_is_kept(function):
    kernel, _ = random_kernel(0)
    kernel.setflags(write=False)
    assert function(kernel).dtype == np.float64
    single = kernel.astype(np.float32)
    single.setflags(write=False)
    assert function(single).dtype == np.float32
    np.testing.assert_allclose(function(single), function(kernel), atol=1e-4)
    assert function(np.eye(3, dtype=np.int8)).dtype == np.float64


def test_memory_is_reused_only_on_request():
    kernel, _ = random_kernel(0)
    expected, _ = standardize_kernel(kernel)
    result, _ = standardize_kernel(kernel, overwrite=True)
    assert result is kernel
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("problem", ["problem_synth", "problem_digits"])
def test_standardized_golden_kernels(golden, problem):
    data = golden(problem)
    for position, expected in enumerate(data["K"]):
        view = data[f"X{position + 1}"]
        standardized, _ = standardize_kernel(fit_kernel("gaussian", view)(view))
        np.testing.assert_allclose(standardized, expected, atol=1e-10)


def test_combination_is_a_weighted_sum():
    kernels = [gaussian_kernel(np.random.default_rng(seed).standard_normal((5, 2))) for seed in range(3)]
    np.testing.assert_allclose(combine_kernels(kernels), np.mean(kernels, axis=0), rtol=1e-14)
    weights = [0.5, 0.0, 2.0]
    np.testing.assert_allclose(combine_kernels(kernels, weights), np.tensordot(weights, kernels, axes=1), rtol=1e-14)


def test_combination_keeps_the_inputs_and_the_wider_type():
    one = np.eye(3, dtype=np.float32)
    assert combine_kernels([one, one], np.array([0.5, 0.5])).dtype == np.float32
    assert combine_kernels([one, np.eye(3)]).dtype == np.float64
    np.testing.assert_array_equal(
        combine_kernels([np.eye(2, dtype=int), np.eye(2, dtype=int)], [1, 0.5]), 1.5 * np.eye(2)
    )
    np.testing.assert_array_equal(one, np.eye(3))


def test_combination_needs_one_weight_per_kernel():
    with pytest.raises(ValueError, match="2 kernels but 3 weights"):
        combine_kernels([np.eye(2), np.eye(2)], [1, 2, 3])
