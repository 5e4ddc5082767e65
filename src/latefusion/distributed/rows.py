"""From rows of all views to consensus rows: features times a matrix, weighted by counts for local alignment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import row_blocks
from latefusion.distributed.chunks import ChunkedViews
from latefusion.distributed.features import FeatureMaps, observed
from latefusion.distributed.passes import RowMap, sum_up
from latefusion.estimators.new_samples import weigh_confidence
from latefusion.estimators.novelty import Novelty
from latefusion.partitions.neighborhoods import CLOSENESS_ENTRIES, count_errors, count_inside, estimate_counts
from latefusion.types import Array, Views

Numbers = NDArray[np.intp]


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

    def __call__(self, rows: Sequence[Array], numbers: Numbers) -> NDArray[Any]:
        """The projected rows."""
        projected = np.empty((len(numbers), self.projection.shape[1]), dtype=self.projection.dtype)
        dense, sparse = (self.maps.columns(sparse=sparse) for sparse in (False, True))
        for block in self.maps.blocks(rows):
            np.matmul(block.dense, self.projection[dense], out=projected[block.rows], casting="same_kind")
            if block.sparse is not None:
                projected[block.rows] += block.sparse @ self.projection[sparse]
            if self.of_mean is not None and block.shares is not None:
                mean = block.dense @ self.of_mean[dense]
                if block.sparse is not None:
                    mean = mean + block.sparse @ self.of_mean[sparse]
                projected[block.rows] += mean / np.sqrt(block.shares)[:, None]
        return projected


def rows_with_confidence(
    consensus: RowMap, weights: NDArray[np.float64], rows: Sequence[Array], numbers: Numbers
) -> NDArray[Any]:
    """Consensus rows, and last the share of the weight of all views that the observed views of a sample have."""
    shares = weigh_confidence(np.ones(len(numbers)), weights, observed(rows))
    return np.column_stack([consensus(rows, numbers), shares])


def observed_rows(rows: Sequence[Array], numbers: Numbers) -> NDArray[np.bool_]:
    """Whether views are observed, one column per view."""
    return observed(rows)


def novelty_rows(novelty: Novelty, has_missing: bool, rows: Sequence[Array], numbers: Numbers) -> NDArray[np.float64]:
    """Distances of samples from the references among the drawn samples."""
    return novelty(Views(list(rows)), observed(rows) if has_missing else None)


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
    mixing : ndarray of shape (n_views + 1, n_clusters, n_clusters) or None
        Turns them into consensus rows; None as long as the alignment is not solved.
    """

    maps: FeatureMaps
    projection: NDArray[Any]
    thresholds: Sequence[Array]
    samples: Numbers
    n_samples: int
    mixing: NDArray[Any] | None = None

    def __call__(self, rows: Sequence[Array], numbers: Numbers) -> NDArray[Any]:
        """The consensus rows."""
        assert self.mixing is not None
        found = []
        for plain, counts, _ in self.blocks(rows, numbers):
            weighted = plain * (counts / self.n_samples).astype(plain.dtype)[..., None]
            found.append(np.einsum("pnk,pkl->nl", weighted, self.mixing.astype(plain.dtype), optimize=True))
        return np.concatenate(found)

    def counts(self, rows: Sequence[Array], numbers: Numbers) -> NDArray[np.float64]:
        """The counts alone, one column per view and last that of the mean similarity."""
        return np.concatenate([counts.T for _, counts, _ in self.blocks(rows, numbers)])

    def blocks(
        self, rows: Sequence[Array], numbers: Numbers
    ) -> Iterator[tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_]]]:
        """Rows of all partitions, their counts, and which rows have known neighbourhoods, a few rows at a time.

        Shapes are (n_views + 1, n_rows, n_clusters), (n_views + 1, n_rows) and (n_rows,).
        """
        step = min(self.maps.block_rows, max(1, CLOSENESS_ENTRIES // len(self.samples)))
        for block in row_blocks(len(numbers), step):
            parts = [view[block] for view in rows]
            features = self.maps(parts)
            plain = np.stack(np.split(self.maps.project(features, self.projection), len(self.thresholds), axis=1))
            closeness = (
                one.closeness(part, own) for one, part, own in zip(self.maps.extensions, parts, features, strict=True)
            )
            inside = np.stack([one[0] for one in count_inside(closeness, self.thresholds)])
            known = np.isin(numbers[block], self.samples)
            counts = estimate_counts(inside, known.astype(np.float64), self.n_samples, len(self.samples))
            yield plain, counts, known


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


def weighted_products(views: ChunkedViews, partitions: WeightedPartitions) -> WeightedProducts:
    """Inner products of weighted partitions, in one pass."""
    found: WeightedProducts = sum_up(views, _weighted_products, partitions, _add, "counts")
    return found


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
