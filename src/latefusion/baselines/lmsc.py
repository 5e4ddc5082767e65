"""LMSC: latent multi-view subspace clustering.

    min  ‖[E_h ; E_r]‖_{2,1} + λ ‖Z‖_*
    subject to X = P H + E_h, H = H Z + E_r, P an isometry

One latent representation H explains the features of all views, and every sample in it is a linear combination of the
others, with coefficients Z. Spectral clustering of |Z| + |Zᵀ| gives the labels. ‖·‖_{2,1} sums the norms of the
columns, one per sample.

==============  ==========  ===================================================================================
here            paper       shape
==============  ==========  ===================================================================================
features        X           n_features x n_samples, every sample of unit norm in each view
latent          H           n_components x n_samples
dictionary      P           n_features x n_components, orthonormal columns
errors          E_h, E_r    n_features + n_components x n_samples, one above the other
expression      Z           n_samples x n_samples
auxiliary       J           n_samples x n_samples, the copy of Z that is low-rank
multipliers     Y_1, Y_2    as the errors, for the two constraints; Y_3, for J = Z, is -μ times ``dual``
penalty         μ           grows by the factor ρ in every iteration, up to 10⁶
==============  ==========  ===================================================================================

**No n x n matrix in the iterations.** The step for Z has the solution, with G = J + Y_3/μ and Woodbury's identity,

    Z = G + Hᵀ N,    N = (I + H Hᵀ)^{-1} (H - E_r + Y_2/μ - H G),

so the new multiplier Y_3 + μ (J - Z) = -μ Hᵀ N has rank n_components at most. The threshold makes J low-rank; hence
so are Z and Z - Y_3/μ, and all of them are kept as products of thin matrices with q columns, where q is the rank of
J plus twice n_components. The threshold needs two QR factorisations of n x q matrices and a small singular value
decomposition. The step for H is a Sylvester equation A H + H B = C, where A = μ PᵀP is a multiple of a projector,
so it falls into one or two linear systems with B, the identity plus a matrix of rank 2 q. With d features and K latent
dimensions an iteration costs O(n q² + d n K) in place of O(n³), for the same iterates.

Differences from the authors' code (from a third-party copy):

- There the right-hand side of the Sylvester equation has the wrong sign, which negates H, misses the tolerance and
  ends at a much higher objective (``sylvester_sign="published"``); and 10⁻⁸ I is added before the threshold.
- The start is random there; the default here comes from the principal components of X and is the same in every run.
- With more features than samples, the triangular factor of a QR factorisation replaces X, which changes no norm.

Zhang, Hu, Fu, Zhu, Cao: Latent Multi-view Subspace Clustering. CVPR 2017.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy.linalg
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from latefusion.arrays import polar, require_memory, top_eigenpairs, unit_rows
from latefusion.baselines.base import BASE_CONSTRAINTS, ITERATION_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.low_rank_expression import (
    Expression,
    Matrix,
    Product,
    compress,
    lower_singular_values,
    solve_gap_system,
    update_expression,
    zero_expression,
)
from latefusion.baselines.support.spectral import normalized_affinity
from latefusion.types import SolverResult

FIRST_PENALTY = 1e-4
PENALTY_GROWTH = 1.2
MAX_PENALTY = 1e6
# Keeps the Sylvester equation regular where the dictionary has no part in a latent direction.
RIDGE = 1e-6


class LatentExpression(NamedTuple):
    """Result of the method of multipliers.

    Attributes
    ----------
    expression : ndarray of shape (n_samples, n_samples)
    objective : list of float
        ‖[E_h ; E_r]‖_{2,1} + λ ‖J‖_* after every iteration.
    converged : bool
    """

    expression: Matrix
    objective: list[float]
    converged: bool


def solve_lmsc(
    features: Matrix,
    latent: Matrix,
    n_clusters: int,
    *,
    regularization: float = 0.1,
    sylvester_sign: Literal["exact", "published"] = "exact",
    max_iter: int = 200,
    tol: float = 1e-6,
) -> SolverResult:
    """Embed the samples by the self-expression of a latent representation.

    Parameters
    ----------
    features : ndarray of shape (n_features, n_samples)
        All views, from `stack_views`.
    latent : ndarray of shape (n_components, n_samples)
        Start of H, from `start_latent`.
    n_clusters : int
    regularization : float, default=0.1
        Weight λ of the nuclear norm of Z.
    sylvester_sign : {"exact", "published"}, default="exact"
        "published" negates H in every iteration, as the authors' code does.
    max_iter : int, default=200
    tol : float, default=1e-6
        Largest row sum of the residuals of all constraints at which to stop.

    Returns
    -------
    SolverResult
    """
    found = express_latent(
        features, latent, regularization=regularization, sylvester_sign=sylvester_sign, max_iter=max_iter, tol=tol
    )
    magnitudes = np.abs(found.expression)
    affinity = magnitudes + magnitudes.T
    # A sample that is zero in every view is not part of any combination: it is connected to itself only.
    alone = np.flatnonzero(affinity.sum(axis=1) == 0)
    affinity[alone, alone] = 1.0
    embedding = top_eigenpairs(normalized_affinity(affinity), n_clusters)[1]
    return SolverResult(embedding, None, found.objective, len(found.objective), found.converged)


def stack_views(views: Sequence[Matrix]) -> Matrix:
    """Every sample scaled to unit norm in each view; the views stacked, samples as columns.

    Parameters
    ----------
    views : sequence of ndarray of shape (n_samples, n_features_p)

    Returns
    -------
    ndarray of shape (min(n_features, n_samples), n_samples)
        With more features than samples, their triangular QR factor: the same inner products in fewer rows.
    """
    stacked = np.concatenate([unit_rows(view, xp=np) for view in views], axis=1).T
    if stacked.shape[0] > stacked.shape[1]:
        return np.asarray(np.linalg.qr(stacked, mode="r"))
    return stacked


def start_latent(features: Matrix, n_components: int, init: str, random_state: np.random.RandomState) -> Matrix:
    """Latent representation to start from.

    Parameters
    ----------
    features : ndarray of shape (n_features, n_samples)
    n_components : int
        Number of rows; no more than the smaller side of ``features``, or its rank for principal components, are made.
    init : {"pca", "random"}
        Principal components with emphasised entries, or uniform numbers between 0 and 1.
    random_state : RandomState
        For the random start.

    Returns
    -------
    ndarray of shape (n_components or less, n_samples)

    Notes
    -----
    The principal components themselves are a saddle: all matrices of the iteration then share the singular vectors
    of X and never leave the leading ones, except by rounding errors, which grow until they determine the result. Every
    entry x is therefore replaced by x |x|, scaled to the largest of its component. That leads out of the saddle, and
    does not depend on the signs of the components or on the order of samples and views.
    """
    if init == "random":
        return random_state.uniform(size=(min(n_components, *features.shape), features.shape[1]))
    _, values, right = scipy.linalg.svd(features, full_matrices=False)
    rank = int(np.count_nonzero(values > np.finfo(values.dtype).eps * max(features.shape) * values[0]))
    components = (values[:, None] * right)[: min(n_components, rank)]
    emphasised: Matrix = components * np.abs(components) / np.abs(components).max(axis=1, keepdims=True)
    return emphasised


def express_latent(
    features: Matrix,
    latent: Matrix,
    *,
    regularization: float,
    sylvester_sign: Literal["exact", "published"] = "exact",
    max_iter: int,
    tol: float,
) -> LatentExpression:
    """Learn the latent representation and its self-expression by the method of multipliers.

    Parameters
    ----------
    features, latent, regularization, sylvester_sign, max_iter, tol
        See `solve_lmsc`.

    Returns
    -------
    LatentExpression
    """
    n_features = len(features)
    sign = -1.0 if sylvester_sign == "published" else 1.0
    errors = np.zeros((n_features + len(latent), features.shape[1]))
    multipliers = np.zeros_like(errors)
    expression = zero_expression(features.shape[1])
    dual = Product(np.zeros_like(latent).T, np.zeros_like(latent).T)
    penalty = FIRST_PENALTY
    objective: list[float] = []
    converged = False
    while not converged and len(objective) < max_iter:
        targets = errors - multipliers / penalty
        remainder = features - targets[:n_features]
        dictionary = polar(latent @ remainder.T, xp=np).isometry.T
        latent = sign * update_latent(dictionary, remainder, targets[n_features:], expression, RIDGE / penalty)
        auxiliary, nuclear_norm = lower_singular_values(expression, regularization / penalty)
        update = update_expression(latent, targets[n_features:], auxiliary, dual)
        ratio = penalty / min(penalty * PENALTY_GROWTH, MAX_PENALTY)
        # Z = J + Y_3/μ + HᵀN. The next Y_3/μ is -ratio HᵀN, so the next J comes from Z + ratio HᵀN.
        expression = compress([auxiliary, Product(-dual.left, dual.right), update], shift=ratio)
        fitted = np.concatenate([features - dictionary @ latent, latent - expression.apply(latent)])
        errors = shrink_columns(fitted + multipliers / penalty, 1.0 / penalty)
        residual = fitted - errors
        multipliers += penalty * residual
        objective.append(float(np.linalg.norm(errors, axis=0).sum()) + regularization * nuclear_norm)
        # J - Z has n x n entries: it is computed only when the other constraints hold.
        converged = _largest_row_sum(residual) < tol and _largest_row_sum(dual.dense() - update.dense()) < tol
        dual = Product(update.left, ratio * update.right)
        penalty /= ratio
    return LatentExpression(expression.dense(), objective, converged)


def update_latent(
    dictionary: Matrix, remainder: Matrix, latent_targets: Matrix, expression: Expression, ridge: float
) -> Matrix:
    """Solve for the latent representation, everything else given.

    Parameters
    ----------
    dictionary : ndarray of shape (n_features, n_components)
        P, a partial isometry.
    remainder : ndarray of shape (n_features, n_samples)
        X - E_h + Y_1/μ.
    latent_targets : ndarray of shape (n_components, n_samples)
        E_r - Y_2/μ.
    expression : Expression
        Z.
    ridge : float

    Returns
    -------
    ndarray of shape (n_components, n_samples)
        The solution H of PᵀP H + H ((I - Z)(I - Z)ᵀ + ridge I) = Pᵀ (X - E_h + Y_1/μ) + (E_r - Y_2/μ) (I - Z)ᵀ.
    """
    right = dictionary.T @ remainder + latent_targets - expression.apply_transposed(latent_targets)
    # PᵀP is a projector: rows in its range are multiplied by one, rows in its null space by zero.
    projector = dictionary.T @ dictionary
    latent = solve_gap_system(projector @ right, expression, 1.0 + ridge)
    if round(np.trace(projector)) < len(projector):
        latent += solve_gap_system(right - projector @ right, expression, ridge)
    return latent


def shrink_columns(matrix: Matrix, threshold: float) -> Matrix:
    """Shorten every column by the threshold, or to zero: the proximal point of the sum of column norms."""
    norms = np.linalg.norm(matrix, axis=0)
    shrunk: Matrix = matrix * (np.maximum(norms - threshold, 0.0) / np.where(norms > 0, norms, 1.0))
    return shrunk


def _largest_row_sum(matrix: Matrix) -> float:
    return float(np.abs(matrix).sum(axis=1).max())


class LatentSubspaceClustering(ComparisonMethod):
    """Spectral clustering of the self-expression of one latent representation of all views (LMSC).

    Minimises ‖[E_h ; E_r]‖_{2,1} + λ ‖Z‖_* subject to X = P H + E_h and H = H Z + E_r, where X stacks the views,
    every sample scaled to unit norm in each of them.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    views : dict or list, default=None
        Which columns belong to which view, when one table holds them all.
    similarity : {"auto", "precomputed"}, default="auto"
        Whether the views are features or kernels; the features of a kernel are its kernel principal components.
    regularization : float, default=0.1
        Weight λ of the nuclear norm of the self-expression Z.
    n_components : int, default=100
        Dimension of the latent representation; less where there are fewer features or samples.
    init : {"pca", "random"}, default="pca"
        Start of the latent representation. The authors use "random".
    sylvester_sign : {"exact", "published"}, default="exact"
        "published" reproduces a sign error in the authors' code.
    max_iter : int, default=200
        Maximum number of iterations.
    tol : float, default=1e-6
        Largest row sum of the residuals of the constraints at which to stop.
    n_init : int, default=10
        Number of k-means starts for the labels.
    random_state : int, RandomState or None, default=None
        Seed of these starts, and of the random start of the latent representation.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        Spectral embedding of ``|Z| + |Zᵀ|``.
    objective_ : ndarray of shape (n_iter_,)
        Value after every iteration; the constraints are met at the end only, so it need not fall.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the residuals fell below ``tol``.

    References
    ----------
    Zhang, Hu, Fu, Zhu, Cao: Latent Multi-view Subspace Clustering. CVPR 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion.baselines.lmsc import LatentSubspaceClustering
    >>> bases = np.eye(6).reshape(3, 2, 6)[[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]]
    >>> X = np.einsum("ij,ijk->ik", np.random.RandomState(0).normal(size=(12, 2)), bases)
    >>> LatentSubspaceClustering(n_clusters=3, random_state=0).fit_predict([X, 2 * X])
    array([2, 2, 2, 2, 0, 0, 0, 0, 1, 1, 1, 1])
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {"regularization": [1e-3, 1e-1, 10.0, 1e3]}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BASE_CONSTRAINTS,
        "regularization": [Interval(Real, 0, None, closed="neither")],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"pca", "random"})],
        "sylvester_sign": [StrOptions({"exact", "published"})],
        **ITERATION_CONSTRAINTS,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Mapping[str, Any] | Sequence[Any] | None = None,
        similarity: Any = "auto",
        regularization: float = 0.1,
        n_components: int = 100,
        init: Literal["pca", "random"] = "pca",
        sylvester_sign: Literal["exact", "published"] = "exact",
        max_iter: int = 200,
        tol: float = 1e-6,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.regularization = regularization
        self.n_components = n_components
        self.init = init
        self.sylvester_sign = sylvester_sign
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> LatentSubspaceClustering:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict, Views, array or data frame
            The views.
        y : ignored

        Returns
        -------
        LatentSubspaceClustering
        """
        features = stack_views(self._fit_features(X))
        n_samples = features.shape[1]
        require_memory(
            3 * n_samples**2 * 8,
            f"{type(self).__name__} makes an affinity of its self-expression, {n_samples} x {n_samples} numbers in 3 "
            f"copies: it",
            "Use fewer samples, or GlobalAlignmentClustering, which needs no such matrices for large problems.",
        )
        latent = start_latent(features, self.n_components, self.init, check_random_state(self.random_state))
        result = solve_lmsc(
            features,
            latent,
            self.n_clusters,
            regularization=self.regularization,
            sylvester_sign=self.sylvester_sign,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self._store(result)
        return self
