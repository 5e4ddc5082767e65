"""EOMSC-CA: efficient one-pass multi-view subspace clustering with consensus anchors.

    min  Σ_v β_v² ‖X_v - P A_vᵀ‖²,    A_v = W_v A
    subject to W_vᵀW_v = I, AᵀA = I, rows of P on the simplex, the bipartite graph of P has k components

Anchors A live in one common space, W_v maps them to every view, and P connects samples to anchors. The components of P
are the clusters. The rank constraint is that of `latefusion.baselines.support.bipartite`.

============  ======  ==========================================================
here          paper   shape
============  ======  ==========================================================
views         X_v     m matrices, n_samples x n_features_v, columns standardised
projections   W_v     m matrices, n_features_v x n_components
anchors       A       n_components x n_anchors
graph         Zᵀ      n_samples x n_anchors, P above
weights       β       m, positive, sum one
============  ======  ==========================================================

A round costs O(n r D) for D columns in all, and about a dozen steps of O(n r k + n r²) for the graph. Memory is O(n r)
besides the views. Sparse views are not centred in memory.

As in the authors' code, by default (``updates="published"``): P is the mean of a projection of all rows and one of all
columns; P has an edge only where B = Σ_v β_v² X_v W_v A is positive, so a sample without positive entry has no edge;
β_v ∝ 1 / r_v for the residuals r_v, while the minimiser is 1 / r_v²; the penalty in the objective has the factor 0.1
and lacks a 2. ``updates="exact"`` takes the minimiser for β, connects a sample without positive entry to its largest
one, sets the vectors back when the graph has too many components, and leaves the penalty, which is zero for a graph
with k components, out of the objective.

Differences from the authors' code:

- It starts with the first samples as anchors, the first columns as projections, and the first samples and anchors as
  clusters (``start="published"``), so its result depends on the order of samples and columns. Here the start is
  k-means of all views, whose own start does not depend on the order of the samples, and the first step of every graph
  has no penalty.
- A sample without edge is a cluster of its own in the code, which may return many more than k labels. Here it joins
  the anchor of its largest entry of B at the end.
- Rank-deficient polar factors are not completed by arbitrary directions.

Liu, Wang, Zhang, Tu, Zhou, Liu, Zhu: Efficient One-Pass Multi-View Subspace Clustering with Consensus Anchors. AAAI
2022.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from latefusion.arrays import polar, require_memory
from latefusion.baselines.base import BASE_CONSTRAINTS, ITERATION_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.anchor_graphs import centered, order_free_labels, squared_norm
from latefusion.baselines.support.bipartite import (
    FIRST_PENALTY,
    Sides,
    SplitGraph,
    read_parts,
    split_graph,
)
from latefusion.baselines.support.kernel_kmeans import has_converged
from latefusion.baselines.support.scaled_affinity import unit_deviations
from latefusion.similarities.centered_rows import CenteredRows
from latefusion.types import SolverResult

# Residuals below this share of the norm of a view count as that much: they are rounding errors of sums.
SMALLEST_RESIDUAL = 1e-6
# Numbers per cluster that the authors try.
MULTIPLES = {f"{factor}k" if factor > 1 else "k": factor for factor in range(1, 8)}


class Start(NamedTuple):
    """Where the iteration starts.

    Attributes
    ----------
    graph : csr_array of shape (n_samples, n_anchors)
        P.
    projections : list of ndarray of shape (n_features_v, n_components)
        W_v.
    sides : Sides or None
        Vectors for the first step of every graph.
    """

    graph: scipy.sparse.csr_array
    projections: list[NDArray[Any]]
    sides: Sides | None


class Factors(NamedTuple):
    """The other variables of the result.

    Attributes
    ----------
    projections : list of ndarray of shape (n_features_v, n_components)
        W_v.
    anchors : ndarray of shape (n_components, n_anchors)
        A.
    graph : csr_array of shape (n_samples, n_anchors)
        P, in which every sample has an edge.
    n_components : int
        Number of its connected components.
    n_steps : list of int
        Steps for the graph in every round.
    """

    projections: list[NDArray[Any]]
    anchors: NDArray[Any]
    graph: scipy.sparse.csr_array
    n_components: int
    n_steps: list[int]


def solve_eomsc(
    views: Sequence[CenteredRows],
    start: Start,
    n_clusters: int,
    *,
    updates: str = "published",
    max_iter: int = 50,
    tol: float = 1e-4,
) -> tuple[SolverResult, Factors]:
    """Learn anchors and a bipartite graph with ``n_clusters`` components.

    Parameters
    ----------
    views : sequence of CenteredRows of shape (n_samples, n_features_v)
    start : Start
        With at least ``n_clusters`` anchors.
    n_clusters : int
    updates : {"published", "exact"}, default="published"
        Those of the authors' code, or the minimisers.
    max_iter : int, default=50
    tol : float, default=1e-4
        Relative change of the objective at which to stop.

    Returns
    -------
    result : SolverResult
        Labels are given where the graph has ``n_clusters`` components.
    factors : Factors
    """
    graph, projections, sides = start
    norms = np.array([squared_norm(view) for view in views])
    weights = np.where(norms > 0, 1.0, 0.0)
    weights /= max(weights.sum(), 1.0)
    sums = [view.rmatmat(graph.toarray()) for view in views]
    objective: list[float] = []
    n_steps: list[int] = []
    anchors = fit_anchors(projections, sums, weights)
    converged = False
    while not converged and len(objective) < max_iter:
        if objective:
            projections = [polar(total @ anchors.T, xp=np).isometry for total in sums]
            anchors = fit_anchors(projections, sums, weights)
        scores = anchor_scores(views, projections, anchors, weights)
        scale = float(np.sum(weights**2)) or 1.0
        target = allowed_edges(scores, attach=updates == "exact")
        state = split_graph(target, n_clusters, sides, scale=scale, restore=updates == "exact")
        graph = state.graph
        sums = [view.rmatmat(graph.toarray()) for view in views]
        residuals = squared_residuals(norms, projections, anchors, sums, graph)
        weights = view_weights(residuals, norms, 1.0 if updates == "published" else 2.0)
        penalty = published_penalty(state) if updates == "published" else 0.0
        objective.append(float(np.sum(weights**2 * residuals)) + penalty)
        n_steps.append(state.n_steps)
        converged = has_converged(objective, tol)
    graph = attach_samples(graph, scores)
    parts = read_parts(graph, allowed_edges(scores, attach=True), n_clusters)
    result = SolverResult(parts.embedding, weights, objective, len(objective), converged, labels=parts.labels)
    return result, Factors(list(projections), anchors, graph, parts.n_components, n_steps)


def fit_anchors(
    projections: Sequence[NDArray[Any]], sums: Sequence[NDArray[Any]], weights: NDArray[Any]
) -> NDArray[Any]:
    """A = polar(Σ_v β_v² W_vᵀ X_vᵀ P); sums are X_vᵀ P."""
    triples = zip(weights, projections, sums, strict=True)
    total: NDArray[Any] = sum(weight**2 * projection.T @ part for weight, projection, part in triples)
    return np.asarray(polar(total, xp=np).isometry)


def anchor_scores(
    views: Sequence[CenteredRows],
    projections: Sequence[NDArray[Any]],
    anchors: NDArray[Any],
    weights: NDArray[Any],
) -> NDArray[Any]:
    """B = Σ_v β_v² X_v W_v A, shape (n_samples, n_anchors)."""
    triples = zip(weights, views, projections, strict=True)
    total: NDArray[Any] = sum(weight**2 * (view @ (projection @ anchors)) for weight, view, projection in triples)
    return total


def allowed_edges(scores: NDArray[Any], *, attach: bool) -> scipy.sparse.csr_array:
    """The positive entries of B; with ``attach`` also the largest entry of a row that has none, as zero."""
    allowed = scores > 0
    if attach:
        bare = np.flatnonzero(~allowed.any(axis=1))
        allowed[bare, np.argmax(scores[bare], axis=1)] = True
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(allowed, axis=1))])
    values = np.maximum(scores[allowed], 0.0)
    return scipy.sparse.csr_array((values, np.nonzero(allowed)[1], indptr), shape=scores.shape)


def squared_residuals(
    norms: NDArray[Any],
    projections: Sequence[NDArray[Any]],
    anchors: NDArray[Any],
    sums: Sequence[NDArray[Any]],
    graph: scipy.sparse.csr_array,
) -> NDArray[Any]:
    """‖X_v - P (W_v A)ᵀ‖² for every view, from products of the size of the anchors."""
    overlaps = (graph.T @ graph).toarray()
    found = []
    for norm, projection, part in zip(norms, projections, sums, strict=True):
        mapped = projection @ anchors
        found.append(norm - 2.0 * np.vdot(mapped, part) + np.vdot(mapped.T @ mapped, overlaps))
    return np.maximum(np.array(found), 0.0)


def view_weights(residuals: NDArray[Any], norms: NDArray[Any], power: float) -> NDArray[Any]:
    """β_v ∝ r_v^{-power}, sum one; a view that is constant has no weight.

    Parameters
    ----------
    residuals, norms : ndarray of shape (n_views,)
        Squared.
    power : float
        Two minimises Σ β_v² r_v²; the authors' code takes one.

    Returns
    -------
    ndarray of shape (n_views,)
    """
    varies = norms > 0
    distances = np.maximum(np.sqrt(residuals), SMALLEST_RESIDUAL * np.sqrt(norms))
    inverse = np.where(varies, np.where(varies, distances, 1.0) ** -power, 0.0)
    total = inverse.sum()
    return inverse / (total if total > 0 else 1.0)


def published_penalty(state: SplitGraph) -> float:
    """0.1 (‖U‖² + ‖V‖² - Tr UᵀP̂V) as in the authors' code, where the singular values give the last trace."""
    sides = state.sides
    values = np.sqrt(np.maximum(sides.values[: sides.n_clusters], 0.0))
    return float(FIRST_PENALTY * (np.sum(sides.samples**2) + np.sum(sides.anchors**2) - 0.5 * values.sum()))


