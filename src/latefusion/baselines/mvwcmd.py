"""MvWCMD: a weighted consensus graph, discretised by a matrix decomposition. A RECONSTRUCTION.

Named after Chen, Huang, Wang, Huang: Multi-view Spectral Clustering via Multi-view Weighted Consensus and
Matrix-Decomposition Based Discretization. DASFAA 2019. Neither the section that describes the method nor its code was
available. What is known: a consensus proximity matrix is learned from weighted views, discrete labels are learned at
the same time, and the discretisation is a matrix decomposition. Everything else is our interpretation, so results of
this class must not be compared with those of that paper.

    min  Σ_v ‖S - A_v‖_F + 2α Tr(FᵀL_S F) + β ‖F - YG‖_F²,

over rows of S on the probability simplex, FᵀF = I, one-hot Y without empty columns, and G free.

================  ======  ========================================================
here              symbol  shape
================  ======  ========================================================
graphs            A_v     m sparse matrices, n_samples x n_samples
consensus graph   S       n_samples x n_samples, edges of any A_v
embedding         F       n_samples x n_clusters, orthonormal columns
labels            Y       n_samples, one of n_clusters each
centers           G       n_clusters x n_clusters
weights           w       m, w_v = 1 / (2 ‖S - A_v‖_F)
smoothness        α       number
discretization    β       number
================  ======  ========================================================

Every block is minimised or lowered in turn: with the weights above, Σ_v w_v ‖S - A_v‖² majorises the first term, F
rises on a convex function by generalised power steps, G and Y are a k-means step. So the objective never rises. A
round costs O(ek) for e edges times the number of power steps, and O(nk²); memory is that of the graphs.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import array_api_compat.numpy as xp
import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from latefusion.arrays import polar
from latefusion.assignment import assign_by_kmeans
from latefusion.baselines.base import BASE_CONSTRAINTS, ITERATION_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.graphs import (
    combine_graphs,
    laplacian_eigenvectors,
    mean_graph,
    reach_components,
    symmetrize,
)
from latefusion.baselines.support.kernel_kmeans import has_converged
from latefusion.baselines.support.rank_constraint import graph_distances, penalized_rows, self_weights
from latefusion.similarities.adaptive import without_zeros
from latefusion.types import SolverResult

# Power steps per round; F needs no convergence within a round for the objective to fall.
MAX_POWER_STEPS = 30


def solve_mvwcmd(
    graphs: Sequence[scipy.sparse.csr_array],
    embedding: NDArray[Any],
    labels: NDArray[np.intp],
    *,
    smoothness: float = 1.0,
    discretization: float = 1.0,
    max_iter: int = 100,
    tol: float = 1e-5,
) -> tuple[SolverResult, scipy.sparse.csr_array]:
    """Update the consensus graph, the embedding and the labels in turn.

    Parameters
    ----------
    graphs : sequence of csr_array of shape (n_samples, n_samples)
        Rows sum to one.
    embedding : ndarray of shape (n_samples, n_clusters)
        Start of F.
    labels : ndarray of shape (n_samples,)
        Start of Y; every cluster has a member.
    smoothness : float, default=1.0
        The weight α of the embedding's smoothness on the graph.
    discretization : float, default=1.0
        The weight β of its distance to k points.
    max_iter : int, default=100
    tol : float, default=1e-5
        Relative change of the objective at which to stop.

    Returns
    -------
    result : SolverResult
        The consensus is F.
    graph : csr_array of shape (n_samples, n_samples)
        The consensus graph S.
    """
    graph = mean_graph(graphs)
    centers = cluster_centers(embedding, labels)
    objective: list[float] = []
    converged = False
    while len(objective) < max_iter and not converged:
        weights = self_weights(graph_distances(graph, graphs))
        target = combine_graphs(graphs, weights)
        graph = penalized_rows(target, embedding, 0.5 * smoothness, scale=float(weights.sum()))
        laplacian = _laplacian(graph)
        embedding = power_steps(laplacian, embedding, centers[labels], smoothness, discretization)
        centers = cluster_centers(embedding, labels)
        labels = nearest_labels(embedding, centers, labels)
        centers = cluster_centers(embedding, labels)
        disagreement = float(graph_distances(graph, graphs).sum())
        rough = float(np.vdot(embedding, laplacian @ embedding))
        spread = float(np.sum((embedding - centers[labels]) ** 2))
        objective.append(disagreement + 2 * smoothness * rough + discretization * spread)
        converged = has_converged(objective, tol)
    weights = self_weights(graph_distances(graph, graphs))
    return SolverResult(embedding, weights, objective, len(objective), converged, labels=labels), graph


def power_steps(
    laplacian: scipy.sparse.csr_array,
    embedding: NDArray[Any],
    points: NDArray[Any],
    smoothness: float,
    discretization: float,
) -> NDArray[Any]:
    """Lower 2α Tr(FᵀLF) + β ‖F - P‖² over orthonormal F; ``points`` is P = YG, one row per sample."""
    # F ← polar((ηI - 2αL)F + βP) with η above the spectrum of 2αL: a maximisation of a convex function by its tangents
    above = 4.0 * smoothness * float(laplacian.diagonal().max())
    previous = -np.inf
    for _ in range(MAX_POWER_STEPS):
        pull = above * embedding - 2.0 * smoothness * (laplacian @ embedding) + discretization * points
        step = polar(pull, xp=xp)
        embedding = step.isometry
        if step.nuclear_norm <= previous * (1.0 + 1e-9):
            break
        previous = step.nuclear_norm
    return embedding


def cluster_centers(embedding: NDArray[Any], labels: NDArray[np.intp]) -> NDArray[Any]:
    """Mean row of every cluster: G = (YᵀY)⁻¹YᵀF."""
    n_clusters = embedding.shape[1]
    sums = np.zeros((n_clusters, n_clusters))
    np.add.at(sums, labels, embedding)
    centers: NDArray[Any] = sums / np.bincount(labels, minlength=n_clusters)[:, None]
    return centers


def nearest_labels(embedding: NDArray[Any], centers: NDArray[Any], labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Assign every sample to its nearest centre; a cluster that would become empty keeps its cheapest member.

    The cheapest member is the one whose distance to its old centre exceeds that to the nearest one least. A sample that
    stays does not change the objective, so that the objective does not rise. Every step fixes one sample, so the loop
    ends.
    """
    squared = (centers**2).sum(axis=1) - 2.0 * embedding @ centers.T
    moved: NDArray[np.intp] = np.argmin(squared, axis=1)
    samples = np.arange(len(labels))
    regret = squared[samples, labels] - squared[samples, moved]
    n_clusters = len(centers)
    while (empty := np.flatnonzero(np.bincount(moved, minlength=n_clusters) == 0)).size:
        former = np.flatnonzero(labels == empty[0])
        called_back = former[np.argmin(regret[former])]
        moved[called_back] = empty[0]
    return moved


