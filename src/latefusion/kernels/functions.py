"""The five kernels of the paper's table, with parameters that come from the data unless they are given.

==========  ==============================  ==========================================
name        k(x, y)                         parameters, and their values by default
==========  ==============================  ==========================================
linear      xᵀy                             none
polynomial  (xᵀy / s)^degree                degree = 2; s = mean squared norm
gaussian    exp(-‖x - y‖² / (2 sigma²))     sigma = mean distance between two samples
laplace     exp(-‖x - y‖ / sigma)           sigma = mean distance between two samples
sigmoid     tanh(gamma xᵀy + theta)         gamma = 1 / mean squared norm; theta = -0.1
==========  ==============================  ==========================================

The Laplace kernel uses the Euclidean norm, as the paper does; scikit-learn's uses the sum of absolute differences. The
division by s in the polynomial kernel cancels when the kernel is scaled to unit diagonal; it keeps high degrees from
overflowing. The sigmoid kernel is not positive semi-definite in general.

Kernels of arrays on a device are computed there, by functions of the array namespace. Differences between libraries are
handled by the helper functions at the end of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from math import frexp, isfinite, ldexp
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.metrics.pairwise import check_pairwise_arrays, euclidean_distances
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from latefusion.arrays import (
    column_means,
    device_name,
    device_of,
    is_device_array,
    namespace,
    row_blocks,
    row_lengths,
    take_rows,
)
from latefusion.types import Array

KernelFunction = Callable[..., Array]

# The default width is an average over pairs; beyond this many samples an evenly spaced subset gives the same average.
MEAN_DISTANCE_SAMPLES = 2000
# Rows of an array on a device that are squared and summed at a time.
NORM_ROWS = 2**16


def linear_kernel(X: Array, Y: Array | None = None) -> NDArray[Any]:
    """Inner products xᵀy.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples_X, n_features)
    Y : array or sparse matrix of shape (n_samples_Y, n_features), default=None
        ``X`` itself when None.

    Returns
    -------
    ndarray of shape (n_samples_X, n_samples_Y)
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return _check_range(_inner_products(X, Y), "linear")


