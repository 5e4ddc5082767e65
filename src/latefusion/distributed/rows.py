"""From rows of all views to consensus rows: a chain of small matrices, and for local alignment counts in between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import dask.array as da
import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import namespace, row_blocks
from latefusion.distributed.chunks import ChunkedViews
from latefusion.distributed.features import RowFeatures, observed
from latefusion.distributed.passes import lazy_rows, sum_up
from latefusion.estimators.incomplete import weigh_confidence
from latefusion.estimators.novelty import Novelty
from latefusion.partitions.neighborhoods import CLOSENESS_ENTRIES, count_errors, count_inside, estimate_counts
from latefusion.types import Array, Views

Numbers = NDArray[np.intp]


class RowMap(Protocol):
    """Rows of views to rows of something else; the number of a row may matter."""

    def __call__(self, blocks: Sequence[Array], numbers: Numbers) -> NDArray[Any]:
        """New rows."""
        ...


@dataclass(frozen=True)
class ProjectedRows:
    """Rows of Φ times a matrix: base partitions, or a consensus of global alignment.

    Attributes
    ----------
    features : RowFeatures
    projection : ndarray of shape (total width, n_columns)
    of_mean : ndarray of shape (total width, n_columns) or None
        Added for the mean similarity where samples lack views: times one over the root of the share that they have.
    """

    features: RowFeatures
    projection: NDArray[Any]
    of_mean: NDArray[Any] | None = None

    def __call__(self, blocks: Sequence[Array], numbers: Numbers) -> NDArray[Any]:
        """The projected rows."""
        projected = np.empty((len(numbers), self.projection.shape[1]), dtype=self.projection.dtype)
        dense, sparse = (self.features.columns(sparse=sparse) for sparse in (False, True))
        for block in self.features.split(blocks):
            np.matmul(block.dense, self.projection[dense], out=projected[block.rows], casting="same_kind")
            if block.sparse is not None:
                projected[block.rows] += block.sparse @ self.projection[sparse]
            if self.of_mean is not None and block.shares is not None:
                mean = block.dense @ self.of_mean[dense]
                if block.sparse is not None:
                    mean = mean + block.sparse @ self.of_mean[sparse]
                projected[block.rows] += mean / np.sqrt(block.shares)[:, None]
        return projected


def trusted_rows(rows: RowMap, weights: NDArray[np.float64], blocks: Sequence[Array], numbers: Numbers) -> NDArray[Any]:
    """Consensus rows, and one more column: how much of the weight of all views a sample's views have."""
    trust = weigh_confidence(np.ones(len(numbers)), weights, observed(blocks))
    return np.column_stack([rows(blocks, numbers), trust])


def observed_rows(blocks: Sequence[Array], numbers: Numbers) -> NDArray[np.bool_]:
    """Which views samples have, one column per view."""
    return observed(blocks)


def novelty_rows(novelty: Novelty, holes: bool, blocks: Sequence[Array], numbers: Numbers) -> NDArray[np.float64]:
    """How far samples are from the training samples that were drawn."""
    return novelty(Views(list(blocks)), observed(blocks) if holes else None)


