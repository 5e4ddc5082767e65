"""Graph similarity: nearest neighbours with self-tuning weights, symmetrically normalised, sparse.

With d(i, j) the distance of two samples and s_i the distance of i to its seventh neighbour, an edge weighs
exp(-d(i, j)² / (s_i s_j)). The directed graph in which every sample points to itself and to its nearest neighbours is
averaged with its transpose, A, and normalised by the degrees, D^{-1/2} A D^{-1/2}. The local widths s_i adapt to dense
and sparse regions of a view (Zelnik-Manor and Perona: Self-tuning spectral clustering, NIPS 2004).

A new sample gets edges to its nearest training samples, and edges from the training samples that would have it among
their neighbours, by the stored radii. The row of a training sample is its own row in the graph, unless other samples
are exactly as far away as its last neighbour.

For many samples an anchor graph is used instead, see `latefusion.similarities.anchors`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from threading import Lock
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import euclidean_distances

from latefusion.arrays import device_name, is_device_array, row_blocks
from latefusion.kernels import gaussian_kernel, mean_distance
from latefusion.similarities.anchors import AnchorExtension, CoordinateTransform, anchor_fitter, fit_anchor_graph
from latefusion.similarities.extension import FeatureFitter
from latefusion.similarities.nearest import nearest_neighbors
from latefusion.types import Array

# Position of the neighbour whose distance is the local width, as a share of the neighbourhood: the seventh of ten.
WIDTH_QUANTILE = 0.7
# Beyond this many samples anchors replace the search for nearest neighbours, which is O(n²) in all but few dimensions:
# from about this size it is slower, and the partitions are equally good.
EXACT_SAMPLES = 10_000
# Anchors if their number is not given.
DEFAULT_ANCHORS = 500
ANCHORS_PER_CLUSTER = 10
# Neighbours of the first search: enough for all default graphs, so that one search suffices.
SEARCHED_NEIGHBORS = 20
# Largest number of distances of new samples to training samples in memory.
BLOCK_ENTRIES = 2**21


class NeighborSearch:
    """Nearest neighbours of all samples of a view, searched for once and stored.

    Parameters
    ----------
    view : array or sparse matrix of shape (n_samples, n_features)
    metric : {"euclidean", "cosine"}, default="euclidean"
    """

    def __init__(self, view: Array, metric: str = "euclidean") -> None:
        self.view = view
        self.metric = metric
        self._lock = Lock()
        self._found: tuple[NDArray[Any], NDArray[np.intp]] | None = None

    @cached_property
    def transform(self) -> CoordinateTransform:
        """The transform of rows before distances are computed."""
        return CoordinateTransform.of(self.view, self.metric)

    @cached_property
    def transformed(self) -> Array:
        """The transformed rows."""
        return self.transform(self.view)

    def nearest(self, n_neighbors: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Distances and positions of the nearest samples in ascending order, the sample itself being one of them.

        Parameters
        ----------
        n_neighbors : int
            Less than the number of samples.

        Returns
        -------
        distances, neighbors : ndarray of shape (n_samples, n_neighbors + 1)
        """
        with self._lock:  # several graphs of a view may be built at the same time
            if self._found is None or self._found[0].shape[1] <= n_neighbors:
                sought = min(max(n_neighbors, SEARCHED_NEIGHBORS) + 1, self.transformed.shape[0])
                self._found = nearest_neighbors(self.transformed, sought)
            distances, neighbors = self._found
        return distances[:, : n_neighbors + 1], neighbors[:, : n_neighbors + 1]

    def others(self, n_neighbors: int) -> NDArray[np.intp]:
        """The nearest samples but for the sample itself, shape (n_samples, n_neighbors); all if there are fewer."""
        n_samples = self.transformed.shape[0]
        _, neighbors = self.nearest(min(n_neighbors, n_samples - 1))
        itself = neighbors == np.arange(n_samples)[:, None]
        itself[~itself.any(axis=1), -1] = True
        others: NDArray[np.intp] = neighbors[~itself].reshape(n_samples, -1)
        return others


