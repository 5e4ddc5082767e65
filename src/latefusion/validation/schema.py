"""What an estimator accepts as input, and what it knows about its training input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.encoding.gaps import GapFilling, KeptGaps, SparseFilling
from latefusion.encoding.label_coding import LabelCoding
from latefusion.encoding.table_encoding import TableEncoding


@dataclass(frozen=True)
class InputRules:
    """The input that an estimator accepts, by its class and parameters.

    Attributes
    ----------
    estimator : str
        Name of its class, for error messages.
    views : mapping, sequence, "auto" or None
        Columns of every view in one table.
    similarity : object, sequence or mapping
        For all views, one per view in order, or by name.
    missing : bool
        Whether views may be missing for some samples.
    labels : bool
        Whether a view may contain labels.
    numpy_only : str
        Why arrays on a device are refused, as a sentence that follows "but"; empty if they are accepted.
    n_clusters : int or None
        Number of clusters that the training samples must allow.
    column_kinds : mapping or None
        Kinds of columns of tables, by column, or by view and column.
    encoders : mapping, transformer or None
        Transformers of scikit-learn that turn views into numbers, by view or for all views.
    missing_values : object
        A value that marks missing values, in addition to NaN; None for no other.
    missing_columns : {"error", "allow"}
        Whether columns of tables may be absent in new samples.
    some_view : bool
        Whether every sample must have one of the views.
    graphs_on_device : bool
        Whether nearest-neighbor graphs of arrays on a device are accepted.
    """

    estimator: str
    views: Any = None
    similarity: Any = "auto"
    missing: bool = False
    labels: bool = False
    numpy_only: str = ""
    n_clusters: int | None = None
    column_kinds: Mapping[str, Any] | None = None
    encoders: Any = None
    missing_values: Any = None
    missing_columns: str = "error"
    some_view: bool = True
    graphs_on_device: bool = False

    def kinds_of(self, view: str) -> dict[str, Any]:
        """Kinds of the columns of one view that are given by the user."""
        given = self.column_kinds or {}
        own = given.get(view)
        flat = {column: kind for column, kind in given.items() if not isinstance(kind, Mapping)}
        return flat | (dict(own) if isinstance(own, Mapping) else {})


@dataclass(frozen=True)
class ViewSchema:
    """Properties of one training view, by which the view of new samples is read.

    Attributes
    ----------
    name : str
    kind : {"features", "table", "precomputed", "labels"}
        "table" for a data frame with columns that are not numbers.
    width : int
        Number of columns, as given.
    n_coordinates : int
        Number of columns after the view was turned into numbers.
    columns : list or None
        Their names, for a data frame.
    labels : LabelCoding or None
        For a view of labels.
    table : TableEncoding or None
        For a table.
    transformer : object or None
        A fitted transformer of the user.
    gaps : GapFilling, SparseFilling, KeptGaps or None
        Fills single missing values; None if they are not allowed.
    """

    name: str
    kind: str
    width: int = 0
    n_coordinates: int = 0
    columns: list[Any] | None = None
    labels: LabelCoding | None = None
    table: TableEncoding | None = None
    transformer: Any = None
    gaps: GapFilling | SparseFilling | KeptGaps | None = None


@dataclass(frozen=True)
class InputSchema:
    """Properties of the training input, by which new samples are read.

    Attributes
    ----------
    views : tuple of ViewSchema
    n_samples : int
    device : str
        Array library and device.
    dtype : object
        Float type of arrays on a device.
    mask : ndarray of bool of shape (n_samples, n_views) or None
        Training samples with a row in each precomputed kernel; None if all have one, or without such kernels.
    table_width : int or None
        Number of columns, where X was one table.
    table_columns : list or None
        Their names, where it was a data frame.
    fingerprint : str
        A digest of some rows.
    """

    views: tuple[ViewSchema, ...]
    n_samples: int
    device: str
    dtype: Any
    mask: NDArray[np.bool_] | None = None
    table_width: int | None = None
    table_columns: list[Any] | None = None
    fingerprint: str = ""

    def keeping_gaps(self) -> InputSchema:
        """The schema by which missing values of new samples stay NaN."""
        views = (view if view.gaps is None else replace(view, gaps=KeptGaps()) for view in self.views)
        return replace(self, views=tuple(views))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the views."""
        return tuple(view.name for view in self.views)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kind of input of every view: "features", "table", "precomputed" or "labels"."""
        return tuple(view.kind for view in self.views)

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of columns of every view, as given."""
        return tuple(view.width for view in self.views)

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return sum(self.widths) if self.table_width is None else self.table_width

    @property
    def feature_names(self) -> NDArray[Any] | None:
        """Column names of one table, if all are text, as scikit-learn has them."""
        return None if self.table_columns is None else feature_names(self.table_columns)


def feature_names(columns: Sequence[Any]) -> NDArray[Any] | None:
    """Column names, if all are text."""
    return np.array(columns, dtype=object) if all(isinstance(one, str) for one in columns) else None
