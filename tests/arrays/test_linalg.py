"""Polar factors and leading eigenpairs, against their definitions and LAPACK."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import aslinearoperator

from latefusion.arrays import (
    eigenpairs_between,
    inner_products,
    isometries,
    linalg,
    orient_columns,
    orthonormal_columns,
    polar,
    rounding_threshold,
    to_numpy,
    top_eigenpairs,
    unit_rows,
)
from latefusion.arrays.linalg import DENSE_EIGEN_LIMIT, DEVICE_EIGEN_LIMIT
from latefusion.kernels import gaussian_kernel, linear_kernel, standardize_kernel
from tests.properties import examples

seeds = st.integers(0, 2**32 - 1)


def random_isometry(generator, n, k):
    return np.linalg.qr(generator.standard_normal((n, k)))[0]


def random_symmetric(size, seed=0):
    square = np.random.default_rng(seed).standard_normal((size, size))
    return square + square.T


@examples(40)
@given(seed=seeds, n=st.integers(1, 12), k=st.integers(1, 6), rank=st.integers(0, 6))
def test_polar_maximizes_the_trace(seed, n, k, rank):
    n, rank = max(n, k), min(rank, k)
    generator = np.random.default_rng(seed)
    matrix = generator.standard_normal((n, rank)) @ generator.standard_normal((rank, k))
    isometry, inverse_root, nuclear_norm = polar(matrix, xp=np)
    assert np.trace(isometry.T @ matrix) == pytest.approx(nuclear_norm, rel=1e-9, abs=1e-9)
    for _ in range(20):
        assert np.trace(random_isometry(generator, n, k).T @ matrix) <= nuclear_norm + 1e-9
    np.testing.assert_allclose(matrix @ inverse_root, isometry, atol=1e-7)
    # A partial isometry on the directions that are there: k singular values, `rank` ones and zeros.
    singular = np.linalg.svd(isometry, compute_uv=False)
    np.testing.assert_allclose(singular, np.r_[np.ones(rank), np.zeros(k - rank)], atol=1e-7)


def test_polar_makes_up_no_direction(xp):
    matrix = np.zeros((5, 3))
    matrix[:, 0] = 1.0
    isometry = to_numpy(polar(xp.asarray(matrix), xp=xp).isometry)
    np.testing.assert_allclose(isometry, matrix / np.sqrt(5), atol=1e-14)
    assert not to_numpy(polar(xp.zeros((4, 2)), xp=xp).isometry).any()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_polar_keeps_library_and_type(xp, dtype):
    matrix = xp.asarray(np.random.default_rng(0).standard_normal((6, 3)).astype(dtype))
    factors = polar(matrix, xp=xp)
    assert type(factors.isometry) is type(matrix)
    assert factors.isometry.dtype == factors.inverse_root.dtype == matrix.dtype
    gram = to_numpy(xp.matrix_transpose(factors.isometry) @ factors.isometry)
    np.testing.assert_allclose(gram, np.eye(3), atol=1e-5 if dtype == "float32" else 1e-13)


@pytest.mark.parametrize("shapes", [[(4, 4)] * 3, [(5, 3)] * 2, [(4, 4), (6, 4)], [(3, 3)]])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_isometries_of_several_matrices_are_those_of_each(xp, shapes, dtype):
    generator = np.random.default_rng(0)
    matrices = [generator.standard_normal(shape).astype(dtype) for shape in shapes]
    matrices[-1][:, 0] = matrices[-1][:, 1]  # of lower rank: no direction is made up in a stack either
    found, norms = isometries([xp.asarray(one) for one in matrices], xp=xp)
    for one, isometry, norm in zip(matrices, found, norms, strict=True):
        alone = polar(xp.asarray(one), xp=xp)
        assert isometry.dtype == alone.isometry.dtype
        np.testing.assert_allclose(
            to_numpy(isometry), to_numpy(alone.isometry), atol=2e-6 if dtype == "float32" else 1e-13
        )
        assert norm == pytest.approx(alone.nuclear_norm, rel=1e-6)


def assert_leading_pairs(matrix, n_components, tolerance=1e-10):
    """The values are LAPACK's, the vectors orthonormal and eigenvectors. Nothing else is unique where values repeat."""
    dense = np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=np.float64)
    values, vectors = top_eigenpairs(matrix, n_components)
    assert values.shape == (n_components,)
    assert vectors.shape == (len(dense), n_components)
    expected = scipy.linalg.eigvalsh(dense)[::-1]
    scale = max(np.abs(expected).max(), 1e-300)
    np.testing.assert_allclose(values / scale, expected[:n_components] / scale, atol=tolerance)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n_components), atol=tolerance)
    np.testing.assert_allclose(dense @ vectors / scale, vectors * values / scale, atol=tolerance)


