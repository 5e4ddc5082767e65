"""Graphs with exactly k connected components: the rank constraint of MVGL, GMC and SWMC.

A graph S with non-negative weights has k components when its Laplacian L_S has rank n - k. By Ky Fan's theorem the
sum of the k lowest eigenvalues is min Tr(FᵀL_S F) over orthonormal F, so the constraint becomes a penalty,

    min  ‖S - A‖² + 2λ Tr(FᵀL_S F),   rows of S on the probability simplex,  FᵀF = I,

solved alternately: F holds the k lowest eigenvectors of L_S; row i of S is the projection of a_i - (λ/2) d_i on the
simplex, where d_ij = ‖f_i - f_j‖². λ is doubled while there are fewer than k components, and halved, with F set back,
when there are more. The authors count components by eigenvalue sums against 1e-10 or 1e-11; here they are counted in
the graph.

| name | symbol | shape |
|---|---|---|
| target | A; its stored entries are the edges S may have | n x n, sparse |
| embedding | F | n x k |
| penalty | λ | number |

Cost of one step with e edges: O(ek) for the rows, and k eigenvectors of a sparse matrix, which dominate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from latefusion.arrays import require_memory
from latefusion.baselines.support.graphs import DENSE_GRAPH_FRACTION, component_indicator, laplacian_eigenvectors
from latefusion.baselines.support.simplex import project_rows_to_simplex
from latefusion.similarities.adaptive import connected_components

# Differences along edges are formed for this many numbers at a time: few enough to stay in the processor's cache.
CACHED_ENTRIES = 2**16


class ConstrainedGraph(NamedTuple):
    """A graph driven towards k components.

    Attributes
    ----------
    graph : csr_array of shape (n_samples, n_samples)
        Rows on the probability simplex; zeros may be stored.
    embedding : ndarray of shape (n_samples, n_clusters)
        The lowest eigenvectors of its Laplacian; those of the last graph with at most k components if it has more.
    n_components : int
        Number of its components; ``n_clusters`` if the constraint is met.
    labels : ndarray of shape (n_samples,)
        The component of every sample.
    """

    graph: scipy.sparse.csr_array
    embedding: NDArray[Any]
    n_components: int
    labels: NDArray[np.intp]


def constrain_components(
    target: scipy.sparse.csr_array, embedding: NDArray[Any], *, scale: float = 1.0, max_iter: int = 30
) -> ConstrainedGraph:
    """Find the graph near ``target`` with as many components as ``embedding`` has columns.

    Parameters
    ----------
    target : csr_array of shape (n_samples, n_samples)
        Stored entries, also zeros, are the edges the graph may have.
    embedding : ndarray of shape (n_samples, n_clusters)
        Start: the lowest Laplacian eigenvectors of ``target`` or of a graph like it.
    scale : float, default=1.0
        Rows are projections of (a_i - (λ/2) d_i) / scale.
    max_iter : int, default=30
        Maximum number of values of λ; the first is 1.

    Returns
    -------
    ConstrainedGraph
        It has another number of components if ``max_iter`` steps did not reach ``n_clusters``.
    """
    penalty = 1.0
    for _ in range(max_iter):
        graph = penalized_rows(target, embedding, 0.5 * penalty, scale=scale)
        state, penalty = steer_penalty(graph, embedding, penalty)
        embedding = state.embedding
        if state.n_components == embedding.shape[1]:
            break
    return state


def penalized_rows(
    target: scipy.sparse.csr_array, embedding: NDArray[Any], strength: float, *, scale: float = 1.0
) -> scipy.sparse.csr_array:
    """Every row of (A - strength · d) / scale projected on the probability simplex of its stored entries.

    A row without stored entries stays empty.
    """
    values = (target.data - strength * edge_distances(target, embedding)) / scale
    return with_values(target, _project_stored_rows(values, target.indptr))


def edge_distances(graph: scipy.sparse.csr_array, embedding: NDArray[Any]) -> NDArray[Any]:
    """Squared distance of the two ends of every stored entry, in storage order."""
    n_samples = graph.shape[0]
    is_dense = graph.nnz > DENSE_GRAPH_FRACTION * n_samples**2
    if is_dense:
        require_memory(
            (n_samples**2 + 2 * graph.nnz) * 8,
            f"A graph that joins most of {n_samples} samples, {n_samples} x {n_samples} distances and its edges,",
            "Use a smaller n_neighbors or fewer samples.",
        )
    ends = np.repeat(np.arange(n_samples), np.diff(graph.indptr))
    if is_dense:
        every_pair: NDArray[Any] = cdist(embedding, embedding, "sqeuclidean")[ends, graph.indices]
        return every_pair
    distances = np.empty(graph.nnz)
    block = max(1, CACHED_ENTRIES // embedding.shape[1])
    for start in range(0, graph.nnz, block):
        part = slice(start, start + block)
        difference = embedding[ends[part]] - embedding[graph.indices[part]]
        distances[part] = np.einsum("ij,ij->i", difference, difference)
    return distances


def _project_stored_rows(values: NDArray[Any], indptr: NDArray[Any]) -> NDArray[Any]:
    lengths = np.diff(indptr)
    stored = np.arange(lengths.max(initial=1)) < lengths[:, None]  # one column, even if nothing is stored
    padded = np.full(stored.shape, -np.inf)
    padded[stored] = values
    # An entry one below the largest of its row is projected to zero, so two below has the same effect as an absent
    # entry.
    largest = np.where(lengths > 0, padded.max(axis=1, initial=-np.inf), 0.0)
    filled = np.where(stored, padded, largest[:, None] - 2.0)
    projected: NDArray[Any] = project_rows_to_simplex(filled)[stored]
    return projected


def steer_penalty(
    graph: scipy.sparse.csr_array, embedding: NDArray[Any], penalty: float
) -> tuple[ConstrainedGraph, float]:
    """Count components, choose the next embedding and the next λ.

    Parameters
    ----------
    graph : csr_array of shape (n_samples, n_samples)
        The graph found with ``embedding`` and ``penalty``.
    embedding : ndarray of shape (n_samples, n_clusters)
        Kept if the graph has too many components: the lowest eigenvectors would be an arbitrary choice among them.
    penalty : float

    Returns
    -------
    state : ConstrainedGraph
    penalty : float
    """
    n_clusters = embedding.shape[1]
    n_components, labels = connected_components(graph)
    if n_components > n_clusters:
        return ConstrainedGraph(graph, embedding, n_components, labels), penalty / 2
    if n_components == n_clusters:
        return ConstrainedGraph(graph, component_indicator(labels, n_clusters), n_components, labels), penalty
    lowest = laplacian_eigenvectors(graph, n_clusters)
    return ConstrainedGraph(graph, lowest, n_components, labels), penalty * 2


def with_values(graph: scipy.sparse.csr_array, values: NDArray[Any]) -> scipy.sparse.csr_array:
    """A graph with other values at the same positions; the index arrays are shared, not copied."""
    return scipy.sparse.csr_array((values, graph.indices, graph.indptr), shape=graph.shape)


def graph_distances(graph: scipy.sparse.csr_array, others: Sequence[scipy.sparse.csr_array]) -> NDArray[Any]:
    """Frobenius distances of a graph to others, shape (n_others,)."""
    return np.array([scipy.sparse.linalg.norm(graph - other) for other in others])


def self_weights(distances: NDArray[Any], *, floor: float = float(np.finfo(float).eps)) -> NDArray[Any]:
    """Weights 1 / (2 distance): with them a sum of squared distances has the gradient of the sum of distances.

    Distances are at least ``floor``, so that no weight is infinite.
    """
    weights: NDArray[Any] = 0.5 / np.maximum(distances, floor)
    return weights
