"""Anchor graph: samples have edges to a few of l anchors instead of to one another, so the graph is a sparse factor.

The anchors are centres of regions of the view. Row i of Z holds the weights of the r anchors that are nearest to sample
i; they sum to one, and they have no unit: a weight is the share of d_{r+1}² - d_j² in the sum of these differences, d_j
the distance to the j-th nearest anchor. With Λ = diag(Zᵀ1) the graph is

    S = Z Λ^{-1} Zᵀ = ΦΦᵀ,   Φ = Z Λ^{-1/2},

in which two samples are as similar as the anchors they share. Its rows sum to one, so like every normalised graph it
has the leading eigenvalue one. It takes O(n l) distances, and r numbers per sample to keep.

The weight of the last anchor fades to zero where another one comes as near, so a row depends on its sample without
jumps, and new samples pass through the same map as the training samples.

References
----------
Liu, He, Chang: Large graph construction for scalable semi-supervised learning. ICML, 2010.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances_argmin
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state

from latefusion.arrays import draw_rows, row_blocks
from latefusion.kernels import gaussian_kernel, mean_distance
from latefusion.similarities.adaptive import Neighbors, adaptive_weights, connected_components
from latefusion.similarities.extension import ReadRows
from latefusion.similarities.factor import Factor, row_reader
from latefusion.types import Array

DEFAULT_ANCHORS = 500
ANCHORS_PER_CLUSTER = 10
# Anchors of a sample, r: with three the graph falls apart, with many more clusters merge.
NEAREST_ANCHORS = 5
# Anchors are centres of this many samples each, of a random subset of the view; a few rounds of k-means spread them.
SAMPLES_PER_ANCHOR = 20
ROUNDS = 5
# Samples from which the mean distance is taken, at least, where there are as many.
MEAN_DISTANCE_SAMPLES = 2000
# Number of samples whose medians become the origin.
SHIFT_SAMPLES = 1000
# Entries of a block of rows in the search for anchors.
BLOCK_ENTRIES = 2**20


@dataclass(frozen=True)
class CoordinateTransform:
    """The transform of rows before distances are computed.

    Attributes
    ----------
    unit_length : bool
        Whether rows are divided by their norm (cosine metric).
    shift : ndarray of shape (n_features,) or None
        Column medians of training samples, which are subtracted: this does not change distances, but reduces their
        rounding error. Unlike means, medians do not follow outliers.
    """

    unit_length: bool
    shift: NDArray[Any] | None

    @classmethod
    def of(cls, view: Array, metric: str) -> CoordinateTransform:
        """The transform of a training view."""
        unit_length = metric == "cosine"
        if unit_length or scipy.sparse.issparse(view):
            return cls(unit_length, None)
        return cls(unit_length, np.median(view[:: max(1, view.shape[0] // SHIFT_SAMPLES)], axis=0))

    def __call__(self, view: Array) -> Array:
        """The transformed rows."""
        if self.unit_length:
            return normalize(view)
        return view if self.shift is None else view - self.shift


@dataclass(frozen=True)
class AnchorMap:
    """Rows of Φ = Z Λ^{-1/2}, sparse.

    Attributes
    ----------
    transform : CoordinateTransform
    finder : NearestNeighbors
        Finds the nearest anchors.
    n_neighbors : int
        Anchors of a sample, r.
    scale : ndarray of shape (n_anchors,)
        The diagonal of Λ^{-1/2}; zero for an anchor without training samples.
    """

    transform: CoordinateTransform
    finder: NearestNeighbors
    n_neighbors: int
    scale: NDArray[Any]

    @property
    def width(self) -> int:
        """Number of columns of Φ."""
        return len(self.scale)

    def widened(self, products: Any, totals: NDArray[Any], n_clusters: int) -> AnchorMap | None:
        """The map with twice as many anchors per sample, if the graph has more components than clusters.

        Parameters
        ----------
        products : ndarray or sparse matrix of shape (n_anchors, n_anchors)
            ZᵀZ.
        totals : ndarray of shape (n_anchors,)
            Zᵀ1.
        n_clusters : int

        Returns
        -------
        AnchorMap or None
        """
        n_components = connected_components(scipy.sparse.csr_array(products))[0] - np.count_nonzero(totals <= 0)
        if n_components <= n_clusters or self.n_neighbors == self.width - 1:
            return None
        return replace(self, n_neighbors=min(2 * self.n_neighbors, self.width - 1))

    def scaled(self, totals: NDArray[Any]) -> AnchorMap:
        """The map with Λ^{-1/2} of the training samples, whose weights of every anchor sum up to these."""
        return replace(self, scale=np.where(totals > 0, 1 / np.sqrt(np.where(totals > 0, totals, 1.0)), 0.0))

    def __call__(self, rows: Array) -> Any:
        """Rows of Φ."""
        block = max(1, BLOCK_ENTRIES // rows.shape[1])
        parts = [self._block(rows[part]) for part in row_blocks(rows.shape[0], block)]
        return parts[0] if len(parts) == 1 else scipy.sparse.vstack(parts, format="csr")

    def _block(self, rows: Array) -> Any:
        distances, anchors = self.finder.kneighbors(self.transform(rows), self.n_neighbors + 1)
        # In double precision, so that squares neither overflow nor vanish.
        weights = adaptive_weights(Neighbors(anchors, distances.astype(np.float64) ** 2))[:, :-1]
        weights = (weights * self.scale[anchors[:, :-1]]).astype(rows.dtype)
        starts = np.arange(0, weights.size + 1, self.n_neighbors)
        return scipy.sparse.csr_array((weights.ravel(), anchors[:, :-1].ravel(), starts), (len(weights), self.width))


@dataclass(frozen=True)
class AnchorExtension:
    """Features of new samples: the same map. Neighbourhoods are ranked by a Gaussian of the distance.

    Attributes
    ----------
    feature_map : AnchorMap
    sigma : float
        Mean distance between two training samples.
    columns : array or sparse matrix of shape (n_columns, n_features) or None
        Transformed rows of the training samples with known neighbourhoods; only for local alignment.
    """

    feature_map: AnchorMap
    sigma: float
    columns: Array | None = None

    def features(self, view: Array, diagonal: Any = None) -> Any:
        """Rows of Φ, shape (n_new, n_anchors); ``diagonal`` is not needed."""
        return self.feature_map(view)

    def with_columns(self, view: Array, samples: NDArray[np.intp]) -> AnchorExtension:
        """The same with some training samples as columns of `closeness`."""
        return replace(self, columns=self.feature_map.transform(view[samples]))

    def closeness(self, view: Array, features: Any = None) -> NDArray[Any]:
        """Values that rank neighbourhoods: a Gaussian of the distance, since most graph entries are zero."""
        return gaussian_kernel(self.feature_map.transform(view), self.columns, sigma=self.sigma)


def fit_anchor_graph(
    view: Array, n_clusters: int, *, n_anchors: int | None = None, metric: str = "euclidean", random_state: Any = 0
) -> tuple[Factor, AnchorExtension]:
    """Anchor graph of a view.

    Parameters
    ----------
    view : array or sparse matrix of shape (n_samples, n_features)
    n_clusters : int
        Samples get more anchors until the graph has no more components than this.
    n_anchors : int, default=None
        Less where there are fewer different samples; 500, or ten per cluster if that is more, when None.
    metric : {"euclidean", "cosine"}, default="euclidean"
    random_state : int, RandomState or None, default=0
        Choice of the anchors.

    Returns
    -------
    factor : Factor
    extension : AnchorExtension
    """
    fitter = AnchorFitter.of(view.shape[0], n_clusters, n_anchors=n_anchors, metric=metric, random_state=random_state)
    extension = fitter.fit(row_reader(view))
    plain = extension.feature_map
    while True:
        weights = plain(view)
        totals = np.asarray(weights.sum(axis=0, dtype=np.float64)).ravel()
        wider = plain.widened(weights.T @ weights, totals, n_clusters)
        if wider is None:
            break
        plain = wider
    feature_map = plain.scaled(totals)
    features = (weights @ scipy.sparse.diags_array(feature_map.scale)).tocsr().astype(view.dtype)
    return Factor(view, feature_map, features), replace(extension, feature_map=feature_map)


@dataclass(frozen=True, eq=False)
class AnchorFitter:
    """Fits anchors, and the map to rows of Z, from a few rows. The scale Λ of Φ comes from all rows.

    Attributes
    ----------
    n_samples : int
    n_anchors : int
    metric : {"euclidean", "cosine"}
    spaced : ndarray of int
        Evenly spaced rows, from which the mean distance is taken.
    middle : ndarray of int
        Evenly spaced rows, whose medians become the origin.
    subset : ndarray of int
        Random rows, whose centres are the anchors.
    generator : RandomState
        Draws the anchors.
    """

    n_samples: int
    n_anchors: int
    metric: str
    spaced: NDArray[np.intp]
    middle: NDArray[np.intp]
    subset: NDArray[np.intp]
    generator: np.random.RandomState

    @classmethod
    def of(
        cls, n_samples: int, n_clusters: int, *, n_anchors: int | None, metric: str, random_state: Any
    ) -> AnchorFitter:
        """Draw the rows; parameters as in `fit_anchor_graph`."""
        generator, n_anchors = check_random_state(random_state), number_of_anchors(n_anchors, n_clusters)
        spaced, middle = (
            np.arange(0, n_samples, max(1, n_samples // size)) for size in (MEAN_DISTANCE_SAMPLES, SHIFT_SAMPLES)
        )
        subset = draw_rows(n_samples, SAMPLES_PER_ANCHOR * n_anchors, generator)
        return cls(n_samples, n_anchors, metric, spaced, middle, subset, generator)

    @property
    def rows(self) -> NDArray[np.intp]:
        """Positions of the rows that `fit` reads."""
        return np.concatenate([self.spaced, self.middle, self.subset])

    def fit(self, read: ReadRows, means: Array | None = None) -> AnchorExtension:
        """Fit the anchors from these rows; ``means`` are not needed."""
        transform = CoordinateTransform.of(read(self.middle), self.metric)
        anchors = _choose_anchors(transform(read(self.subset)), self.n_anchors, self.generator)
        if anchors.shape[0] < 2:
            raise ValueError(
                f"An anchor graph needs at least 2 different anchors, but all samples that were drawn from a view of "
                f"shape {(self.n_samples, anchors.shape[1])} are equal. Use method='exact'."
            )
        n_neighbors = min(NEAREST_ANCHORS, anchors.shape[0] - 1)
        plain = AnchorMap(transform, NearestNeighbors().fit(anchors), n_neighbors, np.ones(anchors.shape[0]))
        return AnchorExtension(plain, mean_distance(transform(read(self.spaced))))


def number_of_anchors(n_anchors: int | None, n_clusters: int) -> int:
    """The given number of anchors, or the default for a number of clusters."""
    return max(DEFAULT_ANCHORS, ANCHORS_PER_CLUSTER * n_clusters) if n_anchors is None else n_anchors


def _choose_anchors(subset: Array, n_anchors: int, generator: np.random.RandomState) -> Array:
    """Centres of a random subset of the samples; of sparse views samples themselves, since centres would be dense."""
    size = subset.shape[0]
    chosen = generator.choice(size, min(n_anchors, size), replace=False)
    centers = subset[chosen]
    if scipy.sparse.issparse(subset):
        marks = centers @ generator.standard_normal(subset.shape[1])  # equal for equal rows only
        return centers[np.sort(np.unique(marks, return_index=True)[1])]
    for _ in range(ROUNDS):
        nearest = pairwise_distances_argmin(subset, centers)
        members = scipy.sparse.csr_array(
            (np.ones(size, dtype=subset.dtype), (nearest, np.arange(size))), (len(centers), size)
        )
        sizes = np.bincount(nearest, minlength=len(centers))[:, None]
        centers = np.where(sizes > 0, (members @ subset) / np.maximum(sizes, 1), centers).astype(subset.dtype)
    return np.unique(centers, axis=0)
