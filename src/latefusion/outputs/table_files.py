"""Tables of results as files: CSV, TSV and Parquet."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from numpy.typing import NDArray

from latefusion.atomic_files import atomic_write
from latefusion.outputs.targets import Kind, Target, check_targets
from latefusion.spreadsheet_safety import plain_cell

Columns = Mapping[str, NDArray[Any]]


def write_table(columns: Columns, path: str | os.PathLike[str], kind: Kind, *, force: bool = False) -> None:
    """Write columns with their names to a file.

    Parameters
    ----------
    columns : mapping of str to ndarray of shape (n_rows,)
    path : str or path-like
        Ends in ``.csv``, ``.tsv``, ``.txt`` or ``.parquet``; without a suffix, the format is CSV. An existing table of
        the same kind is replaced.
    kind : Kind
        What the table contains.
    force : bool, default=False
        Whether to replace an existing file of another kind, too.
    """
    check_targets([table_target(path, kind)], force=force)
    with atomic_write(path) as stream:
        WRITERS[Path(path).suffix.lower()](columns, stream)


def table_target(path: str | os.PathLike[str], kind: Kind, option: str = "") -> Target:
    """A table to be written, for `check_targets`. Refused if its format needs a library that is missing."""
    if Path(path).suffix.lower() == ".parquet":
        _parquet()
    return Target(Path(path), kind, option)


def write_text(columns: Columns, stream: BinaryIO, separator: str = ",") -> None:
    """Write columns with their names as CSV to a stream."""
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerow(map(plain_cell, columns))
    writer.writerows(zip(*(map(plain_cell, column.tolist()) for column in columns.values()), strict=True))
    text.flush()
    text.detach()  # leave the stream open


def _write_parquet(columns: Columns, stream: BinaryIO) -> None:
    pyarrow, parquet = _parquet()
    parquet.write_table(
        pyarrow.table({name: pyarrow.array(column.tolist()) for name, column in columns.items()}), stream
    )


def _parquet() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("Writing Parquet needs pyarrow: pip install 'latefusion[io]', or write .csv.") from error
    return pyarrow, pyarrow.parquet


WRITERS: dict[str, Callable[[Columns, BinaryIO], None]] = {
    "": write_text,
    ".csv": write_text,
    ".tsv": lambda columns, stream: write_text(columns, stream, "\t"),
    ".txt": lambda columns, stream: write_text(columns, stream, "\t"),
    ".parquet": _write_parquet,
}
