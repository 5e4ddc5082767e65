"""The normalised affinity: its spectrum, its golden eigenvalues, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from latefusion.arrays import top_eigenpairs
from latefusion.baselines.support.spectral import normalized_affinity
from latefusion.kernels import center_kernel


def random_affinity(seed, n_samples=12):
    uniform = np.random.default_rng(seed).uniform(size=(n_samples, n_samples))
    return uniform + uniform.T


def test_root_degrees_are_the_leading_eigenvector(seed):
    affinity = random_affinity(seed)
    normalized = normalized_affinity(affinity)
    root_degrees = np.sqrt(affinity.sum(axis=1))
    np.testing.assert_allclose(normalized @ root_degrees, root_degrees, rtol=1e-12)
    assert np.linalg.eigvalsh(normalized)[-1] == pytest.approx(1.0)
    np.testing.assert_allclose(normalized, normalized.T, rtol=1e-14)


def test_scale_of_the_affinity_does_not_matter(seed):
    affinity = random_affinity(seed)
    np.testing.assert_allclose(normalized_affinity(7.5 * affinity), normalized_affinity(affinity), rtol=1e-12)


def test_input_is_left_alone(seed):
    affinity = random_affinity(seed)
    before = affinity.copy()
    normalized_affinity(affinity)
    np.testing.assert_array_equal(affinity, before)


def test_single_precision_stays_single(seed):
    assert normalized_affinity(random_affinity(seed).astype(np.float32)).dtype == np.float32


def test_sparse_agrees_with_dense(seed):
    affinity = random_affinity(seed)
    affinity[affinity < 1.2] = 0.0
    np.fill_diagonal(affinity, 1.0)
    sparse = normalized_affinity(scipy.sparse.csr_array(affinity))
    assert scipy.sparse.issparse(sparse)
    np.testing.assert_allclose(sparse.toarray(), normalized_affinity(affinity), rtol=1e-12)


def test_golden_spectral_clustering(golden):
    problem, reference = golden("problem_synth"), golden("sc_synth")
    for kernel, vectors, values in zip(problem["K_raw"], reference["F"], reference["eigs"], strict=True):
        found_values, found = top_eigenpairs(normalized_affinity(kernel), int(problem["k"]))
        np.testing.assert_allclose(found_values, np.sort(values)[::-1], atol=1e-10)
        np.testing.assert_allclose(found @ found.T, vectors @ vectors.T, atol=1e-8)


def test_isolated_sample_is_named():
    affinity = np.ones((5, 5))
    affinity[3] = affinity[:, 3] = 0.0
    with pytest.raises(ValueError, match="Sample 3 has degree 0"):
        normalized_affinity(affinity)


def test_centred_kernel_is_refused():
    kernel = center_kernel(random_affinity(0))
    kernel[2] -= 1.0
    with pytest.raises(ValueError, match="not centred"):
        normalized_affinity(kernel)


def test_missing_values_are_refused():
    affinity = np.ones((4, 4))
    affinity[1, 2] = affinity[2, 1] = np.nan
    with pytest.raises(ValueError, match="Sample 1 has degree nan"):
        normalized_affinity(affinity)
