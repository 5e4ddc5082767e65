"""Encodings: from a view to the coordinates that similarities compare, for training samples and new samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.arrays import is_device_array, namespace
from latefusion.encoding.column_statistics import ColumnStatistics
from latefusion.types import Array


class Encoding(Protocol):
    """From a view to the coordinates that similarities compare."""

    def __call__(self, view: Array, diagonal: NDArray[Any] | None = None) -> Array:
        """Coordinates of some samples; ``diagonal`` holds their self-similarities, for kernels."""
        ...


@dataclass(frozen=True)
class Unchanged:
    """The encoding of views that are compared without scaling.

    Attributes
    ----------
    columns : ndarray of bool of shape (n_training,) or None
        For a kernel, the training samples for which the view is observed; None for all.
    """

    columns: NDArray[np.bool_] | None = None

    def __call__(self, view: Array, diagonal: NDArray[Any] | None = None) -> Array:
        """The view."""
        return view if self.columns is None else view[:, self.columns]

    def statistics(self, raw: ColumnStatistics) -> ColumnStatistics:
        """Column statistics of the view."""
        return raw


@dataclass(frozen=True)
class SideBySide:
    """The encoding of all views together: their coordinates side by side, each view times a factor.

    Attributes
    ----------
    encodings : tuple of Encoding
        One per view.
    scales : ndarray of shape (n_views,)
    """

    encodings: tuple[Any, ...]
    scales: NDArray[np.float64]

    def __call__(self, views: Sequence[Array], diagonals: Sequence[Any] | None = None) -> Array:
        """Coordinates of complete samples."""
        pairs = zip(self.encodings, views, diagonals or [None] * len(views), strict=True)
        return put_side_by_side([encoding(*one) for encoding, *one in pairs], self.scales)


@dataclass(frozen=True)
class ImputedCoordinates:
    """The encoding of all views together if views are missing: imputed rows of the eigenvectors of every view.

    Attributes
    ----------
    columns : ndarray of int
        The columns that become coordinates.
    scales : ndarray of shape (n_coordinates,)
        Roots of the eigenvalues, so that inner products are those of the similarity.
    dtype : dtype
    """

    columns: NDArray[np.intp]
    scales: NDArray[Any]
    dtype: Any

    def __call__(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Coordinates of imputed rows."""
        coordinates: NDArray[Any] = (rows[:, self.columns] * self.scales).astype(self.dtype)
        return coordinates


def put_side_by_side(coordinates: Sequence[Array], scales: NDArray[Any]) -> Array:
    """Columns of all views, each times its factor; sparse if any view is."""
    scaled = [multiplied(part, float(scale)) for part, scale in zip(coordinates, scales, strict=True)]
    if any(scipy.sparse.issparse(part) for part in scaled):  # a dense copy of a sparse view may not fit in memory
        return scipy.sparse.hstack([scipy.sparse.csr_array(part) for part in scaled], format="csr")
    return namespace(*scaled).concat(scaled, axis=1)


def multiplied(view: Array, factor: float) -> Array:
    """A number times a dense or sparse view, in the precision of the view."""
    return view * (factor if is_device_array(view) else view.dtype.type(factor))
