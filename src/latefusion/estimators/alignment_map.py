"""From base partitions to the consensus map of an alignment.

The consensus row of a sample is Σ_p h_p T_p + m T_0, with h_p its row of H_p, m its row of M, and the matrices T_p of
the solver. M is a linear function of blocks as well, so that C has T_p for the block of H_p, and the mixing matrix of M
times T_0 for its blocks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import namespace
from latefusion.estimators.consensus_map import ConsensusMap
from latefusion.partitions import Mean, Partitions
from latefusion.partitions.neighborhoods import NeighborCounts, NeighborWeights
from latefusion.partitions.spectra import scatter_rows
from latefusion.solvers import weigh_partitions
from latefusion.types import Array


def alignment_map(partitions: Partitions, mixing: NDArray[Any], rule: Any) -> ConsensusMap:
    """The fitted model of an alignment.

    Parameters
    ----------
    partitions : Partitions
        With M.
    mixing : ndarray of shape (n_views + 1, n_clusters, n_clusters)
        T_p of all views, and last that of M.
    rule : object
        Turns consensus rows into labels.

    Returns
    -------
    ConsensusMap
    """
    assert partitions.fill is not None
    weights = None
    if partitions.counts is not None:
        *own, mean = partitions.counts
        weights = NeighborWeights(
            tuple(one.for_new_samples() for one in own), None if mean is None else mean.for_new_samples()
        )
    return ConsensusMap(
        n_views=len(partitions.blocks),
        blocks=partitions.blocks + mean_of(partitions).blocks,
        coefficients=alignment_coefficients(partitions, mixing),
        rule=rule,
        fill=partitions.fill,
        row_weights=weights,
    )


def alignment_coefficients(partitions: Partitions, mixing: NDArray[Any]) -> NDArray[Any]:
    """The matrix C for mixing matrices of the views and M."""
    return np.concatenate([*mixing[:-1], mean_of(partitions).mixing @ mixing[-1]])


def mean_of(partitions: Partitions) -> Mean:
    """M, which partitions for an alignment have."""
    assert partitions.mean is not None
    return partitions.mean


def aligned_partitions(partitions: Partitions) -> tuple[list[Array], Array]:
    """The matrices that are aligned: H_p and M, for local alignment with rows weighed by neighbor counts.

    Parameters
    ----------
    partitions : Partitions
        With M.

    Returns
    -------
    partitions : list of arrays of shape (n_samples, n_clusters)
    average : array of shape (n_samples, n_clusters)
    """
    vectors, average = list(partitions.vectors), mean_of(partitions).rows
    if partitions.counts is None:
        return vectors, average
    xp = namespace(average)
    counts = [xp.astype(one.counts, average.dtype) for one in counts_of(partitions)]
    return weigh_partitions(vectors, average, counts, len(average))


def counts_of(partitions: Partitions) -> list[NeighborCounts]:
    """Neighbor counts of all training samples, per view and last those of M.

    If views are missing, counts of a view are multiplied by n / n_p, and those of M are their mean over the views that
    a sample has. They also apply to views that are imputed.
    """
    own, mask = [one for one in partitions.counts or () if one is not None], partitions.mask
    if mask is None:
        return own
    everywhere = [
        scatter_rows(one.counts * (len(mask) / one.n_samples), seen) for one, seen in zip(own, mask.T, strict=True)
    ]
    mean = sum(everywhere) / mask.sum(axis=1)
    if partitions.fill is not None and partitions.fill.model is not None:
        everywhere = [np.where(seen, one, mean) for one, seen in zip(everywhere, mask.T, strict=True)]
    return [
        replace(one, counts=found, n_samples=len(mask))
        for one, found in zip([*own, own[0]], [*everywhere, mean], strict=True)
    ]


def fused_mixing(weights: NDArray[Any], rotations: NDArray[Any], regularization: float) -> NDArray[Any]:
    """Mixing matrices of h(x) = Σ_p β_p h_p W_p + λ m, the consensus before it is made orthonormal."""
    identity = np.eye(rotations.shape[-1])
    return np.concatenate([weights[:, None, None] * rotations, regularization * identity[None]])
