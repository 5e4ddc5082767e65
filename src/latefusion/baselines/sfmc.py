"""SFMC: scalable and parameter-free multi-view graph clustering.

    min  ‖Σ_v α_v B_v - P‖²
    subject to α >= 0, 1ᵀα = 1, P >= 0, P 1 = 1, the bipartite graph of P has k components

B_v connects every sample to its nearest anchors in view v, with adaptive weights. The components of P are the clusters.
The rank constraint is that of `latefusion.baselines.support.bipartite`.

============  ======  ==========================================================
here          paper   shape
============  ======  ==========================================================
graphs        B_v     m sparse matrices, n_samples x n_anchors, rows sum to one
mean          -       Σ_v α_v B_v, n_samples x n_anchors
graph         P       n_samples x n_anchors, sparse
weights       α       m, on the simplex
n_neighbors   k       number of anchors of a sample
============  ======  ==========================================================

Anchors and graphs take O(n r D) for D columns in all. A round has about a dozen steps of O(e k) for the e <= n m q
edges, and k + 1 eigenvectors of r x r numbers each. Memory is O(m e + r²).

As in the authors' code, P is the mean of a projection of all rows and a projection of all columns, so the sums of its
rows are between one half and one, and the first step of every round scales the vectors of anchors by 10
(``updates="exact"`` scales by the roots of the degrees).

Differences from the authors' code:

- Their anchors are samples chosen by a logistic map, s ← s (1 - s): a chaotic sequence, which depends on rounding
  errors and does not look at distances (``anchors="published"``). Here they are centres of k-means with a seed, whose
  start does not depend on the order of the samples.
- The weights minimise the objective exactly. The code takes 500 gradient steps, and is off by up to 4e-3.
- Rounds end when the weights change little; the code always makes 10.
- With ``updates="exact"``, the vectors are set back if the graph has too many components. The code intends this.
- The number of neighbours is doubled until the mean graph has at most k components; the code stops with an error.

Li, Zhang, Wang, Nie, Li: Multi-view Clustering: A Scalable and Parameter-free Bipartite Graph Fusion Method. IEEE
Transactions on Pattern Analysis and Machine Intelligence, 2022.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from latefusion.arrays import require_memory
from latefusion.baselines.base import BASE_CONSTRAINTS, ITERATION_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.anchor_graphs import anchor_graph, order_free_anchors
from latefusion.baselines.support.bipartite import (
    PUBLISHED_SCALES,
    Sides,
    SplitGraph,
    has_components,
    leading_vectors,
    read_parts,
    sample_components,
    split_graph,
    stack_values,
)
from latefusion.baselines.support.rank_constraint import with_values
from latefusion.baselines.support.simplex import simplex_quadratic
from latefusion.similarities.adaptive import without_zeros
from latefusion.types import Array, SolverResult

# The default number of anchors: half of the samples, as in the demonstration of the authors, but no more than this.
MOST_ANCHORS = 1000


class Fusion(NamedTuple):
    """The learned graph.

    Attributes
    ----------
    graph : csr_array of shape (n_samples, n_anchors)
        P; zeros may be stored.
    n_components : int
        Number of its connected components that contain samples.
    n_steps : list of int
        Steps for P at the start and in every round; zero where the mean graph had enough components.
    """

    graph: scipy.sparse.csr_array
    n_components: int
    n_steps: list[int]


def solve_sfmc(
    graphs: Sequence[scipy.sparse.csr_array],
    n_clusters: int,
    *,
    updates: str = "published",
    max_iter: int = 50,
    tol: float = 1e-3,
) -> tuple[SolverResult, Fusion]:
    """Learn one bipartite graph with ``n_clusters`` components near a weighted mean of the graphs of the views.

    Parameters
    ----------
    graphs : sequence of csr_array of shape (n_samples, n_anchors)
        Non-negative; at least ``n_clusters`` anchors.
    n_clusters : int
    updates : {"published", "exact"}, default="published"
        The first step of every round as in the authors' code, or by the formulas of the paper.
    max_iter : int, default=50
    tol : float, default=1e-3
        Sum of the changes of the weights at which to stop.

    Returns
    -------
    result : SolverResult
        The objective is ‖Σ_v α_v B_v - P‖² after every update of the weights. Labels are given where P has
        ``n_clusters`` components.
    fusion : Fusion
        The graph P.
    """
    union, values = stack_values(graphs)
    weights = np.full(len(graphs), 1.0 / len(graphs))
    state, learned = _nearest_graph(union, values @ weights, n_clusters, updates)
    n_steps = [state.n_steps]
    objective: list[float] = []
    converged = False
    while not converged and len(objective) < max_iter:
        previous = weights
        weights, value = fit_weights(values, learned)
        objective.append(value)
        converged = float(np.sum(np.abs(weights - previous))) <= tol
        state, learned = _nearest_graph(union, values @ weights, n_clusters, updates)
        n_steps.append(state.n_steps)
    parts = read_parts(state.graph, with_values(union, values @ weights), n_clusters)
    result = SolverResult(parts.embedding, weights, objective, len(objective), converged, labels=parts.labels)
    return result, Fusion(state.graph, parts.n_components, n_steps)


def _nearest_graph(
    union: scipy.sparse.csr_array, mean: NDArray[Any], n_clusters: int, updates: str
) -> tuple[SplitGraph, NDArray[Any]]:
    """P near the mean graph, as a graph and as values on the union of all edges."""
    present = mean > 0
    target = without_zeros(with_values(union, mean))
    start = leading_vectors(target, n_clusters)
    if has_components(start):
        state = SplitGraph(target, start, 0, 0.0)
    else:
        is_published = updates == "published"
        first = _with_published_scales(start) if is_published else start
        state = split_graph(target, n_clusters, first, restore=not is_published)
    learned = np.zeros(len(mean))
    learned[present] = state.graph.data
    return state, learned


def _with_published_scales(sides: Sides) -> Sides:
    sample_scale, anchor_scale = PUBLISHED_SCALES
    return sides._replace(
        sample_scales=np.where(sides.sample_scales > 0, sample_scale, 0.0),
        anchor_scales=np.where(sides.anchor_scales > 0, anchor_scale, 0.0),
    )


def fit_weights(values: NDArray[Any], learned: NDArray[Any]) -> tuple[NDArray[Any], float]:
    """Weights α on the simplex that minimise ‖Σ_v α_v B_v - P‖², and this minimum.

    Parameters
    ----------
    values : ndarray of shape (n_edges, n_views)
        The graphs B_v on common edges.
    learned : ndarray of shape (n_edges,)
        P on these edges.

    Returns
    -------
    weights : ndarray of shape (n_views,)
    objective : float
    """
    # Since 1ᵀα = 1, the objective is αᵀQα with the inner products Q of the differences B_v - P.
    differences = values - learned[:, None]
    products = differences.T @ differences
    weights = simplex_quadratic(products)
    return weights, float(weights @ products @ weights)


def published_anchors(views: Sequence[Array], n_anchors: int) -> NDArray[np.intp]:
    """Positions of the anchors of the authors' code.

    Parameters
    ----------
    views : sequence of ndarray or sparse matrix of shape (n_samples, n_features_v)
    n_anchors : int

    Returns
    -------
    ndarray of shape (n_anchors or less,)
        Ascending. Every view is divided by its largest entry. Scores are row sums above the column minima, relative to
        the largest, and the sample with the largest score is chosen, again and again after s ← s (1 - s) / max.
    """
    scores = np.zeros(views[0].shape[0])
    for view in views:
        rows = np.asarray(view.sum(axis=1, dtype=np.float64)).ravel()
        lowest = view.min(axis=0)
        lowest = lowest.toarray() if scipy.sparse.issparse(lowest) else np.asarray(lowest)
        scores += (rows - float(lowest.sum(dtype=np.float64))) / (abs(float(view.max())) or 1.0)
    scores /= scores.max() or 1.0
    chosen = [int(np.argmax(scores))]
    for _ in range(n_anchors - 1):
        scores = scores * (1.0 - scores)
        scores /= scores.max() or 1.0
        chosen.append(int(np.argmax(scores)))
    return np.unique(chosen)


class BipartiteGraphFusion(ComparisonMethod):
    """Fusion of the anchor graphs of all views into one bipartite graph whose components are the clusters (SFMC).

    Minimises ‖Σ_v α_v B_v - P‖² over weights α on the simplex and bipartite graphs P of samples and anchors with
    ``n_clusters`` connected components, where B_v connects every sample to its nearest anchors in view v.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    views : dict or list, default=None
        Which columns belong to which view, when one table holds them all.
    similarity : {"auto", "precomputed"}, default="auto"
        Whether the views are features or kernels; the features of a kernel are its kernel principal components.
    n_anchors : int or float, default=None
        Number of anchors, or their share of the samples. Half of the samples, but not more than 1000, when None. At
        least ``n_clusters`` and at most the number of samples are made.
    anchors : {"kmeans", "published"}, default="kmeans"
        Centres of k-means on all views, or the samples that the authors' code chooses, which do not depend on distances
        but on rounding errors.
    n_neighbors : int, default=10
        Anchors of a sample in the graph of a view; fewer if there are fewer anchors. Doubled until the mean of the
        graphs has at most ``n_clusters`` components.
    updates : {"published", "exact"}, default="published"
        Scales of the authors' code in the first step of every round, or the roots of the degrees as in the paper.
    max_iter : int, default=50
        Maximum number of rounds.
    tol : float, default=1e-3
        Sum of the changes of the view weights at which to stop.
    n_init : int, default=10
        Number of k-means starts, used only if the graph does not have ``n_clusters`` components.
    random_state : int, RandomState or None, default=None
        Seed of the anchors and of these starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    graph_ : csr_array of shape (n_samples, n_anchors)
        The learned graph P. Its rows sum to between one half and one.
    n_components_ : int
        Number of its connected components; ``n_clusters`` if the method succeeded.
    n_anchors_ : int
        Number of anchors.
    n_neighbors_ : int
        Number of anchors of a sample in the graphs of the views.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        Leading left singular vectors of P, normalised by the roots of its row and column sums.
    view_weights_ : ndarray of shape (n_views,)
        Weight α of every view; they sum to one.
    objective_ : ndarray of shape (n_iter_,)
        ‖Σ_v α_v B_v - P‖² after every round. It may rise, because P is a mean of two projections.
    n_iter_ : int
        Number of rounds.
    converged_ : bool
        Whether the change of the weights fell below ``tol``.

    See Also
    --------
    latefusion.baselines.eomsc.OnePassSubspaceClustering : Learns the anchors too.

    Notes
    -----
    If the graph does not have ``n_clusters`` components, a warning is issued and the labels come from spectral
    clustering: k-means on the leading left singular vectors of the weighted mean of the graphs.

    References
    ----------
    Li, Zhang, Wang, Nie, Li: Multi-view Clustering: A Scalable and Parameter-free Bipartite Graph Fusion Method. IEEE
    Transactions on Pattern Analysis and Machine Intelligence, 2022.

    Examples
    --------
    >>> from latefusion.baselines.sfmc import BipartiteGraphFusion
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, n_views=2, n_uninformative=1, random_state=0)
    >>> model = BipartiteGraphFusion(n_clusters=3, random_state=0).fit(data.views)
    >>> model.n_components_, model.graph_.shape
    (3, (60, 30))
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {"n_anchors": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BASE_CONSTRAINTS,
        "n_anchors": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="right"), None],
        "anchors": [StrOptions({"kmeans", "published"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "updates": [StrOptions({"published", "exact"})],
        **ITERATION_CONSTRAINTS,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Mapping[str, Any] | Sequence[Any] | None = None,
        similarity: Any = "auto",
        n_anchors: float | None = None,
        anchors: str = "kmeans",
        n_neighbors: int = 10,
        updates: str = "published",
        max_iter: int = 50,
        tol: float = 1e-3,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.n_anchors = n_anchors
        self.anchors = anchors
        self.n_neighbors = n_neighbors
        self.updates = updates
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> BipartiteGraphFusion:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict or Views of arrays, or one array
            The views; rows are samples.
        y : ignored

        Returns
        -------
        BipartiteGraphFusion
            The fitted estimator.
        """
        features = self._fit_rows(X)
        graphs = self._anchor_graphs(features)
        result, fusion = solve_sfmc(graphs, self.n_clusters, updates=self.updates, max_iter=self.max_iter, tol=self.tol)
        self._store_graph(fusion.graph, fusion.n_components, ADVICE)
        self._store(result, warn=fusion.n_components == self.n_clusters)
        return self

    def _anchor_graphs(self, features: list[Array]) -> list[scipy.sparse.csr_array]:
        """Graphs of all views whose mean has at most ``n_clusters`` components."""
        n_samples = features[0].shape[0]
        n_anchors = min(max(self._wanted_anchors(n_samples), self.n_clusters, 2), n_samples)
        require_memory(
            2 * n_anchors**2 * 8,
            f"{type(self).__name__} multiplies graphs with {n_anchors} anchors, {n_anchors} x {n_anchors} numbers in "
            "2 copies: it",
            "Use a smaller n_anchors.",
        )
        anchors = self._choose_anchors(features, n_anchors)
        self.n_anchors_ = len(anchors[0])
        most = self.n_anchors_ - 1
        n_neighbors = min(self.n_neighbors, most)
        while True:
            graphs = [anchor_graph(view, own, n_neighbors) for view, own in zip(features, anchors, strict=True)]
            if n_neighbors == most or sample_components(_total(graphs))[0] <= self.n_clusters:
                self.n_neighbors_ = n_neighbors
                return graphs
            n_neighbors = min(2 * n_neighbors, most)

    def _wanted_anchors(self, n_samples: int) -> int:
        if self.n_anchors is None:
            return min(n_samples // 2, MOST_ANCHORS)
        return int(self.n_anchors) if isinstance(self.n_anchors, Integral) else int(self.n_anchors * n_samples)

    def _choose_anchors(self, features: list[Array], n_anchors: int) -> list[NDArray[Any]]:
        if self.anchors == "published":
            chosen = published_anchors(features, n_anchors)
            if len(chosen) >= max(self.n_clusters, 2):
                return [_dense(view[chosen]) for view in features]
            raise ValueError(
                f"anchors='published' finds {len(chosen)} different anchor(s), fewer than n_clusters={self.n_clusters} "
                "or than 2. Use anchors='kmeans'."
            )
        return order_free_anchors(features, n_anchors, generator=check_random_state(self.random_state))


ADVICE = (
    "spectral clustering (k-means on the leading singular vectors of the weighted mean of the view graphs). Another "
    "n_anchors or n_neighbors may give a graph that separates."
)


def _total(graphs: Sequence[scipy.sparse.csr_array]) -> scipy.sparse.csr_array:
    total = graphs[0]
    for graph in graphs[1:]:
        total = total + graph
    return scipy.sparse.csr_array(total)


def _dense(rows: Array) -> NDArray[Any]:
    return np.asarray(rows.toarray() if scipy.sparse.issparse(rows) else rows, dtype=np.float64)
