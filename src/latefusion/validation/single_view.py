"""One view as it was given to finite numbers: labels, tables, transformers of the user, and missing values."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from latefusion.arrays import is_device_array
from latefusion.encoding.codings import RefusedColumn
from latefusion.encoding.columns import Column
from latefusion.encoding.gaps import GapFilling, SparseFilling, fit_gap_filling, fit_sparse_filling
from latefusion.encoding.table_encoding import fit_table_encoding, unknown_values
from latefusion.types import Array, Views
from latefusion.validation.frames import columns_of, is_frame, table_columns
from latefusion.validation.holes import empty_rows
from latefusion.validation.labels import label_codes
from latefusion.validation.sample_ids import Coordinates, shown_list
from latefusion.validation.schema import InputRules, ViewSchema
from latefusion.validation.views import (
    as_numbers,
    check_device_array,
    check_finite,
    check_magnitude,
    hide_missing,
    is_finite,
    is_moderate,
)

# Rows and values from which the filling of missing values is fitted if the training samples have none.
FILLING_ROWS = 256
FILLING_VALUES = 2**17
LEAST_FILLING_ROWS = 8


def read_view(
    view: Any,
    schema: ViewSchema,
    rules: InputRules,
    observed: NDArray[np.bool_] | None,
    coordinates: Coordinates,
    *,
    is_training: bool,
    kernel_columns: NDArray[np.bool_] | None,
) -> tuple[Array, NDArray[np.bool_] | None, ViewSchema]:
    """One view as finite numbers, and its schema; what training samples teach is fitted on the observed rows.

    Parameters
    ----------
    view : array, sparse matrix or data frame
    schema : ViewSchema
        Without what is fitted here for training samples.
    rules : InputRules
    observed : ndarray of bool of shape (n_samples,) or None
        Samples that have the view by the mask of the user; all when None.
    coordinates : Coordinates
        Ids and columns, for error messages.
    is_training : bool
    kernel_columns : ndarray of bool of shape (n_training,) or None
        For a kernel of new samples with training samples: the columns that are read.

    Returns
    -------
    array : ndarray or csr_array of shape (n_samples, n_coordinates)
    observed : ndarray of bool of shape (n_samples,) or None
        None if all samples have the view.
    schema : ViewSchema
    """
    if is_device_array(view):
        array = check_device_array(view, schema.name, observed)
        check_magnitude(array, schema.name)
        _check_width(array, schema, rules, is_training=is_training)
        return array, observed, schema
    if schema.kind == "labels":
        assert schema.labels is not None
        array = as_numbers(label_codes(view, schema.labels, schema.name), schema.name)
    elif schema.kind == "table":
        array, schema = _table_numbers(view, schema, rules, observed, coordinates, is_training=is_training)
    elif schema.transformer is not None:
        observed = _rows_with_values(view, schema.name, observed, coordinates)
        array, schema = _transformed(view, schema, observed, is_training=is_training)
    else:
        array = _with_all_columns(as_numbers(view, schema.name, coordinates), view, schema)
        if schema.kind == "features":
            array = _without_marker(array, rules.missing_values)
        _check_width(array, schema, rules, is_training=is_training)
    complete = observed is None and kernel_columns is None and is_moderate(array)
    if not complete:
        square = is_training and schema.kind == "precomputed"
        array, observed = hide_missing(array, observed, square=square, columns=kernel_columns)
        fills = schema.kind in ("features", "table") and (is_training or schema.gaps is not None)
        check_finite(array, schema.name, coordinates, schema.kind, allow_missing=fills)
        check_magnitude(array, schema.name)
        complete = is_finite(array)
    if schema.kind in ("features", "table"):
        array, schema = _fill_gaps(array, schema, observed, is_training=is_training, complete=complete)
    return array, observed, schema


def _table_numbers(
    view: Any,
    schema: ViewSchema,
    rules: InputRules,
    observed: NDArray[np.bool_] | None,
    coordinates: Coordinates,
    *,
    is_training: bool,
) -> tuple[NDArray[Any], ViewSchema]:
    """The coordinates of a table, NaN where values are missing."""
    label = f"View {schema.name!r}"
    if not is_frame(view):
        raise ValueError(
            f"{label} must be a data frame with the columns [{shown_list(schema.columns or [])}], as in `fit`; got "
            f"{type(view).__name__}."
        )
    columns = table_columns(view, label, coordinates, rules.missing_values)
    n_samples = len(next(iter(columns.values())).values)
    if is_training:
        known = {name: one if observed is None else one.take(observed) for name, one in columns.items()}
        try:
            table = fit_table_encoding(known, rules.kinds_of(schema.name))
        except RefusedColumn as error:
            rows = np.arange(n_samples) if observed is None else np.flatnonzero(observed)
            where = "" if error.row is None else f", {coordinates.sample(int(rows[error.row]))}"
            raise ValueError(f"{label}{where}: {error}") from error
        if set(table.kinds.values()) == {"empty"}:
            raise ValueError(
                f"{label} has no values in its columns [{shown_list(list(table.kinds))}]. Remove the view."
            )
        if not table.codings:
            raise ValueError(
                f"{label} has no column that can be used: {table.kinds}. Remove the view, or set the kinds of its "
                f"columns with column_kinds."
            )
        for note in table.notes:
            warnings.warn(f"{label}: {note}", UserWarning, stacklevel=6)
        schema = replace(schema, table=table)
    assert schema.table is not None
    for coding in schema.table.codings:
        columns.setdefault(coding.name, Column(np.full(n_samples, np.nan)))
    for note in () if is_training else unknown_values(schema.table, columns):
        warnings.warn(f"{label}: {note}", UserWarning, stacklevel=6)
    return schema.table(columns), schema


def _transformed(
    view: Any, schema: ViewSchema, observed: NDArray[np.bool_] | None, *, is_training: bool
) -> tuple[Array, ViewSchema]:
    """A view through the transformer of the user, which is fitted on the training samples that have the view."""
    rows = None if observed is None or observed.all() else np.flatnonzero(observed)
    part = view if rows is None else Views([view])[rows].arrays[0]
    try:
        # Not `fit_transform`, whose result may differ in the last digit from that of `transform`.
        array = (schema.transformer.fit(part) if is_training else schema.transformer).transform(part)
    except Exception as error:
        raise ValueError(f"The encoder of view {schema.name!r} failed: {error}") from error
    array = as_numbers(array, schema.name)
    if rows is not None:
        whole = np.full((len(observed), array.shape[1]), np.nan, dtype=array.dtype)  # type: ignore[arg-type]
        whole[rows] = array.toarray() if hasattr(array, "toarray") else array
        array = whole
    return array, schema


def _rows_with_values(
    view: Any, name: str, observed: NDArray[np.bool_] | None, coordinates: Coordinates
) -> NDArray[np.bool_] | None:
    """Which rows of a view have any value, before a transformer of the user imputes some."""
    if is_frame(view):
        columns = table_columns(view, f"View {name!r}", coordinates)
        empty = np.all([column.missing for column in columns.values()], axis=0)
    else:
        array = as_numbers(view, name)
        empty = np.zeros(array.shape[0], dtype=bool) if is_finite(array) else empty_rows(array)
    if not empty.any():
        return observed
    return ~empty if observed is None else observed & ~empty


def _check_width(array: Array, schema: ViewSchema, rules: InputRules, *, is_training: bool) -> None:
    if not is_training and schema.kind == "features" and array.shape[1] != schema.width:
        raise ValueError(
            f"View {schema.name!r} has {array.shape[1]} columns, but {rules.estimator} was fitted on {schema.width}. "
            f"Pass the same columns in the same order."
        )


def _without_marker(array: Array, marker: Any) -> Array:
    """Numbers with NaN instead of the value that marks missing values."""
    if marker is None or marker != marker or not isinstance(array, np.ndarray):
        return array
    return np.where(array == marker, array.dtype.type(np.nan), array)


def _with_all_columns(array: Array, view: Any, schema: ViewSchema) -> Array:
    """The numbers of a data frame of new samples, NaN in columns that are absent."""
    if schema.columns is None or not is_frame(view) or array.shape[1] == schema.width:
        return array
    found = columns_of(view)
    whole = np.full((array.shape[0], schema.width), np.nan, dtype=array.dtype)
    whole[:, [schema.columns.index(one) for one in found]] = array
    return whole


def _fill_gaps(
    array: Array, schema: ViewSchema, observed: NDArray[np.bool_] | None, *, is_training: bool, complete: bool
) -> tuple[Array, ViewSchema]:
    """A view without missing values, by the filling that was fitted on the training samples."""
    if is_training:
        schema = replace(schema, gaps=_fit_filling(array, observed, complete=complete))
    if complete or schema.gaps is None:
        return array, schema
    if observed is None or observed.all() or issparse(array):
        return schema.gaps(array), schema
    filled = array.copy()
    filled[observed] = schema.gaps(array[observed])
    return filled, schema


def _fit_filling(
    array: Array, observed: NDArray[np.bool_] | None, *, complete: bool
) -> GapFilling | SparseFilling | None:
    """The filling of missing values; of a few rows if the training samples have none, for new samples that may."""
    if issparse(array):
        return fit_sparse_filling(array)
    if not complete:
        return fit_gap_filling(array if observed is None else array[observed])
    rows = np.arange(len(array)) if observed is None else np.flatnonzero(observed)
    n_rows = max(LEAST_FILLING_ROWS, min(FILLING_ROWS, FILLING_VALUES // array.shape[1]))
    few = rows[:: max(1, len(rows) // n_rows)][:n_rows]
    return fit_gap_filling(array[few], factors=False) if len(few) > 1 else None
