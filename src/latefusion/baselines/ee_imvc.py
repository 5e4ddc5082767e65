"""EE-IMVC: efficient and effective incomplete multi-view clustering, and its regularised version EE-R-IMVC.

    max  Tr(Fᵀ (Σ_p β_p H_p W_p + λ M)),    H_p = [H_p° ; H_pᵘ]
    subject to FᵀF = I, W_pᵀW_p = I, (H_pᵘ)ᵀH_pᵘ = I, β >= 0, Σ_p β_p^q = 1

The rows of the observed samples, H_p°, stay as they are; the rows of the missing ones, H_pᵘ, are filled in from the consensus.
λ = 0 is EE-IMVC, λ > 0 the regularised version.

==============  ======  =================================================================
here            paper   shape
==============  ======  =================================================================
consensus       F       n_samples x n_clusters, orthonormal columns
partitions      H_p     m matrices, n_samples x n_clusters, zero rows where missing
filled          H_p     the same with the missing rows filled in
average         M       n_samples x n_clusters, partition of the mean of the kernels with zeros
rotations       W_p     m matrices, n_clusters x n_clusters
weights         β       m
regularization  λ       pull of the consensus towards M
exponent        q       2 in the papers: weights on the unit sphere
==============  ======  =================================================================

An iteration costs O(m n k²). Every step is exact on its own block: the objective never falls.

With u < k missing rows, H_pᵘ cannot have orthonormal columns. The constraint is then ‖H_pᵘ‖₂ <= 1, of which the orthonormal
columns are the extreme points for u >= k, and the maximiser has orthonormal rows; with no row missing nothing is filled.
H_p as a whole is not orthonormal, H_pᵀH_p = 2I once k rows are missing, so views with gaps weigh more: that is the method.

Where this departs from the authors' code: they centre and scale the complete kernels and apply the mask afterwards, which
uses values that would be missing; here the observed block is centred on itself. Rotations start at ``polar(H_pᵀ M)`` by
default.

Liu, Li, Tang, Xia, Xiong, Liu, Kloft, Zhu: Efficient and Effective Regularized Incomplete Multi-view Clustering. IEEE Trans.
Pattern Analysis and Machine Intelligence, 2021. The unregularised version: Liu, Zhu, Li, Tang, Zhu, Yin, Gao: Efficient and
Effective Incomplete Multi-view Clustering. AAAI 2019.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import polar
from latefusion.solvers.kernel_kmeans import has_settled
from latefusion.solvers.late_fusion_blocks import align_rotations, alignments, fuse, view_weights
from latefusion.types import SolverResult


def solve_ee_imvc(
    partitions: Sequence[NDArray[Any]],
    average: NDArray[Any],
    rotations: Sequence[NDArray[Any]],
    mask: NDArray[np.bool_],
    *,
    regularization: float = 0.0,
    exponent: float = 2.0,
    max_iter: int = 100,
    tol: float = 1e-4,
) -> SolverResult:
    """Fill in missing rows of base partitions and fuse them.

    Parameters
    ----------
    partitions : sequence of ndarray of shape (n_samples, n_clusters)
        Partitions of the observed samples, with zero rows elsewhere.
    average : ndarray of shape (n_samples, n_clusters)
        Partition M of the mean kernel.
    rotations : sequence of ndarray of shape (n_clusters, n_clusters)
        Start of W_p.
    mask : ndarray of bool of shape (n_samples, n_views)
        True where a sample is observed in a view.
    regularization : float, default=0.0
        The factor λ.
    exponent : float, default=2.0
        The exponent q > 1 of the constraint on the weights.
    max_iter : int, default=100
    tol : float, default=1e-4
        Relative change of the objective at which to stop.

    Returns
    -------
    SolverResult
    """
    n_views = len(partitions)
    filled = list(partitions)
    weights = np.full(n_views, n_views ** (-1.0 / exponent))
    objective: list[float] = []
    converged = False
    while not converged and len(objective) < max_iter:
        fused = fuse(filled, rotations, weights) + regularization * average
        consensus = polar(fused, xp=np).isometry
        rotations = align_rotations(filled, consensus)
        filled = [
            fill_missing(partition, rotation, consensus, observed)
            for partition, rotation, observed in zip(partitions, rotations, mask.T, strict=True)
        ]
        gains = alignments(filled, rotations, consensus)
        weights = view_weights(gains, exponent)
        objective.append(float(weights @ gains) + regularization * float(np.vdot(consensus, average)))
        converged = has_settled(objective, tol)
    return SolverResult(
        consensus, weights, objective, len(objective), converged, rotations=np.stack(list(rotations))
    )


def fill_missing(
    partition: NDArray[Any], rotation: NDArray[Any], consensus: NDArray[Any], observed: NDArray[np.bool_]
) -> NDArray[Any]:
    """Rows of the missing samples from the consensus, H_pᵘ = polar(F_u W_pᵀ); the observed rows stay.

    Parameters
    ----------
    partition : ndarray of shape (n_samples, n_clusters)
    rotation : ndarray of shape (n_clusters, n_clusters)
    consensus : ndarray of shape (n_samples, n_clusters)
    observed : ndarray of bool of shape (n_samples,)

    Returns
    -------
    ndarray of shape (n_samples, n_clusters)
        ``partition`` itself when no sample is missing.
    """
    if observed.all():
        return partition
    filled = partition.copy()
    filled[~observed] = polar(consensus[~observed] @ rotation.T, xp=np).isometry
    return filled
