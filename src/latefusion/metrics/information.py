"""Information of a clustering about the data, without labels: two measures in the same unit.

Both are mutual informations, divided by log k so that they are between 0 and 1. They are high for clusters that are
connected in the data. A clustering with nearly all samples in one cluster has almost no information, so neither measure
needs a correction for cluster sizes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def neighbor_information(
    labels: NDArray[Any], neighbors: NDArray[np.intp], n_clusters: int, *, parts: NDArray[np.intp] | None = None
) -> Any:
    """Information of the cluster of a sample about the clusters of its neighbors.

    Parameters
    ----------
    labels : ndarray of int of shape (n_samples,)
        Cluster numbers from 0 to n_clusters - 1.
    neighbors : ndarray of shape (n_samples, n_neighbors)
        Row i contains the neighbors of sample i; negative numbers are ignored.
    n_clusters : int
    parts : ndarray of int of shape (n_samples,), default=None
        Numbers of parts of the samples, for which the information is computed, too; samples with a negative number are
        left out.

    Returns
    -------
    float or ndarray of shape (n_parts + 1,)
        Mutual information of the two clusters over all pairs of neighbors, divided by log(n_clusters): 1 if clusters
        are equally large and no pair is cut, 0 if neighbors are in the same cluster only by chance. With `parts`, one
        value per part, and last that of all parts together.

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
    present = neighbors >= 0
    if parts is not None:
        present &= (parts >= 0)[:, None]
    starts = np.nonzero(present)[0]
    own_parts = None if parts is None else parts[starts]
    tables = _tables(labels[starts], labels[neighbors[present]], n_clusters, own_parts, _count_parts(parts))
    return _informations(tables + tables.transpose(0, 2, 1), n_clusters, apart=parts is not None)


def shared_information(
    labels: NDArray[Any], others: NDArray[Any], n_clusters: int, *, parts: NDArray[np.intp] | None = None
) -> Any:
    """Information of one clustering about another.

    Parameters
    ----------
    labels, others : ndarray of int of shape (n_samples,)
        Cluster numbers from 0 to n_clusters - 1.
    n_clusters : int
    parts : ndarray of int of shape (n_samples,), default=None
        As for `neighbor_information`.

    Returns
    -------
    float or ndarray of shape (n_parts + 1,)
        Mutual information divided by log(n_clusters).

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion.metrics import shared_information
    >>> shared_information(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), 2)
    1.0
    """
    n_parts = _count_parts(parts)
    if parts is not None:
        used = parts >= 0
        labels, others, parts = labels[used], others[used], parts[used]
    return _informations(
        _tables(labels, others, n_clusters, parts, n_parts), n_clusters, apart=parts is not None
    )


def _count_parts(parts: NDArray[np.intp] | None) -> int:
    return 1 if parts is None else int(parts.max(initial=-1)) + 1


def _tables(
    first: NDArray[Any], second: NDArray[Any], n_clusters: int, parts: NDArray[np.intp] | None, n_parts: int
) -> NDArray[np.intp]:
    """Numbers of pairs of clusters, shape (n_parts, n_clusters, n_clusters)."""
    cells = first * n_clusters + second
    if parts is not None:
        cells = cells + parts * n_clusters**2
    counts: NDArray[np.intp] = np.bincount(cells, minlength=n_parts * n_clusters**2)
    return counts.reshape(n_parts, n_clusters, n_clusters)


def _informations(tables: NDArray[np.intp], n_clusters: int, *, apart: bool) -> Any:
    """Mutual information in some tables and in their sum, or only in the sum."""
    total = tables.sum(axis=0, keepdims=True)
    tables = np.concatenate([tables, total]) if apart else total
    if n_clusters < 2:
        return np.zeros(len(tables)) if apart else 0.0
    joint = tables / np.maximum(tables.sum(axis=(1, 2), keepdims=True), 1)
    independent = joint.sum(axis=2)[:, :, None] * joint.sum(axis=1)[:, None, :]
    ratios = np.where(joint > 0, joint, 1.0) / np.where(joint > 0, independent, 1.0)
    found = np.sum(joint * np.log(ratios), axis=(1, 2)) / np.log(n_clusters)
    found = np.clip(found, 0.0, 1.0)  # rounding may exceed the bounds
    return found if apart else float(found[0])
