"""Linear algebra shared by all subpackages: polar factors and leading eigenpairs.

Conventions. Eigenpairs come in descending order of the eigenvalue. Eigenvectors are defined up to sign only; their
signs are fixed so that the entry of largest magnitude is positive, which makes runs repeatable but carries no meaning.
A *polar factor* of a matrix without full column rank is the partial isometry on its column space; it is not completed
by arbitrary directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
from numpy.typing import NDArray

from latefusion.arrays.namespace import device_of, is_device_array, namespace, row_blocks, to_numpy
from latefusion.arrays.threads import one_product_thread, share_blocks
from latefusion.types import Array

# Below this size LAPACK's subset driver beats Lanczos on a dense matrix.
DENSE_EIGEN_LIMIT = 600
# The same on a device, where a full decomposition of this size takes a few hundredths of a second.
DEVICE_EIGEN_LIMIT = 1024
DEVICE_SWEEPS = 60
# Of the polynomials of a matrix by which eigenvectors on a device are found.
MOST_DEGREE = 16
# Up to this size a decomposition is faster in one thread.
ONE_THREAD_LIMIT = 1000
# Relative residual of eigenpairs by Lanczos in double precision. The errors of the eigenvalues are its square.
LANCZOS_TOLERANCE = 1e-11
# Kernels need a few restarts of Lanczos; a dense matrix that needs more than this is done sooner by LAPACK.
DENSE_RESTARTS = 300
# A graph with clusters needs fewer restarts than this. One that needs more is often long and thin: its samples can be
# ordered such that all entries are near the diagonal. Then it is factored, provided that the band has no more entries
# than this.
SPARSE_RESTARTS = 40
BAND_ENTRIES = 2**24
# Steps towards the vector that bounds the largest eigenvalue of a graph; more would gain little.
BOUND_STEPS = 100
# Rows whose products are summed in their own precision.
PRODUCT_ROWS = 2**17
# Rows that are summed at a time.
MEAN_ROWS = 2**12
DEVICE_MEAN_ROWS = 2**16


class Polar(NamedTuple):
    """Polar decomposition U = isometry · (UᵀU)^{1/2}.

    Attributes
    ----------
    isometry : array of shape (n, k)
        The maximizer of Tr(FᵀU) over matrices with orthonormal columns.
    inverse_root : array of shape (k, k)
        The pseudo-inverse of (UᵀU)^{1/2}, so that ``isometry = U @ inverse_root``.
    nuclear_norm : float
        The sum of the singular values: the value of that maximum.
    """

    isometry: Array
    inverse_root: Array
    nuclear_norm: float


def polar(matrix: Array, *, xp: Any) -> Polar:
    """Polar decomposition by the singular value decomposition.

    Parameters
    ----------
    matrix : array of shape (n, k), n >= k
    xp : module
        The array namespace of ``matrix``.

    Returns
    -------
    Polar
    """
    left, values, right = xp.linalg.svd(matrix, full_matrices=False)
    present = _present(values, matrix, xp)
    kept = xp.astype(present, matrix.dtype)
    inverse = kept / xp.where(present, values, xp.ones_like(values))
    right_transposed = xp.matrix_transpose(right)
    return Polar(
        (left * kept) @ right,
        (right_transposed * inverse) @ right,
        float(xp.sum(values)),
    )


def isometries(matrices: Sequence[Array], *, xp: Any) -> tuple[list[Array], list[float]]:
    """Isometries and nuclear norms of the polar decompositions of several matrices, at once if they are of one shape.

    Parameters
    ----------
    matrices : sequence of arrays of shape (n, k)
    xp : module

    Returns
    -------
    isometries : list of arrays of shape (n, k)
    nuclear_norms : list of float
    """
    if len({matrix.shape for matrix in matrices}) > 1:
        found = [polar(matrix, xp=xp) for matrix in matrices]
        return [one.isometry for one in found], [one.nuclear_norm for one in found]
    stack = xp.stack(list(matrices))
    left, values, right = xp.linalg.svd(stack, full_matrices=False)
    kept = xp.astype(_present(values, stack[0, ...], xp), stack.dtype)
    turned = (left * kept[:, None, :]) @ right
    return [turned[p, ...] for p in range(len(matrices))], to_numpy(xp.sum(values, axis=1)).tolist()


def _present(values: Array, matrix: Array, xp: Any) -> Array:
    """Which singular values, in descending order, are more than rounding error."""
    tolerance = xp.finfo(matrix.dtype).eps * max(matrix.shape)
    return values > tolerance * values[..., :1]


def top_eigenpairs(matrix: Array, n_components: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Largest eigenvalues of a symmetric matrix, descending, and their eigenvectors.

    Dense matrices go to LAPACK's subset driver when they are small or many pairs are wanted, to Lanczos (ARPACK)
    otherwise. So do operators, of which only products with vectors are needed. Sparse matrices are solved one connected
    component at a time: a block-diagonal matrix has the same eigenvalue once per block, and a single Lanczos run can
    miss such copies. If the leading eigenvalues of a sparse matrix are close together, as those of a chain are, Lanczos
    runs on (σ I - matrix)^{-1} with σ just above all eigenvalues, provided that the reordered matrix has a narrow band.

    Parameters
    ----------
    matrix : ndarray, sparse matrix or LinearOperator of shape (n, n)
    n_components : int
        At most n.

    Returns
    -------
    values : ndarray of shape (n_components,)
    vectors : ndarray of shape (n, n_components)
    """
    if is_device_array(matrix):
        return _top_eigenpairs_on_device(matrix, n_components)
    if scipy.sparse.issparse(matrix):
        return _top_eigenpairs_by_component(matrix, n_components)
    return _top_eigenpairs(matrix, n_components)


