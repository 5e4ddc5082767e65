"""The values of a table as a view: an array if all columns contain numbers, otherwise a data frame of its columns.

Text is not interpreted here: a column of words, dates, shares or amounts stays text, and `latefusion.encoding` decides
what it means. Columns with a type (dates, durations, categories, booleans) keep it.
"""

from __future__ import annotations

import datetime
import decimal
import importlib
import numbers
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.datasets.id_columns import is_text_table, row_of, shortened
from latefusion.datasets.options import SEPARATORS, TableOptions, separator_name
from latefusion.datasets.text_tables import read_text
from latefusion.datasets.text_values import as_numbers, parses
from latefusion.types import Array

Frame = Any
Column = Any

SCALARS = (str, numbers.Number, np.bool_, decimal.Decimal, datetime.date, datetime.time, datetime.timedelta)
# Types of whole columns that are kept, by the class of their dtype; numbers, dates and durations are known by kind.
KEPT_TYPES = ("CategoricalDtype", "StringDtype")


class Table(NamedTuple):
    """Values, ids and labels of one file; the name of its column of ids is empty if it has none.

    The reason says why this column, or none, contains the ids.
    """

    values: Frame
    ids: NDArray[Any] | None
    labels: NDArray[Any] | None
    id_name: str = ""
    reason: str = ""


def values_of(table: Table, file: Path, options: TableOptions) -> Array:
    """The values of a view.

    Parameters
    ----------
    table : Table
    file : Path
    options : TableOptions

    Returns
    -------
    ndarray or DataFrame
        An array of floats if all columns contain numbers. Otherwise a data frame with the rows 0 … n−1: numbers as
        floats, text as text, other columns with their type, and missing values as NaN, None or NaT.

    Raises
    ------
    ValueError
        If there are no values, and if a transposed table contains text.
    """
    if not table.values.shape[1] or not len(table.values):
        raise ValueError(_nothing_to_cluster(table, file, options))
    frame = table.values if is_text_table(file) else _with_simple_types(table.values)
    if all(getattr(dtype, "kind", "O") in "biuf" for dtype in frame.dtypes):
        single = all(str(dtype).lower() == "float32" for dtype in frame.dtypes)
        return np.asarray(frame.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan))
    if options.transposed(file):
        raise ValueError(_not_numbers(table, file))
    whole = frame.reset_index(drop=True)
    whole.columns = [str(column) for column in frame.columns]
    if is_text_table(file):
        integers = [at for at, dtype in enumerate(whole.dtypes) if getattr(dtype, "kind", "O") in "iu"]
        for at in integers:  # 1 and 1.0 are the same number
            whole.isetitem(at, whole.iloc[:, at].astype(np.float64))
    return whole


def check_names(frame: Frame, file: Path) -> None:
    """Raise an error for repeated names of columns; those of text tables are already checked."""
    repeated = {name: times for name, times in Counter(map(str, frame.columns)).items() if times > 1}
    if repeated:
        name, times = next(iter(repeated.items()))
        more = f", and {len(repeated) - 1} other names more than once" * (len(repeated) > 1)
        raise ValueError(f"{str(file)!r} has {times} columns with the name {name!r}{more}. Rename them.")


def _nothing_to_cluster(table: Table, file: Path, options: TableOptions) -> str:
    n_rows, n_columns = table.values.shape
    if n_rows or not is_text_table(file):
        start = f"{str(file)!r} has {n_rows} rows and {n_columns} columns of values"
    else:
        start = f"{str(file)!r} has a line of names and 0 rows of values"
    if n_columns or not is_text_table(file):
        return f"{start}, so there is nothing to cluster."
    dialect = read_text(file, options)[1]
    names = ", ".join(name for name, sign in SEPARATORS.items() if sign != dialect.separator)
    beside = "" if table.ids is None else f" beside the ids in {table.id_name or 'the first column'!r}"
    return (
        f"{start}{beside}. The detected separator is {separator_name(dialect.separator)}. If it is wrong, give another "
        f"one with separator= ({names}, or a character)."
    )


