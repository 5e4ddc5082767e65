"""LMKKM: localised multiple kernel k-means, with kernel weights of every sample.

    min_{H, Θ}  Tr(K_Θ) - Tr(Hᵀ K_Θ H),    K_Θ = Σ_p (θ_p θ_pᵀ) ∘ K_p
    subject to HᵀH = I, Θ >= 0, every row of Θ sums to one

==============  ======  ==========================================
here            paper   shape
==============  ======  ==========================================
kernels         K_p     m matrices, n_samples x n_samples
sample_weights  Θ       n_samples x m, columns θ_p
consensus       H       n_samples x n_clusters, orthonormal columns
quadratics      Q_p     m matrices, n_samples x n_samples
==============  ======  ==========================================

For fixed H the weights solve a convex quadratic programme,

    min_Θ  Σ_p θ_pᵀ Q_p θ_p,    Q_p = (I - HHᵀ) ∘ K_p,

over a product of n simplices. The authors pass it to a general solver as one dense mn x mn matrix. Here the m matrices
stay separate, and the problem is solved by accelerated projected gradients:

- Q_p is positive semi-definite and its largest eigenvalue is at most the largest diagonal entry of K_p, because I -
  HHᵀ is a projection. So the step length is known in advance.
- With unit diagonals Q_p = I - (HHᵀ) ∘ K_p, and the part that is subtracted is positive semi-definite with trace k:
  all but a few eigenvalues are close to one, which is why some tens of steps suffice.
- For any feasible Θ with gradient G the value is at most Σ_i (Σ_p Θ_ip G_ip - min_p G_ip) above the minimum. The steps
  end when this bound is small, so the accuracy is known.

An iteration costs one eigenproblem of size n for k vectors and some tens of products of the m matrices with a vector;
memory: the kernels twice. Both steps lower the objective.

The objective of the code is the negative of ours. The paper takes ten iterations, after which the objective still
changes; that count is the default here. As in the code the weights returned are one update newer than the consensus.

Gönen, Margolin: Localized Data Fusion for Kernel k-Means Clustering with Application to Cancer Biology. NIPS 2014.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from latefusion.arrays import top_eigenpairs
from latefusion.baselines.base import KERNEL_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.kernel_kmeans import has_converged
from latefusion.baselines.support.simplex import project_rows_to_simplex
from latefusion.types import SolverResult

# Relative distance to the minimum at which a quadratic programme counts as solved, and a limit that is not reached in
# practice.
WEIGHT_TOLERANCE = 1e-8
MAX_GRADIENT_STEPS = 500


def solve_lmkkm(
    kernels: Sequence[NDArray[Any]],
    n_clusters: int,
    *,
    max_iter: int = 10,
    tol: float | None = None,
) -> tuple[SolverResult, NDArray[Any]]:
    """Alternate kernel k-means and kernel weights of every sample.

    Parameters
    ----------
    kernels : sequence of ndarray of shape (n_samples, n_samples)
        Positive semi-definite.
    n_clusters : int
    max_iter : int, default=10
    tol : float or None, default=None
        Relative change of the objective at which to stop; None takes exactly ``max_iter`` iterations, as in the paper,
        and counts as converged.

    Returns
    -------
    result : SolverResult
        Its weights are the means of the sample weights.
    sample_weights : ndarray of shape (n_samples, n_kernels)
    """
    n_samples, n_kernels = len(kernels[0]), len(kernels)
    sample_weights = np.full((n_samples, n_kernels), 1.0 / n_kernels)
    curvature = max(float(np.diagonal(kernel).max()) for kernel in kernels)
    quadratics = np.empty((n_kernels, n_samples, n_samples))
    objective: list[float] = []
    settled = False
    while not settled and len(objective) < max_iter:
        _, partition = top_eigenpairs(localized_kernel(kernels, sample_weights), n_clusters)
        _weight_quadratics(kernels, partition, out=quadratics)
        sample_weights, value = minimize_over_simplices(quadratics, sample_weights, curvature)
        objective.append(value)
        settled = tol is not None and has_converged(objective, tol)
    result = SolverResult(partition, sample_weights.mean(axis=0), objective, len(objective), settled or tol is None)
    return result, sample_weights


def localized_kernel(kernels: Sequence[NDArray[Any]], sample_weights: NDArray[Any]) -> NDArray[Any]:
    """Combine the kernels to K_Θ = Σ_p (θ_p θ_pᵀ) ∘ K_p."""
    combined = np.zeros_like(kernels[0])
    for kernel, weights in zip(kernels, sample_weights.T, strict=True):
        combined += kernel * weights[:, None] * weights
    return combined


def localized_objective(
    kernels: Sequence[NDArray[Any]], partition: NDArray[Any], sample_weights: NDArray[Any]
) -> float:
    """Tr(K_Θ) - Tr(Hᵀ K_Θ H)."""
    combined = localized_kernel(kernels, sample_weights)
    return float(np.trace(combined) - np.vdot(partition, combined @ partition))


def minimize_over_simplices(
    quadratics: NDArray[Any], start: NDArray[Any], curvature: float
) -> tuple[NDArray[Any], float]:
    """Minimise Σ_p θ_pᵀ Q_p θ_p over matrices Θ whose rows are on the simplex.

    Accelerated projected gradients; the momentum is dropped whenever it points uphill.

    Parameters
    ----------
    quadratics : ndarray of shape (n_kernels, n_samples, n_samples)
        The matrices Q_p, positive semi-definite.
    start : ndarray of shape (n_samples, n_kernels)
        Feasible.
    curvature : float
        A bound on the eigenvalues of all Q_p.

    Returns
    -------
    solution : ndarray of shape (n_samples, n_kernels)
    value : float
    """
    current, products = start, _multiply(quadratics, start)
    point, point_products = current, products
    momentum = 1.0
    negligible = np.finfo(start.dtype).eps * len(start) * curvature
    for _ in range(MAX_GRADIENT_STEPS):
        value = float(np.vdot(current, products))
        # The gradient is twice the products; see the module's docstring for the bound.
        gap = 2.0 * (value - float(products.min(axis=1).sum()))
        if gap <= max(WEIGHT_TOLERANCE * value, negligible):
            break
        following = project_rows_to_simplex(point - point_products / curvature)
        following_products = _multiply(quadratics, following)
        change = following - current
        if np.vdot(point - following, change) > 0:
            momentum = 1.0
        next_momentum = (1.0 + sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        ahead = (momentum - 1.0) / next_momentum
        # Products are linear, so those of the extrapolated point cost nothing.
        point = following + ahead * change
        point_products = following_products + ahead * (following_products - products)
        current, products, momentum = following, following_products, next_momentum
    return current, float(np.vdot(current, products))


def _weight_quadratics(kernels: Sequence[NDArray[Any]], partition: NDArray[Any], *, out: NDArray[Any]) -> None:
    # Q_p = (I - HHᵀ) ∘ K_p
    residual = -partition @ partition.T
    residual[np.diag_indices_from(residual)] += 1.0
    for kernel, quadratic in zip(kernels, out, strict=True):
        np.multiply(residual, kernel, out=quadratic)


def _multiply(quadratics: NDArray[Any], sample_weights: NDArray[Any]) -> NDArray[Any]:
    # Column p is Q_p θ_p: half the gradient.
    return np.column_stack(
        [quadratic @ weights for quadratic, weights in zip(quadratics, sample_weights.T, strict=True)]
    )


class LocalizedMKKM(ComparisonMethod):
    """Localised multiple kernel k-means (LMKKM).

    Learns a weight of every view for every sample, together with the clustering.

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
    max_iter : int, default=10
        Number of iterations.
    tol : float or None, default=None
        Relative change of the objective at which to stop earlier. None takes exactly ``max_iter`` iterations, as in the
        paper, without a warning.
    n_init : int, default=10
        Number of k-means starts for the labels.
    random_state : int, RandomState or None, default=None
        Seed of these starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        Leading eigenvectors of the combined kernel.
    sample_weights_ : ndarray of shape (n_samples, n_views)
        Weight of every view for every sample; rows are non-negative with sum one.
    view_weights_ : ndarray of shape (n_views,)
        Mean of the sample weights.
    objective_ : ndarray of shape (n_iter_,)
        Objective after every iteration; it never rises.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the objective converged, or True when ``tol`` is None.

    See Also
    --------
    latefusion.baselines.mkkm.MultipleKernelKMeans : The same with one weight per view.

    Notes
    -----
    The memory needed is that of the kernels twice. The authors' formulation needs the square of samples times views.

    References
    ----------
    Gönen, Margolin: Localized Data Fusion for Kernel k-Means Clustering with Application to Cancer Biology. NIPS 2014.

    Examples
    --------
    >>> from latefusion.baselines.lmkkm import LocalizedMKKM
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, n_views=2, n_uninformative=1, random_state=0)
    >>> model = LocalizedMKKM(n_clusters=3, random_state=0).fit(data.views)
    >>> model.view_weights_.round(2)
    array([0.34, 0.41, 0.24])
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left"), None],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Any = None,
        similarity: Any = "auto",
        kernel: str | Callable[..., Any] = "gaussian",
        kernel_params: Mapping[str, Any] | None = None,
        max_iter: int = 10,
        tol: float | None = None,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> LocalizedMKKM:
        """Cluster the samples and weigh the views for every sample.

        Parameters
        ----------
        X : list, dict or Views of arrays, or one array
            The views; rows are samples.
        y : ignored

        Returns
        -------
        LocalizedMKKM
            The fitted estimator.
        """
        kernels = self._fit_kernels(X)
        result, self.sample_weights_ = solve_lmkkm(kernels, self.n_clusters, max_iter=self.max_iter, tol=self.tol)
        self._store(result)
        return self
