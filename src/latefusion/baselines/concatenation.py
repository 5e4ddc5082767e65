"""Concatenation: all views side by side, then plain k-means or spectral clustering of scikit-learn.

These are baselines that ignore which column belongs to which view. The views are first brought to a common scale:

- columns of a dense view have mean zero and variance one;
- rows of a view that is mostly zeros (counts, text) have norm one, and its zeros stay zeros;
- then the view is divided by one number, so that the mean squared norm of its rows is one: a view with many columns has
  no more influence than one with few.

Precomputed kernels are centred, scaled to unit diagonal and averaged; the features are the kernel principal
components of the mean, whose inner products are the mean kernel itself.

Symbols: n samples, d columns in all. K-means costs O(n d k) per iteration; the neighbour graph O(n² d), its embedding a
sparse eigenproblem.

Lloyd: Least squares quantization in PCM. IEEE Trans. Information Theory, 1982. Ng, Jordan, Weiss: On spectral
clustering: analysis and an algorithm. NIPS 2001.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.utils._param_validation import Interval

from latefusion.arrays import top_eigenpairs
from latefusion.baselines.base import BASE_CONSTRAINTS, ComparisonMethod
from latefusion.kernels import combine_kernels, standardize_kernel
from latefusion.types import Array, SolverResult

# A view with a smaller share of entries that are not zero is normalised by rows.
DENSE_SHARE = 0.5
# A concatenation with a smaller share of such entries is kept sparse: then k-means is faster and needs less memory.
SPARSE_SHARE = 0.1


def scale_view(view: Array) -> Array:
    """Bring one view to the common scale.

    Parameters
    ----------
    view : ndarray or sparse matrix of shape (n_samples, n_features)

    Returns
    -------
    ndarray or sparse matrix of shape (n_samples, n_features)
        The mean squared norm of its rows is one. Sparse where the view is sparse and mostly zeros.
    """
    n_samples, n_features = view.shape
    is_sparse = scipy.sparse.issparse(view)
    stored = view.count_nonzero() if is_sparse else np.count_nonzero(view)
    if stored > DENSE_SHARE * n_samples * n_features:
        scaled = StandardScaler().fit_transform(view.toarray() if is_sparse else view)
    else:
        scaled = normalize(view)
    values = scaled.data if scipy.sparse.issparse(scaled) else scaled
    total = float(np.sum(np.square(values), dtype=np.float64))
    return scaled * (float(np.sqrt(n_samples / total)) if total > 0 else 1.0)


def concatenate_views(views: Sequence[Array]) -> Array:
    """Scaled views side by side.

    Parameters
    ----------
    views : sequence of ndarray or sparse matrices of shape (n_samples, n_features_p)

    Returns
    -------
    ndarray or csr_array of shape (n_samples, n_features)
        Sparse if most of its entries are zero.
    """
    scaled = [scale_view(view) for view in views]
    stored = sum(view.nnz if scipy.sparse.issparse(view) else view.size for view in scaled)
    if stored < SPARSE_SHARE * sum(view.shape[0] * view.shape[1] for view in scaled):
        return scipy.sparse.hstack([scipy.sparse.csr_array(view) for view in scaled], format="csr")
    return np.concatenate([view.toarray() if scipy.sparse.issparse(view) else view for view in scaled], axis=1)


def mean_kernel_features(kernels: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Kernel principal components of the mean kernel.

    Parameters
    ----------
    kernels : sequence of ndarray of shape (n_samples, n_samples)
        Raw kernels.

    Returns
    -------
    ndarray of shape (n_samples, n_components)
        Inner products of rows are the mean of the centred kernels with unit diagonal, up to its negative eigenvalues.
    """
    mean = combine_kernels([standardize_kernel(np.asarray(kernel, dtype=np.float64))[0] for kernel in kernels])
    values, vectors = top_eigenpairs(mean, len(mean))
    kept = values > np.finfo(values.dtype).eps * len(values) * values[0]
    features: NDArray[Any] = vectors[:, kept] * np.sqrt(values[kept])
    return features


def neighbor_graph(features: Array, n_neighbors: int) -> Array:
    """Graph in which every sample is joined to its nearest neighbours, itself included, with weight one or one half.

    Parameters
    ----------
    features : ndarray or sparse matrix of shape (n_samples, n_features)
    n_neighbors : int
        Fewer if there are fewer samples.

    Returns
    -------
    sparse matrix of shape (n_samples, n_samples)
        Weight one if each of two samples is a neighbour of the other, one half if only one of them is.
    """
    directed = kneighbors_graph(features, min(n_neighbors, features.shape[0] - 1), include_self=True)
    return 0.5 * (directed + directed.T)


