"""SWMC: self-weighted multi-view clustering with one graph (Nie, Li, Li: Self-weighted multiview clustering with multiple
graphs. IJCAI, 2017).

    min_S  Σ_v ‖S - A_v‖_F,    rows of S on the probability simplex,  rank(L_S) = n - k.

The norms are not squared, so every view gets the weight α_v = 1 / (2 ‖S - A_v‖_F) by itself, and S solves the squared
problem with those weights under the rank constraint (`latefusion.solvers.rank_constraint`).

============  ======  ====================================================
here          paper   shape
============  ======  ====================================================
graphs        A_v     m sparse matrices, n_samples x n_samples, symmetric
graph         S       n_samples x n_samples, sparse
weights       α       m, positive, not normalised
embedding     F       n_samples x n_clusters
============  ======  ====================================================

An inner step costs O(ek) for a graph with e edges and k eigenvectors of a sparse matrix; memory is that of the graphs.
The objective falls as a rule, but the rank constraint is met by a search over its penalty, so a small rise is possible.

Departures from the authors' code: weights start equal instead of random, and an outer round that failed to reach k
components hands on its last sound embedding instead of an arbitrary one.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from latefusion.base import BASE_CONSTRAINTS, ComparisonMethod
from latefusion.partitions.adaptive import (
    laplacian_eigenvectors,
    reach_components,
    symmetrize,
    warn_component_count,
)
from latefusion.solvers.rank_constraint import ConstrainedGraph, constrain_components
from latefusion.types import SolverResult


def solve_swmc(
    graphs: Sequence[scipy.sparse.csr_array], n_clusters: int, *, max_iter: int = 50, tol: float = 1e-8
) -> tuple[SolverResult, ConstrainedGraph]:
    """One graph with ``n_clusters`` components near the graphs of all views.

    Parameters
    ----------
    graphs : sequence of csr_array of shape (n_samples, n_samples)
        Non-negative, without stored zeros.
    n_clusters : int
    max_iter : int, default=50
        Most outer rounds, and most values of the penalty in each.
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
    embedding = laplacian_eigenvectors(_combine(graphs, weights), n_clusters)
    objective: list[float] = []
    converged = False
    while len(objective) < max_iter and not converged:
        target = _combine(graphs, weights)
        state = constrain_components(target, embedding, scale=float(weights.sum()), max_iter=max_iter)
        embedding = state.embedding
        distances = np.array([scipy.sparse.linalg.norm(state.graph - graph) for graph in graphs])
        # A view whose graph is already the answer would get an infinite weight.
        weights = 0.5 / np.maximum(distances, np.finfo(float).eps)
        objective.append(float(distances.sum()))
        converged = len(objective) > 1 and abs(objective[-2] - objective[-1]) < tol
    labels = state.labels if state.n_components == n_clusters else None
    return SolverResult(embedding, weights, objective, len(objective), converged, labels=labels), state


def _combine(graphs: Sequence[scipy.sparse.csr_array], weights: Any) -> scipy.sparse.csr_array:
    total = weights[0] * graphs[0]
    for weight, graph in zip(weights[1:], graphs[1:], strict=True):
        total = total + weight * graph
    return total.tocsr()
