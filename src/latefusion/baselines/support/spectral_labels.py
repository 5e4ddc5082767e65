"""Spectral clustering as in the SNF package: embedding, labels by rotation, and the number of clusters by eigenvalues.

The embedding U holds the eigenvectors of the k smallest eigenvalues of L = I - D^{-1/2} S D^{-1/2}. Labels come from
the rotation R and the one-hot matrix Y that are nearest to each other, max Tr(Yᵀ U R), where the rows of U have unit
length.

Yu, Shi: Multiclass Spectral Clustering. ICCV 2003.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray

from latefusion.arrays import top_eigenpairs, unit_rows
from latefusion.assignment import ASSIGNMENTS
from latefusion.baselines.support.graphs import DENSE_GRAPH_FRACTION
from latefusion.baselines.support.spectral import normalized_affinity
from latefusion.types import Array

Labelling = Literal["rotation", "kmeans", "published"]

EPSILON = float(np.finfo(float).eps)
ROTATION_STEPS = 20


def spectral_embedding(graph: Array, n_components: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Smallest eigenvalues of the normalised Laplacian, ascending, and their eigenvectors.

    Parameters
    ----------
    graph : ndarray or csr_array of shape (n_samples, n_samples)
        Symmetric and non-negative. The diagonal counts.
    n_components : int

    Returns
    -------
    values : ndarray of shape (n_components,)
    vectors : ndarray of shape (n_samples, n_components)
    """
    affinity = normalized_affinity(graph)
    if scipy.sparse.issparse(affinity) and affinity.nnz > DENSE_GRAPH_FRACTION * affinity.shape[0] ** 2:
        affinity = affinity.toarray()
    values, vectors = top_eigenpairs(affinity, n_components)
    return 1.0 - values, vectors


def label_embedding(
    embedding: NDArray[Any], n_clusters: int, rule: str, *, n_init: int, random_state: Any
) -> NDArray[np.intp]:
    """Labels of the rows of an embedding.

    Parameters
    ----------
    embedding : ndarray of shape (n_samples, n_clusters)
    n_clusters : int
    rule : {"rotation", "kmeans", "published"}
        Spectral rotation from several starts, k-means on unit rows, or the rotation of the SNF package.
    n_init : int
    random_state : int, RandomState or None

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    if rule == "published":
        return rotation_labels(embedding)
    labels, _ = ASSIGNMENTS[rule](embedding, n_clusters, n_init=n_init, random_state=random_state)
    return np.asarray(labels, dtype=np.intp)


def rotation_labels(embedding: NDArray[Any]) -> NDArray[np.intp]:
    """Labels by the rotation of the SNF package, which starts at the sample in the middle of the table.

    The result depends on the order of the samples, and there may be fewer labels than columns.

    Parameters
    ----------
    embedding : ndarray of shape (n_samples, n_clusters)

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    rows = unit_rows(embedding, xp=np)
    rotation = _first_rotation(rows)
    previous = 0.0
    for _ in range(ROTATION_STEPS):
        labels: NDArray[np.intp] = np.argmax(rows @ rotation, axis=1)
        sums = np.zeros((rows.shape[1], rows.shape[1]))
        np.add.at(sums, labels, rows)
        left, values, right = scipy.linalg.svd(sums)
        cost = 2.0 * (len(rows) - values.sum())
        if abs(cost - previous) < EPSILON:
            break
        previous = cost
        rotation = (left @ right).T
    return labels


def _first_rotation(rows: NDArray[Any]) -> NDArray[Any]:
    # The row in the middle, then the row with the least sum of cosines to those chosen before
    middle = max(round(len(rows) / 2) - 1, 0)
    chosen, overlap = [rows[middle]], np.zeros(len(rows))
    for _ in range(rows.shape[1] - 1):
        overlap += np.abs(rows @ chosen[-1])
        chosen.append(rows[np.argmin(overlap)])
    return np.stack(chosen, axis=1)


def rank_cluster_numbers(graph: Array, candidates: Sequence[int], *, weighted: bool) -> list[int]:
    """Numbers of clusters by the gaps between eigenvalues of the normalised Laplacian, best first.

    Parameters
    ----------
    graph : ndarray or csr_array of shape (n_samples, n_samples)
        Its diagonal is ignored.
    candidates : sequence of int
        Numbers of clusters c below ``n_samples``.
    weighted : bool
        Whether the gap λ_{c+1} - λ_c is multiplied by c, as in NEMO; SNF does not.

    Returns
    -------
    list of int

    Raises
    ------
    ValueError
        If a candidate is not between 1 and ``n_samples - 1``.
    """
    if min(candidates) < 1 or max(candidates) >= graph.shape[0]:
        raise ValueError(
            f"candidates must be numbers of clusters from 1 to n_samples - 1 = {graph.shape[0] - 1}; got "
            f"{list(candidates)}. Leave out the others."
        )
    without_diagonal = graph.copy()
    (without_diagonal.setdiag if scipy.sparse.issparse(graph) else partial(np.fill_diagonal, without_diagonal))(0.0)
    values = spectral_embedding(without_diagonal, max(candidates) + 1)[0]
    numbers = np.array(candidates)
    gaps = values[numbers] - values[numbers - 1]
    order = np.argsort(-gaps * (numbers if weighted else 1), kind="stable")
    return [int(number) for number in numbers[order]]
