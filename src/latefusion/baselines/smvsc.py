"""SMVSC: scalable multi-view subspace clustering with unified anchors.

    min  Σ_v α_v² ‖X̃_v - Z (W_v A)ᵀ‖² + λ ‖Z‖²
    subject to W_vᵀW_v = I, AᵀA = I, rows of Z on the probability simplex, α >= 0, Σ_v α_v = 1

Anchors A live in a space that all views share, and are learned together with one anchor graph Z. The left singular
vectors of Z are the embedding.

==============  =====  ================================================
here            paper  shape
==============  =====  ================================================
views           X_v    m standardised views, n_samples x n_features_v
maps            W_v    m matrices, n_features_v x n_components
anchors         A      n_components x n_anchors
graph           Zᵀ     n_samples x n_anchors
weights         α      m, on the simplex
regularization  λ      number
==============  =====  ================================================

A round costs O(n r D) for r anchors and D columns in all, memory is O(n (D + r)). Blocks and their derivation are in
`latefusion.baselines.support.unified_anchors`.

Differences from the authors' code:

- Rows of Z are projections of Σ_v X̃_v W_v A / (Σ_v α_v² + λ), as in the code. The sum has no α_v², unlike in the
  minimiser, so that rows of Z are nearly one-hot and the objective may rise. ``updates="exact"`` takes the minimiser;
  with n_anchors <= n_components <= n_features_v in every view the objective then never rises. It gives most weight to
  views with few columns, and often finds worse clusters.
- The code starts from the first samples and the first columns, so its result depends on the order of both
  (``init="published"``). The default starts from k-means of all views.
- Rows of Z come from a projection by sorting instead of one quadratic programme per sample.
- Singular vectors of singular values that are rounding errors are left out; in the code they are arbitrary vectors.

With n_anchors = n_components the anchors A have no effect: every orthogonal A is absorbed by the maps.

Sun, Zhang, Wang, Zhou, Tu, Liu, Zhu, Wang: Scalable Multi-view Subspace Clustering with Unified Anchors. ACM
Multimedia, 2021.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from latefusion.baselines.base import BASE_CONSTRAINTS, ITERATION_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.unified_anchors import (
    AnchorModel,
    Pull,
    Start,
    Updates,
    anchor_rounds,
    count_anchors,
    fit_graph,
    inverse_squared_residuals,
    kmeans_start,
    left_singular_vectors,
    published_start,
)
from latefusion.types import Array, SolverResult

# The authors test for convergence from this round on.
FIRST_TEST = 10


def solve_smvsc(
    views: Sequence[Array],
    start: Start,
    *,
    regularization: float = 1.0,
    updates: Updates = "published",
    n_vectors: int | None = None,
    max_iter: int = 50,
    tol: float = 1e-3,
) -> tuple[SolverResult, AnchorModel]:
    """Learn unified anchors and the anchor graph.

    Parameters
    ----------
    views : sequence of ndarray or CenteredRows of shape (n_samples, n_features_p)
        Standardised views.
    start : Start
    regularization : float, default=1.0
        λ.
    updates : {"published", "exact"}, default="published"
        Rows of Z of the authors' code, or the minimisers of the objective.
    n_vectors : int, default=None
        Number of singular vectors of Z; by default all.
    max_iter : int, default=50
    tol : float, default=1e-3
        Relative change of the objective at which to stop, from round 10 on.

    Returns
    -------
    result : SolverResult
        The consensus holds the left singular vectors of Z.
    model : AnchorModel
        The last round.
    """

    def update_graph(maps: list[NDArray[Any]], anchors: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
        return fit_graph(views, maps, anchors, weights, Pull(regularization), updates=updates)

    objective: list[float] = []
    converged = False
    for model in anchor_rounds(views, start, update_graph, inverse_squared_residuals):
        penalty = regularization * np.vdot(model.graph, model.graph)
        objective.append(float(model.weights**2 @ model.squared_residuals + penalty))
        if len(objective) >= max(FIRST_TEST, 2):
            converged = abs(objective[-2] - objective[-1]) < tol * abs(objective[-2])
        if converged or len(objective) == max_iter:
            break
    embedding = left_singular_vectors(model.graph, n_vectors)
    return SolverResult(embedding, model.weights, objective, len(objective), converged), model


class UnifiedAnchorClustering(ComparisonMethod):
    """Subspace clustering with anchors that all views share (SMVSC).

    Minimises Σ_v α_v² ‖X̃_v - Z (W_v A)ᵀ‖² + λ ‖Z‖² over maps W_v and anchors A with orthonormal columns, an anchor
    graph Z with rows on the probability simplex, and weights α. Columns of the views are standardised.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    views : dict or list, default=None
        Which columns belong to which view, when one table holds them all.
    similarity : {"auto", "precomputed"}, default="auto"
        Whether the views are features or kernels; the features of a kernel are its kernel principal components, which
        are not standardised.
    n_anchors : int or {"k", "2k", "3k"}, default="k"
        Number of anchors, at least ``n_clusters``: a number or a multiple of the number of clusters. At most one per
        sample.
    n_components : int, default=None
        Dimension of the common space; by default the number of clusters.
    regularization : float, default=1.0
        Weight λ of the squared norm of the graph.
    updates : {"published", "exact"}, default="published"
        Graph of the authors' code, or the minimiser of the objective.
    init : {"kmeans", "published"}, default="kmeans"
        Start from k-means of all views, or from the first samples and columns as in the authors' code.
    embedding : {"all", "leading"}, default="all"
        Whether all singular vectors of the graph, as in the authors' code, or the first ``n_clusters`` are clustered.
    max_iter : int, default=50
        Maximum number of rounds.
    tol : float, default=1e-3
        Relative change of the objective at which to stop, from round 10 on.
    n_init : int, default=10
        Number of k-means starts for the labels and for the start.
    random_state : int, RandomState or None, default=None
        Seed of these starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    consensus_ : ndarray of shape (n_samples, n_vectors)
        Left singular vectors of the anchor graph.
    anchor_graph_ : ndarray of shape (n_samples, n_anchors)
        Weights of the anchors in every sample; rows sum to one.
    view_weights_ : ndarray of shape (n_views,)
        Weights α.
    objective_ : ndarray of shape (n_iter_,)
        Objective after every round. It may rise with ``updates="published"``.
    n_iter_ : int
        Number of rounds.
    converged_ : bool
        Whether the relative change of the objective fell below ``tol``.

    See Also
    --------
    latefusion.baselines.fpmvs.ParameterFreeAnchorClustering : The same without the penalty.

    References
    ----------
    Sun, Zhang, Wang, Zhou, Tu, Liu, Zhu, Wang: Scalable Multi-view Subspace Clustering with Unified Anchors. ACM
    Multimedia, 2021.

    Examples
    --------
    >>> from latefusion.baselines.smvsc import UnifiedAnchorClustering
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, 3, n_views=2, random_state=0)
    >>> model = UnifiedAnchorClustering(n_clusters=3, random_state=0).fit(data.views)
    >>> model.anchor_graph_.shape
    (60, 3)
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {"n_anchors": ["k", "2k", "3k"]}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BASE_CONSTRAINTS,
        "n_anchors": [Interval(Integral, 1, None, closed="left"), StrOptions({"k", "2k", "3k"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "regularization": [Interval(Real, 0, None, closed="left")],
        "updates": [StrOptions({"published", "exact"})],
        "init": [StrOptions({"kmeans", "published"})],
        "embedding": [StrOptions({"all", "leading"})],
        **ITERATION_CONSTRAINTS,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Mapping[str, Any] | Sequence[Any] | None = None,
        similarity: Any = "auto",
        n_anchors: int | str = "k",
        n_components: int | None = None,
        regularization: float = 1.0,
        updates: Updates = "published",
        init: Literal["kmeans", "published"] = "kmeans",
        embedding: Literal["all", "leading"] = "all",
        max_iter: int = 50,
        tol: float = 1e-3,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.n_anchors = n_anchors
        self.n_components = n_components
        self.regularization = regularization
        self.updates = updates
        self.init = init
        self.embedding = embedding
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> UnifiedAnchorClustering:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict, Views, array or data frame
            The views.
        y : ignored

        Returns
        -------
        UnifiedAnchorClustering
        """
        views = self._fit_standardized(X)
        result, model = solve_smvsc(
            views,
            self._start(views, count_anchors(self.n_anchors, self.n_clusters, views[0].shape[0])),
            regularization=self.regularization,
            updates=self.updates,
            n_vectors=None if self.embedding == "all" else self.n_clusters,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self.anchor_graph_ = model.graph
        self._store(result, self._cluster_embedding(result.consensus))
        return self

    def _start(self, views: Sequence[Array], n_anchors: int) -> Start:
        n_components = self.n_components or self.n_clusters
        if self.init == "published":
            return published_start(views, n_anchors, n_components)
        generator = check_random_state(self.random_state)
        return kmeans_start(views, n_anchors, n_components, n_init=self.n_init, generator=generator)
