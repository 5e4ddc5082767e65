"""Spectral embedding of the samples in a bipartite graph, by the eigenvectors of its small side (transfer cut).

A bipartite graph joins n samples to r columns (anchors, or clusters of several clusterings) by weights B >= 0. The
eigenvectors of its normalised Laplacian on the side of the columns need a matrix of size r only:

    N = D_y^{-1/2} Bᵀ D_x^{-1} B D_y^{-1/2},    E = D_x^{-1} B D_y^{-1/2} V,

with D_x = diag(B 1), D_y = diag(Bᵀ 1), which are also the row sums of Bᵀ D_x^{-1} B, and the leading eigenvectors V
of N. Rows of E, divided by their norms, are the embedding of the samples.

========  ======  ==============================
here      symbol  shape
========  ======  ==============================
weights   B       n_samples x n_columns, sparse
vectors   V       n_columns x n_components
========  ======  ==============================

A graph with more connected components than wanted has more eigenvectors of the eigenvalue one than wanted, and any
choice among their combinations would be arbitrary. Then the components with the most samples are the coordinates.

With s entries per row it costs O(n s²), and some eigenvectors of an r x r matrix.

Li, Wu, Chang: Segmentation using superpixels: a bipartite graph partitioning approach. CVPR 2012.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.arrays import top_eigenpairs, unit_rows
from latefusion.similarities.adaptive import connected_components


class BipartiteCut(NamedTuple):
    """The embedding of the samples of a bipartite graph.

    Attributes
    ----------
    embedding : ndarray of shape (n_samples, n_components)
        Rows of unit length. Columns are zero if the graph has fewer columns than components.
    eigenvalues : ndarray of shape (n_components,)
        Of N, descending, between zero and one. The eigenvalue one occurs once per connected component.
    n_parts : int
        Number of connected components of the graph.
    parts : ndarray of shape (n_samples,)
        The component of every sample, from 0.
    """

    embedding: NDArray[Any]
    eigenvalues: NDArray[Any]
    n_parts: int
    parts: NDArray[np.intp]


def transfer_cut(weights: scipy.sparse.csr_array, n_components: int) -> BipartiteCut:
    """Embed the samples of a bipartite graph.

    Parameters
    ----------
    weights : csr_array of shape (n_samples, n_columns)
        Non-negative, every row with a positive sum. Columns without weights have no effect.
    n_components : int

    Returns
    -------
    BipartiteCut
        If the graph has more components than ``n_components``, rows of the smaller ones are zero.
    """
    n_parts, parts = connected_parts(weights)
    if n_parts > n_components:
        largest = np.argsort(-np.bincount(parts), kind="stable")[:n_components]
        indicator: NDArray[Any] = (parts[:, None] == largest).astype(np.float64)
        return BipartiteCut(indicator, np.ones(n_components), n_parts, parts)
    totals = np.asarray(weights.sum(axis=0)).ravel()
    used = weights[:, np.flatnonzero(totals > 0)]
    degrees = np.asarray(used.sum(axis=1)).ravel()
    walks = (scipy.sparse.diags_array(1.0 / degrees) @ used).tocsr()  # D_x^{-1} B
    scale = 1.0 / np.sqrt(totals[totals > 0])
    columns = scipy.sparse.diags_array(scale)
    between = (columns @ (used.T @ walks) @ columns).tocsr()
    between = ((between + between.T) / 2).tocsr()
    n_found = min(n_components, len(scale))
    found, vectors = top_eigenpairs(between, n_found)
    embedding = np.zeros((used.shape[0], n_components))
    embedding[:, :n_found] = walks @ (scale[:, None] * vectors)
    eigenvalues = np.zeros(n_components)
    eigenvalues[:n_found] = np.clip(found, 0.0, 1.0)
    return BipartiteCut(unit_rows(embedding, xp=np), eigenvalues, n_parts, parts)


def connected_parts(weights: scipy.sparse.csr_array) -> tuple[int, NDArray[np.intp]]:
    """Connected components of a bipartite graph: their number, and that of every sample.

    Parameters
    ----------
    weights : csr_array of shape (n_samples, n_columns)
        Every row has an entry; stored zeros count as edges.

    Returns
    -------
    n_parts : int
    parts : ndarray of shape (n_samples,)
        From 0.
    """
    joined = scipy.sparse.csr_array((np.ones(weights.nnz), weights.indices, weights.indptr), weights.shape)
    _, labels = connected_components(joined.T @ joined)
    present, parts = np.unique(labels[weights.indices[weights.indptr[:-1]]], return_inverse=True)
    return len(present), np.asarray(parts, dtype=np.intp)


def membership_graph(labelings: NDArray[np.intp]) -> scipy.sparse.csr_array:
    """Join every sample to its cluster in each of several clusterings.

    Parameters
    ----------
    labelings : ndarray of shape (n_samples, n_clusterings)
        Labels from 0, one clustering per column.

    Returns
    -------
    csr_array of shape (n_samples, total number of labels)
        Ones; columns without samples are possible.
    """
    n_samples, n_clusterings = labelings.shape
    sizes = labelings.max(axis=0) + 1
    starts = np.cumsum(sizes) - sizes
    return scipy.sparse.csr_array(
        (
            np.ones(labelings.size),
            (labelings + starts).ravel(),
            np.arange(0, labelings.size + 1, n_clusterings),
        ),
        shape=(n_samples, int(sizes.sum())),
    )
