"""Rows of new samples in base partitions, by way of the consensus map: the only way there is."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from latefusion.estimators.alignment_map import alignment_coefficients, alignment_map
from latefusion.types import Views


def extend(base, views, mask=None, diagonals=None):
    """Rows in every H_p and in M, named as in `Partitions`, and neighbor counts where there are any."""
    n_views, n_clusters = len(base.blocks), base.mean.rows.shape[1]
    views = Views(views, mask=mask)
    rows, counts = [], []
    for position in range(n_views + 1):
        mixing = np.zeros((n_views + 1, n_clusters, n_clusters))
        mixing[position] = np.eye(n_clusters)
        chosen = alignment_map(base, mixing, None)
        assert np.array_equal(chosen.coefficients, alignment_coefficients(base, mixing))
        rows.append(replace(chosen, row_weights=None).rows(views, diagonals))
        if base.counts is not None:
            lengths = [
                np.linalg.norm(one.astype(np.float64), axis=1) for one in (chosen.rows(views, diagonals), rows[-1])
            ]
            counts.append(lengths[0] / np.maximum(lengths[1], 1e-300) * len(base.mean.rows))
    mean = SimpleNamespace(rows=rows[-1])
    return SimpleNamespace(vectors=rows[:-1], mean=mean, counts=None if base.counts is None else counts)
