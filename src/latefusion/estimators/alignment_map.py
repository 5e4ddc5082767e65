"""The consensus map of an alignment: base partitions, M and the solver's mixing matrices as blocks and coefficients.

The consensus row of a sample is Σ_p h_p T_p + m T_0, with h_p its row of H_p, m its row of M, and the matrices T_p of
the solver. The block of view p has 2k columns, [H_p | N_p]: N_p is the view's share of M. Where rows are imputed, M is
a linear function of all H_p, so that N_p is H_p once more. Where M comes from all views side by side, it has a block of
its own and the N_p are left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.encoding.coordinates import SideBySide, Unchanged
from latefusion.estimators.consensus_map import ConsensusMap, NeighborWeights
from latefusion.partitions.base_partitions import BasePartitions
from latefusion.partitions.imputation import FactorModel, Fill
from latefusion.partitions.joint_partitions import JointPartitions
from latefusion.partitions.partial_partitions import PartialPartitions
from latefusion.partitions.partitions import Block


def alignment_map(
    base: BasePartitions, mixing: NDArray[Any], rule: Any, n_samples: int, model: FactorModel | None = None
) -> ConsensusMap:
    """The fitted model of an alignment.

    Parameters
    ----------
    base : BasePartitions
    mixing : ndarray of shape (n_views + 1, n_clusters, n_clusters)
        T_p of all views, and last that of M.
    rule : object
        Turns consensus rows into labels.
    n_samples : int
        Number of training samples.
    model : FactorModel, default=None
        Imputes rows of H_p for new samples where no training sample lacks a view; they stay zero when None.

    Returns
    -------
    ConsensusMap
    """
    n_views = len(base.extensions)
    return ConsensusMap(
        n_views=n_views,
        blocks=_blocks(base),
        coefficients=alignment_coefficients(base, mixing),
        rule=rule,
        fill=_fill(base, model),
        row_weights=None if base.neighbors is None else _row_weights(base, n_samples),
    )


def alignment_coefficients(base: BasePartitions, mixing: NDArray[Any]) -> NDArray[Any]:
    """The matrix C for mixing matrices of the views and M."""
    own, mean = list(mixing[:-1]), mixing[-1]
    if isinstance(base, JointPartitions):
        return np.concatenate([*own, mean])
    shares = [mean] * len(own)
    if isinstance(base, PartialPartitions) and base.imputation is not None:
        shares = [one @ mean for one in np.split(base.imputation.mixing, len(own))]
    return np.concatenate([part for pair in zip(own, shares, strict=True) for part in pair])


def _blocks(base: BasePartitions) -> tuple[Block, ...]:
    n_clusters, n_views = base.average.shape[1], len(base.extensions)
    encodings, projections = [Unchanged()] * n_views, list(base.projections)
    if isinstance(base, PartialPartitions) and base.mask is not None:
        encodings = [Unchanged(own if square else None) for own, square in zip(base.mask.T, base.square, strict=True)]
        if base.imputation is not None:
            projections = [np.concatenate([one[:, :n_clusters]] * 2, axis=1) for one in projections]
    if isinstance(base, JointPartitions):
        projections = [one[:, :n_clusters] for one in projections]
    blocks = [
        Block(view, "given", *one) for view, one in enumerate(zip(encodings, base.extensions, projections, strict=True))
    ]
    if isinstance(base, JointPartitions):
        together, last = SideBySide((Unchanged(),) * n_views, np.asarray(base.scales)), base.parts[-1]
        blocks.append(Block(n_views, "reference", together, last.extensions[0], last.projections[0][:, :n_clusters]))
    return tuple(blocks)


def _fill(base: BasePartitions, model: FactorModel | None) -> Fill:
    n_clusters, n_views = base.average.shape[1], len(base.extensions)
    if isinstance(base, JointPartitions):
        columns = np.repeat(np.arange(n_views + 1), n_clusters)
        return Fill(np.zeros(len(columns), dtype=bool), model and _for_columns(model, columns, columns < n_views))
    of_mean = np.tile(np.repeat([False, True], n_clusters), n_views)
    owners = np.repeat(np.arange(n_views), 2 * n_clusters)
    if isinstance(base, PartialPartitions) and base.imputation is not None:
        model = _for_columns(base.imputation.model, owners, ~of_mean)
        # The share of M is H_p once more.
        loadings = np.repeat(base.imputation.model.loadings.reshape(n_views, 1, n_clusters, -1), 2, axis=1)
        model = replace(model, loadings=loadings.reshape(len(owners), -1), scales=np.ones(len(owners)))
        return Fill(np.zeros(len(owners), dtype=bool), model)
    return Fill(of_mean, model and _for_columns(model, owners, ~of_mean))


def _for_columns(model: FactorModel, owners: NDArray[np.intp], known: NDArray[np.bool_]) -> FactorModel:
    """The same model for more columns, which are not imputed."""
    loadings = np.zeros((len(owners), model.loadings.shape[1]))
    loadings[known] = model.loadings
    scales = np.zeros(len(owners))
    scales[known] = model.scales
    noise = np.ones(int(owners.max()) + 1)
    noise[: len(model.noise)] = model.noise
    return FactorModel(loadings, noise, owners, scales, known)


def _row_weights(base: BasePartitions, n_samples: int) -> NeighborWeights:
    n_clusters, n_views = base.average.shape[1], len(base.extensions)
    neighbors, shares = tuple(base.neighbors or ()), np.ones(n_views)
    if isinstance(base, JointPartitions):
        return NeighborWeights(
            neighbors, None, np.ones(n_views + 1), n_samples, np.repeat(np.arange(n_views + 1), n_clusters)
        )
    groups = np.stack([np.arange(n_views), np.full(n_views, n_views)], axis=1).ravel().repeat(n_clusters)
    if isinstance(base, PartialPartitions) and base.mask is not None:
        return NeighborWeights(tuple(base.counters or ()), None, base.mask.mean(axis=0), n_samples, groups)
    return NeighborWeights(neighbors[:-1], neighbors[-1], shares, n_samples, groups)
