"""LMVSC: large-scale multi-view subspace clustering in linear time.

    min  ‖X_v - Z_v A_v‖² + α ‖Z_v‖²,   rows of Z_v on the probability simplex,    v = 1, ..., m

Samples are expressed by anchors, view by view. The anchors A_v are centres of k-means. The coefficients of all views
side by side, Z = [Z_1 ... Z_m] / √m, are an anchor graph, whose left singular vectors are the embedding. The views meet
in this decomposition only.

==============  =====  ================================================
here            paper  shape
==============  =====  ================================================
views           X_v    m matrices, n_samples x n_features_v
anchors         A_v    m matrices, n_anchors x n_features_v
graph           Z̄ᵀ     n_samples x (m n_anchors), sparse
regularization  α      number
==============  =====  ================================================

Cost: k-means, then O(n r D) for r anchors and D columns in all, O(n r³) at most for each view's coefficients, and
O(n (m r)²) for the decomposition. Memory is that of the graph, which keeps only positive coefficients.

All samples of a view share one Hessian A_v A_vᵀ + α I, so that they are solved together, exactly, by an active-set
method (`latefusion.baselines.support.simplex_regression`). The mean of the anchors is subtracted from samples and
anchors: this changes neither the problem nor its solution, but the size of rounding errors.

Differences from the authors' code:

- The paper scales the columns of the graph by the sizes of the anchors, so that Z̄ᵀZ̄ is doubly stochastic
  (``normalize_anchors=True``). The code does not, so the first singular vector carries these sizes.
- Views are not scaled, and the effect of α depends on the units of a view. ``relative_regularization=True`` multiplies
  α by the mean squared length of the centred anchors.
- K-means of the anchors does not depend on the order of the samples. All views have the same seed, as in the code.
- Rows of the embedding keep their lengths, as in the code. ``unit_rows=True`` divides them by their norm.

Kang, Zhou, Zhao, Shao, Han, Xu: Large-scale Multi-view Subspace Clustering in Linear Time. AAAI, 2020.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from latefusion.arrays import row_blocks, top_eigenpairs
from latefusion.baselines.base import BASE_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.simplex_regression import regress_on_simplex
from latefusion.baselines.support.standardized_views import cluster_rows, sort_rows
from latefusion.baselines.support.unified_anchors import count_anchors
from latefusion.types import Array, SolverResult

# Singular vectors with a value below this share of the largest one are left out, as in the authors' code.
NEGLIGIBLE = 1e-5
# Entries of a block of coefficients.
BLOCK_ENTRIES = 2**21


class AnchorCoefficients(NamedTuple):
    """Coefficients of the samples of a view.

    Attributes
    ----------
    graph : csr_array of shape (n_samples, n_anchors)
        Z_v, rows on the simplex.
    objective : float
        ‖X_v - Z_v A_v‖² + α ‖Z_v‖².
    """

    graph: scipy.sparse.csr_array
    objective: float


def express_by_anchors(view: Array, anchors: NDArray[Any], regularization: float) -> AnchorCoefficients:
    """Solve min ‖x - Aᵀz‖² + α ‖z‖² over the simplex for every sample x.

    Parameters
    ----------
    view : ndarray or sparse matrix of shape (n_samples, n_features)
    anchors : ndarray of shape (n_anchors, n_features)
    regularization : float
        α, positive.

    Returns
    -------
    AnchorCoefficients
    """
    origin = anchors.mean(axis=0)
    centered = anchors - origin
    hessian = centered @ centered.T + regularization * np.eye(len(anchors))
    parts, objective = [], 0.0
    for rows in row_blocks(view.shape[0], max(1, BLOCK_ENTRIES // max(anchors.shape))):
        block = view[rows]
        if scipy.sparse.issparse(block):
            targets = block @ centered.T - origin @ centered.T
            squares = float(block.multiply(block).sum() - 2.0 * (block @ origin).sum())
            squares += block.shape[0] * float(origin @ origin)
        else:
            shifted = block - origin
            targets = shifted @ centered.T
            squares = float(np.vdot(shifted, shifted))
        weights = regress_on_simplex(hessian, targets)
        parts.append(scipy.sparse.csr_array(weights))
        objective += squares - 2.0 * float(np.vdot(targets, weights)) + float(np.vdot(weights @ hessian, weights))
    return AnchorCoefficients(scipy.sparse.vstack(parts, format="csr"), objective)


def solve_lmvsc(
    views: Sequence[Array],
    anchors: Sequence[NDArray[Any]],
    n_clusters: int,
    *,
    regularization: float = 1.0,
    relative_regularization: bool = False,
    normalize_anchors: bool = False,
) -> tuple[SolverResult, scipy.sparse.csr_array]:
    """Express the samples by the anchors of every view, and decompose the anchor graph.

    Parameters
    ----------
    views : sequence of ndarray or sparse matrix of shape (n_samples, n_features_p)
    anchors : sequence of ndarray of shape (n_anchors, n_features_p)
    n_clusters : int
    regularization : float, default=1.0
        α.
    relative_regularization : bool, default=False
        Whether α is multiplied by the mean squared length of the centred anchors of the view.
    normalize_anchors : bool, default=False
        Whether columns of the graph are divided by the square roots of their sums.

    Returns
    -------
    result : SolverResult
        The consensus holds at most ``n_clusters`` left singular vectors of the graph.
    graph : csr_array of shape (n_samples, n_views * n_anchors)
        Z.
    """
    found = []
    for view, own in zip(views, anchors, strict=True):
        scale = float(np.mean(np.sum((own - own.mean(axis=0)) ** 2, axis=1))) if relative_regularization else 1.0
        found.append(express_by_anchors(view, own, regularization * (scale or 1.0)))
    graph = scipy.sparse.hstack([one.graph for one in found], format="csr") * len(found) ** -0.5
    scaled = graph
    if normalize_anchors:
        totals = np.asarray(graph.sum(axis=0)).ravel() * len(found) ** 0.5
        used = totals > 0
        scaled = (graph @ scipy.sparse.diags_array(used / np.sqrt(np.where(used, totals, 1.0)))).tocsr()
    objective = [sum(one.objective for one in found)]
    return SolverResult(_left_vectors(scaled, n_clusters), None, objective, 1, True), graph


def _left_vectors(graph: scipy.sparse.csr_array, n_vectors: int) -> NDArray[Any]:
    # From the eigenvectors of the small matrix ZᵀZ, as in the authors' code
    products = (graph.T @ graph).toarray()
    values, vectors = top_eigenpairs(products, min(n_vectors, len(products)))
    singular = np.sqrt(np.maximum(values, 0.0))
    kept = singular > NEGLIGIBLE * singular[0]
    return (graph @ vectors[:, kept]) / singular[kept]


def choose_anchors(view: Array, n_anchors: int, *, n_init: int, seed: int) -> NDArray[Any]:
    """Centres of k-means, which do not depend on the order of the samples.

    Parameters
    ----------
    view : ndarray or sparse matrix of shape (n_samples, n_features)
    n_anchors : int
    n_init : int
        Number of k-means++ starts.
    seed : int

    Returns
    -------
    ndarray of shape (n_anchors, n_features)
        Repeated if there are fewer different samples.
    """
    generator = np.random.RandomState(seed)
    if scipy.sparse.issparse(view):
        model = KMeans(n_anchors, n_init=n_init, random_state=generator).fit(view[sort_rows(view)])
        return np.asarray(model.cluster_centers_)
    return cluster_rows(view, n_anchors, n_init=n_init, generator=generator)[1]


class LargeScaleSubspaceClustering(ComparisonMethod):
    """Subspace clustering by anchors of every view and one decomposition, in linear time (LMVSC).

    Minimises ‖X_v - Z_v A_v‖² + α ‖Z_v‖² over coefficients Z_v with rows on the probability simplex, for anchors A_v
    from k-means of every view. The embedding is made of the left singular vectors of all coefficients side by side.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    views : dict or list, default=None
        Which columns belong to which view, when one table holds them all.
    similarity : {"auto", "precomputed"}, default="auto"
        Whether the views are features or kernels; the features of a kernel are its kernel principal components.
    n_anchors : int or {"k", "2k", "3k"}, default="k"
        Number of anchors of every view, at least ``n_clusters``: a number or a multiple of the number of clusters. At
        most one per sample.
    regularization : float, default=1.0
        Weight α of the squared coefficients, in the squared units of the views.
    relative_regularization : bool, default=False
        Whether α is multiplied by the mean squared length of the centred anchors of the view, and so has no unit.
    normalize_anchors : bool, default=False
        Whether columns of the anchor graph are divided by the square roots of their sums, as in the paper. The authors'
        code does not.
    unit_rows : bool, default=False
        Whether rows of the embedding are divided by their norm before k-means. The authors' code does not.
    n_init : int, default=10
        Number of k-means starts for the anchors and for the labels.
    random_state : int, RandomState or None, default=None
        Seed of these starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    consensus_ : ndarray of shape (n_samples, n_vectors)
        Left singular vectors of the anchor graph, at most ``n_clusters``.
    anchor_graph_ : csr_array of shape (n_samples, n_views * n_anchors)
        Coefficients of the anchors of all views, divided by the square root of the number of views.
    objective_ : ndarray of shape (1,)
        Sum of the objectives of the views.
    n_iter_ : int
        One.
    converged_ : bool
        True.

    Notes
    -----
    Columns of very different scale, and views of different scale, are better standardised beforehand.

    References
    ----------
    Kang, Zhou, Zhao, Shao, Han, Xu: Large-scale Multi-view Subspace Clustering in Linear Time. AAAI, 2020.

    Examples
    --------
    >>> from latefusion.baselines.lmvsc import LargeScaleSubspaceClustering
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, 3, n_views=2, random_state=0)
    >>> model = LargeScaleSubspaceClustering(n_clusters=3, n_anchors="2k", random_state=0).fit(data.views)
    >>> model.anchor_graph_.shape
    (60, 12)
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {
        "n_anchors": ["k", 50, 100],
        "regularization": [1e-3, 1e-2, 1e-1, 1.0, 10.0],
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BASE_CONSTRAINTS,
        "n_anchors": [Interval(Integral, 1, None, closed="left"), StrOptions({"k", "2k", "3k"})],
        "regularization": [Interval(Real, 0, None, closed="neither")],
        "relative_regularization": ["boolean"],
        "normalize_anchors": ["boolean"],
        "unit_rows": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Mapping[str, Any] | Sequence[Any] | None = None,
        similarity: Any = "auto",
        n_anchors: int | str = "k",
        regularization: float = 1.0,
        relative_regularization: bool = False,
        normalize_anchors: bool = False,
        unit_rows: bool = False,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.n_anchors = n_anchors
        self.regularization = regularization
        self.relative_regularization = relative_regularization
        self.normalize_anchors = normalize_anchors
        self.unit_rows = unit_rows
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> LargeScaleSubspaceClustering:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict, Views, array or data frame
            The views.
        y : ignored

        Returns
        -------
        LargeScaleSubspaceClustering
        """
        views = self._fit_rows(X)
        n_anchors = count_anchors(self.n_anchors, self.n_clusters, views[0].shape[0])
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        result, self.anchor_graph_ = solve_lmvsc(
            views,
            [choose_anchors(view, n_anchors, n_init=self.n_init, seed=seed) for view in views],
            self.n_clusters,
            regularization=self.regularization,
            relative_regularization=self.relative_regularization,
            normalize_anchors=self.normalize_anchors,
        )
        self._store(result, self._cluster_embedding(result.consensus, unit_rows=self.unit_rows))
        return self
