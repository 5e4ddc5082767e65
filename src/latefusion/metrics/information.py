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
    labels: NDArray[Any],
    neighbors: NDArray[np.intp],
    n_clusters: int,
    *,
    samples: NDArray[np.intp] | None = None,
) -> float:
    """Information of the cluster of a sample about the clusters of its neighbors.

    Parameters
    ----------
    labels : ndarray of int of shape (n_samples,)
        Cluster numbers from 0 to n_clusters - 1.
    neighbors : ndarray of shape (n_samples, n_neighbors)
        Row i contains the neighbors of sample i; negative numbers are ignored.
    n_clusters : int
    samples : ndarray of int, default=None
        Samples whose neighbors are used; all by default.

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
    own = labels if samples is None else labels[samples]
    theirs = neighbors if samples is None else neighbors[samples]
    present = theirs >= 0
    pairs = (own[:, None] * n_clusters + labels[theirs])[present]
    pairs = np.bincount(pairs, minlength=n_clusters**2)
    table = pairs.reshape(n_clusters, n_clusters)
    return _information(table + table.T, n_clusters)


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
    pairs = np.bincount(labels * n_clusters + others, minlength=n_clusters**2)
    return _information(pairs.reshape(n_clusters, n_clusters), n_clusters)


def _information(table: NDArray[Any], n_clusters: int) -> float:
    if n_clusters < 2 or not table.any():
        return 0.0
    joint = table / table.sum()
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    seen = joint > 0
    information = np.sum(joint[seen] * np.log(joint[seen] / apart[seen])) / np.log(n_clusters)
    return float(np.clip(information, 0.0, 1.0))  # rounding may exceed the bounds