@pytest.mark.parametrize("n_components", [1, 2, 7, 30])
def test_leading_pairs_of_a_small_dense_matrix(n_components):
    assert_leading_pairs(random_symmetric(30), n_components)


@pytest.mark.parametrize("size", [DENSE_EIGEN_LIMIT, DENSE_EIGEN_LIMIT + 1])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_leading_pairs_on_both_sides_of_the_limit(size, kind):
    matrix = random_symmetric(size)
    assert_leading_pairs(matrix if kind == "dense" else sp.csr_array(matrix), 4)


def test_all_pairs_of_a_large_matrix():
    assert_leading_pairs(random_symmetric(DENSE_EIGEN_LIMIT + 1), DENSE_EIGEN_LIMIT + 1)


@pytest.mark.parametrize("size", [3, 39, 40, 100, DENSE_EIGEN_LIMIT + 50])
@pytest.mark.parametrize("factor", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_repeated_eigenvalues_are_all_found(size, factor, n_components):
    # One eigenvalue, repeated up to rounding: LAPACK's subset search may return fewer pairs than it is asked for.
    assert_leading_pairs(standardize_kernel(np.eye(size) * factor)[0], n_components)


@pytest.mark.parametrize("size", [20, DENSE_EIGEN_LIMIT + 100])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.coo_array, sp.csr_matrix])
def test_equal_blocks_are_all_found(size, container):
    blocks = np.kron(np.eye(5), np.ones((size // 5, size // 5)))
    order = np.random.default_rng(0).permutation(len(blocks))
    assert_leading_pairs(container(blocks[np.ix_(order, order)]), 7)


def test_components_of_many_sizes():
    generator = np.random.default_rng(0)
    blocks = [random_symmetric(size, seed) for seed, size in enumerate(generator.integers(1, 40, size=25))]
    blocks += [blocks[3], blocks[3], np.zeros((4, 4))]
    assert_leading_pairs(sp.block_diag(blocks).tocsr(), 12)


def test_stored_zeros_join_components_without_harm():
    blocks = sp.coo_array(np.kron(np.eye(2), np.ones((5, 5))))
    data, (rows, columns) = blocks.data, blocks.coords
    joined = sp.csr_array((np.r_[data, 0.0, 0.0], (np.r_[rows, 0, 9], np.r_[columns, 9, 0])), shape=(10, 10))
    assert_leading_pairs(joined, 4)


@pytest.mark.parametrize("size", [10, DENSE_EIGEN_LIMIT + 1])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_zero_matrix(size, container):
    assert_leading_pairs(container(np.zeros((size, size))), 3)


LARGE = {
    "rank two": lambda: linear_kernel(np.random.default_rng(0).standard_normal((700, 2))),
    "smooth": lambda: standardize_kernel(gaussian_kernel(np.linspace(0, 1, 700)[:, None]))[0],
    "duplicates": lambda: standardize_kernel(gaussian_kernel(np.repeat(np.eye(5), 140, axis=0)))[0],
    "negative": lambda: -np.eye(700),
    "tiny": lambda: random_symmetric(700) * 1e-200,
    "huge": lambda: random_symmetric(700) * 1e150,
}


@pytest.mark.parametrize("kind", LARGE)
def test_large_dense_matrices_of_every_kind(kind):
    assert_leading_pairs(LARGE[kind](), 8)


SPECTRA = {
    "decays": lambda n: 1 / np.arange(1, n + 1.0) ** 2,
    "clusters in noise": lambda n: np.r_[np.linspace(6, 5, 9), np.linspace(4, 0, n - 9)],
    "three scales": lambda n: np.r_[1e8, 1e4, 1.0, np.linspace(0.9, 0, n - 3)],
    "rank five": lambda n: np.r_[5.0, 4, 3, 2, 1, np.zeros(n - 5)],
    "equal": lambda n: np.r_[np.ones(30), np.zeros(n - 30)],
    "zero": np.zeros,
}


@pytest.mark.parametrize("kind", SPECTRA)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-9), (np.float32, 2e-4)])
def test_leading_pairs_on_a_device_by_subspace_iteration(kind, dtype, tolerance):
    import array_api_strict

    size = DEVICE_EIGEN_LIMIT + 6
    spectrum = SPECTRA[kind](size)
    basis = np.linalg.qr(np.random.default_rng(1).standard_normal((size, size)))[0]
    dense = (basis * spectrum) @ basis.T
    dense = ((dense + dense.T) / 2).astype(dtype)
    values, vectors = map(np.asarray, top_eigenpairs(array_api_strict.asarray(dense), 10))
    scale = spectrum[0] or 1.0
    assert values.dtype == vectors.dtype == dtype
    np.testing.assert_allclose(values / scale, spectrum[:10] / scale, atol=tolerance)
    np.testing.assert_allclose(dense @ vectors / scale, vectors * (values / scale), atol=tolerance)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(10), atol=1e2 * np.finfo(dtype).eps)


