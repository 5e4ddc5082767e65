"""MVGL: graph learning for multi-view clustering.

Every view learns a graph S_v with exactly k components, starting from its adaptive-neighbour graph; then

    min_{A, α}  Σ_j ‖a_j - Σ_v α_vj s^v_j‖²,    A >= 0, rows of A sum to one, rank(L_A) = n - k, Σ_v α_vj = 1,

where a_j and s^v_j are columns: every sample has its own weights over the views, and they may be negative. The rank
constraints are those of `latefusion.baselines.support.rank_constraint`.

================  ======  ============================================================
here              paper   shape
================  ======  ============================================================
neighbors         X_v     m lists of the q + 1 nearest samples, n_samples x (q + 1)
view_graphs       S_v     m sparse matrices, n_samples x n_samples, symmetric
combination       S_0     Σ_v S_v diag(α_v), n_samples x n_samples
graph             A       n_samples x n_samples
sample_weights    α       n_samples x m, rows sum to one
================  ======  ============================================================

With ``local`` edges stay among the neighbours: an inner step costs O(ek) for e edges and k eigenvectors of a sparse
matrix, memory is O(me). Without it every pair of samples is an edge: O(n²k + n³) and O(mn²).

As in the authors' code, the distances determine the first graph only; the rows of S_v are then found from its embedding
alone. Differences: the outer loop has a maximum number of rounds (the code has none), components are counted in the
graph, and identical views, whose weights are determined only up to their sum, get equal weights.

Zhan, Zhang, Guan, Wang: Graph Learning for Multiview Clustering. IEEE Transactions on Cybernetics, 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from latefusion.arrays import require_memory
from latefusion.baselines.base import BASE_CONSTRAINTS, ITERATION_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.graphs import (
    component_indicator,
    laplacian_eigenvectors,
    mean_graph,
    neighbor_graph,
    reach_components,
    symmetrize,
)
from latefusion.baselines.support.rank_constraint import ConstrainedGraph, constrain_components, with_values
from latefusion.similarities.adaptive import Neighbors, adaptive_weights, connected_components, without_zeros
from latefusion.types import SolverResult


def solve_mvgl(
    neighbors: Sequence[Neighbors], n_clusters: int, *, local: bool = True, max_iter: int = 100, tol: float = 1e-3
) -> tuple[SolverResult, ConstrainedGraph, NDArray[Any]]:
    """Learn graphs of all views with ``n_clusters`` components, and the global graph near their combination.

    Parameters
    ----------
    neighbors : sequence of Neighbors
        Nearest samples in every view.
    n_clusters : int
    local : bool, default=True
        Whether the graphs may only have edges of the neighbourhoods.
    max_iter : int, default=100
        Maximum number of outer rounds.
    tol : float, default=1e-3
        Stop when the objective changes by less than this fraction.

    Returns
    -------
    result : SolverResult
        The consensus is F, the weights are the means of α over the samples; labels are given where the graph has
        ``n_clusters`` components.
    state : ConstrainedGraph
        The global graph A.
    sample_weights : ndarray of shape (n_samples, n_views)
    """
    view_graphs = [learn_view_graph(near, n_clusters, local=local) for near in neighbors]
    pattern = _pattern(view_graphs, local=local)
    columns = _column_sums(pattern)
    views = np.column_stack([_on_pattern(graph, pattern) for graph in view_graphs])
    off_diagonal = pattern.indices != np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    combination = views.mean(axis=1)
    objective: list[float] = []
    converged = False
    while len(objective) < max_iter and not converged:
        graph = with_values(pattern, combination * off_diagonal)
        state = _constrain_combination(graph, n_clusters, local=local)
        values = _on_pattern(state.graph, pattern)
        sample_weights = combination_weights(values, views, columns)
        combination = np.einsum("ev,ev->e", views, sample_weights[pattern.indices])
        objective.append(float(((values - combination) ** 2).sum()))
        converged = len(objective) > 1 and abs(objective[-2] - objective[-1]) <= tol * objective[-2]
    labels = state.labels if state.n_components == n_clusters else None
    weights = sample_weights.mean(axis=0)
    result = SolverResult(state.embedding, weights, objective, len(objective), converged, labels=labels)
    return result, state, sample_weights


def learn_view_graph(near: Neighbors, n_clusters: int, *, local: bool = True) -> scipy.sparse.csr_array:
    """Learn the graph of one view with ``n_clusters`` components: symmetric, zeros not stored."""
    n_samples = len(near.indices)
    start = laplacian_eigenvectors(neighbor_graph(near, adaptive_weights(near)), n_clusters)
    edges = neighbor_graph(near, np.zeros((n_samples, near.n_neighbors))) if local else _full_pattern(n_samples)
    return without_zeros(symmetrize(constrain_components(edges, start).graph))


def _constrain_combination(combination: scipy.sparse.csr_array, n_clusters: int, *, local: bool) -> ConstrainedGraph:
    n_components, labels = connected_components(combination)
    if n_components == n_clusters:
        return ConstrainedGraph(combination, component_indicator(labels, n_clusters), n_components, labels)
    start = laplacian_eigenvectors(combination, n_clusters)
    target = without_zeros(combination.multiply(combination > 0)) if local else combination
    return constrain_components(target, start)


def combination_weights(values: NDArray[Any], views: NDArray[Any], columns: scipy.sparse.csr_array) -> NDArray[Any]:
    """Find the weights α that bring the combination of the view graphs nearest to the global graph, sample by sample.

    Parameters
    ----------
    values : ndarray of shape (n_entries,)
        Entries of A.
    views : ndarray of shape (n_entries, n_views)
        The same entries of every S_v.
    columns : csr_array of shape (n_samples, n_entries)
        Sums entries by column.

    Returns
    -------
    ndarray of shape (n_samples, n_views)
        Rows sum to one.
    """
    # α_j = C⁻¹1 / 1ᵀC⁻¹1 with C = ZᵀZ + ε Tr(ZᵀZ) I and Z = [a_j - s^v_j]_v
    n_views = views.shape[1]
    residuals = values[:, None] - views
    gram = np.stack([columns @ (residuals * residuals[:, [view]]) for view in range(n_views)], axis=1)
    traces = np.trace(gram, axis1=1, axis2=2)[:, None]
    spectrum, axes = np.linalg.eigh(gram)
    loads = axes.sum(axis=1)
    # A direction that sums to zero over the views moves weight between identical views and changes nothing else.
    loads[np.abs(loads) < 1e-8] = 0.0
    damped = np.maximum(spectrum, 0.0) + np.finfo(float).eps * traces
    scaled = np.where(traces > 0, loads / np.where(damped > 0, damped, 1.0), loads)
    unscaled = np.einsum("svd,sd->sv", axes, scaled)
    weights: NDArray[Any] = unscaled / unscaled.sum(axis=1, keepdims=True)
    return weights


def _pattern(graphs: Sequence[scipy.sparse.csr_array], *, local: bool) -> scipy.sparse.csr_array:
    """Store a zero at every position where some graph can have an edge, columns in order."""
    if not local:
        return _full_pattern(graphs[0].shape[0])
    union = mean_graph([abs(graph) for graph in graphs])
    union.sort_indices()
    return with_values(union, np.zeros(union.nnz))


def _full_pattern(n_samples: int) -> scipy.sparse.csr_array:
    require_memory(
        n_samples**2 * 16,
        f"A graph of all pairs (local=False), {n_samples} x {n_samples} numbers and their places,",
        "Use local=True, which keeps to the edges of the neighbourhoods, or fewer samples.",
    )
    return scipy.sparse.csr_array(
        (
            np.zeros(n_samples**2),
            np.tile(np.arange(n_samples), n_samples),
            np.arange(0, n_samples**2 + 1, n_samples),
        ),
        shape=(n_samples, n_samples),
    )


def _column_sums(pattern: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    order = np.argsort(pattern.indices, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(pattern.indices, minlength=pattern.shape[1]))])
    return scipy.sparse.csr_array((np.ones(pattern.nnz), order, starts), shape=(pattern.shape[1], pattern.nnz))


def _on_pattern(graph: scipy.sparse.csr_array, pattern: scipy.sparse.csr_array) -> NDArray[Any]:
    """Read the values of a graph at the positions of a pattern that holds all its edges."""
    rows = graph.tocoo()
    n_columns = pattern.shape[1]
    places = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr)) * n_columns + pattern.indices
    values = np.zeros(pattern.nnz)
    values[np.searchsorted(places, rows.row.astype(np.int64) * n_columns + rows.col)] = rows.data
    return values


class GraphLearning(ComparisonMethod):
    """Graph learning for multi-view clustering (MVGL).

    Learns one graph per view with ``n_clusters`` connected components, then one graph near a combination of them in
    which every sample has its own weights over the views; the components of that graph are the clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    views : dict or list, default=None
        Which columns belong to which view, when one table holds them all.
    similarity : {"auto", "precomputed"}, default="auto"
        Whether the views are features or kernels that are already computed; also one entry per view. Distances in a
        kernel are those of its centred feature space.
    n_neighbors : int, default=15
        Neighbours of a sample in the first graph of a view; fewer if there are fewer samples. Doubled, view by view,
        until that graph has at most ``n_clusters`` components.
    local : bool, default=True
        Whether edges stay within the first graphs. Otherwise every pair of samples is an edge and the cost is cubic
        in the number of samples.
    max_iter : int, default=100
        Maximum number of rounds.
    tol : float, default=1e-3
        Relative change of the objective at which to stop.
    n_init : int, default=10
        Number of k-means starts, used only if the graph does not have ``n_clusters`` components.
    random_state : int, RandomState or None, default=None
        Seed of these starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    graph_ : csr_array of shape (n_samples, n_samples)
        The learned graph.
    n_components_ : int
        Number of its connected components; ``n_clusters`` if the method succeeded.
    n_neighbors_ : ndarray of shape (n_views,)
        Number of neighbours in the first graph of every view.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        Lowest Laplacian eigenvectors of the graph.
    sample_weights_ : ndarray of shape (n_samples, n_views)
        Weight of every view for every sample; rows sum to one and may have negative entries.
    view_weights_ : ndarray of shape (n_views,)
        Mean of the sample weights; may be negative.
    objective_ : ndarray of shape (n_iter_,)
        Squared distance of the graph to the combination of the views' graphs.
    n_iter_ : int
        Number of rounds.
    converged_ : bool
        Whether the objective converged before ``max_iter``.

    See Also
    --------
    latefusion.baselines.swmc.SelfWeightedGraph : One weight per view.

    Notes
    -----
    If the graph does not have ``n_clusters`` components, a warning is issued and the labels come from spectral
    clustering: k-means on its lowest Laplacian eigenvectors.

    References
    ----------
    Zhan, Zhang, Guan, Wang: Graph Learning for Multiview Clustering. IEEE Transactions on Cybernetics, 2018.

    Examples
    --------
    >>> from latefusion.baselines.mvgl import GraphLearning
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, n_views=2, n_uninformative=1, random_state=0)
    >>> model = GraphLearning(n_clusters=3).fit(data.views)
    >>> model.n_components_
    3
    >>> model.view_weights_.round(2)
    array([0.4 , 0.56, 0.04])
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {"n_neighbors": [3, 15, 40, 50], "local": [True, False]}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BASE_CONSTRAINTS,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "local": ["boolean"],
        **ITERATION_CONSTRAINTS,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Any = None,
        similarity: Any = "auto",
        n_neighbors: int = 15,
        local: bool = True,
        max_iter: int = 100,
        tol: float = 1e-3,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.n_neighbors = n_neighbors
        self.local = local
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> GraphLearning:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict or Views of arrays, or one array
            The views; rows are samples.
        y : ignored

        Returns
        -------
        GraphLearning
            The fitted estimator.
        """
        features = self._fit_features(X)
        neighbors = [reach_components([view], self.n_neighbors, self.n_clusters)[0][0] for view in features]
        result, state, self.sample_weights_ = solve_mvgl(
            neighbors, self.n_clusters, local=self.local, max_iter=self.max_iter, tol=self.tol
        )
        self.n_neighbors_ = np.array([near.n_neighbors for near in neighbors])
        self._store_graph(state.graph, state.n_components)
        self._store(result)
        return self
