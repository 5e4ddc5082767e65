"""Refinement of a clustering: samples move to the cluster that fits their neighbors and the single views best.

The criterion of `latefusion.selection.criterion` is a mean of mutual informations. With T_g the table of label pairs of
neighbors in graph g, and T_o the table of labels against the clustering o of a single view, the contribution of sample
i in cluster c is, up to constants,

    Σ_g w_g 2 Σ_j A_g[i, j] log(T_g[c, l_j] T_g / (T_g[c] T_g[l_j])) + Σ_o w_o log(T_o[c, o_i] T_o / (T_o[c] T_o[o_i]))

with dots summed out, A_g the symmetric adjacency matrix with entries that sum to one, and w the weights of the
criterion. Every round moves all samples at once to their best cluster, and is kept if the criterion rises.

Single samples cannot leave a part of a cluster that belongs to another one: their neighbors are in the same part. So
halves of clusters are moved, too, if the gain exceeds its standard error.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import unit_rows
from latefusion.metrics.information import label_tables
from latefusion.selection.criterion import Criterion, standard_error
from latefusion.selection.table import is_gain

MAX_ROUNDS = 10
# Iterations of k-means that divide a cluster into halves.
MAX_STEPS = 20


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


def move_halves(
    labels: NDArray[np.intp],
    rows: NDArray[Any],
    n_clusters: int,
    criterion: Criterion,
    least_breadth: float = 0.0,
) -> NDArray[np.intp]:
    """Move halves of clusters to other clusters while the criterion rises by more than its standard error.

    Every cluster is divided by 2-means. Each half is moved to the cluster of most of its neighbors. The move of the
    highest criterion is refined, and kept if it is a gain.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Refined.
    rows : ndarray of shape (n_samples, n_columns)
        Consensus rows.
    n_clusters : int
    criterion : Criterion
    least_breadth : float, default=0.0
        As for `refine`.

    Returns
    -------
    ndarray of shape (n_samples,)
        No cluster of `labels` is empty. Samples without any view keep their labels.
    """
    directions = unit_rows(rows, xp=np)
    for _ in range(MAX_ROUNDS):
        moves = [(criterion.score(one, n_clusters), one) for one in _moves(labels, directions, n_clusters, criterion)]
        moves = [(score, one) for score, one in moves if score.breadth >= least_breadth]
        if not moves:
            break
        moved = refine(max(moves, key=lambda move: move[0].value)[1], n_clusters, criterion, least_breadth)
        if not _is_gain(labels, moved, n_clusters, criterion):
            break
        labels = moved
    return labels


def _is_gain(labels: NDArray[np.intp], moved: NDArray[np.intp], n_clusters: int, criterion: Criterion) -> bool:
    """Whether a move raises the score significantly, and the score per entropy: more equal sizes alone are no gain."""
    before, after = (criterion.score(one, n_clusters) for one in (labels, moved))
    if after.per_entropy(moved, n_clusters).value <= before.per_entropy(labels, n_clusters).value:
        return False
    return is_gain(after.value - before.value, standard_error(after.parts - before.parts))


def _moves(
    labels: NDArray[np.intp], directions: NDArray[Any], n_clusters: int, criterion: Criterion
) -> Iterator[NDArray[np.intp]]:
    """Labels with one half of a cluster in the cluster of most of its neighbors."""
    known = criterion.samples
    indicators = np.eye(n_clusters)[labels]
    near = sum(weight * (adjacency @ indicators) for weight, adjacency in criterion.graphs)
    for cluster in np.unique(labels[known]):
        members = known[labels[known] == cluster]
        upper = _halve(directions[members])
        for half in (members[upper], members[~upper]):
            if 0 < len(half) < len(members):
                links = near[half].sum(axis=0)
                links[cluster] = -1.0
                moved = labels.copy()
                moved[half] = np.argmax(links)
                yield moved


def _halve(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Divide rows by 2-means, started with the two sides of their first principal direction."""
    rows = rows - rows.mean(axis=0)
    upper = rows @ np.linalg.svd(rows, full_matrices=False)[2][0] > 0
    for _ in range(MAX_STEPS):
        if upper.all() or not upper.any():
            break
        low, high = rows[~upper].mean(axis=0), rows[upper].mean(axis=0)
        nearer = (rows - (low + high) / 2) @ (high - low) > 0
        if np.array_equal(nearer, upper):
            break
        upper = nearer
    return upper


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
