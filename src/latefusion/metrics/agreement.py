"""Agreement of partitions with each other, without known classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import to_numpy
from latefusion.metrics.scores import adjusted_rand


def subspace_agreement(partition: NDArray[Any], consensus: NDArray[Any]) -> float:
    """Mean cosine of the principal angles between the column spaces of two partitions.

    Parameters
    ----------
    partition, consensus : ndarray of shape (n_samples, n_clusters)
        With orthonormal columns (zero columns count as disagreement).

    Returns
    -------
    float
        ‖partitionᵀ consensus‖_* / n_clusters: 1 for the same subspace, 0 for orthogonal ones.

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion.metrics import subspace_agreement
    >>> basis = np.eye(4)
    >>> subspace_agreement(basis[:, :2], basis[:, 1:3])
    0.5
    """
    cosines = np.linalg.svd(to_numpy(partition.T @ consensus), compute_uv=False)
    return float(min(1.0, cosines.sum() / consensus.shape[1]))


def pairwise_agreement(labels: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    """Adjusted Rand indices between clusterings.

    Parameters
    ----------
    labels : sequence of ndarray of shape (n_samples,)
        Numbers of clusters, -1 for samples without a cluster.

    Returns
    -------
    ndarray of shape (n_clusterings, n_clusterings)
        NaN if two clusterings have fewer than two samples in common.
    """
    table = np.eye(len(labels))
    for i, first in enumerate(labels):
        for j, second in enumerate(labels[:i]):
            both = (first >= 0) & (second >= 0)
            value = adjusted_rand(first[both], second[both]) if np.count_nonzero(both) > 1 else np.nan
            table[i, j] = table[j, i] = value
    return table


def observed_agreement(
    partition: NDArray[Any], consensus: NDArray[Any], mask: NDArray[np.bool_] | None, view: int
) -> float:
    """Agreement of a base partition with the consensus, on the samples that have the view.

    Parameters
    ----------
    partition, consensus : ndarray of shape (n_samples, n_clusters)
    mask : ndarray of bool of shape (n_samples, n_views) or None
        None if all samples have all views.
    view : int

    Returns
    -------
    float
        NaN if no sample has the view.
    """
    if mask is None or mask[:, view].all():
        return subspace_agreement(partition, consensus)
    observed = mask[:, view]
    if not observed.any():
        return np.nan
    return subspace_agreement(np.linalg.qr(partition[observed])[0], np.linalg.qr(consensus[observed])[0])
