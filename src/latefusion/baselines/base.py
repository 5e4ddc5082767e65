"""The shared base class of the comparison methods."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state

from latefusion.arrays import require_memory, top_eigenpairs
from latefusion.assignment import assign_by_kmeans
from latefusion.base import (
    BASE_CONSTRAINTS,
    ITERATION_CONSTRAINTS,
    KERNEL_CONSTRAINTS,
    MultiViewClusterMixin,
    warn_not_converged,
)
from latefusion.baselines.support.standardized_views import cluster_rows, standardize_columns
from latefusion.kernels import KERNELS, FittedKernel, normalize_kernel, standardize_kernel
from latefusion.similarities.adaptive import without_zeros
from latefusion.types import SolverResult, Views

__all__ = ["BASE_CONSTRAINTS", "ITERATION_CONSTRAINTS", "KERNEL_CONSTRAINTS", "ComparisonMethod"]

# Where labels come from if a learned graph does not separate, and what may help.
SPECTRAL_FALLBACK = (
    "spectral clustering (k-means on its lowest Laplacian eigenvectors). Another n_neighbors may give a graph that "
    "separates."
)


class ComparisonMethod(MultiViewClusterMixin, BaseEstimator):
    """Base class of the comparison methods.

    A method calls one of `_fit_kernels`, `_fit_affinities` and `_fit_features` for the matrices that it works on, and
    `_store` to set its fitted attributes.
    """

    parameter_grid: ClassVar[dict[str, list[Any]]] = {}

    _kernel_method: ClassVar[str] = "exact"

    def _fit_kernels(self, X: Any) -> list[NDArray[Any]]:
        """Kernels of all views, centred and with unit diagonal."""
        views = self._fit_views(X)
        self._require_kernels(views)
        return [
            _dense(similarity.similarity(array, self.n_clusters)[0])
            for similarity, array in zip(self._similarities(views), views.arrays, strict=True)
        ]

    def _fit_affinities(self, X: Any) -> list[NDArray[Any]]:
        """Non-negative similarities with unit diagonal; not centred, because the rows of a centred kernel sum to 0."""
        views = self._fit_views(X)
        self._require_kernels(views)
        pairs = zip(views.arrays, self.view_inputs_, strict=True)
        return [self._affinity(array, kind) for array, kind in pairs]

    def _require_kernels(self, views: Views) -> None:
        """Check the memory for the kernels of all views in double precision, and one more while they are computed."""
        n_samples, n_views = len(views), views.n_views
        require_memory(
            (n_views + 1) * n_samples**2 * 8,
            f"{type(self).__name__} works on one {n_samples} x {n_samples} similarity per view ({n_views} views, and a "
            f"copy): it",
            "Use fewer samples, or GlobalAlignmentClustering, which needs no kernel matrices for large problems.",
        )

    def _affinity(self, array: Any, kind: str) -> NDArray[Any]:
        if kind == "precomputed":
            return np.maximum(normalize_kernel(np.asarray(array, dtype=np.float64)), 0.0)
        params = dict(self.kernel_params or {})
        if self.kernel == "gaussian" and "sigma" not in params:
            # The median includes the distance of each sample to itself, as in the code of the co-regularisation paper.
            distances = euclidean_distances(array).astype(np.float64)
            sigma = float(np.median(distances)) or 1.0
            return np.exp(-(distances**2) / (2 * sigma**2))
        raw = FittedKernel(self.kernel if callable(self.kernel) else KERNELS[self.kernel], params)(array)
        return np.maximum(normalize_kernel(np.asarray(raw, dtype=np.float64)), 0.0)

    def _fit_features(self, X: Any) -> list[NDArray[Any]]:
        """Dense features; a precomputed kernel becomes features with the same inner products (kernel PCA)."""
        return self._prepared(X, _dense)

    def _fit_rows(self, X: Any) -> list[Any]:
        """The same features in double precision, in which a sparse view stays sparse."""
        return self._prepared(X, lambda view: csr_array(view, dtype=np.float64) if issparse(view) else _dense(view))

    def _fit_standardized(self, X: Any) -> list[Any]:
        """Features with standardised columns, sparse views as operators; a precomputed kernel only becomes features."""
        return self._prepared(X, standardize_columns)

    def _prepared(self, X: Any, prepare: Callable[[Any], Any]) -> list[Any]:
        views = self._fit_views(X)
        pairs = zip(views.arrays, self.view_inputs_, strict=True)
        return [_kernel_factor(array) if kind == "precomputed" else prepare(array) for array, kind in pairs]

    def _store(self, result: SolverResult, labels: NDArray[Any] | None = None, *, warn: bool = True) -> Any:
        """Set the fitted attributes from a result; k-means on the consensus gives the labels where there are none.

        Parameters
        ----------
        result : SolverResult
        labels : ndarray of shape (n_samples,), default=None
            Used instead of the labels of the result.
        warn : bool, default=True
            Whether to warn if the method did not converge; False for a method that has already warned.

        Returns
        -------
        ComparisonMethod
            The fitted estimator.
        """
        self.objective_ = np.asarray(result.objective)
        self.n_iter_ = int(result.n_iter)
        self.converged_ = bool(result.converged)
        if result.consensus is not None:
            self.consensus_ = result.consensus
        if result.weights is not None:
            self.view_weights_ = np.asarray(result.weights)
        if result.rotations is not None:
            self.rotations_ = result.rotations
        found = result.labels if labels is None else labels
        if found is None:
            found, _ = assign_by_kmeans(
                result.consensus, self.n_clusters, n_init=self.n_init, random_state=self.random_state
            )
        self.labels_ = np.asarray(found, dtype=np.intp)
        if warn and not result.converged:
            warn_not_converged(type(self).__name__, result.n_iter)
        return self

    def _cluster_embedding(self, embedding: NDArray[Any], *, unit_rows: bool = True) -> NDArray[np.intp]:
        """K-means on an embedding that may have fewer different rows than there are clusters, with a warning then."""
        n_clusters = self.n_clusters
        if n_clusters == len(embedding):  # the only clustering with that many clusters
            return np.arange(n_clusters)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "K-means found", ConvergenceWarning)
            if unit_rows:
                labels, _ = assign_by_kmeans(embedding, n_clusters, n_init=self.n_init, random_state=self.random_state)
            else:
                generator = check_random_state(self.random_state)
                labels, _ = cluster_rows(embedding, n_clusters, n_init=self.n_init, generator=generator)
        n_found = len(np.unique(labels))
        if n_found < n_clusters:
            warnings.warn(
                f"{type(self).__name__}: only {n_found} of n_clusters={n_clusters} clusters have samples, because the "
                f"embedding does not distinguish more of them. Use fewer clusters, or more anchors.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return labels

    def _store_graph(self, graph: csr_array, n_components: int, fallback: str = SPECTRAL_FALLBACK) -> None:
        """Set the attributes of a learned graph, and warn if its connected components are not the clusters."""
        self.graph_ = without_zeros(graph)
        self.n_components_ = n_components
        if n_components != self.n_clusters:
            warnings.warn(
                f"{type(self).__name__}: the learned graph has {n_components} connected component(s) instead of "
                f"n_clusters={self.n_clusters}, so the labels are not its components; they come from {fallback}",
                ConvergenceWarning,
                stacklevel=3,
            )


def _dense(array: Any) -> NDArray[Any]:
    return np.asarray(array.toarray() if hasattr(array, "toarray") else array, dtype=np.float64)


def _kernel_factor(kernel: NDArray[Any]) -> NDArray[Any]:
    standardized, _ = standardize_kernel(np.asarray(kernel, dtype=np.float64))
    values, vectors = top_eigenpairs(standardized, len(standardized))
    kept = values > 1e-10 * values[0]
    return vectors[:, kept] * np.sqrt(values[kept])
