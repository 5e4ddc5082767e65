"""Factor similarity: S = ΦΦᵀ with few columns in Φ, so that neither S nor, for tall views, Φ itself is ever formed.

A centred linear kernel with unit diagonal is ΦΦᵀ with rows φ(x) = (x - mean) / ‖x - mean‖: the view itself, two cheap
operations away. Any other kernel has the Nyström factor of some landmark samples, ψ(x) = k(x, landmarks) K_ll^{-1/2},
centred and scaled in the same way. In both cases a row of Φ depends on its own sample and on statistics of the training
view only, so new samples pass through the same map.

Rows of Φ come as a dense array, as a sparse one (anchor graphs), or, for sparse views, as `CenteredRows`, which know
their products and are never written out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from array_api_compat import is_array_api_obj
from numpy.typing import NDArray
from sklearn.cluster import kmeans_plusplus
from sklearn.utils import check_random_state

from latefusion.arrays import (
    beside,
    column_means,
    is_device_array,
    kmeans_plus_plus_rows,
    namespace,
    row_blocks,
    row_lengths,
    take_rows,
    to_numpy,
    top_eigenpairs,
    unit_rows,
)
from latefusion.kernels import FittedKernel
from latefusion.similarities.centered_rows import CenteredRows, centered_lengths
from latefusion.similarities.extension import ReadRows
from latefusion.types import Array

# Rows of that subset on which the captured share is measured.
CAPTURED_ROWS = 1000
# Similarities to landmarks, and dense features they are computed from, that are held at a time.
ENTRIES_AT_A_TIME = 2**26


@dataclass(frozen=True)
class LinearMap:
    """φ(x) = (x - mean) / ‖x - mean‖; a sample at the mean maps to zero. Of sparse rows it makes `CenteredRows`.

    Attributes
    ----------
    mean : array of shape (n_features,)
    floor : float
        Length below which a centred row is rounding error and counts as zero.
    """

    mean: Array
    floor: float

    @property
    def width(self) -> int:
        """Number of columns of Φ."""
        return int(self.mean.shape[0])

    def __call__(self, rows: Array) -> Array:
        """Rows of Φ."""
        if scipy.sparse.issparse(rows):
            return self.implicit(rows)
        return _to_unit_length(rows - self.mean, self.floor)

    def write(self, rows: NDArray[Any], place: NDArray[Any]) -> None:
        """Write rows of Φ into existing memory."""
        np.subtract(rows, self.mean, out=place)
        _to_unit_length(place, self.floor)

    def implicit(self, rows: Array) -> CenteredRows:
        """Rows of Φ as an operator, without a copy of ``rows``."""
        lengths = centered_lengths(rows, self.mean)
        long = lengths > self.floor
        return CenteredRows(rows, self.mean, np.where(long, 1 / np.where(long, lengths, 1.0), 0.0))


@dataclass(frozen=True)
class NystromMap:
    """φ(x) = (ψ(x) - mean) / ‖ψ(x) - mean‖ with ψ(x) = k(x, landmarks) · whitening.

    Attributes
    ----------
    kernel : FittedKernel
    landmarks : array or sparse matrix of shape (n_landmarks, n_features)
    whitening : array of shape (n_landmarks, rank)
        Leading part of K_ll^{-1/2}.
    mean : array of shape (rank,)
        Mean of ψ over the training samples.
    energy : float
        Share of the trace of K_ll that the kept directions carry.
    captured : float
        Share of the variance of the training samples in the feature space of the kernel that ψ carries: 1 when the
        factor is the kernel itself.
    floor : float
        Length below which a centred row is rounding error and counts as zero.
    """

    kernel: FittedKernel
    landmarks: Array
    whitening: Array
    mean: Array
    energy: float
    captured: float
    floor: float

    @property
    def width(self) -> int:
        """Number of columns of Φ."""
        return int(self.whitening.shape[1])

    def __call__(self, rows: Array) -> Array:
        """Rows of Φ."""
        columns = (
            self.whitening.shape[0] if scipy.sparse.issparse(rows) else max(self.whitening.shape[0], rows.shape[1])
        )
        step = max(1, ENTRIES_AT_A_TIME // columns)
        parts = [self._features(rows[block.start : block.stop]) for block in row_blocks(rows.shape[0], step)]
        return parts[0] if len(parts) == 1 else namespace(self.whitening).concat(parts)

    def _features(self, rows: Array) -> Array:
        features = self.kernel(rows, self.landmarks) @ self.whitening
        features -= self.mean
        return _to_unit_length(features, self.floor)


@dataclass(frozen=True)
class Factor:
    """The similarity ΦΦᵀ of the training samples of one view.

    Attributes
    ----------
    view : array of shape (n_samples, n_features)
    feature_map : LinearMap, NystromMap, AnchorMap or GivenMap
        From rows of the view to rows of Φ, of unit length or zero, with the number of columns of Φ as ``width``.
    features : array or sparse matrix of shape (n_samples, width) or None
        All rows of Φ, where they are known already.
    products : array of shape (width, width) or None
        ΦᵀΦ in double precision, where it is known already.
    """

    view: Array
    feature_map: Any
    features: Array | None = None
    products: Array | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples, twice: the shape of the similarity."""
        return self.view.shape[0], self.view.shape[0]

    @property
    def has_dense_rows(self) -> bool:
        """Whether rows of Φ are ordinary arrays."""
        return bool(is_array_api_obj(self.rows(0, 1)))

    def rows(self, start: int, stop: int) -> Array:
        """Rows of Φ."""
        return self.feature_map(self.view[start:stop])

    def toarray(self) -> Array:
        """The similarity itself, for small problems."""
        features = self.feature_map(self.view)
        return row_products(features, features)


