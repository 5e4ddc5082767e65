"""Local alignment of views that are chunked by rows: rows of partitions weighted by neighbour counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion import estimators
from latefusion.arrays import namespace, row_blocks
from latefusion.distributed.alignment import ChunkedAlignment, Solution
from latefusion.distributed.chunks import ChunkedViews
from latefusion.distributed.features import FeatureMaps, FeatureProducts
from latefusion.distributed.first_pass import FirstPass
from latefusion.distributed.passes import lazy_rows, sum_up
from latefusion.partitions.neighborhoods import (
    CLOSENESS_ENTRIES,
    NeighborCounts,
    count_errors,
    count_inside,
    draw_samples,
    estimate_counts,
    neighborhood_size,
    sampled_thresholds,
)
from latefusion.solvers import compress_products
from latefusion.types import Array


class LocalAlignmentClustering(ChunkedAlignment, estimators.LocalAlignmentClustering):
    """`latefusion.LocalAlignmentClustering` for views that are chunked by rows and may be larger than any memory.

    Parameters, attributes and methods are those of the class in memory. `labels_`, `consensus_`, `confidence_`,
    `novelty_`, `partitions_`, `neighbor_counts_`, `observed_` and `n_observed_views_` are lazy Dask arrays; everything
    else is small and in memory, and `predict` and `transform` take arrays in memory as well.

    Notes
    -----
    As `latefusion.distributed.GlobalAlignmentClustering`, with one more pass, in which neighbours are counted. Counts
    are estimated from ``count_samples`` or 512 sampled neighbourhoods, also for few samples. Missing views raise an
    error.
    """

    def _counted_rows(self, views: ChunkedViews) -> list[NDArray[np.intp]]:
        return list(draw_samples(views.n_samples, self.count_samples))

    def _missing_refusal(self) -> str:
        return "neighbours are counted among complete samples only. Use GlobalAlignmentClustering"

    def _solve_chunked(
        self, first: FirstPass, maps: FeatureMaps, products: FeatureProducts, projection: NDArray[np.float64]
    ) -> Solution:
        views = first.views
        n_samples, width = views.n_samples, (views.n_views + 1) * self.n_clusters
        samples, references = self._counted_rows(views)
        known, rows = (
            maps.coordinates([first.read(one, view) for view in range(views.n_views)]) for one in (samples, references)
        )
        everyone = np.arange(len(samples))
        extensions = [one.with_columns(own, everyone) for one, own in zip(maps.extensions, known, strict=True)]
        maps = replace(maps, extensions=extensions)
        near, sizes = maps.closeness(rows, maps.features(rows)), [neighborhood_size(self.neighborhood, n_samples)]
        thresholds = sampled_thresholds(samples, references, near, n_samples, sizes, views.n_views)
        weighted = WeightedPartitions(maps, projection.astype(views.dtype), thresholds, samples, n_samples)
        sums = sum_up(views, _weighted_products, weighted, _add, "counts")
        gram = sums.gram[width:, width:]
        result = self._solve(*compress_products(gram, self.n_clusters, xp=namespace(gram)), self.regularization)
        self.neighbor_count_error_ = sums.errors / ((views.n_views + 1) * n_samples)
        self.neighbor_counts_ = lazy_rows(views, weighted.counts, "counts", width=views.n_views + 1, dtype=np.float64).T
        counts = [
            NeighborCounts(counted, own[0], n_samples, samples)
            for counted, own in zip(sums.known, thresholds, strict=True)
        ]
        cross = sums.gram[:width, width:] @ np.concatenate(list(result.mixing))
        return Solution(result, cross, partial(_consensus_rows, weighted, result.mixing), extensions, counts)


@dataclass(frozen=True)
class WeightedPartitions:
    """Rows of all partitions, each times its neighbour count over n: the input of local alignment.

    Attributes
    ----------
    maps : FeatureMaps
        One per view, whose extensions store the samples with known neighbourhoods.
    projection : ndarray of shape (total width, (n_views + 1) * n_clusters)
    thresholds : list of ndarray of shape (1, n_columns)
    samples : ndarray of int of shape (n_columns,)
    n_samples : int
    """

    maps: FeatureMaps
    projection: NDArray[Any]
    thresholds: Sequence[Array]
    samples: NDArray[np.intp]
    n_samples: int

    def counts(self, rows: Sequence[Array], numbers: NDArray[np.intp]) -> NDArray[np.float64]:
        """The counts alone, one column per view and last that of the mean similarity."""
        return np.concatenate([counts.T for _, counts, _ in self.blocks(rows, numbers)])

    def blocks(
        self, rows: Sequence[Array], numbers: NDArray[np.intp]
    ) -> Iterator[tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_]]]:
        """Rows of all partitions, their counts, and which rows have known neighbourhoods, a few rows at a time.

        Shapes are (n_views + 1, n_rows, n_clusters), (n_views + 1, n_rows) and (n_rows,).
        """
        step = min(self.maps.block_rows, max(1, CLOSENESS_ENTRIES // len(self.samples)))
        for block in row_blocks(len(numbers), step):
            coordinates = self.maps.coordinates([view[block] for view in rows])
            features = self.maps.features(coordinates)
            plain = np.stack(np.split(self.maps.project(features, self.projection), len(self.thresholds), axis=1))
            closeness = self.maps.closeness(coordinates, features)
            inside = np.stack([one[0] for one in count_inside(closeness, self.thresholds)])
            known = np.isin(numbers[block], self.samples)
            counts = estimate_counts(inside, known.astype(np.float64), self.n_samples, len(self.samples))
            yield plain, counts, known


def _consensus_rows(
    partitions: WeightedPartitions, mixing: NDArray[Any], rows: Sequence[Array], numbers: NDArray[np.intp]
) -> NDArray[Any]:
    found = []
    for plain, counts, _ in partitions.blocks(rows, numbers):
        weighted = plain * (counts / partitions.n_samples).astype(plain.dtype)[..., None]
        found.append(np.einsum("pnk,pkl->nl", weighted, mixing.astype(plain.dtype), optimize=True))
    return np.concatenate(found)


class WeightedProducts(NamedTuple):
    """Sums over all samples that local alignment needs.

    Attributes
    ----------
    gram : ndarray of shape (2 * width, 2 * width)
        Inner products of all partitions, and of the same partitions with weighted rows.
    known : ndarray of shape (n_views + 1, n_columns)
        Counts of the samples with known neighbourhoods.
    errors : float
        Sum of the relative errors of all counts.
    """

    gram: NDArray[np.float64]
    known: NDArray[np.float64]
    errors: float


def _weighted_products(partitions: WeightedPartitions, start: int, *rows: Array) -> WeightedProducts:
    numbers, n_samples = np.arange(start, start + rows[0].shape[0]), partitions.n_samples
    gram: Any = 0.0
    errors, found = 0.0, []
    for plain, counts, known in partitions.blocks(rows, numbers):
        weighted = plain * (counts / n_samples)[..., None]
        both = np.concatenate([*plain, *weighted], axis=1).astype(np.float64, copy=False)
        gram = gram + both.T @ both
        errors += float(np.sum(count_errors(counts, n_samples, len(partitions.samples))))
        found.append(counts[:, known])
    return WeightedProducts(gram, np.concatenate(found, axis=1), errors)


def _add(parts: Sequence[WeightedProducts]) -> WeightedProducts:
    gram, known, errors = zip(*parts, strict=True)
    return WeightedProducts(np.sum(gram, axis=0), np.concatenate(known, axis=1), sum(errors))
