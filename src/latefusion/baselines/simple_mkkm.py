"""SimpleMKKM: the weights that minimise the fit of the best partition.

    min_γ f(γ),    f(γ) = max_H Tr(Hᵀ K_γ H),    K_γ = Σ_p γ_p² K_p
    subject to HᵀH = I, γ >= 0, Σ_p γ_p = 1

f(γ) is the sum of the k largest eigenvalues of K_γ. As a maximum of convex quadratics it is convex: unlike those of the
other multiple kernel methods, the weights do not depend on a start.

============  ======  ==========================================
here          paper   shape
============  ======  ==========================================
kernels       K_p     m matrices, n_samples x n_samples
consensus     H       n_samples x n_clusters, orthonormal columns
weights       γ       m, on the simplex
cuts          c       one row Tr(Hᵀ K_p H), p = 1..m, per partition
============  ======  ==========================================

The authors follow a reduced gradient with a golden-section search, some tens of eigenproblems per step, and stop about
1e-7 above the minimum. It assumes that f is smooth, which fails where the eigenvalues k and k + 1 of K_γ meet; with
many kernels the minimum is often at such a point. Here f is modelled from below instead:

1. At γ, one eigenproblem gives H and its cut c_p = Tr(Hᵀ K_p H). Then f(γ) = Σ_p γ_p² c_p, and for every other γ this
   quadratic is at most f.
2. The next γ minimises the largest of the quadratics so far. By duality the minimum is max_μ 1 / Σ_p 1/x_p with x = Σ_j
   μ_j c_j and μ on the simplex, attained at γ_p proportional to 1/x_p. This is a small problem: m numbers per cut, and
   cuts with μ_j = 0 are dropped.

The model's minimum is a lower bound of min f and the best f(γ) so far an upper one, so the solver stops at a known
distance from the minimum. Ten to twenty eigenproblems are usually enough.

An iteration costs one eigenproblem of size n for k vectors and m products of an n x n with an n x k matrix; memory: one
kernel in addition to those given. The consensus belongs to the weights returned; in the authors' code it belongs to one
end of the last search interval.

Liu, Zhu, Liu, Hospedales, Wang, Wang: SimpleMKKM: Simple Multiple Kernel K-means. IEEE Transactions on Pattern
Analysis and Machine Intelligence, 2023.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from latefusion.baselines.base import KERNEL_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.kernel_kmeans import explained_traces, kernel_kmeans
from latefusion.baselines.support.simplex import simplex_quadratic
from latefusion.types import SolverResult

# A kernel that a partition does not explain at all would make the model's minimum degenerate.
SMALLEST_RELATIVE_CUT = 1e-12
# Newton steps of the model: its Hessian is singular as soon as there are more cuts than kernels.
RIDGE = 1e-9
NEWTON_TOLERANCE = 1e-12
MAX_NEWTON_STEPS = 50


def solve_simple_mkkm(
    kernels: Sequence[NDArray[Any]], n_clusters: int, *, max_iter: int = 200, tol: float = 1e-7
) -> SolverResult:
    """Minimise the sum of the k largest eigenvalues of Σ_p γ_p² K_p over the simplex.

    Parameters
    ----------
    kernels : sequence of ndarray of shape (n_samples, n_samples)
    n_clusters : int
    max_iter : int, default=200
        Maximum number of eigenproblems.
    tol : float, default=1e-7
        Relative distance of the objective to its minimum at which to stop.

    Returns
    -------
    SolverResult
        The objective is the best value so far. Consensus and weights are those of its last value.
    """
    weights = np.full(len(kernels), 1.0 / len(kernels))
    cuts, multipliers = np.empty((0, len(kernels))), np.empty(0)
    best, best_weights, lower = np.inf, weights, 0.0
    objective: list[float] = []
    converged = False
    while not converged and len(objective) < max_iter:
        partition, _ = kernel_kmeans(kernels, weights**2, n_clusters)
        cut = explained_traces(kernels, partition)
        value = float(cut @ weights**2)
        if value < best:
            best, best_weights, best_partition = value, weights, partition
        objective.append(best)
        cuts = np.vstack([cuts, np.maximum(cut, SMALLEST_RELATIVE_CUT * cut.max())])
        multipliers = np.append(multipliers, 0.0 if len(multipliers) else 1.0)
        multipliers, weights, bound = minimize_model(cuts, multipliers)
        cuts, multipliers = cuts[multipliers > 0], multipliers[multipliers > 0]
        lower = max(lower, bound)
        converged = best - lower <= tol * best
    return SolverResult(best_partition, best_weights, objective, len(objective), converged)


def minimize_model(cuts: NDArray[Any], start: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], float]:
    """Minimise max_j Σ_p γ_p² c_jp over γ on the simplex, through its dual min_μ Σ_p 1/x_p, x = Σ_j μ_j c_j.

    Newton's method on the simplex with a line search. Any multipliers give a valid bound, the best ones the minimum.

    Parameters
    ----------
    cuts : ndarray of shape (n_cuts, n_kernels)
        Positive.
    start : ndarray of shape (n_cuts,)
        Multipliers μ on the simplex to start from.

    Returns
    -------
    multipliers : ndarray of shape (n_cuts,)
    weights : ndarray of shape (n_kernels,)
        The minimiser γ.
    bound : float
        The minimum, from below.
    """
    multipliers, value = start, _model_dual(cuts, start)
    for _ in range(MAX_NEWTON_STEPS):
        mixed = multipliers @ cuts
        gradient = -cuts @ mixed**-2.0
        hessian = (cuts * (2.0 / mixed**3)) @ cuts.T
        hessian[np.diag_indices_from(hessian)] += RIDGE * np.trace(hessian)
        linear = gradient - hessian @ multipliers
        # On the simplex a linear term bᵀμ is the quadratic one ½ μᵀ(b1ᵀ + 1bᵀ)μ.
        direction = simplex_quadratic(hessian + linear[:, None] + linear) - multipliers
        expected = float(-gradient @ direction)
        if expected <= NEWTON_TOLERANCE * value:
            break
        step = 1.0
        while _model_dual(cuts, multipliers + step * direction) > value - 1e-4 * step * expected and step > 1e-8:
            step /= 2.0
        multipliers = multipliers + step * direction
        value = _model_dual(cuts, multipliers)
    inverse = 1.0 / (multipliers @ cuts)
    return multipliers, inverse / inverse.sum(), 1.0 / value


def _model_dual(cuts: NDArray[Any], multipliers: NDArray[Any]) -> float:
    return float(np.sum(1.0 / (multipliers @ cuts)))


class SimpleMKKM(ComparisonMethod):
    """Simple multiple kernel k-means (SimpleMKKM).

    Learns one weight per view by a min-max problem that is convex: among all weighted sums of kernels it takes the one
    whose best partition fits least, so that no view dominates by its scale alone.

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
    max_iter : int, default=200
        Maximum number of iterations.
    tol : float, default=1e-7
        Relative distance of the objective to its minimum at which to stop.
    n_init : int, default=10
        Number of k-means starts for the labels.
    random_state : int, RandomState or None, default=None
        Seed of these starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        Leading eigenvectors of the kernel with the weights found.
    view_weights_ : ndarray of shape (n_views,)
        Weight of every view, non-negative with sum one.
    objective_ : ndarray of shape (n_iter_,)
        Lowest value up to every iteration.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the last value is certified to lie within ``tol`` of the minimum.

    See Also
    --------
    latefusion.baselines.mkkm.MultipleKernelKMeans : Minimises over weights and partitions at once.

    References
    ----------
    Liu, Zhu, Liu, Hospedales, Wang, Wang: SimpleMKKM: Simple Multiple Kernel K-means. IEEE
    Transactions on Pattern Analysis and Machine Intelligence, 2023.

    Examples
    --------
    >>> from latefusion.baselines.simple_mkkm import SimpleMKKM
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, n_views=2, n_uninformative=1, random_state=0)
    >>> model = SimpleMKKM(n_clusters=3, random_state=0).fit(data.views)
    >>> model.view_weights_.round(2)
    array([0.28, 0.29, 0.43])
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Any = None,
        similarity: Any = "auto",
        kernel: str | Callable[..., Any] = "gaussian",
        kernel_params: Mapping[str, Any] | None = None,
        max_iter: int = 200,
        tol: float = 1e-7,
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
    def fit(self, X: Any, y: Any = None) -> SimpleMKKM:
        """Cluster the samples and weigh the views.

        Parameters
        ----------
        X : list, dict or Views of arrays, or one array
            The views; rows are samples.
        y : ignored

        Returns
        -------
        SimpleMKKM
            The fitted estimator.
        """
        kernels = self._fit_kernels(X)
        self._store(solve_simple_mkkm(kernels, self.n_clusters, max_iter=self.max_iter, tol=self.tol))
        return self
