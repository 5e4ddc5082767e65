"""The consensus map of fused spectra."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.estimators.consensus_map import ConsensusMap
from latefusion.estimators.fusion import Fusion
from latefusion.partitions.ensemble import Ensemble, EnsembleKey
from latefusion.partitions.imputation import Fill
from latefusion.partitions.partitions import Block


def fused_map(
    fusion: Fusion,
    coefficients: NDArray[Any],
    plan: Iterable[EnsembleKey],
    rule: Any,
    directional: NDArray[np.bool_],
    missing: str,
) -> ConsensusMap:
    """The fitted model of a fusion.

    Parameters
    ----------
    fusion : Fusion
    coefficients : ndarray of shape (n_columns, n_clusters)
        The consensus is B times this.
    plan : iterable of EnsembleKey
        The similarities that were fused.
    rule : object
        Turns consensus rows into labels.
    directional : ndarray of bool of shape (n_views,)
        Views in which a row of zeros is a missing row.
    missing : {"align", "impute"}

    Returns
    -------
    ConsensusMap
    """
    # Where training samples lack views, all similarities are needed to impute the rows of others.
    complete = fusion.ensemble.mask is None
    ensemble = fusion.ensemble.restricted(list(plan)) if complete else fusion.ensemble
    own = [coefficients[fusion.ensemble.columns[fusion.ensemble.position(key)]] for key in ensemble.keys]
    encodings: dict[tuple[int, bool], Any] = {}
    blocks = []
    for key, spectrum in zip(ensemble.keys, ensemble.spectra, strict=True):
        source = fusion.sources[key.view]
        encoding = encodings.setdefault((key.view, key.similarity == "kernel"), source.encoding(key.similarity))
        blocks.append(Block(key.view, key.similarity, encoding, spectrum.extension, spectrum.projection))
    fill = _fill(ensemble, fusion, missing) if ensemble.fill is None else ensemble.fill
    return ConsensusMap(fusion.n_views, tuple(blocks), np.concatenate(own), rule, fill, directional=directional)


def _fill(ensemble: Ensemble, fusion: Fusion, missing: str) -> Fill:
    """What becomes of missing views of new samples where training samples have all."""
    width = ensemble.columns[-1].stop
    imputes = missing == "impute" and fusion.n_views > 1
    model = ensemble.factor_model(fusion.n_clusters) if imputes else None
    return Fill(np.full(width, not imputes), model)
