"""SC: spectral clustering of every view alone, of which the best is selected.

    max_U  Tr(UᵀS_pU)    subject to UᵀU = I,    S_p = D_p^{-1/2} A_p D_p^{-1/2},    for p = 1, ..., m

Symbols: affinities A_p with degrees D_p (n_samples x n_samples), m of them; embeddings U_p (n_samples x n_clusters).
One eigenproblem of size n for k vectors per view; memory is that of the affinities.

The literature calls a view best when its labels score highest against the known classes, score by score. That selection
needs the classes. Here the view is selected without them. The normalised cut of a clustering into k parts is at least k
- Tr(UᵀS_pU); a view that has clusters comes close to that bound, one that has none does not. So the view with the
  lowest loss is selected,

    loss_p = (cut_p - (k - Tr(UᵀS_pU))) / (Tr(UᵀS_pU) - 1),

where the subtracted one is the contribution of the trivial eigenvector. Labels of all views are kept, so that an
evaluation can still select among them by other criteria.

Ng, Jordan, Weiss: On spectral clustering: analysis and an algorithm. NIPS 2001. The normalised cut is that of Shi,
Malik: Normalized cuts and image segmentation. IEEE Transactions on Pattern Analysis and Machine Intelligence, 2000.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from latefusion.arrays import top_eigenpairs
from latefusion.assignment import assign_by_kmeans
from latefusion.baselines.base import KERNEL_CONSTRAINTS, ComparisonMethod
from latefusion.baselines.support.graphs import normalized_affinities
from latefusion.partitions.neighborhoods import neighborhood_size
from latefusion.types import Array, SolverResult


class SpectralEmbedding(NamedTuple):
    """Leading eigenpairs of a normalised affinity: ``values`` (n_clusters,), ``vectors`` (n_samples, n_clusters)."""

    values: NDArray[Any]
    vectors: NDArray[Any]


def solve_single_views(normalized: Sequence[Array], n_clusters: int) -> list[SpectralEmbedding]:
    """Spectral embedding of every view.

    Parameters
    ----------
    normalized : sequence of ndarray or sparse matrix of shape (n_samples, n_samples)
        Normalised affinities S_p.
    n_clusters : int

    Returns
    -------
    list of SpectralEmbedding
    """
    return [SpectralEmbedding(*top_eigenpairs(matrix, n_clusters)) for matrix in normalized]


def nearest_affinities(affinity: NDArray[Any], n_neighbors: int) -> scipy.sparse.csr_array:
    """Keep the affinities of every sample to its nearest neighbours and to the samples whose neighbour it is.

    Ties at the last position are all kept, so the result does not depend on the order of the samples.
    """
    others = affinity.copy()
    np.fill_diagonal(others, -np.inf)
    place = len(affinity) - n_neighbors
    kept = others >= np.partition(others, place, axis=1)[:, [place]]
    return scipy.sparse.csr_array(np.where(kept | kept.T, affinity, 0.0))


def normalized_cut(affinity: Array, labels: NDArray[np.intp], n_clusters: int) -> float:
    """Normalised cut: sum over clusters of the share of their affinity that is cut, one for an empty cluster."""
    n_samples = len(labels)
    members = np.zeros((n_samples, n_clusters))
    members[np.arange(n_samples), labels] = 1.0
    towards = affinity @ members
    volumes = members.T @ towards.sum(axis=1)
    within = np.einsum("ij,ij->j", members, towards)
    filled = volumes > 0
    return float(n_clusters - np.sum(within[filled] / volumes[filled]))


def rounding_loss(cut: float, embedding: SpectralEmbedding) -> float:
    """Difference of a cut and its spectral bound, relative to what nontrivial eigenvectors explain."""
    explained = float(embedding.values.sum())
    beyond_trivial = explained - float(embedding.values[0])
    excess = cut - (len(embedding.values) - explained)
    return excess / beyond_trivial if beyond_trivial > 0 else 0.0


class BestViewSpectral(ComparisonMethod):
    """Spectral clustering of the best single view (SC).

    The view whose clusters are closest to the spectral bound of its normalised cut is selected; no labels are used. The
    embeddings and labels of all views are kept.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    views : dict or list, default=None
        Which columns belong to which view, when one table holds them all.
    similarity : {"auto", "precomputed"}, default="auto"
        Whether the views are features or kernels that are already computed; also one entry per view. Kernels are
        scaled to unit diagonal, negative similarities count as zero; they must not be centred.
    kernel : str or callable, default="gaussian"
        Affinity of the views that are features.
    kernel_params : dict, default=None
        Parameters of the kernel; the width of the Gaussian is the median distance unless given.
    neighborhood : float, int or None, default=None
        Keep only the affinities of every sample to this many others, or this fraction of all samples. None keeps all.
    n_init : int, default=10
        Number of k-means starts for the labels.
    random_state : int, RandomState or None, default=None
        Seed of these starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample, from the chosen view.
    consensus_ : ndarray of shape (n_samples, n_clusters)
        Spectral embedding of the chosen view.
    view_ : int
        Number of the chosen view.
    view_labels_ : ndarray of shape (n_views, n_samples)
        Labels from every view alone.
    view_consensus_ : ndarray of shape (n_views, n_samples, n_clusters)
        Spectral embedding of every view.
    view_objectives_ : ndarray of shape (n_views,)
        Normalised cut of the labels of every view.
    view_losses_ : ndarray of shape (n_views,)
        Difference of that cut and its spectral bound, relative to what the embedding explains; the lowest is selected.
    view_weights_ : ndarray of shape (n_views,)
        One for the chosen view, zero for the others.
    objective_ : ndarray of shape (1,)
        Normalised cut of the chosen view.
    n_iter_ : int
        One.
    converged_ : bool
        True.

    See Also
    --------
    latefusion.baselines.coregularized.CoregularizedSpectral : All views together.

    References
    ----------
    Ng, Jordan, Weiss: On Spectral Clustering: Analysis and an Algorithm. NIPS 2001.

    Examples
    --------
    >>> from latefusion.baselines.spectral import BestViewSpectral
    >>> from latefusion.datasets import make_views
    >>> data = make_views(60, n_views=2, n_uninformative=1, random_state=0)
    >>> model = BestViewSpectral(n_clusters=3, random_state=0).fit(data.views)
    >>> model.view_
    0
    >>> model.view_losses_.round(2)
    array([0.25, 0.29, 0.39])
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {"neighborhood": [tenths / 10 for tenths in range(1, 10)]}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "neighborhood": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
            None,
        ],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Any = None,
        similarity: Any = "auto",
        kernel: str | Callable[..., Any] = "gaussian",
        kernel_params: Mapping[str, Any] | None = None,
        neighborhood: float | None = None,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.neighborhood = neighborhood
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> BestViewSpectral:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict or Views of arrays, or one array
            The views; rows are samples.
        y : ignored

        Returns
        -------
        BestViewSpectral
            The fitted estimator.
        """
        affinities: list[Any] = self._fit_affinities(X)
        if self.neighborhood is not None:
            n_neighbors = neighborhood_size(self.neighborhood, affinities[0].shape[0])
            affinities = [nearest_affinities(affinity, n_neighbors) for affinity in affinities]
        embeddings = solve_single_views(normalized_affinities(affinities, self.view_names_), self.n_clusters)
        self.view_consensus_ = np.stack([embedding.vectors for embedding in embeddings])
        self.view_labels_ = self._label_views(self.view_consensus_)
        cuts = [
            normalized_cut(affinity, labels, self.n_clusters)
            for affinity, labels in zip(affinities, self.view_labels_, strict=True)
        ]
        losses = [rounding_loss(cut, embedding) for cut, embedding in zip(cuts, embeddings, strict=True)]
        self.view_objectives_ = np.array(cuts)
        self.view_losses_ = np.array(losses)
        self.view_ = int(np.argmin(self.view_losses_))
        weights = np.zeros(self.n_views_)
        weights[self.view_] = 1.0
        chosen = self.view_consensus_[self.view_]
        result = SolverResult(chosen, weights, [cuts[self.view_]], 1, True)
        self._store(result, self.view_labels_[self.view_])
        return self

    def _label_views(self, embeddings: NDArray[Any]) -> NDArray[np.intp]:
        # One seed for all views, so that their labels depend neither on the order nor on the number of the views.
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        return np.stack(
            [
                assign_by_kmeans(embedding, self.n_clusters, n_init=self.n_init, random_state=seed)[0]
                for embedding in embeddings
            ]
        )
