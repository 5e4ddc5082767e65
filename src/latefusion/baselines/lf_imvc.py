"""LF-IMVC: late fusion incomplete multi-view clustering.

    max  Tr(Fᵀ Σ_p H_p W_p) + λ Σ_p Tr(H_pᵀ H_p⁰)
    subject to FᵀF = I, H_pᵀH_p = I, W_pᵀW_p = I

The base partitions are variables: each is repaired to agree with the consensus, and held near the partition H_p⁰ of the
samples observed in its view. Rows of samples that are not observed are zero in H_p⁰, so nothing holds them.

==============  ======  ===================================================
here            paper   shape
==============  ======  ===================================================
consensus       F       n_samples x n_clusters, orthonormal columns
partitions      H_p⁰    m matrices, n_samples x n_clusters
repaired        H_p     m matrices, n_samples x n_clusters, orthonormal columns
rotations       W_p     m matrices, n_clusters x n_clusters
regularization  λ       pull of the repaired partitions towards H_p⁰
==============  ======  ===================================================

An iteration costs O(m n k²). Every step is a polar factor, exact on its own block: the objective never falls.

Where this departs from the authors' code: their demonstration loads the pattern of missing samples and never uses it, and
divides the rows of H_p⁰ by their norms, which gives λ another scale; here H_p⁰ is the partition of the observed samples,
centred on them. Rotations start at ``polar(H_pᵀ M)`` by default, where M is the partition of the mean kernel. There are no
view weights, in the code and here.

Liu, Zhu, Li, Wang, Tang, Yin, Shen, Wang, Gao: Late Fusion Incomplete Multi-View Clustering. IEEE Trans. Pattern Analysis
and Machine Intelligence, 2019.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import polar
from latefusion.solvers.kernel_kmeans import has_settled
from latefusion.solvers.late_fusion_blocks import align_rotations, alignments, fuse
from latefusion.types import SolverResult


def solve_lf_imvc(
    partitions: Sequence[NDArray[Any]],
    rotations: Sequence[NDArray[Any]],
    *,
    regularization: float,
    max_iter: int = 200,
    tol: float = 1e-4,
) -> SolverResult:
    """Repair base partitions and fuse them.

    Parameters
    ----------
    partitions : sequence of ndarray of shape (n_samples, n_clusters)
        Partitions H_p⁰ of the observed samples, with zero rows elsewhere.
    rotations : sequence of ndarray of shape (n_clusters, n_clusters)
        Start of W_p.
    regularization : float
        The factor λ.
    max_iter : int, default=200
    tol : float, default=1e-4
        Relative change of the objective at which to stop.

    Returns
    -------
    SolverResult
    """
    repaired = list(partitions)
    equal = np.ones(len(repaired))
    objective: list[float] = []
    converged = False
    while not converged and len(objective) < max_iter:
        consensus = polar(fuse(repaired, rotations, equal), xp=np).isometry
        rotations = align_rotations(repaired, consensus)
        repaired = repair_partitions(partitions, rotations, consensus, regularization)
        fit = alignments(repaired, rotations, consensus).sum()
        fidelity = sum(float(np.vdot(new, old)) for new, old in zip(repaired, partitions, strict=True))
        objective.append(float(fit + regularization * fidelity))
        converged = has_settled(objective, tol)
    return SolverResult(
        consensus, None, objective, len(objective), converged, rotations=np.stack(list(rotations))
    )


def repair_partitions(
    partitions: Sequence[NDArray[Any]],
    rotations: Sequence[NDArray[Any]],
    consensus: NDArray[Any],
    regularization: float,
) -> list[NDArray[Any]]:
    """H_p = polar(F W_pᵀ + λ H_p⁰): the best compromise between the consensus and what was observed."""
    return [
        polar(consensus @ rotation.T + regularization * partition, xp=np).isometry
        for partition, rotation in zip(partitions, rotations, strict=True)
    ]
