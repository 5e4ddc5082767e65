"""Adaptive-neighbour graphs, sums of graphs, and the lowest eigenvectors of a graph Laplacian.

An adaptive-neighbour graph connects every sample to its q nearest samples, with the weights of
`latefusion.similarities.adaptive`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from latefusion.arrays import eigenpairs_between, require_memory, top_eigenpairs
from latefusion.baselines.support.spectral import normalized_affinity
from latefusion.similarities.adaptive import Neighbors, adaptive_weights, connected_components, without_zeros
from latefusion.types import Array

# Distances are compared in blocks of rows with at most this many entries, so that memory does not grow with n².
BLOCK_ENTRIES = 2**22
# Differences of single pairs are computed in blocks that fit into the processor's cache.
CACHED_ENTRIES = 2**16

# A dense eigensolver is used where more than this fraction of the entries is stored, or more than this fraction of the
# eigenvectors is wanted.
DENSE_GRAPH_FRACTION = 0.5
MANY_VECTORS_FRACTION = 1 / 16


def nearest_samples(data: NDArray[Any], n_neighbors: int, *, precomputed: bool = False) -> Neighbors:
    """Find the q + 1 nearest samples of every sample.

    Parameters
    ----------
    data : ndarray of shape (n_samples, n_features) or (n_samples, n_samples)
        Features, or squared distances when ``precomputed``. At least three samples.
    n_neighbors : int
        The number q of neighbours, reduced to ``n_samples - 2`` if it is larger.
    precomputed : bool, default=False

    Returns
    -------
    Neighbors

    Notes
    -----
    Of equally distant samples the one with the lowest index comes first. A sample is excluded from its own neighbours
    by its index, not by its rank, so a duplicate is still a neighbour. Candidates come from ‖x‖² + ‖y‖² - 2xᵀy, which
    is fast but does not resolve ties; their distances are then recomputed from the differences.
    """
    n_samples = len(data)
    if n_samples < 3:
        raise ValueError(f"An adaptive-neighbour graph needs at least 3 samples, got n_samples={n_samples}.")
    width = min(n_neighbors, n_samples - 2) + 1
    require_memory(
        n_samples * width * 16,
        f"Finding the {width} nearest samples of each of {n_samples}, as {n_samples} x {width} indices and distances,",
        "Use a smaller n_neighbors (it is doubled while a graph has more components than clusters), or fewer samples.",
    )
    data = np.asarray(data, dtype=np.float64)
    centered = data if precomputed else data - data.mean(axis=0)
    lengths = np.zeros(n_samples) if precomputed else np.einsum("ij,ij->i", centered, centered)
    block = max(1, BLOCK_ENTRIES // n_samples)
    parts = []
    for start in range(0, n_samples, block):
        rows = np.arange(start, min(start + block, n_samples))
        rough = data[rows] if precomputed else lengths[rows, None] + lengths - 2.0 * centered[rows] @ centered.T
        rough[np.arange(len(rows)), rows] = np.inf
        row, column = _candidates(rough, lengths[rows, None] + lengths, width)
        exact = rough[row, column] if precomputed else _paired_distances(centered, rows[row], column)
        parts.append(_first_per_row(row, column, exact, width))
    return Neighbors(np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts]))


def _candidates(rough: NDArray[Any], magnitudes: NDArray[Any], width: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find all pairs that may be among the nearest, given the rounding errors of the distances."""
    slack = 1e-12 * magnitudes
    reach = np.partition(rough + slack, width - 1, axis=1)[:, [width - 1]]
    row, column = np.nonzero(rough - slack <= reach)
    return row, column