def attach_samples(graph: scipy.sparse.csr_array, scores: NDArray[Any]) -> scipy.sparse.csr_array:
    """The graph with one edge of weight one, to the anchor of the largest score, for every sample without edge."""
    bare = np.flatnonzero(np.asarray(graph.sum(axis=1)).ravel() == 0)
    edges = scipy.sparse.csr_array((np.ones(len(bare)), (bare, np.argmax(scores[bare], axis=1))), shape=graph.shape)
    return scipy.sparse.csr_array(graph + edges)


def start_from_labels(
    views: Sequence[CenteredRows], labels: NDArray[np.intp], n_anchors: int, n_components: int
) -> Start:
    """P connects every sample to the anchor of its group; A holds the leading directions of the centres of the groups.

    Parameters
    ----------
    views : sequence of CenteredRows of shape (n_samples, n_features_v)
    labels : ndarray of shape (n_samples,)
        Groups from 0 to ``n_anchors - 1``.
    n_anchors, n_components : int

    Returns
    -------
    Start
    """
    n_samples = len(labels)
    graph = scipy.sparse.csr_array((np.ones(n_samples), labels, np.arange(n_samples + 1)), shape=(n_samples, n_anchors))
    sizes = np.maximum(np.bincount(labels, minlength=n_anchors), 1)
    sums = [view.rmatmat(graph.toarray()) for view in views]
    products = sum(
        (part / sizes).T @ (part / sizes) / norm
        for part, norm in zip(sums, map(squared_norm, views), strict=True)
        if norm > 0
    )
    basis = np.linalg.eigh(products + np.zeros((n_anchors, n_anchors)))[1][:, ::-1]
    anchors = np.eye(n_components, n_anchors) @ basis.T
    return Start(graph, [polar(part @ anchors.T, xp=np).isometry for part in sums], None)


