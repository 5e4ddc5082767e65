"""The second pass over the rows: inner products of the features of all views, from which all solvers start.

A row of Φ = [Φ_1 | … | Φ_s] depends on its sample only, so ΦᵀΦ is a sum over pieces. The features of graphs are sparse
and not scaled yet. The scale of an anchor follows from the sum of its column, which the same pass returns, and ΦᵀΦ is
scaled afterwards.

A sample with a missing view has a row of zeros in Φ_p. In the mean similarity the rows of samples with few views are
made longer, see `latefusion.partitions.mean`, so that products are kept apart by the share of observed views.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.arrays import inner_products, namespace, row_blocks
from latefusion.distributed.chunks import ChunkedViews
from latefusion.distributed.first_pass import FirstPass
from latefusion.distributed.passes import sum_up
from latefusion.encoding.coordinates import SideBySide
from latefusion.partitions.gram import BLOCK_ENTRIES
from latefusion.partitions.spectra import LARGEST_GRAM
from latefusion.similarities import GraphSimilarity, KernelSimilarity
from latefusion.similarities.anchors import AnchorExtension
from latefusion.similarities.extension import FeatureFitter
from latefusion.similarities.factor import FactorExtension, LinearMap
from latefusion.types import Array
from latefusion.validation.holes import empty_rows

# Smallest number of rows of a block of features, and the largest where features are sparse.
LEAST_ROWS = 256
SPARSE_ROWS = 2**13

Extension = FactorExtension | AnchorExtension


class FeatureBlock(NamedTuple):
    """Features of a few rows: those of kernels side by side, and those of graphs.

    Attributes
    ----------
    rows : slice
    dense : ndarray of shape (n_rows, n_dense)
        Overwritten by the next block.
    sparse : csr_array of shape (n_rows, n_sparse) or None
    shares : ndarray of shape (n_rows,) or None
        Share of observed views of every sample; None if no view is missing.
    """

    rows: slice
    dense: NDArray[Any]
    sparse: Any
    shares: NDArray[np.float64] | None = None

    def by_share(self) -> Iterator[tuple[float, FeatureBlock]]:
        """The rows of every share of observed views."""
        if self.shares is None or np.all(self.shares == 1.0):
            yield 1.0, self
            return
        for share in np.unique(self.shares).tolist():
            own = self.shares == share
            yield share, self._replace(dense=self.dense[own], sparse=None if self.sparse is None else self.sparse[own])


@dataclass(frozen=True)
class FeatureMaps:
    """Feature maps of several similarities: from rows of all views to rows of Φ.

    Attributes
    ----------
    sources : sequence of int
        The view of every map; the number of views stands for all views side by side.
    encodings : sequence of Encoding
        One per view, and last that of all views side by side, if a map needs it.
    extensions : sequence of FactorExtension or AnchorExtension
        The maps.
    dtype : dtype
        Float type of dense features.
    has_missing : bool, default=False
        Whether rows of NaN mark missing views; only with one map per view.
    """

    sources: Sequence[int]
    encodings: Sequence[Any]
    extensions: Sequence[Extension]
    dtype: Any
    has_missing: bool = False

    @property
    def edges(self) -> NDArray[np.intp]:
        """First column of every Φ_p in Φ, and the number of columns."""
        return np.concatenate([[0], np.cumsum([one.feature_map.width for one in self.extensions])])

    @property
    def parts(self) -> list[slice]:
        """Columns of every Φ_p in Φ."""
        return [slice(int(start), int(stop)) for start, stop in pairwise(self.edges)]

    def columns(self, *, sparse: bool) -> NDArray[np.intp]:
        """The columns of Φ that are sparse, or those that are dense."""
        pairs = zip(self.extensions, self.parts, strict=True)
        own = [np.r_[part] for one, part in pairs if isinstance(one, AnchorExtension) == sparse]
        return np.concatenate([np.arange(0), *own])

    @property
    def block_rows(self) -> int:
        """Number of rows of a block of features."""
        n_dense = len(self.columns(sparse=False))
        step = max(LEAST_ROWS, BLOCK_ENTRIES // max(1, n_dense))
        return step if n_dense == self.edges[-1] else min(step, SPARSE_ROWS)

    def coordinates(self, rows: Sequence[Array]) -> list[Array]:
        """Encoded rows for every map; those of a view are computed once."""
        known = {source: encode(self.encodings, source, rows.__getitem__) for source in {*self.sources}}
        return [known[source] for source in self.sources]

    def __call__(self, rows: Sequence[Array]) -> list[Array]:
        """Rows of every Φ_p."""
        return [features_of(one, own) for one, own in zip(self.extensions, self.coordinates(rows), strict=True)]

    def blocks(self, rows: Sequence[Array]) -> Iterator[FeatureBlock]:
        """The features of all rows, a few at a time and in the same memory.

        Allocating memory for every few rows would take as much time as the products, since workers of Dask return it to
        the system each time.
        """
        n_rows, step = rows[0].shape[0], self.block_rows
        buffer = np.empty((min(n_rows, step), len(self.columns(sparse=False))), dtype=self.dtype)
        for block in row_blocks(n_rows, step):
            dense, start, graphs = buffer[: block.stop - block.start], 0, []
            parts = [view[block] for view in rows]
            seen = observed(parts) if self.has_missing else None
            coordinates = self.coordinates(parts if seen is None else list(map(_zeros_for_missing, parts, seen.T)))
            for position, (one, part) in enumerate(zip(self.extensions, coordinates, strict=True)):
                here = None if seen is None else seen[:, position]
                if isinstance(one, AnchorExtension):
                    own = one.features(part)
                    graphs.append(own if here is None else scipy.sparse.diags_array(here.astype(own.dtype)) @ own)
                    continue
                target = dense[:, start : start + one.feature_map.width]
                start += one.feature_map.width
                if isinstance(one.feature_map, LinearMap) and isinstance(part, np.ndarray):
                    one.feature_map.write(part, target)
                else:
                    target[:] = features_of(one, part)
                if here is not None:
                    target[~here] = 0.0
            sparse = scipy.sparse.hstack(graphs, format="csr") if graphs else None
            yield FeatureBlock(block, dense, sparse, None if seen is None else seen.mean(axis=1))

    def project(self, features: Sequence[Array], projection: NDArray[Any]) -> NDArray[Any]:
        """Rows of Φ times a matrix."""
        return np.asarray(sum(own @ projection[part] for own, part in zip(features, self.parts, strict=True)))


def encode(encodings: Sequence[Any], source: int, read: Callable[[int], Array]) -> Array:
    """Encoded rows of a view, or of all views side by side; ``read`` returns the rows of a view."""
    encoding = encodings[source]
    if isinstance(encoding, SideBySide):
        n_views = len(encoding.encodings)
        return encoding([read(view) for view in range(n_views)], [None] * n_views)
    return encoding(read(source))


def features_of(extension: Extension, rows: Array) -> Array:
    """Features of some rows, dense or, for graphs, sparse."""
    if isinstance(extension.feature_map, LinearMap) and scipy.sparse.issparse(rows):
        rows = rows.toarray()  # few at a time, and dense once they are centred
    return extension.features(rows)


def observed(blocks: Sequence[Array]) -> NDArray[np.bool_]:
    """Which views are observed for which samples: those with rows that are not all NaN; shape (n_rows, n_views)."""
    return np.stack([~empty_rows(block) for block in blocks], axis=1)


def _zeros_for_missing(block: Array, seen: NDArray[np.bool_]) -> Array:
    """Replace missing rows by zeros, since feature maps need finite values."""
    if seen.all():
        return block
    if scipy.sparse.issparse(block):
        filled = block.copy()
        filled.data[np.repeat(~seen, np.diff(block.indptr))] = 0.0
        return filled
    return np.where(seen[:, None], block, block.dtype.type(0))


def fitter_of(similarity: Any, name: str, n_samples: int, n_clusters: int) -> FeatureFitter:
    """The fitter of a similarity of a chunked view.

    Parameters
    ----------
    similarity : KernelSimilarity or GraphSimilarity
        Kernels use a factor and graphs use anchors, as in memory with many samples.
    name : str
        Name of the view, for error messages.
    n_samples : int
    n_clusters : int

    Returns
    -------
    FeatureFitter
    """
    if type(similarity) not in (KernelSimilarity, GraphSimilarity):
        raise ValueError(
            f"View {name!r} is chunked, but its similarity {similarity!r} needs all samples at once. Use 'kernel', "
            f"'graph', a KernelSimilarity or a GraphSimilarity."
        )
    if similarity.method == "exact":
        raise ValueError(
            f"View {name!r} is chunked, but method='exact' needs the similarities of all pairs of samples. Use "
            f"method='auto'."
        )
    fitter: FeatureFitter = similarity.fitter(n_samples, n_clusters)
    return fitter


def fit_features(
    views: ChunkedViews,
    first: FirstPass,
    fitters: Sequence[tuple[int, FeatureFitter]],
    encodings: Sequence[Any],
    n_clusters: int,
) -> tuple[FeatureMaps, FeatureProducts]:
    """Fit feature maps from the rows of the first pass, and sum up ΦᵀΦ in a second one.

    Parameters
    ----------
    views : ChunkedViews
    first : FirstPass
    fitters : sequence of (int, FeatureFitter)
        The view of every map (the number of views stands for all views side by side) and its fitter.
    encodings : sequence of Encoding
        As in `FeatureMaps`.
    n_clusters : int

    Returns
    -------
    maps : FeatureMaps
    products : FeatureProducts
    """
    extensions = []
    for source, fitter in fitters:
        read = partial(_read_encoded, first, encodings, source)
        extensions.append(fitter.fit(read, _encoded_means(first, encodings[source], source)))
    sources = [source for source, _ in fitters]
    maps = FeatureMaps(sources, encodings, extensions, views.dtype, first.observed.has_missing)
    return feature_products(views, maps, n_clusters)


def _read_encoded(first: FirstPass, encodings: Sequence[Any], source: int, positions: NDArray[np.intp]) -> Array:
    return encode(encodings, source, partial(first.read, positions))


def _encoded_means(first: FirstPass, encoding: Any, source: int) -> NDArray[np.float64]:
    if not isinstance(encoding, SideBySide):
        own: NDArray[np.float64] = encoding.statistics(first.statistics[source]).means
        return own
    parts = zip(encoding.encodings, encoding.scales, first.statistics, strict=True)
    return np.concatenate([scale * one.statistics(raw).means for one, scale, raw in parts])


class FeatureProducts(NamedTuple):
    """ΦᵀΦ and Φᵀ1, in double precision.

    Attributes
    ----------
    grams : dict of float to ndarray of shape (width, width)
        ΦᵀΦ of the samples with this share of observed views.
    totals : ndarray of shape (width,)
    """

    grams: dict[float, NDArray[np.float64]]
    totals: NDArray[np.float64]

    @property
    def gram(self) -> NDArray[np.float64]:
        """ΦᵀΦ of all samples."""
        return self.weighted(0.0)

    def weighted(self, power: float) -> NDArray[np.float64]:
        """ΦᵀΦ with every sample weighted by a power of its share of observed views."""
        return np.asarray(sum(share**power * gram for share, gram in self.grams.items()))


def feature_products(views: ChunkedViews, maps: FeatureMaps, n_clusters: int) -> tuple[FeatureMaps, FeatureProducts]:
    """ΦᵀΦ of all samples, in one pass.

    Parameters
    ----------
    views : ChunkedViews
    maps : FeatureMaps
    n_clusters : int
        If a graph has more components than this, its samples get twice as many anchors, and the pass is repeated.

    Returns
    -------
    maps : FeatureMaps
        With the scale of graphs.
    products : FeatureProducts
    """
    width = int(maps.edges[-1])
    if width > LARGEST_GRAM:
        raise ValueError(
            f"The views have {width} features in total (columns, landmarks or anchors), which needs {width} x {width} "
            f"products; the limit is {LARGEST_GRAM}. Reduce the columns first, for instance by a random projection, or "
            f"use a kernel other than the linear one, which has as many features as landmarks."
        )
    while True:
        products = sum_up(views, _products, maps, _add, "products")
        gram, pairs = products.gram, list(zip(maps.extensions, maps.parts, strict=True))
        wider = [_widened(one, gram[part, part], products.totals[part], n_clusters) for one, part in pairs]
        if all(new is old for new, old in zip(wider, maps.extensions, strict=True)):
            break
        maps = replace(maps, extensions=wider)
    scaled, scale = [], np.ones(width)
    for one, part in pairs:
        if isinstance(one, AnchorExtension):
            one = replace(one, feature_map=one.feature_map.scaled(products.totals[part]))
            scale[part] = one.feature_map.scale
        scaled.append(one)
    grams = {share: gram * scale[:, None] * scale for share, gram in products.grams.items()}
    return replace(maps, extensions=scaled), FeatureProducts(grams, products.totals * scale)


def _widened(extension: Extension, gram: NDArray[Any], totals: NDArray[Any], n_clusters: int) -> Extension:
    """The extension with more anchors per sample, if its graph has too many components."""
    if not isinstance(extension, AnchorExtension):
        return extension
    wider = extension.feature_map.widened(gram, totals, n_clusters)
    return extension if wider is None else replace(extension, feature_map=wider)


def _products(maps: FeatureMaps, start: int, *rows: Array) -> FeatureProducts:
    sums: dict[float, _BlockSums] = {}
    for block in maps.blocks(rows):
        for share, part in block.by_share():
            sums.setdefault(share, _BlockSums(maps)).add(part)
    return FeatureProducts({share: own.gram() for share, own in sums.items()}, sum(own.totals for own in sums.values()))


class _BlockSums:
    """Running sums over blocks of features: of dense columns, of sparse columns, and between them."""

    def __init__(self, maps: FeatureMaps) -> None:
        self.dense, self.sparse = maps.columns(sparse=False), maps.columns(sparse=True)
        n_dense, n_sparse = len(self.dense), len(self.sparse)
        self.of_dense, self.mixed = np.zeros((n_dense, n_dense)), np.zeros((n_sparse, n_dense))
        self.of_sparse: Any = scipy.sparse.csr_array((n_sparse, n_sparse))
        self.totals: Any = np.zeros(n_dense + n_sparse)

    def add(self, block: FeatureBlock) -> None:
        if len(self.dense):
            self.of_dense += inner_products(block.dense, xp=namespace(block.dense))
        if len(self.sparse):
            weights = block.sparse.astype(np.float64)
            self.totals[self.sparse] += weights.sum(axis=0)
            self.of_sparse = self.of_sparse + weights.T @ weights
            if len(self.dense):
                self.mixed += weights.T @ block.dense

    def gram(self) -> NDArray[np.float64]:
        gram = np.zeros((len(self.totals), len(self.totals)))
        gram[np.ix_(self.dense, self.dense)] = self.of_dense
        gram[np.ix_(self.sparse, self.sparse)] = self.of_sparse.toarray()
        gram[np.ix_(self.sparse, self.dense)] = self.mixed
        gram[np.ix_(self.dense, self.sparse)] = self.mixed.T
        return gram


def _add(parts: Sequence[FeatureProducts]) -> FeatureProducts:
    shares = sorted({share for part in parts for share in part.grams})
    grams = {share: sum(part.grams[share] for part in parts if share in part.grams) for share in shares}
    return FeatureProducts(grams, sum(part.totals for part in parts))  # type: ignore[arg-type]