def _top_eigenpairs_on_device(matrix: Array, n_components: int) -> tuple[Array, Array]:
    """The same on a device: a full decomposition of small matrices, subspace iteration for others.

    The matrix is positive semi-definite. A block that is wider than needed is multiplied by a polynomial of the matrix
    and orthonormalized until the leading eigenvalues converge. Small matrices are decomposed on the host, which takes a
    tenth of the time that a device needs, and the test of convergence waits for them anyway.
    """
    xp = namespace(matrix)
    size = matrix.shape[0]
    if size <= DEVICE_EIGEN_LIMIT or 16 * n_components >= size:
        values, vectors = xp.linalg.eigh(matrix)
        return xp.flip(values[size - n_components :]), xp.flip(vectors[:, size - n_components :], axis=1)

    def on_device(values: NDArray[Any]) -> Array:
        return xp.asarray(np.ascontiguousarray(values), dtype=matrix.dtype, device=device_of(matrix))

    start = np.random.default_rng(0).standard_normal((size, min(size, 2 * n_components + 20)))
    block = xp.linalg.qr(matrix @ on_device(start), mode="reduced")[0]
    epsilon = float(xp.finfo(matrix.dtype).eps)
    previous = np.zeros(n_components)
    for _ in range(DEVICE_SWEEPS):
        product = matrix @ block
        values, rotation = np.linalg.eigh(to_numpy(xp.matrix_transpose(block) @ product))
        values, rotation = values[::-1], on_device(rotation[:, ::-1])
        if np.max(np.abs(values[:n_components] - previous)) <= epsilon**0.8 * values[0]:
            break
        previous = values[:n_components]
        filtered = _filtered(matrix, block @ rotation, product @ rotation, values.tolist(), epsilon)
        block = xp.linalg.qr(filtered, mode="reduced")[0]
    return on_device(values[:n_components]), block @ rotation[:, :n_components]


def _filtered(matrix: Array, block: Array, product: Array, values: list[float], epsilon: float) -> Array:
    """A Chebyshev polynomial of a matrix, times a block of Ritz vectors.

    The polynomial is at most one on the interval from zero to the smallest Ritz value, and no polynomial of its degree
    grows faster beyond it, so fewer products are needed than for powers of the matrix. The degree is limited: rounding
    errors in the direction of the largest eigenvalue must not exceed what the block contains of the others.

    Parameters
    ----------
    matrix : array of shape (n, n)
    block, product : arrays of shape (n, b)
        Ritz vectors, and `matrix` times these.
    values : list of float
        Ritz values, descending.
    epsilon : float
        Relative rounding error.

    Returns
    -------
    array of shape (n, b)
    """
    half = values[-1] / 2
    if half <= epsilon * values[0]:  # the block holds all eigenvectors that are not rounding error
        return product
    growth = float(np.arccosh(values[0] / half - 1 + epsilon))
    degree = int(np.clip(-0.5 * np.log(epsilon) / max(growth, epsilon), 2, MOST_DEGREE))
    # Three-term recurrence, scaled such that the polynomial is one at the largest Ritz value.
    first = scale = 1 / (values[0] / half - 1)
    before, now = block, (product - half * block) * (first / half)
    for _ in range(degree - 1):
        following = 1 / (2 / first - scale)
        before, now = now, (matrix @ now - half * now) * (2 * following / half) - before * (scale * following)
        scale = following
    return now