def published_start(views: Sequence[CenteredRows], n_clusters: int, n_anchors: int, n_components: int) -> Start:
    """The start of the authors' code: the first samples are anchors, the first columns projections.

    Parameters
    ----------
    views : sequence of CenteredRows of shape (n_samples, n_features_v)
    n_clusters, n_anchors, n_components : int

    Returns
    -------
    Start
    """
    n_samples = views[0].shape[0]
    first = np.arange(n_anchors)
    graph = scipy.sparse.csr_array((np.ones(n_anchors), (first, first)), shape=(n_samples, n_anchors))
    sides = Sides(
        np.eye(n_samples, n_clusters) / np.sqrt(2.0),
        np.eye(n_anchors, n_clusters) / np.sqrt(2.0),
        np.where(np.arange(n_samples) < n_anchors, 1.0, 0.0),
        np.ones(n_anchors),
        np.ones(n_clusters),
    )
    return Start(graph, [np.eye(view.shape[1], n_components) for view in views], sides)


class OnePassSubspaceClustering(ComparisonMethod):
    """One-pass subspace clustering with anchors that all views share (EOMSC-CA).

    Minimises Σ_v β_v² ‖X_v - P (W_v A)ᵀ‖² over projections W_v, anchors A and bipartite graphs P of samples and
    anchors with ``n_clusters`` connected components, which are the clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    views : dict or list, default=None
        Which columns belong to which view, when one table holds them all.
    similarity : {"auto", "precomputed"}, default="auto"
        Whether the views are features or kernels; the features of a kernel are its kernel principal components.
        Columns of features are standardised, those of kernels only centred.
    n_anchors : int or {"k", "2k", ..., "7k"}, default="k"
        Number of anchors, also as a multiple of ``n_clusters``. At least ``n_clusters`` and at most the number of
        samples are made.
    n_components : int or {"k", "2k", ..., "7k"}, default="k"
        Dimension of the common space.
    start : {"kmeans", "published"}, default="kmeans"
        Start at k-means of all views, or at the first samples and columns as in the authors' code, whose result depends
        on their order.
    updates : {"published", "exact"}, default="published"
        Updates of the authors' code, or the minimisers of the objective.
    max_iter : int, default=50
        Maximum number of rounds.
    tol : float, default=1e-4
        Relative change of the objective at which to stop.
    n_init : int, default=10
        Number of k-means starts.
    random_state : int, RandomState or None, default=None
        Seed of these starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    graph_ : csr_array of shape (n_samples, n_anchors)
        The learned graph P.
    n_components_ : int
        Number of its connected components; ``n_clusters`` if the method succeeded.
    n_anchors_ : int
        Number of anchors.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        Leading left singular vectors of P, normalised by the roots of its row and column sums.
    view_weights_ : ndarray of shape (n_views,)
        Weight β of every view; they sum to one.
    objective_ : ndarray of shape (n_iter_,)
        Value after every round. It may rise: P is not an exact minimiser.
    n_iter_ : int
        Number of rounds.
    converged_ : bool
        Whether the relative change of the objective fell below ``tol``.

    See Also
    --------
    latefusion.baselines.sfmc.BipartiteGraphFusion : Fuses given bipartite graphs.

    Notes
    -----
    If the graph does not have ``n_clusters`` components, a warning is issued and the labels come from spectral
    clustering: k-means on the leading left singular vectors of the graph of all positive entries of B.

    References
    ----------
    Liu, Wang, Zhang, Tu, Zhou, Liu, Zhu: Efficient One-Pass Multi-View Subspace Clustering with Consensus Anchors. AAAI
    2022.

    Examples
    --------
    >>> from latefusion.baselines.eomsc import OnePassSubspaceClustering
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, n_views=3, random_state=0)
    >>> model = OnePassSubspaceClustering(n_clusters=3, random_state=0).fit(data.views)
    >>> model.n_components_, model.graph_.shape
    (3, (60, 3))
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {
        "n_anchors": list(MULTIPLES),
        "n_components": list(MULTIPLES),
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BASE_CONSTRAINTS,
        "n_anchors": [Interval(Integral, 1, None, closed="left"), StrOptions(set(MULTIPLES))],
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions(set(MULTIPLES))],
        "start": [StrOptions({"kmeans", "published"})],
        "updates": [StrOptions({"published", "exact"})],
        **ITERATION_CONSTRAINTS,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Mapping[str, Any] | Sequence[Any] | None = None,
        similarity: Any = "auto",
        n_anchors: int | str = "k",
        n_components: int | str = "k",
        start: Literal["kmeans", "published"] = "kmeans",
        updates: Literal["published", "exact"] = "published",
        max_iter: int = 50,
        tol: float = 1e-4,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.n_anchors = n_anchors
        self.n_components = n_components
        self.start = start
        self.updates = updates
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> OnePassSubspaceClustering:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict or Views of arrays, or one array
            The views; rows are samples.
        y : ignored

        Returns
        -------
        OnePassSubspaceClustering
            The fitted estimator.
        """
        features = self._fit_rows(X)
        n_samples = features[0].shape[0]
        pairs = zip(features, self.view_inputs_, strict=True)
        views = [centered(view if kind == "precomputed" else unit_deviations(view)) for view, kind in pairs]
        self.n_anchors_ = min(max(self._multiple(self.n_anchors), self.n_clusters), n_samples)
        require_memory(
            4 * n_samples * self.n_anchors_ * 8,
            f"{type(self).__name__} connects {n_samples} samples to {self.n_anchors_} anchors, {n_samples} x "
            f"{self.n_anchors_} numbers in 4 copies: it",
            "Use a smaller n_anchors or fewer samples.",
        )
        result, factors = solve_eomsc(
            views,
            self._start(views),
            self.n_clusters,
            updates=self.updates,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self._store_graph(factors.graph, factors.n_components, ADVICE)
        self._store(result, warn=factors.n_components == self.n_clusters)
        return self

    def _multiple(self, number: int | str) -> int:
        return MULTIPLES[number] * self.n_clusters if isinstance(number, str) else int(number)

    def _start(self, views: Sequence[CenteredRows]) -> Start:
        n_components = self._multiple(self.n_components)
        if self.start == "published":
            return published_start(views, self.n_clusters, self.n_anchors_, n_components)
        generator = check_random_state(self.random_state)
        labels = order_free_labels(views, self.n_anchors_, n_init=self.n_init, generator=generator)
        return start_from_labels(views, labels, self.n_anchors_, n_components)


ADVICE = (
    "spectral clustering (k-means on the leading singular vectors of the graph of all positive entries). Another "
    "n_anchors, n_components or random_state may give a graph that separates."
)
