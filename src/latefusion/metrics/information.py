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
from scipy.special import gammaln, xlogy


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


def neighbor_tables(labels: NDArray[Any], neighbors: NDArray[np.intp], n_clusters: int) -> NDArray[np.intp]:
    """Pairs of neighbors by their clusters.

    Parameters
    ----------
    labels : ndarray of int of shape (n_samples,)
    neighbors : ndarray of shape (n_samples, n_neighbors)
        As for `neighbor_information`.
    n_clusters : int

    Returns
    -------
    ndarray of shape (1, n_clusters, n_clusters)
        A symmetric table: every pair counts in both orders.
    """
    present = neighbors >= 0
    tables = label_tables(labels[np.nonzero(present)[0]], labels[neighbors[present]], n_clusters)
    return tables + tables.transpose(0, 2, 1)


def label_tables(
    labels: NDArray[Any],
    others: NDArray[Any],
    n_clusters: int,
    owners: NDArray[np.intp] | None = None,
    n_tables: int = 1,
) -> NDArray[np.intp]:
    """Pairs of labels, counted in one or several tables.

    Parameters
    ----------
    labels, others : ndarray of int of shape (n_pairs,)
        From 0 to n_clusters - 1.
    n_clusters : int
    owners : ndarray of int of shape (n_pairs,), default=None
        The table of every pair, from 0 to n_tables - 1.
    n_tables : int, default=1

    Returns
    -------
    ndarray of shape (n_tables, n_clusters, n_clusters)
    """
    rows = labels if owners is None else labels + owners * n_clusters
    counts: NDArray[np.intp] = np.bincount(rows * n_clusters + others, minlength=n_tables * n_clusters**2)
    return counts.reshape(n_tables, n_clusters, n_clusters)


def adjusted_information(labels: NDArray[Any], others: NDArray[Any]) -> float:
    """Adjusted mutual information of two clusterings: zero on average for random ones of these sizes, one for equal.

    Parameters
    ----------
    labels, others : ndarray of int of shape (n_samples,)
        Cluster numbers.

    Returns
    -------
    float
        `sklearn.metrics.adjusted_mutual_info_score`, which checks its input for longer than this takes.
    """
    first, second = (np.unique(one, return_inverse=True)[1] for one in (labels, others))
    sizes, other_sizes = np.bincount(first), np.bincount(second)
    if min(len(sizes), len(other_sizes)) == 1:
        return float(len(sizes) == len(other_sizes))
    n_samples, n_clusters = len(labels), max(len(sizes), len(other_sizes))
    shared = table_informations(label_tables(first, second, n_clusters))[0] * np.log(n_clusters)
    expected = _expected_information(sizes, other_sizes, n_samples)
    room = np.mean([-np.sum(xlogy(one, one / n_samples)) / n_samples for one in (sizes, other_sizes)]) - expected
    return float((shared - expected) / room) if abs(room) > np.finfo(np.float64).eps else 1.0


def table_rand_indices(tables: NDArray[np.intp]) -> NDArray[np.float64]:
    """Adjusted Rand indices of the rows and columns of tables of counts.

    Parameters
    ----------
    tables : ndarray of shape (n_tables, n_clusters, n_clusters)

    Returns
    -------
    ndarray of shape (n_tables,)
        One if both clusterings have a single cluster, or only clusters of one sample.
    """
    counts = tables.astype(np.float64)
    # Pairs of samples in one cluster of both, of the rows, of the columns, and all.
    sums = [counts, counts.sum(axis=2), counts.sum(axis=1), counts.sum(axis=(1, 2))[:, None]]
    both, rows, columns, every = ((one * (one - 1) / 2).reshape(len(counts), -1).sum(axis=1) for one in sums)
    expected = rows * columns / np.maximum(every, 1.0)
    room = (rows + columns) / 2 - expected
    indices: NDArray[np.float64] = np.where(room > 0, (both - expected) / np.where(room > 0, room, 1.0), 1.0)
    return indices


def _expected_information(first: NDArray[np.intp], second: NDArray[np.intp], n_samples: int) -> float:
    """Mean mutual information of two clusterings of given sizes whose samples are matched at random.

    The number of common samples of a cluster of a and one of b samples is hypergeometric. Vinh, Epps, Bailey:
    Information theoretic measures for clusterings comparison, JMLR 2010.
    """
    logs = gammaln(np.arange(n_samples + 1) + 1.0)  # logarithms of factorials
    a, b = (one.ravel() for one in np.meshgrid(first, second, indexing="ij"))
    least, most = np.maximum(1, a + b - n_samples), np.minimum(a, b)
    counts = np.maximum(most - least + 1, 0)
    pair = np.repeat(np.arange(len(a)), counts)
    common = least[pair] + np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    of_pairs = logs[a] + logs[b] + logs[n_samples - a] + logs[n_samples - b] - logs[n_samples]
    a, b = a[pair], b[pair]
    log_probability = of_pairs[pair] - logs[common] - logs[a - common] - logs[b - common]
    log_probability -= logs[n_samples - a - b + common]
    terms = xlogy(common, common * float(n_samples) / (a * b)) / n_samples
    return float(np.sum(terms * np.exp(log_probability)))


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
