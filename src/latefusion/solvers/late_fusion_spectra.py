"""Late fusion by global alignment, in the space that the eigenvectors of all views span.

Let B = [V_1 | … | V_s] hold the leading eigenvectors of all similarities of all views, V_j of shape n x r. Everything
that global alignment needs is a linear function of the rows of B:

- the base partition H_j, the first k columns of V_j;
- the mean similarity (1/s) Σ_j V_j Λ_j V_jᵀ / ℓ_j and its leading eigenvectors M, where ℓ_j, the mean of the first k
  eigenvalues, brings similarities of different kinds to one scale;
- the consensus F.

So the inner products BᵀB are sufficient. Any choice of similarities and of λ is solved in that small space, and the
consensus is B times a small matrix, for training samples and new samples. If B has fewer rows than columns, M comes
from its rows, which is the smaller eigenproblem, and the alignment is solved in them.

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
from latefusion.solvers.late_fusion_alignment import compress_products, solve_alignment
from latefusion.types import SolverResult

FloatArray = NDArray[np.floating]


class Span(NamedTuple):
    """What the solvers know of B.

    Attributes
    ----------
    products : ndarray of shape (n_columns, n_columns)
        BᵀB.
    rows : ndarray of shape (n_rows, n_columns) or None
        B itself, if it has at most as many rows as columns.
    """

    products: FloatArray
    rows: FloatArray | None = None

    @classmethod
    def of(cls, basis: FloatArray) -> Span:
        """The span of the columns of a matrix."""
        return cls(basis.T @ basis, basis if basis.shape[0] <= basis.shape[1] else None)


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
    span: Span,
    members: Sequence[WeightedSpectrum],
    n_clusters: int,
    regularizations: Sequence[float],
    **options: Any,
) -> list[FusedSpectra]:
    """Global alignment of the base partitions of some similarities, for several λ.

    Parameters
    ----------
    span : Span
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
    mean = mean_coefficients(span, members, n_clusters)
    small = _small_partitions(span, members, mean, n_clusters)
    fused = []
    for value in regularizations:
        result = solve_alignment(*small, regularization=value, **options, xp=xp)
        coefficients = mean @ result.mixing[-1]
        for member, mixing in zip(members, result.mixing[:-1], strict=True):
            own = _leading(member, n_clusters)
            coefficients[own] += member.factor * mixing[: own.stop - own.start]
        fused.append(FusedSpectra(coefficients, mean, result))
    return fused


def mean_coefficients(span: Span, members: Sequence[WeightedSpectrum], n_clusters: int) -> FloatArray:
    """The matrix C with M = B C, the leading eigenvectors of the mean similarity of some members.

    Parameters
    ----------
    span : Span
    members : sequence of WeightedSpectrum
    n_clusters : int

    Returns
    -------
    ndarray of shape (n_columns, n_clusters)
    """
    n_columns = len(span.products)
    scales = np.zeros(n_columns)
    for member in members:
        level = member.values[:n_clusters].mean()
        # A view whose members have no positive eigenvalue cannot separate samples, and is not used.
        scales[member.columns] = member.factor * np.sqrt(member.values / level) if level > 0 else 0.0
    used = np.flatnonzero(scales)
    coefficients = np.zeros((n_columns, n_clusters))
    if not len(used):
        return coefficients
    factors = scales[used]
    if span.rows is not None and len(span.rows) < len(used):
        scaled = span.rows[:, used] * factors
        values, vectors = top_eigenpairs(scaled @ scaled.T, min(n_clusters, len(scaled)))
        vectors = scaled.T @ vectors * _inverse(values)  # Aᵀ U Λ^{-1} of the left singular vectors U
    else:
        products = span.products[np.ix_(used, used)] * factors * factors[:, None]
        values, vectors = top_eigenpairs(products, min(n_clusters, len(used)))
        vectors = vectors * np.sqrt(_inverse(values))
    coefficients[used, : len(values)] = factors[:, None] * vectors
    return coefficients


def _inverse(values: FloatArray) -> FloatArray:
    """One over eigenvalues, zero for rounding errors."""
    present = values > rounding_threshold(np.finfo(values.dtype).eps, values[0])
    inverse: FloatArray = present / np.where(present, values, 1.0)
    return inverse


def _leading(member: WeightedSpectrum, n_clusters: int) -> slice:
    """The columns of the base partition, fewer than clusters if the similarity has fewer eigenvectors."""
    return slice(member.columns.start, min(member.columns.start + n_clusters, member.columns.stop))


def _small_partitions(
    span: Span, members: Sequence[WeightedSpectrum], mean: FloatArray, n_clusters: int
) -> tuple[list[FloatArray], FloatArray]:
    """Matrices with the inner products of H_1 … H_s and M: their rows, or with fewer rows if there are many samples."""
    if span.rows is None or len(span.rows) > (len(members) + 1) * n_clusters:
        return compress_products(_partition_products(span, members, mean, n_clusters), n_clusters, xp=xp)
    partitions = []
    for member in members:
        own = member.factor * span.rows[:, _leading(member, n_clusters)]
        partitions.append(np.pad(own, ((0, 0), (0, n_clusters - own.shape[1]))))
    return partitions, span.rows @ mean


def _partition_products(
    span: Span, members: Sequence[WeightedSpectrum], mean: FloatArray, n_clusters: int
) -> FloatArray:
    """Inner products of [H_1 | … | H_s | M]; missing columns of a base partition are zero."""
    places = np.full((len(members) + 1, n_clusters), -1)
    for place, member in zip(places, members, strict=False):
        own = _leading(member, n_clusters)
        place[: own.stop - own.start] = np.arange(own.start, own.stop)
    columns = places.ravel()
    factors = np.append(np.repeat([member.factor for member in members], n_clusters), np.zeros(n_clusters))
    factors[columns < 0] = 0.0
    products: FloatArray = span.products[np.ix_(columns, columns)] * factors * factors[:, None]
    with_mean = span.products @ mean
    products[:, -n_clusters:] = with_mean[columns] * factors[:, None]
    products[-n_clusters:, :] = products[:, -n_clusters:].T
    products[-n_clusters:, -n_clusters:] = mean.T @ with_mean
    return products


def agreement_with_others(
    span: Span,
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
    span : Span
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
        mean = mean_coefficients(span, others, n_clusters)
        own = [_leading(one, n_clusters) for one, owner in zip(members, owners, strict=True) if owner == view]
        if basis is None or mask is None:
            cosines = [mean.T @ span.products[:, one] for one in own]
        else:
            rows = basis[mask[:, view] & (mask.sum(axis=1) > 1)]
            elsewhere = orthonormal_columns(rows @ mean)
            cosines = [elsewhere.T @ orthonormal_columns(rows[:, one]) for one in own]
        agreement[view] = np.mean([np.sum(one**2) / n_clusters for one in cosines])
    return agreement
