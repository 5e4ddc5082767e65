"""The second pass: inner products of the features of all views, which hold everything that fusing needs.

A row of Φ = [Φ_1 | … | Φ_s] depends on its sample only, so ΦᵀΦ is a sum over pieces. Features of graphs are sparse and
not scaled yet; the scale of an anchor is the sum of its column, which the same pass brings, and ΦᵀΦ is scaled by it
afterwards.

A sample that lacks a view has a row of zeros in Φ_p. In the mean similarity the rows of samples with few views are made
longer, see `latefusion.partitions.missing`; so products are kept apart by the share of the views that
samples have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.arrays import inner_products, namespace, row_blocks
from latefusion.distributed.chunks import ChunkedViews
from latefusion.distributed.passes import sum_up
from latefusion.partitions.gram import BLOCK_ENTRIES
from latefusion.partitions.operators import LARGEST_GRAM
from latefusion.similarities.anchors import AnchorExtension
from latefusion.similarities.factor import FactorExtension, LinearMap
from latefusion.types import Array
from latefusion.validation.holes import empty_rows

# Rows of a block of features, at least; those of graphs are sparse, and blocks of them long.
LEAST_ROWS = 256
SPARSE_ROWS = 2**13

Extension = FactorExtension | AnchorExtension


class FeatureBlock(NamedTuple):
    """Features of a few rows: those of kernels side by side, and those of graphs.

    Attributes
    ----------
    rows : slice
    dense : ndarray of shape (n_rows, n_dense)
        Written over when the next block comes.
    sparse : csr_array of shape (n_rows, n_sparse) or None
    shares : ndarray of shape (n_rows,) or None
        Share of the views that every sample has; None if all samples have all views.
    """

    rows: slice
    dense: NDArray[Any]
    sparse: Any
    shares: NDArray[np.float64] | None = None

    def by_share(self) -> Iterator[tuple[float, FeatureBlock]]:
        """The rows apart by the share of the views that samples have."""
        if self.shares is None or np.all(self.shares == 1.0):
            yield 1.0, self
            return
        for share in np.unique(self.shares).tolist():
            own = self.shares == share
            yield share, self._replace(dense=self.dense[own], sparse=None if self.sparse is None else self.sparse[own])


@dataclass(frozen=True)
class RowFeatures:
    """From rows of all views to rows of Φ.

    Attributes
    ----------
    places : callable
        From the rows of all views to the rows that every feature map takes; ``list`` where these are the same.
    extensions : list of FactorExtension or AnchorExtension
    dtype : dtype
        Float type of features side by side.
    holes : bool, default=False
        Whether rows of NaN are rows of samples that lack the view; only where every view has one feature map.
    """

    places: Callable[[Sequence[Array]], list[Array]]
    extensions: Sequence[Extension]
    dtype: Any
    holes: bool = False

    @property
    def edges(self) -> NDArray[np.intp]:
        """First column of every Φ_p in Φ, and the number of columns."""
        return np.concatenate([[0], np.cumsum([one.feature_map.width for one in self.extensions])])

    def columns(self, *, sparse: bool) -> NDArray[np.intp]:
        """The columns of Φ that are sparse, or those that are not."""
        own = [
            np.arange(start, stop)
            for one, (start, stop) in zip(self.extensions, pairwise(self.edges), strict=True)
            if isinstance(one, AnchorExtension) == sparse
        ]
        return np.concatenate([np.arange(0), *own])

    @property
    def block_rows(self) -> int:
        """Rows to take the features of at a time."""
        n_dense = len(self.columns(sparse=False))
        step = max(LEAST_ROWS, BLOCK_ENTRIES // max(1, n_dense))
        return step if n_dense == self.edges[-1] else min(step, SPARSE_ROWS)

    def __call__(self, blocks: Sequence[Array]) -> list[Array]:
        """Rows of every Φ_p."""
        placed = self.places(blocks)
        return [features_of(one, rows) for one, rows in zip(self.extensions, placed, strict=True)]

    def split(self, blocks: Sequence[Array]) -> Iterator[FeatureBlock]:
        """The features of all rows, a few at a time and in the same memory.

        Memory that is taken and given back for every few rows costs as much as the products, since workers of Dask
        give it back to the system each time.
        """
        n_rows, step = blocks[0].shape[0], self.block_rows
        buffer = np.empty((min(n_rows, step), len(self.columns(sparse=False))), dtype=self.dtype)
        for rows in row_blocks(n_rows, step):
            dense, start, ties = buffer[: rows.stop - rows.start], 0, []
            parts = [block[rows] for block in blocks]
            seen = observed(parts) if self.holes else None
            placed = self.places(parts if seen is None else list(map(_without_holes, parts, seen.T)))
            for position, (one, part) in enumerate(zip(self.extensions, placed, strict=True)):
                here = None if seen is None else seen[:, position]
                if isinstance(one, AnchorExtension):
                    own = one.features(part)
                    ties.append(own if here is None else scipy.sparse.diags_array(here.astype(own.dtype)) @ own)
                    continue
                place = dense[:, start : start + one.feature_map.width]
                start += one.feature_map.width
                if isinstance(one.feature_map, LinearMap) and isinstance(part, np.ndarray):
                    one.feature_map.write(part, place)
                else:
                    place[:] = features_of(one, part)
                if here is not None:
                    place[~here] = 0.0
            together = scipy.sparse.hstack(ties, format="csr") if ties else None
            yield FeatureBlock(rows, dense, together, None if seen is None else seen.mean(axis=1))

    def project(self, features: Sequence[Array], projection: NDArray[Any]) -> NDArray[Any]:
        """Rows of Φ times a matrix."""
        rows: Any = 0.0
        for part, (start, stop) in zip(features, pairwise(self.edges), strict=True):
            rows = rows + part @ projection[start:stop]
        return np.asarray(rows)


def features_of(extension: Extension, rows: Array) -> Array:
    """Features of some rows, dense or, of graphs, sparse."""
    if isinstance(extension.feature_map, LinearMap) and scipy.sparse.issparse(rows):
        rows = rows.toarray()  # few of them at a time, and centred they are dense
    return extension.features(rows)


def observed(blocks: Sequence[Array]) -> NDArray[np.bool_]:
    """Which of some samples have which views: those whose rows are not all NaN; shape (n_rows, n_views)."""
    return np.stack([~empty_rows(block) for block in blocks], axis=1)


def _without_holes(block: Array, seen: NDArray[np.bool_]) -> Array:
    """The same rows, but zeros where there are none: feature maps take finite values."""
    if seen.all():
        return block
    if scipy.sparse.issparse(block):
        filled = block.copy()
        filled.data[np.repeat(~seen, np.diff(block.indptr))] = 0.0
        return filled
    return np.where(seen[:, None], block, block.dtype.type(0))


class Products(NamedTuple):
    """ΦᵀΦ and Φᵀ1, in double precision.

    Attributes
    ----------
    grams : dict of float to ndarray of shape (width, width)
        ΦᵀΦ of the samples that have this share of the views.
    totals : ndarray of shape (width,)
    """

    grams: dict[float, NDArray[np.float64]]
    totals: NDArray[np.float64]

    @property
    def gram(self) -> NDArray[np.float64]:
        """ΦᵀΦ of all samples."""
        return self.weighed(0.0)

    def weighed(self, power: float) -> NDArray[np.float64]:
        """The same with the term of every sample times a power of the share of the views that it has."""
        return np.asarray(sum(share**power * gram for share, gram in self.grams.items()))


def feature_products(views: ChunkedViews, features: RowFeatures, n_clusters: int) -> tuple[RowFeatures, Products]:
    """ΦᵀΦ of all samples, in one pass.

    Parameters
    ----------
    views : ChunkedViews
    features : RowFeatures
    n_clusters : int
        Where a graph has more components than this, its samples get twice as many anchors, and the pass is repeated.

    Returns
    -------
    features : RowFeatures
        With the scale of graphs.
    products : Products
    """
    width = int(features.edges[-1])
    if width > LARGEST_GRAM:
        raise ValueError(
            f"Views with {width} columns (or landmarks and anchors) in all need {width} x {width} products, "
            f"and more than {LARGEST_GRAM} are too many. Reduce the columns first, for instance by a random "
            f"projection, or use a kernel other than the linear one, which is as wide as its landmarks."
        )
    while True:
        products = sum_up(views, _products, features, _add, "products")
        wider = [_widened(one, part, products, n_clusters) for one, part in _columns(features)]
        if not any(wider):
            break
        features = replace(
            features, extensions=[new or old for new, old in zip(wider, features.extensions, strict=True)]
        )
    scaled = []
    scale = np.ones(width)
    for one, part in _columns(features):
        if isinstance(one, AnchorExtension):
            feature_map = one.feature_map.scaled(products.totals[part])
            scale[part] = feature_map.scale
            one = replace(one, feature_map=feature_map)
        scaled.append(one)
    grams = {share: gram * scale[:, None] * scale for share, gram in products.grams.items()}
    return replace(features, extensions=scaled), Products(grams, products.totals * scale)


def _columns(features: RowFeatures) -> list[tuple[Extension, slice]]:
    edges = [slice(int(start), int(stop)) for start, stop in pairwise(features.edges)]
    return list(zip(features.extensions, edges, strict=True))


def _widened(extension: Extension, part: slice, products: Products, n_clusters: int) -> AnchorExtension | None:
    if not isinstance(extension, AnchorExtension):
        return None
    own = sum(gram[part, part] for gram in products.grams.values())
    wider = extension.feature_map.widened(own, products.totals[part], n_clusters)
    return None if wider is None else replace(extension, feature_map=wider)


def _products(features: RowFeatures, start: int, *blocks: Array) -> Products:
    sums: dict[float, _Sums] = {}
    for block in features.split(blocks):
        for share, part in block.by_share():
            sums.setdefault(share, _Sums(features)).add(part)
    return Products({share: own.gram() for share, own in sums.items()}, sum(own.totals for own in sums.values()))


class _Sums:
    """Running sums over blocks of features: dense and sparse columns apart, and between them."""

    def __init__(self, features: RowFeatures) -> None:
        self.dense, self.sparse = features.columns(sparse=False), features.columns(sparse=True)
        n_dense, n_sparse = len(self.dense), len(self.sparse)
        self.of_dense, self.mixed = np.zeros((n_dense, n_dense)), np.zeros((n_sparse, n_dense))
        self.of_sparse: Any = scipy.sparse.csr_array((n_sparse, n_sparse))
        self.totals: Any = np.zeros(n_dense + n_sparse)

    def add(self, block: FeatureBlock) -> None:
        if len(self.dense):
            self.of_dense += inner_products(block.dense, xp=namespace(block.dense))
        if len(self.sparse):
            ties = block.sparse.astype(np.float64)
            self.totals[self.sparse] += ties.sum(axis=0)
            self.of_sparse = self.of_sparse + ties.T @ ties
            if len(self.dense):
                self.mixed += ties.T @ block.dense

    def gram(self) -> NDArray[np.float64]:
        gram = np.zeros((len(self.totals), len(self.totals)))
        gram[np.ix_(self.dense, self.dense)] = self.of_dense
        gram[np.ix_(self.sparse, self.sparse)] = self.of_sparse.toarray()
        gram[np.ix_(self.sparse, self.dense)] = self.mixed
        gram[np.ix_(self.dense, self.sparse)] = self.mixed.T
        return gram


def _add(parts: Sequence[Products]) -> Products:
    shares = sorted({share for part in parts for share in part.grams})
    grams = {share: sum(part.grams[share] for part in parts if share in part.grams) for share in shares}
    return Products(grams, sum(part.totals for part in parts))  # type: ignore[arg-type]
