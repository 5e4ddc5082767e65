"""LKAM: multiple kernel clustering with local kernel alignment maximisation.

    min_{H, γ}  (1/n) Σ_i [ Tr(K_γ^(i) (I - H^(i) H^(i)ᵀ)) + (λ/2) γᵀ M^(i) γ ],    K_γ = Σ_p γ_p² K_p
    subject to HᵀH = I, γ >= 0, Σ_p γ_p = 1

The superscript (i) restricts a matrix to N(i), the τ nearest neighbours of sample i by the mean kernel, i itself
excluded, and M^(i)_pq = Tr(K_p^(i) K_q^(i)).

No sum over samples is ever formed. With A_jl = #{i : j and l in N(i)}, the number of neighbourhoods two samples share,
the problem is that of regularised weights on the kernels L_p = A ∘ K_p / n, with M_pq = Σ_jl (L_p)_jl (K_q)_jl.

==============  ======  ==========================================
here            paper   shape
==============  ======  ==========================================
kernels         K_p     m matrices, n_samples x n_samples
shared          A       n_samples x n_samples
consensus       H       n_samples x n_clusters, orthonormal columns
weights         γ       m, on the simplex
regularization  λ       scalar
neighborhood    τ       fraction of n_samples, or a count
==============  ======  ==========================================

Set-up: O(n² log n) for the neighbours, one product of two n x n matrices for A, O(m² n²) for M. An iteration costs one
eigenproblem of size n for k vectors, m products of an n x n with an n x k matrix and a quadratic programme in m
unknowns. Memory: the kernels twice.

There are two versions of the code. One follows the paper; the other combines kernels with γ_p in place of γ_p² and,
because two arguments are swapped in a call, takes the global M_pq = Tr(K_p K_q). ``combination="linear",
local_alignment=False`` selects the second; its objective need not fall. As in the code, halves are rounded up in the
size of a neighbourhood.

Li, Liu, Wang, Dou, Yin, Zhu: Multiple Kernel Clustering with Local Kernel Alignment Maximization. IJCAI 2016.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

from latefusion.baselines.base import ITERATION_CONSTRAINTS, KERNEL_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.kernel_kmeans import Combination, kernel_products, solve_regularized_weights
from latefusion.kernels import combine_kernels
from latefusion.partitions.neighborhoods import neighborhood_size
from latefusion.types import SolverResult


def solve_lkam(
    kernels: Sequence[NDArray[Any]],
    n_clusters: int,
    *,
    n_neighbors: int,
    regularization: float = 2.0**-4,
    combination: Combination = "squared",
    local_alignment: bool = True,
    max_iter: int = 20,
    tol: float = 1e-6,
) -> SolverResult:
    """Alternate kernel k-means and regularised kernel weights on neighbourhoods.

    Parameters
    ----------
    kernels : sequence of ndarray of shape (n_samples, n_samples)
    n_clusters : int
    n_neighbors : int
        Size of a neighbourhood, between 1 and n_samples - 1.
    regularization : float, default=0.0625
        The factor λ of the penalty.
    combination : {"squared", "linear"}, default="squared"
        Whether the partition comes from Σ γ_p² L_p (paper) or Σ γ_p L_p.
    local_alignment : bool, default=True
        Whether the penalty is local as well, or Tr(K_p K_q).
    max_iter : int, default=20
    tol : float, default=1e-6
        Relative change of the objective at which to stop.

    Returns
    -------
    SolverResult
    """
    local_kernels = localize_kernels(kernels, shared_neighborhoods(combine_kernels(kernels), n_neighbors))
    products = local_products(kernels, local_kernels) if local_alignment else kernel_products(kernels)
    return solve_regularized_weights(
        local_kernels,
        n_clusters,
        regularization * products,
        combination=combination,
        max_iter=max_iter,
        tol=tol,
    )


def shared_neighborhoods(kernel: NDArray[Any], n_neighbors: int) -> NDArray[Any]:
    """Number of neighbourhoods that every pair of samples shares: A_jl = #{i : j and l in N(i)}.

    Of equally similar samples those with the lowest index come first.
    """
    n_samples = len(kernel)
    distances = -kernel
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]
    # Counts up to 2**24 are exact in single precision, whose matrix product is twice as fast.
    members = np.zeros((n_samples, n_samples), dtype=np.float32)
    np.put_along_axis(members, nearest, 1.0, axis=1)
    return (members.T @ members).astype(kernel.dtype)


def localize_kernels(kernels: Sequence[NDArray[Any]], shared: NDArray[Any]) -> list[NDArray[Any]]:
    """Form L_p = A ∘ K_p / n, the kernels whose costs are those of all neighbourhoods together."""
    fraction = shared / len(shared)
    return [fraction * kernel for kernel in kernels]


def local_products(kernels: Sequence[NDArray[Any]], local_kernels: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """M_pq = (1/n) Σ_i Tr(K_p^(i) K_q^(i)) = Σ_jl (L_p)_jl (K_q)_jl, shape (n_kernels, n_kernels)."""
    products = np.array([[float(np.vdot(local, kernel)) for kernel in kernels] for local in local_kernels])
    symmetric: NDArray[Any] = (products + products.T) / 2
    return symmetric


class LocalKernelAlignment(ComparisonMethod):
    """Multiple kernel clustering with local kernel alignment maximisation (LKAM).

    Learns one weight per view together with the clustering, and uses only similarities between samples that share
    neighbourhoods of the mean kernel.

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
        Strength λ of the penalty on pairs of similar kernels.
    neighborhood : float or int, default=0.3
        Size τ of a neighbourhood, as a fraction of the samples or as a count; clipped to n_samples - 1.
    combination : {"squared", "linear"}, default="squared"
        Whether kernels are added with squared weights, as in the paper, or with the weights themselves, as in one
        version of the code; then the objective may rise.
    local_alignment : bool, default=True
        Whether the penalty compares kernels on the neighbourhoods, as in the paper, or as a whole.
    max_iter : int, default=20
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
        Leading eigenvectors of the weighted local kernel.
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
    latefusion.baselines.mkkm_mr.MatrixRegularizedMKKM : The same without neighbourhoods.

    References
    ----------
    Li, Liu, Wang, Dou, Yin, Zhu: Multiple Kernel Clustering with Local Kernel Alignment Maximization. IJCAI 2016.

    Examples
    --------
    >>> from latefusion.baselines.lkam import LocalKernelAlignment
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, n_views=2, n_uninformative=1, random_state=0)
    >>> model = LocalKernelAlignment(n_clusters=3, random_state=0).fit(data.views)
    >>> model.view_weights_.round(2)
    array([0.35, 0.35, 0.31])
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {
        "regularization": [2.0**power for power in range(-15, 16)],
        "neighborhood": [0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95],
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "regularization": [Interval(Real, 0, None, closed="left")],
        "neighborhood": [Interval(RealNotInt, 0, 1, closed="right"), Interval(Integral, 1, None, closed="left")],
        "combination": [StrOptions({"squared", "linear"})],
        "local_alignment": ["boolean"],
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
        neighborhood: float = 0.3,
        combination: Combination = "squared",
        local_alignment: bool = True,
        max_iter: int = 20,
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
        self.neighborhood = neighborhood
        self.combination = combination
        self.local_alignment = local_alignment
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> LocalKernelAlignment:
        """Cluster the samples and weigh the views.

        Parameters
        ----------
        X : list, dict or Views of arrays, or one array
            The views; rows are samples.
        y : ignored

        Returns
        -------
        LocalKernelAlignment
            The fitted estimator.
        """
        kernels = self._fit_kernels(X)
        result = solve_lkam(
            kernels,
            self.n_clusters,
            n_neighbors=neighborhood_size(self.neighborhood, len(kernels[0])),
            regularization=self.regularization,
            combination=self.combination,
            local_alignment=self.local_alignment,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self._store(result)
        return self
