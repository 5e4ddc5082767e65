"""Data frames: their columns, views of column levels, and results as frames of the same library.

pandas and polars are supported without importing them; pyarrow and other libraries are supported through narwhals.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from latefusion.encoding.columns import DECIMAL, Column, NotAValue, as_words, column_of
from latefusion.types import Array
from latefusion.validation.sample_ids import Coordinates, shown


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of pandas, polars or a library with the same interface, or a table of pyarrow."""
    return (hasattr(X, "columns") and (hasattr(X, "iloc") or hasattr(X, "get_column"))) or _is_arrow(X)


def columns_of(frame: Any) -> list[Any]:
    """Column names of a data frame."""
    return list(frame.column_names if _is_arrow(frame) else frame.columns)


def split_levels(X: Any) -> Any:
    """A data frame whose columns are pairs (view, feature) as a dict of frames, one per view; others as they are."""
    if not is_frame(X) or getattr(X.columns, "nlevels", 1) < 2:
        return X
    return {name: X[name] for name in X.columns.get_level_values(0).unique()}


def select_columns(frame: Any, columns: Sequence[Any]) -> Any:
    """Columns of a data frame, by name and in this order."""
    return frame.select(list(columns)) if hasattr(frame, "select") else frame[list(columns)]


def frame_like(columns: Mapping[str, np.ndarray], frame: Any, index: Any = None) -> Any:
    """Columns as a data frame of the library that another one comes from.

    Parameters
    ----------
    columns : mapping of str to ndarray of shape (n_samples,)
    frame : data frame
        Of any library that narwhals knows.
    index : sequence of shape (n_samples,), default=None
        For frames that have one, as those of pandas.

    Returns
    -------
    data frame
    """
    narwhals = _narwhals(frame)
    native = narwhals.from_dict(dict(columns), backend=narwhals.get_native_namespace(frame)).to_native()
    if index is not None and hasattr(native, "index"):
        native.index = index
    return native


def _is_arrow(X: Any) -> bool:
    return hasattr(X, "column_names") and hasattr(X, "num_rows") and hasattr(X, "schema")


def _narwhals(frame: Any) -> Any:
    try:
        import narwhals
    except ImportError as error:
        raise ImportError(
            f"Frames of type {type(frame).__module__}.{type(frame).__name__} need narwhals: pip install "
            f"'latefusion[frames]'."
        ) from error
    return narwhals


def check_columns(frame: Any, label: str) -> None:
    """Raise an error for several columns of the same name."""
    repeated = sorted(str(name) for name, times in Counter(columns_of(frame)).items() if times > 1)
    if repeated:
        raise ValueError(f"{label} has several columns of the same name: {repeated}. Rename or drop them.")


def is_numeric_frame(frame: Any) -> bool:
    """Whether all columns of a data frame hold real numbers or booleans."""
    return all(map(_is_numeric, _dtypes(frame)))


def check_numeric(frame: Any, label: str) -> None:
    """Raise an error with the names of columns that are not numeric, where only numbers are supported."""
    check_columns(frame, label)
    pairs = zip(columns_of(frame), _dtypes(frame), strict=True)
    refused = {str(name): str(dtype) for name, dtype in pairs if not _is_numeric(dtype)}
    if refused:
        raise ValueError(
            f"{label} contains columns that are not numeric: {refused}. Encode them, for example one-hot, or drop them."
        )


def frame_to_array(frame: Any) -> Array:
    """The numbers of a data frame whose columns are all numeric."""
    if hasattr(frame, "iloc"):
        single = all(str(dtype).lower() == "float32" for dtype in frame.dtypes)
        return frame.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan)
    array = _eager(frame).to_numpy()
    return array.astype(np.float64) if array.dtype == object else array  # booleans or decimals with nulls


