"""Functions shared by the late fusion methods: base partitions of incomplete views, rotations, fusion, view weights.

Symbols: kernels K_p (n x n), m of them; base partitions H_p (n x k); rotations W_p (k x k); consensus F (n x k);
weights β (m,). ``mask`` (n x m) is True where a sample is observed in a view; a sample that is not has a zero row
in H_p.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.arrays import polar, rounding_threshold, top_eigenpairs
from latefusion.kernels import combine_kernels
from latefusion.similarities import PrecomputedSimilarity

Start = Literal["align", "identity"]


def observed_kernels(
    arrays: Sequence[Any], similarities: Sequence[Any], mask: NDArray[np.bool_] | None, n_clusters: int
) -> list[NDArray[Any]]:
    """Kernels of the observed samples of every view, with zeros for the others.

    Parameters
    ----------
    arrays : sequence of arrays
        Features (n_samples x n_features_p) or raw kernels (n_samples x n_samples). Values of samples that are not
        observed are never read.
    similarities : sequence of Similarity
        One per view; turns the observed part into a kernel, centred and scaled.
    mask : ndarray of bool of shape (n_samples, n_views) or None
        True where a sample is observed; None means everywhere.
    n_clusters : int

    Returns
    -------
    list of ndarray of shape (n_samples, n_samples)

    Notes
    -----
    The authors of the incomplete methods centre the complete kernels and apply the mask afterwards, which uses values
    that are said to be missing. Here the mean, the scale and the width of a kernel are those of the observed samples.
    """
    if mask is None:
        mask = np.ones((arrays[0].shape[0], len(arrays)), dtype=bool)
    return [
        _observed_kernel(array, similarity, observed, n_clusters)
        for array, similarity, observed in zip(arrays, similarities, mask.T, strict=True)
    ]


def _observed_kernel(array: Any, similarity: Any, observed: NDArray[np.bool_], n_clusters: int) -> NDArray[Any]:
    present = np.flatnonzero(observed)
    part = array if len(present) == len(observed) else array[present]
    if isinstance(similarity, PrecomputedSimilarity):
        part = part[:, present]
    block = similarity.similarity(part, n_clusters)[0]
    block = np.asarray(block.toarray() if scipy.sparse.issparse(block) else block, dtype=np.float64)
    if len(present) == len(observed):
        return block
    kernel = np.zeros((len(observed), len(observed)))
    kernel[np.ix_(present, present)] = block
    return kernel


def base_partitions(kernels: Sequence[NDArray[Any]], n_clusters: int) -> tuple[list[NDArray[Any]], NDArray[Any]]:
    """Leading eigenvectors of every kernel, H_p, and of their mean, M.

    Parameters
    ----------
    kernels : sequence of ndarray of shape (n_samples, n_samples)
        Centred and scaled; zero rows and columns where a sample is not observed.
    n_clusters : int

    Returns
    -------
    partitions : list of ndarray of shape (n_samples, n_clusters)
        Orthonormal columns, as many as the kernel has positive eigenvalues; the others are zero, because a vector of
        the null space carries no information and can be nonzero on samples that are not observed.
    average : ndarray of shape (n_samples, n_clusters)
    """
    return [_leading_vectors(kernel, n_clusters) for kernel in kernels], _leading_vectors(
        combine_kernels(kernels), n_clusters
    )


def _leading_vectors(kernel: NDArray[Any], n_clusters: int) -> NDArray[Any]:
    values, vectors = top_eigenpairs(kernel, n_clusters)
    present = values > rounding_threshold(np.finfo(values.dtype).eps, values[0])
    leading: NDArray[Any] = vectors * present
    return leading


def start_rotations(partitions: Sequence[NDArray[Any]], average: NDArray[Any], init: Start) -> list[NDArray[Any]]:
    """Rotations to start from.

    Parameters
    ----------
    partitions : sequence of ndarray of shape (n_samples, n_clusters)
    average : ndarray of shape (n_samples, n_clusters)
    init : {"align", "identity"}
        "align" turns every base partition towards the average, W_p = polar(H_pᵀ M), and depends on subspaces only;
        "identity" is the choice of the authors and depends on the arbitrary signs of eigenvectors.

    Returns
    -------
    list of ndarray of shape (n_clusters, n_clusters)
    """
    if init == "align":
        return align_rotations(partitions, average)
    return [np.eye(partition.shape[1], dtype=partition.dtype) for partition in partitions]


def align_rotations(partitions: Sequence[NDArray[Any]], target: NDArray[Any]) -> list[NDArray[Any]]:
    """Turn every partition towards ``target``: W_p = polar(H_pᵀ T) maximises Tr(Tᵀ H_p W_p)."""
    return [polar(partition.T @ target, xp=np).isometry for partition in partitions]


def fuse(partitions: Sequence[NDArray[Any]], rotations: Sequence[NDArray[Any]], weights: NDArray[Any]) -> NDArray[Any]:
    """Put the rotated partitions together, Σ_p β_p H_p W_p."""
    fused = np.zeros_like(partitions[0])
    for partition, rotation, weight in zip(partitions, rotations, weights.tolist(), strict=True):
        fused += partition @ (weight * rotation)
    return fused


def alignments(
    partitions: Sequence[NDArray[Any]], rotations: Sequence[NDArray[Any]], target: NDArray[Any]
) -> NDArray[Any]:
    """Agreement of every rotated partition with ``target``: δ_p = Tr(Tᵀ H_p W_p), shape (n_views,)."""
    return np.array(
        [
            float(np.vdot(partition.T @ target, rotation))
            for partition, rotation in zip(partitions, rotations, strict=True)
        ]
    )


def view_weights(gains: NDArray[Any], exponent: float = 2.0) -> NDArray[Any]:
    """Maximise Σ_p β_p δ_p over weights with β >= 0 and Σ_p β_p^q = 1.

    Parameters
    ----------
    gains : ndarray of shape (n_views,)
        The alignments δ_p.
    exponent : float, default=2.0
        The exponent q > 1.

    Returns
    -------
    ndarray of shape (n_views,)
        β_p = δ_p^{1/(q-1)} / (Σ δ^{q/(q-1)})^{1/q}. A view with a negative alignment gets no weight; if no alignment is
        positive, the view with the largest one gets all the weight.
    """
    positive = np.maximum(gains, 0.0)
    if not positive.any():
        return np.where(np.arange(len(gains)) == np.argmax(gains), 1.0, 0.0)
    # Relative to the largest, so that no power overflows when q is close to one.
    powers = (positive / positive.max()) ** (1.0 / (exponent - 1.0))
    weights: NDArray[Any] = powers / np.sum(powers**exponent) ** (1.0 / exponent)
    return weights
