"""RMKKM: robust multiple kernel k-means with the ℓ2,1 norm.

    min_{z, C, w}  Σ_i sqrt( Σ_p w_p ‖φ_p(x_i) - c_p(z_i)‖² )
    subject to z_i in {1, ..., k}, w >= 0, Σ_p w_p^q = 1 with 0 < q < 1

Distances are not squared, which reduces the influence of outliers. A centre is a convex combination of the samples of
its cluster, the same one in every view: c_p(j) = Σ_i G_ij φ_p(x_i).

============  ======  =====================================================
here          paper   shape
============  ======  =====================================================
kernels       K_p     m matrices, n_samples x n_samples
labels        Z       n_samples, the column of the one in every row
centers       G       n_samples x n_clusters, columns sum to one
weights       w       m
exponent      γ (q)   scalar
deviations    A       n_samples x m, squared distance to the own centre, by kernel
============  ======  =====================================================

An iteration costs m products of an n x n with an n x k matrix, and (n_init + 1) times some ten such products for the
clustering; memory: one kernel in addition to those given.

Differences from the authors' code:

- In the code, the clustering starts in every iteration from ten random draws and not from the last clustering, so the
  objective can rise, and a test against a variable that is never updated always runs the loop to its end. Here the last
  clustering is one more start, the best result is kept, and the loop ends when the objective no longer falls. It never
  rises.
- The weights start at m^(-1/q), which fulfils their constraint, and not at 1/m. This rescales the first kernel only.
- An empty cluster takes the farthest sample, but never the last one of another cluster.

The authors' kernels have unit diagonals but are *not* centred; the kernels of this library are centred before they are
scaled. Centring alone would change no distance, scaling after it does.

For q near one a single kernel takes all the weight. The weights sum to less than one.

Du, Zhou, Shi, Wang, Fan, Wang, Shen: Robust Multiple Kernel K-means Using ℓ2,1-Norm. IJCAI 2015.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from latefusion.baselines.base import ITERATION_CONSTRAINTS, KERNEL_CONSTRAINTS, ComparisonMethod
from latefusion.kernels import combine_kernels
from latefusion.types import SolverResult

# A squared distance this far below the largest is zero: its inverse root would dominate all other samples. The authors
# take an absolute bound, but the weights, and with them all distances, become tiny with many kernels or a small
# exponent.
ZERO_DISTANCE = 1e-10


class RobustClustering(NamedTuple):
    """One solution of kernel k-means with unsquared distances.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
    centers : ndarray of shape (n_samples, n_clusters)
        Coefficients of every centre; columns sum to one.
    distances : ndarray of shape (n_samples,)
        Distance of every sample to the centre of its cluster; their sum is the objective.
    """

    labels: NDArray[np.intp]
    centers: NDArray[Any]
    distances: NDArray[Any]


def solve_rmkkm(
    kernels: Sequence[NDArray[Any]],
    n_clusters: int,
    *,
    exponent: float = 0.3,
    n_init: int = 10,
    max_iter: int = 100,
    tol: float = 1e-5,
    random_state: np.random.RandomState,
) -> SolverResult:
    """Alternate robust kernel k-means and kernel weights.

    Parameters
    ----------
    kernels : sequence of ndarray of shape (n_samples, n_samples)
    n_clusters : int
    exponent : float, default=0.3
        The power q of the weights in their constraint, between 0 and 1.
    n_init : int, default=10
        Number of random starts in every iteration, besides the previous clustering.
    max_iter : int, default=100
    tol : float, default=1e-5
        Relative change of the objective at which to stop.
    random_state : RandomState
        Draws the starts.

    Returns
    -------
    SolverResult
        With labels and without a consensus embedding.
    """
    weights = np.full(len(kernels), len(kernels) ** (-1.0 / exponent))
    starts: list[NDArray[Any]] = []
    objective: list[float] = []
    converged = False
    while not converged and len(objective) < max_iter:
        combined = combine_kernels(kernels, weights.tolist())
        starts += [random_centers(len(combined), n_clusters, random_state) for _ in range(n_init)]
        clusterings = (robust_kernel_kmeans(combined, start) for start in starts)
        clustering = min(clusterings, key=lambda found: float(found.distances.sum()))
        deviations = own_center_deviations(kernels, clustering)
        weights, _ = robust_weights(deviations, weights, exponent)
        value = float(np.sqrt(deviations @ weights).sum())
        converged = bool(objective) and value >= (1.0 - tol) * objective[-1]
        if not objective or value <= objective[-1]:
            labels, best_weights = clustering.labels, weights
            objective.append(value)
        starts = [clustering.centers]
    return SolverResult(None, best_weights, objective, len(objective), converged, labels=labels)


def random_centers(n_samples: int, n_clusters: int, random_state: np.random.RandomState) -> NDArray[Any]:
    """Different samples, drawn at random, as centres."""
    centers = np.zeros((n_samples, n_clusters))
    centers[random_state.permutation(n_samples)[:n_clusters], np.arange(n_clusters)] = 1.0
    return centers


def robust_kernel_kmeans(kernel: NDArray[Any], centers: NDArray[Any], *, max_iter: int = 30) -> RobustClustering:
    """Kernel k-means with unsquared distances, by reweighted means.

    Parameters
    ----------
    kernel : ndarray of shape (n_samples, n_samples)
    centers : ndarray of shape (n_samples, n_clusters)
        Start, as coefficients.
    max_iter : int, default=30
        Maximum number of rounds; they also end when the labels do not change.

    Returns
    -------
    RobustClustering
    """
    squared = squared_distances(kernel, centers)
    labels = nearest_centers(squared)
    own = np.arange(len(labels))
    for _ in range(max_iter):
        centers = reweighted_centers(squared[own, labels], labels, centers.shape[1])
        squared = squared_distances(kernel, centers)
        previous, labels = labels, nearest_centers(squared)
        if np.array_equal(labels, previous):
            break
    return RobustClustering(labels, centers, np.sqrt(squared[own, labels]))


def squared_distances(kernel: NDArray[Any], centers: NDArray[Any]) -> NDArray[Any]:
    """Squared distances of all samples to all centres: K_ii + (GᵀKG)_jj - 2 (KG)_ij, shape (n_samples, n_clusters)."""
    products = kernel @ centers
    squared = np.diagonal(kernel)[:, None] + np.einsum("ij,ij->j", centers, products) - 2.0 * products
    clipped: NDArray[Any] = np.maximum(squared, 0.0)
    return clipped


def nearest_centers(squared: NDArray[Any]) -> NDArray[np.intp]:
    """Find the nearest centre of every sample; a centre without samples takes the farthest sample."""
    labels: NDArray[np.intp] = np.argmin(squared, axis=1)
    sizes = np.bincount(labels, minlength=squared.shape[1])
    distances = squared[np.arange(len(labels)), labels]
    for cluster in np.flatnonzero(sizes == 0):
        farthest = int(np.argmax(np.where(sizes[labels] > 1, distances, -1.0)))
        sizes[labels[farthest]] -= 1
        sizes[cluster] += 1
        labels[farthest] = cluster
    return labels


def reweighted_centers(squared: NDArray[Any], labels: NDArray[np.intp], n_clusters: int) -> NDArray[Any]:
    """Means in which the weight of a sample is the inverse of its distance to the previous centre.

    Parameters
    ----------
    squared : ndarray of shape (n_samples,)
        Squared distance of every sample to its centre. Samples at distance zero count as the mean of the others.
    labels : ndarray of shape (n_samples,)
        Every cluster in use.
    n_clusters : int

    Returns
    -------
    ndarray of shape (n_samples, n_clusters)
        Columns sum to one.
    """
    apart = squared > ZERO_DISTANCE * squared.max()
    factors = np.ones(len(squared))
    factors[apart] = squared[apart] ** -0.5
    if apart.any():
        factors[~apart] = factors[apart].mean()
    centers = np.zeros((len(labels), n_clusters))
    centers[np.arange(len(labels)), labels] = factors
    normalised: NDArray[Any] = centers / centers.sum(axis=0)
    return normalised


def own_center_deviations(kernels: Sequence[NDArray[Any]], clustering: RobustClustering) -> NDArray[Any]:
    """Measure A_ip, the squared distance of sample i to its centre under kernel p alone, bounded away from zero."""
    own = np.arange(len(clustering.labels))
    columns = [squared_distances(kernel, clustering.centers)[own, clustering.labels] for kernel in kernels]
    deviations: NDArray[Any] = np.maximum(np.column_stack(columns), np.finfo(np.float64).eps)
    return deviations


def robust_weights(
    deviations: NDArray[Any], weights: NDArray[Any], exponent: float
) -> tuple[NDArray[Any], NDArray[Any]]:
    """One step on the weights.

    The objective Σ_i sqrt(Σ_p w_p A_ip) is concave in w, so its tangent at the old weights is an upper bound. The
    tangent has slopes h_p = Σ_i A_ip / (2 sqrt(Σ_q w_q A_iq)), and its minimum under the constraint is w_p proportional
    to h_p^(1/(q-1)).

    Parameters
    ----------
    deviations : ndarray of shape (n_samples, n_kernels)
    weights : ndarray of shape (n_kernels,)
    exponent : float

    Returns
    -------
    weights : ndarray of shape (n_kernels,)
        With Σ_p w_p^q = 1.
    slopes : ndarray of shape (n_kernels,)
    """
    slopes = (deviations / (2.0 * np.sqrt(deviations @ weights))[:, None]).sum(axis=0)
    # The formula does not depend on the unit of the slopes; the smallest one as unit keeps the powers in range.
    relative = slopes / slopes.min()
    shares = relative ** (exponent / (exponent - 1.0))
    return relative ** (1.0 / (exponent - 1.0)) / shares.sum() ** (1.0 / exponent), slopes


class RobustMKKM(ComparisonMethod):
    """Robust multiple kernel k-means with the ℓ2,1 norm (RMKKM).

    K-means with unsquared distances in the space of the weighted kernels; learns one weight per view. The labels come
    from the method itself.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    views : dict or list, default=None
        Which columns belong to which view, when one table holds them all.
    similarity : {"auto", "kernel", "precomputed"}, default="auto"
        Whether the views are features or kernels that are already computed; also an object with a method `similarity`,
        or one entry per view.
    kernel : str or callable, default="gaussian"
        Kernel of the views that are features.
    kernel_params : dict, default=None
        Parameters of the kernel; those left out come from the data.
    exponent : float, default=0.3
        Power q in the constraint Σ_p w_p^q = 1 on the weights, between 0 and 1. Small values spread the weight over the
        views, values near one give it to a single view.
    max_iter : int, default=100
        Maximum number of iterations.
    tol : float, default=1e-5
        Relative change of the objective at which to stop.
    n_init : int, default=10
        Number of random starts in every iteration, besides the previous clustering.
    random_state : int, RandomState or None, default=None
        Seed of these starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    view_weights_ : ndarray of shape (n_views,)
        Weight of every view; their powers sum to one, they themselves to less.
    objective_ : ndarray of shape (n_iter_,)
        Objective after every iteration; it never rises.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the objective converged before ``max_iter``.

    See Also
    --------
    latefusion.baselines.mkkm.MultipleKernelKMeans : Squared distances, relaxed to a spectral problem.

    Notes
    -----
    The authors' kernels are not centred. Centring changes no distance by itself, but the scaling to unit
    diagonal that follows it here does.

    References
    ----------
    Du, Zhou, Shi, Wang, Fan, Wang, Shen: Robust Multiple Kernel K-means Using ℓ2,1-Norm. IJCAI 2015.

    Examples
    --------
    >>> from latefusion.baselines.rmkkm import RobustMKKM
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, n_views=2, n_uninformative=1, random_state=0)
    >>> model = RobustMKKM(n_clusters=3, random_state=0).fit(data.views)
    >>> model.view_weights_.round(3)
    array([0.03 , 0.029, 0.019])
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {"exponent": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "exponent": [Interval(Real, 0, 1, closed="neither")],
        **ITERATION_CONSTRAINTS,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Any = None,
        similarity: Any = "auto",
        kernel: str | Callable[..., Any] = "gaussian",
        kernel_params: Mapping[str, Any] | None = None,
        exponent: float = 0.3,
        max_iter: int = 100,
        tol: float = 1e-5,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.exponent = exponent
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> RobustMKKM:
        """Cluster the samples and weigh the views.

        Parameters
        ----------
        X : list, dict or Views of arrays, or one array
            The views; rows are samples.
        y : ignored

        Returns
        -------
        RobustMKKM
            The fitted estimator.
        """
        result = solve_rmkkm(
            self._fit_kernels(X),
            self.n_clusters,
            exponent=self.exponent,
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=check_random_state(self.random_state),
        )
        self._store(result)
        return self
