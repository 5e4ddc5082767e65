"""GMC: graph-based multi-view clustering.

    min  Σ_v [ Σ_ij d^v_ij s^v_ij + γ ‖S_v‖² ] + Σ_v w_v ‖U - S_v‖² + 2λ Tr(FᵀL_U F),

over rows of S_v and U on the probability simplex and FᵀF = I, with w_v = 1 / (2 ‖U - S_v‖_F). The view graphs and the
unified graph U correct each other; λ drives U to exactly k components. γ is set for every sample so that q neighbours
remain.

==============  =========  ==========================================================
here            paper      shape
==============  =========  ==========================================================
neighbors       d^v        m lists of the q + 1 nearest samples, n_samples x (q + 1)
graphs          S_v        m sparse matrices, n_samples x n_samples
unified         U          n_samples x n_samples, sparse
weights         w          m, positive, not normalised
embedding       F          n_samples x n_clusters
==============  =========  ==========================================================

A round costs O(mnq) for the view graphs, O(mnqk) for U and k eigenvectors of a sparse matrix; memory is O(mnq).

The authors' code departs from the minimiser of this objective twice, and is the default (``updates="published"``): U
is drawn to the plain mean, u_i = proj(mean_v(s^v_i - λ / (2 m w_v) d_i)), and the rows of S_v keep the order of the
distances d even where U changes it, so they need not sum to one, and where U outweighs nearly equal distances their
order is reversed. ``updates="exact"`` takes u_i = proj((Σ_v w_v s^v_i - (λ/2) d_i) / Σ_v w_v) and ranks the neighbours
anew.

Further differences: a sample is never its own neighbour (in the code, duplicates can put a sample into its own list),
components are counted in the graph, and only the k eigenvectors needed are computed.

Wang, Yang, Liu: GMC: Graph-based Multi-view Clustering. IEEE Transactions on Knowledge and Data Engineering, 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from latefusion.baselines.base import BASE_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.graphs import (
    combine_graphs,
    laplacian_eigenvectors,
    mean_graph,
    neighbor_graph,
    reach_components,
)
from latefusion.baselines.support.rank_constraint import (
    ConstrainedGraph,
    graph_distances,
    penalized_rows,
    self_weights,
    steer_penalty,
)
from latefusion.baselines.support.standardize import standardize_rows
from latefusion.similarities.adaptive import Neighbors, adaptive_weights, without_zeros
from latefusion.types import SolverResult

Graphs = Sequence[scipy.sparse.csr_array]

# Distances of a view graph to the unified one below this fraction of the latter's norm count as that much.
SMALLEST_DISTANCE = 1e-3


def solve_gmc(
    neighbors: Sequence[Neighbors], n_clusters: int, *, updates: str = "published", max_iter: int = 20
) -> tuple[SolverResult, ConstrainedGraph]:
    """Learn the unified graph of all views, driven to ``n_clusters`` components.

    Parameters
    ----------
    neighbors : sequence of Neighbors
        Nearest samples in every view.
    n_clusters : int
    updates : {"published", "exact"}, default="published"
        Those of the authors' code, or the exact minimisers of the objective.
    max_iter : int, default=20

    Returns
    -------
    result : SolverResult
        The consensus is F, the objective Σ_v ‖U - S_v‖_F; labels are given where U has ``n_clusters`` components.
    state : ConstrainedGraph
        The graph U.
    """
    update = UPDATES[updates]
    graphs = [without_zeros(neighbor_graph(near, adaptive_weights(near))) for near in neighbors]
    unified = mean_graph(graphs)
    embedding = laplacian_eigenvectors(unified, n_clusters)
    weights = np.full(len(graphs), 1.0 / len(graphs))
    penalty = 1.0
    objective: list[float] = []
    converged = False
    while len(objective) < max_iter and not converged:
        graphs = [
            without_zeros(neighbor_graph(near, update.rows(near, _effective_distances(near, unified, weight))))
            for near, weight in zip(neighbors, weights, strict=True)
        ]
        weights = _view_weights(unified, graphs)
        target, strength = update.target(graphs, weights)
        unified = penalized_rows(target, embedding, 0.5 * penalty * strength)
        state, penalty = steer_penalty(unified, embedding, penalty)
        embedding = state.embedding
        objective.append(float(graph_distances(unified, graphs).sum()))
        converged = state.n_components == n_clusters
    weights = _view_weights(unified, graphs)
    labels = state.labels if converged else None
    return SolverResult(embedding, weights, objective, len(objective), converged, labels=labels), state


def _view_weights(unified: scipy.sparse.csr_array, graphs: Graphs) -> NDArray[Any]:
    # w_v = 1 / (2 ‖U - S_v‖). A single view starts with U = S_v and then reproduces it: without a floor its weight
    # would be infinite, the penalty without effect, and U would never change.
    floor = SMALLEST_DISTANCE * float(scipy.sparse.linalg.norm(unified))
    return self_weights(graph_distances(unified, graphs), floor=floor)


def _effective_distances(near: Neighbors, unified: scipy.sparse.csr_array, weight: float) -> NDArray[Any]:
    # e_ij = d_ij - 2 w u_ij: by completing the square, the distances of the view graph corrected by U
    rows = np.arange(len(near.indices))[:, None]
    effective: NDArray[Any] = near.squared_distances - 2 * weight * unified[rows, near.indices].toarray()
    return effective


def _published_rows(near: Neighbors, effective: NDArray[Any]) -> NDArray[Any]:
    # s_j = max((e_{q+1} - e_j) / (q e_{q+1} - e_1 - ... - e_q), 0), neighbours ranked by d and not by e
    gaps = effective[:, -1:] - effective
    totals = gaps.sum(axis=1, keepdims=True)
    defined = totals != 0
    rows: NDArray[Any] = np.maximum(gaps / np.where(defined, totals, 1.0), 0.0)
    return np.where(defined, rows, adaptive_weights(near))


def _exact_rows(near: Neighbors, effective: NDArray[Any]) -> NDArray[Any]:
    # The same with the neighbours ranked by e: the furthest of the q + 1 sets the scale, and every row sums to one.
    gaps = effective.max(axis=1, keepdims=True) - effective
    totals = gaps.sum(axis=1, keepdims=True)
    return np.where(totals > 0, gaps / np.where(totals > 0, totals, 1.0), adaptive_weights(near))


def _published_target(graphs: Graphs, weights: NDArray[Any]) -> tuple[scipy.sparse.csr_array, float]:
    return mean_graph(graphs), float((1.0 / weights).sum()) / len(graphs) ** 2


def _exact_target(graphs: Graphs, weights: NDArray[Any]) -> tuple[scipy.sparse.csr_array, float]:
    total = float(weights.sum())
    return combine_graphs(graphs, weights / total), 1.0 / total


class Updates(NamedTuple):
    """The two block updates in which the authors' code and the objective differ."""

    rows: Callable[[Neighbors, NDArray[Any]], NDArray[Any]]
    target: Callable[[Graphs, NDArray[Any]], tuple[scipy.sparse.csr_array, float]]


