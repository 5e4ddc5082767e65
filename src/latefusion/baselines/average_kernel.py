"""A-MKKM: kernel k-means on the mean of all kernels.

    min_H  Tr(K) - Tr(Hᵀ K H),    K = (1/m) Σ_p K_p,    subject to HᵀH = I

Symbols: kernels K_p (n_samples x n_samples), m of them; consensus H (n_samples x n_clusters). One eigenproblem of size
n for k vectors; memory: one kernel in addition to those given.

The relaxation is that of Zha, He, Ding, Simon, Gu: Spectral Relaxation for K-means Clustering. NIPS 2001.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context

from latefusion.baselines.base import KERNEL_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.kernel_kmeans import kernel_kmeans, partition_costs
from latefusion.types import SolverResult


def solve_average_kernel(kernels: Sequence[NDArray[Any]], n_clusters: int) -> SolverResult:
    """Relaxed kernel k-means on the mean kernel.

    Parameters
    ----------
    kernels : sequence of ndarray of shape (n_samples, n_samples)
    n_clusters : int

    Returns
    -------
    SolverResult
        With equal weights and one value of the objective.
    """
    weights = np.full(len(kernels), 1.0 / len(kernels))
    partition, _ = kernel_kmeans(kernels, weights, n_clusters)
    cost = float(weights @ partition_costs(kernels, partition))
    return SolverResult(partition, weights, [cost], 1, True)


class AverageKernelKMeans(ComparisonMethod):
    """Kernel k-means on the mean of all kernels (A-MKKM).

    All views have the same weight, and there is nothing to tune.

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
    n_init : int, default=10
        Number of k-means starts for the labels.
    random_state : int, RandomState or None, default=None
        Seed of these starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        Leading eigenvectors of the mean kernel.
    view_weights_ : ndarray of shape (n_views,)
        One over the number of views.
    objective_ : ndarray of shape (1,)
        Tr(K) - Tr(Hᵀ K H).
    n_iter_ : int
        One.
    converged_ : bool
        True.

    See Also
    --------
    latefusion.baselines.best_kernel.BestKernelKMeans : The best single view instead of all of them.

    References
    ----------
    Zha, He, Ding, Simon, Gu: Spectral Relaxation for K-means Clustering. NIPS 2001.

    Examples
    --------
    >>> from latefusion.baselines.average_kernel import AverageKernelKMeans
    >>> from latefusion.datasets import make_views
    >>> from latefusion.metrics import clustering_accuracy
    >>> data = make_views(60, n_views=2, n_uninformative=1, random_state=0)
    >>> model = AverageKernelKMeans(n_clusters=3, random_state=0).fit(data.views)
    >>> clustering_accuracy(data.target, model.labels_)
    1.0
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {**KERNEL_CONSTRAINTS}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Any = None,
        similarity: Any = "auto",
        kernel: str | Callable[..., Any] = "gaussian",
        kernel_params: Mapping[str, Any] | None = None,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> AverageKernelKMeans:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict or Views of arrays, or one array
            The views; rows are samples.
        y : ignored

        Returns
        -------
        AverageKernelKMeans
            The fitted estimator.
        """
        kernels = self._fit_kernels(X)
        self._store(solve_average_kernel(kernels, self.n_clusters))
        return self
