"""Contents of a table, even if it cannot be clustered: columns, types, ids, missing values, and text format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from latefusion.datasets.excel import is_workbook
from latefusion.datasets.id_columns import drop_empty_rows, is_number, take_ids
from latefusion.datasets.options import TableOptions, separator_name
from latefusion.datasets.tables import Source, label_name, read_frame
from latefusion.datasets.text_tables import MADE_UP, Dialect
from latefusion.datasets.typed_tables import PARQUET_SUFFIXES
from latefusion.encoding.column_kinds import recognize
from latefusion.encoding.columns import DECIMAL, column_of

ENCODINGS = {"utf-8-sig": "UTF-8", "utf-16": "UTF-16", "cp1252": "Windows-1252", "latin-1": "Latin-1"}


class Column(NamedTuple):
    """One column of values.

    Attributes
    ----------
    name : str
    kind : {"number", "boolean", "category", "date", "duration", "text", "id", "constant", "empty"}
        What the column is taken for, by `latefusion.encoding.column_kinds.recognize`. A constant column has one value
        in all rows, an empty one has none; these and ids are not used.
    missing : int
        Cells without a value.
    distinct : int
        Different values.
    """

    name: str
    kind: str
    missing: int
    distinct: int


class TableOverview(NamedTuple):
    """Contents of a table.

    Attributes
    ----------
    file : str
    n_rows, n_columns : int
        As in the file, with the columns of ids and classes, without empty rows.
    written : dict
        Format, compression, encoding, separator, decimal separator, and line of the column names.
    id_column : str or None
        None if there are no ids; empty if their column has no name.
    id_reason : str
        Why this column holds the ids.
    ids : list of str
        Of all rows with an id, in the order of the file.
    missing_ids : int
        Rows without an id.
    duplicate_ids : dict of str to int
        How often ids occur that do so more than once.
    label_column : str or None
    columns : list of Column
        Columns of values.
    transposed : bool
        Whether the columns are samples; rows, columns and ids are still those of the file.
    """

    file: str
    n_rows: int
    n_columns: int
    written: dict[str, Any]
    id_column: str | None
    id_reason: str
    ids: list[str]
    missing_ids: int
    duplicate_ids: dict[str, int]
    label_column: str | None
    columns: list[Column]
    transposed: bool

    @property
    def samples(self) -> list[str]:
        """The sample ids; in a transposed table, the names of its columns."""
        return [column.name for column in self.columns] if self.transposed else self.ids


def describe_table(file: Path, options: TableOptions) -> TableOverview:
    """What is in a table.

    Parameters
    ----------
    file : Path
    options : TableOptions

    Returns
    -------
    TableOverview
    """
    frame, dialect = read_frame(file, options)
    n_columns = frame.shape[1]
    frame, (ids, reason) = drop_empty_rows(
        frame, take_ids(frame, file, options, "." if dialect is None else dialect.decimal)
    )
    missing = np.zeros(0, dtype=bool) if ids is None else np.asarray(ids.isna())
    known = [] if ids is None else [str(value).strip() for value in ids[~missing]]
    names, times = np.unique(np.array(known, dtype=str), return_counts=True)
    label = label_name(frame, options)
    if label is not None:
        frame.pop(label)
    return TableOverview(
        file=str(Source(file, options)),
        n_rows=len(frame),
        n_columns=n_columns,
        written=_written(dialect, file),
        id_column=None if ids is None else _name(ids.name),
        id_reason=reason,
        ids=known,
        missing_ids=int(missing.sum()),
        duplicate_ids={str(name): int(count) for name, count in zip(names, times, strict=True) if count > 1},
        label_column=None if label is None else str(label),
        columns=[_column(str(name), frame.iloc[:, at]) for at, name in enumerate(frame.columns)],
        transposed=options.transposed(file),
    )


def shared_samples(overviews: Sequence[TableOverview]) -> dict[str, Any] | None:
    """Overlap of the samples of several tables; None if a table has no ids."""
    sets = {one.file: set(one.samples) for one in overviews}
    if len(sets) < 2 or not all(sets.values()):
        return None
    return {
        "n_samples": len(set.union(*sets.values())),
        "in_all": len(set.intersection(*sets.values())),
        "files": {file: _overlap(file, sets) for file in sets},
    }


def _overlap(file: str, sets: Mapping[str, set[str]]) -> dict[str, int]:
    others = set().union(*(own for other, own in sets.items() if other != file))
    return {"samples": len(sets[file]), "only_here": len(sets[file] - others), "not_here": len(others - sets[file])}


def _name(name: Any) -> str:
    return "" if name is None or name == MADE_UP.format(1) else str(name)


def _written(dialect: Dialect | None, file: Path) -> dict[str, Any]:
    if dialect is None:
        if is_workbook(file):
            return {"format": "Excel"}
        return {"format": "Parquet" if file.suffix.lower() in PARQUET_SUFFIXES else "Arrow"}
    return {
        "format": "text",
        "compression": dialect.compression or None,
        "encoding": ENCODINGS.get(dialect.encoding, dialect.encoding),
        "separator": separator_name(dialect.separator),
        "decimal": dialect.decimal,
        "line_of_names": dialect.first_line if dialect.has_names else None,
    }


def _column(name: str, values: Any) -> Column:
    held = values.dropna()
    distinct = int(held.map(str).nunique()) if held.dtype.kind not in "biufM" else int(held.nunique())
    return Column(name, _kind(name, held, distinct, len(values)), int(len(values) - len(held)), distinct)


def _kind(name: str, held: Any, distinct: int, n_rows: int) -> str:
    if not len(held):
        return "empty"
    if distinct == 1 and len(held) == n_rows > 1:
        return "constant"
    if held.dtype.kind == "b" or set(held.map(str).str.lower().iloc[:100]) <= {"true", "false"}:
        return "boolean"
    if is_number(held):
        return "number"
    return recognize(name, column_of(held.to_numpy(dtype=object))._replace(decimal=held.attrs.get(DECIMAL, "")))[0]
