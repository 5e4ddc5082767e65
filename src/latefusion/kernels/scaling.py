"""Centering, unit-diagonal scaling and combination of Gram matrices, also for new samples by training statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


def center_kernel(kernel: NDArray[Any]) -> NDArray[Any]:
    """The kernel of the centered features: K_ij - mean_i - mean_j + mean.

    Parameters
    ----------
    kernel : ndarray of shape (n_samples, n_samples)
        Symmetric.

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
        Rows and columns sum to zero.
    """
    return _center_in_place(np.array(kernel, dtype=_float_type(kernel)))[0]


def normalize_kernel(kernel: NDArray[Any]) -> NDArray[Any]:
    """Cosine scaling K_ij / sqrt(K_ii K_jj), so that every sample has similarity one with itself.

    Parameters
    ----------
    kernel : ndarray of shape (n_samples, n_samples)

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
        The row and column of a sample whose diagonal entry is zero (at the origin of the feature space) are zero.
    """
    scaled = np.array(kernel, dtype=_float_type(kernel))
    diagonal = np.diagonal(scaled).copy()
    return _scale_in_place(scaled, _inverse_root(diagonal, reference=float(np.max(np.abs(diagonal), initial=0.0))))


def combine_kernels(kernels: Sequence[NDArray[Any]], weights: Sequence[float] | None = None) -> NDArray[Any]:
    """Weighted sum of kernels; their mean by default.

    Parameters
    ----------
    kernels : sequence of ndarray of shape (n_samples, n_samples)
    weights : sequence of float, default=None
        One weight per kernel; one over their number when None.

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
    """
    if weights is None:
        weights = [1.0 / len(kernels)] * len(kernels)
    if len(weights) != len(kernels):
        raise ValueError(f"There are {len(kernels)} kernels but {len(weights)} weights. Give one weight per kernel.")
    combined: NDArray[Any] = np.zeros(np.shape(kernels[0]), dtype=np.result_type(np.float32, *kernels))
    for weight, kernel in zip(weights, kernels, strict=True):
        combined += float(weight) * np.asarray(kernel)
    return combined


@dataclass(frozen=True)
class KernelStatistics:
    """Statistics of the training kernel for centering and scaling.

    Attributes
    ----------
    column_means : ndarray of shape (n_samples,)
        Mean of every column of the raw kernel.
    mean : float
        Mean of all its entries.
    inverse_root : ndarray of shape (n_samples,)
        One over the root of the centered diagonal; zero if that diagonal is zero.
    reference : float
        Largest raw self-similarity: the scale for detecting a zero diagonal.
    """

    column_means: NDArray[Any]
    mean: float
    inverse_root: NDArray[Any]
    reference: float

    def apply(self, cross: NDArray[Any], diagonal: NDArray[Any]) -> NDArray[Any]:
        """Center and scale the raw similarities of new samples (rows) to the training samples (columns).

        Parameters
        ----------
        cross : ndarray of shape (n_new, n_samples)
        diagonal : ndarray of shape (n_new,)
            Raw self-similarities of the new samples.

        Returns
        -------
        ndarray of shape (n_new, n_samples)
        """
        row_means = cross.mean(axis=1)
        centered = cross - row_means[:, None] - self.column_means + self.mean
        centered_diagonal = diagonal - 2.0 * row_means + self.mean
        centered *= _inverse_root(centered_diagonal, self.reference)[:, None]
        centered *= self.inverse_root
        return np.asarray(centered, dtype=cross.dtype)


def standardize_kernel(kernel: NDArray[Any], *, overwrite: bool = False) -> tuple[NDArray[Any], KernelStatistics]:
    """Center a kernel, scale it to unit diagonal, and return the statistics for new samples.

    Parameters
    ----------
    kernel : ndarray of shape (n_samples, n_samples)
        Symmetric.
    overwrite : bool, default=False
        Whether the memory of ``kernel`` may be used for the result.

    Returns
    -------
    standardized : ndarray of shape (n_samples, n_samples)
    statistics : KernelStatistics
    """
    matrix = kernel if overwrite else np.array(kernel, dtype=_float_type(kernel))
    reference = float(np.max(np.abs(np.diagonal(matrix)), initial=0.0))
    matrix, column_means, mean = _center_in_place(matrix)
    inverse_root = _inverse_root(np.diagonal(matrix).copy(), reference)
    _scale_in_place(matrix, inverse_root)
    return matrix, KernelStatistics(column_means, mean, inverse_root, reference)


def _center_in_place(matrix: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], float]:
    column_means = matrix.mean(axis=0, dtype=np.float64).astype(matrix.dtype)
    mean = float(column_means.mean(dtype=np.float64))
    matrix -= column_means
    matrix -= (column_means - mean)[:, None].astype(matrix.dtype)
    return matrix, column_means, mean


def _scale_in_place(matrix: NDArray[Any], inverse_root: NDArray[Any]) -> NDArray[Any]:
    matrix *= inverse_root
    matrix *= inverse_root[:, None]
    np.fill_diagonal(matrix, (inverse_root > 0).astype(matrix.dtype))
    return matrix


def _inverse_root(diagonal: NDArray[Any], reference: float) -> NDArray[Any]:
    # A centered diagonal this far below the raw one is rounding error, not a distance from the mean.
    floor = np.finfo(diagonal.dtype).eps * 8 * reference
    present = diagonal > floor
    roots: NDArray[Any] = np.where(present, 1.0 / np.sqrt(np.where(present, diagonal, 1.0)), 0.0).astype(diagonal.dtype)
    return roots


def _float_type(kernel: NDArray[Any]) -> Any:
    return np.float32 if np.asarray(kernel).dtype == np.float32 else np.float64