def _top_eigenpairs(matrix: Array, n_components: int) -> tuple[NDArray[Any], NDArray[Any]]:
    size = matrix.shape[0]
    if size <= DENSE_EIGEN_LIMIT or 16 * n_components >= size:
        values, vectors = _by_lapack(matrix, n_components)
    else:
        try:
            values, vectors = _by_lanczos(matrix, n_components)
        except scipy.sparse.linalg.ArpackError:  # a zero matrix, or leading eigenvalues that are too close together
            values, vectors = _by_lapack(matrix, n_components)
    order = np.argsort(-values, kind="stable")
    return values[order], orient_columns(vectors[:, order])


def _by_lanczos(matrix: Array, n_components: int) -> tuple[NDArray[Any], NDArray[Any]]:
    if isinstance(matrix, np.ndarray):
        return _by_arpack(matrix, n_components, max_restarts=DENSE_RESTARTS)
    try:
        return _by_arpack(matrix, n_components, max_restarts=SPARSE_RESTARTS)
    except scipy.sparse.linalg.ArpackNoConvergence:
        inverse = _BandInverse.of(matrix) if scipy.sparse.issparse(matrix) else None
        if inverse is None:  # a wider basis resolves eigenvalues that are close together
            return _by_arpack(matrix, n_components, basis=max(6 * n_components, 120))
        values, vectors = _by_arpack(inverse, n_components)
        return (inverse.sigma - 1 / values).astype(matrix.dtype), inverse.restore(vectors).astype(matrix.dtype)


def _by_lapack(matrix: Array, n_components: int) -> tuple[NDArray[Any], NDArray[Any]]:
    size = matrix.shape[0]
    if not isinstance(matrix, np.ndarray):
        matrix = matrix.toarray() if scipy.sparse.issparse(matrix) else matrix @ np.eye(size, dtype=matrix.dtype)
    with one_product_thread() if size <= ONE_THREAD_LIMIT else nullcontext():
        return eigenpairs_between(matrix, size - n_components, size)


