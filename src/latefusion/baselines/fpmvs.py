"""FPMVS-CAG: fast parameter-free multi-view subspace clustering with consensus anchor guidance.

    min  Σ_v α_v² ‖X̃_v - Z (W_v A)ᵀ‖²
    subject to W_vᵀW_v = I, AᵀA = I, rows of Z on the probability simplex, α >= 0, Σ_v α_v = 1

The problem of SMVSC without its penalty, with as many anchors and dimensions of the common space as clusters, and a
fixed number of rounds: no parameter is left.

==============  =====  ================================================
here            paper  shape
==============  =====  ================================================
views           X_v    m standardised views, n_samples x n_features_v
maps            W_v    m matrices, n_features_v x n_clusters
anchors         A      n_clusters x n_clusters
graph           Zᵀ     n_samples x n_clusters
weights         α      m, on the simplex
==============  =====  ================================================

A round costs O(n k D) for D columns in all, memory is O(n (D + k)). Blocks and their derivation are in
`latefusion.baselines.support.unified_anchors`.

The authors publish no readable code. This follows the paper and a readable copy by a third party.

- Weights α_v are proportional to 1 / r_v in the paper and in the copy, r_v = ‖X̃_v - Z (W_v A)ᵀ‖
  (``weighting="inverse"``). The minimiser of the objective, and the weights in a result that the authors stored, are
  proportional to 1 / r_v² (``weighting="inverse_square"``).
- Rows of Z are projections of Σ_v X̃_v W_v A / Σ_v α_v². The sum has no α_v², unlike in the minimiser. So rows of Z are
  nearly one-hot and the objective may rise, although the paper states that it falls. SMVSC with ``regularization=0``
  and ``updates="exact"`` takes the minimiser.
- The copy starts from the first samples and the first columns, so its result depends on the order of both
  (``init="published"``). The default starts from k-means of all views.

The anchors A are square and orthogonal here, so the maps absorb them: they have no effect.

Wang, Liu, Zhu, Zhang, Zhang, Gao, Zhu: Fast Parameter-free Multi-view Subspace Clustering with Consensus Anchor
Guidance. IEEE Transactions on Image Processing, 2022.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from latefusion.baselines.base import BASE_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.unified_anchors import (
    AnchorModel,
    Pull,
    Start,
    anchor_rounds,
    fit_graph,
    has_settled,
    inverse_squared_residuals,
    kmeans_start,
    left_singular_vectors,
    published_start,
)
from latefusion.types import Array, SolverResult

Weighting = Literal["inverse", "inverse_square", "equal"]


def _inverse_residuals(squared_residuals: NDArray[Any]) -> NDArray[Any]:
    return inverse_squared_residuals(np.sqrt(squared_residuals))


def _equal_weights(squared_residuals: NDArray[Any]) -> NDArray[Any]:
    return np.full(len(squared_residuals), 1.0 / len(squared_residuals))


WEIGHTINGS = {"inverse": _inverse_residuals, "inverse_square": inverse_squared_residuals, "equal": _equal_weights}


def solve_fpmvs(
    views: Sequence[Array], start: Start, *, weighting: Weighting = "inverse", max_iter: int = 20
) -> tuple[SolverResult, AnchorModel]:
    """Learn as many unified anchors as clusters, and the anchor graph.

    Parameters
    ----------
    views : sequence of ndarray or CenteredRows of shape (n_samples, n_features_p)
        Standardised views.
    start : Start
    weighting : {"inverse", "inverse_square", "equal"}, default="inverse"
        Whether weights are proportional to 1 / r_v or 1 / r_v², or equal.
    max_iter : int, default=20
        Number of rounds.

    Returns
    -------
    result : SolverResult
        The consensus holds the left singular vectors of Z.
    model : AnchorModel
        The last round.
    """

    def update_graph(maps: list[NDArray[Any]], anchors: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
        return fit_graph(views, maps, anchors, weights, Pull(0.0))

    objective: list[float] = []
    for model in anchor_rounds(views, start, update_graph, WEIGHTINGS[weighting]):
        objective.append(float(model.weights**2 @ model.squared_residuals))
        if len(objective) == max_iter:
            break
    embedding = left_singular_vectors(model.graph)
    return SolverResult(embedding, model.weights, objective, max_iter, has_settled(objective)), model


class ParameterFreeAnchorClustering(ComparisonMethod):
    """Subspace clustering with one shared anchor per cluster and no parameter (FPMVS-CAG).

    Minimises Σ_v α_v² ‖X̃_v - Z (W_v A)ᵀ‖² over maps W_v and anchors A with orthonormal columns, an anchor graph Z with
    rows on the probability simplex, and weights α. Columns of the views are standardised.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    views : dict or list, default=None
        Which columns belong to which view, when one table holds them all.
    similarity : {"auto", "precomputed"}, default="auto"
        Whether the views are features or kernels; the features of a kernel are its kernel principal components, which
        are not standardised.
    weighting : {"inverse", "inverse_square", "equal"}, default="inverse"
        Weights proportional to 1 / r_v as in the paper, to 1 / r_v² as the objective demands, or equal; r_v is the
        norm of the residuals of view v.
    init : {"kmeans", "published"}, default="kmeans"
        Start from k-means of all views, or from the first samples and columns.
    max_iter : int, default=20
        Number of rounds; the method has no test of convergence.
    n_init : int, default=10
        Number of k-means starts for the labels and for the start.
    random_state : int, RandomState or None, default=None
        Seed of these starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    consensus_ : ndarray of shape (n_samples, n_vectors)
        Left singular vectors of the anchor graph, at most ``n_clusters``.
    anchor_graph_ : ndarray of shape (n_samples, n_clusters)
        Weights of the anchors in every sample; rows sum to one.
    view_weights_ : ndarray of shape (n_views,)
        Weights α.
    objective_ : ndarray of shape (n_iter_,)
        Objective after every round. It may rise.
    n_iter_ : int
        Number of rounds, ``max_iter``.
    converged_ : bool
        Whether the objective changed by less than 0.1 % in the last round. There is no warning if it did not, since the
        number of rounds is part of the method.

    See Also
    --------
    latefusion.baselines.smvsc.UnifiedAnchorClustering : More anchors than clusters, and a penalty.

    References
    ----------
    Wang, Liu, Zhu, Zhang, Zhang, Gao, Zhu: Fast Parameter-free Multi-view Subspace Clustering with Consensus Anchor
    Guidance. IEEE Transactions on Image Processing, 2022.

    Examples
    --------
    >>> from latefusion.baselines.fpmvs import ParameterFreeAnchorClustering
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, 3, n_views=2, random_state=0)
    >>> model = ParameterFreeAnchorClustering(n_clusters=3, random_state=0).fit(data.views)
    >>> model.n_iter_
    20
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BASE_CONSTRAINTS,
        "weighting": [StrOptions(set(WEIGHTINGS))],
        "init": [StrOptions({"kmeans", "published"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Mapping[str, Any] | Sequence[Any] | None = None,
        similarity: Any = "auto",
        weighting: Weighting = "inverse",
        init: Literal["kmeans", "published"] = "kmeans",
        max_iter: int = 20,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.weighting = weighting
        self.init = init
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> ParameterFreeAnchorClustering:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict, Views, array or data frame
            The views.
        y : ignored

        Returns
        -------
        ParameterFreeAnchorClustering
        """
        views = self._fit_standardized(X)
        result, model = solve_fpmvs(views, self._start(views), weighting=self.weighting, max_iter=self.max_iter)
        self.anchor_graph_ = model.graph
        self._store(result, self._cluster_embedding(result.consensus), warn=False)
        return self

    def _start(self, views: Sequence[Array]) -> Start:
        if self.init == "published":
            return published_start(views, self.n_clusters, self.n_clusters)
        generator = check_random_state(self.random_state)
        return kmeans_start(views, self.n_clusters, self.n_clusters, n_init=self.n_init, generator=generator)