def normalized_cut(affinity: Array, labels: NDArray[np.intp]) -> float:
    """Normalised cut: sum over the clusters of the share of their degree that belongs to edges to other clusters.

    Parameters
    ----------
    affinity : ndarray or sparse matrix of shape (n_samples, n_samples)
    labels : ndarray of shape (n_samples,)

    Returns
    -------
    float
        Between zero and the number of clusters.
    """
    members = scipy.sparse.csr_array(
        (np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(labels.max() + 1, len(labels))
    )
    towards = affinity @ members.T
    inside = np.asarray(members.multiply(towards.T).sum(axis=1)).ravel()
    degrees = members @ np.asarray(affinity.sum(axis=1)).ravel()
    return float(np.sum((degrees - inside)[degrees > 0] / degrees[degrees > 0]))


class _Concatenation(ComparisonMethod):
    """Scaling and concatenation of the views, for both methods."""

    def _fit_concatenation(self, X: Any) -> Array:
        views = self._fit_views(X)
        pairs = list(zip(views.arrays, self.view_inputs_, strict=True))
        kernels = [array for array, kind in pairs if kind == "precomputed"]
        features = [array for array, kind in pairs if kind != "precomputed"]
        if kernels:
            # The mean kernel has unit diagonal, so its features already have the scale of one view.
            blocks = [mean_kernel_features(kernels)]
            return np.concatenate([*blocks, _dense(concatenate_views(features))], axis=1) if features else blocks[0]
        return concatenate_views(features)


def _dense(array: Array) -> NDArray[Any]:
    return np.asarray(array.toarray() if scipy.sparse.issparse(array) else array)


class ConcatKMeans(_Concatenation):
    """K-means on all views side by side, each brought to the same scale.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    views : dict or list, default=None
        Which columns belong to which view, when one table holds them all.
    similarity : {"auto", "precomputed"}, default="auto"
        Whether the views are features or kernels already computed.
    n_init : int, default=10
        Number of starts.
    random_state : int, RandomState or None, default=None
        Seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    objective_ : ndarray of shape (1,)
        Sum of squared distances to the nearest centre.
    n_iter_ : int
        Iterations of the best start.
    converged_ : bool
        True.

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion.baselines.concatenation import ConcatKMeans
    >>> centers = np.repeat(4 * np.eye(3), 4, axis=0)
    >>> X = [centers + np.random.RandomState(view).normal(size=(12, 3)) for view in range(2)]
    >>> ConcatKMeans(n_clusters=3, random_state=0).fit_predict(X)
    array([2, 2, 2, 2, 0, 0, 0, 0, 1, 1, 1, 1])
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {**BASE_CONSTRAINTS}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Mapping[str, Any] | Sequence[Any] | None = None,
        similarity: Any = "auto",
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> ConcatKMeans:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict, Views, array or data frame
            The views.
        y : ignored

        Returns
        -------
        ConcatKMeans
        """
        features = self._fit_concatenation(X)
        kmeans = KMeans(self.n_clusters, n_init=self.n_init, random_state=self.random_state).fit(features)
        self._store(SolverResult(None, None, [float(kmeans.inertia_)], kmeans.n_iter_, True, labels=kmeans.labels_))
        return self


class ConcatSpectral(_Concatenation):
    """Spectral clustering of the nearest neighbours among all views side by side, each brought to the same scale.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    views : dict or list, default=None
        Which columns belong to which view, when one table holds them all.
    similarity : {"auto", "precomputed"}, default="auto"
        Whether the views are features or kernels already computed.
    n_neighbors : int, default=10
        Neighbours of a sample in the graph, itself included; fewer if there are fewer samples.
    n_init : int, default=10
        Number of k-means starts for the labels.
    random_state : int, RandomState or None, default=None
        Seed of these starts and of the eigensolver.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    objective_ : ndarray of shape (1,)
        Normalised cut of the graph.
    n_iter_ : int
        One.
    converged_ : bool
        True.

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion.baselines.concatenation import ConcatSpectral
    >>> centers = np.repeat(4 * np.eye(3), 4, axis=0)
    >>> X = [centers + np.random.RandomState(view).normal(size=(12, 3)) for view in range(2)]
    >>> ConcatSpectral(n_clusters=3, n_neighbors=4, random_state=0).fit_predict(X)
    array([2, 2, 2, 2, 0, 0, 0, 0, 1, 1, 1, 1])
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BASE_CONSTRAINTS,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: Mapping[str, Any] | Sequence[Any] | None = None,
        similarity: Any = "auto",
        n_neighbors: int = 10,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.similarity = similarity
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> ConcatSpectral:
        """Cluster the samples.

        Parameters
        ----------
        X : list, dict, Views, array or data frame
            The views.
        y : ignored

        Returns
        -------
        ConcatSpectral
        """
        graph = neighbor_graph(self._fit_concatenation(X), self.n_neighbors)
        labels = self._cut(graph)
        self._store(SolverResult(None, None, [normalized_cut(graph, labels)], 1, True, labels=labels))
        return self

    def _cut(self, graph: Array) -> NDArray[np.intp]:
        if self.n_clusters == graph.shape[0]:
            # The eigensolver needs fewer clusters than samples.
            return np.arange(graph.shape[0])
        spectral = SpectralClustering(
            self.n_clusters, affinity="precomputed", n_init=self.n_init, random_state=self.random_state
        )
        with warnings.catch_warnings():
            # Well separated clusters share no neighbours: a disconnected graph is not a problem here.
            warnings.filterwarnings("ignore", message="Graph is not fully connected", category=UserWarning)
            return np.asarray(spectral.fit_predict(graph))
