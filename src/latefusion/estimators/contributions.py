"""Contributions of the views to the cluster of every sample.

The objective Σ_p β_p Tr(Fᵀ H_p W_p) + λ Tr(Fᵀ M) is a sum over samples: view p adds β_p ⟨f_i, h_p(i) W_p⟩ at sample i.
At a solution β_p is proportional to Tr(Fᵀ H_p W_p), so the share of a view in the sum over all samples and views is
β_p²: the contributions of single samples correspond to the squared weights of the whole data set.

For a single sample, f_i also contains noise, which may come from one view. So contributions use the mean of F over the
sample's cluster instead of f_i, as in the paper's empirical error. They measure how much a view supports the cluster of
the sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.metrics import cluster_means


def contributions(
    partitions: Sequence[NDArray[Any]], rotations: NDArray[Any], weights: NDArray[Any], directions: NDArray[Any]
) -> NDArray[np.float64]:
    """The terms of the objective, sample by sample.

    Parameters
    ----------
    partitions : sequence of ndarray of shape (n_samples, n_clusters)
        Those that were aligned (H_p). Columns of zeros may be left out.
    rotations : ndarray of shape (n_partitions, n_clusters, n_clusters)
        W_p.
    weights : ndarray of shape (n_partitions,)
        β_p.
    directions : ndarray of shape (n_samples, n_clusters)
        Rows that rotated rows are compared with: those of F, or the centers of their clusters.

    Returns
    -------
    ndarray of shape (n_samples, n_partitions)
    """
    terms = [
        weight * np.einsum("nk,nk->n", partition @ rotation[: partition.shape[1]], directions)
        for partition, rotation, weight in zip(partitions, rotations, weights, strict=True)
    ]
    return np.stack(terms, axis=1).astype(np.float64)


def cluster_directions(consensus: NDArray[Any], labels: NDArray[np.intp]) -> NDArray[Any]:
    """The mean of the consensus rows of a sample's cluster, for every sample.

    Parameters
    ----------
    consensus : ndarray of shape (n_samples, n_clusters)
    labels : ndarray of shape (n_samples,)

    Returns
    -------
    ndarray of shape (n_samples, n_clusters)
    """
    _, codes = np.unique(labels, return_inverse=True)
    return cluster_means(consensus, codes)[codes]


def share_contributions(terms: NDArray[Any], observed: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Contributions of views as shares that sum to one for every sample.

    Parameters
    ----------
    terms : ndarray of shape (n_samples, n_views)
        Negative terms, of views that contradict the cluster of a sample, count as zero.
    observed : ndarray of bool of shape (n_samples, n_views)
        Missing views count as zero.

    Returns
    -------
    ndarray of shape (n_samples, n_views)
        If all views of a sample contradict its cluster, they have equal shares; zero for a sample without any view.
    """
    positive = np.where(observed, np.maximum(terms, 0.0), 0.0)
    positive = np.where(positive.sum(axis=1, keepdims=True) > 0, positive, observed)
    return positive / np.maximum(positive.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
