"""GMC: graph-based multi-view clustering (Wang, Yang, Liu: GMC: graph-based multi-view clustering. IEEE Trans. Knowledge
and Data Engineering, 2019).

    min  Σ_v [ Σ_ij d^v_ij s^v_ij + γ ‖S_v‖² ] + Σ_v w_v ‖U - S_v‖² + 2λ Tr(FᵀL_U F),

over rows of S_v and U on the probability simplex and FᵀF = I, with w_v = 1 / (2 ‖U - S_v‖_F). The view graphs and the
unified graph U correct each other; λ drives U to exactly k components. γ disappears: it is set, sample by sample, so that
q neighbours remain.

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

The authors' code departs from the minimiser of this objective twice, and is the default (``updates="published"``): U is drawn
to the plain mean, u_i = proj(mean_v(s^v_i - λ / (2 m w_v) d_i)), and the rows of S_v keep the order of the distances d even
where U changes it, so they need not sum to one, and where U outweighs nearly equal distances the order turns upside down.
``updates="exact"`` takes u_i = proj((Σ_v w_v s^v_i - (λ/2) d_i) / Σ_v w_v) and ranks the neighbours anew.

Our own departures: duplicated samples are never their own neighbours (in the code a twin can push a sample into its own
list), components are counted in the graph, and only the k eigenvectors needed are computed.
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

from latefusion.base import BASE_CONSTRAINTS, ComparisonMethod
from latefusion.partitions.adaptive import (
    Neighbors,
    adaptive_weights,
    laplacian_eigenvectors,
    neighbor_graph,
    reach_components,
    warn_component_count,
)
from latefusion.solvers.rank_constraint import ConstrainedGraph, penalized_rows, steer_penalty
from latefusion.types import SolverResult

Graphs = Sequence[scipy.sparse.csr_array]


def solve_gmc(
    neighbors: Sequence[Neighbors], n_clusters: int, *, updates: str = "published", max_iter: int = 20
) -> tuple[SolverResult, ConstrainedGraph]:
    """The unified graph of all views, driven to ``n_clusters`` components.

    Parameters
    ----------
    neighbors : sequence of Neighbors
        Nearest samples in every view.
    n_clusters : int
    updates : {"published", "exact"}, default="published"
        Those of the authors' code, or the minimisers of the objective.
    max_iter : int, default=20

    Returns
    -------
    result : SolverResult
        The consensus is F, the objective Σ_v ‖U - S_v‖_F; labels are given where U has ``n_clusters`` components.
    state : ConstrainedGraph
        The graph U.
    """
    update = UPDATES[updates]
    graphs = [_stored(near, adaptive_weights(near)) for near in neighbors]
    unified = _mean(graphs)
    embedding = laplacian_eigenvectors(unified, n_clusters)
    weights = np.full(len(graphs), 1.0 / len(graphs))
    penalty = 1.0
    objective: list[float] = []
    converged = False
    while len(objective) < max_iter and not converged:
        graphs = [
            _stored(near, update.rows(near, _effective_distances(near, unified, weight)))
            for near, weight in zip(neighbors, weights, strict=True)
        ]
        weights = _view_weights(_disagreements(unified, graphs))
        target, strength = update.target(graphs, weights)
        unified = penalized_rows(target, embedding, 0.5 * penalty * strength)
        state, penalty = steer_penalty(unified, embedding, penalty)
        embedding = state.embedding
        objective.append(float(_disagreements(unified, graphs).sum()))
        converged = state.n_components == n_clusters
    weights = _view_weights(_disagreements(unified, graphs))
    labels = state.labels if converged else None
    return SolverResult(embedding, weights, objective, len(objective), converged, labels=labels), state


def _effective_distances(near: Neighbors, unified: scipy.sparse.csr_array, weight: float) -> NDArray[Any]:
    # e_ij = d_ij - 2 w u_ij: completing the square, the distances that the view graph sees once U has its say
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


def _disagreements(unified: scipy.sparse.csr_array, graphs: Graphs) -> NDArray[Any]:
    return np.array([scipy.sparse.linalg.norm(unified - graph) for graph in graphs])


def _view_weights(disagreements: NDArray[Any]) -> NDArray[Any]:
    weights: NDArray[Any] = 0.5 / np.maximum(disagreements, np.finfo(float).eps)
    return weights


def _published_target(graphs: Graphs, weights: NDArray[Any]) -> tuple[scipy.sparse.csr_array, float]:
    return _mean(graphs), float((1.0 / weights).sum()) / len(graphs) ** 2


def _exact_target(graphs: Graphs, weights: NDArray[Any]) -> tuple[scipy.sparse.csr_array, float]:
    shares = weights / weights.mean()
    return _mean([graph * share for graph, share in zip(graphs, shares, strict=True)]), 1.0 / float(weights.sum())


class Updates(NamedTuple):
    """The two block updates in which the authors' code and the objective differ."""

    rows: Callable[[Neighbors, NDArray[Any]], NDArray[Any]]
    target: Callable[[Graphs, NDArray[Any]], tuple[scipy.sparse.csr_array, float]]


UPDATES = {
    "published": Updates(_published_rows, _published_target),
    "exact": Updates(_exact_rows, _exact_target),
}


def _mean(graphs: Graphs) -> scipy.sparse.csr_array:
    return (sum(graphs[1:], graphs[0]) / len(graphs)).tocsr()


def _stored(near: Neighbors, weights: NDArray[Any]) -> scipy.sparse.csr_array:
    graph = neighbor_graph(near, weights)
    graph.eliminate_zeros()
    return graph