def _paired_distances(points: NDArray[Any], left: NDArray[np.intp], right: NDArray[np.intp]) -> NDArray[Any]:
    """Squared distances of pairs of rows, from their differences."""
    distances = np.empty(len(left))
    block = max(1, CACHED_ENTRIES // points.shape[1])
    for start in range(0, len(left), block):
        part = slice(start, start + block)
        difference = points[left[part]] - points[right[part]]
        distances[part] = np.einsum("ij,ij->i", difference, difference)
    return distances


def _first_per_row(
    row: NDArray[np.intp], column: NDArray[np.intp], distances: NDArray[Any], width: int
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    # lexsort is stable and the columns of a row come in ascending order, so ties keep the lowest index first
    order = np.lexsort((distances, row))
    starts = np.searchsorted(row, np.arange(row[-1] + 1))
    chosen = order[starts[:, None] + np.arange(width)]
    return column[chosen], distances[chosen]


def neighbor_graph(neighbors: Neighbors, weights: NDArray[Any]) -> scipy.sparse.csr_array:
    """Put weights (n_samples, w) on the first w neighbours into a sparse n x n matrix; zeros stay stored."""
    n_samples, width = weights.shape
    columns = neighbors.indices[:, :width]
    order = np.argsort(columns, axis=1)
    return scipy.sparse.csr_array(
        (
            np.take_along_axis(weights, order, axis=1).ravel(),
            np.take_along_axis(columns, order, axis=1).ravel(),
            np.arange(0, weights.size + 1, width),
        ),
        shape=(n_samples, n_samples),
    )


def adaptive_neighbors(data: NDArray[Any], n_neighbors: int, *, precomputed: bool = False) -> scipy.sparse.csr_array:
    """Build the adaptive-neighbour graph: row i holds the weights of the neighbours of sample i and sums to one.

    Parameters
    ----------
    data : ndarray of shape (n_samples, n_features) or (n_samples, n_samples)
        Features, or squared distances when ``precomputed``.
    n_neighbors : int
        Number of neighbours, reduced to ``n_samples - 2`` if it is larger.
    precomputed : bool, default=False

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
        Not symmetric; zeros are not stored.
    """
    neighbors = nearest_samples(data, n_neighbors, precomputed=precomputed)
    return without_zeros(neighbor_graph(neighbors, adaptive_weights(neighbors)))


def reach_components(
    views: Sequence[NDArray[Any]], n_neighbors: int, n_components: int
) -> tuple[list[Neighbors], list[scipy.sparse.csr_array]]:
    """Neighbours and adaptive graphs of several views whose mean graph has at most ``n_components`` components.

    A method that looks for k components inside the edges of a graph can only remove edges. With more than k components
    at the start it would fail, and the embedding would be an arbitrary choice among them. The number of neighbours is
    therefore doubled until the mean graph of the views has at most k.

    Parameters
    ----------
    views : sequence of ndarray of shape (n_samples, n_features_p)
    n_neighbors : int
        Number of neighbours to start with.
    n_components : int

    Returns
    -------
    neighbors : list of Neighbors
    graphs : list of csr_array of shape (n_samples, n_samples)
    """
    largest = len(views[0]) - 2
    while True:
        neighbors = [nearest_samples(view, n_neighbors) for view in views]
        graphs = [without_zeros(neighbor_graph(near, adaptive_weights(near))) for near in neighbors]
        if n_neighbors >= largest or connected_components(mean_graph(graphs))[0] <= n_components:
            return neighbors, graphs
        n_neighbors *= 2


def combine_graphs(graphs: Sequence[scipy.sparse.csr_array], coefficients: ArrayLike) -> scipy.sparse.csr_array:
    """Add up graphs times their coefficients."""
    factors = np.asarray(coefficients).tolist()
    total = factors[0] * graphs[0]
    for coefficient, graph in zip(factors[1:], graphs[1:], strict=True):
        total = total + coefficient * graph
    return total.tocsr()


def mean_graph(graphs: Sequence[scipy.sparse.csr_array]) -> scipy.sparse.csr_array:
    """Take the mean of graphs."""
    return combine_graphs(graphs, np.full(len(graphs), 1.0 / len(graphs)))


def symmetrize(graph: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """Take the mean of a graph and its transpose."""
    return ((graph + graph.T) / 2).tocsr()


def component_indicator(labels: NDArray[np.intp], n_components: int) -> NDArray[Any]:
    """One column per component, constant on it and of unit length: the null space of the Laplacian."""
    sizes = np.bincount(labels, minlength=n_components)
    indicator = np.zeros((len(labels), n_components))
    indicator[np.arange(len(labels)), labels] = 1.0 / np.sqrt(sizes[labels])
    return indicator


def laplacian_eigenvectors(graph: scipy.sparse.csr_array, n_vectors: int) -> NDArray[Any]:
    """Eigenvectors of the lowest eigenvalues of the Laplacian L = D - W of the symmetrised graph, W = (S + Sᵀ) / 2.

    Parameters
    ----------
    graph : csr_array of shape (n_samples, n_samples)
        Weights may be negative; the diagonal is ignored.
    n_vectors : int

    Returns
    -------
    ndarray of shape (n_samples, n_vectors)
        Orthonormal, ascending eigenvalues.

    Notes
    -----
    Every connected component has the eigenvalue zero once, and Lanczos can miss copies of an eigenvalue: a sparse
    graph is solved component by component, on c I - L with c above the spectrum, where the wanted eigenvalues are well
    separated. Shift-and-invert is slower here: the factors of the graph of high-dimensional data are nearly dense.
    """
    weights = symmetrize(without_zeros(graph))
    weights.setdiag(0.0)
    weights = without_zeros(weights)
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    n_samples = len(degrees)
    if weights.nnz > DENSE_GRAPH_FRACTION * n_samples**2 or n_vectors > MANY_VECTORS_FRACTION * n_samples:
        require_memory(
            3 * n_samples**2 * 8,
            f"The Laplacian of a graph of {n_samples} samples, dense since most of them are joined or {n_vectors} "
            f"eigenvectors are many, {n_samples} x {n_samples} numbers in 3 copies,",
            "Use a smaller n_neighbors, fewer clusters or fewer samples.",
        )
        return lowest_eigenvectors(np.diag(degrees) - weights.toarray(), n_vectors)
    # Gershgorin: no eigenvalue of L exceeds the largest degree plus the largest sum of magnitudes in a row.
    above = float((degrees + np.asarray(abs(weights).sum(axis=1)).ravel()).max(initial=0.0))
    shifted = (scipy.sparse.diags_array(above - degrees) + weights).tocsr()
    return top_eigenpairs(shifted, n_vectors)[1]


def lowest_eigenvectors(matrix: NDArray[Any], n_vectors: int) -> NDArray[Any]:
    """Find the eigenvectors of the lowest eigenvalues of a dense symmetric matrix by LAPACK."""
    return eigenpairs_between(matrix, 0, n_vectors)[1]


def normalized_affinities(affinities: Sequence[Array], names: Iterable[str]) -> list[Any]:
    """Normalise the affinity of every view; an error about a sample without neighbours names the view."""
    normalized = []
    for name, affinity in zip(names, affinities, strict=True):
        try:
            normalized.append(normalized_affinity(affinity))
        except ValueError as error:
            raise ValueError(f"View {name!r}: {error}") from error
    return normalized
