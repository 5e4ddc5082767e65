"""Graph similarity: nearest neighbours with self-tuning weights, symmetrically normalised, sparse.

With d(i, j) the distance of two samples and s_i the distance of i to its seventh neighbour, an edge weighs
exp(-d(i, j)² / (s_i s_j)). The directed graph in which every sample points to itself and to its nearest neighbours is
averaged with its transpose, A, and normalised by the degrees, D^{-1/2} A D^{-1/2}. The local widths s_i let dense and
sparse regions of a view have the same say (Zelnik-Manor and Perona: Self-tuning spectral clustering, NIPS 2004).

A new sample gets the row it would have had: edges to its own nearest training samples, and edges from the training
samples that would have counted it among theirs, which the stored radii tell. For a training sample that is its own row
again, unless other samples lie exactly as far away as the last of its neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from latefusion.kernels import gaussian_kernel, mean_distance
from latefusion.types import Array

# The neighbour whose distance sets the local width, as a share of the neighbourhood: the seventh of ten.
WIDTH_QUANTILE = 0.7


@dataclass(frozen=True)
class GraphExtension:
    """Rows of the graph for new samples.

    Attributes
    ----------
    training : array or sparse matrix of shape (n_samples, n_features)
        Moved or scaled as new samples will be.
    n_neighbors : int
        Neighbours of a sample, itself not counted.
    widths, radii, degrees : ndarray of shape (n_samples,)
        Local width, distance of the furthest neighbour, and degree of every training sample.
    sigma : float
        Mean distance between two training samples.
    unit_length : bool
        Whether rows are divided by their norm first (cosine metric).
    shift : ndarray of shape (n_features,) or None
        Column means of the training view, taken away first: distances do not change, their rounding error shrinks.
    """

    training: Array
    n_neighbors: int
    widths: NDArray[Any]
    radii: NDArray[Any]
    degrees: NDArray[Any]
    sigma: float
    unit_length: bool
    shift: NDArray[Any] | None

    def features(self, view: Array, diagonal: NDArray[Any] | None = None) -> Any:
        """Normalised edge weights of new samples to training samples, sparse, shape (n_new, n_samples)."""
        distances = euclidean_distances(_moved(view, self.unit_length, self.shift), self.training)
        rows = np.arange(len(distances))[:, None]
        nearest = np.argpartition(distances, self.n_neighbors, axis=1)[:, : self.n_neighbors + 1]
        ordered = np.sort(distances[rows, nearest], axis=1)
        widths = _local_widths(ordered, fallback=float(self.widths.mean()))
        points_to = np.zeros(distances.shape, dtype=bool)
        points_to[rows, nearest] = True
        # The same distance rounds differently in another routine; without the slack a neighbour on the rim is lost.
        slack = np.sqrt(np.finfo(distances.dtype).eps)
        pointed_from = distances <= self.radii * (1 + slack)
        weights = np.exp(-(distances**2) / (widths[:, None] * self.widths))
        weights *= 0.5 * points_to + 0.5 * pointed_from
        degrees = weights.sum(axis=1)
        weights /= np.sqrt(degrees)[:, None] * np.sqrt(self.degrees)
        return scipy.sparse.csr_array(weights.astype(distances.dtype))

    def closeness(self, view: Array, features: Any) -> NDArray[Any]:
        """What neighbourhoods are ranked by: a Gaussian of the distance, since most graph entries are zero."""
        return gaussian_kernel(_moved(view, self.unit_length, self.shift), self.training, sigma=self.sigma)


class GraphPartition(BaseEstimator):
    """Similarity of one view by its nearest-neighbour graph; the base partition is its spectral embedding.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbours of a sample, itself not counted; less where there are fewer samples. Doubled until the graph has no
        more components than clusters are sought: otherwise which of the components make up the embedding would be
        chance.
    metric : {"euclidean", "cosine"}, default="euclidean"
    """

    def __init__(self, n_neighbors: int = 10, *, metric: str = "euclidean") -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric

    def similarity(self, view: Array, n_clusters: int) -> tuple[Any, GraphExtension]:
        """Normalised graph of the training view, and its extension to new samples."""
        if self.metric not in ("euclidean", "cosine"):
            raise ValueError(f"metric must be 'euclidean' or 'cosine', got {self.metric!r}.")
        if not isinstance(self.n_neighbors, Integral) or self.n_neighbors < 1:
            raise ValueError(f"n_neighbors must be an integer of at least 1, got {self.n_neighbors!r}.")
        unit_length = self.metric == "cosine"
        shift = None if unit_length or scipy.sparse.issparse(view) else view.mean(axis=0)
        view = _moved(view, unit_length, shift)
        n_samples = view.shape[0]
        n_neighbors = min(self.n_neighbors, n_samples - 1)
        while True:
            graph, widths, radii = _self_tuning_graph(view, n_neighbors)
            n_components = scipy.sparse.csgraph.connected_components(graph, directed=False)[0]
            if n_components <= n_clusters or n_neighbors == n_samples - 1:
                break
            n_neighbors = min(2 * n_neighbors, n_samples - 1)
        degrees = np.asarray(graph.sum(axis=1)).ravel()
        scale = scipy.sparse.diags_array(1 / np.sqrt(degrees))
        matrix = (scale @ graph @ scale).tocsr().astype(view.dtype)
        extension = GraphExtension(view, n_neighbors, widths, radii, degrees, mean_distance(view), unit_length, shift)
        return matrix, extension


def _moved(view: Array, unit_length: bool, shift: NDArray[Any] | None) -> Array:
    if unit_length:
        return normalize(view)
    return view if shift is None else view - shift


def _self_tuning_graph(view: Array, n_neighbors: int) -> tuple[Any, NDArray[Any], NDArray[Any]]:
    finder = NearestNeighbors(n_neighbors=n_neighbors + 1).fit(view)
    distances, neighbors = finder.kneighbors(view)
    widths = _local_widths(distances)
    weights = np.exp(-(distances**2) / (widths[:, None] * widths[neighbors]))
    n_samples = len(distances)
    starts = np.arange(0, weights.size + 1, n_neighbors + 1)
    directed = scipy.sparse.csr_array((weights.ravel(), neighbors.ravel(), starts), shape=(n_samples, n_samples))
    return (directed + directed.T) / 2, widths, distances[:, -1]


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