@dataclass(frozen=True)
class FactorExtension:
    """Features of new samples: the same map.

    Attributes
    ----------
    feature_map : LinearMap, NystromMap, GivenMap, or Unchanged if the view holds its features already
    columns : array of shape (n_columns, width) or None
        Features of the training samples whose neighbourhoods are known; only for local alignment.
    """

    feature_map: Any
    columns: Array | None = None

    def features(self, view: Array, diagonal: Any = None) -> Array:
        """Rows of Φ, shape (n_new, width); ``diagonal`` is not needed."""
        return self.feature_map(view)

    def with_columns(self, view: Array, samples: NDArray[np.intp]) -> FactorExtension:
        """The same with some training samples as columns of `closeness`."""
        return replace(self, columns=self._directions(self.feature_map(take_rows(view, samples))))

    def closeness(self, view: Array, features: Array | None = None) -> Array:
        """Similarities to the training samples whose neighbourhoods are known, shape (n_new, n_columns)."""
        assert self.columns is not None
        return row_products(self._directions(self.feature_map(view) if features is None else features), self.columns)

    def _directions(self, features: Array) -> Array:
        """Features of unit length, so that samples with the same features have a similarity of one."""
        has_unit_rows = getattr(self.feature_map, "has_unit_rows", True)
        return features if has_unit_rows else unit_rows(features, xp=namespace(features))


def row_products(left: Array, right: Array) -> Array:
    """Inner products of all pairs of rows of two sets of features, as a dense array."""
    if isinstance(left, CenteredRows) and isinstance(right, CenteredRows):
        return left.inner_products(right)
    products = left @ right.T
    return products.toarray() if scipy.sparse.issparse(products) else products


def row_reader(view: Array) -> ReadRows:
    """Read rows of a view in memory; all rows are the view itself, without a copy."""
    return lambda rows: view if len(rows) == view.shape[0] else take_rows(view, rows)


def mean_row(view: Array) -> Array:
    """Column means of a dense or sparse view, in double precision."""
    if scipy.sparse.issparse(view):
        return np.asarray(view.mean(axis=0, dtype=np.float64)).ravel()
    return column_means(view, xp=namespace(view))


def fit_linear_map(rows: Array, means: Array | None = None) -> LinearMap:
    """Feature map of the centred linear kernel with unit diagonal.

    Parameters
    ----------
    rows : array or sparse matrix of shape (n_rows, n_features)
        The view, or some of its rows: enough to estimate the rounding error of sparse rows.
    means : array of shape (n_features,), default=None
        Column means of the view, in double precision; those of ``rows`` by default.

    Returns
    -------
    LinearMap
    """
    means = mean_row(rows) if means is None else means
    xp = namespace(means)
    if scipy.sparse.issparse(rows):
        # Lengths are differences of squares here, so their rounding error is the root of that of the squares.
        largest = float(centered_lengths(rows, np.zeros_like(means)).max())
        floor = (8 * float(np.finfo(np.float64).eps)) ** 0.5 * largest
    else:
        floor = 8 * float(xp.finfo(rows.dtype).eps) * float(xp.max(xp.abs(means))) * rows.shape[1] ** 0.5
    return LinearMap(xp.astype(means, rows.dtype), floor)


