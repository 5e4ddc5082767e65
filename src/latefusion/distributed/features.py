"""Features of the rows of all views, and the second pass: their inner products, from which all solvers start.

A row of Φ = [Φ_1 | … | Φ_s] depends on its sample only, so ΦᵀΦ is a sum over pieces. The features of graphs are sparse
and not scaled yet. The scale of an anchor follows from the sum of its column, which the same pass returns, and ΦᵀΦ is
scaled afterwards.

A sample with a missing view has a row of zeros in Φ_p. In the mean similarity the rows of samples with few views are
made longer, see `latefusion.partitions.mean`, so that products are kept apart by the share of observed views.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import iadd
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.arrays import inner_products, namespace, row_blocks
from latefusion.distributed.chunks import ChunkedViews
from latefusion.distributed.first_pass import FirstPass, observed
from latefusion.distributed.passes import sum_up
from latefusion.encoding.coordinates import SideBySide
from latefusion.partitions.factor_stack import BLOCK_ENTRIES
from latefusion.partitions.spectra import LARGEST_GRAM
from latefusion.similarities import GraphSimilarity, KernelSimilarity
from latefusion.similarities.anchors import AnchorExtension
from latefusion.similarities.extension import FeatureFitter
from latefusion.similarities.factor import FactorExtension, LinearMap
from latefusion.types import Array
from latefusion.validation.views import hide_entries

# Smallest number of rows of a block of features, and the largest where features are sparse.
LEAST_ROWS = 256
SPARSE_ROWS = 2**13

Extension = FactorExtension | AnchorExtension


class FeatureBlock(NamedTuple):
    """Features of a few rows: those of kernels side by side (dense), and those of graphs (sparse).

    Attributes
    ----------
    values : list of ndarray or csr_array of shape (n_rows, n_columns)
        One for each of `FeatureMaps.groups`. The dense one is overwritten by the next block.
    shares : ndarray of shape (n_rows,) or None
        Share of observed views of every sample; None if no view is missing.
    """

    values: list[Any]
    shares: NDArray[np.float64] | None = None

    def times(self, matrix: NDArray[Any], groups: Sequence[NDArray[np.intp]]) -> NDArray[Any]:
        """The rows times a matrix; ``groups`` are the columns of the values."""
        dense, sparse = groups
        found: NDArray[Any] = self.values[0] @ matrix[dense]
        return found + self.values[1] @ matrix[sparse] if len(sparse) else found

    def by_share(self) -> Iterator[tuple[float, list[Any]]]:
        """The values of the rows of every share of observed views."""
        if self.shares is None or np.all(self.shares == 1.0):
            yield 1.0, self.values
            return
        for share in np.unique(self.shares).tolist():
            yield share, [values[self.shares == share] for values in self.values]


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

    @property
    def groups(self) -> list[NDArray[np.intp]]:
        """The dense columns of Φ, those of kernels, and the sparse columns, those of graphs."""
        groups: list[list[NDArray[np.intp]]] = [[np.arange(0)], [np.arange(0)]]
        for one, part in zip(self.extensions, self.parts, strict=True):
            groups[isinstance(one, AnchorExtension)].append(np.r_[part])
        return [np.concatenate(group) for group in groups]

    @property
    def block_rows(self) -> int:
        """Number of rows of a block of features."""
        dense, sparse = self.groups
        step = max(LEAST_ROWS, BLOCK_ENTRIES // max(1, len(dense)))
        return min(step, SPARSE_ROWS) if len(sparse) else step

    def coordinates(self, rows: Sequence[Array]) -> list[Array]:
        """Encoded rows for every map; those of a view are computed once."""
        known = {
            source: self.encodings[source](rows if source == len(rows) else rows[source]) for source in {*self.sources}
        }
        return [_written_out(one, known[source]) for one, source in zip(self.extensions, self.sources, strict=True)]

    def features(self, coordinates: Sequence[Array]) -> list[Array]:
        """Rows of every Φ_p, dense or, for graphs, sparse."""
        return [one.features(own) for one, own in zip(self.extensions, coordinates, strict=True)]

    def closeness(self, coordinates: Sequence[Array], features: Sequence[Array]) -> Iterator[Array]:
        """Values that rank neighbourhoods in every view."""
        for one, *own in zip(self.extensions, coordinates, features, strict=True):
            yield one.closeness(*own)

    def blocks(self, rows: Sequence[Array]) -> Iterator[FeatureBlock]:
        """The features of all rows, a few at a time and in the same memory.

        Allocating memory for every few rows would take as much time as the products, since workers of Dask return it to
        the system each time.
        """
        n_rows, step = rows[0].shape[0], self.block_rows
        buffer = np.empty((min(n_rows, step), len(self.groups[0])), dtype=self.dtype)
        for block in row_blocks(n_rows, step):
            dense, start, graphs = buffer[: block.stop - block.start], 0, []
            parts = [view[block] for view in rows]
            seen = observed(parts) if self.has_missing else None
            if seen is not None:  # feature maps need finite values
                parts = [hide_entries(part, own, None) for part, own in zip(parts, seen.T, strict=True)]
            for position, (one, part) in enumerate(zip(self.extensions, self.coordinates(parts), strict=True)):
                if isinstance(one, AnchorExtension):
                    own = one.features(part)
                    here = None if seen is None else scipy.sparse.diags_array(seen[:, position].astype(own.dtype))
                    graphs.append(own if here is None else here @ own)
                    continue
                target = dense[:, start : start + one.feature_map.width]
                start += one.feature_map.width
                if isinstance(one.feature_map, LinearMap):
                    one.feature_map.write(part, target)
                else:
                    target[:] = one.features(part)
                if seen is not None:
                    target[~seen[:, position]] = 0.0
            sparse = (
                scipy.sparse.hstack(graphs, format="csr") if graphs else np.empty((len(dense), 0), dtype=self.dtype)
            )
            yield FeatureBlock([dense, sparse], None if seen is None else seen.mean(axis=1))

    def project(self, features: Sequence[Array], projection: NDArray[Any]) -> NDArray[Any]:
        """Rows of Φ times a matrix."""
        return np.asarray(sum(own @ projection[part] for own, part in zip(features, self.parts, strict=True)))


def _written_out(extension: Extension, rows: Array) -> Array:
    """Rows for a feature map; sparse rows become dense for a linear map, since they are dense once they are centred."""
    return rows.toarray() if isinstance(extension.feature_map, LinearMap) and scipy.sparse.issparse(rows) else rows


@dataclass(frozen=True)
class ProjectedFeatures:
    """Rows of Φ times a matrix: base partitions, or the consensus of global alignment.

    Attributes
    ----------
    maps : FeatureMaps
    projection : ndarray of shape (total width, n_columns)
    of_mean : ndarray of shape (total width, n_columns) or None
        Added for the mean similarity if views are missing: times one over the root of the share of observed views.
    """

    maps: FeatureMaps
    projection: NDArray[Any]
    of_mean: NDArray[Any] | None = None

    def __call__(self, rows: Sequence[Array], numbers: NDArray[np.intp]) -> NDArray[Any]:
        """The projected rows."""
        groups, parts = self.maps.groups, []
        for block in self.maps.blocks(rows):
            projected = block.times(self.projection, groups)
            if self.of_mean is not None and block.shares is not None:
                projected += block.times(self.of_mean, groups) / np.sqrt(block.shares)[:, None]
            parts.append(projected)
        return np.concatenate(parts).astype(self.projection.dtype, copy=False)


def fitter_of(similarity: Any, name: str, n_samples: int, n_clusters: int) -> Any:
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
    if type(similarity) not in (KernelSimilarity, GraphSimilarity) or similarity.method == "exact":
        raise ValueError(
            f"View {name!r} is chunked, but its similarity {similarity!r} needs all samples at once. Use 'kernel', "
            f"'graph', or a KernelSimilarity or GraphSimilarity with method='auto'."
        )
    return similarity.fitter(n_samples, n_clusters)


def fit_features(
    first: FirstPass, fitters: Sequence[tuple[int, FeatureFitter]], encodings: Sequence[Any], n_clusters: int
) -> tuple[FeatureMaps, FeatureProducts]:
    """Fit feature maps from the rows of the first pass, and sum up ΦᵀΦ in a second one.

    Parameters
    ----------
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
    extensions = [_fit_map(first, fitter, encodings[source], source) for source, fitter in fitters]
    sources, dtype = [source for source, _ in fitters], first.views.dtype
    maps = FeatureMaps(sources, encodings, extensions, dtype, first.observed.has_missing)
    return feature_products(first.views, maps, n_clusters)


