"""SB-KKM: kernel k-means on every kernel alone, of which the best is selected.

    min_H  Tr(K_p) - Tr(Hᵀ K_p H)    subject to HᵀH = I,    for p = 1, ..., m

Symbols: kernels K_p (n_samples x n_samples), m of them; consensus H (n_samples x n_clusters). One eigenproblem of size
n for k vectors per kernel, no memory beyond the partitions.

The literature calls a view best when its labels score highest against the known classes, score by score. That selection
needs the classes. Here the view is selected without them, as the one whose kernel is explained best: the lowest
objective relative to Tr(K_p). Labels of all views are kept, so that an evaluation can still select among them by other
criteria.

The relaxation is that of Zha, He, Ding, Simon, Gu: Spectral Relaxation for K-means Clustering. NIPS 2001.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils import check_random_state

from latefusion.assignment import assign_by_kmeans
from latefusion.baselines.base import KERNEL_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.kernel_kmeans import kernel_kmeans, partition_costs
from latefusion.types import SolverResult


def solve_single_kernels(kernels: Sequence[NDArray[Any]], n_clusters: int) -> tuple[list[SolverResult], int]:
    """Relaxed kernel k-means on every kernel.

    Parameters
    ----------
    kernels : sequence of ndarray of shape (n_samples, n_samples)
    n_clusters : int

    Returns
    -------
    results : list of SolverResult
        One per kernel, with weight one for that kernel and zero for the others.
    best : int
        The kernel with the lowest objective relative to its trace; the first of them if there are several.
    """
    results = []
    relative_costs = []
    for position, kernel in enumerate(kernels):
        partition, _ = kernel_kmeans([kernel], np.ones(1), n_clusters)
        cost = float(partition_costs([kernel], partition)[0])
        weights = np.zeros(len(kernels))
        weights[position] = 1.0
        results.append(SolverResult(partition, weights, [cost], 1, True))
        relative_costs.append(cost / max(float(np.trace(kernel)), np.finfo(kernel.dtype).tiny))
    return results, int(np.argmin(relative_costs))


class BestKernelKMeans(ComparisonMethod):
    """Kernel k-means on the best single kernel (SB-KKM).

    The view with the lowest kernel k-means objective relative to the trace of its kernel is selected; no labels are
    used. The partitions and labels of all views are kept.

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
        Cluster of every sample, from the chosen view.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        Partition of the chosen view.
    view_ : int
        Number of the chosen view.
    view_labels_ : ndarray of shape (n_views, n_samples)
        Labels from every view alone.
    view_consensus_ : ndarray of shape (n_views, n_samples, n_clusters)
        Partition of every view.
    view_objectives_ : ndarray of shape (n_views,)
        Kernel k-means objective of every view.
    view_weights_ : ndarray of shape (n_views,)
        One for the chosen view, zero for the others.
    objective_ : ndarray of shape (1,)
        Objective of the chosen view.
    n_iter_ : int
        One.
    converged_ : bool
        True.

    See Also
    --------
    latefusion.baselines.average_kernel.AverageKernelKMeans : All views at once, with equal weights.

    References
    ----------
    Zha, He, Ding, Simon, Gu: Spectral Relaxation for K-means Clustering. NIPS 2001.

    Examples
    --------
    >>> from latefusion.baselines.best_kernel import BestKernelKMeans
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, n_views=2, n_uninformative=1, random_state=0)
    >>> model = BestKernelKMeans(n_clusters=3, random_state=0).fit(data.views)
    >>> model.view_, model.view_objectives_.round(1)
    (0, array([32. , 32. , 40.7]))
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
    def fit(self, X: Any, y: Any = None) -> BestKernelKMeans:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict or Views of arrays, or one array
            The views; rows are samples.
        y : ignored

        Returns
        -------
        BestKernelKMeans
            The fitted estimator.
        """
        results, best = solve_single_kernels(self._fit_kernels(X), self.n_clusters)
        self.view_ = best
        self.view_objectives_ = np.array([result.objective[0] for result in results])
        self.view_consensus_ = np.stack([result.consensus for result in results])
        self.view_labels_ = self._label_views(self.view_consensus_)
        self._store(results[best], self.view_labels_[best])
        return self

    def _label_views(self, partitions: NDArray[Any]) -> NDArray[np.intp]:
        # One seed for all views, so that their labels depend neither on the order nor on the number of the views.
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        return np.stack(
            [
                assign_by_kmeans(partition, self.n_clusters, n_init=self.n_init, random_state=seed)[0]
                for partition in partitions
            ]
        )
