"""The fitted model as one object: views to consensus rows to labels.

Every model of this package maps the views of a sample x to a consensus row by one formula,

    f(x) = Fill([φ_1(x) P_1 | … | φ_s(x) P_s], mask) · C,

and a rule turns rows into labels. φ_j are the features of one similarity of one view, or of all views side by side; P_j
is its projection on leading eigenvectors; C is small. The row of M, the partition of the mean similarity, is the sum of
φ_p(x) N_p over views: the N_p are more columns of the P_p. Local alignment multiplies columns by neighbor counts. A
consensus of labelings has cluster indicators as features.

The map is fitted once and never changes. Training samples get their own consensus rows back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import beside, namespace, row_blocks
from latefusion.encoding.coordinates import ImputedCoordinates
from latefusion.encoding.preparation import has_entries
from latefusion.estimators.novelty import Novelty
from latefusion.partitions.imputation import Fill
from latefusion.partitions.neighborhoods import NeighborCounts
from latefusion.partitions.partitions import BLOCK_ENTRIES, Block
from latefusion.similarities.kernel import KernelPoints
from latefusion.types import Array, Views


@dataclass(frozen=True)
class NeighborWeights:
    """Weights of the columns of a new sample in local alignment: its neighbor counts over the number of samples.

    Attributes
    ----------
    counters : tuple of NeighborCounts
        One per block.
    mean : NeighborCounts or None
        Counts by the mean of the similarities of all views. None takes the mean of the counts instead where views are
        missing for training samples, and nothing where M has a block of its own.
    shares : ndarray of shape (n_blocks,)
        Share of the training samples that have the block.
    n_samples : int
        Number of training samples.
    groups : ndarray of int of shape (n_columns,)
        The weight of every column: that of the block with this position, or, after the last block, that of the mean.
    """

    counters: tuple[NeighborCounts, ...]
    mean: NeighborCounts | None
    shares: NDArray[np.float64]
    n_samples: int
    groups: NDArray[np.intp]

    @property
    def width(self) -> int:
        """Largest number of training samples that a sample is compared with."""
        return max(int(one.thresholds.shape[0]) for one in self.counters)

    def __call__(self, closeness: Sequence[Array], presence: NDArray[np.bool_] | None, *, imputed: bool) -> Array:
        """Weights of all columns.

        Parameters
        ----------
        closeness : sequence of arrays of shape (n_present, n_columns) or None
            Per block, of the samples that have it; None where no sample does.
        presence : ndarray of bool of shape (n_samples, n_blocks) or None
            None where all samples have all blocks.
        imputed : bool
            Whether columns of missing views are imputed. Then they take the mean weight of the sample.

        Returns
        -------
        array of shape (n_samples, n_columns)
        """
        if presence is None:
            return self._complete(closeness)
        n_present = np.maximum(presence.sum(axis=1), 1)
        everywhere: list[NDArray[Any]] = []
        near: Any = np.zeros((len(presence), 1))
        for counter, one, seen, share in zip(self.counters, closeness, presence.T, self.shares, strict=True):
            everywhere.append(np.zeros(len(seen)))
            if one is not None:
                everywhere[-1][seen] = counter.count_new(one) / share
                near = near if self.mean is None else near + _scattered(one, seen)
        mean = self._mean([one * len(everywhere) / n_present for one in everywhere], near / n_present[:, None])
        if imputed:
            everywhere = [np.where(seen, one, mean) for one, seen in zip(everywhere, presence.T, strict=True)]
        return np.stack([*everywhere, mean], axis=1)[:, self.groups] / self.n_samples

    def _complete(self, closeness: Sequence[Array]) -> Array:
        """Weights of samples that have all blocks, where they lie."""
        found = [counter.count_new(one) for counter, one in zip(self.counters, closeness, strict=True)]
        xp = namespace(found[0])
        counts = [xp.astype(one, xp.float64) for one in found]
        counts.append(self._mean(counts, None if self.mean is None else sum(closeness) / len(closeness)))
        together = xp.stack(counts, axis=1)
        return xp.take(together, beside(self.groups, together), axis=1) / self.n_samples

    def _mean(self, counts: Sequence[Array], closeness: Any) -> Array:
        """The count by the mean closeness, or the mean of counts."""
        if self.mean is None:
            return sum(counts) / len(counts)
        count = self.mean.count_new(closeness)
        return namespace(count).astype(count, counts[0].dtype)


class Samples(NamedTuple):
    """Some samples: their views, which of these they have (None for all), and self-similarities per view."""

    views: Sequence[Array]
    presence: NDArray[np.bool_] | None
    diagonals: Sequence[Any]

    def take(self, rows: slice | NDArray[np.bool_]) -> Samples:
        """Some of these."""
        return Samples(
            [view[rows] for view in self.views],
            None if self.presence is None else self.presence[rows],
            [None if one is None else one[rows] for one in self.diagonals],
        )


@dataclass(frozen=True)
class ConsensusMap:
    """Views to consensus rows to labels.

    Attributes
    ----------
    n_views : int
    blocks : tuple of Block
        In the order of the rows of `coefficients`. Blocks of imputed coordinates come last.
    coefficients : ndarray of shape (sum of the blocks' columns, n_clusters)
        C.
    rule : object
        Turns consensus rows into labels and confidences.
    fill : Fill
        What becomes of columns of missing views.
    row_weights : NeighborWeights or None
        Only for local alignment.
    directional : ndarray of bool of shape (n_views,)
        Views in which a row of zeros is a missing row, since only directions are compared.
    novelty : Novelty or None
        Tells how far samples are from all training samples.
    """

    n_views: int
    blocks: tuple[Block, ...]
    coefficients: NDArray[Any]
    rule: Any
    fill: Fill
    row_weights: NeighborWeights | None = None
    directional: NDArray[np.bool_] | None = None
    novelty: Novelty | None = None

    def rows(self, views: Views, diagonals: Sequence[Any] | None = None) -> Array:
        """Consensus rows of samples.

        Parameters
        ----------
        views : Views
            Checked, in the order of the training views.
        diagonals : sequence of ndarray of shape (n_samples,) or None, default=None
            Self-similarities k(x, x) per view, for kernels that need them.

        Returns
        -------
        array of shape (n_samples, n_clusters)
        """
        observed = self.observed(views)
        complete = observed is None or bool(observed.all())
        presence = None if complete else self._presence(observed)
        samples = Samples(views.arrays, presence, diagonals or [None] * self.n_views)
        plain = complete and self.row_weights is None and not self._imputed_blocks
        folded = self._folded() if plain else []
        widths = [int(block.projection.shape[0]) for block in self.blocks]
        if self.row_weights is not None:
            widths.append(self.row_weights.width)
        parts = []
        for rows in row_blocks(len(views), max(1, BLOCK_ENTRIES // max(widths))):
            part = samples.take(rows)
            parts.append(self._complete_rows(part, folded) if plain else self._rows(part))
        xp = namespace(parts[0])
        found = parts[0] if len(parts) == 1 else xp.concat(parts)
        return xp.astype(found, self._dtype, copy=False)

    def labels(self, views: Views, diagonals: Sequence[Any] | None = None) -> Array:
        """Labels of samples; parameters as in `rows`."""
        return self.rule.predict(self.rows(views, diagonals))

    def needs_diagonal(self, view: int) -> bool:
        """Whether self-similarities of new samples must be given, since those of the training samples differ."""
        own = [one for block in self.blocks if block.view == view for one in (block.extension, block.encoding)]
        own += [one.extension for one in own if isinstance(one, KernelPoints)]
        return any(getattr(one, "self_similarity", 1.0) is None for one in own)

    def observed(self, views: Views) -> NDArray[np.bool_] | None:
        """Which views of the samples are used, shape (n_samples, n_views); None for all."""
        if self.directional is None or not self.directional.any():
            return views.mask
        observed = views.observed.copy()
        for view in np.flatnonzero(self.directional):
            observed[:, view] &= has_entries(views.arrays[view])
        return observed

    @property
    def _dtype(self) -> Any:
        projections = [block.projection for block in self.blocks]
        return namespace(projections[0]).result_type(*[one.dtype for one in projections])

    @property
    def _imputed_blocks(self) -> list[Block]:
        return [block for block in self.blocks if isinstance(block.encoding, ImputedCoordinates)]

    @property
    def _direct_blocks(self) -> list[Block]:
        return [block for block in self.blocks if not isinstance(block.encoding, ImputedCoordinates)]

    def _presence(self, observed: Any) -> NDArray[np.bool_]:
        """Which samples have which blocks' views, and last, where blocks need it, which have all views."""
        together = any(block.view == self.n_views for block in self._direct_blocks)
        return np.column_stack([observed, observed.all(axis=1)]) if together else np.asarray(observed)

    def _folded(self) -> list[Array]:
        """P_j C_j of every block: where no view is missing, one product per block is enough."""
        found, start = [], 0
        for block in self.blocks:
            projection = block.projection
            xp, width = namespace(projection), int(projection.shape[1])
            own = beside(self.coefficients[start : start + width].astype(np.float64), projection)
            found.append(xp.astype(xp.astype(projection, xp.float64) @ own, projection.dtype))
            start += width
        return found

    def _complete_rows(self, samples: Samples, folded: Sequence[Array]) -> Array:
        rows: Any = None
        for (*_, features), matrix in zip(self._walk(samples), folded, strict=True):
            own = features @ matrix
            rows = own if rows is None else rows + own
        return rows

    def _rows(self, samples: Samples) -> Array:
        """Rows by way of the columns of all blocks."""
        parts, closeness = [], []
        for block, present, coordinates, features in self._walk(samples):
            own = features @ block.projection
            parts.append(own if present is None else _scattered(own, present))
            if self.row_weights is not None:
                near = None if coordinates is None else block.extension.closeness(coordinates, features)
                closeness.append(near)
        xp = namespace(parts[0])
        dtype = self._dtype if samples.presence is None else np.float64
        columns = xp.concat([xp.astype(one, dtype, copy=False) for one in parts], axis=1)
        if samples.presence is not None:
            columns = self.fill(columns, samples.presence)
        if self._imputed_blocks:
            columns = self._with_imputed_blocks(columns, samples.presence)
        if self.row_weights is not None:
            weights = self.row_weights(closeness, samples.presence, imputed=self.fill.model is not None)
            columns = columns * xp.astype(weights, columns.dtype)
        return columns @ beside(self.coefficients, columns, dtype=columns.dtype)

    def _walk(self, samples: Samples) -> Iterator[tuple[Block, NDArray[np.bool_] | None, Any, Array]]:
        """Per block the samples that have it (None for all), and their coordinates and features."""
        encoded: dict[tuple[int, int], Array] = {}  # similarities of one view share its encoding
        for block in self._direct_blocks:
            present = None if samples.presence is None else samples.presence[:, block.view]
            if present is not None and not present.any():
                yield block, present, None, np.zeros((0, block.projection.shape[0]))
                continue
            if present is None or present.all():
                own, present = samples, None
            else:
                own = samples.take(present)
            key = (block.view, id(block.encoding))
            if key not in encoded:
                encoded[key] = self._encode(block, own)
            coordinates = encoded[key]
            diagonal = own.diagonals[block.view] if block.view < self.n_views else None
            yield block, present, coordinates, block.extension.features(coordinates, diagonal)

    def _encode(self, block: Block, samples: Samples) -> Array:
        encoding: Any = block.encoding
        if block.view == self.n_views:
            return encoding(samples.views, samples.diagonals)
        return encoding(samples.views[block.view], samples.diagonals[block.view])

    def _with_imputed_blocks(self, columns: NDArray[Any], presence: NDArray[np.bool_] | None) -> NDArray[Any]:
        """The columns of all blocks; those of imputed coordinates are zero for samples without any view."""
        known = np.ones(len(columns), dtype=bool) if presence is None else np.asarray(presence.any(axis=1))
        more = []
        for block in self._imputed_blocks:
            encoding: Any = block.encoding
            own = np.asarray(block.extension.features(encoding(columns)) @ block.projection)
            more.append(own * known[:, None])
        return np.concatenate([columns, *more], axis=1)


def _scattered(rows: NDArray[Any], present: NDArray[np.bool_]) -> NDArray[Any]:
    """Rows of some samples among those of all; the others are zero."""
    everywhere = np.zeros((len(present), rows.shape[1]), dtype=rows.dtype)
    everywhere[present] = rows
    return everywhere