def _laplacian(graph: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    weights = symmetrize(graph)
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    return (scipy.sparse.diags_array(degrees) - weights).tocsr()


class WeightedDiscreteConsensus(ComparisonMethod):
    """Weighted consensus graph with discretisation by matrix decomposition (MvWCMD), a RECONSTRUCTION.

    Learns a consensus graph from self-weighted views, its embedding, and discrete labels, all with one objective. The
    publication gives its name and its idea; the algorithm is our interpretation, because neither the description of the
    method nor its code was available. Do not compare its results with the published ones.

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
    smoothness : float, default=1.0
        Weight α of the smoothness of the embedding on the consensus graph.
    discretization : float, default=1.0
        Weight β of the distance of the embedding to its cluster centres.
    max_iter : int, default=100
        Maximum number of rounds.
    tol : float, default=1e-5
        Relative change of the objective at which to stop.
    n_init : int, default=10
        Number of k-means starts for the labels to start from.
    random_state : int, RandomState or None, default=None
        Seed of these starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    graph_ : csr_array of shape (n_samples, n_samples)
        The consensus graph, rows sum to one.
    n_neighbors_ : int
        Number of neighbours in the graphs of the views.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        The embedding, orthonormal columns.
    view_weights_ : ndarray of shape (n_views,)
        Inverse distances of the views' graphs to the consensus graph, scaled to sum one.
    objective_ : ndarray of shape (n_iter_,)
        Objective after every round; it never rises.
    n_iter_ : int
        Number of rounds.
    converged_ : bool
        Whether the objective converged before ``max_iter``.

    See Also
    --------
    latefusion.baselines.swmc.SelfWeightedGraph : The same weights, clusters from connected components.

    References
    ----------
    Chen, Huang, Wang, Huang: Multi-view Spectral Clustering via Multi-view Weighted Consensus and
    Matrix-Decomposition Based Discretization. DASFAA 2019 (its name and idea only).

    Examples
    --------
    >>> from latefusion.baselines.mvwcmd import WeightedDiscreteConsensus
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, n_views=2, n_uninformative=1, random_state=0)
    >>> model = WeightedDiscreteConsensus(n_clusters=3, random_state=0).fit(data.views)
    >>> model.view_weights_.round(2)
    array([0.41, 0.35, 0.24])
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {
        "smoothness": [10.0**power for power in range(-3, 4)],
        "discretization": [10.0**power for power in range(-3, 4)],
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BASE_CONSTRAINTS,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "smoothness": [Interval(Real, 0, None, closed="neither")],
        "discretization": [Interval(Real, 0, None, closed="neither")],
        **ITERATION_CONSTRAINTS,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Any = None,
        similarity: Any = "auto",
        n_neighbors: int = 15,
        smoothness: float = 1.0,
        discretization: float = 1.0,
        max_iter: int = 100,
        tol: float = 1e-5,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.n_neighbors = n_neighbors
        self.smoothness = smoothness
        self.discretization = discretization
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> WeightedDiscreteConsensus:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict or Views of arrays, or one array
            The views; rows are samples.
        y : ignored

        Returns
        -------
        WeightedDiscreteConsensus
            The fitted estimator.
        """
        neighbors, graphs = reach_components(self._fit_features(X), self.n_neighbors, self.n_clusters)
        start = laplacian_eigenvectors(mean_graph(graphs), self.n_clusters)
        labels, _ = assign_by_kmeans(start, self.n_clusters, n_init=self.n_init, random_state=self.random_state)
        result, graph = solve_mvwcmd(
            graphs,
            start,
            labels,
            smoothness=self.smoothness,
            discretization=self.discretization,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self.n_neighbors_ = neighbors[0].n_neighbors
        self.graph_ = without_zeros(graph)
        self._store(result._replace(weights=result.weights / result.weights.sum()))
        return self
