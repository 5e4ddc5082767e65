"""Late fusion by global alignment, in the space that the eigenvectors of all views span.

Let B = [V_1 | … | V_s] hold the leading eigenvectors of all similarities of all views, V_j of shape n x r. Everything
that global alignment needs is a linear function of the rows of B:

- the base partition H_j, the first k columns of V_j;
- the mean similarity (1/s) Σ_j V_j Λ_j V_jᵀ / ℓ_j and its leading eigenvectors M, where ℓ_j, the mean of the first k
  eigenvalues, brings similarities of different kinds to one scale;
- the consensus F.

So the inner products BᵀB are sufficient. Any choice of similarities and of λ is solved in that small space, and the
consensus is B times a small matrix, for training samples and new samples.

Every similarity has a factor, by which H_j and V_j are multiplied. If c equal similarities have factors of 1/√c, the
consensus and the mean are the same as for a single one. So several similarities of one view share its weight, and a
repeated view changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import array_api_compat.numpy as xp
import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import orthonormal_columns, rounding_threshold, top_eigenpairs
from latefusion.solvers.late_fusion_alignment import compress_partitions, solve_alignment
from latefusion.types import SolverResult

FloatArray = NDArray[np.floating]


class WeightedSpectrum(NamedTuple):
    """One similarity among those that are fused.

    Attributes
    ----------
    columns : slice
        Its eigenvectors in B.
    values : ndarray of shape (n_components,)
        Their eigenvalues.
    factor : float
    """

    columns: slice
    values: FloatArray
    factor: float = 1.0


class FusedSpectra(NamedTuple):
    """A consensus of spectra.

    Attributes
    ----------
    coefficients : ndarray of shape (n_columns, n_clusters)
        The consensus is B times this.
    mean : ndarray of shape (n_columns, n_clusters)
        The partition M of the mean similarity is B times this.
    result : SolverResult
        Of the members in their order; ``result.consensus`` is the small consensus.
    """

    coefficients: FloatArray
    mean: FloatArray
    result: SolverResult


def fuse_spectra(
    root: FloatArray,
    members: Sequence[WeightedSpectrum],
    n_clusters: int,
    regularizations: Sequence[float],
    **options: Any,
) -> list[FusedSpectra]:
    """Global alignment of the base partitions of some similarities, for several λ.

    Parameters
    ----------
    root : ndarray of shape (rank, n_columns)
        R with RᵀR = BᵀB, from `arrays.root_of_products`, or B itself.
    members : sequence of WeightedSpectrum
        The similarities to fuse, whose mean has the partition M.
    n_clusters : int
    regularizations : sequence of float
        Values of λ.
    **options
        Of `solve_alignment`: ``init``, ``max_iter``, ``tol``.

    Returns
    -------
    list of FusedSpectra
        One per λ.
    """
    mean = mean_coefficients(root, members, n_clusters)
    partitions = [member.factor * _leading(root, member, n_clusters) for member in members]
    small = compress_partitions(partitions, root @ mean, xp=xp)
    fused = []
    for value in regularizations:
        result = solve_alignment(*small, regularization=value, **options, xp=xp)
        coefficients = mean @ result.mixing[-1]
        for member, mixing in zip(members, result.mixing[:-1], strict=True):
            width = min(n_clusters, len(member.values))
            own = slice(member.columns.start, member.columns.start + width)
            coefficients[own] += member.factor * mixing[:width]
        fused.append(FusedSpectra(coefficients, mean, result))
    return fused


def mean_coefficients(root: FloatArray, members: Sequence[WeightedSpectrum], n_clusters: int) -> FloatArray:
    """The matrix C with M = B C, the leading eigenvectors of the mean similarity of some members.

    Parameters
    ----------
    root : ndarray of shape (rank, n_columns)
    members : sequence of WeightedSpectrum
    n_clusters : int

    Returns
    -------
    ndarray of shape (n_columns, n_clusters)
    """
    scales = np.zeros(root.shape[1])
    for member in members:
        level = member.values[:n_clusters].mean()
        # A view whose members have no positive eigenvalue cannot separate samples, and is not used.
        scales[member.columns] = member.factor * np.sqrt(member.values / level) if level > 0 else 0.0
    used = np.flatnonzero(scales)
    coefficients = np.zeros((root.shape[1], n_clusters))
    if not len(used):
        return coefficients
    scaled = root[:, used] * scales[used]
    wide = scaled.shape[0] < scaled.shape[1]
    values, vectors = top_eigenpairs(scaled @ scaled.T if wide else scaled.T @ scaled, min(n_clusters, *scaled.shape))
    present = values > rounding_threshold(np.finfo(values.dtype).eps, values[0])
    inverse = present / np.where(present, values, 1.0)
    # V Λ^{-1/2}; from the left singular vectors U it is Aᵀ U Λ^{-1}.
    vectors = scaled.T @ vectors * inverse if wide else vectors * np.sqrt(inverse)
    coefficients[used, : len(values)] = scales[used, None] * vectors
    return coefficients


def _leading(root: FloatArray, member: WeightedSpectrum, n_clusters: int) -> FloatArray:
    """The compressed base partition; zero columns if the similarity has fewer eigenvectors."""
    partition = np.zeros((root.shape[0], n_clusters))
    columns = root[:, member.columns][:, :n_clusters]
    partition[:, : columns.shape[1]] = columns
    return partition


def agreement_with_others(
    root: FloatArray,
    members: Sequence[WeightedSpectrum],
    owners: Sequence[int],
    overlap: FloatArray,
    n_clusters: int,
    *,
    basis: FloatArray | None = None,
    mask: NDArray[np.bool_] | None = None,
) -> FloatArray:
    """Agreement of every view with the mean of the other views.

    Parameters
    ----------
    root : ndarray of shape (rank, n_columns)
    members : sequence of WeightedSpectrum
    owners : sequence of int
        The view of every member.
    overlap : ndarray of shape (n_views, n_views)
        How equal two views are, from 0 to 1; equal views do not count as evidence for each other.
    n_clusters : int
    basis : ndarray of shape (n_samples, n_columns), default=None
        B, if views are missing.
    mask : ndarray of bool of shape (n_samples, n_views), default=None
        Mask of observed views. The agreement of a view then uses the samples that have it and another view.

    Returns
    -------
    ndarray of shape (n_views,)
        Mean over a view's members of ‖M_{-p}ᵀ H_p‖² / k, M_{-p} the partition of the mean similarity of the others: k/n
        for an independent view, 1 for an equal one. One if there are no other views with a positive factor.
    """
    agreement = np.ones(len(overlap))
    for view in range(len(overlap)):
        others = [
            member._replace(factor=member.factor * np.sqrt(1.0 - overlap[view, owner]))
            for member, owner in zip(members, owners, strict=True)
            if overlap[view, owner] < 1 and member.factor > 0
        ]
        if not others:
            continue
        mean = mean_coefficients(root, others, n_clusters)
        rows: FloatArray = root
        if basis is not None and mask is not None:
            rows = basis[mask[:, view] & (mask.sum(axis=1) > 1)]
        elsewhere: FloatArray = rows @ mean
        own = [_leading(rows, one, n_clusters) for one, owner in zip(members, owners, strict=True) if owner == view]
        if mask is not None:
            elsewhere, own = orthonormal_columns(elsewhere), list(map(orthonormal_columns, own))
        agreement[view] = np.mean([np.sum((elsewhere.T @ one) ** 2) / n_clusters for one in own])
    return agreement