def table_columns(frame: Any, label: str, coordinates: Coordinates, missing_values: Any = None) -> dict[str, Column]:
    """The columns of a data frame, by name.

    Parameters
    ----------
    frame : data frame
    label : str
        For error messages.
    coordinates : Coordinates
        Names of the rows, for error messages.
    missing_values : object, default=None
        A number or a word that marks a missing value, in addition to NaN.

    Returns
    -------
    dict of str to Column
    """
    found = {}
    decimal = getattr(frame, "attrs", {}).get(DECIMAL, "")
    opened = frame if hasattr(frame, "iloc") else _eager(frame)
    for position, name in enumerate(columns_of(frame)):
        one = opened.iloc[:, position] if hasattr(frame, "iloc") else opened[name]
        try:
            column = _pandas_column(one) if hasattr(frame, "iloc") else _other_column(one)
        except NotAValue as error:
            raise ValueError(
                f"{label} has a {type(error.value).__name__} in {coordinates.sample(error.row)}, column {shown(name)}: "
                f"{error.value!r:.60}. A value must be a number, a word or a date. Split the column, or drop it with "
                f"column_kinds={{{shown(name)}: 'drop'}}."
            ) from error
        infinite = np.isinf(column.values) if column.values.dtype.kind == "f" else np.zeros(1, dtype=bool)
        if infinite.any():
            raise ValueError(
                f"{label} contains {infinite.sum()} infinite values, the first in "
                f"{coordinates.sample(int(np.argmax(infinite)))}, column {shown(name)}. Replace them, or leave them "
                f"empty."
            )
        found[str(name)] = column.without(missing_values)._replace(decimal=decimal)
    return found


def _eager(frame: Any) -> Any:
    return _narwhals(frame).from_native(frame, eager_only=True) if _is_arrow(frame) else frame


def _dtypes(frame: Any) -> list[Any]:
    opened = _eager(frame)
    return list(opened.schema.values() if hasattr(opened, "to_native") else opened.dtypes)


def _is_numeric(dtype: Any) -> bool:
    """Whether a column type of pandas or polars holds real numbers or booleans."""
    if hasattr(dtype, "is_numeric"):  # polars and narwhals
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
    return getattr(dtype, "kind", "O") in "biuf" and not hasattr(dtype, "categories")


def _pandas_column(series: Any) -> Column:
    dtype = series.dtype
    if hasattr(dtype, "categories"):
        names = column_of(dtype.categories)
        words = as_words(names).words or ()
        return Column(np.asarray(series.cat.codes, dtype=np.intp), words, bool(dtype.ordered), categories=True)
    if _is_numeric(dtype):
        return Column(series.to_numpy(dtype=np.float64, na_value=np.nan))
    if getattr(dtype, "kind", "O") == "M":
        plain = series if getattr(dtype, "tz", None) is None else series.dt.tz_convert("UTC").dt.tz_localize(None)
        return Column(plain.to_numpy(dtype="datetime64[us]"))
    if getattr(dtype, "kind", "O") == "m":
        return Column(series.to_numpy(dtype="timedelta64[us]"))
    return column_of(series.to_numpy(dtype=object, na_value=None))


def _other_column(series: Any) -> Column:
    """A column of polars or narwhals."""
    kind = str(series.dtype).partition("(")[0]
    if _is_numeric(series.dtype):
        return Column(series.cast(_float64(series)).to_numpy().astype(np.float64, copy=False))
    if kind in ("Categorical", "Enum"):
        column = column_of(series.to_list())
        return column._replace(categories=True) if kind == "Categorical" else _in_order(column, series)
    return column_of(series.to_list())


def _in_order(column: Column, series: Any) -> Column:
    """The categories of an Enum, in their order."""
    categories: Any = series.dtype.categories  # a series in polars, a tuple in narwhals
    order = {str(one): position for position, one in enumerate(categories)}
    codes = np.array([order[word] for word in column.words or ()], dtype=np.intp)
    return Column(column.lookup(codes, -1), tuple(order), ordered=True, categories=True)


def _float64(series: Any) -> Any:
    import_name = type(series).__module__.partition(".")[0]
    return importlib.import_module(import_name).Float64
