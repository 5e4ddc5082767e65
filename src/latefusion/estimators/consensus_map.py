"""The fitted model as one object: views to consensus rows to labels.

Every model of this package maps the views of a sample x to a consensus row by one formula,

    f(x) = Fill([φ_1(x) P_1 | … | φ_s(x) P_s], mask) · C,

and a rule turns rows into labels. φ_j are the features of one similarity of one view, or of all views side by side; P_j
is its projection on leading eigenvectors; C is small. M, the partition of the mean similarity, has blocks like any
other: its row is the sum of φ_p(x) N_p over views. Local alignment multiplies blocks by neighbor counts. A consensus of
labelings has cluster indicators as features.

Where no view is missing, f(x) is the sum of φ_j(x) times P_j C_j, one product per block.

The map is fitted once and never changes. Training samples get their own consensus rows back. A map that was fitted in
NumPy takes blocks of rows of other libraries in NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import beside, is_device_array, namespace, on_host, row_blocks
from latefusion.encoding.coordinates import ImputedCoordinates
from latefusion.encoding.preparation import has_entries
from latefusion.estimators.novelty import Novelty
from latefusion.partitions.imputation import Fill
from latefusion.partitions.neighborhoods import NeighborWeights
from latefusion.partitions.partitions import BLOCK_ENTRIES, Block, PartitionKey
from latefusion.partitions.spectra import scatter_rows
from latefusion.similarities.kernel import KernelPoints
from latefusion.types import Array, Views

# Entries of a block of features on a device.
DEVICE_BLOCK_ENTRIES = 2**28


class Samples(NamedTuple):
    """Some samples: their views, the mask of observed views (None for all), and self-similarities per view."""

    views: Sequence[Array]
    presence: NDArray[np.bool_] | None
    diagonals: Sequence[Any]


class Features(NamedTuple):
    """Features φ of one similarity.

    Attributes
    ----------
    blocks : list of int
        Positions of the blocks that they belong to.
    present : ndarray of bool of shape (n_samples,) or None
        The samples that have the view; None for all.
    coordinates : array of shape (n_present, n_coordinates)
    values : array of shape (n_present, n_features)
    """

    blocks: list[int]
    present: NDArray[np.bool_] | None
    coordinates: Any
    values: Any


def _take(values: Any, rows: slice | NDArray[np.bool_]) -> Any:
    """Some rows of an array, or of every array of a list; None stays None."""
    if isinstance(values, (list, tuple)):
        return [_take(one, rows) for one in values]
    return None if values is None else values[rows]


@dataclass(frozen=True)
class ConsensusMap:
    """Views to consensus rows to labels.

    Attributes
    ----------
    n_views : int
    blocks : tuple of Block
        In the order of the rows of `coefficients`. Blocks with the same key, and blocks of a view with the same
        extension, share their features. Blocks of imputed coordinates come last.
    coefficients : ndarray of shape (sum of the blocks' columns, n_clusters)
        C.
    rule : object
        Turns consensus rows into labels and confidences.
    fill : Fill
        Values of the columns of missing views.
    row_weights : NeighborWeights or None
        Only for local alignment.
    directional : ndarray of bool of shape (n_views,)
        Views in which a row of zeros is a missing row, since only directions are compared.
    novelty : Novelty or None
        Distance of samples to the training samples.
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
        samples = Samples(views.arrays, self._presence(views), diagonals or [None] * self.n_views)
        in_numpy = not is_device_array(self.blocks[0].projection)
        is_linear = samples.presence is None and self.row_weights is None and not self._imputed
        folded = self._folded() if is_linear else None
        width = max(int(block.projection.shape[0]) for block in self.blocks)
        width = width if self.row_weights is None else max(width, self.row_weights.width)
        parts = []
        for rows in row_blocks(len(views), max(1, (BLOCK_ENTRIES if in_numpy else DEVICE_BLOCK_ENTRIES) // width)):
            part = Samples(*(_take(one, rows) for one in samples))
            if in_numpy:
                part = part._replace(views=[on_host(view) for view in part.views])
            parts.append(self._rows(part) if folded is None else self._linear_rows(part, folded))
        xp = namespace(parts[0])
        found = xp.astype(parts[0] if len(parts) == 1 else xp.concat(parts), self._dtype, copy=False)
        return beside(found, views.arrays[0]) if in_numpy else found

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
    def _imputed(self) -> list[Block]:
        """Blocks whose coordinates are the filled columns of all others."""
        return [block for block in self.blocks if isinstance(block.encoding, ImputedCoordinates)]

    @property
    def _direct(self) -> tuple[Block, ...]:
        return self.blocks[: len(self.blocks) - len(self._imputed)]

    @cached_property
    def _owners(self) -> list[PartitionKey]:
        """For every block, the key of the first one with the same features."""
        by_key: dict[PartitionKey, PartitionKey] = {}
        by_extension: dict[tuple[int, int], PartitionKey] = {}
        for block in self.blocks:
            same = by_extension.setdefault((block.view, id(block.extension)), block.key)
            by_key.setdefault(block.key, same)
        return [by_key[block.key] for block in self.blocks]

    def _presence(self, views: Views) -> NDArray[np.bool_] | None:
        """Mask of observed views, and last, if blocks need it, of complete samples; None if no view is missing."""
        observed = self.observed(views)
        if observed is None or bool(observed.all()):
            return None
        together = any(block.view == self.n_views for block in self._direct)
        return np.column_stack([observed, observed.all(axis=1)]) if together else np.asarray(observed)

    def _folded(self) -> dict[Any, Array]:
        """Σ P_j C_j of all blocks with the same features, by the key of the first of them."""
        found: dict[Any, Array] = {}
        start = 0
        for owner, block in zip(self._owners, self.blocks, strict=True):
            xp, stop = namespace(block.projection), start + int(block.projection.shape[1])
            own = beside(self.coefficients[start:stop].astype(np.float64), block.projection)
            product = xp.astype(block.projection, xp.float64) @ own
            found[owner] = found[owner] + product if owner in found else product
            start = stop
        pairs = zip(self._owners, self.blocks, strict=True)
        return {owner: xp.astype(found[owner], block.projection.dtype) for owner, block in pairs}

    def _linear_rows(self, samples: Samples, folded: dict[Any, Array]) -> Array:
        """Rows of samples that have all views."""
        rows: Any = None
        for features in self._walk(samples):
            own = features.values @ folded[self._owners[features.blocks[0]]]
            rows = own if rows is None else rows + own
        return rows

    def _rows(self, samples: Samples) -> Array:
        """Rows by way of the columns of all blocks."""
        blocks, presence = self._direct, samples.presence
        parts: list[Any] = [None] * len(blocks)
        closeness: list[Any] = [None] * len(blocks)
        for features in self._walk(samples):
            near = None
            if self.row_weights is not None and features.coordinates is not None:
                near = blocks[features.blocks[0]].extension.closeness(features.coordinates, features.values)
            for position in features.blocks:
                own = features.values @ blocks[position].projection
                parts[position] = own if features.present is None else scatter_rows(own, features.present)
                closeness[position] = near
        xp, dtype = namespace(parts[0]), self._dtype if presence is None else np.float64
        columns = xp.concat([xp.astype(one, dtype, copy=False) for one in parts], axis=1)
        if presence is not None:
            columns = self.fill(columns, presence)
        if self._imputed:
            columns = self._with_imputed(columns, presence)
        if self.row_weights is not None:
            seen = None if presence is None else presence[:, [block.view for block in blocks]]
            weights = self.row_weights(closeness, seen)
            owners = np.repeat(np.arange(len(blocks)), [int(one.shape[1]) for one in parts])
            columns = columns * xp.astype(xp.take(weights, beside(owners, weights), axis=1), columns.dtype)
        return columns @ beside(self.coefficients, columns, dtype=columns.dtype)

    def _walk(self, samples: Samples) -> Iterator[Features]:
        """The features of all blocks, each once."""
        positions: dict[Any, list[int]] = {}
        for position in range(len(self._direct)):
            positions.setdefault(self._owners[position], []).append(position)
        encoded: dict[tuple[int, int], Array] = {}  # similarities of one view share its encoding
        for own in positions.values():
            block = self.blocks[own[0]]
            present = None if samples.presence is None else samples.presence[:, block.view]
            if present is not None and not present.any():
                yield Features(own, present, None, np.zeros((0, block.projection.shape[0])))
                continue
            together = block.view == self.n_views
            view: Any = samples.views if together else samples.views[block.view]
            diagonal: Any = samples.diagonals if together else samples.diagonals[block.view]
            if present is not None and present.all():
                present = None
            if present is not None:
                view, diagonal = _take(view, present), _take(diagonal, present)
            key = (block.view, id(block.encoding))
            if key not in encoded:
                encoded[key] = block.encoding(view, diagonal)
            values = block.extension.features(encoded[key], None if together else diagonal)
            yield Features(own, present, encoded[key], values)

    def _with_imputed(self, columns: NDArray[Any], presence: NDArray[np.bool_] | None) -> NDArray[Any]:
        """The columns of all blocks; those of imputed coordinates are zero for samples without any view."""
        known = np.ones(len(columns), dtype=bool) if presence is None else np.asarray(presence.any(axis=1))
        more = []
        for block in self._imputed:
            own = np.asarray(block.extension.features(block.encoding(columns)) @ block.projection)
            more.append(own * known[:, None])
        return np.concatenate([columns, *more], axis=1)
