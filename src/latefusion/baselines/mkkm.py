"""MKKM: multiple kernel k-means.

    min_{H, γ}  Σ_p γ_p^q a_p,    a_p = Tr(K_p) - Tr(Hᵀ K_p H)
    subject to HᵀH = I, γ >= 0, Σ_p γ_p = 1

The exponent q > 1 keeps the weights from collapsing on one kernel; the paper's case is q = 2.

============  ======  ==========================================
here          paper   shape
============  ======  ==========================================
kernels       K_p     m matrices, n_samples x n_samples
consensus     H       n_samples x n_clusters, orthonormal columns
weights       γ       m, on the simplex
costs         a_p     m
exponent      q       scalar
============  ======  ==========================================

An iteration costs one eigenproblem of size n for k vectors and m products of an n x n with an n x k matrix; memory: one
kernel in addition to those given. Both steps are exact, so the objective never rises.

A kernel with few large eigenvalues has a low cost for any clusters and gets nearly all the weight; this is a property
of the method. A different method with hard memberships has the same name. As in the authors' code the weights returned
are one update newer than the consensus.

Huang, Chuang, Chen: Multiple Kernel Fuzzy Clustering. IEEE Transactions on Fuzzy Systems, 2012.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from latefusion.baselines.base import ITERATION_CONSTRAINTS, KERNEL_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.kernel_kmeans import has_converged, kernel_kmeans, partition_costs
from latefusion.types import SolverResult


def solve_mkkm(
    kernels: Sequence[NDArray[Any]],
    n_clusters: int,
    *,
    exponent: float = 2.0,
    max_iter: int = 50,
    tol: float = 1e-4,
) -> SolverResult:
    """Alternate kernel k-means and kernel weights.

    Parameters
    ----------
    kernels : sequence of ndarray of shape (n_samples, n_samples)
    n_clusters : int
    exponent : float, default=2.0
        The power q > 1 of the weights.
    max_iter : int, default=50
    tol : float, default=1e-4
        Relative change of the objective at which to stop.

    Returns
    -------
    SolverResult
    """
    weights = np.full(len(kernels), 1.0 / len(kernels))
    objective: list[float] = []
    converged = False
    while not converged and len(objective) < max_iter:
        partition, _ = kernel_kmeans(kernels, weights**exponent, n_clusters)
        costs = partition_costs(kernels, partition)
        weights = optimal_weights(costs, exponent)
        objective.append(float(costs @ weights**exponent))
        converged = has_converged(objective, tol)
    return SolverResult(partition, weights, objective, len(objective), converged)


def optimal_weights(costs: NDArray[Any], exponent: float) -> NDArray[Any]:
    """Minimise Σ_p γ_p^q a_p on the simplex: γ_p is proportional to a_p^(-1/(q-1)).

    Kernels with zero cost share all the weight.
    """
    lowest = costs.min()
    ratios = lowest / costs if lowest > 0 else (costs == 0).astype(costs.dtype)
    scaled = ratios ** (1.0 / (exponent - 1.0))
    weights: NDArray[Any] = scaled / scaled.sum()
    return weights


class MultipleKernelKMeans(ComparisonMethod):
    """Multiple kernel k-means (MKKM).

    Learns one weight per view together with the clustering, by minimising the kernel k-means objective of the weighted
    sum of kernels.

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
    exponent : float, default=2
        Power q > 1 of the weights in the sum of kernels. Larger values spread the weight over more views.
    max_iter : int, default=50
        Maximum number of iterations.
    tol : float, default=1e-4
        Relative change of the objective at which to stop.
    n_init : int, default=10
        Number of k-means starts for the labels.
    random_state : int, RandomState or None, default=None
        Seed of these starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        Leading eigenvectors of the weighted kernel.
    view_weights_ : ndarray of shape (n_views,)
        Weight of every view, non-negative with sum one.
    objective_ : ndarray of shape (n_iter_,)
        Objective after every iteration; it never rises.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the objective converged before ``max_iter``.

    See Also
    --------
    latefusion.baselines.mkkm_mr.MatrixRegularizedMKKM : Also penalises weights of similar views.
    latefusion.baselines.simple_mkkm.SimpleMKKM : Minimises over weights the best partition's fit: a convex problem.

    Notes
    -----
    A view whose kernel has few large eigenvalues has a low cost for any clusters and gets nearly all the weight.

    References
    ----------
    Huang, Chuang, Chen: Multiple Kernel Fuzzy Clustering. IEEE Transactions on Fuzzy Systems, 2012.

    Examples
    --------
    >>> from latefusion.baselines.mkkm import MultipleKernelKMeans
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, n_views=2, n_uninformative=1, random_state=0)
    >>> model = MultipleKernelKMeans(n_clusters=3, random_state=0).fit(data.views)
    >>> model.view_weights_.round(2)
    array([0.36, 0.39, 0.25])
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "exponent": [Interval(Real, 1, None, closed="neither")],
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
        exponent: float = 2,
        max_iter: int = 50,
        tol: float = 1e-4,
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
    def fit(self, X: Any, y: Any = None) -> MultipleKernelKMeans:
        """Cluster the samples and weigh the views.

        Parameters
        ----------
        X : list, dict or Views of arrays, or one array
            The views; rows are samples.
        y : ignored

        Returns
        -------
        MultipleKernelKMeans
            The fitted estimator.
        """
        kernels = self._fit_kernels(X)
        result = solve_mkkm(
            kernels, self.n_clusters, exponent=float(self.exponent), max_iter=self.max_iter, tol=self.tol
        )
        self._store(result)
        return self