UPDATES = {
    "published": Updates(_published_rows, _published_target),
    "exact": Updates(_exact_rows, _exact_target),
}


class GraphBasedClustering(ComparisonMethod):
    """Graph-based multi-view clustering (GMC).

    Learns the graphs of all views and one unified graph together; the unified graph is driven to exactly ``n_clusters``
    connected components, which are the clusters.

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
        Neighbours of a sample in the graph of a view; fewer if there are fewer samples. Doubled until the mean of the
        graphs has at most ``n_clusters`` components.
    normalize : bool, default=True
        Whether every sample is standardised over its features, view by view, as in the authors' code: mean zero and
        unit deviation of each *row*. Kernels, and views with fewer than three features, stay as they are. Features of
        unequal scale are better standardised by column beforehand.
    updates : {"published", "exact"}, default="published"
        Updates of the authors' code, or the minimisers of the objective, which weigh the views and keep all rows on the
        simplex.
    max_iter : int, default=20
        Maximum number of rounds.
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
        Inverse distances of the views' graphs to the unified one, scaled to sum one.
    objective_ : ndarray of shape (n_iter_,)
        Sum over the views of the distances of their graphs to the unified one. It may rise, because the penalty λ
        changes from round to round.
    n_iter_ : int
        Number of rounds.
    converged_ : bool
        Whether the graph reached ``n_clusters`` components before ``max_iter``.

    See Also
    --------
    latefusion.baselines.swmc.SelfWeightedGraph : Takes the graphs of the views as given.

    Notes
    -----
    If the graph does not have ``n_clusters`` components, a warning is issued and the labels come from spectral
    clustering: k-means on its lowest Laplacian eigenvectors.

    References
    ----------
    Wang, Yang, Liu: GMC: Graph-based Multi-view Clustering. IEEE Transactions on Knowledge and Data Engineering, 2020.

    Examples
    --------
    >>> from latefusion.baselines.gmc import GraphBasedClustering
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, n_views=2, n_uninformative=1, random_state=0)
    >>> model = GraphBasedClustering(n_clusters=3, normalize=False).fit(data.views)
    >>> model.n_components_
    3
    >>> model.view_weights_.round(2)
    array([0.37, 0.37, 0.26])
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BASE_CONSTRAINTS,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "normalize": ["boolean"],
        "updates": [StrOptions(set(UPDATES))],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Any = None,
        similarity: Any = "auto",
        n_neighbors: int = 15,
        normalize: bool = True,
        updates: str = "published",
        max_iter: int = 20,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.n_neighbors = n_neighbors
        self.normalize = normalize
        self.updates = updates
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> GraphBasedClustering:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict or Views of arrays, or one array
            The views; rows are samples.
        y : ignored

        Returns
        -------
        GraphBasedClustering
            The fitted estimator.
        """
        features = self._fit_features(X)
        if self.normalize:
            pairs = zip(features, self.view_inputs_, strict=True)
            features = [view if kind == "precomputed" else standardize_rows(view) for view, kind in pairs]
        neighbors, _ = reach_components(features, self.n_neighbors, self.n_clusters)
        result, state = solve_gmc(neighbors, self.n_clusters, updates=self.updates, max_iter=self.max_iter)
        self.n_neighbors_ = neighbors[0].n_neighbors
        self._store_graph(state.graph, state.n_components)
        separated = state.n_components == self.n_clusters
        self._store(result._replace(weights=result.weights / result.weights.sum()), warn=separated)
        return self
