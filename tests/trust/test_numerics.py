"""How exact results are, and what they must not depend on. The tolerances here are those of `docs/TRUST.md`."""

import array_api_compat.numpy as xp
import mpmath
import numpy as np
import pytest

import latefusion as lf
from latefusion.arrays import polar
from latefusion.kernels import fit_kernel, gaussian_kernel, standardize_kernel
from latefusion.solvers import compress_partitions, mix_partitions, solve_alignment

RNG = np.random.default_rng(0)
DATA = lf.datasets.make_views(150, 3, n_views=3, n_features=5, random_state=0)


def orthonormal(n, k, rng=RNG):
    return np.linalg.qr(rng.standard_normal((n, k)))[0]


@pytest.mark.parametrize("condition", [1e0, 1e4, 1e8, 1e12])
def test_compression_of_nearly_equal_partitions(condition):
    """H_2 = H_1 plus a part of size 1/condition: the Gram matrix of all partitions has the square of that condition."""
    first, other = orthonormal(300, 4), orthonormal(300, 4)
    second = np.linalg.qr(first + other / condition)[0]
    partitions, average = [first, second], np.linalg.qr(first + second)[0]
    direct = solve_alignment(partitions, average, regularization=1.0, xp=xp)
    blocks, mean = compress_partitions(partitions, average, xp=xp)
    small = solve_alignment(blocks, mean, regularization=1.0, xp=xp)
    np.testing.assert_allclose(small.objective[-1], direct.objective[-1], rtol=1e-12)
    np.testing.assert_allclose(small.weights, direct.weights, atol=1e-8)
    consensus = [mix_partitions(partitions, average, one.mixing) for one in (direct, small)]
    np.testing.assert_allclose(consensus[0] @ consensus[0].T, consensus[1] @ consensus[1].T, atol=1e-7)
    np.testing.assert_allclose(consensus[1].T @ consensus[1], np.eye(4), atol=1e-7)


@pytest.mark.parametrize("condition", [1e2, 1e6, 1e10])
def test_polar_factor_against_fifty_digits(condition):
    left, right = orthonormal(5, 3), orthonormal(3, 3)
    matrix = (left * np.geomspace(1, 1 / condition, 3)) @ right.T
    with mpmath.workdps(50):
        exact_left, _, exact_right = mpmath.svd_r(mpmath.matrix(matrix.tolist()))
        exact = np.array((exact_left * exact_right).tolist(), dtype=float)
    # The polar factor itself moves by the condition times a rounding error of the matrix.
    np.testing.assert_allclose(polar(matrix, xp=xp).isometry, exact, atol=20 * condition * np.finfo(float).eps)


def test_standardized_kernel_against_fifty_digits():
    rows = RNG.standard_normal((7, 3)) + 1e4
    found, _ = standardize_kernel(fit_kernel("gaussian", rows, {"sigma": 1.5})(rows))
    with mpmath.workdps(50):
        exact_rows = mpmath.matrix(rows.tolist())
        kernel = mpmath.matrix(7, 7)
        for i in range(7):
            for j in range(7):
                square = sum((exact_rows[i, c] - exact_rows[j, c]) ** 2 for c in range(3))
                kernel[i, j] = mpmath.exp(-square / (2 * mpmath.mpf(1.5) ** 2))
        centre = mpmath.eye(7) - mpmath.ones(7) / 7
        kernel = centre * kernel * centre
        exact = [[float(kernel[i, j] / mpmath.sqrt(kernel[i, i] * kernel[j, j])) for j in range(7)] for i in range(7)]
    np.testing.assert_allclose(found, exact, atol=1e-10)


@pytest.mark.parametrize("similarity", ["kernel", "graph"])
def test_single_precision_finds_the_same_clusters(similarity):
    double = lf.GlobalAlignmentClustering(3, similarity=similarity, random_state=0).fit(DATA.views)
    views = [view.astype(np.float32) for view in DATA.views.arrays]
    single = lf.GlobalAlignmentClustering(3, similarity=similarity, random_state=0).fit(views)
    assert single.consensus_.dtype == np.float32
    np.testing.assert_array_equal(single.labels_, double.labels_)
    np.testing.assert_allclose(single.view_weights_, double.view_weights_, atol=1e-4)
    np.testing.assert_allclose(single.objective_[-1], double.objective_[-1], rtol=1e-4)


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e140])
@pytest.mark.parametrize("similarity", ["kernel", "graph"])
def test_units_do_not_matter(scale, similarity):
    plain = lf.GlobalAlignmentClustering(3, similarity=similarity, random_state=0).fit(DATA.views)
    first, *others = DATA.views.arrays
    scaled = lf.GlobalAlignmentClustering(3, similarity=similarity, random_state=0).fit([scale * first, *others])
    np.testing.assert_array_equal(scaled.labels_, plain.labels_)
    np.testing.assert_allclose(scaled.view_weights_, plain.view_weights_, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_signs_and_rotations_of_base_partitions_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    partitions = [orthonormal(60, 3, rng) for _ in range(3)]
    average = orthonormal(60, 3, rng)
    turned = [one @ orthonormal(3, 3, rng) for one in partitions]
    plain, other = (
        solve_alignment(parts, average, regularization=1.0, init="align", xp=xp) for parts in (partitions, turned)
    )
    np.testing.assert_allclose(other.weights, plain.weights, atol=1e-10)
    np.testing.assert_allclose(other.objective, plain.objective, rtol=1e-12)


@pytest.mark.parametrize("kernel", [np.zeros((20, 20)), np.ones((20, 20))])
def test_kernels_that_say_nothing_are_refused(kernel):
    model = lf.GlobalAlignmentClustering(2, similarity="precomputed", random_state=0)
    with pytest.raises(ValueError, match="'view_1'"):
        model.fit([gaussian_kernel(DATA.views.arrays[0][:20]), kernel])


def test_indefinite_kernels_are_refused_with_their_eigenvalues():
    model = lf.GlobalAlignmentClustering(2, similarity="precomputed", random_state=0)
    with pytest.raises(ValueError, match=r"'view_0' is indefinite.* from -"):
        model.fit([np.kron(np.eye(10), [[1.0, 2.0], [2.0, 1.0]])] * 2)
