"""SWMC: self-weighted multi-view clustering with one graph.

    min_S  Σ_v ‖S - A_v‖_F,    rows of S on the probability simplex,  rank(L_S) = n - k.

The norms are not squared, so the weight of every view is α_v = 1 / (2 ‖S - A_v‖_F), and S solves the squared problem
with those weights under the rank constraint (`latefusion.baselines.support.rank_constraint`).

============  ======  ====================================================
here          paper   shape
============  ======  ====================================================
graphs        A_v     m sparse matrices, n_samples x n_samples, symmetric
graph         S       n_samples x n_samples, sparse
weights       α       m, positive, not normalised
embedding     F       n_samples x n_clusters
============  ======  ====================================================

An inner step costs O(ek) for a graph with e edges and k eigenvectors of a sparse matrix; memory is that of the graphs.
The objective usually falls, but a small rise is possible because the rank constraint is met by a search over its
penalty.

Differences from the authors' code: weights start equal instead of random, and an outer round that did not reach k
components passes on its last valid embedding instead of an arbitrary one.

Nie, Li, Li: Self-weighted Multiview Clustering with Multiple Graphs. IJCAI 2017.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from latefusion.baselines.base import BASE_CONSTRAINTS, ITERATION_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.graphs import combine_graphs, laplacian_eigenvectors, reach_components, symmetrize
from latefusion.baselines.support.rank_constraint import (
    ConstrainedGraph,
    constrain_components,
    graph_distances,
    self_weights,
)
from latefusion.types import SolverResult

# Values of the penalty to try in every round, as in the authors' code.
MAX_PENALTIES = 50


def solve_swmc(
    graphs: Sequence[scipy.sparse.csr_array], n_clusters: int, *, max_iter: int = 50, tol: float = 1e-8
) -> tuple[SolverResult, ConstrainedGraph]:
    """Learn one graph with ``n_clusters`` components near the graphs of all views.

    Parameters
    ----------
    graphs : sequence of csr_array of shape (n_samples, n_samples)
        Non-negative, without stored zeros.
    n_clusters : int
    max_iter : int, default=50
        Maximum number of outer rounds.
    tol : float, default=1e-8
        Stop when the objective changes by less.

    Returns
    -------
    result : SolverResult
        The consensus is F; labels are given where the graph has ``n_clusters`` components.
    state : ConstrainedGraph
        The graph S.
    """
    weights = np.full(len(graphs), 1.0 / len(graphs))
    embedding = laplacian_eigenvectors(combine_graphs(graphs, weights), n_clusters)
    objective: list[float] = []
    converged = False
    while len(objective) < max_iter and not converged:
        target = combine_graphs(graphs, weights)
        state = constrain_components(target, embedding, scale=float(weights.sum()), max_iter=MAX_PENALTIES)
        embedding = state.embedding
        distances = graph_distances(state.graph, graphs)
        weights = self_weights(distances)
        objective.append(float(distances.sum()))
        converged = len(objective) > 1 and abs(objective[-2] - objective[-1]) < tol
    labels = state.labels if state.n_components == n_clusters else None
    return SolverResult(embedding, weights, objective, len(objective), converged, labels=labels), state


class SelfWeightedGraph(ComparisonMethod):
    """Self-weighted multi-view clustering with one graph (SWMC).

    Learns the graph with exactly ``n_clusters`` connected components that is nearest, in unsquared norm, to the
    adaptive-neighbour graphs of all views; the components are the clusters, and the distances determine the weights of
    the views.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    views : dict or list, default=None
        Which columns belong to which view, when one table holds them all.
    similarity : {"auto", "precomputed"}, default="auto"
        Whether the views are features or kernels that are already computed; also one entry per view. Distances in a
        kernel are those of its centred feature space.
    n_neighbors : int, default=10
        Neighbours of a sample in the graph of a view; fewer if there are fewer samples. Doubled until the mean of the
        graphs has at most ``n_clusters`` components.
    max_iter : int, default=50
        Maximum number of rounds.
    tol : float, default=1e-8
        Change of the objective at which to stop.
    n_init : int, default=10
        Number of k-means starts, used only if the graph does not have ``n_clusters`` components.
    random_state : int, RandomState or None, default=None
        Seed of these starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    graph_ : csr_array of shape (n_samples, n_samples)
        The learned graph, rows sum to one.
    n_components_ : int
        Number of its connected components; ``n_clusters`` if the method succeeded.
    n_neighbors_ : int
        Number of neighbours in the graphs of the views.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        Lowest Laplacian eigenvectors of the graph.
    view_weights_ : ndarray of shape (n_views,)
        Inverse distances of the views' graphs to the learned one, scaled to sum one.
    objective_ : ndarray of shape (n_iter_,)
        Sum over the views of the distances of their graphs to the learned one.
    n_iter_ : int
        Number of rounds.
    converged_ : bool
        Whether the objective converged before ``max_iter``.

    See Also
    --------
    latefusion.baselines.gmc.GraphBasedClustering : Also corrects the graphs of the views.

    Notes
    -----
    If the graph does not have ``n_clusters`` components, a warning is issued and the labels come from spectral
    clustering: k-means on its lowest Laplacian eigenvectors.

    References
    ----------
    Nie, Li, Li: Self-weighted Multiview Clustering with Multiple Graphs. IJCAI 2017.

    Examples
    --------
    >>> from latefusion.baselines.swmc import SelfWeightedGraph
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, n_views=2, n_uninformative=1, random_state=0)
    >>> model = SelfWeightedGraph(n_clusters=3).fit(data.views)
    >>> model.n_components_
    3
    >>> model.view_weights_.round(2)
    array([0.37, 0.37, 0.26])
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {"n_neighbors": [5, 10, 15]}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BASE_CONSTRAINTS,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        **ITERATION_CONSTRAINTS,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Any = None,
        similarity: Any = "auto",
        n_neighbors: int = 10,
        max_iter: int = 50,
        tol: float = 1e-8,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> SelfWeightedGraph:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict or Views of arrays, or one array
            The views; rows are samples.
        y : ignored

        Returns
        -------
        SelfWeightedGraph
            The fitted estimator.
        """
        neighbors, graphs = reach_components(self._fit_features(X), self.n_neighbors, self.n_clusters)
        symmetric = [symmetrize(graph) for graph in graphs]
        result, state = solve_swmc(symmetric, self.n_clusters, max_iter=self.max_iter, tol=self.tol)
        self.n_neighbors_ = neighbors[0].n_neighbors
        self._store_graph(state.graph, state.n_components)
        self._store(result._replace(weights=result.weights / result.weights.sum()))
        return self
