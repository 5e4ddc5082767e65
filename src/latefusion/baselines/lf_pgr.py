"""LF-PGR: late fusion with a proxy graph. A RECONSTRUCTION.

Named after Wang, Liu, Liu, Zhou, Zhu: Late Fusion Multiple Kernel Clustering with Proxy Graph Refinement. IEEE TNNLS,
2023. The published function cannot run: variables and a parameter are undefined, and an array is used with a wrong
number of dimensions. What is implemented here are the lines with two parameters that it contains as comments, and the
objective that they imply. The text of the paper was not available. So results of this class must not be compared with
those of that paper.

    min  Σ_p Tr(K_p (I - H_p H_pᵀ)) + λ Σ_p ‖H_p - Z H_p‖² + β ‖Z‖²
    subject to H_pᵀH_p = I, Z >= 0, Z 1 = 1, diag(Z) = 0

The base partitions of the views and one graph, in which every sample is a mean of others, refine each other.

==============  ======  ===================================================
here            symbol  shape
==============  ======  ===================================================
kernels         K_p     m matrices, n_samples x n_samples
partitions      H_p     m matrices, n_samples x n_clusters
graph           Z       n_samples x n_samples, rows sum to one
stacked         ℋ       the partitions side by side, n_samples x m n_clusters
consensus       F       n_samples x n_clusters
graph_weight    λ       number
regularization  β       number
==============  ======  ===================================================

1. H_p holds the leading eigenvectors of K_p + λ (Z + Zᵀ - I - ZᵀZ), the exact minimiser. The first are those of K_p.
2. Rows of Z: rows of G = S (S + β/λ I)⁻¹ with S = ℋℋᵀ, without their diagonal entry, projected on the simplex.

F holds the leading eigenvectors of (Z + Zᵀ)/2, and k-means on its rows gives the labels. Step 2 projects the
unconstrained minimiser. That is not the constrained one, so that the objective need not fall; ``updates="exact"``
minimises over the constraints by projected gradients, and the objective never rises.

A round costs m partial eigenproblems of size n and O(n² m k), memory is that of m + 4 matrices of size n x n: G comes
from a system of size m k, as S has rank m k at most.

``updates="published"`` repeats what look like slips of the commented lines: Z Zᵀ in place of ZᵀZ in step 1; the
diagonal of Z, one at the start, is never updated, so its rows sum to two; and one is subtracted from all entries of Z
at the end. Another difference: the code stops after 11 rounds at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from latefusion.arrays import require_memory, row_blocks, top_eigenpairs
from latefusion.baselines.base import ITERATION_CONSTRAINTS, KERNEL_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.kernel_kmeans import has_converged, partition_costs
from latefusion.baselines.support.simplex import project_rows_to_simplex
from latefusion.types import SolverResult

Kernels = Sequence[NDArray[Any]]
RowUpdates = Literal["projected", "exact", "published"]

# Steps of the exact update of the graph, and the relative change of the graph at which it stops.
GRADIENT_STEPS = 200
GRADIENT_TOLERANCE = 1e-7
# Entries of a block of rows that is projected at a time.
BLOCK_ENTRIES = 2**21


class ProxyGraph(NamedTuple):
    """The graph and the partitions of a solution.

    Attributes
    ----------
    graph : ndarray of shape (n_samples, n_samples)
        Z.
    partitions : ndarray of shape (n_views, n_samples, n_clusters)
        H_p.
    terms : ndarray of shape (n_iter, 3)
        The three terms of the objective after every round.
    """

    graph: NDArray[Any]
    partitions: NDArray[Any]
    terms: NDArray[Any]


def solve_lf_pgr(
    kernels: Kernels,
    n_clusters: int,
    *,
    graph_weight: float = 1.0,
    regularization: float = 1.0,
    updates: RowUpdates = "projected",
    max_iter: int = 100,
    tol: float = 1e-6,
) -> tuple[SolverResult, ProxyGraph]:
    """Update the partitions and the graph in turn.

    Parameters
    ----------
    kernels : sequence of ndarray of shape (n_samples, n_samples)
        Centred and scaled.
    n_clusters : int
    graph_weight : float, default=1.0
        λ.
    regularization : float, default=1.0
        β.
    updates : {"projected", "exact", "published"}, default="projected"
        Update of the graph; "published" also repeats three slips of the authors' lines.
    max_iter : int, default=100
    tol : float, default=1e-6
        Relative change of the objective at which to stop.

    Returns
    -------
    result : SolverResult
        The consensus is F.
    state : ProxyGraph
    """
    n_samples = len(kernels[0])
    as_published = updates == "published"
    graph = np.eye(n_samples)
    terms: list[list[float]] = []
    objective: list[float] = []
    converged = False
    while not converged and len(objective) < max_iter:
        penalty = _expression_penalty(graph, graph_weight, as_published)
        partitions = [top_eigenpairs(kernel + penalty, n_clusters)[1] for kernel in kernels]
        stacked = np.concatenate(partitions, axis=1)
        projected = projected_expression(stacked, regularization / graph_weight)
        if as_published:
            projected[np.diag_indices(n_samples)] = 1.0
        if updates == "exact":
            start = graph if terms else projected
            projected = exact_expression(stacked, projected, start, regularization / graph_weight)
        graph = projected
        terms.append(
            [
                sum(float(partition_costs([one], own)[0]) for one, own in zip(kernels, partitions, strict=True)),
                graph_weight * float(np.sum((stacked - graph @ stacked) ** 2)),
                regularization * float(np.sum(graph**2)),
            ]
        )
        objective.append(sum(terms[-1]))
        converged = has_converged(objective, tol)
    symmetric = 0.5 * (graph + graph.T)
    if as_published:
        symmetric -= 1.0
    consensus = top_eigenpairs(symmetric, n_clusters)[1]
    result = SolverResult(consensus, None, objective, len(objective), converged)
    return result, ProxyGraph(graph, np.stack(partitions), np.array(terms))


def _expression_penalty(graph: NDArray[Any], graph_weight: float, as_published: bool) -> NDArray[Any]:
    """λ (Z + Zᵀ - I - ZᵀZ)."""
    penalty: NDArray[Any] = graph @ graph.T if as_published else graph.T @ graph
    penalty *= -graph_weight
    penalty += graph_weight * graph
    penalty += graph_weight * graph.T
    penalty[np.diag_indices(len(graph))] -= graph_weight
    return penalty


def projected_expression(stacked: NDArray[Any], ratio: float) -> NDArray[Any]:
    """Rows of G = S (S + c I)⁻¹ projected on the simplex of the other samples.

    Parameters
    ----------
    stacked : ndarray of shape (n_samples, q)
        ℋ, with S = ℋℋᵀ.
    ratio : float
        c = β / λ.

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
        Rows sum to one, the diagonal is zero.
    """
    # S (S + c I)⁻¹ = ℋ (ℋᵀℋ + c I)⁻¹ ℋᵀ
    system = stacked.T @ stacked
    system[np.diag_indices(len(system))] += ratio
    return _project_off_diagonal(stacked @ scipy.linalg.solve(system, stacked.T, assume_a="pos"))


def exact_expression(stacked: NDArray[Any], projected: NDArray[Any], start: NDArray[Any], ratio: float) -> NDArray[Any]:
    """Minimise ‖ℋ - Zℋ‖² + c ‖Z‖² over rows of the simplex without the diagonal, by accelerated projected gradients.

    Parameters
    ----------
    stacked : ndarray of shape (n_samples, q)
    projected : ndarray of shape (n_samples, n_samples)
        From `projected_expression`.
    start : ndarray of shape (n_samples, n_samples)
        Feasible.
    ratio : float
        c.

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
        Not worse than ``start`` and ``projected``.
    """

    def value(candidate: NDArray[Any]) -> float:
        return float(np.sum((stacked - candidate @ stacked) ** 2) + ratio * np.sum(candidate**2))

    largest = float(np.linalg.eigvalsh(stacked.T @ stacked)[-1]) + ratio
    root = np.sqrt(largest / ratio)
    momentum = (root - 1.0) / (root + 1.0)
    best = min((start, projected), key=value)
    lowest, previous, ahead = value(best), best, best
    for _ in range(GRADIENT_STEPS):
        gradient = (ahead @ stacked - stacked) @ stacked.T + ratio * ahead
        moved = _project_off_diagonal(ahead - gradient / largest)
        reached = value(moved)
        if reached <= lowest:
            best, lowest = moved, reached
        if np.linalg.norm(moved - previous) <= GRADIENT_TOLERANCE * np.linalg.norm(previous):
            break
        ahead = moved + momentum * (moved - previous)
        previous = moved
    return best


def _project_off_diagonal(matrix: NDArray[Any]) -> NDArray[Any]:
    """Rows without their diagonal entry on the simplex; the diagonal is zero."""
    n_samples = len(matrix)
    if n_samples == 1:  # there is no other sample
        return np.zeros((1, 1))
    projected = np.empty_like(matrix)
    for block in row_blocks(n_samples, max(1, BLOCK_ENTRIES // n_samples)):
        rows = matrix[block].copy()
        diagonal = np.arange(len(rows)), np.arange(block.start, block.stop)
        rows[diagonal] = -np.inf
        # An entry one below the largest of its row is projected to zero, so two below is as good as absent.
        rows[diagonal] = rows.max(axis=1) - 2.0
        projected[block] = project_rows_to_simplex(rows)
    return projected


class ProxyGraphRefinement(ComparisonMethod):
    """Late fusion in which base partitions and a graph refine each other (LF-PGR), a RECONSTRUCTION.

    Minimises the kernel k-means cost of the base partitions H_p, the error λ Σ_p ‖H_p - Z H_p‖² of writing every sample
    as a mean of others, and β ‖Z‖². The published function cannot run; this class follows lines that it contains as
    comments, with corrections. Do not compare its results with the published ones.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    views : dict or list, default=None
        Which columns belong to which view, when one table holds them all.
    similarity : {"auto", "kernel", "graph", "precomputed"}, default="auto"
        Whether the views are features, compared by a kernel or by a graph of neighbours, or kernels already computed.
    kernel : str or callable, default="gaussian"
        Kernel of every view.
    kernel_params : dict, default=None
        Parameters of the kernel; those left out come from the data.
    graph_weight : float, default=1.0
        Weight λ of the graph.
    regularization : float, default=1.0
        Weight β of the squared norm of the graph; a larger one gives more neighbours.
    updates : {"projected", "exact", "published"}, default="projected"
        Update of the graph. "projected" projects the unconstrained minimiser, as the authors' lines do; "exact"
        minimises over the constraints, and the objective never rises; "published" is "projected" with three slips.
    max_iter : int, default=100
        Maximum number of rounds.
    tol : float, default=1e-6
        Relative change of the objective at which to stop.
    n_init : int, default=10
        Number of k-means starts for the labels.
    random_state : int, RandomState or None, default=None
        Seed of these starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    graph_ : csr_array of shape (n_samples, n_samples)
        The graph Z; rows sum to one.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        Leading eigenvectors of the symmetrised graph.
    view_embeddings_ : ndarray of shape (n_views, n_samples, n_clusters)
        The refined base partitions H_p.
    objective_ : ndarray of shape (n_iter_,)
        Objective after every round.
    n_iter_ : int
        Number of rounds.
    converged_ : bool
        Whether the objective converged before ``max_iter``.

    See Also
    --------
    latefusion.GlobalAlignmentClustering : Late fusion without a graph.

    References
    ----------
    Wang, Liu, Liu, Zhou, Zhu: Late Fusion Multiple Kernel Clustering with Proxy Graph Refinement. IEEE TNNLS, 2023 (its
    idea, and lines of its code).

    Examples
    --------
    >>> from latefusion.baselines.lf_pgr import ProxyGraphRefinement
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, n_views=3, random_state=0)
    >>> model = ProxyGraphRefinement(n_clusters=3, random_state=0).fit(data.views)
    >>> model.graph_.shape
    (60, 60)
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {
        "graph_weight": [2.0**power for power in range(-5, 6)],
        "regularization": [10.0**power for power in range(-5, 6, 2)],
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "graph_weight": [Interval(Real, 0, None, closed="neither")],
        "regularization": [Interval(Real, 0, None, closed="neither")],
        "updates": [StrOptions({"projected", "exact", "published"})],
        **ITERATION_CONSTRAINTS,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Any = None,
        similarity: Any = "auto",
        kernel: Any = "gaussian",
        kernel_params: Any = None,
        graph_weight: float = 1.0,
        regularization: float = 1.0,
        updates: RowUpdates = "projected",
        max_iter: int = 100,
        tol: float = 1e-6,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.graph_weight = graph_weight
        self.regularization = regularization
        self.updates = updates
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> ProxyGraphRefinement:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict, Views, array or data frame
            The views.
        y : ignored

        Returns
        -------
        ProxyGraphRefinement
            The fitted estimator.
        """
        kernels = self._fit_kernels(X)
        n_samples = len(kernels[0])
        require_memory(
            3 * n_samples**2 * 8,
            f"ProxyGraphRefinement learns a {n_samples} x {n_samples} graph: with two matrices of the same size it",
            "Use fewer samples, or GlobalAlignmentClustering, which needs no graph.",
        )
        result, state = solve_lf_pgr(
            kernels,
            self.n_clusters,
            graph_weight=self.graph_weight,
            regularization=self.regularization,
            updates=self.updates,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self.graph_ = csr_array(state.graph)
        self.view_embeddings_ = state.partitions
        self._store(result)
        return self
