"""Rows of new samples in base partitions, by way of the consensus map: the only way there is."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from latefusion.estimators.alignment_map import alignment_coefficients, alignment_map
from latefusion.types import Views


def extend(base, views, mask=None, diagonals=None, model=None):
    """Rows in every H_p (``partitions``) and in M (``average``), and neighbor counts where there are any."""
    n_views, n_clusters = len(base.extensions), base.average.shape[1]
    n_samples = 1 if base.neighbors is None else base.neighbors[-1].n_samples
    views = Views(views, mask=mask)
    rows, counts = [], []
    fitted = alignment_map(base, np.zeros((n_views + 1, n_clusters, n_clusters)), None, n_samples, model)
    for position in range(n_views + 1):
        mixing = np.zeros((n_views + 1, n_clusters, n_clusters))
        mixing[position] = np.eye(n_clusters)
        chosen = replace(fitted, coefficients=alignment_coefficients(base, mixing))
        rows.append(replace(chosen, row_weights=None).rows(views, diagonals))
        if base.neighbors is not None:
            lengths = [
                np.linalg.norm(one.astype(np.float64), axis=1) for one in (chosen.rows(views, diagonals), rows[-1])
            ]
            counts.append(lengths[0] / np.maximum(lengths[1], 1e-300) * n_samples)
    return SimpleNamespace(partitions=rows[:-1], average=rows[-1], counts=None if base.neighbors is None else counts)