def fit_nystrom_map(
    subset: Array,
    kernel: FittedKernel,
    *,
    n_landmarks: int = 300,
    landmarks: str = "uniform",
    energy: float = 0.9999,
    max_rank: int | None = None,
    random_state: Any = 0,
    n_samples: int | None = None,
) -> NystromMap:
    """Nyström factor of a kernel.

    Parameters
    ----------
    subset : array or sparse matrix of shape (n_rows, n_features)
        The view, or a random subset of its rows.
    kernel : FittedKernel
    n_landmarks : int, default=300
        Number of landmark samples.
    landmarks : {"uniform", "kmeans++"}, default="uniform"
        Landmarks are chosen at random, or spread out.
    energy : float, default=0.9999
        Share of the trace of the landmarks' kernel to keep; it sets the rank.
    max_rank : int, default=None
        Largest number of directions to keep; no limit when None.
    random_state : int, RandomState or None, default=0
    n_samples : int, default=None
        Number of samples of the view, for error messages; that of the subset by default.

    Returns
    -------
    NystromMap
    """
    generator, shape = check_random_state(random_state), (n_samples or subset.shape[0], subset.shape[1])
    n_landmarks = min(n_landmarks, subset.shape[0])
    anchors = take_rows(subset, np.sort(_choose_landmarks(subset, n_landmarks, landmarks, generator)))
    gram = to_numpy(kernel(anchors)).astype(np.float64)
    if not np.all(np.isfinite(gram)):
        raise ValueError(
            f"The kernel of a view of shape {shape} has values that are NaN or infinite. Check the kernel "
            f"and its parameters, or scale the columns."
        )
    values, vectors = top_eigenpairs((gram + gram.T) / 2, len(gram))
    if values[0] <= 1e-10 * np.max(np.abs(gram)):
        raise ValueError(
            f"The kernel of a view of shape {shape} has no positive eigenvalue, as every kernel must. Check how "
            f"it is computed."
        )
    shares = np.minimum(np.cumsum(np.maximum(values, 0)) / np.sum(np.maximum(values, 0)), 1.0)
    rank = min(int(np.searchsorted(shares, energy)) + 1, int(np.count_nonzero(values > 1e-10 * values[0])))
    rank = rank if max_rank is None else min(rank, max_rank)
    whitening: Array = vectors[:, :rank] / np.sqrt(values[:rank])
    whitening = beside(whitening, subset, subset.dtype) if is_device_array(subset) else whitening.astype(subset.dtype)
    features = kernel(subset, anchors) @ whitening
    xp = namespace(features)
    mean = xp.astype(column_means(features, xp=xp), subset.dtype)
    captured, floor = _captured_share(subset, kernel, features, mean)
    if captured == 0:
        raise constant_kernel(shape)
    return NystromMap(kernel, anchors, whitening, mean, float(shares[rank - 1]), captured, floor)


def constant_kernel(shape: tuple[int, ...]) -> ValueError:
    """The error for a kernel that is equal for all pairs of samples."""
    return ValueError(
        f"The kernel of a view of shape {shape} is constant up to rounding: it cannot separate any samples. "
        f"Choose another kernel or kernel_params, or standardise the columns of the view."
    )


def _choose_landmarks(subset: Array, n_landmarks: int, rule: str, generator: np.random.RandomState) -> NDArray[np.intp]:
    if rule == "uniform":
        return generator.choice(subset.shape[0], n_landmarks, replace=False)
    if not is_device_array(subset):
        chosen: NDArray[np.intp] = kmeans_plusplus(subset, n_landmarks, random_state=generator)[1]
        return chosen
    drawn = kmeans_plus_plus_rows(subset, n_landmarks, n_starts=1, generator=generator, xp=namespace(subset))
    return np.unique(to_numpy(drawn))


def _captured_share(subset: Array, kernel: FittedKernel, features: Array, mean: Array) -> tuple[float, float]:
    """Variance of the features relative to that of the kernel, and the length below which a feature is rounding error.

    The variance of the kernel is the mean of its centred diagonal, k(x, x) - ‖mean‖². Few rows are enough for both.
    """
    step = -(-subset.shape[0] // CAPTURED_ROWS)
    self_similarity = float(to_numpy(kernel.diagonal(subset[::step])).mean(dtype=np.float64))
    floor = 1e-6 * max(self_similarity, 0.0) ** 0.5
    center = to_numpy(mean).astype(np.float64)
    apart = np.sum((to_numpy(features[::step]) - center) ** 2, axis=1)
    if not apart.max() > floor**2:
        return 0.0, floor
    # Indefinite kernels may have less variance in all than in their positive directions.
    return min(1.0, float(apart.mean()) / max(self_similarity - float(center @ center), float(apart.mean()))), floor


def _to_unit_length(rows: Array, floor: float) -> Array:
    """Divide rows by their length, in place; shorter ones than ``floor`` become zero."""
    xp = namespace(rows)
    lengths = row_lengths(rows, xp=xp)
    long = lengths > floor
    factors = xp.where(long, 1 / xp.where(long, lengths, xp.ones_like(lengths)), xp.zeros_like(lengths))
    rows *= xp.astype(factors, rows.dtype)[:, None]
    return rows
