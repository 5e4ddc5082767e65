"""OMSC: orthogonal multi-view subspace clustering, which learns anchors, anchor graph and labels together.

    min  Σ_v α_v² ‖X̃_v - Z (W_v A)ᵀ‖² + λ ‖Z - F Gᵀ‖²
    subject to W_vᵀW_v = I, AᵀA = I, rows of Z on the probability simplex, GᵀG = I, rows of F one-hot,
    α >= 0, Σ_v α_v = 1

The problem of SMVSC with another penalty: the anchor graph Z is pulled towards a partition, whose centroids G in the
space of the anchors are orthonormal. The labels are F; no k-means follows.

==============  =====  ================================================
here            paper  shape
==============  =====  ================================================
views           X_v    m standardised views, n_samples x n_features_v
maps            W_v    m matrices, n_features_v x n_components
anchors         A      n_components x n_anchors
graph           Zᵀ     n_samples x n_anchors
centroids       G      n_anchors x n_clusters
labels          Fᵀ     n_samples, the column of the one in every row
weights         α      m, on the simplex
regularization  λ      number
==============  =====  ================================================

A round costs O(n r D) for r anchors and D columns in all, memory is O(n (D + r)). Blocks and their derivation are in
`latefusion.baselines.support.unified_anchors`.

Differences from the authors' code:

- Rows of Z are projections of (Σ_v X̃_v W_v A + m λ F Gᵀ) / (Σ_v α_v² + λ), as in the code. In the minimiser the sum has
  weights α_v² and no factor m. ``updates="exact"`` takes the minimiser; with n_anchors <= n_components <= n_features_v
  in every view the objective then never rises.
- The code starts from the first samples and the first columns, and only k samples have a label in the first round, so
  its result depends on the order of both (``init="published"``). The default starts from k-means of all views.
- In the code clusters may become empty. Here an empty cluster takes the sample that loses least, or the labels before
  stay if that is better.

The number of rounds is fixed, as in the code.

Chen, Wang, Huang, Lai, Yu: Efficient Orthogonal Multi-view Subspace Clustering. KDD, 2022.
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

from latefusion.arrays import polar
from latefusion.baselines.base import BASE_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.hard_labels import assign_rows
from latefusion.baselines.support.standardized_views import cluster_sums, kmeans_labels, one_hot
from latefusion.baselines.support.unified_anchors import (
    AnchorModel,
    Pull,
    Start,
    Updates,
    anchor_rounds,
    count_anchors,
    fit_graph,
    has_settled,
    inverse_squared_residuals,
    kmeans_start,
    published_start,
)
from latefusion.types import Array, SolverResult


def solve_omsc(
    views: Sequence[Array],
    start: Start,
    labels: NDArray[np.intp],
    centroids: NDArray[Any],
    *,
    regularization: float = 1.0,
    updates: Updates = "published",
    fill_clusters: bool = True,
    max_iter: int = 15,
) -> tuple[SolverResult, AnchorModel]:
    """Learn unified anchors, the anchor graph and labels.

    Parameters
    ----------
    views : sequence of ndarray or CenteredRows of shape (n_samples, n_features_p)
        Standardised views.
    start : Start
    labels : ndarray of shape (n_samples,)
        F at the start, -1 for samples without a label.
    centroids : ndarray of shape (n_anchors, n_clusters)
        G at the start.
    regularization : float, default=1.0
        λ.
    updates : {"published", "exact"}, default="published"
        Rows of Z of the authors' code, or the minimisers of the objective.
    fill_clusters : bool, default=True
        Whether an empty cluster takes a sample; in the authors' code it stays empty.
    max_iter : int, default=15
        Number of rounds.

    Returns
    -------
    result : SolverResult
        With labels and without a consensus.
    model : AnchorModel
        The last round.
    """
    n_clusters = centroids.shape[1]
    found: NDArray[np.intp] | None = None
    target = _partition(labels, centroids)
    objective: list[float] = []

    def update_graph(maps: list[NDArray[Any]], anchors: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
        return fit_graph(views, maps, anchors, weights, Pull(regularization, target), updates=updates)

    for model in anchor_rounds(views, start, update_graph, inverse_squared_residuals):
        centroids = polar(cluster_sums(model.graph, one_hot(labels, n_clusters)), xp=np).isometry
        closeness = model.graph @ centroids  # centroids have length one, so the largest product is the nearest one
        labels = found = assign_rows(closeness, found) if fill_clusters else np.argmax(closeness, axis=1)
        target = _partition(labels, centroids)
        penalty = regularization * float(np.sum((model.graph - target) ** 2))
        objective.append(float(model.weights**2 @ model.squared_residuals) + penalty)
        if len(objective) == max_iter:
            break
    return SolverResult(None, model.weights, objective, max_iter, has_settled(objective), labels=labels), model


def _partition(labels: NDArray[np.intp], centroids: NDArray[Any]) -> NDArray[Any]:
    # F Gᵀ; a sample without a label has a row of zeros
    return np.where(labels[:, None] >= 0, centroids.T[labels], 0.0)


class OrthogonalSubspaceClustering(ComparisonMethod):
    """Subspace clustering with shared anchors that learns the labels directly (OMSC).

    Minimises Σ_v α_v² ‖X̃_v - Z (W_v A)ᵀ‖² + λ ‖Z - F Gᵀ‖² over maps W_v, anchors A and centroids G with orthonormal
    columns, an anchor graph Z with rows on the probability simplex, one-hot labels F, and weights α. Columns of the
    views are standardised.

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
        Weight λ of the distance between graph and partition.
    updates : {"published", "exact"}, default="published"
        Graph of the authors' code, or the minimiser of the objective.
    init : {"kmeans", "published"}, default="kmeans"
        Start from k-means of all views, or from the first samples and columns as in the authors' code.
    max_iter : int, default=15
        Number of rounds; the method has no test of convergence.
    n_init : int, default=10
        Number of k-means starts for the start.
    random_state : int, RandomState or None, default=None
        Seed of these starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    anchor_graph_ : ndarray of shape (n_samples, n_anchors)
        Weights of the anchors in every sample; rows sum to one.
    view_weights_ : ndarray of shape (n_views,)
        Weights α.
    objective_ : ndarray of shape (n_iter_,)
        Objective after every round. It may rise with ``updates="published"``.
    n_iter_ : int
        Number of rounds, ``max_iter``.
    converged_ : bool
        Whether the objective changed by less than 0.1 % in the last round. There is no warning if it did not, since the
        number of rounds is part of the method.

    See Also
    --------
    latefusion.baselines.smvsc.UnifiedAnchorClustering : The same anchors, with labels from k-means.

    References
    ----------
    Chen, Wang, Huang, Lai, Yu: Efficient Orthogonal Multi-view Subspace Clustering. KDD, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion.baselines.omsc import OrthogonalSubspaceClustering
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, 3, n_views=2, random_state=0)
    >>> model = OrthogonalSubspaceClustering(n_clusters=3, random_state=0).fit(data.views)
    >>> np.bincount(model.labels_)
    array([20, 20, 20])
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {
        "n_anchors": ["k", "2k", "3k"],
        "regularization": [1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0],
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BASE_CONSTRAINTS,
        "n_anchors": [Interval(Integral, 1, None, closed="left"), StrOptions({"k", "2k", "3k"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "regularization": [Interval(Real, 0, None, closed="left")],
        "updates": [StrOptions({"published", "exact"})],
        "init": [StrOptions({"kmeans", "published"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
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
        max_iter: int = 15,
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
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> OrthogonalSubspaceClustering:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict, Views, array or data frame
            The views.
        y : ignored

        Returns
        -------
        OrthogonalSubspaceClustering
        """
        views = self._fit_standardized(X)
        result, model = solve_omsc(
            views,
            *self._start(views, count_anchors(self.n_anchors, self.n_clusters, views[0].shape[0])),
            regularization=self.regularization,
            updates=self.updates,
            max_iter=self.max_iter,
        )
        self.anchor_graph_ = model.graph
        self._store(result, warn=False)
        return self

    def _start(self, views: Sequence[Array], n_anchors: int) -> tuple[Start, NDArray[np.intp], NDArray[Any]]:
        n_components = self.n_components or self.n_clusters
        if self.init == "published":
            start = published_start(views, n_anchors, n_components)
            positions = np.arange(views[0].shape[0])
            first = np.where(positions < self.n_clusters, positions, -1)
            return start, first, np.eye(n_anchors, self.n_clusters)
        generator = check_random_state(self.random_state)
        start = kmeans_start(views, n_anchors, n_components, n_init=self.n_init, generator=generator)
        if n_anchors == self.n_clusters:
            labels = np.argmax(start.graph, axis=1)
        else:
            labels = kmeans_labels(views, self.n_clusters, n_init=self.n_init, generator=generator)
        sums = cluster_sums(start.graph, one_hot(labels, self.n_clusters))
        return start, labels, polar(sums, xp=np).isometry
