"""Bipartite graphs of samples and anchors with exactly k components: the rank constraint of SFMC and EOMSC-CA.

With row and column sums D_n and D_r, the singular values of P̂ = D_n^{-1/2} P D_r^{-1/2} are at most one, and as many of
them are one as the graph has connected components. So the constraint becomes a penalty,

    min  ‖P - G‖² + λ Σ_ij P_ij t_ij,    t_ij = ‖u_i / √d_i - v_j / √d_j‖²,

with the k leading left and right singular vectors u_i and v_j of P̂, divided by √2. In every step P is the mean of two
projections of G - (λ/2) T: of every row and of every column on the probability simplex, on the stored entries of G. λ
is doubled while there are fewer than k components, and halved, with the vectors set back, when there are more.

| name | symbol | shape |
|---|---|---|
| target | G; its stored entries are the edges P may have | n x r, sparse |
| samples, anchors | u_i, v_j | n x k, r x k |
| penalty | λ | number |

Cost of one step with e edges: O(e k), the products P̂ᵀP̂, and k + 1 eigenvectors of these r x r numbers. Memory is at
most O(e + r²).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.arrays import row_blocks, top_eigenpairs
from latefusion.baselines.support.rank_constraint import with_values
from latefusion.similarities.adaptive import connected_components, without_zeros

# First value of the penalty λ.
FIRST_PENALTY = 0.1
# A sum of k eigenvalues counts as k if it misses less than this; the second number is for the graph to start with.
ROUNDING = 1e-7
START_ROUNDING = 1e-10
# Eigenvalues of P̂ᵀP̂ below this have no left singular vectors.
NO_DIRECTION = 1e-14
# Factors 1 / √d_i and 1 / √d_j that the authors of SFMC use in the first step.
PUBLISHED_SCALES = (1.0, 10.0)
# Differences along edges are formed for this many numbers at a time: few enough to stay in the processor's cache.
CACHED_ENTRIES = 2**16
# Products of rows with more stored entries than this share of the columns are faster dense.
DENSE_ROWS = 1 / 7
BLOCK_ENTRIES = 2**22
# Matrices up to this size are decomposed dense.
DENSE_PRODUCTS = 600


class Sides(NamedTuple):
    """Vectors of the two sides of a bipartite graph.

    Attributes
    ----------
    samples : ndarray of shape (n_samples, n_clusters)
        Leading left singular vectors of P̂, divided by √2; zero for a sample without edges.
    anchors : ndarray of shape (n_anchors, n_clusters)
        Leading right ones.
    sample_scales : ndarray of shape (n_samples,)
        1 / √d_i; zero for a sample without edges, which has no penalty.
    anchor_scales : ndarray of shape (n_anchors,)
        1 / √d_j.
    values : ndarray of shape (n_clusters + 1,)
        Largest eigenvalues of P̂ᵀP̂, descending; ``n_clusters`` of them if there are not more anchors.
    """

    samples: NDArray[Any]
    anchors: NDArray[Any]
    sample_scales: NDArray[Any]
    anchor_scales: NDArray[Any]
    values: NDArray[Any]

    @property
    def n_clusters(self) -> int:
        """Number of vectors."""
        return int(self.samples.shape[1])


class SplitGraph(NamedTuple):
    """A bipartite graph driven towards k components.

    Attributes
    ----------
    graph : csr_array of shape (n_samples, n_anchors)
        P; zeros may be stored.
    sides : Sides
        Its vectors; those of the last graph with at most k components if it has more.
    n_steps : int
        Number of steps.
    penalty : float
        The last λ.
    """

    graph: scipy.sparse.csr_array
    sides: Sides
    n_steps: int
    penalty: float


def split_graph(
    target: scipy.sparse.csr_array,
    n_clusters: int,
    start: Sides | None = None,
    *,
    scale: float = 1.0,
    restore: bool = True,
    max_iter: int = 50,
) -> SplitGraph:
    """Find the bipartite graph near ``target`` with as many components as there are vectors.

    Parameters
    ----------
    target : csr_array of shape (n_samples, n_anchors)
        Stored entries, also zeros, are the edges the graph may have.
    n_clusters : int
        At most the number of anchors.
    start : Sides, default=None
        Vectors for the first step, which has no penalty if there are none.
    scale : float, default=1.0
        Rows and columns are projections of (G - (λ/2) T) / scale.
    restore : bool, default=True
        Whether the vectors are set back when the graph has too many components. The authors intend it, but their code
        keeps the new ones.
    max_iter : int, default=50
        Maximum number of steps.

    Returns
    -------
    SplitGraph
    """
    columns = ColumnOrder.of(target)
    sides, penalty = start, FIRST_PENALTY
    for step in range(1, max_iter + 1):
        values = target.data.copy() if sides is None else target.data - 0.5 * penalty * edge_penalties(target, sides)
        values /= scale
        graph = with_values(target, project_both_ways(values, target.indptr, columns))
        found = leading_vectors(graph, n_clusters)
        if found.values[:n_clusters].sum() < n_clusters - ROUNDING:
            sides, following = found, 2 * penalty
        elif len(found.values) > n_clusters and found.values.sum() > n_clusters + 1 - ROUNDING:
            sides, following = (sides if restore and sides is not None else found), penalty / 2
        else:
            sides = found
            break
        if step < max_iter:
            penalty = following
    return SplitGraph(graph, found if sides is None else sides, step, penalty)


def edge_penalties(graph: scipy.sparse.csr_array, sides: Sides) -> NDArray[Any]:
    """The penalty t_ij of every stored entry, in storage order; zero where one of its ends has no edges."""
    left = sides.samples * sides.sample_scales[:, None]
    right = sides.anchors * sides.anchor_scales[:, None]
    ends = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    penalties = np.empty(graph.nnz)
    block = max(1, CACHED_ENTRIES // max(1, left.shape[1]))
    for start in range(0, graph.nnz, block):
        part = slice(start, start + block)
        difference = left[ends[part]] - right[graph.indices[part]]
        penalties[part] = np.einsum("ij,ij->i", difference, difference)
    penalties[(sides.sample_scales == 0)[ends] | (sides.anchor_scales == 0)[graph.indices]] = 0.0
    return penalties


class ColumnOrder(NamedTuple):
    """Where the stored entries of every column are.

    Attributes
    ----------
    order : ndarray of shape (n_edges,)
        Positions of the entries, column by column.
    indptr : ndarray of shape (n_anchors + 1,)
    """

    order: NDArray[np.intp]
    indptr: NDArray[np.intp]

    @classmethod
    def of(cls, graph: scipy.sparse.csr_array) -> ColumnOrder:
        """The columns of a graph."""
        counts = np.bincount(graph.indices, minlength=graph.shape[1])
        return cls(np.argsort(graph.indices, kind="stable"), np.concatenate([[0], np.cumsum(counts)]))


def project_both_ways(values: NDArray[Any], indptr: NDArray[Any], columns: ColumnOrder) -> NDArray[Any]:
    """The mean of two projections: of every row and of every column on the probability simplex."""
    both = np.empty_like(values)
    both[columns.order] = project_segments(values[columns.order], columns.indptr)
    both += project_segments(values, indptr)
    both *= 0.5
    return both


def project_segments(values: NDArray[Any], indptr: NDArray[Any]) -> NDArray[Any]:
    """Every segment of an array projected on the probability simplex.

    Parameters
    ----------
    values : ndarray of shape (n_entries,)
    indptr : ndarray of shape (n_segments + 1,)
        Segment s holds the entries from indptr[s] to indptr[s + 1]; it may be empty.

    Returns
    -------
    ndarray of shape (n_entries,)

    Notes
    -----
    The projection is max(v - θ, 0). θ starts as if all entries were positive; those that are not are left out, and θ
    is computed again, until none is left out (Michelot). No segment is sorted, so segments may be long.
    """
    lengths = np.diff(indptr)
    if not len(values):
        return values.copy()
    segments = np.repeat(np.arange(len(lengths)), lengths)
    filled = lengths > 0
    largest = np.zeros(len(lengths))
    largest[filled] = np.maximum.reduceat(values, indptr[:-1][filled])
    shifted = values - largest[segments]  # a constant does not move the projection, but costs digits
    kept = np.flatnonzero(shifted > -1.0)  # an entry one below the largest is projected to zero
    candidates, owner = shifted[kept], segments[kept]
    while True:
        counts = np.bincount(owner, minlength=len(lengths))
        threshold = (np.bincount(owner, candidates, minlength=len(lengths)) - 1.0) / np.maximum(counts, 1)
        positive = candidates > threshold[owner]
        if positive.all():
            break
        candidates, owner = candidates[positive], owner[positive]
    projected: NDArray[Any] = np.maximum(shifted - threshold[segments], 0.0)
    return projected


def leading_vectors(graph: scipy.sparse.csr_array, n_clusters: int) -> Sides:
    """Leading singular vectors of P̂.

    Parameters
    ----------
    graph : csr_array of shape (n_samples, n_anchors)
        Non-negative; stored zeros do not count.
    n_clusters : int
        Number of vectors, at most ``n_anchors``.

    Returns
    -------
    Sides
    """
    graph = without_zeros(graph)
    sample_scales = _inverse_roots(np.asarray(graph.sum(axis=1)).ravel())
    anchor_scales = _inverse_roots(np.asarray(graph.sum(axis=0)).ravel())
    graph.data *= np.repeat(sample_scales, np.diff(graph.indptr)) * anchor_scales[graph.indices]
    values, vectors = top_eigenpairs(_products(graph), min(n_clusters + 1, graph.shape[1]))
    leading, right = np.maximum(values[:n_clusters], 0.0), vectors[:, :n_clusters]
    present = leading > NO_DIRECTION
    left = (graph @ right) * np.where(present, 1.0 / np.sqrt(np.where(present, leading, 1.0)), 0.0)
    return Sides(left / np.sqrt(2.0), right / np.sqrt(2.0), sample_scales, anchor_scales, values)


def _inverse_roots(degrees: NDArray[Any]) -> NDArray[Any]:
    inverse: NDArray[Any] = np.where(degrees > 0, 1.0 / np.sqrt(np.where(degrees > 0, degrees, 1.0)), 0.0)
    return inverse


def _products(graph: scipy.sparse.csr_array) -> Any:
    """PᵀP, sparse if there are many anchors: then it is decomposed component by component."""
    n_samples, n_anchors = graph.shape
    if graph.nnz > DENSE_ROWS * n_samples * n_anchors:
        total = np.zeros((n_anchors, n_anchors))
        for rows in row_blocks(n_samples, max(1, BLOCK_ENTRIES // n_anchors)):
            block = graph[rows].toarray()
            total += block.T @ block
        return total if n_anchors <= DENSE_PRODUCTS else scipy.sparse.csr_array(total)
    products = (graph.T @ graph).tocsr()
    return products.toarray() if n_anchors <= DENSE_PRODUCTS else products


class Parts(NamedTuple):
    """The connected components of a learned graph, or what replaces them as a clustering.

    Attributes
    ----------
    n_components : int
        Number of components that contain samples.
    labels : ndarray of shape (n_samples,) or None
        The components, if there is one for every cluster.
    embedding : ndarray of shape (n_samples, n_clusters)
        Leading left singular vectors of P̂, which are constant on components up to the roots of the degrees. Without
        labels, those of the graph that was approximated: with too many components the vectors of P̂ are an arbitrary
        choice, and an anchor without edges leaves too few.
    """

    n_components: int
    labels: NDArray[np.intp] | None
    embedding: NDArray[Any]


def read_parts(graph: scipy.sparse.csr_array, target: scipy.sparse.csr_array, n_clusters: int) -> Parts:
    """Clusters of the samples in a learned graph.

    Parameters
    ----------
    graph : csr_array of shape (n_samples, n_anchors)
        The learned graph P.
    target : csr_array of shape (n_samples, n_anchors)
        The graph that it approximates.
    n_clusters : int

    Returns
    -------
    Parts
    """
    n_components, labels = sample_components(graph)
    if n_components == n_clusters:
        return Parts(n_components, labels, leading_vectors(graph, n_clusters).samples * np.sqrt(2.0))
    return Parts(n_components, None, leading_vectors(target, n_clusters).samples * np.sqrt(2.0))


def has_components(sides: Sides) -> bool:
    """Whether the eigenvalues show at least as many components as there are vectors, up to rounding."""
    return bool(sides.values[: sides.n_clusters].sum() > sides.n_clusters * (1.0 - START_ROUNDING))


def sample_components(graph: scipy.sparse.csr_array) -> tuple[int, NDArray[np.intp]]:
    """Number of connected components that contain samples, and the component of every sample.

    A sample without edges is a component of its own; an anchor without edges is none.
    """
    n_samples = graph.shape[0]
    both = scipy.sparse.block_array([[None, graph], [graph.T, None]], format="csr")
    labels = connected_components(both)[1][:n_samples]
    used, numbered = np.unique(labels, return_inverse=True)
    return len(used), numbered.astype(np.intp)


def stack_values(graphs: Sequence[scipy.sparse.csr_array]) -> tuple[scipy.sparse.csr_array, NDArray[Any]]:
    """The union of the edges of several graphs, and the values of every graph on it.

    Parameters
    ----------
    graphs : sequence of csr_array of shape (n_samples, n_anchors)
        Non-negative.

    Returns
    -------
    union : csr_array of shape (n_samples, n_anchors)
        The sum of the graphs.
    values : ndarray of shape (n_edges, n_graphs)
    """
    union = graphs[0]
    for graph in graphs[1:]:
        union = union + graph
    union = without_zeros(union)
    union.sort_indices()
    places = _places(union)
    values = np.zeros((union.nnz, len(graphs)))
    for column, graph in enumerate(graphs):
        present = without_zeros(graph)
        values[np.searchsorted(places, _places(present)), column] = present.data
    return union, values


def _places(graph: scipy.sparse.csr_array) -> NDArray[np.int64]:
    rows = np.repeat(np.arange(graph.shape[0], dtype=np.int64), np.diff(graph.indptr))
    places: NDArray[np.int64] = rows * graph.shape[1] + graph.indices
    return places
