"""OPLFMVC: one-pass late fusion multi-view clustering.

    max  Tr((Y C)ᵀ Σ_p β_p H_p W_p)
    subject to Y one-hot rows, CᵀC = I, W_pᵀW_p = I, β >= 0, ‖β‖₂ = 1

Late fusion whose consensus is a hard clustering from the start: no k-means on an embedding at the end.

============  ======  ==================================================
here          paper   shape
============  ======  ==================================================
partitions    H_p     m matrices, n_samples x n_clusters
rotations     W_p     m matrices, n_clusters x n_clusters
weights       β       m, on the unit sphere, non-negative
centroids     C       n_clusters x n_clusters, orthogonal
labels        Y       n_samples, the column of the one in every row
fused         R       Σ_p β_p H_p W_p, n_samples x n_clusters
============  ======  ==================================================

An iteration costs O(m n k²) and never sees a kernel. Every step is exact on its own block, so the objective never falls.

Where this departs from the authors' code:

- Nothing there keeps a cluster from running empty. Here Y ranges over clusterings in which every cluster has a sample: an
  empty cluster takes the sample that loses least by moving, and if that is worse than the clustering before, the latter
  stays; the objective is monotone all the same.
- A view whose alignment is negative (possible with ``init="identity"``, where the weights are updated with rotations that
  have not yet met the clustering) gets no weight, instead of a negative one.
- The start C is the polar factor of the k-means centroids, the nearest orthogonal matrix to them. The authors keep the left
  singular vectors only, which mixes the centroids.
- Rotations start at ``polar(H_pᵀ M)`` by default, where M is the partition of the mean kernel.

Columns of Y are not scaled by the cluster sizes, which favours large clusters: that is the method.

Liu, Liu, Liao, Wang, Zhang, Tu, Tang, Liu, Zhu: One Pass Late Fusion Multi-view Clustering. ICML 2021.
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


def solve_one_pass(
    partitions: Sequence[NDArray[Any]],
    centroids: NDArray[Any],
    rotations: Sequence[NDArray[Any]],
    *,
    max_iter: int = 100,
    tol: float = 1e-4,
) -> SolverResult:
    """Maximise the alignment of a hard clustering with rotated base partitions.

    Parameters
    ----------
    partitions : sequence of ndarray of shape (n_samples, n_clusters)
        Base partitions H_p, with zero rows where a sample is not observed.
    centroids : ndarray of shape (n_clusters, n_clusters)
        Start of C, orthogonal.
    rotations : sequence of ndarray of shape (n_clusters, n_clusters)
        Start of W_p.
    max_iter : int, default=100
    tol : float, default=1e-4
        Relative change of the objective at which to stop.

    Returns
    -------
    SolverResult
        ``consensus`` is the fused partition R, ``labels`` the clustering.
    """
    weights = np.full(len(partitions), len(partitions) ** -0.5)
    fused = fuse(partitions, rotations, weights)
    labels: NDArray[np.intp] | None = None
    objective: list[float] = []
    converged = False
    # With one cluster and centred kernels the objective is zero, and all it ever changes by is rounding error.
    rounding = float(np.finfo(fused.dtype).eps) * fused.size
    while not converged and len(objective) < max_iter:
        labels = assign_rows(fused @ centroids.T, labels)
        centroids = polar(_cluster_sums(fused, labels), xp=np).isometry
        target = centroids[labels]
        weights = view_weights(alignments(partitions, rotations, target))
        rotations = align_rotations(partitions, target)
        fused = fuse(partitions, rotations, weights)
        objective.append(float(np.vdot(target, fused)))
        converged = has_settled(objective, tol) or abs(objective[-1]) <= rounding
    return SolverResult(
        fused, weights, objective, len(objective), converged, rotations=np.stack(list(rotations)), labels=labels
    )


def assign_rows(scores: NDArray[Any], previous: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
    """Labels y that maximise Σ_i scores[i, y_i] with every cluster in use.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_clusters)
        n_samples >= n_clusters.
    previous : ndarray of shape (n_samples,), default=None
        Labels that are kept if filling the empty clusters would lead below their value; every cluster in use.

    Returns
    -------
    ndarray of shape (n_samples,)
        The best label of every row. A cluster that nobody chose takes the row that loses least by moving, among those that
        do not leave another cluster empty.
    """
    labels = np.argmax(scores, axis=1)
    rows = np.arange(len(scores))
    sizes = np.bincount(labels, minlength=scores.shape[1])
    empty = np.flatnonzero(sizes == 0)
    for cluster in empty:
        losses = scores[rows, labels] - scores[:, cluster]
        losses[sizes[labels] == 1] = np.inf
        moved = np.argmin(losses)
        sizes[labels[moved]] -= 1
        sizes[cluster] += 1
        labels[moved] = cluster
    if empty.size and previous is not None and scores[rows, labels].sum() < scores[rows, previous].sum():
        return previous
    return labels


def _cluster_sums(fused: NDArray[Any], labels: NDArray[np.intp]) -> NDArray[Any]:
    # YᵀR
    sums = np.zeros((fused.shape[1], fused.shape[1]), dtype=fused.dtype)
    np.add.at(sums, labels, fused)
    return sums
