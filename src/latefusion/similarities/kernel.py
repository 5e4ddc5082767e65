"""Kernel similarity: a dense Gram matrix, centred and scaled to unit diagonal, computed from features or given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from latefusion.arrays import device_name, draw_rows, is_device_array, item_bytes, namespace, require_memory
from latefusion.encoding.coordinates import Unchanged
from latefusion.kernels import FittedKernel, KernelStatistics, fit_kernel, standardize_kernel
from latefusion.kernels.functions import MEAN_DISTANCE_SAMPLES, fit_gram
from latefusion.similarities.extension import FeatureFitter, ReadRows, SimilarityExtension
from latefusion.similarities.factor import (
    Factor,
    FactorExtension,
    constant_kernel,
    fit_linear_map,
    fit_nystrom_map,
    mean_row,
    row_reader,
)
from latefusion.types import Array

# Beyond this size a linear kernel is represented by its features: the result is the same, and cheaper.
LINEAR_FACTOR_SAMPLES = 1000
# Beyond this size no Gram matrix is formed, which would need 300 MB or more; other kernels are approximated.
NYSTROM_SAMPLES = 6000
# Rows from which the Nyström factor takes its mean and its landmarks; a random subset of larger views.
SUBSET_ROWS = 10_000
# Number of leading directions of a Nyström factor that are kept: far fewer than landmarks suffice for k eigenvectors.
LEAST_RANK = 100
RANK_PER_CLUSTER = 5
# Copies of a Gram matrix in memory: the matrix itself, and the mean of all views or the result of a method.
KERNEL_COPIES = 2


@dataclass(frozen=True)
class KernelExtension:
    """Similarities of new samples to the training samples, centred and scaled by training statistics.

    Attributes
    ----------
    kernel : FittedKernel
    training : array or sparse matrix of shape (n_samples, n_features)
    statistics : KernelStatistics
    """

    kernel: FittedKernel
    training: Array
    statistics: KernelStatistics

    def features(self, view: Array, diagonal: NDArray[Any] | None = None) -> NDArray[Any]:
        """Similarities, shape (n_new, n_samples); ``diagonal`` is not needed, the kernel gives it."""
        raw = self.kernel(view, self.training)
        return self.statistics.apply(raw, self.kernel.diagonal(view).astype(raw.dtype))

    def closeness(self, view: Array, features: NDArray[Any]) -> NDArray[Any]:
        """What neighbourhoods are ranked by: the similarities themselves."""
        return features


@dataclass(frozen=True)
class PrecomputedExtension:
    """The same for kernels that the user computes.

    Attributes
    ----------
    statistics : KernelStatistics or None
        None when the kernel is used as it comes.
    self_similarity : float or None
        The training diagonal where it is constant; then that of new samples is known, too.
    """

    statistics: KernelStatistics | None
    self_similarity: float | None

    def features(self, view: NDArray[Any], diagonal: NDArray[Any] | None = None) -> NDArray[Any]:
        """Centred and scaled ``view``, which holds raw similarities of shape (n_new, n_samples)."""
        if self.statistics is None:
            return view
        if diagonal is None:
            diagonal = np.full(len(view), self.self_similarity)
        return self.statistics.apply(view, np.asarray(diagonal, dtype=view.dtype))

    def closeness(self, view: NDArray[Any], features: NDArray[Any]) -> NDArray[Any]:
        """What neighbourhoods are ranked by: the similarities themselves."""
        return features


class KernelSimilarity(BaseEstimator):
    """Similarity of one view by a kernel of its features; the base partition is its kernel k-means relaxation.

    Parameters
    ----------
    kernel : {"linear", "polynomial", "gaussian", "laplace", "sigmoid"} or callable, default="gaussian"
        A callable takes two arrays of features and returns their similarities.
    kernel_params : dict, default=None
        Parameters of the kernel; those left out come from the data.
    method : {"auto", "exact", "factor"}, default="auto"
        "exact" forms the n x n Gram matrix. "factor" never does: the linear kernel of a view is its own features,
        centred and scaled, with the same result (sparse views stay sparse); other kernels go through a Nyström factor,
        which is an approximation. "auto" takes the factor beyond 6000 samples, and beyond 1000 for linear kernels of
        views that are sparse or have fewer columns than samples. Views on a device (torch, CuPy) always go through a
        factor, which is computed there.
    n_landmarks : int, default=300
        Landmark samples of the Nyström factor.
    landmarks : {"uniform", "kmeans++"}, default="uniform"
        How they are chosen: at random, or spread out.
    random_state : int, RandomState or None, default=0
        Seed of that choice.
    """

    def __init__(
        self,
        kernel: str | Callable[..., Any] = "gaussian",
        *,
        kernel_params: Mapping[str, Any] | None = None,
        method: str = "auto",
        n_landmarks: int = 300,
        landmarks: str = "uniform",
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.method = method
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.random_state = random_state

    def similarity(self, view: Array, n_clusters: int) -> tuple[Any, Any]:
        """Similarity of the training samples, centred and with unit diagonal, and its extension to new samples."""
        self._check_options()
        return self._factor(view, n_clusters) if self._takes_factor(view) else self._gram(view)

    def _check_options(self) -> None:
        for name, known in (("method", ("auto", "exact", "factor")), ("landmarks", ("uniform", "kmeans++"))):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {list(known)}, got {getattr(self, name)!r}.")
        if not isinstance(self.n_landmarks, Integral) or self.n_landmarks < 1:
            raise ValueError(f"n_landmarks must be an integer of at least 1, got {self.n_landmarks!r}.")

    def _takes_factor(self, view: Array) -> bool:
        if is_device_array(view):
            if self.method == "exact":
                raise ValueError(
                    f"A view of shape {tuple(view.shape)} is stored in {device_name(view)}, but method='exact' needs "
                    f"NumPy arrays. Use method='factor', which computes a factor of the kernel on the device, or give "
                    f"NumPy arrays."
                )
            return True
        if self.method != "auto":
            return self.method == "factor"
        n_samples, n_features = view.shape
        if self._is_linear and n_samples > LINEAR_FACTOR_SAMPLES:
            return scipy.sparse.issparse(view) or bool(n_samples > min(n_features, NYSTROM_SAMPLES))
        return bool(n_samples > NYSTROM_SAMPLES)

    @property
    def _is_linear(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "linear"

    def fitter(self, n_samples: int, n_clusters: int) -> FeatureFitter:
        """The fitter of a factor of the kernel, for a view that may not be in memory.

        The parameters of the kernel come from evenly spaced rows, the landmarks from random rows.

        Parameters
        ----------
        n_samples : int
        n_clusters : int

        Returns
        -------
        FeatureFitter
        """
        self._check_options()
        spaced = np.unique(np.linspace(0, n_samples - 1, min(n_samples, MEAN_DISTANCE_SAMPLES)).astype(np.intp))
        generator = check_random_state(self.random_state)
        subset = np.arange(0) if self._is_linear else draw_rows(n_samples, SUBSET_ROWS, generator)

        def fit(read: ReadRows, means: Array) -> FactorExtension:
            few = read(spaced)
            if self._is_linear:
                return FactorExtension(fit_linear_map(few, means))
            means = namespace(means).astype(means, few.dtype)
            feature_map = fit_nystrom_map(
                read(subset),
                fit_kernel(self.kernel, few, self.kernel_params, means=means),
                n_landmarks=self.n_landmarks,
                landmarks=self.landmarks,
                max_rank=max(LEAST_RANK, RANK_PER_CLUSTER * n_clusters),
                random_state=generator,
                n_samples=n_samples,
            )
            return FactorExtension(feature_map)

        return FeatureFitter(np.concatenate([spaced, subset]), fit)

    def _factor(self, view: Array, n_clusters: int) -> tuple[Factor, FactorExtension]:
        extension = self.fitter(view.shape[0], n_clusters).fit(row_reader(view), mean_row(view))
        return Factor(view, extension.feature_map), extension

    def _gram(self, view: Array) -> tuple[NDArray[Any], KernelExtension]:
        n_samples = view.shape[0]
        require_memory(
            KERNEL_COPIES * n_samples**2 * item_bytes(view),
            f"The exact kernel of a view of shape {tuple(view.shape)}, {n_samples} x {n_samples} numbers and a copy,",
            "Use KernelSimilarity(method='factor'), which never forms it, or fewer samples; float32 views need half.",
        )
        with np.errstate(over="ignore", invalid="ignore"):  # refused in the next line, with advice
            fitted, gram = fit_gram(self.kernel, view, self.kernel_params)
        _check_gram(gram, view.shape, foreign=callable(self.kernel))
        # A callable may hand out memory that is its own.
        matrix, statistics = standardize_kernel(gram, overwrite=not callable(self.kernel))
        if not statistics.inverse_root.any():
            raise constant_kernel(view.shape)
        return matrix, KernelExtension(fitted, view, statistics)


class PrecomputedSimilarity(BaseEstimator):
    """Similarity of one view as a kernel that is already computed.

    Parameters
    ----------
    standardize : bool, default=True
        Centre the kernel and scale it to unit diagonal, as the paper does with all kernels. Doing so twice is not the
        same as doing it once: pass False for kernels that are already standardized.
    """

    def __init__(self, *, standardize: bool = True) -> None:
        self.standardize = standardize

    def similarity(self, view: NDArray[Any], n_clusters: int) -> tuple[NDArray[Any], PrecomputedExtension]:
        """The kernel, centred and with unit diagonal unless it already is, and its extension to new samples."""
        if not self.standardize:
            return view, PrecomputedExtension(None, 1.0)
        diagonal = np.diagonal(view)
        constant = bool(np.ptp(diagonal) <= 1e-6 * np.max(np.abs(diagonal)))
        matrix, statistics = standardize_kernel(view)
        return matrix, PrecomputedExtension(statistics, float(diagonal.mean()) if constant else None)


def _check_gram(gram: NDArray[Any], shape: tuple[int, ...], *, foreign: bool) -> None:
    """Refuse what no kernel returns: another shape, values that are not finite, similarities that are not mutual."""
    label = f"The kernel of a view of shape {shape}"
    if gram.shape != (shape[0], shape[0]):
        raise ValueError(f"{label} must return an array of shape {(shape[0], shape[0])}, got {gram.shape}.")
    largest = max(float(gram.max()), -float(gram.min()))
    if not np.isfinite(largest):
        raise ValueError(
            f"{label} has values that are NaN or infinite. Check the kernel and its parameters, or scale the columns."
        )
    if foreign and float(np.max(np.abs(gram - gram.T))) > 1e-5 * largest:
        raise ValueError(f"{label} is not symmetric: k(x, y) must equal k(y, x).")


@dataclass(frozen=True)
class KernelPoints:
    """The encoding of a kernel as the points whose inner products it holds, in the span of the training samples.

    Attributes
    ----------
    kernel : Unchanged
    extension : SimilarityExtension
    projection : ndarray of shape (n_training, n_coordinates)
        V Λ^{-1} of the standardized training kernel.
    scales : ndarray of shape (n_coordinates,)
        Λ^{1/2}.
    """

    kernel: Unchanged
    extension: SimilarityExtension
    projection: NDArray[Any]
    scales: NDArray[Any]

    def __call__(self, view: Array, diagonal: NDArray[Any] | None = None) -> Array:
        """The points."""
        rows = np.asarray(self.extension.features(self.kernel(view), diagonal) @ self.projection)
        return rows.astype(self.projection.dtype, copy=False) * self.scales