def eigenpairs_between(matrix: NDArray[Any], start: int, stop: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Eigenpairs of a dense symmetric matrix by LAPACK: those at positions start to stop - 1 in rising order.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
    start, stop : int

    Returns
    -------
    values : ndarray of shape (stop - start,)
    vectors : ndarray of shape (n, stop - start)
    """
    try:
        values, vectors = scipy.linalg.eigh(matrix, subset_by_index=[start, stop - 1], driver="evr")
        if len(values) == stop - start:
            return values, vectors
    except np.linalg.LinAlgError:
        pass
    # The subset driver may fail or lose copies if eigenvalues are equal up to rounding.
    values, vectors = scipy.linalg.eigh(matrix, driver="evd")
    return values[start:stop], vectors[:, start:stop]


def _by_arpack(
    matrix: Array, n_components: int, *, basis: int = 0, max_restarts: int | None = None
) -> tuple[NDArray[Any], NDArray[Any]]:
    size = matrix.shape[0]
    precision = np.result_type(matrix.dtype, np.float32)
    basis = max(basis, 30, 2 * n_components + 1)
    # A fixed seed makes the run repeatable; a random vector has a component in every eigenvector.
    start = np.random.default_rng(0).standard_normal(size).astype(precision)
    # ARPACK stops too early on eigenvalues far below one.
    scale = precision.type(np.max(np.abs(matrix @ start)) or 1.0)
    values, vectors = scipy.sparse.linalg.eigsh(
        _Scaled(matrix, 1 / scale),
        n_components,
        which="LA",
        v0=start,
        ncv=min(size, basis),
        maxiter=max_restarts,
        tol=LANCZOS_TOLERANCE if precision == np.float64 else 0.0,
    )
    return values * scale, vectors


class _Scaled(scipy.sparse.linalg.LinearOperator):
    """A number times a symmetric matrix, by products with vectors alone.

    `matvec` itself is defined: for small matrices the checks of SciPy take longer than the product. Only one half of a
    dense matrix is read.
    """

    def __init__(self, matrix: Array, factor: Any) -> None:
        self.matrix = matrix
        self.factor = factor
        self.symv = None
        if isinstance(matrix, np.ndarray) and matrix.dtype == factor.dtype and matrix.flags.c_contiguous:
            (self.symv,) = scipy.linalg.get_blas_funcs(["symv"], [matrix])
        super().__init__(factor.dtype, matrix.shape)

    def matvec(self, vector: NDArray[Any]) -> NDArray[Any]:
        """The product with a vector."""
        if self.symv is not None:  # symmetric; the transpose has the memory order of the routine
            half: NDArray[Any] = self.symv(self.factor, self.matrix.T, vector)
            return half
        product: NDArray[Any] = self.matrix @ vector
        product *= self.factor
        return product

    def _matvec(self, vector: NDArray[Any]) -> NDArray[Any]:
        return self.matvec(vector)


class _BandInverse(scipy.sparse.linalg.LinearOperator):
    """(σ I - matrix)^{-1} of a sparse matrix with reordered rows and columns, by a banded Cholesky factor.

    The ordering of Cuthill and McKee determines the width of the band before anything is factored, so the memory is
    known in advance. The fill-in of a general sparse solver is not.
    """

    def __init__(self, sigma: float, order: NDArray[np.intp], factor: NDArray[Any]) -> None:
        self.sigma = sigma
        self.order = order
        self.factor = factor
        super().__init__(np.float64, (len(order), len(order)))

    @classmethod
    def of(cls, matrix: Any) -> _BandInverse | None:
        """None when the band would have too many entries."""
        size = matrix.shape[0]
        order = scipy.sparse.csgraph.reverse_cuthill_mckee(scipy.sparse.csr_matrix(matrix), symmetric_mode=True)
        entries = scipy.sparse.coo_array(matrix[order][:, order])
        row, column = entries.coords
        width = int(np.max(np.abs(row - column), initial=0)) + 1
        if size * width > BAND_ENTRIES:
            return None
        sigma = _eigenvalue_bound(matrix)
        band = np.zeros((width, size))
        lower = row >= column
        band[(row - column)[lower], column[lower]] = -entries.data[lower]
        band[0] += sigma
        return cls(sigma, order, scipy.linalg.cholesky_banded(band, overwrite_ab=True, lower=True, check_finite=False))

    def _matvec(self, vector: NDArray[Any]) -> NDArray[Any]:
        solved: NDArray[Any] = scipy.linalg.cho_solve_banded((self.factor, True), vector, check_finite=False)
        return solved

    def restore(self, vectors: NDArray[Any]) -> NDArray[Any]:
        """Rows in the order of the matrix."""
        restored = np.empty_like(vectors)
        restored[self.order] = vectors
        return restored


def _eigenvalue_bound(matrix: Any) -> float:
    """A number just above all eigenvalues: max_i (|A|x)_i / x_i bounds them for every positive vector x.

    The bound is sharp for the leading eigenvector of |A|, so x takes some steps of the power method towards it.
    """
    magnitudes = abs(matrix).astype(np.float64)
    x = np.ones(matrix.shape[0])
    bound = np.inf
    for _ in range(BOUND_STEPS):
        image = magnitudes @ x
        bound = min(bound, float(np.max(image / x)))
        x = np.maximum(image / np.max(image), 1e-100)  # stored zeros may leave a row empty
    return bound * (1 + 1e-8)


def _top_eigenpairs_by_component(matrix: Array, n_components: int) -> tuple[NDArray[Any], NDArray[Any]]:
    rows = scipy.sparse.csr_array(matrix, dtype=np.result_type(matrix.dtype, np.float32))
    n_blocks, block_of = scipy.sparse.csgraph.connected_components(rows, directed=False)
    if n_blocks == 1:
        return _top_eigenpairs(rows, n_components)
    found: list[tuple[float, NDArray[np.intp], NDArray[Any]]] = []
    for block in range(n_blocks):
        members = np.flatnonzero(block_of == block)
        values, vectors = _top_eigenpairs(rows[members][:, members], min(n_components, len(members)))
        found.extend(zip(values, [members] * len(values), vectors.T, strict=True))
    found.sort(key=lambda pair: -pair[0])
    vectors = np.zeros((rows.shape[0], n_components), dtype=rows.dtype)
    for column, (_, members, vector) in enumerate(found[:n_components]):
        vectors[members, column] = vector
    return np.array([value for value, _, _ in found[:n_components]], dtype=rows.dtype), vectors


def rounding_threshold(precision: Any, largest: Any = 1.0) -> float:
    """The size up to which an eigenvalue counts as rounding error: precision^(2/3) times the largest eigenvalue.

    Parameters
    ----------
    precision : float
        Machine epsilon of the numbers that the matrix was computed from, ``finfo(dtype).eps``.
    largest : float, default=1.0
        The largest eigenvalue. A negative one counts as zero.

    Returns
    -------
    float

    Notes
    -----
    The errors of the eigenvalues of an n x n matrix grow with n. The exponent leaves room for that: a factor of 1.7e5
    in double precision, 200 in single precision.
    """
    share: float = float(precision) ** (2 / 3)
    return share * max(float(largest), 0.0)


def orient_columns(vectors: NDArray[Any]) -> NDArray[Any]:
    """Flip columns so that the entry of largest magnitude in each is positive."""
    if vectors.size == 0:
        return vectors
    extreme = np.take_along_axis(vectors, np.argmax(np.abs(vectors), axis=0)[None, :], axis=0)[0]
    oriented: NDArray[Any] = vectors * np.where(extreme < 0, -1, 1).astype(vectors.dtype)
    return oriented


def column_means(array: Array, *, xp: Any) -> Array:
    """Means of the columns, summed in double precision block by block, without a copy of the array."""

    def add(ranges: Sequence[slice]) -> Array:
        total = xp.zeros((array.shape[1],), dtype=xp.float64, device=device_of(array))
        for rows in ranges:
            total = total + xp.sum(array[rows, :], axis=0, dtype=xp.float64)
        return total

    on_device = is_device_array(array)
    blocks = row_blocks(array.shape[0], DEVICE_MEAN_ROWS if on_device else MEAN_ROWS)
    return sum(share_blocks(add, blocks, on_device=on_device)) / array.shape[0]


def inner_products(rows: Array, *, xp: Any) -> Array:
    """The products rowsᵀ rows of all columns, in double precision.

    Blocks of rows are multiplied in the precision of the rows and summed in double precision, so that the rounding
    error of single precision does not grow with their number.
    """
    total = xp.zeros((rows.shape[1], rows.shape[1]), dtype=xp.float64, device=device_of(rows))
    for block in row_blocks(rows.shape[0], PRODUCT_ROWS):
        part = rows[block, :]
        total += xp.astype(xp.matrix_transpose(part) @ part, xp.float64, copy=False)
    return total


def unit_rows(matrix: Array, *, xp: Any) -> Array:
    """Rows divided by their Euclidean norm; a zero row stays zero."""
    norms = xp.linalg.vector_norm(matrix, axis=1, keepdims=True)
    return matrix / xp.where(norms > 0, norms, xp.ones_like(norms))


def root_of_products(products: NDArray[Any]) -> NDArray[Any]:
    """A small matrix R with RᵀR = BᵀB, without directions that are rounding error.

    Parameters
    ----------
    products : ndarray of shape (n_columns, n_columns)
        BᵀB.

    Returns
    -------
    ndarray of shape (rank, n_columns)
    """
    values, vectors = np.linalg.eigh(products)
    kept = values > np.finfo(values.dtype).eps * len(values) * values[-1]
    root: NDArray[Any] = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    return root


def orthonormal_columns(matrix: NDArray[Any]) -> NDArray[Any]:
    """Orthonormal columns of the same span; zero columns beyond its dimension.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_columns)

    Returns
    -------
    ndarray of shape (n_rows, min(n_rows, n_columns))
    """
    left, values, _ = np.linalg.svd(matrix, full_matrices=False)
    basis: NDArray[Any] = left * (values > np.sqrt(np.finfo(values.dtype).eps) * max(values, default=0.0))
    return basis