def _fit_map(first: FirstPass, fitter: FeatureFitter, encoding: Any, source: int) -> Any:
    def read(positions: NDArray[np.intp]) -> Array:
        return encoding(first.read(positions, source))

    if isinstance(encoding, SideBySide):
        parts = zip(encoding.encodings, encoding.scales, first.statistics, strict=True)
        means = np.concatenate([scale * one.statistics(raw).means for one, scale, raw in parts])
    else:
        means = encoding.statistics(first.statistics[source]).means
    return fitter.fit(read, means)


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
    dense, sparse = maps.groups
    sums: dict[float, Any] = {}
    totals = np.zeros(int(maps.edges[-1]))
    for block in maps.blocks(rows):
        for share, (kernels, graphs) in block.by_share():
            weights = graphs.astype(np.float64)
            totals[sparse] += weights.sum(axis=0)
            own = (inner_products(kernels, xp=namespace(kernels)), weights.T @ kernels, weights.T @ weights)
            sums[share] = tuple(map(iadd, sums[share], own)) if share in sums else own
    grams = {}
    for share, (of_kernels, mixed, of_graphs) in sums.items():
        grams[share] = gram = np.empty((len(totals), len(totals)))
        gram[np.ix_(dense, dense)] = of_kernels
        gram[np.ix_(sparse, dense)] = mixed
        gram[np.ix_(dense, sparse)] = mixed.T
        gram[np.ix_(sparse, sparse)] = of_graphs.toarray() if scipy.sparse.issparse(of_graphs) else of_graphs
    return FeatureProducts(grams, totals)


def _add(parts: Sequence[FeatureProducts]) -> FeatureProducts:
    shares = sorted({share for part in parts for share in part.grams})
    grams = {share: sum(part.grams[share] for part in parts if share in part.grams) for share in shares}
    return FeatureProducts(grams, sum(part.totals for part in parts))  # type: ignore[arg-type]