@pytest.mark.parametrize("size", [50, DENSE_EIGEN_LIMIT + 100])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_single_precision_is_kept(size, container):
    matrix = container(random_symmetric(size).astype(np.float32))
    values, vectors = top_eigenpairs(matrix, 4)
    assert values.dtype == vectors.dtype == np.float32
    assert_leading_pairs(matrix, 4, tolerance=2e-5)


@pytest.mark.parametrize("size", [4, 210])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_integers_give_floats(size, container):
    matrix = np.kron(np.eye(3, dtype=int), np.ones((size, size), dtype=int))
    assert_leading_pairs(container(matrix), 5)


@pytest.mark.parametrize("size", [30, DENSE_EIGEN_LIMIT + 1])
def test_linear_operators(size):
    matrix = random_symmetric(size)
    values, vectors = top_eigenpairs(aslinearoperator(matrix), 3)
    np.testing.assert_allclose(values, top_eigenpairs(matrix, 3)[0], rtol=1e-10)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-9)


def test_input_is_not_touched_and_runs_repeat():
    for size in (20, DENSE_EIGEN_LIMIT + 1):
        matrix = np.asfortranarray(random_symmetric(size))
        matrix.setflags(write=False)
        np.testing.assert_array_equal(top_eigenpairs(matrix, 3)[1], top_eigenpairs(matrix, 3)[1])


def test_orientation_makes_the_largest_entry_positive():
    vectors = np.array([[0.1, -3.0], [-2.0, 1.0]])
    oriented = orient_columns(vectors)
    np.testing.assert_array_equal(oriented, [[-0.1, 3.0], [2.0, -1.0]])
    np.testing.assert_array_equal(orient_columns(-vectors), oriented)
    assert orient_columns(np.zeros((3, 0))).shape == (3, 0)


def test_rows_have_unit_length_and_zero_rows_stay(xp):
    rows = np.array([[3.0, 4.0], [0.0, 0.0], [-1e-100, 0.0]])
    np.testing.assert_allclose(to_numpy(unit_rows(xp.asarray(rows), xp=xp)), [[0.6, 0.8], [0, 0], [-1, 0]], atol=1e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_rounding_threshold_separates_the_eigenvalues_of_a_matrix_from_its_rounding_error(dtype, scale):
    """A Gram matrix of rank 5 has 5 eigenvalues above the threshold in every unit, though most differ from zero."""
    rows = np.random.default_rng(0).standard_normal((200, 5))
    values = np.linalg.eigvalsh((scale * rows @ rows.T).astype(dtype))[::-1]
    assert np.count_nonzero(values) > 100
    assert np.count_nonzero(values > rounding_threshold(np.finfo(dtype).eps, values[0])) == 5


def test_rounding_threshold_in_numbers():
    assert rounding_threshold(1e-9) == pytest.approx(1e-6)
    assert rounding_threshold(1e-9, 50.0) == pytest.approx(5e-5)
    assert rounding_threshold(1e-9, -1e-20) == 0.0


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-6), ("float64", 1e-12)])
def test_inner_products_do_not_lose_digits_with_the_number_of_rows(xp, dtype, tolerance, monkeypatch):
    monkeypatch.setattr("latefusion.arrays.linalg.PRODUCT_ROWS", 1000)
    rows = np.random.default_rng(0).random((50_500, 3)).astype(dtype)
    found = to_numpy(inner_products(xp.asarray(rows), xp=xp))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, rows.astype(np.float64).T @ rows.astype(np.float64), rtol=tolerance)


