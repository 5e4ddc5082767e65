"""Refinement of a clustering: samples move to the cluster that fits their neighbors and the single views best.

The criterion of `latefusion.selection.criterion` is a mean of mutual informations. With T_g the table of label pairs of
neighbors in graph g, and T_o the table of labels against the clustering o of a single view, the contribution of sample
i in cluster c is, up to constants,

    Σ_g w_g 2 Σ_j A_g[i, j] log(T_g[c, l_j] T_g / (T_g[c] T_g[l_j])) + Σ_o w_o log(T_o[c, o_i] T_o / (T_o[c] T_o[o_i]))

with dots summed out, A_g the symmetric adjacency matrix with entries that sum to one, and w the weights of the
criterion. Every round moves all samples at once to their best cluster, and is kept if the criterion rises.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latefusion.metrics.information import label_tables
from latefusion.selection.criterion import Criterion

MAX_ROUNDS = 10


def refine(
    labels: NDArray[np.intp], n_clusters: int, criterion: Criterion, least_breadth: float = 0.0
) -> NDArray[np.intp]:
    """Move samples between clusters while the criterion rises.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
    n_clusters : int
    criterion : Criterion
        Of the same samples.
    least_breadth : float, default=0.0
        A round that makes the breadth smaller than this is not kept.

    Returns
    -------
    ndarray of shape (n_samples,)
        No cluster of `labels` is empty. Samples without any view keep their labels.
    """
    samples = criterion.samples
    value = criterion.score(labels, n_clusters).value
    for _ in range(MAX_ROUNDS):
        moved = labels.copy()
        moved[samples] = np.argmax(_gains(labels, n_clusters, criterion)[samples], axis=1)
        if len(np.unique(moved)) < len(np.unique(labels)):
            break
        score = criterion.score(moved, n_clusters)
        if score.value <= value or score.breadth < least_breadth:
            break
        labels, value = moved, score.value
    return labels


def _gains(labels: NDArray[np.intp], n_clusters: int, criterion: Criterion) -> NDArray[np.float64]:
    """The contribution of every sample to the criterion in every cluster, shape (n_samples, n_clusters)."""
    indicators = np.eye(n_clusters)[labels]
    gains = np.zeros_like(indicators)
    for weight, adjacency in criterion.graphs:
        near = adjacency @ indicators
        table = indicators.T @ near
        gains += 2 * weight * near @ _log_ratios(table, adjacency.nnz).T
    for share, several in zip(criterion.label_weights, criterion.view_labels, strict=True):
        for own in several:
            known = np.flatnonzero(own >= 0)
            (table,) = label_tables(labels[known], own[known], n_clusters) / len(known)
            gains[known] += share / len(several) / len(known) * _log_ratios(table, len(known)).T[own[known]]
    return gains


def _log_ratios(table: NDArray[np.float64], n_pairs: int) -> NDArray[np.float64]:
    """Logarithms of joint over independent probabilities; half a pair per row is added, so that all are positive."""
    table = table + 0.5 / len(table) / max(1, n_pairs)
    ratios: NDArray[np.float64] = np.log(table * table.sum() / np.outer(table.sum(axis=1), table.sum(axis=0)))
    return ratios
