"""OPMC: one-pass multi-view clustering.

    min  Σ_v ‖X_v - Y C_v W_v‖²    subject to Y one-hot rows, W_v W_vᵀ = I

Every view is factorised, and the shared coefficients are a clustering from the start.

============  =======  ===============================================
here          paper    shape
============  =======  ===============================================
rows          X_v      m views side by side, n_samples x n_features
labels        Y        n_samples, the column of the one in every row
coefficients  C_v      m matrices, n_clusters x n_clusters
bases         W_v      m matrices, n_clusters x n_features_v
centers       C_v W_v  n_clusters x n_features, side by side
============  =======  ===============================================

**This is k-means.** The update of W_v is the polar factor of C_vᵀYᵀX_v, whose rows span the row space of the cluster
means M_v = (YᵀY)⁻¹YᵀX_v if C_v is invertible. The update C_v = M_v W_vᵀ then gives C_v W_v = M_v, also for a view with
fewer columns than clusters. So a round of the authors' iteration is a round of Lloyd's iteration on the concatenated
views, with the same labels and objective, and that is what is computed here. `factorize_centers` gives C_v and W_v.
What differs from k-means on the concatenation is the standardisation of the views.

A round costs O(n d k) for d features in all, or O(s k) for s stored entries of sparse views. Memory is twice the views.
The objective never rises.

Differences from the authors' code:

- Starts come from greedy k-means++ instead of uniformly random labels (``start="published"``), and there are ten
  instead of 100.
- An empty cluster takes the sample farthest from its centre. In the code its centre is zero.
- Samples and views are first brought to an order of their own, so results do not depend on the order of the input.
- The code uses a round of labels more than the last objective it compares. Here the objective is that of the labels.

The demo of the authors calls ``zscore`` such that every *sample* is standardised over the features of a view, if data
are stored as its other lines suggest; this is our reading, because their data files are not available. It is the
default, ``scaling="sample"``.

Liu, Liu, Yang, Liu, Wang, Liang, Shi: One-pass Multi-view Clustering for Large-scale Data. ICCV 2021.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from latefusion.baselines.base import BASE_CONSTRAINTS, ITERATION_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.canonical_order import canonical_order
from latefusion.baselines.support.kernel_kmeans import has_converged
from latefusion.baselines.support.lloyd import cluster_means, fill_empty_clusters, nearest_centers, spread_rows
from latefusion.baselines.support.shifted_rows import ShiftedRows, centered, side_by_side, standardized_view
from latefusion.types import SolverResult


def solve_opmc(
    rows: ShiftedRows,
    labels: NDArray[np.intp],
    n_clusters: int,
    *,
    n_views: int = 1,
    max_iter: int = 300,
    tol: float = 1e-5,
) -> tuple[SolverResult, NDArray[Any]]:
    """Update centres and labels in turn.

    Parameters
    ----------
    rows : ShiftedRows
        The views side by side.
    labels : ndarray of shape (n_samples,)
        Start of Y. The centre of a cluster without samples is zero.
    n_clusters : int
        At most the number of samples.
    n_views : int, default=1
        The objective is the mean over so many views.
    max_iter : int, default=300
    tol : float, default=1e-5
        Relative change of the objective at which to stop.

    Returns
    -------
    result : SolverResult
        ``objective`` holds (1/m) Σ_v ‖X_v - Y C_v W_v‖² of the labels of every round and the centres that they were
        assigned to.
    centers : ndarray of shape (n_clusters, n_features)
        Means of the clusters of the last labels.
    """
    norms = rows.squared_norms()
    # A sum of squares below this is a difference of equal numbers.
    rounding = float(np.finfo(np.float64).eps) * float(norms.sum()) / n_views
    objective: list[float] = []
    converged = False
    while not converged and len(objective) < max_iter:
        centers = cluster_means(rows, labels, n_clusters)
        labels, distances = fill_empty_clusters(nearest_centers(rows, norms, centers), n_clusters)
        objective.append(float(distances.sum()) / n_views)
        converged = has_converged(objective, tol) or objective[-1] <= rounding
    result = SolverResult(None, None, objective, len(objective), converged, labels=labels)
    return result, cluster_means(rows, labels, n_clusters)


def factorize_centers(centers: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Factors C and W of the centres of a view, C W = M, by the singular value decomposition of M.

    Parameters
    ----------
    centers : ndarray of shape (n_clusters, n_features)
        M.

    Returns
    -------
    coefficients : ndarray of shape (n_clusters, r)
        C, with r = min(n_clusters, n_features).
    basis : ndarray of shape (r, n_features)
        W, orthonormal rows.
    """
    left, values, basis = np.linalg.svd(centers, full_matrices=False)
    return left * values, basis