def _not_numbers(table: Table, file: Path) -> str:
    """The error for a transposed table, in which rows of text cannot be features."""
    frame = table.values
    names = [str(column) for column in frame.columns]
    texts = [at for at, dtype in enumerate(frame.dtypes) if getattr(dtype, "kind", "O") not in "biuf"]
    more = f" and {len(texts) - 5} more" if len(texts) > 5 else ""
    column = frame.iloc[:, texts[0]]
    found = [row for row, value in enumerate(column.tolist()) if not _may_be_number(value)] or list(range(len(column)))
    where = "" if table.ids is None else f" in column {str(table.ids[found[0]])!r}"
    return (
        f"{str(file)!r}: rows that are not numbers: {', '.join(repr(names[at]) for at in texts[:5])}{more}. In "
        f"{names[texts[0]]!r}, {len(found)} of {len(column)} values are not, such as {column.iloc[found[0]]!r}{where}. "
        f"Encode or remove them. Missing values must be empty or NA. Select columns of ids and classes "
        f"with id_column and label_column."
    )


def _may_be_number(value: Any) -> bool:
    return parses(value) if isinstance(value, str) else value is None or isinstance(value, int | float)


def check_values(frame: Frame, file: Path, options: TableOptions) -> None:
    """Raise an error for columns of lists, bytes and other objects."""
    for at in _columns_of_objects(frame):
        column = frame.iloc[:, at]
        if not all(issubclass(kind, SCALARS) for kind in set(map(type, column[column.notna()]))):
            raise ValueError(_not_simple(column, file, options))


def _columns_of_objects(frame: Frame) -> list[int]:
    return [
        at
        for at, dtype in enumerate(frame.dtypes)
        if getattr(dtype, "kind", "O") not in "biufmM" and type(dtype).__name__ not in KEPT_TYPES
    ]


def _with_simple_types(frame: Frame) -> Frame:
    """A table of a format with types, in which no column contains Python objects other than text."""
    odd = _columns_of_objects(frame)
    if not odd:
        return frame
    frame = frame.copy(deep=False)
    for at in odd:
        frame.isetitem(at, _simple(frame.iloc[:, at]))
    return frame


def _simple(column: Column) -> Column:
    """A column of objects as one of numbers, dates, durations, booleans or text."""
    pandas: Any = importlib.import_module("pandas")  # the column is one of pandas
    if isinstance(column.dtype, pandas.PeriodDtype):
        return column.dt.to_timestamp()
    kinds = set(map(type, column.dropna()))
    if kinds <= {bool, np.bool_}:
        return column if kinds else column.astype(np.float64)  # without any value it may be anything
    if kinds == {str}:
        return column  # digits stored as text may be codes, such as 007
    if not kinds & {bool, np.bool_} and (found := as_numbers(column)) is not None:
        return found
    for kind, convert in ((datetime.timedelta, _duration), (datetime.time, _duration), (datetime.date, _date)):
        if all(issubclass(one, kind) for one in kinds):
            values = np.array([convert(value) for value in column])
            return pandas.Series(values, index=column.index, name=column.name)
    return column.where(column.isna(), column.map(str))


def _date(value: Any) -> Any:
    """A date or a point in time with the precision of Python's, which reaches from year 1 to 9999."""
    return np.datetime64("NaT", "us") if value is None or value != value else np.datetime64(value, "us")


def _duration(value: Any) -> Any:
    """A duration; of a time of day, the time since midnight."""
    if isinstance(value, datetime.time):
        value = datetime.timedelta(
            hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond
        )
    return np.timedelta64("NaT", "us") if value is None or value != value else np.timedelta64(value, "us")


def _not_simple(column: Column, file: Path, options: TableOptions) -> str:
    found = [row for row, value in enumerate(column) if not _is_simple(value)]
    value = column.iloc[found[0]]
    return (
        f"{str(file)!r}: column {str(column.name)!r} contains values that are not numbers, text or dates, the first in "
        f"{row_of(column, found[0], file, options)}: {shortened(repr(value))} (a {type(value).__name__}). "
        f"Split it into columns with one value per row, or remove it."
    )


def _is_simple(value: Any) -> bool:
    return value is None or isinstance(value, SCALARS) or type(value).__name__ in ("NAType", "NaTType")
