"""Sheets of Excel workbooks (``.xlsx``, ``.xlsm``) as tables. openpyxl reads them.

A sheet contains one table: its first row with values holds the names of the columns, unless it holds numbers. Empty
rows above and below and empty columns beside the table are ignored, and so are hidden sheets and sheets without values.
Formulas count with their stored results, and error values such as ``#DIV/0!`` are missing values.
"""

from __future__ import annotations

import contextlib
import itertools
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from latefusion.arrays import available_memory, size_in_words
from latefusion.datasets.compression import ALWAYS_ALLOWED, LARGEST_RATIO
from latefusion.datasets.optional import require
from latefusion.datasets.options import TableOptions
from latefusion.datasets.text_tables import MADE_UP, holds_names, text_columns
from latefusion.datasets.text_values import as_numbers

Frame = Any

EXCEL_SUFFIXES = (".xlsx", ".xlsm")
ERRORS = frozenset(
    ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#GETTING_DATA", "#SPILL!", "#CALC!")
)
# Errors that openpyxl and the libraries below it raise for damaged files.
UNREADABLE = (
    OSError, ValueError, TypeError, LookupError, AttributeError, EOFError, SyntaxError, RuntimeError, MemoryError,
    ArithmeticError, AssertionError, UnicodeError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
# A cell takes some bytes in the file. A sheet with more cells than bytes has values far apart, and is mostly empty.
LEAST_CELLS = 2**22


class Sheet(NamedTuple):
    """A table in a sheet.

    Attributes
    ----------
    frame : DataFrame
    first_row : int
        Row of the sheet with the first values below the names, counted from 1.
    """

    frame: Frame
    first_row: int


def is_workbook(file: Path) -> bool:
    """Whether a file has the suffix of an Excel workbook that can be read."""
    return file.suffix.lower() in EXCEL_SUFFIXES and not file.is_dir()


def sheet_names(file: Path) -> list[str]:
    """Names of the visible sheets with values, in their order.

    Parameters
    ----------
    file : Path

    Returns
    -------
    list of str
    """
    facts = file.stat()
    return list(_sheet_names(file, facts.st_mtime_ns, facts.st_size))


@lru_cache(maxsize=64)
def _sheet_names(file: Path, _changed: int, _size: int) -> tuple[str, ...]:
    """`sheet_names`, which several steps of reading need; the file is known by its time and size."""
    with _opened(file) as (book, limit):
        return tuple(
            sheet.title
            for sheet in book.worksheets
            if sheet.sheet_state == "visible" and next(_rows(sheet, limit, file), None) is not None
        )


def read_sheet(file: Path, options: TableOptions) -> Sheet:
    """The table in a sheet.

    Parameters
    ----------
    file : Path
    options : TableOptions
        With the name of the sheet; by default it is the only sheet with values.

    Returns
    -------
    Sheet
    """
    pandas = require("pandas", file, "excel")
    name = options.sheet or _only_sheet(file)
    with _opened(file) as (book, limit):
        rows = list(_rows(book[name], limit, file))
    start, rows = rows[0][0], _without_margins([row for _, row in rows])
    names, has_names = _column_names(rows[0])
    columns = list(zip(*rows[has_names:], strict=True)) or [()] * len(names)
    as_text = text_columns(names, options)
    content = {
        at: _column(pandas.Series(list(values), dtype=object), column in as_text)
        for at, (column, values) in enumerate(zip(names, columns, strict=True))
    }
    frame = pandas.DataFrame(content)
    frame.columns = names
    return Sheet(frame, start + has_names)


def _only_sheet(file: Path) -> str:
    names = sheet_names(file)
    if len(names) == 1:
        return names[0]
    if not names:
        raise ValueError(f"{str(file)!r} contains no sheet with values.")
    raise ValueError(
        f"{str(file)!r} has several sheets with values, {', '.join(map(repr, names))}, where one table is expected. "
        f"Keep one sheet, or save the sheets as separate files."
    )


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[tuple[Any, int]]:
    """The workbook, and the largest number of cells to read from a sheet; errors of the library name the file."""
    openpyxl = require("openpyxl", file, "excel")
    try:
        limit = _check_size(file)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and validation rules, which do not matter here
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            with contextlib.closing(book):
                yield book, limit
    except UNREADABLE as error:
        if isinstance(error, ValueError) and str(file) in str(error):
            raise  # already in our words
        raise ValueError(
            f"{str(file)!r} cannot be read as an Excel workbook ({type(error).__name__}: {error}). It may be truncated "
            f"or damaged. Copy it again, or save the sheets as CSV files."
        ) from error


def _check_size(file: Path) -> int:
    """The number of bytes of the unpacked workbook; raises an error if they could exhaust the memory."""
    with zipfile.ZipFile(file) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    limit = max(ALWAYS_ALLOWED, LARGEST_RATIO * file.stat().st_size)
    free = available_memory()
    limit = limit if free is None else min(limit, free // 2)
    if unpacked > limit:
        raise ValueError(
            f"{str(file)!r} unpacks to {size_in_words(unpacked)}, more than {size_in_words(limit)}, the limit that "
            f"protects the memory. Save the sheets as CSV files."
        )
    return max(LEAST_CELLS, unpacked)


def _rows(sheet: Any, limit: int, file: Path) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Rows of values and their numbers in the sheet, from the first to the last one that is not empty."""
    sheet.reset_dimensions()  # what the file states may be wrong
    held: list[tuple[int, tuple[Any, ...]]] = []
    n_cells, begun = 0, False
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        n_cells += len(row) + 1
        if n_cells > limit:
            raise ValueError(
                f"{str(file)!r}, sheet {sheet.title!r}: the values are far apart, the first {number} rows are mostly "
                f"empty. Remove the cells that are not part of the table, or save the table as a CSV file."
            )
        values = tuple(map(_value, row))
        empty = all(value is None for value in values)
        if empty and not begun:
            continue
        begun = True
        held.append((number, values))
        if not empty:
            yield from held
            held = []


def _value(value: Any) -> Any:
    """The value of a cell, None for empty text and error values."""
    if isinstance(value, str):
        value = value.strip()
        return None if not value or value in ERRORS else value
    return value


def _without_margins(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows of the same length, without the empty columns at both sides."""
    width = max(map(len, rows))
    columns = list(itertools.zip_longest(*rows)) if rows else []
    filled = [at for at in range(width) if any(value is not None for value in columns[at])]
    first, last = filled[0], filled[-1] + 1
    # A first column without a name may hold ids; one without any value is a margin.
    return list(zip(*columns[first:last], strict=True))


def _column_names(row: Sequence[Any]) -> tuple[list[str], bool]:
    """Names of the columns, and whether the first row holds them: a row of numbers holds values."""
    texts = ["" if value is None else str(value) for value in row]
    made_up = [MADE_UP.format(position) for position in range(1, len(row) + 1)]
    # A gap in a row of values does not make it a row of names.
    if not holds_names([texts[0], *(text or "0" for text in texts[1:])]):
        return made_up, False
    return [texts[0], *(text or name for text, name in zip(texts[1:], made_up[1:], strict=True))], True


def _column(values: Any, as_text: bool) -> Any:
    """A column with the type of its values; ids stay text."""
    if as_text:
        return values.where(values.isna(), values.map(str))
    kinds = set(map(type, values.dropna()))
    if kinds <= {int, float}:
        return values.astype(float)
    if kinds == {bool} and not values.isna().any():
        return values.astype(bool)
    numbers = None if bool in kinds else as_numbers(values)
    return values if numbers is None else numbers
