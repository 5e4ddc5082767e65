"""Views in tables: one file per view, rows are samples, matched by their ids.

A folder contains one table per view, with the name of the view (``genes.csv``, ``proteins.parquet``), and optionally a
file ``labels.csv`` (or another name in `LABEL_FILES`). The sample ids are the first of these that exists: the column
given by the user; the index of a Parquet file; the first column if it has no name or a name in `ID_NAMES`; the only
column with a name in `SURE_ID_NAMES`; the first column if it contains text. Samples may be missing from tables. Without
ids, the tables must have the same rows in the same order. In a transposed table the ids are the column names, and the
first column contains the names of the features.

`latefusion.datasets.text_tables` reads text, pandas reads Parquet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.datasets.compression import SUFFIXES as COMPRESSIONS
from latefusion.datasets.compression import uncompressed_name
from latefusion.datasets.formats import check_content
from latefusion.datasets.joining import Part, join_samples, transposed_hint
from latefusion.datasets.labels import LABEL_COLUMNS, encode_labels, plain
from latefusion.datasets.optional import require
from latefusion.datasets.options import SEPARATORS, TableOptions, separator_name
from latefusion.datasets.text_tables import (
    ID_NAMES,
    MADE_UP,
    SURE_ID_NAMES,
    Dialect,
    line_of_row,
    parses,
    read_text,
    text_columns,
)
from latefusion.types import MultiViewDataset

Frame = Any

TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".tab")
PARQUET_SUFFIXES = (".parquet", ".pq")
TABLE_SUFFIXES = TEXT_SUFFIXES + PARQUET_SUFFIXES
LABEL_FILES = ("labels", "label", "y", "target", "classes", "class", "truth", "gt")


class Table(NamedTuple):
    """Values, ids and labels of one file; the name of its column of ids is empty if it has none."""

    values: Frame
    ids: NDArray[Any] | None
    labels: NDArray[Any] | None
    id_name: str = ""


class IdColumn(NamedTuple):
    """The ids in a table, None if there are none, and the reason why they are ids."""

    values: Any
    reason: str


def is_table(file: Path) -> bool:
    """Whether a file has the suffix of a table, compressed or not."""
    return uncompressed_name(file).suffix.lower() in TABLE_SUFFIXES and not file.is_dir()


def view_name(file: Path) -> str:
    """The name of the view in a table: the name of the file without its suffixes."""
    return uncompressed_name(file).stem if is_table(file) else file.stem


def read_tables(path: Path, options: TableOptions) -> MultiViewDataset:
    """The data set in a folder of tables, or in a single one; see the top of this module.

    Parameters
    ----------
    path : Path
    options : TableOptions

    Returns
    -------
    MultiViewDataset
        With float views; missing rows are NaN, and False in the mask.
    """
    label_file, files = files_in(path)
    for file in files.values() if path.is_dir() else ():
        check_content(file)
    tables = {name: take_apart(file, options) for name, file in files.items()}
    labeled = {str(files[name]): table for name, table in tables.items() if table.labels is not None}
    if label_file is not None:
        labeled = {str(label_file): label_table(label_file, options)}
    elif options.label_column is not None and not labeled:
        columns = {name: list(map(str, table.values.columns[:8])) for name, table in tables.items()}
        raise ValueError(
            f"{str(path)!r}: no table has a column {options.label_column!r}; the first columns are {columns}."
        )
    parts = {name: part_of(table, files[name], options) for name, table in tables.items()}
    views = join_samples(parts)
    target, target_names = target_of(labeled, views.sample_ids, len(views), parts)
    absent = "" if views.mask is None else f", of which {int((~views.mask.all(axis=1)).sum())} are not in every view"
    return MultiViewDataset(
        views=views,
        target=target,
        name=view_name(path) if path.is_file() else path.resolve().name,
        target_names=target_names,
        description=f"Read from {path.name}: {len(views)} samples{absent}; "
        f"{'matched by id' if views.sample_ids is not None else 'rows in the order of the file'}.",
        feature_names={name: [str(column) for column in table.values.columns] for name, table in tables.items()},
        id_name=common_name(table.id_name for table in tables.values()),
    )


def common_name(names: Iterable[str]) -> str:
    """The name that all have; empty if they differ."""
    found = set(names)
    return found.pop() if len(found) == 1 else ""


def files_in(path: Path) -> tuple[Path | None, dict[str, Path]]:
    """The file of labels in a folder, if there is one, and the files of views by name; a single file is one view."""
    if not path.is_dir():
        return None, {view_name(path): path}
    inside = sorted(entry for entry in path.iterdir() if not entry.name.startswith((".", "_")))
    tables = [entry for entry in inside if is_table(entry)]
    labels = [table for table in tables if plain(view_name(table)) in LABEL_FILES]
    views = [table for table in tables if table not in labels]
    if not views:
        found = ", ".join(entry.name for entry in inside[:8]) or "nothing"
        raise ValueError(
            f"The folder {str(path)!r} has no tables ({', '.join(TABLE_SUFFIXES)}, also with "
            f"{', '.join(COMPRESSIONS)}), one per view. It contains {found}."
        )
    if len(labels) > 1:
        raise ValueError(f"{str(path)!r} has several files of labels: {[file.name for file in labels]}. Keep one.")
    names = [view_name(view) for view in views]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        clash = [view.name for view in views if view_name(view) == twice]
        raise ValueError(f"{str(path)!r} has several tables for the view {twice!r}: {clash}. Keep or rename one.")
    return next(iter(labels), None), dict(zip(names, views, strict=True))


def read_frame(file: Path, options: TableOptions) -> tuple[Frame, Dialect | None]:
    """A table as it is in the file, and its dialect if it is text."""
    if uncompressed_name(file).suffix.lower() not in PARQUET_SUFFIXES:
        return read_text(file, options)
    pandas = require("pandas", file)
    require("pyarrow", file)
    try:
        return pandas.read_parquet(file), None
    except (OSError, ValueError, TypeError, LookupError) as error:
        raise ValueError(
            f"{str(file)!r} cannot be read as a Parquet file ({error}). It may be truncated. Copy it again."
        ) from error


def take_apart(file: Path, options: TableOptions) -> Table:
    """The values, ids and labels in a table, if it has any."""
    frame, _ = read_frame(file, options)
    if options.transposed(file):
        frame = _transposed(frame, file, options)
        ids = IdColumn(frame.index, "transposed")
    else:
        ids = take_ids(frame, file, options)
        frame, ids = _with_ids(frame, ids, file, options)
    label = label_name(frame, options)
    labels = None if label is None else np.asarray(frame.pop(label))
    if options.transposed(file):
        frame = frame.apply(_as_numbers)
    if ids.values is None:
        return Table(frame, None, labels)
    return Table(frame, _checked_ids(ids, file, options), labels, _own_name(ids.values.name))


def take_ids(frame: Frame, file: Path, options: TableOptions) -> IdColumn:
    """Separate the ids from a table, and remove a first column of row numbers."""
    columns = list(frame.columns)
    first = columns[0] if columns else None
    wanted = options.id_column
    if wanted is not None and wanted not in columns and frame.index.name != wanted:
        raise ValueError(f"{str(file)!r} has no column {wanted!r} of ids; its columns are {listed(columns)}.")
    counts = first is not None and str(first) == "" and _counts_rows(frame[first])
    held = "classes" if first is not None and plain(first) in LABEL_COLUMNS else "numbers"
    found, reason = None, f"no column of ids: the first column holds {held}"
    sure = [column for column in columns if plain(column) in SURE_ID_NAMES and frame[column].is_unique]
    if wanted is not None:
        found, reason = wanted, "given by the user"
    elif not _is_numbered(frame.index):
        return IdColumn(frame.index, "the index in the file")
    elif first is not None and plain(first) in ID_NAMES and not (counts and len(sure) == 1):
        found, reason = first, "the first column, which has no name" if first == "" else "a usual name of ids"
    elif len(sure) == 1:
        found, reason = sure[0], "a usual name of ids"
    elif first is not None and not (is_number(frame[first]) or plain(first) in LABEL_COLUMNS):
        found, reason = first, "the first column, which holds text"
    if wanted is not None and wanted not in columns:
        values = frame.index
    else:
        values = None if found is None else frame.pop(found)
    if counts and found != first:
        frame.pop(first)
    for column in text_columns([str(column) for column in columns] or [""], options):
        if column in frame.columns:  # read as text, since it might have been the ids
            frame[column] = _as_numbers(frame[column])
    return IdColumn(values, reason)


def label_name(frame: Frame, options: TableOptions) -> Any:
    """The column with the classes, None if there is none."""
    if options.label_column is not None:
        return options.label_column if options.label_column in frame.columns else None
    return next((column for column in frame.columns if plain(column) in LABEL_COLUMNS), None)


def part_of(table: Table, file: Path, options: TableOptions) -> Part:
    """A table as a view that can be joined with others."""
    columns = [str(column) for column in table.values.columns]
    return Part(numbers_of(table, file, options), table.ids, str(file), columns)


def label_table(file: Path, options: TableOptions) -> Table:
    """A file of labels: one column of them, perhaps one of ids before it."""
    options = options._replace(transpose=False)
    values, ids, labels, id_name = take_apart(file, options)
    if labels is None:
        if values.shape[1] == 0 and ids is not None:
            ids, labels = None, ids  # words alone are the labels
        elif values.shape[1] == 1:
            labels = np.asarray(values.iloc[:, 0])
        else:
            raise ValueError(
                f"{str(file)!r} has the columns {listed(values.columns)}, and the column of labels is ambiguous. Keep "
                f"one column, name it 'label', or give label_column."
            )
    return Table(values, ids, labels, id_name)


def target_of(
    labeled: Mapping[str, Table], sample_ids: NDArray[Any] | None, n_samples: int, parts: Mapping[str, Part]
) -> tuple[NDArray[Any] | None, tuple[str, ...]]:
    """Classes in the order of the samples; the parts of the views are for advice about transposed tables."""
    classes: dict[Any, tuple[Any, str]] = {}
    samples = range(n_samples) if sample_ids is None else sample_ids.tolist()
    for file, (_, ids, labels, _) in labeled.items():
        assert labels is not None  # for the type checker: only tables with labels come here
        if (ids is None or sample_ids is None) and len(labels) != n_samples:
            hint = transposed_hint(parts, set() if ids is None else set(ids.tolist()))
            raise ValueError(
                f"{file!r} has {len(labels)} labels, but there are {n_samples} samples in the views.{hint}"
            )
        keys = samples if ids is None or sample_ids is None else ids.tolist()
        for key, label in zip(keys, labels.tolist(), strict=True):
            if label is None or label != label:
                continue  # an empty field
            known, other = classes.setdefault(key, (label, file))
            if known != label:
                raise ValueError(f"{file!r} has the label {label!r} for sample {key!r}, but {other!r} has {known!r}.")
    if not labeled:
        return None, ()
    bare = [sample for sample in samples if sample not in classes]
    if bare:
        hint = transposed_hint(parts, set(classes)) or " Add them, or leave the labels out."
        raise ValueError(
            f"{', '.join(labeled)}: {len(bare)} of {n_samples} samples have no label, such as {bare[0]!r}.{hint}"
        )
    values = np.array([classes[sample][0] for sample in samples])
    return encode_labels(values, ", ".join(labeled), None if sample_ids is None else samples)


def numbers_of(table: Table, file: Path, options: TableOptions) -> NDArray[Any]:
    """The values of a view; raises an error with the names of columns of text."""
    frame = table.values
    columns = [str(column) for column in frame.columns]
    if not columns or not len(frame):
        raise ValueError(_nothing_to_cluster(table, file, options))
    texts = [at for at, dtype in enumerate(frame.dtypes) if getattr(dtype, "kind", "O") not in "biuf"]
    if texts:
        shown = ", ".join(repr(columns[at]) for at in texts[:5])
        more = f" and {len(texts) - 5} more" if len(texts) > 5 else ""
        column = frame.iloc[:, texts[0]]
        row, count = _not_numbers(column)
        transposed = options.transposed(file)
        where = (
            f"in column {str(table.ids[row])!r}"
            if transposed and table.ids is not None
            else _line(column, row, file, options)
        )
        raise ValueError(
            f"{str(file)!r}: {'rows' if transposed else 'columns'} that are not numbers: {shown}{more}. In "
            f"{columns[texts[0]]!r}, {count} of {len(column)} values are not, such as {column.iloc[row]!r} {where}. "
            f"Encode or remove them. Missing values must be empty or NA. Select columns of ids and classes "
            f"with id_column and label_column."
        )
    single = all(str(dtype).lower() == "float32" for dtype in frame.dtypes)
    return np.asarray(frame.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan))


def is_number(column: Any) -> bool:
    """Whether a column contains numbers or booleans."""
    return getattr(column.dtype, "kind", "O") in "biuf"


def listed(names: Any) -> str:
    """The first names, in quotes."""
    shown = [str(name) for name in names]
    return ", ".join(map(repr, shown[:8])) + (f" and {len(shown) - 8} more" if len(shown) > 8 else "")


def _nothing_to_cluster(table: Table, file: Path, options: TableOptions) -> str:
    n_rows, n_columns = table.values.shape
    if n_rows or uncompressed_name(file).suffix.lower() in PARQUET_SUFFIXES:
        start = f"{str(file)!r} has {n_rows} rows and {n_columns} columns of values"
    else:
        start = f"{str(file)!r} has a line of names and 0 rows of values"
    if n_columns or uncompressed_name(file).suffix.lower() in PARQUET_SUFFIXES:
        return f"{start}, so there is nothing to cluster."
    dialect = read_text(file, options)[1]
    names = ", ".join(name for name, sign in SEPARATORS.items() if sign != dialect.separator)
    beside = "" if table.ids is None else f" beside the ids in {table.id_name or 'the first column'!r}"
    return (
        f"{start}{beside}. The detected separator is {separator_name(dialect.separator)}. If it is wrong, give another "
        f"one with separator= ({names}, or a character)."
    )


def _not_numbers(column: Any) -> tuple[int, int]:
    """The first row that is not a number, and the number of such rows."""
    found = [row for row, value in enumerate(column.tolist()) if not _may_be_number(value)]
    return (found[0], len(found)) if found else (0, len(column))


def _may_be_number(value: Any) -> bool:
    if isinstance(value, str):
        return parses(value)
    return value is None or isinstance(value, int | float)


def row_position(file: Path, row: int, options: TableOptions) -> str:
    """Position of a row of values in its file, rows counted from 0: the line of text, or the row in other formats."""
    if uncompressed_name(file).suffix.lower() in PARQUET_SUFFIXES:
        return f"row {row + 1}"
    return f"line {line_of_row(file, row, options)}"


def _line(column: Any, row: int, file: Path, options: TableOptions) -> str:
    """Position of a row of a frame in its file; the index contains the row numbers of the file."""
    is_parquet = uncompressed_name(file).suffix.lower() in PARQUET_SUFFIXES
    return f"in {row_position(file, row if is_parquet else int(column.index[row]), options)}"


def _own_name(name: Any) -> str:
    """The name of a column in the file."""
    return "" if name is None or name == MADE_UP.format(1) else str(name)


def _is_numbered(index: Any) -> bool:
    """Whether an index contains only row numbers."""
    return index.name is None and list(index[:3]) == list(range(min(3, len(index)))) and index.dtype.kind in "iu"


def _counts_rows(column: Any) -> bool:
    values = column.tolist()
    return any(values == [str(start + row) for row in range(len(values))] for start in (0, 1))


def _as_numbers(column: Any) -> Any:
    pandas: Any = require("pandas", Path())
    try:
        return pandas.to_numeric(column)
    except (ValueError, TypeError):
        return column


def drop_empty_rows(frame: Frame, ids: IdColumn) -> tuple[Frame, IdColumn]:
    """A table without the rows that have neither an id nor a value, which spreadsheets write below a table."""
    if ids.values is None or not (missing := np.asarray(ids.values.isna())).any():
        return frame, ids
    empty = missing & np.asarray(frame.isna().all(axis=1))
    return frame[~empty], IdColumn(ids.values[~empty], ids.reason)


def _with_ids(frame: Frame, ids: IdColumn, file: Path, options: TableOptions) -> tuple[Frame, IdColumn]:
    """A table without its empty rows; raises an error for other rows without an id."""
    frame, ids = drop_empty_rows(frame, ids)
    missing = np.zeros(0) if ids.values is None else np.asarray(ids.values.isna())
    if missing.any():
        where = _line(frame, int(np.flatnonzero(missing)[0]), file, options)
        others = f", nor in {int(missing.sum()) - 1} other rows" * bool(missing.sum() > 1)
        raise ValueError(
            f"{str(file)!r} has no id {where} (empty or NA in column {ids.values.name!r}){others}. Add the ids, or "
            f"remove the rows."
        )
    return frame, ids


def _checked_ids(ids: IdColumn, file: Path, options: TableOptions) -> NDArray[Any]:
    found = np.array([str(value).strip() for value in ids.values], dtype=str)
    seen, first, times = np.unique(found, return_index=True, return_counts=True)
    repeated = np.flatnonzero(times > 1)
    if repeated.size:
        one = repeated[np.argmin(first[repeated])]
        rows = np.flatnonzero(found == seen[one])[:2]
        name = getattr(ids.values, "name", None)
        where = f"in column {name!r}"
        if hasattr(ids.values, "index"):
            where += f", {_line(ids.values, rows[0], file, options)} and {_line(ids.values, rows[1], file, options)}"
        more = f", and {repeated.size - 1} other ids more than once" * (repeated.size > 1)
        raise ValueError(
            f"{str(file)!r} has the sample id {str(seen[one])!r} {times[one]} times ({where}){more}. Sample ids must "
            f"be unique. Remove or merge the repeated rows, or give another column with id_column."
        )
    return found


def _transposed(frame: Frame, file: Path, options: TableOptions) -> Frame:
    """The transpose of a table with samples in columns, whose first column contains the names of the features."""
    if not _is_numbered(frame.index) or not len(frame.columns):
        features = IdColumn(frame.index, "transposed")
    else:
        first = options.id_column if options.id_column in frame.columns else frame.columns[0]
        features = IdColumn(frame.pop(first), "transposed")
    frame, features = _with_ids(frame, features, file, options)
    names = _checked_ids(features, file, options)
    flipped = frame.T
    flipped.columns = names.tolist()
    return flipped