@dataclass(frozen=True)
class CountedRows:
    """Rows of all partitions, each times its count over n: what local alignment aligns.

    Attributes
    ----------
    features : RowFeatures
        Whose extensions know the samples whose neighbourhoods were looked at.
    projection : ndarray of shape (total width, (n_views + 1) * n_clusters)
    thresholds : list of ndarray of shape (1, n_columns)
    samples : ndarray of int of shape (n_columns,)
    n_samples : int
    mixing : ndarray of shape (n_views + 1, n_clusters, n_clusters) or None
        What turns them into consensus rows; None leaves them side by side.
    """

    features: RowFeatures
    projection: NDArray[Any]
    thresholds: Sequence[Array]
    samples: Numbers
    n_samples: int
    mixing: NDArray[Any] | None = None

    def __call__(self, blocks: Sequence[Array], numbers: Numbers) -> NDArray[Any]:
        """The weighed rows, or the consensus rows that they give."""
        found = []
        for part in self.parts(len(numbers)):
            plain, counts = self.partitions([block[part] for block in blocks], numbers[part])
            weighed = plain * (counts / self.n_samples).astype(plain.dtype)[..., None]
            if self.mixing is None:
                found.append(np.concatenate(list(weighed), axis=1))
            else:
                found.append(np.einsum("pnk,pkl->nl", weighed, self.mixing.astype(plain.dtype), optimize=True))
        return np.concatenate(found)

    def counts(self, blocks: Sequence[Array], numbers: Numbers) -> NDArray[np.float64]:
        """The counts alone, one column per view and last that of the mean similarity."""
        parts = self.parts(len(numbers))
        return np.concatenate(
            [self.partitions([block[part] for block in blocks], numbers[part])[1].T for part in parts]
        )

    def parts(self, n_rows: int) -> Iterator[slice]:
        """Ranges of rows that are few enough for their closeness to all sampled samples."""
        return row_blocks(n_rows, min(self.features.block_rows, max(1, CLOSENESS_ENTRIES // len(self.samples))))

    def partitions(self, blocks: Sequence[Array], numbers: Numbers) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Rows of all partitions, shape (n_views + 1, n_rows, n_clusters), and counts, shape (n_views + 1, n_rows)."""
        features = self.features(blocks)
        n_parts = len(self.thresholds)
        rows = self.features.project(features, self.projection)
        plain = np.stack(np.split(rows, n_parts, axis=1))
        placed = self.features.places(blocks)
        closeness = (
            one.closeness(block, own)
            for one, block, own in zip(self.features.extensions, placed, features, strict=True)
        )
        inside = np.stack([one[0] for one in count_inside(closeness, self.thresholds)])
        own = np.isin(numbers, self.samples).astype(np.float64)
        return plain, estimate_counts(inside, own, self.n_samples, len(self.samples), xp=namespace(inside))


class CountedProducts(NamedTuple):
    """Sums over all samples that local alignment needs.

    Attributes
    ----------
    gram : ndarray of shape (2 * width, 2 * width)
        Inner products of all partitions, and of the same with weighed rows.
    known : ndarray of shape (n_views + 1, n_columns)
        Counts of the samples whose neighbourhoods were looked at.
    errors : float
        Sum of the relative errors of all counts.
    """

    gram: NDArray[np.float64]
    known: NDArray[np.float64]
    errors: float


def counted_products(views: ChunkedViews, rows: CountedRows) -> CountedProducts:
    """Inner products of weighed partitions, in one pass."""
    found: CountedProducts = sum_up(views, _counted_products, rows, _add, "counts")
    return found


def _counted_products(rows: CountedRows, start: int, *blocks: Array) -> CountedProducts:
    width = 2 * rows.projection.shape[1]
    gram, errors, known = np.zeros((width, width)), 0.0, []
    n_samples, n_columns = rows.n_samples, len(rows.samples)
    for part in rows.parts(blocks[0].shape[0]):
        numbers = np.arange(start + part.start, start + part.stop)
        plain, counts = rows.partitions([block[part] for block in blocks], numbers)
        weighed = plain * (counts / n_samples)[..., None]
        both = np.concatenate([*plain, *weighed], axis=1).astype(np.float64, copy=False)
        gram += both.T @ both
        errors += float(np.sum(count_errors(counts, n_samples, n_columns)))
        known.append(counts[:, np.isin(numbers, rows.samples)])
    return CountedProducts(gram, np.concatenate(known, axis=1), errors)


def _add(parts: Sequence[CountedProducts]) -> CountedProducts:
    return CountedProducts(
        np.sum([part.gram for part in parts], axis=0),
        np.concatenate([part.known for part in parts], axis=1),
        sum(part.errors for part in parts),
    )


def lazy_map(views: ChunkedViews, rows: RowMap, name: str, *, width: int | None, dtype: Any) -> da.Array:
    """The rows that a map makes of those of the views, computed when they are asked for.

    Parameters
    ----------
    views : ChunkedViews
    rows : RowMap
    name : str
    width : int or None
        Number of columns; None for numbers.
    dtype : dtype

    Returns
    -------
    dask.array.Array of shape (n_samples, width) or (n_samples,)
    """
    return lazy_rows(views, _map_piece, (rows, dtype), name, width=width, dtype=dtype)


def _map_piece(plan: tuple[RowMap, Any], start: int, *blocks: Array) -> NDArray[Any]:
    rows, dtype = plan
    return rows(blocks, np.arange(start, start + blocks[0].shape[0])).astype(dtype, copy=False)
