"""Late fusion by global alignment, in the space that the eigenvectors of all views span.

Let B = [V_1 | … | V_s] hold the leading eigenvectors of all similarities of all views, V_j of shape n x r. Everything
that global alignment needs is a linear function of the rows of B:

- the base partition H_j, the first k columns of V_j;
- the mean similarity (1/s) Σ_j V_j Λ_j V_jᵀ / ℓ_j and its leading eigenvectors M, where ℓ_j, the mean of the first k
  eigenvalues, brings similarities of different kinds to one scale;
- the consensus F.

So the inner products BᵀB are all that has to be known of the samples. Any choice of similarities and of λ is solved
in that small space, and the consensus is B times a small matrix, for training samples and new ones alike.

Every similarity has a factor: H_j and V_j enter multiplied by it. Similarities that share a factor of 1/√c count together
as much as a single one would, in the consensus and in the mean: so several similarities of one view share its weight,
and a view given twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import array_api_compat.numpy as xp
import numpy as np
from numpy.typing import NDArray

from latefusion.solvers.late_fusion_alignment import solve_alignment
from latefusion.types import SolverResult

FloatArray = NDArray[np.floating]


class Member(NamedTuple):
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
    result : SolverResult
        Of the members in their order; ``result.consensus`` is the small consensus.
    """

    coefficients: FloatArray
    result: SolverResult


def root_of_products(products: FloatArray) -> FloatArray:
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
    root: FloatArray = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    return root


def fuse_spectra(
    root: FloatArray,
    members: Sequence[Member],
    n_clusters: int,
    *,
    regularization: float,
    init: str = "align",
    max_iter: int = 100,
    tol: float = 1e-6,
) -> FusedSpectra:
    """Global alignment of the base partitions of some similarities.

    Parameters
    ----------
    root : ndarray of shape (rank, n_columns)
        From `root_of_products`.
    members : sequence of Member
        The similarities to fuse.
    n_clusters : int
    regularization : float
        λ.
    init, max_iter, tol
        As in `solve_alignment`.

    Returns
    -------
    FusedSpectra
    """
    mean = mean_coefficients(root, members, n_clusters)
    partitions = [member.factor * _leading(root, member, n_clusters) for member in members]
    result = solve_alignment(
        partitions, root @ mean, regularization=regularization, init=init, max_iter=max_iter, tol=tol, xp=xp
    )
    coefficients = mean @ result.mixing[-1]
    for member, mixing in zip(members, result.mixing[:-1], strict=True):
        width = min(n_clusters, len(member.values))
        own = slice(member.columns.start, member.columns.start + width)
        coefficients[own] += member.factor * mixing[:width]
    return FusedSpectra(coefficients, result)


def mean_coefficients(root: FloatArray, members: Sequence[Member], n_clusters: int) -> FloatArray:
    """The matrix C with M = B C, the leading eigenvectors of the mean similarity of some members.

    Parameters
    ----------
    root : ndarray of shape (rank, n_columns)
    members : sequence of Member
    n_clusters : int

    Returns
    -------
    ndarray of shape (n_columns, n_clusters)
    """
    scales = np.zeros(root.shape[1])
    for member in members:
        level = member.values[:n_clusters].mean()
        # A view whose members have no eigenvalue at all cannot separate any samples, and takes no part.
        scales[member.columns] = member.factor * np.sqrt(member.values / level) if level > 0 else 0.0
    _, lengths, right = np.linalg.svd(root * scales, full_matrices=False)
    lengths, right = lengths[:n_clusters], right[:n_clusters]
    present = lengths > np.finfo(lengths.dtype).eps ** (2 / 3) * lengths[0]
    coefficients = np.zeros((root.shape[1], n_clusters))
    coefficients[:, : len(lengths)] = scales[:, None] * right.T * (present / np.where(present, lengths, 1.0))
    return coefficients


def _leading(root: FloatArray, member: Member, n_clusters: int) -> FloatArray:
    """The compressed base partition; columns that the similarity lacks are zero."""
    partition = np.zeros((root.shape[0], n_clusters))
    columns = root[:, member.columns][:, :n_clusters]
    partition[:, : columns.shape[1]] = columns
    return partition
