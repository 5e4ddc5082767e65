"""Kernel similarity: a dense Gram matrix, centred and scaled to unit diagonal, computed from features or given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from latefusion.kernels import FittedKernel, KernelStatistics, fit_kernel, standardize_kernel
from latefusion.types import Array


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

    def cross(self, view: Array, diagonal: NDArray[Any] | None = None) -> NDArray[Any]:
        """Similarities, shape (n_new, n_samples); ``diagonal`` is not needed, the kernel gives it."""
        raw = self.kernel(view, self.training)
        return self.statistics.apply(raw, self.kernel.diagonal(view).astype(raw.dtype))

    def closeness(self, view: Array, cross: NDArray[Any]) -> NDArray[Any]:
        """What neighbourhoods are ranked by: the similarities themselves."""
        return cross


@dataclass(frozen=True)
class PrecomputedExtension:
    """The same for kernels that the user computes.

    Attributes
    ----------
    statistics : KernelStatistics
    self_similarity : float or None
        The training diagonal where it is constant; then that of new samples is known, too.
    """

    statistics: KernelStatistics
    self_similarity: float | None

    def cross(self, view: NDArray[Any], diagonal: NDArray[Any] | None = None) -> NDArray[Any]:
        """Centred and scaled ``view``, which holds raw similarities of shape (n_new, n_samples)."""
        if diagonal is None:
            diagonal = np.full(len(view), self.self_similarity)
        return self.statistics.apply(view, np.asarray(diagonal, dtype=view.dtype))

    def closeness(self, view: NDArray[Any], cross: NDArray[Any]) -> NDArray[Any]:
        """What neighbourhoods are ranked by: the similarities themselves."""
        return cross


class KernelPartition(BaseEstimator):  # type: ignore[misc]
    """Similarity of one view by a kernel of its features; the base partition is its kernel k-means relaxation.

    Parameters
    ----------
    kernel : {"linear", "polynomial", "gaussian", "laplace", "sigmoid"} or callable, default="gaussian"
        A callable takes two arrays of features and returns their similarities.
    kernel_params : dict, default=None
        Parameters of the kernel; those left out come from the data.
    """

    def __init__(
        self, kernel: str | Callable[..., Any] = "gaussian", *, kernel_params: Mapping[str, Any] | None = None
    ) -> None:
        self.kernel = kernel
        self.kernel_params = kernel_params

    def similarity(self, view: Array, n_clusters: int) -> tuple[NDArray[Any], KernelExtension]:
        """Gram matrix of the training view, centred and with unit diagonal, and its extension to new samples."""
        fitted = fit_kernel(self.kernel, view, self.kernel_params)
        matrix, statistics = standardize_kernel(fitted(view), overwrite=True)
        return matrix, KernelExtension(fitted, view, statistics)


class PrecomputedPartition(BaseEstimator):  # type: ignore[misc]
    """Similarity of one view as a kernel that is already computed."""

    def similarity(self, view: NDArray[Any], n_clusters: int) -> tuple[NDArray[Any], PrecomputedExtension]:
        """The kernel, centred and with unit diagonal, and its extension to new samples."""
        diagonal = np.diagonal(view)
        constant = bool(np.ptp(diagonal) <= 1e-6 * np.max(np.abs(diagonal)))
        matrix, statistics = standardize_kernel(view)
        return matrix, PrecomputedExtension(statistics, float(diagonal.mean()) if constant else None)
