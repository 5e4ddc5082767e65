"""Anchor graph: samples have edges to a few of l anchors instead of to one another, so the graph is a sparse factor.

The anchors are centres of regions of the view. Row i of Z holds the weights of the r anchors that are nearest to sample
i; they sum to one, and they have no unit: a weight is the share of d_{r+1}² - d_j² in the sum of these differences, d_j
the distance to the j-th nearest anchor. With Λ = diag(Zᵀ1) the graph is

    S = Z Λ^{-1} Zᵀ = ΦΦᵀ,   Φ = Z Λ^{-1/2},

in which two samples are as similar as the anchors they share. Its rows sum to one, so like every normalised graph it
has the leading eigenvalue one. It takes O(n l) distances, and r numbers per sample to keep.

The weight of the last anchor fades to zero where another one comes as near, so a row depends on its sample without
jumps, and new samples pass through the same map as the training samples.

On a device, rows of Z are dense: products of dense blocks are fast there. A block is computed again when it is needed,
and only ΦᵀΦ is kept.

References
----------
Liu, He, Chang: Large graph construction for scalable semi-supervised learning. ICML, 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances_argmin
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state

from latefusion.arrays import (
    beside,
    draw_rows,
    inner_products,
    is_device_array,
    namespace,
    on_host,
    row_blocks,
    share_blocks,
    take_rows,
    to_numpy,
    unit_rows,
)
from latefusion.kernels import gaussian_kernel, mean_distance
from latefusion.similarities.adaptive import Neighbors, adaptive_weights, connected_components, dense_adaptive_weights
from latefusion.similarities.extension import FeatureFitter, ReadRows
from latefusion.similarities.factor import Factor, FactorExtension, row_reader
from latefusion.similarities.nearest import nearest_anchors, shifted_squares
from latefusion.types import Array

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
# The same of a block of dense rows on a device.
DEVICE_BLOCK_ENTRIES = 2**28


@dataclass(frozen=True)
class CoordinateTransform:
    """The transform of rows before distances are computed.

    Attributes
    ----------
    unit_length : bool
        Whether rows are divided by their norm (cosine metric).
    shift : array of shape (n_features,) or None
        Column medians of training samples, which are subtracted: this does not change distances, but reduces their
        rounding error. Unlike means, medians do not follow outliers.
    """

    unit_length: bool
    shift: Array | None

    @classmethod
    def of(cls, view: Array, metric: str) -> CoordinateTransform:
        """The transform of a training view."""
        unit_length = metric == "cosine"
        if unit_length or scipy.sparse.issparse(view):
            return cls(unit_length, None)
        medians = np.median(on_host(view[:: max(1, view.shape[0] // SHIFT_SAMPLES), :]), axis=0)
        return cls(unit_length, beside(medians, view))

    def __call__(self, view: Array) -> Array:
        """The transformed rows."""
        if self.unit_length:
            return unit_rows(view, xp=namespace(view)) if is_device_array(view) else normalize(view)
        return view if self.shift is None else view - beside(self.shift, view)


@dataclass(frozen=True)
class AnchorMap:
    """Rows of Φ = Z Λ^{-1/2}, sparse; dense on a device.

    Attributes
    ----------
    transform : CoordinateTransform
    anchors : array or sparse matrix of shape (n_anchors, n_features)
        Transformed rows.
    n_neighbors : int
        Anchors of a sample, r.
    scale : array of shape (n_anchors,)
        The diagonal of Λ^{-1/2}, on the device of the anchors; zero for an anchor without training samples.
    """

    transform: CoordinateTransform
    anchors: Array
    n_neighbors: int
    scale: Array

    @property
    def width(self) -> int:
        """Number of columns of Φ."""
        return int(self.scale.shape[0])

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
        scale = np.where(totals > 0, 1 / np.sqrt(np.where(totals > 0, totals, 1.0)), 0.0)
        return replace(self, scale=beside(scale, self.anchors))

    def __call__(self, rows: Array) -> Any:
        """Rows of Φ."""
        if is_device_array(rows):
            return self._dense_rows(rows)
        blocks = list(row_blocks(rows.shape[0], max(1, BLOCK_ENTRIES // max(rows.shape[1], self.width))))
        found: list[Any] = [None] * len(blocks)

        def fill(parts: Sequence[slice]) -> None:
            for part in parts:
                found[part.start // blocks[0].stop] = self._block(rows[part])

        share_blocks(fill, blocks)
        return found[0] if len(found) == 1 else scipy.sparse.vstack(found, format="csr")

    def _block(self, rows: Array) -> Any:
        squares, anchors = nearest_anchors(self.transform(rows), self.anchors, self.n_neighbors + 1)
        weights = adaptive_weights(Neighbors(anchors, squares))[:, :-1]
        weights = (weights * self.scale[anchors[:, :-1]]).astype(rows.dtype)
        starts = np.arange(0, weights.size + 1, self.n_neighbors)
        return scipy.sparse.csr_array((weights.ravel(), anchors[:, :-1].ravel(), starts), (len(weights), self.width))

    def _dense_rows(self, rows: Array) -> Array:
        weights = dense_adaptive_weights(shifted_squares(self.transform(rows), self.anchors), self.n_neighbors)
        weights *= namespace(rows).astype(self.scale, weights.dtype)
        return weights


@dataclass(frozen=True)
class AnchorExtension(FactorExtension):
    """Features of new samples: the same map. Neighbourhoods are ranked by a Gaussian of the distance.

    Attributes
    ----------
    feature_map : AnchorMap
    columns : array or sparse matrix of shape (n_columns, n_features) or None
        Transformed rows of the training samples with known neighbourhoods; only for local alignment.
    sigma : float
        Mean distance between two training samples.
    """

    feature_map: AnchorMap
    sigma: float = field(kw_only=True)

    def with_columns(self, view: Array, samples: NDArray[np.intp]) -> AnchorExtension:
        """The same with some training samples as columns of `closeness`."""
        return replace(self, columns=self.feature_map.transform(view[samples]))

    def closeness(self, view: Array, features: Any = None) -> NDArray[Any]:
        """Values that rank neighbourhoods: a Gaussian of the distance, since most graph entries are zero."""
        return gaussian_kernel(self.feature_map.transform(view), self.columns, sigma=self.sigma)


def fit_anchor_graph(view: Array, n_clusters: int, fitter: FeatureFitter) -> tuple[Factor, AnchorExtension]:
    """Anchor graph of a view.

    Parameters
    ----------
    view : array or sparse matrix of shape (n_samples, n_features)
    n_clusters : int
        Samples get more anchors until the graph has no more components than this.
    fitter : FeatureFitter
        From `anchor_fitter`.

    Returns
    -------
    factor : Factor
    extension : AnchorExtension
    """
    extension = fitter.fit(row_reader(view), None)
    plain = extension.feature_map
    while True:
        weights, products, totals = _sum_weights(plain, view)
        wider = plain.widened(products, totals, n_clusters)
        if wider is None:
            break
        plain = wider
    feature_map = plain.scaled(totals)
    extension = replace(extension, feature_map=feature_map)
    if weights is None:
        scale = to_numpy(feature_map.scale)
        return Factor(view, feature_map, products=beside(products * scale[:, None] * scale, view)), extension
    features = (weights @ scipy.sparse.diags_array(feature_map.scale)).tocsr().astype(view.dtype)
    return Factor(view, feature_map, features), extension


def _sum_weights(plain: AnchorMap, view: Array) -> tuple[Any, Any, NDArray[np.float64]]:
    """Z (None on a device, where it is not kept), ZᵀZ and Zᵀ1, in NumPy."""
    if not is_device_array(view):
        weights = plain(view)
        return weights, weights.T @ weights, np.asarray(weights.sum(axis=0, dtype=np.float64)).ravel()
    blocks = row_blocks(view.shape[0], max(1, DEVICE_BLOCK_ENTRIES // plain.width))
    products: Any = sum(inner_products(plain(view[rows, :]), xp=namespace(view)) for rows in blocks)
    products = to_numpy(products)
    return None, products, products.sum(axis=1)  # rows of Z sum to one


def anchor_fitter(n_samples: int, n_anchors: int, metric: str, random_state: Any) -> FeatureFitter:
    """The fitter of anchors, and of the map to rows of Z, from a few rows. The scale Λ of Φ comes from all rows.

    The mean distance is that of evenly spaced rows, and the medians of such rows become the origin. The anchors are
    centres of random rows.

    Parameters
    ----------
    n_samples : int
    n_anchors : int
        Less where there are fewer different samples.
    metric : {"euclidean", "cosine"}
    random_state : int, RandomState or None
        Choice of the anchors.

    Returns
    -------
    FeatureFitter
    """
    generator = check_random_state(random_state)
    spaced, middle = (
        np.arange(0, n_samples, max(1, n_samples // size)) for size in (MEAN_DISTANCE_SAMPLES, SHIFT_SAMPLES)
    )
    subset = draw_rows(n_samples, SAMPLES_PER_ANCHOR * n_anchors, generator)

    def fit(read: ReadRows, means: Array) -> AnchorExtension:
        transform = CoordinateTransform.of(read(middle), metric)
        anchors = _choose_anchors(transform(read(subset)), n_anchors, generator)
        if anchors.shape[0] < 2:
            raise ValueError(
                f"An anchor graph needs at least 2 different anchors, but all samples that were drawn from a view of "
                f"shape {(n_samples, anchors.shape[1])} are equal. Use method='exact'."
            )
        n_neighbors = min(NEAREST_ANCHORS, anchors.shape[0] - 1)
        plain = AnchorMap(transform, anchors, n_neighbors, beside(np.ones(anchors.shape[0]), anchors))
        return AnchorExtension(plain, sigma=mean_distance(transform(read(spaced))))

    return FeatureFitter(np.concatenate([spaced, middle, subset]), fit)


def _choose_anchors(subset: Array, n_anchors: int, generator: np.random.RandomState) -> Array:
    """Centres of a random subset of the samples; of sparse views samples themselves, since centres would be dense."""
    size = subset.shape[0]
    chosen = generator.choice(size, min(n_anchors, size), replace=False)
    centers = take_rows(subset, chosen)
    if scipy.sparse.issparse(subset):
        marks = centers @ generator.standard_normal(subset.shape[1])  # equal for equal rows only
        return centers[np.sort(np.unique(marks, return_index=True)[1])]
    xp = namespace(subset)
    for _ in range(ROUNDS):
        sums, sizes = _sum_members(subset, centers)
        means = sums / xp.clip(sizes, min=1)
        centers = xp.astype(xp.where(sizes > 0, means, xp.astype(centers, means.dtype)), subset.dtype)
    return beside(np.unique(on_host(centers), axis=0), subset)


def _sum_members(subset: Array, centers: Array) -> tuple[Array, Array]:
    """Sums of the rows that are nearest to every center, and their numbers as a column."""
    size, n_centers = subset.shape[0], centers.shape[0]
    if not is_device_array(subset):
        nearest = pairwise_distances_argmin(subset, centers)
        entries = np.ones(size, dtype=subset.dtype), (nearest, np.arange(size))
        members = scipy.sparse.csr_array(entries, (n_centers, size))
        return members @ subset, np.bincount(nearest, minlength=n_centers)[:, None]
    xp = namespace(subset)
    rows, centers = (xp.astype(one, xp.float64) for one in (subset, centers))
    nearest = xp.argmin(shifted_squares(rows, centers), axis=1)
    members = xp.astype(nearest[None, :] == beside(np.arange(n_centers)[:, None], nearest), xp.float64)
    return members @ rows, xp.sum(members, axis=1, keepdims=True)