def polynomial_kernel(X: Array, Y: Array | None = None, *, degree: int = 2, scale: float | None = None) -> NDArray[Any]:
    """Powers of inner products, (xᵀy / scale)^degree.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples_X, n_features)
    Y : array or sparse matrix of shape (n_samples_Y, n_features), default=None
        ``X`` itself when None.
    degree : int, default=2
    scale : float, default=None
        Mean squared norm of the rows of ``X`` when None.

    Returns
    -------
    ndarray of shape (n_samples_X, n_samples_Y)
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return _check_range(_powers(X, Y, degree=degree, scale=scale), "polynomial")


def gaussian_kernel(X: Array, Y: Array | None = None, *, sigma: float | None = None) -> NDArray[Any]:
    """Similarity that falls with the squared distance, exp(-‖x - y‖² / (2 sigma²)).

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples_X, n_features)
    Y : array or sparse matrix of shape (n_samples_Y, n_features), default=None
        ``X`` itself when None.
    sigma : float, default=None
        Width; the mean distance between two rows of ``X`` when None.

    Returns
    -------
    ndarray of shape (n_samples_X, n_samples_Y)

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion.kernels import gaussian_kernel
    >>> gaussian_kernel(np.array([[0.0], [1.0], [2.0]]), sigma=1.0).round(3)
    array([[1.   , 0.607, 0.135],
           [0.607, 1.   , 0.607],
           [0.135, 0.607, 1.   ]])
    """
    X, Y, unit = _within_reach(X, Y)
    width = mean_distance(X) if sigma is None else sigma / unit
    kernel = _distances(X, Y, squared=True)
    kernel *= -0.5 / width**2
    return _elementwise("exp", kernel)


def laplace_kernel(X: Array, Y: Array | None = None, *, sigma: float | None = None) -> NDArray[Any]:
    """Similarity that falls with the Euclidean distance, exp(-‖x - y‖ / sigma).

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples_X, n_features)
    Y : array or sparse matrix of shape (n_samples_Y, n_features), default=None
        ``X`` itself when None.
    sigma : float, default=None
        Width; the mean distance between two rows of ``X`` when None.

    Returns
    -------
    ndarray of shape (n_samples_X, n_samples_Y)
    """
    X, Y, unit = _within_reach(X, Y)
    width = mean_distance(X) if sigma is None else sigma / unit
    kernel = _distances(X, Y, squared=False)
    kernel *= -1.0 / width
    return _elementwise("exp", kernel)


def sigmoid_kernel(
    X: Array, Y: Array | None = None, *, gamma: float | None = None, theta: float = -0.1
) -> NDArray[Any]:
    """Hyperbolic tangent of inner products, tanh(gamma xᵀy + theta); indefinite in general.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples_X, n_features)
    Y : array or sparse matrix of shape (n_samples_Y, n_features), default=None
        ``X`` itself when None.
    gamma : float, default=None
        Slope, positive; one over the mean squared norm of the rows of ``X`` when None.
    theta : float, default=-0.1
        Offset, negative in the paper.

    Returns
    -------
    ndarray of shape (n_samples_X, n_samples_Y)
    """
    X, Y, unit = _within_reach(X, Y)
    kernel = _inner_products(X, Y)
    kernel *= 1.0 / _mean_squared_norm(X) if gamma is None else gamma * unit * unit
    kernel += theta
    return _elementwise("tanh", kernel)


def _inner_products(X: Array, Y: Array | None) -> NDArray[Any]:
    product: NDArray[Any]
    if is_device_array(X):
        product = X @ namespace(X).matrix_transpose(X if Y is None else Y)
    else:
        # Products of integers or booleans would overflow in their own type: everything becomes a float first.
        X, Y = check_pairwise_arrays(X, Y)
        product = safe_sparse_dot(X, Y.T, dense_output=True)
    return product


def _powers(X: Array, Y: Array | None, *, degree: int = 2, scale: float | None = None) -> NDArray[Any]:
    X, Y, unit = _within_reach(X, Y)
    kernel = _inner_products(X, Y)
    kernel /= _mean_squared_norm(X) if scale is None else scale / unit / unit
    powers: NDArray[Any] = kernel**degree
    return powers


KERNELS: dict[str, KernelFunction] = {
    "linear": linear_kernel,
    "polynomial": polynomial_kernel,
    "gaussian": gaussian_kernel,
    "laplace": laplace_kernel,
    "sigmoid": sigmoid_kernel,
}

# The values of a fitted kernel are checked by the caller, which has the name of the view.
_UNCHECKED: dict[KernelFunction, KernelFunction] = {linear_kernel: _inner_products, polynomial_kernel: _powers}

# The parameters that depend on the data, and the statistic of the training view (and of its column means, where they
# are taken away) each of them takes its value from.
_DATA_DRIVEN: dict[str, dict[str, Callable[[Array, Array | None], float]]] = {
    "polynomial": {"scale": lambda X, shift: _mean_squared_norm(X)},
    "gaussian": {"sigma": lambda X, shift: mean_distance(X if shift is None else _spaced_rows(X) - shift)},
    "laplace": {"sigma": lambda X, shift: mean_distance(X if shift is None else _spaced_rows(X) - shift)},
    "sigmoid": {"gamma": lambda X, shift: 1.0 / _mean_squared_norm(X)},
}


@dataclass(frozen=True)
class FittedKernel:
    """A kernel with fixed parameters, so that training samples and new samples have the same kernel.

    Attributes
    ----------
    function : callable
        ``function(X, Y, **params)``.
    params : dict
        All parameters, those taken from the training view included.
    shift : array of shape (n_features,) or None
        Column means of the training view. They are subtracted first if this changes neither distances nor centered
        inner products, to reduce the rounding error.
    """

    function: KernelFunction
    params: dict[str, Any] = field(default_factory=dict)
    shift: Array | None = None

    def __call__(self, X: Array, Y: Array | None = None) -> Array:
        """Kernel values between the rows of X and those of Y (X itself when None)."""
        moved = X if self.shift is None else X - self.shift
        other = moved if Y is None else Y if self.shift is None else Y - self.shift
        values = _UNCHECKED.get(self.function, self.function)(moved, other, **self.params)
        if is_device_array(X):
            _check_stayed(values, X)
            return values if values.dtype == X.dtype else namespace(X).astype(values, X.dtype)
        values = np.asarray(values)
        return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)

    def diagonal(self, X: Array, block: int = 64) -> Array:
        """Self-similarities k(x, x) of the rows of X, from small blocks, for any callable."""
        blocks = [self(X[start : start + block]) for start in range(0, X.shape[0], block)]
        xp = namespace(blocks[0])
        return xp.concat([xp.linalg.diagonal(one) for one in blocks])


def fit_kernel(
    kernel: str | KernelFunction, X: Array, params: Mapping[str, Any] | None = None, *, means: Array | None = None
) -> FittedKernel:
    """Determine the parameters of a kernel from a training view.

    Parameters
    ----------
    kernel : {"linear", "polynomial", "gaussian", "laplace", "sigmoid"} or callable
    X : array or sparse matrix of shape (n_samples, n_features)
    params : mapping, default=None
        Given parameters, which are not determined from the data.
    means : array of shape (n_features,), default=None
        Column means of the whole view, if X is a sample of its rows.

    Returns
    -------
    FittedKernel
    """
    fixed = {name: value for name, value in (params or {}).items() if value is not None}
    if callable(kernel):
        return FittedKernel(kernel, fixed)
    _check_params(kernel, fixed)
    shifts = kernel in ("linear", "gaussian", "laplace") and not scipy.sparse.issparse(X)
    shift = (_column_shift(X) if means is None else means) if shifts else None
    for name, statistic in _DATA_DRIVEN.get(kernel, {}).items():
        if name not in fixed:
            fixed[name] = statistic(X, shift)
    return FittedKernel(KERNELS[kernel], fixed, shift)


def fit_gram(
    kernel: str | KernelFunction, X: Array, params: Mapping[str, Any] | None = None
) -> tuple[FittedKernel, Array]:
    """Determine the parameters of a kernel from a training view, and its values there.

    The width of a Gaussian and its values come from the same distances, which are computed once.

    Parameters
    ----------
    kernel : str or callable
    X : array of shape (n_samples, n_features)
    params : mapping, default=None
        As for `fit_kernel`.

    Returns
    -------
    fitted : FittedKernel
    gram : ndarray of shape (n_samples, n_samples)
    """
    given = {name for name, value in (params or {}).items() if value is not None}
    plain = isinstance(X, np.ndarray) and 1 < len(X) <= MEAN_DISTANCE_SAMPLES and X.dtype in (np.float32, np.float64)
    if kernel != "gaussian" or given or not plain or _all_rows_same(X):
        fitted = fit_kernel(kernel, X, params)
        return fitted, fitted(X)
    shift = _column_shift(X)
    rows, _, unit = _within_reach(X - shift, None)
    squares = _distances(rows, None, squared=True)
    sigma = unit * _mean_of_roots(squares)
    squares *= -0.5 * (unit / sigma) ** 2
    return FittedKernel(gaussian_kernel, {"sigma": sigma}, shift), _elementwise("exp", squares)


def _check_params(kernel: str, params: Mapping[str, Any]) -> None:
    if kernel not in KERNELS:
        raise ValueError(f"kernel must be one of {list(KERNELS)} or a callable; got {kernel!r}.")
    known = [name for name in signature(KERNELS[kernel]).parameters if name not in ("X", "Y")]
    for name, value in params.items():
        if name not in known:
            raise ValueError(f"The {kernel} kernel has no parameter {name!r}; its parameters are {known}.")
        kind = Integral if name == "degree" else Real
        if not isinstance(value, kind) or not isfinite(value) or (value <= 0 and name != "theta"):
            rule = {"degree": "an integer above zero", "theta": "a finite number"}.get(
                name, "a finite number above zero"
            )
            raise ValueError(f"The parameter {name!r} of the {kernel} kernel must be {rule}; got {value!r}.")


def mean_distance(X: Array) -> float:
    """Mean Euclidean distance over all pairs of different rows (1.0 when all rows are the same).

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Of more than 2000 rows, 2000 evenly spaced ones are used.

    Returns
    -------
    float
    """
    if not is_device_array(X):
        X, _ = check_pairwise_arrays(X, None)
    X, _, unit = _within_reach(_spaced_rows(X), None)
    n_samples = X.shape[0]
    # Distances of equal rows would be rounding errors.
    if n_samples < 2 or _all_rows_same(X):
        return 1.0
    if isinstance(X, np.ndarray) and X.dtype == np.float32:
        # Near the mean of the rows the rounding errors of squares are too small to matter in a mean of distances.
        return unit * _mean_of_roots(_single_precision_squares(X - X.mean(axis=0), None))
    return unit * _mean_of_pairs(_distances(X, None, squared=False))


def _mean_of_pairs(distances: Array) -> float:
    """Mean over pairs of different rows, of which there are at least two; 1.0 if all distances are zero."""
    xp, n_samples = namespace(distances), distances.shape[0]
    return float(xp.sum(distances, dtype=xp.float64)) / (n_samples * (n_samples - 1)) or 1.0


def _mean_of_roots(squares: NDArray[Any]) -> float:
    return _mean_of_pairs(np.sqrt(squares))


def _within_reach(X: Array, Y: Array | None) -> tuple[Array, Array, float]:
    """The rows in a unit in which squares of their entries neither overflow nor vanish, and that unit.

    The unit is a power of two, so that no digit changes; it is one if possible.
    """
    if is_device_array(X):
        return X, X if Y is None else Y, 1.0
    X, Y = check_pairwise_arrays(X, Y)
    entries = [one.data if scipy.sparse.issparse(one) else one for one in (X, Y)]
    # Minima and maxima: absolute values would be a copy of the view.
    largest = max(float(max(np.max(one, initial=0.0), -np.min(one, initial=0.0))) for one in entries)
    limits = np.finfo(X.dtype)
    if largest == 0 or float(limits.tiny) ** 0.25 < largest < float(limits.max) ** 0.25:
        return X, Y, 1.0
    unit = ldexp(1.0, frexp(largest)[1] - 1)
    smaller = _divided(X, unit)
    return smaller, smaller if Y is X else _divided(Y, unit), unit


def _divided(rows: Array, unit: float) -> Array:
    if not scipy.sparse.issparse(rows):
        return rows / unit
    rows = rows.copy()
    rows.data = rows.data / unit
    return rows


def _check_range(kernel: NDArray[Any], name: str) -> NDArray[Any]:
    # Minima and maxima, since an array of the kernel's size would take memory; NaN passes through both.
    if isinstance(kernel, np.ndarray) and kernel.size and not (np.isfinite(kernel.max()) and np.isfinite(kernel.min())):
        raise ValueError(
            f"The {name} kernel of this view has values beyond the range of {kernel.dtype}. Divide the view by a "
            f"constant first."
        )
    return kernel


def _all_rows_same(X: Array) -> bool:
    if scipy.sparse.issparse(X):
        return bool((X[1:] != X[:-1]).nnz == 0)
    return not bool(namespace(X).any(X[1:, :] != X[:-1, :]))


def _spaced_rows(X: Array) -> Array:
    """All rows of a small array, evenly spaced ones of a large one."""
    if X.shape[0] <= MEAN_DISTANCE_SAMPLES:
        return X
    return take_rows(X, np.linspace(0, X.shape[0] - 1, MEAN_DISTANCE_SAMPLES).astype(np.intp))


def _column_shift(X: Array) -> Array:
    if not is_device_array(X):
        return np.asarray(X).mean(axis=0)
    xp = namespace(X)
    return xp.astype(column_means(X, xp=xp), X.dtype)


def _elementwise(function: str, values: Array) -> NDArray[Any]:
    """A function of every entry, in place for NumPy arrays."""
    output = {"out": values} if isinstance(values, np.ndarray) else {}
    results: NDArray[Any] = getattr(namespace(values), function)(values, **output)
    return results


def _check_stayed(values: Any, X: Array) -> None:
    if device_name(values) != device_name(X):
        raise ValueError(
            f"The kernel was called with arrays of {device_name(X)} and returned a {type(values).__name__} of "
            f"{device_name(values)}. A callable must return values on the device of the data. Use NumPy arrays "
            f"otherwise."
        )


def _distances(X: Array, Y: Array | None, *, squared: bool) -> Array:
    if is_device_array(X):
        return _distances_on_device(X, X if Y is None else Y, squared=squared)
    if (Y is None or Y is X) and _all_rows_same(X):  # computed distances would be rounding errors of the norms
        return np.zeros((X.shape[0], X.shape[0]), dtype=X.dtype)
    if squared and isinstance(X, np.ndarray) and X.dtype == np.float32 and (Y is None or isinstance(Y, np.ndarray)):
        return _single_precision_squares(X, Y)
    distances: NDArray[Any] = euclidean_distances(X, Y, squared=squared)
    return distances


def _single_precision_squares(X: NDArray[Any], Y: NDArray[Any] | None) -> NDArray[Any]:
    """Squared distances in single precision, without the conversion to double precision of scikit-learn.

    The error is that of the squared norms, which is negligible for a Gaussian of comparable width. Distances that are
    not squared are computed in double precision, since the square root magnifies the error.
    """
    other = X if Y is None or Y is X else Y
    squares: NDArray[Any] = X @ other.T
    squares *= np.float32(-2.0)
    squares += np.einsum("ij,ij->i", X, X)[:, None]
    squares += np.einsum("ij,ij->i", other, other)
    if other is X:
        np.fill_diagonal(squares, 0.0)
    np.maximum(squares, np.float32(0.0), out=squares)
    return squares


def _distances_on_device(X: Array, Y: Array, *, squared: bool) -> Array:
    """The same for any array library; roots, which magnify rounding error, are taken in double precision."""
    xp, dtype, same = namespace(X), X.dtype, Y is X
    if not squared:
        X, Y = (xp.astype(rows, xp.float64, copy=False) for rows in (X, Y))
    squares = X @ xp.matrix_transpose(Y)
    squares *= -2.0
    squares += row_lengths(X, xp=xp)[:, None] ** 2
    squares += row_lengths(Y, xp=xp) ** 2
    squares = xp.maximum(squares, xp.zeros((), dtype=squares.dtype, device=device_of(squares)))
    if same:
        squares *= 1.0 - xp.eye(squares.shape[0], dtype=squares.dtype, device=device_of(squares))
    return squares if squared else xp.astype(xp.sqrt(squares), dtype, copy=False)


def _mean_squared_norm(X: Array) -> float:
    if not is_device_array(X):
        X, _ = check_pairwise_arrays(X, None)
        return float(np.mean(row_norms(X, squared=True), dtype=np.float64)) or 1.0
    xp = namespace(X)
    total = xp.zeros((), dtype=xp.float64, device=device_of(X))
    for rows in row_blocks(X.shape[0], NORM_ROWS):
        total = total + xp.sum(xp.astype(X[rows, :], xp.float64) ** 2)
    return float(total) / X.shape[0] or 1.0