@dataclass(frozen=True)
class GraphExtension:
    """Rows of the graph for new samples.

    Attributes
    ----------
    training : array or sparse matrix of shape (n_samples, n_features)
        Transformed rows.
    transform : CoordinateTransform
    n_neighbors : int
        Neighbours of a sample, itself not counted.
    widths, radii, degrees : ndarray of shape (n_samples,)
        Local width, distance of the furthest neighbour, and degree of every training sample.
    columns : array or sparse matrix of shape (n_columns, n_features) or None
        The training samples whose neighbourhoods are known; all of them when None.
    """

    training: Array
    transform: CoordinateTransform
    n_neighbors: int
    widths: NDArray[Any]
    radii: NDArray[Any]
    degrees: NDArray[Any]
    columns: Array | None = None

    @cached_property
    def sigma(self) -> float:
        """Mean distance between two training samples; only neighbourhoods need it."""
        return mean_distance(self.training)

    def features(self, view: Array, diagonal: NDArray[Any] | None = None) -> Any:
        """Normalised edge weights of new samples to training samples, sparse, shape (n_new, n_samples)."""
        block = max(1, BLOCK_ENTRIES // self.training.shape[0])
        parts = [self._block(self.transform(view[rows])) for rows in row_blocks(view.shape[0], block)]
        return parts[0] if len(parts) == 1 else scipy.sparse.vstack(parts, format="csr")

    def _block(self, rows: Array) -> Any:
        distances = euclidean_distances(rows, self.training)
        nearest = np.argpartition(distances, self.n_neighbors, axis=1)[:, : self.n_neighbors + 1]
        ordered = np.sort(np.take_along_axis(distances, nearest, axis=1), axis=1)
        widths = _local_widths(ordered, fallback=float(self.widths.mean()))
        # Distances from another routine round differently; without the slack the last neighbour may be lost.
        slack = np.sqrt(np.finfo(distances.dtype).eps)
        arrows = (distances <= self.radii * (1 + slack)).astype(np.int8)
        np.put_along_axis(arrows, nearest, np.take_along_axis(arrows, nearest, axis=1) + np.int8(1), axis=1)
        row, column = np.nonzero(arrows)
        exponents = -(distances[row, column] ** 2) / (widths[row] * self.widths[column])
        # All weights of a sample far from all others underflow. Their ratios remain exact.
        largest = np.full(len(distances), -np.inf)
        np.maximum.at(largest, row, exponents)
        shifts = np.where(largest < np.log(np.finfo(distances.dtype).tiny) / 2, largest, 0.0)
        weights = np.exp(exponents - shifts[row].astype(exponents.dtype))
        weights *= 0.5 * arrows[row, column]
        degrees = np.bincount(row, weights, minlength=len(distances))
        weights /= np.sqrt(degrees[row]) * np.sqrt(self.degrees[column])
        return scipy.sparse.csr_array((weights.astype(distances.dtype), (row, column)), distances.shape)

    def with_columns(self, view: Array, samples: NDArray[np.intp]) -> GraphExtension:
        """The same with some training samples as columns of `closeness`."""
        return replace(self, columns=self.training[samples])

    def closeness(self, view: Array, features: Any = None) -> NDArray[Any]:
        """What neighbourhoods are ranked by: a Gaussian of the distance, since most graph entries are zero."""
        columns = self.training if self.columns is None else self.columns
        return gaussian_kernel(self.transform(view), columns, sigma=self.sigma)


class GraphSimilarity(BaseEstimator):
    """Similarity of one view by a graph of its samples; the base partition is its spectral embedding.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbours of a sample, itself not counted; less where there are fewer samples. Doubled until the graph has no
        more components than clusters: otherwise the components in the embedding would be
        arbitrary.
    metric : {"euclidean", "cosine"}, default="euclidean"
    method : {"auto", "exact", "anchors"}, default="auto"
        "exact" ties every sample to its nearest neighbours. "anchors" ties it to the nearest five of some anchors, and
        samples to each other by the anchors they share: the time grows with n instead of n². "auto" takes anchors
        beyond 10 000 samples.
    n_anchors : int, default=None
        Number of anchors; 500, or ten per cluster if that is more, when None.
    random_state : int, RandomState or None, default=0
        Seed of their choice.
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        metric: str = "euclidean",
        method: str = "auto",
        n_anchors: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.method = method
        self.n_anchors = n_anchors
        self.random_state = random_state

    def similarity(
        self, view: Array, n_clusters: int, search: NeighborSearch | None = None
    ) -> tuple[Any, GraphExtension | AnchorExtension]:
        """Normalised graph of the training view, and its extension to new samples.

        ``search`` is that of the view, where several graphs share it.
        """
        self._check_options()
        if self.uses_anchors(view.shape[0]):
            return fit_anchor_graph(view, n_clusters, self.fitter(view.shape[0], n_clusters))
        if is_device_array(view):
            raise ValueError(
                f"A view of shape {tuple(view.shape)} is stored in {device_name(view)}, but a graph with "
                f"method={self.method!r} needs NumPy arrays here. Use GraphSimilarity(method='anchors'), which is "
                f"computed on the device, or give NumPy arrays."
            )
        if search is None or search.metric != self.metric:
            search = NeighborSearch(view, self.metric)
        return self._neighbor_graph(search, n_clusters)

    def uses_anchors(self, n_samples: int) -> bool:
        """Whether the graph of so many samples has anchors. It does not depend on the number of neighbors then."""
        return self.method == "anchors" or (self.method == "auto" and n_samples > EXACT_SAMPLES)

    def _check_options(self) -> None:
        if self.metric not in ("euclidean", "cosine"):
            raise ValueError(f"metric must be 'euclidean' or 'cosine', got {self.metric!r}.")
        if self.method not in ("auto", "exact", "anchors"):
            raise ValueError(f"method must be 'auto', 'exact' or 'anchors', got {self.method!r}.")
        if not isinstance(self.n_neighbors, Integral) or self.n_neighbors < 1:
            raise ValueError(f"n_neighbors must be an integer of at least 1, got {self.n_neighbors!r}.")
        if self.n_anchors is not None and (not isinstance(self.n_anchors, Integral) or self.n_anchors < 2):
            raise ValueError(f"n_anchors must be None or an integer of at least 2, got {self.n_anchors!r}.")

    def fitter(self, n_samples: int, n_clusters: int) -> FeatureFitter:
        """The fitter of an anchor graph, for a view that may not be in memory.

        Parameters
        ----------
        n_samples : int
        n_clusters : int

        Returns
        -------
        FeatureFitter
        """
        self._check_options()
        default = max(DEFAULT_ANCHORS, ANCHORS_PER_CLUSTER * n_clusters)
        return anchor_fitter(n_samples, self.n_anchors or default, self.metric, self.random_state)

    def _neighbor_graph(self, search: NeighborSearch, n_clusters: int) -> tuple[Any, GraphExtension]:
        view = search.transformed
        n_samples = view.shape[0]
        n_neighbors = min(self.n_neighbors, n_samples - 1)
        while True:
            graph, widths, radii = _self_tuning_graph(*search.nearest(n_neighbors))
            n_components = scipy.sparse.csgraph.connected_components(graph, directed=False)[0]
            if n_components <= n_clusters or n_neighbors == n_samples - 1:
                break
            n_neighbors = min(2 * n_neighbors, n_samples - 1)
        degrees = np.add.reduceat(graph.data, graph.indptr[:-1])  # every sample is its own neighbour
        scale = 1 / np.sqrt(degrees)
        weights = graph.data * scale[graph.indices] * np.repeat(scale, np.diff(graph.indptr))
        matrix = scipy.sparse.csr_array((weights.astype(view.dtype), graph.indices, graph.indptr), shape=graph.shape)
        return matrix, GraphExtension(view, search.transform, n_neighbors, widths, radii, degrees)


def _self_tuning_graph(distances: NDArray[Any], neighbors: NDArray[np.intp]) -> tuple[Any, NDArray[Any], NDArray[Any]]:
    n_samples, n_nearest = distances.shape
    widths = _local_widths(distances)
    weights = np.exp(-(distances**2) / (widths[:, None] * widths[neighbors]))
    starts = np.arange(0, weights.size + 1, n_nearest)
    directed = scipy.sparse.csr_array((weights.ravel(), neighbors.ravel(), starts), shape=(n_samples, n_samples))
    return (directed + directed.T) / 2, widths, distances[:, -1].copy()


def _local_widths(distances: NDArray[Any], fallback: float | None = None) -> NDArray[Any]:
    """Distance to the neighbour at the width quantile; samples with many duplicates take the nearest positive one."""
    position = max(1, round(WIDTH_QUANTILE * (distances.shape[1] - 1)))
    widths = distances[:, min(position, distances.shape[1] - 1)].copy()
    stuck = widths <= 0
    if stuck.any():
        positive = np.where(distances[stuck] > 0, distances[stuck], np.inf).min(axis=1)
        if fallback is None:
            fallback = float(widths[~stuck].mean()) if not stuck.all() else 1.0
        widths[stuck] = np.where(np.isfinite(positive), positive, fallback)
    return widths
