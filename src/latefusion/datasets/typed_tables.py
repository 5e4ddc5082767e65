"""Tables in Parquet and Arrow files (Feather, IPC), whose columns have types. pyarrow reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from latefusion.datasets.optional import require

Frame = Any

PARQUET_SUFFIXES = (".parquet", ".pq")
ARROW_SUFFIXES = (".feather", ".arrow", ".ipc")
TYPED_SUFFIXES = PARQUET_SUFFIXES + ARROW_SUFFIXES
ARROW_FILE = b"ARROW1"
FEATHER_1 = b"FEA1"
# Errors that pandas and pyarrow raise for damaged files and unknown types.
UNREADABLE = (OSError, ValueError, TypeError, LookupError, RuntimeError, MemoryError, OverflowError, AttributeError)


def read_typed(file: Path) -> Frame:
    """A Parquet or Arrow file as a data frame.

    Parameters
    ----------
    file : Path

    Returns
    -------
    DataFrame
        With the index of the file, if pandas wrote one.
    """
    pandas = require("pandas", file)
    pyarrow = require("pyarrow", file)
    is_parquet = file.suffix.lower() in PARQUET_SUFFIXES
    try:
        return pandas.read_parquet(file) if is_parquet else _read_arrow(file, pyarrow)
    except UNREADABLE as error:
        name = "a Parquet" if is_parquet else "an Arrow (Feather)"
        raise ValueError(
            f"{str(file)!r} cannot be read as {name} file ({error}). It may be truncated. Copy it again."
        ) from error


def _read_arrow(file: Path, pyarrow: Any) -> Frame:
    """The file form (Feather version 2), the stream form, or Feather version 1."""
    with file.open("rb") as stream:
        beginning = stream.read(6)
    if beginning.startswith(FEATHER_1):
        return require("pyarrow.feather", file).read_feather(str(file))
    ipc = require("pyarrow.ipc", file)
    with pyarrow.OSFile(str(file)) as source:
        reader = ipc.open_file(source) if beginning == ARROW_FILE else ipc.open_stream(source)
        table = reader.read_all()
    table.validate(full=True)  # pyarrow trusts offsets in files, and wrong ones reach beyond the memory of the table
    return table.to_pandas()