def long_chain(n, dtype="float64"):
    """A normalized path graph: its leading eigenvalues cos(π j / n) crowd together."""
    ones = np.ones(n - 1)
    degrees = np.r_[2.0, np.full(n - 2, 3.0), 2.0]
    graph = sp.diags_array([ones, np.ones(n), ones], offsets=[-1, 0, 1], shape=(n, n))
    scale = sp.diags_array(1 / np.sqrt(degrees))
    shuffled = np.random.default_rng(0).permutation(n)
    return (scale @ graph @ scale).tocsr()[shuffled][:, shuffled].astype(dtype)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-9), ("float32", 1e-4)])
def test_eigenvalues_that_crowd_together(dtype, tolerance, monkeypatch):
    """By the factors of a band when Lanczos takes long, and equal to LAPACK; two chains have every eigenvalue twice."""
    chain = long_chain(900, dtype)
    factored = []
    original = linalg._BandInverse.of
    monkeypatch.setattr(linalg._BandInverse, "of", lambda matrix: factored.append(original(matrix)) or factored[-1])
    values, vectors = top_eigenpairs(sp.block_diag([chain, chain], format="csr"), 6)
    assert len(factored) == 2
    assert factored[0].factor.shape[0] <= 4
    assert values.dtype == vectors.dtype == dtype
    expected = np.linalg.eigvalsh(chain.toarray().astype(np.float64))[::-1]
    np.testing.assert_allclose(values, np.repeat(expected[:3], 2), atol=tolerance)
    assert np.all(factored[0].sigma >= expected[0] * (1 - 1e-6))
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(6), atol=tolerance)
    double = vectors.astype(np.float64)
    residual = sp.block_diag([chain, chain]).astype(np.float64) @ double - double * values
    assert np.abs(residual).max() < tolerance


def test_a_wide_band_is_not_factored(monkeypatch):
    chain = long_chain(900)
    expected = top_eigenpairs(chain, 3)[0]
    monkeypatch.setattr(linalg, "BAND_ENTRIES", 900)
    assert linalg._BandInverse.of(chain) is None
    np.testing.assert_allclose(top_eigenpairs(chain, 3)[0], expected, atol=1e-9)


def test_operators_are_solved_by_their_products():
    matrix = sp.random_array((1500, 1500), density=0.01, random_state=0)
    matrix = (matrix @ matrix.T).tocsr()
    values, vectors = top_eigenpairs(aslinearoperator(matrix), 5)
    expected = np.linalg.eigvalsh(matrix.toarray())[::-1][:5]
    np.testing.assert_allclose(values, expected, rtol=1e-9)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-8)


@pytest.mark.parametrize("negative", [False, True])
def test_no_eigenvalue_exceeds_the_bound(negative, seed):
    rng = np.random.default_rng(seed)
    matrix = sp.random_array((80, 80), density=0.1, random_state=seed)
    matrix = (matrix + matrix.T - (0.5 if negative else 0.0) * sp.eye_array(80)).tocsr()
    bound = linalg._eigenvalue_bound(matrix)
    largest = np.linalg.eigvalsh(matrix.toarray())[-1]
    assert largest <= bound <= 3 * largest + rng.random()


@pytest.mark.parametrize(("start", "stop"), [(4, 16), (0, 5), (15, 16), (0, 16)])
def test_eigenvalues_that_are_equal_up_to_rounding_are_all_found(start, stop):
    """A kernel of one sample far off from all others; LAPACK's search for a subset gives up on its zeros."""
    last_bit = 2.0**-53
    matrix = np.ones((16, 16)) - 2 * last_bit * (1 - np.eye(16))
    matrix[:, 11], matrix[11] = 65 * last_bit - 1, 63 * last_bit - 1
    matrix[11, 11] = 1.0
    values, vectors = eigenpairs_between(matrix, start, stop)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix)[start:stop], atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(stop - start), atol=1e-12)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-12)


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_orthonormal_columns_project_on_the_span_of_a_matrix(rank):
    rng = np.random.default_rng(rank)
    matrix = rng.standard_normal((20, rank)) @ rng.standard_normal((rank, 3))
    basis = orthonormal_columns(matrix)
    np.testing.assert_allclose(basis.T @ basis, np.diag(np.arange(3) < rank), atol=1e-12)
    np.testing.assert_allclose(basis @ (basis.T @ matrix), matrix, atol=1e-12)
