"""The column of a table that contains the sample ids, and the reason why it does."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.datasets.compression import uncompressed_name
from latefusion.datasets.excel import is_workbook, read_sheet
from latefusion.datasets.labels import LABEL_COLUMNS, plain
from latefusion.datasets.options import TableOptions
from latefusion.datasets.text_tables import ID_ENDING, ID_NAMES, SURE_ID_NAMES, line_of_row, text_columns
from latefusion.datasets.text_values import as_numbers

Frame = Any

TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".tab")
# Amounts of money and shares are values, also if all of them differ: 12 %, $3.50, 1.200 €.
AMOUNT = re.compile(r"(?=.*[%$€£¥₹])[-+(]?\s?[$€£¥₹]?\s?[-+]?\d[\d.,\s]*[%$€£¥₹]?\)?")
# Ids have few words; a column with more words per value contains sentences.
MOST_WORDS = 5
# Values in which words are counted.
SAMPLE = 1000


class IdColumn(NamedTuple):
    """The ids in a table, None if there are none, and the reason why they are ids."""

    values: Any
    reason: str


def take_ids(frame: Frame, file: Path, options: TableOptions, decimal: str = ".") -> IdColumn:
    """Separate the ids from a table, and remove a first column of row numbers.

    Parameters
    ----------
    frame : DataFrame
        Changed in place.
    file : Path
        For error messages.
    options : TableOptions
    decimal : {".", ","}, default="."
        Decimal separator of columns that were read as text because they might have been the ids.

    Returns
    -------
    IdColumn
    """
    columns = list(frame.columns)
    first = columns[0] if columns else None
    wanted = options.id_column
    if wanted is not None and wanted not in columns and frame.index.name != wanted:
        raise ValueError(f"{str(file)!r} has no column {wanted!r} of ids; its columns are {listed(columns)}.")
    counts = first is not None and str(first) == "" and _counts_rows(frame[first])
    found, reason = None, "no column of ids: the first column holds numbers"
    sure = [column for column in columns if plain(column) in SURE_ID_NAMES and frame[column].is_unique]
    if wanted is not None:
        found, reason = wanted, "given by the user"
    elif not _is_numbered(frame.index):
        return IdColumn(frame.index, "the index in the file")
    elif first is not None and plain(first) in ID_NAMES and not (counts and len(sure) == 1):
        found, reason = first, "the first column, which has no name" if first == "" else "a usual name of ids"
    elif len(sure) == 1:
        found, reason = sure[0], "a usual name of ids"
    elif first is not None and ID_ENDING.search(str(first)) and _differs_everywhere(frame[first]):
        found, reason = first, "the first column, with a name of ids and a different value in every row"
    elif first is not None and plain(first) in LABEL_COLUMNS:
        reason = "no column of ids: the first column holds classes"
    elif first is not None and not is_number(frame[first]):
        held = _not_ids(frame, first)
        found = None if held else first
        reason = (
            f"no column of ids: the first column holds {held}"
            if held
            else "the first column, which holds text that differs in every row"
        )
    if wanted is not None and wanted not in columns:
        values = frame.index
    else:
        values = None if found is None else frame.pop(found)
    if counts and found != first:
        frame.pop(first)
    for column in text_columns([str(column) for column in columns] or [""], options):
        if column in frame.columns and not is_number(frame[column]):  # read as text, since it might have been the ids
            numbers = as_numbers(frame[column], decimal)
            frame[column] = frame[column] if numbers is None else numbers
    return IdColumn(values, reason)


def _differs_everywhere(column: Any) -> bool:
    """Whether a column has a different value in every row, and none is missing."""
    return bool(column.is_unique and column.notna().all())


def drop_empty_rows(frame: Frame, ids: IdColumn) -> tuple[Frame, IdColumn]:
    """A table without the rows that have neither an id nor a value, which spreadsheets write below a table."""
    if ids.values is None or not (missing := np.asarray(ids.values.isna())).any():
        return frame, ids
    empty = missing & np.asarray(frame.isna().all(axis=1))
    return frame[~empty], IdColumn(ids.values[~empty], ids.reason)


def rows_with_ids(frame: Frame, ids: IdColumn, file: Path, options: TableOptions) -> tuple[Frame, IdColumn]:
    """A table without its empty rows; raises an error for other rows without an id."""
    frame, ids = drop_empty_rows(frame, ids)
    missing = np.zeros(0) if ids.values is None else np.asarray(ids.values.isna())
    if missing.any():
        where = row_of(frame, int(np.flatnonzero(missing)[0]), file, options)
        others = f", nor in {int(missing.sum()) - 1} other rows" * bool(missing.sum() > 1)
        raise ValueError(
            f"{str(file)!r} has no id in {where} (empty or NA in column {ids.values.name!r}){others}. Add the ids, or "
            f"remove the rows."
        )
    return frame, ids


def checked_ids(ids: IdColumn, file: Path, options: TableOptions) -> NDArray[Any]:
    """Ids as text without blanks around it; raises an error for repeated ones."""
    texts = list(map(str.strip, map(str, ids.values.tolist())))
    found = np.array(texts, dtype=str)
    if len(set(texts)) == len(texts):  # sorting below takes much longer
        return found
    seen, first, times = np.unique(found, return_index=True, return_counts=True)
    repeated = np.flatnonzero(times > 1)
    if repeated.size:
        one = repeated[np.argmin(first[repeated])]
        rows = np.flatnonzero(found == seen[one])[:2]
        name = getattr(ids.values, "name", None)
        where = f"in column {name!r}"
        if hasattr(ids.values, "index"):
            positions = [row_of(ids.values, row, file, options) for row in rows]
            where += f", in {positions[0]} and in {positions[1]}"
        n_more = repeated.size - 1
        more = f", and {n_more} other id{'s' * (n_more > 1)} more than once" * (n_more > 0)
        raise ValueError(
            f"{str(file)!r} has the sample id {str(seen[one])!r} {times[one]} times ({where}){more}. Sample ids must "
            f"be unique. Remove or merge the repeated rows, or give another column with id_column."
        )
    return found


def flipped(frame: Frame, file: Path, options: TableOptions) -> Frame:
    """The transpose of a table with samples in columns, whose first column contains the names of the features."""
    if not _is_numbered(frame.index) or not len(frame.columns):
        features = IdColumn(frame.index, "transposed")
    else:
        first = options.id_column if options.id_column in frame.columns else frame.columns[0]
        features = IdColumn(frame.pop(first), "transposed")
    frame, features = rows_with_ids(frame, features, file, options)
    names = checked_ids(features, file, options)
    turned = frame.T
    turned.columns = names.tolist()
    return turned


def is_text_table(file: Path) -> bool:
    """Whether a file is a table of text, by its suffix."""
    return uncompressed_name(file).suffix.lower() in TEXT_SUFFIXES


def row_position(file: Path, row: int, options: TableOptions) -> str:
    """Position of a row of values in its file, rows counted from 0: the line of text, or the row in other formats."""
    if is_text_table(file):
        return f"line {line_of_row(file, row, options)}"
    return f"row {row + (read_sheet(file, options).first_row if is_workbook(file) else 1)}"


def row_of(part: Any, row: int, file: Path, options: TableOptions) -> str:
    """Position of a row of a frame or column in its file; its index contains the row numbers of text and sheets."""
    return row_position(file, int(part.index[row]) if is_text_table(file) or is_workbook(file) else row, options)


def is_number(column: Any) -> bool:
    """Whether a column contains numbers or booleans."""
    return getattr(column.dtype, "kind", "O") in "biuf"


def listed(names: Any) -> str:
    """The first names, in quotes."""
    shown = [str(name) for name in names]
    return ", ".join(map(repr, shown[:8])) + (f" and {len(shown) - 8} more" if len(shown) > 8 else "")


def _not_ids(frame: Frame, first: Any) -> str:
    """What a first column holds instead of ids; empty if its values may be ids: all different and none missing."""
    column = frame[first]
    missing = np.asarray(column.isna())
    if missing.any():
        n_missing = int((missing & ~np.asarray(frame.isna().all(axis=1))).sum())
        if n_missing:
            return f"text, but is empty in {n_missing} row{'s' * (n_missing > 1)}"
    if column.dtype.kind == "m":
        return "durations"
    texts = [str(value).strip() for value in column[~missing]]
    if not texts:
        return "nothing"
    if len(set(texts)) < len(texts):
        value, times = Counter(texts).most_common(1)[0]
        return f"text, but {shortened(value)!r} occurs {times} times"
    if all(map(AMOUNT.fullmatch, texts)):
        return f"amounts, such as {shortened(texts[0])!r}"
    some = texts[:SAMPLE]
    if sum(len(text.split()) for text in some) > MOST_WORDS * len(some):
        return "sentences"
    return ""


def shortened(text: str, most: int = 40) -> str:
    """The beginning of a text, for messages."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _is_numbered(index: Any) -> bool:
    """Whether an index contains only row numbers."""
    return index.name is None and list(index[:3]) == list(range(min(3, len(index)))) and index.dtype.kind in "iu"


def _counts_rows(column: Any) -> bool:
    values = column.tolist()
    return any(values == [str(start + row) for row in range(len(values))] for start in (0, 1))