def start_labels(rows: ShiftedRows, n_clusters: int, start: str, generator: np.random.RandomState) -> NDArray[np.intp]:
    """Labels to start from.

    Parameters
    ----------
    rows : ShiftedRows
    n_clusters : int
    start : {"kmeans++", "published"}
        The nearest of rows drawn by k-means++, or uniformly random labels.
    generator : RandomState

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    norms = rows.squared_norms()
    if start == "published":
        labels: NDArray[np.intp] = generator.randint(n_clusters, size=len(norms)).astype(np.intp)
        return labels
    centers = rows.dense_rows(spread_rows(rows, norms, n_clusters, generator))
    return fill_empty_clusters(nearest_centers(rows, norms, centers), n_clusters).labels


class OnePassFactorization(ComparisonMethod):
    """One-pass multi-view clustering by matrix factorisation (OPMC), which is k-means on the standardised views.

    Minimises Σ_v ‖X_v - Y C_v W_v‖² over one-hot Y, free C_v and W_v with orthonormal rows. The product C_v W_v of the
    published updates equals the cluster means, so that their rounds are those of k-means on the views side by side.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    views : dict or list, default=None
        Which columns belong to which view, when one table holds them all.
    similarity : {"auto", "precomputed"}, default="auto"
        Whether the views are features or kernels that are already computed; also one entry per view. A kernel becomes
        features with the same inner products, which are not scaled.
    scaling : {"sample", "feature"} or None, default="sample"
        What has mean zero and deviation one: every sample over the features of a view, as in the demo of the authors,
        or every feature over the samples. "sample" leaves views with fewer than three columns as they are. A view
        counts by the number of its columns in both cases.
    start : {"kmeans++", "published"}, default="kmeans++"
        Start of the labels; "published" draws them at random.
    max_iter : int, default=300
        Maximum number of rounds of a start.
    tol : float, default=1e-5
        Relative change of the objective at which to stop.
    n_init : int, default=10
        Number of starts; the one with the lowest objective is kept. The authors use 100.
    random_state : int, RandomState or None, default=None
        Seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centres C_v W_v of all views side by side, in standardised coordinates; for a kernel in those of its factor.
    objective_ : ndarray of shape (n_iter_,)
        Mean of ‖X_v - Y C_v W_v‖² over the views after every round of the best start; it never rises.
    n_iter_ : int
        Number of rounds of the best start.
    converged_ : bool
        Whether the objective of the best start converged before ``max_iter``.

    See Also
    --------
    latefusion.baselines.concatenation.ConcatKMeans : k-means on views that are scaled to count equally.

    References
    ----------
    Liu, Liu, Yang, Liu, Wang, Liang, Shi: One-pass Multi-view Clustering for Large-scale Data. ICCV 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion.baselines.opmc import OnePassFactorization
    >>> centers = np.repeat(4 * np.eye(3), 4, axis=0)
    >>> X = [centers + np.random.RandomState(view).normal(size=(12, 3)) for view in range(2)]
    >>> OnePassFactorization(n_clusters=3, random_state=0).fit_predict(X)
    array([1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0])
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BASE_CONSTRAINTS,
        "scaling": [StrOptions({"sample", "feature"}), None],
        "start": [StrOptions({"kmeans++", "published"})],
        **ITERATION_CONSTRAINTS,
        "n_init": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Any = None,
        similarity: Any = "auto",
        scaling: Any = "sample",
        start: str = "kmeans++",
        max_iter: int = 300,
        tol: float = 1e-5,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.scaling = scaling
        self.start = start
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> OnePassFactorization:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict or Views of arrays, or one array
            The views; rows are samples. Sparse views stay sparse.
        y : ignored

        Returns
        -------
        OnePassFactorization
            The fitted estimator.
        """
        views = self._fit_rows(X)
        samples, order = canonical_order(views)
        scalings = [None if kind == "precomputed" else self.scaling for kind in self.view_inputs_]
        rows, middle = centered(side_by_side([standardized_view(views[p][samples], scalings[p]) for p in order]))
        generator = check_random_state(self.random_state)
        runs = (
            solve_opmc(
                rows,
                start_labels(rows, self.n_clusters, self.start, generator),
                self.n_clusters,
                n_views=len(views),
                max_iter=self.max_iter,
                tol=self.tol,
            )
            for _ in range(self.n_init)
        )
        result, centers = min(runs, key=lambda run: run[0].objective[-1])
        blocks = np.split(centers + middle, np.cumsum([views[p].shape[1] for p in order])[:-1], axis=1)
        self.cluster_centers_ = np.concatenate([blocks[p] for p in np.argsort(order)], axis=1)
        labels = np.empty(len(samples), dtype=np.intp)
        labels[samples] = result.labels
        self._store(result, labels)
        return self
