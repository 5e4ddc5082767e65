"""Information of a clustering about the data, without labels: two measures in the same unit.

Both are mutual informations, divided by log k so that they are between 0 and 1. They are high for clusters that are
connected in the data. A clustering with nearly all samples in one cluster has almost no information, so neither measure
needs a correction for cluster sizes.

Each measure is a function of a table of pairs of labels. Tables of parts of the samples add up to that of all samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def neighbor_information(labels: NDArray[Any], neighbors: NDArray[np.intp], n_clusters: int) -> float:
    """Information of the cluster of a sample about the clusters of its neighbors.

    Parameters
    ----------
    labels : ndarray of int of shape (n_samples,)
        Cluster numbers from 0 to n_clusters - 1.
    neighbors : ndarray of shape (n_samples, n_neighbors)
        Row i contains the neighbors of sample i; negative numbers are ignored.
    n_clusters : int

    Returns
    -------
    float
        Mutual information of the two clusters over all pairs of neighbors, divided by log(n_clusters): 1 if clusters
        are equally large and no pair is cut, 0 if neighbors are in the same cluster only by chance.

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion.metrics import neighbor_information
    >>> neighbors = np.array([[1], [0], [3], [2]])
    >>> neighbor_information(np.array([0, 0, 1, 1]), neighbors, 2)
    1.0
    >>> neighbor_information(np.array([0, 0, 0, 0]), neighbors, 2)
    0.0
    """
    return float(table_informations(neighbor_tables(labels, neighbors, n_clusters))[0])


def shared_information(labels: NDArray[Any], others: NDArray[Any], n_clusters: int) -> float:
    """Information of one clustering about another.

    Parameters
    ----------
    labels, others : ndarray of int of shape (n_samples,)
        Cluster numbers from 0 to n_clusters - 1.
    n_clusters : int

    Returns
    -------
    float
        Mutual information divided by log(n_clusters).

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion.metrics import shared_information
    >>> shared_information(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), 2)
    1.0
    """
    return float(table_informations(label_tables(labels, others, n_clusters))[0])


def neighbor_tables(
    labels: NDArray[Any],
    neighbors: NDArray[np.intp],
    n_clusters: int,
    parts: NDArray[np.intp] | None = None,
    n_parts: int = 1,
) -> NDArray[np.intp]:
    """Pairs of neighbors by their clusters, for every part of the samples.

    Parameters
    ----------
    labels : ndarray of int of shape (n_samples,)
    neighbors : ndarray of shape (n_samples, n_neighbors)
        As for `neighbor_information`.
    n_clusters : int
    parts : ndarray of int of shape (n_samples,), default=None
        The part of every sample, from 0 to n_parts - 1; samples with a negative number are left out.
    n_parts : int, default=1

    Returns
    -------
    ndarray of shape (n_parts, n_clusters, n_clusters)
        Symmetric tables: every pair counts in both orders.
    """
    present = neighbors >= 0
    starts = np.nonzero(present)[0]
    own_parts = None if parts is None else parts[starts]
    tables = label_tables(labels[starts], labels[neighbors[present]], n_clusters, own_parts, n_parts)
    return tables + tables.transpose(0, 2, 1)


def label_tables(
    labels: NDArray[Any],
    others: NDArray[Any],
    n_clusters: int,
    parts: NDArray[np.intp] | None = None,
    n_parts: int = 1,
) -> NDArray[np.intp]:
    """Samples by their clusters in two clusterings, for every part of the samples.

    Parameters
    ----------
    labels, others : ndarray of int of shape (n_samples,)
    n_clusters : int
    parts : ndarray of int of shape (n_samples,), default=None
        As for `neighbor_tables`.
    n_parts : int, default=1

    Returns
    -------
    ndarray of shape (n_parts, n_clusters, n_clusters)
    """
    cells = labels * n_clusters + others
    if parts is not None:
        used = parts >= 0
        cells = cells[used] + parts[used] * n_clusters**2
    counts: NDArray[np.intp] = np.bincount(cells, minlength=n_parts * n_clusters**2)
    return counts.reshape(n_parts, n_clusters, n_clusters)


def table_informations(tables: NDArray[np.intp]) -> NDArray[np.float64]:
    """Mutual information of rows and columns of tables of counts.

    Parameters
    ----------
    tables : ndarray of shape (n_tables, n_clusters, n_clusters)

    Returns
    -------
    ndarray of shape (n_tables,)
        Divided by log(n_clusters); zero for an empty table.
    """
    n_clusters = tables.shape[1]
    if n_clusters < 2:
        return np.zeros(len(tables))
    joint = tables / np.maximum(tables.sum(axis=(1, 2), keepdims=True), 1)
    independent = joint.sum(axis=2)[:, :, None] * joint.sum(axis=1)[:, None, :]
    ratios = np.where(joint > 0, joint, 1.0) / np.where(joint > 0, independent, 1.0)
    informations: NDArray[np.float64] = np.sum(joint * np.log(ratios), axis=(1, 2)) / np.log(n_clusters)
    return np.clip(informations, 0.0, 1.0)  # rounding may exceed the bounds
