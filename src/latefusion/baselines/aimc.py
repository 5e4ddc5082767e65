"""AIMC: adaptively weighted integral space for fast multi-view clustering.

    min  Σ_v ‖X̃_v - Y (G_v F)ᵀ‖      (norms, not squared)
    subject to G_vᵀG_v = I, FᵀF = I, rows of Y one-hot

One set of orthonormal cluster centres F in a common space is mapped to every view by an orthogonal map G_v. The sum of
norms is minimised with weights: for given residuals r_v = ‖X̃_v - Y (G_v F)ᵀ‖ and α_v = 1 / (2 r_v), the sum
Σ_v α_v ‖X̃_v - Y (G_v F)ᵀ‖² has the same gradient.

==========  ======  ==============================================
here        paper   shape
==========  ======  ==============================================
views       X_v     m standardised views, n_samples x n_features_v
prototypes  G_v F   m matrices, n_features_v x n_clusters
sums        X_vᵀY   m matrices, n_features_v x n_clusters
labels      Yᵀ      n_samples, the column of the one in every row
weights     α       m, positive
==========  ======  ==============================================

A round costs O(n k D) for D columns in all, memory is O(n (D + k)).

The centres F have no effect. For any F with orthonormal columns, maps G_v that minimise the objective have
G_v F = polar(X̃_vᵀY), so prototypes B_v = G_v F are computed at once, and the update of F changes nothing. The same
holds for a common space of more dimensions than clusters. The views share only their labels. B_v has length one in
every direction, so the method compares directions: the clusters of X̃_v are not where its prototypes are.

Columns of X̃_v have mean zero, so the sums of all clusters add up to zero and one direction of the polar factor is
arbitrary. It changes the distances of a sample to all prototypes by the same number. Here it is left out, and
prototypes count as orthonormal (k <= n_features_v).

Differences from the authors' code:

- The code starts with labels for the first k samples only and with F of ones, from which its first maps are not
  determined (``init="published"`` has the same labels, and F = I). The default starts from k-means of all views.
- In the code clusters may become empty. Here an empty cluster takes the sample that loses least, or the labels before
  stay if that is better. So the objective never rises (k <= n_features_v in every view).

Chen, Liu, Wang, Huang, Lai: Adaptively-weighted Integral Space for Fast Multiview Clustering. ACM Multimedia, 2022.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions

from latefusion.arrays import polar
from latefusion.baselines.base import BASE_CONSTRAINTS, ITERATION_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.hard_labels import assign_rows
from latefusion.baselines.support.kernel_kmeans import has_converged
from latefusion.baselines.support.standardized_views import (
    cluster_sums,
    kmeans_labels,
    one_hot,
    squared_norm,
)
from latefusion.types import Array, SolverResult

# Residuals below this share of the norm of a view count as that much, so that no weight is infinite.
SMALLEST_RESIDUAL = 1e-6


def solve_aimc(
    views: Sequence[Array],
    labels: NDArray[np.intp],
    n_clusters: int,
    *,
    prototypes: Sequence[NDArray[Any]] | None = None,
    max_iter: int = 50,
    tol: float = 1e-5,
) -> SolverResult:
    """Learn labels, orthonormal prototypes of every view, and weights.

    Parameters
    ----------
    views : sequence of ndarray or CenteredRows of shape (n_samples, n_features_p)
        Standardised views.
    labels : ndarray of shape (n_samples,)
        Labels at the start, -1 for samples without a label.
    n_clusters : int
    prototypes : sequence of ndarray of shape (n_features_p, n_clusters), default=None
        Prototypes of the first round; by default they are computed from the labels.
    max_iter : int, default=50
    tol : float, default=1e-5
        Relative change of the objective at which to stop.

    Returns
    -------
    SolverResult
        With labels and without a consensus. Weights are 1 / (2 r_v), and the objective is half the sum of the r_v.
    """
    norms = np.array([squared_norm(view) for view in views])
    weights = np.full(len(views), 1.0 / len(views))
    found: NDArray[np.intp] | None = None
    sums = _sums(views, labels, n_clusters)
    objective: list[float] = []
    converged = False
    while not converged and len(objective) < max_iter:
        if objective or prototypes is None:
            prototypes = [polar(own, xp=np).isometry for own in sums]
        lengths = [_squared_lengths(own) for own in prototypes]
        scores = np.zeros((views[0].shape[0], n_clusters))
        for view, own, length, weight in zip(views, prototypes, lengths, weights, strict=True):
            scores += view @ (2.0 * weight * own) - weight * length
        found = assign_rows(scores, found)
        sums = _sums(views, found, n_clusters)
        sizes = np.bincount(found, minlength=n_clusters)
        explained = [
            2.0 * np.vdot(own, total) - sizes @ length
            for own, total, length in zip(prototypes, sums, lengths, strict=True)
        ]
        squared = np.maximum(norms - explained, SMALLEST_RESIDUAL**2 * np.maximum(norms, 1.0))
        residuals = np.sqrt(squared)
        weights = 0.5 / residuals
        objective.append(float(residuals.sum() / 2))
        converged = has_converged(objective, tol)
    return SolverResult(None, weights, objective, len(objective), converged, labels=found)


def _sums(views: Sequence[Array], labels: NDArray[np.intp], n_clusters: int) -> list[NDArray[Any]]:
    indicator = one_hot(labels, n_clusters)
    return [cluster_sums(view, indicator) for view in views]


def _squared_lengths(prototypes: NDArray[Any]) -> NDArray[Any]:
    # Partial isometries count as completed ones: columns of length one where there is room for all of them.
    if prototypes.shape[0] >= prototypes.shape[1]:
        return np.ones(prototypes.shape[1])
    return np.einsum("ij,ij->j", prototypes, prototypes)


class IntegralSpaceClustering(ComparisonMethod):
    """Clustering by orthonormal prototypes in every view, with weights that adapt (AIMC).

    Minimises the sum over the views of ‖X̃_v - Y B_vᵀ‖ over one-hot labels Y and prototypes B_v with orthonormal
    columns. Columns of the views are standardised.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    views : dict or list, default=None
        Which columns belong to which view, when one table holds them all.
    similarity : {"auto", "precomputed"}, default="auto"
        Whether the views are features or kernels; the features of a kernel are its kernel principal components, which
        are not standardised.
    init : {"kmeans", "published"}, default="kmeans"
        Start from k-means of all views, or from the first samples as in the authors' code.
    max_iter : int, default=50
        Maximum number of rounds.
    tol : float, default=1e-5
        Relative change of the objective at which to stop.
    n_init : int, default=10
        Number of k-means starts for the start.
    random_state : int, RandomState or None, default=None
        Seed of these starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    view_weights_ : ndarray of shape (n_views,)
        Inverse norms of the residuals of the views, scaled to sum one.
    objective_ : ndarray of shape (n_iter_,)
        Half the sum of the norms of the residuals after every round. It never rises if no view has fewer columns than
        there are clusters.
    n_iter_ : int
        Number of rounds.
    converged_ : bool
        Whether the relative change of the objective fell below ``tol``.

    References
    ----------
    Chen, Liu, Wang, Huang, Lai: Adaptively-weighted Integral Space for Fast Multiview Clustering. ACM Multimedia, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion.baselines.aimc import IntegralSpaceClustering
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, 3, n_views=2, random_state=0)
    >>> model = IntegralSpaceClustering(n_clusters=3, random_state=0).fit(data.views)
    >>> bool(np.all(np.diff(model.objective_) <= 0))
    True
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BASE_CONSTRAINTS,
        "init": [StrOptions({"kmeans", "published"})],
        **ITERATION_CONSTRAINTS,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Mapping[str, Any] | Sequence[Any] | None = None,
        similarity: Any = "auto",
        init: Literal["kmeans", "published"] = "kmeans",
        max_iter: int = 50,
        tol: float = 1e-5,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> IntegralSpaceClustering:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict, Views, array or data frame
            The views.
        y : ignored

        Returns
        -------
        IntegralSpaceClustering
        """
        views = self._fit_standardized(X)
        result = solve_aimc(views, self._start(views), self.n_clusters, max_iter=self.max_iter, tol=self.tol)
        self._store(result._replace(weights=result.weights / result.weights.sum()))
        return self

    def _start(self, views: Sequence[Array]) -> NDArray[np.intp]:
        if self.init == "published":
            positions = np.arange(views[0].shape[0])
            return np.where(positions < self.n_clusters, positions, -1)
        generator = check_random_state(self.random_state)
        return kmeans_labels(views, self.n_clusters, n_init=self.n_init, generator=generator)
