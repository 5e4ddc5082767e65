"""MKKM-MR: multiple kernel k-means with matrix-induced regularisation.

    min_{H, γ}  Σ_p γ_p² a_p + (λ/2) γᵀ M γ,    a_p = Tr(K_p) - Tr(Hᵀ K_p H),    M_pq = Tr(K_p K_q)
    subject to HᵀH = I, γ >= 0, Σ_p γ_p = 1

The penalty on weights of similar kernels moves weight to kernels that differ.

==============  ======  ==========================================
here            paper   shape
==============  ======  ==========================================
kernels         K_p     m matrices, n_samples x n_samples
consensus       H       n_samples x n_clusters, orthonormal columns
weights         γ       m, on the simplex
regularization  λ       scalar
==============  ======  ==========================================

M costs O(m² n²) once. An iteration costs one eigenproblem of size n for k vectors, m products of an n x n with an n x
k matrix and a quadratic programme in m unknowns; memory: one kernel in addition to those given.

Where paper and published code differ:

- The code takes H from Σ_p γ_p K_p but updates γ as if the kernels were combined with γ_p². These are steps on two
  different objectives, and the value can rise. ``combination="squared"`` is the paper, with an objective that never
  rises; ``combination="linear"`` is the code.
- The code has no maximum number of iterations. As in the code, the objective is recorded before the weights are
  updated.

Note that M is not normalised. With unit diagonals its entries grow like n², the costs a_p like n, so a λ that is
suitable for a hundred samples is ten times too strong for a thousand. For large λ the weights depend on M alone and no
longer on the clusters.

Liu, Dou, Yin, Wang, Zhu: Multiple Kernel k-Means Clustering with Matrix-Induced Regularization. AAAI 2016.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from latefusion.baselines.base import ITERATION_CONSTRAINTS, KERNEL_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.kernel_kmeans import Combination, kernel_products, solve_regularized_weights
from latefusion.types import SolverResult


def solve_mkkm_mr(
    kernels: Sequence[NDArray[Any]],
    n_clusters: int,
    *,
    regularization: float = 2.0**-4,
    combination: Combination = "squared",
    max_iter: int = 100,
    tol: float = 1e-6,
) -> SolverResult:
    """Alternate kernel k-means and regularised kernel weights.

    Parameters
    ----------
    kernels : sequence of ndarray of shape (n_samples, n_samples)
    n_clusters : int
    regularization : float, default=0.0625
        The factor λ of the penalty.
    combination : {"squared", "linear"}, default="squared"
        Whether the partition comes from Σ γ_p² K_p (paper) or Σ γ_p K_p (published code).
    max_iter : int, default=100
    tol : float, default=1e-6
        Relative change of the objective at which to stop.

    Returns
    -------
    SolverResult
    """
    return solve_regularized_weights(
        kernels,
        n_clusters,
        regularization * kernel_products(kernels),
        combination=combination,
        max_iter=max_iter,
        tol=tol,
    )


class MatrixRegularizedMKKM(ComparisonMethod):
    """Multiple kernel k-means with matrix-induced regularisation (MKKM-MR).

    Learns one weight per view together with the clustering; a penalty on pairs of similar kernels spreads the weight
    over views that differ.

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
    regularization : float, default=0.0625
        Strength λ of the penalty. Useful values shrink as the number of samples grows, see Notes.
    combination : {"squared", "linear"}, default="squared"
        Whether kernels are added with squared weights, as in the paper, or with the weights themselves, as the
        published code does; then the objective may rise.
    max_iter : int, default=100
        Maximum number of iterations.
    tol : float, default=1e-6
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
        Objective in every iteration, before its weight update.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the objective converged before ``max_iter``.

    See Also
    --------
    latefusion.baselines.mkkm.MultipleKernelKMeans : The same without a penalty.
    latefusion.baselines.lkam.LocalKernelAlignment : The same on neighbourhoods.

    Notes
    -----
    The matrix Tr(K_p K_q) of the penalty is not normalised: its entries grow with the square of the number
    of samples, the clustering cost only linearly. A good value for one data set is too strong for a larger one.

    References
    ----------
    Liu, Dou, Yin, Wang, Zhu: Multiple Kernel k-Means Clustering with Matrix-Induced Regularization. AAAI 2016.

    Examples
    --------
    >>> from latefusion.baselines.mkkm_mr import MatrixRegularizedMKKM
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, n_views=2, n_uninformative=1, random_state=0)
    >>> model = MatrixRegularizedMKKM(n_clusters=3, random_state=0).fit(data.views)
    >>> model.view_weights_.round(2)
    array([0.35, 0.36, 0.3 ])
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {"regularization": [2.0**power for power in range(-15, 11)]}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "regularization": [Interval(Real, 0, None, closed="left")],
        "combination": [StrOptions({"squared", "linear"})],
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
        regularization: float = 0.0625,
        combination: Combination = "squared",
        max_iter: int = 100,
        tol: float = 1e-6,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.regularization = regularization
        self.combination = combination
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> MatrixRegularizedMKKM:
        """Cluster the samples and weigh the views.

        Parameters
        ----------
        X : list, dict or Views of arrays, or one array
            The views; rows are samples.
        y : ignored

        Returns
        -------
        MatrixRegularizedMKKM
            The fitted estimator.
        """
        result = solve_mkkm_mr(
            self._fit_kernels(X),
            self.n_clusters,
            regularization=self.regularization,
            combination=self.combination,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self._store(result)
        return self
