"""Views in tables: one file per view, rows are samples, matched by their ids.

A folder contains one table per view, with the name of the view (``genes.csv``, ``proteins.parquet``), and optionally a
file ``labels.csv`` (or another name in `LABEL_FILES`). The sample ids are the first of these that exists: the column
given by the user; the index of a Parquet file; the first column if it has no name or a name in `ID_NAMES`; the only
column with a name in `SURE_ID_NAMES`; the first column if its values differ in every row and it contains text or has a
name such as ``customer_id``. Samples may be
missing from tables. Without ids, the tables must have the same rows in the same order. In a transposed table the ids
are the column names, and the first column contains the names of the features.

A table of numbers is a float array. A table with other columns is a data frame, see `latefusion.datasets.table_values`.
`latefusion.datasets.text_tables` reads text, `latefusion.datasets.typed_tables` Parquet and Arrow files, and
`latefusion.datasets.excel` workbooks. A workbook with several sheets is like a folder: every sheet is a view.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.datasets.compression import SUFFIXES as COMPRESSIONS
from latefusion.datasets.compression import uncompressed_name
from latefusion.datasets.excel import EXCEL_SUFFIXES, is_workbook, read_sheet, sheet_names
from latefusion.datasets.formats import check_content
from latefusion.datasets.id_columns import (
    TEXT_SUFFIXES,
    IdColumn,
    checked_ids,
    flipped,
    listed,
    rows_with_ids,
    take_ids,
)
from latefusion.datasets.joining import Part, join_samples, transposed_hint
from latefusion.datasets.labels import LABEL_COLUMNS, encode_labels, plain
from latefusion.datasets.optional import require
from latefusion.datasets.options import TableOptions
from latefusion.datasets.table_values import Table, check_names, check_values, values_of
from latefusion.datasets.text_tables import MADE_UP, Dialect, read_text
from latefusion.datasets.text_values import as_numbers
from latefusion.datasets.typed_tables import TYPED_SUFFIXES, read_typed
from latefusion.types import MultiViewDataset

Frame = Any

TABLE_SUFFIXES = TEXT_SUFFIXES + TYPED_SUFFIXES + EXCEL_SUFFIXES
LABEL_FILES = ("labels", "label", "y", "target", "classes", "class", "truth", "gt")


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
        Views of numbers are float arrays, others data frames; missing rows are NaN, and False in the mask.
    """
    label_source, sources = sources_in(path, options)
    tables = {name: source.take_apart() for name, source in sources.items()}
    labeled = {str(sources[name]): table for name, table in tables.items() if table.labels is not None}
    if label_source is not None:
        labeled = {str(label_source): label_source.label_table()}
    elif options.label_column is not None and not labeled:
        columns = {name: list(map(str, table.values.columns[:8])) for name, table in tables.items()}
        raise ValueError(
            f"{str(path)!r}: no table has a column {options.label_column!r}; the first columns are {columns}."
        )
    parts = {name: sources[name].part_of(table) for name, table in tables.items()}
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


class Source(NamedTuple):
    """A table to read: a file, or a sheet of a workbook, which the options name."""

    file: Path
    options: TableOptions

    def __str__(self) -> str:
        return str(self.file) + ("" if self.options.sheet is None else f", sheet {self.options.sheet}")

    def take_apart(self, *, find_labels: bool = True) -> Table:
        """The values, ids and labels of the table."""
        with self._named():
            return take_apart(self.file, self.options, find_labels=find_labels)

    def part_of(self, table: Table) -> Part:
        """The table as a view."""
        with self._named():
            return part_of(table, self.file, self.options)._replace(origin=str(self))

    def label_table(self) -> Table:
        """The table as a file of labels."""
        with self._named():
            return label_table(self.file, self.options)

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Add the name of the sheet to errors."""
        try:
            yield
        except ValueError as error:
            if self.options.sheet is None:
                raise
            raise ValueError(f"Sheet {self.options.sheet!r}: {error}") from error


def sources_in(path: Path, options: TableOptions) -> tuple[Source | None, dict[str, Source]]:
    """The labels, if there are any, and the views by name, in a folder of tables, a workbook or a single table."""
    if has_sheets(path):
        sheets = {name: Source(path, options._replace(sheet=name)) for name in sheet_names(path)}
        labels = [name for name in sheets if plain(name) in LABEL_FILES]
        if len(labels) > 1 or len(labels) == len(sheets):
            raise ValueError(f"{str(path)!r} has the sheets {listed(sheets)}: give all but one of them other names.")
        return next((sheets.pop(name) for name in labels), None), sheets
    label_file, files = files_in(path)
    for file in files.values() if path.is_dir() else ():
        check_content(file)
    sources = {name: Source(file, options) for name, file in files.items()}
    return None if label_file is None else Source(label_file, options), sources


def has_sheets(file: Path) -> bool:
    """Whether a file is a workbook with several sheets, each of which is a view."""
    return is_workbook(file) and file.is_file() and len(sheet_names(file)) > 1


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
    if file.suffix.lower() in TYPED_SUFFIXES:
        frame, dialect = read_typed(file), None
    elif is_workbook(file):
        frame, dialect = read_sheet(file, options).frame, None
    else:
        return read_text(file, options)
    check_names(frame, file)
    check_values(frame, file, options)
    return frame, dialect


def take_apart(file: Path, options: TableOptions, *, find_labels: bool = True) -> Table:
    """The values, ids and labels in a table, if it has any; labels are values with ``find_labels=False``."""
    frame, dialect = read_frame(file, options)
    decimal = "." if dialect is None else dialect.decimal
    if options.transposed(file):
        frame = flipped(frame, file, options)
        ids = IdColumn(frame.index, "transposed")
    else:
        ids = take_ids(frame, file, options, decimal)
        frame, ids = rows_with_ids(frame, ids, file, options)
    frame = frame.drop(columns=[name for name in options.left_out if name in frame.columns])
    label = label_name(frame, options) if find_labels else None
    labels = None if label is None else np.asarray(frame.pop(label))
    if options.transposed(file):
        frame = frame.apply(lambda column: _numeric(column, decimal))
    if ids.values is None:
        return Table(frame, None, labels, reason=ids.reason)
    return Table(frame, checked_ids(ids, file, options), labels, _own_name(ids.values.name), ids.reason)


def label_name(frame: Frame, options: TableOptions) -> Any:
    """The column with the classes, None if there is none."""
    if options.label_column is not None:
        return options.label_column if options.label_column in frame.columns else None
    return next((column for column in frame.columns if plain(column) in LABEL_COLUMNS), None)


def part_of(table: Table, file: Path, options: TableOptions) -> Part:
    """A table as a view that can be joined with others."""
    columns = [str(column) for column in table.values.columns]
    return Part(values_of(table, file, options), table.ids, str(file), columns, table.reason)


def label_table(file: Path, options: TableOptions) -> Table:
    """A file of labels: one column of them, perhaps one of ids before it."""
    options = options._replace(transpose=False)
    values, ids, labels, id_name, _ = take_apart(file, options)
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
    for file, (_, ids, labels, *_) in labeled.items():
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


def _own_name(name: Any) -> str:
    """The name of a column in the file."""
    return "" if name is None or name == MADE_UP.format(1) else str(name)


def _numeric(column: Any, decimal: str) -> Any:
    """A row of a transposed table as numbers, if it contains nothing else."""
    pandas: Any = require("pandas", Path())
    try:
        return pandas.to_numeric(column)
    except (ValueError, TypeError):
        found = as_numbers(column, decimal)
        return column if found is None else found
