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
    statistics : KernelStatistics or None
        None when the kernel is used as it comes.
    self_similarity : float or None
        The training diagonal where it is constant; then that of new samples is known, too.
    """

    statistics: KernelStatistics | None
    self_similarity: float | None

    def cross(self, view: NDArray[Any], diagonal: NDArray[Any] | None = None) -> NDArray[Any]:
        """Centred and scaled ``view``, which holds raw similarities of shape (n_new, n_samples)."""
        if self.statistics is None:
            return view
        if diagonal is None:
            diagonal = np.full(len(view), self.self_similarity)
        return self.statistics.apply(view, np.asarray(diagonal, dtype=view.dtype))

    def closeness(self, view: NDArray[Any], cross: NDArray[Any]) -> NDArray[Any]:
        """What neighbourhoods are ranked by: the similarities themselves."""
        return cross


class KernelPartition(BaseEstimator):
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
        with np.errstate(over="ignore", invalid="ignore"):  # refused in the next line, with advice
            gram = fitted(view)
        _check_gram(gram, view.shape, foreign=callable(self.kernel))
        # A callable may hand out memory that is its own.
        matrix, statistics = standardize_kernel(gram, overwrite=not callable(self.kernel))
        if not statistics.inverse_root.any():
            raise ValueError(
                f"The kernel of a view of shape {view.shape} is constant up to rounding: it cannot separate any "
                f"samples. Choose another kernel or kernel_params, or standardise the columns of the view."
            )
        return matrix, KernelExtension(fitted, view, statistics)


class PrecomputedPartition(BaseEstimator):
    """Similarity of one view as a kernel that is already computed.

    Parameters
    ----------
    standardize : bool, default=True
        Centre the kernel and scale it to unit diagonal, as the paper does with all kernels. Doing so twice is not the
        same as doing it once: say False for kernels that are already prepared.
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
