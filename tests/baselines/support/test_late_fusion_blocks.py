"""Blocks of late fusion: each is the best point of its own set, and nothing that is missing is ever read."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from latefusion.baselines.support.late_fusion_blocks import (
    align_rotations,
    alignments,
    base_partitions,
    fuse,
    observed_kernels,
    start_rotations,
    view_weights,
)
from latefusion.kernels import gaussian_kernel, standardize_kernel
from latefusion.similarities import GraphSimilarity, KernelSimilarity, PrecomputedSimilarity


@pytest.fixture
def features(seed):
    generator = np.random.default_rng(seed)
    return [generator.standard_normal((30, width)) for width in (4, 6)]


@pytest.fixture
def mask(seed):
    observed = np.ones((30, 2), dtype=bool)
    missing = np.random.default_rng(seed).permutation(30)
    observed[missing[:7], 0] = False
    observed[missing[7:10], 1] = False
    return observed


def random_orthogonal(generator, size):
    return np.linalg.qr(generator.standard_normal((size, size)))[0]


def test_kernels_of_the_observed_block(features, mask):
    kernels = observed_kernels(features, [KernelSimilarity()] * 2, mask, 3)
    for view, observed, kernel in zip(features, mask.T, kernels, strict=True):
        assert not kernel[~observed].any()
        assert not kernel[:, ~observed].any()
        expected = standardize_kernel(gaussian_kernel(view[observed]))[0]
        np.testing.assert_allclose(kernel[np.ix_(observed, observed)], expected, atol=1e-10)


@pytest.mark.parametrize("kind", ["features", "sparse", "kernels"])
def test_values_of_missing_samples_do_not_matter(features, mask, kind):
    similarity = PrecomputedSimilarity() if kind == "kernels" else KernelSimilarity()

    def kernels_of(views):
        if kind == "kernels":
            views = [gaussian_kernel(view, sigma=2.0) for view in views]
        if kind == "sparse":
            views = [scipy.sparse.csr_array(view) for view in views]
        return observed_kernels(views, [similarity] * 2, mask, 3)

    garbage = [np.where(observed[:, None], view, 77.0) for view, observed in zip(features, mask.T, strict=True)]
    for expected, found in zip(kernels_of(features), kernels_of(garbage), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_no_mask_means_everything_is_observed(features):
    everything = np.ones((30, 2), dtype=bool)
    with_mask = observed_kernels(features, [KernelSimilarity(), GraphSimilarity()], everything, 3)
    without = observed_kernels(features, [KernelSimilarity(), GraphSimilarity()], None, 3)
    for expected, found in zip(with_mask, without, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_base_partitions_have_zero_rows_where_nothing_is_observed(features, mask):
    partitions, average = base_partitions(observed_kernels(features, [KernelSimilarity()] * 2, mask, 3), 3)
    for partition, observed in zip(partitions, mask.T, strict=True):
        np.testing.assert_allclose(partition[~observed], 0.0, atol=1e-12)
        np.testing.assert_allclose(partition.T @ partition, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(average.T @ average, np.eye(3), atol=1e-10)


def test_directions_that_a_kernel_does_not_have_are_zero(seed):
    thin = np.random.default_rng(seed).standard_normal((20, 2))
    partitions, _ = base_partitions([thin @ thin.T], 5)
    assert np.linalg.matrix_rank(partitions[0]) == 2
    np.testing.assert_array_equal(partitions[0][:, 2:], 0.0)


def test_what_counts_as_a_direction():
    """An eigenvalue a thousand million times smaller than the largest does, one that may be a rounding error not."""
    kernel = np.diag([1.0, 1e-9, 1e-13, 0.0])
    partitions, average = base_partitions([kernel], 4)
    for partition in (*partitions, average):
        np.testing.assert_allclose(np.linalg.norm(partition, axis=0), [1, 1, 0, 0])


def test_golden_base_partitions(golden):
    problem = golden("problem_synth")
    partitions, average = base_partitions(list(problem["K"]), int(problem["k"]))
    for found, expected in zip([*partitions, average], [*problem["HP"], problem["M"]], strict=True):
        np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-8)


def test_no_rotation_aligns_better(seed):
    generator = np.random.default_rng(seed)
    partitions = list(generator.standard_normal((2, 15, 3)))
    target = generator.standard_normal((15, 3))
    best = alignments(partitions, align_rotations(partitions, target), target)
    for _ in range(50):
        others = [random_orthogonal(generator, 3) for _ in partitions]
        assert np.all(alignments(partitions, others, target) <= best + 1e-12)


def test_aligned_start_ignores_the_signs_of_eigenvectors(seed):
    generator = np.random.default_rng(seed)
    partitions = [np.linalg.qr(generator.standard_normal((15, 3)))[0] for _ in range(2)]
    average = np.linalg.qr(generator.standard_normal((15, 3)))[0]
    flipped = [partition * generator.choice([-1.0, 1.0], size=3) for partition in partitions]
    weights = np.array([0.6, 0.8])
    expected = fuse(partitions, start_rotations(partitions, average, "align"), weights)
    found = fuse(flipped, start_rotations(flipped, average, "align"), weights)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    for rotation in start_rotations(flipped, average, "identity"):
        np.testing.assert_array_equal(rotation, np.eye(3))


def test_fused_is_the_weighted_sum(seed):
    generator = np.random.default_rng(seed)
    partitions, rotations = generator.standard_normal((2, 15, 3)), generator.standard_normal((2, 3, 3))
    weights = np.array([0.6, 0.8])
    expected = 0.6 * partitions[0] @ rotations[0] + 0.8 * partitions[1] @ rotations[1]
    np.testing.assert_allclose(fuse(list(partitions), list(rotations), weights), expected, atol=1e-12)
    alone = fuse(list(partitions[:1]), list(rotations[:1]), np.ones(1))
    np.testing.assert_allclose(alone, partitions[0] @ rotations[0], atol=1e-12)


@pytest.mark.parametrize("exponent", [1.01, 1.5, 2.0, 4.0])
def test_no_feasible_weights_do_better(seed, exponent):
    generator = np.random.default_rng(seed)
    gains = generator.uniform(0.1, 300.0, size=5)
    weights = view_weights(gains, exponent)
    assert np.sum(weights**exponent) == pytest.approx(1.0)
    others = generator.uniform(size=(500, 5))
    others /= np.sum(others**exponent, axis=1, keepdims=True) ** (1 / exponent)
    assert np.all(others @ gains <= weights @ gains * (1 + 1e-12))


def test_weights_of_views_that_disagree():
    np.testing.assert_allclose(view_weights(np.array([3.0, -5.0, 4.0])), [0.6, 0.0, 0.8])
    np.testing.assert_allclose(view_weights(np.array([-3.0, -1.0, -4.0])), [0.0, 1.0, 0.0])
    np.testing.assert_allclose(view_weights(np.zeros(2)), [1.0, 0.0])
