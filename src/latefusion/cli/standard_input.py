"""`-` in the place of a file: a table from standard input.

Files are read several times, which a pipe does not allow, so standard input is copied to a temporary file first.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

SIGN = "-"
# The name of the view is that of the file.
NAME = "stdin"


@contextlib.contextmanager
def standard_input(options: argparse.Namespace) -> Iterator[argparse.Namespace]:
    """The options of a command, with the temporary file in the place of ``-``; it is removed at the end.

    Parameters
    ----------
    options : Namespace
        With ``files`` and ``transpose``. It is not changed.

    Yields
    ------
    Namespace

    Raises
    ------
    ValueError
        If ``-`` was given twice, or if standard input is a terminal. Errors about the content call the file "stdin".
    """
    times = [str(file) for file in options.files].count(SIGN)
    if not times:
        yield options
        return
    if times > 1:
        raise ValueError("Standard input (-) was given twice, but it can be read only once. Save one table to a file.")
    with tempfile.TemporaryDirectory(prefix="latefusion-") as folder:
        path = Path(folder, f"{NAME}.csv")
        _copy(path)
        changed = {
            "files": [path if str(file) == SIGN else file for file in options.files],
            "transpose": [str(path) if one == SIGN else one for one in options.transpose],
        }
        try:
            yield argparse.Namespace(**{**vars(options), **changed})
        except ValueError as error:
            raise ValueError(str(error).replace(str(path), NAME)) from error


def displayed(answer: Any, before: argparse.Namespace, after: argparse.Namespace) -> Any:
    """An answer in which the temporary file is called "stdin", for options before and after `standard_input`."""
    replaced = [str(new) for old, new in zip(before.files, after.files, strict=True) if old != new]
    return _renamed(answer, replaced[0]) if replaced else answer


def _renamed(answer: Any, path: str) -> Any:
    if isinstance(answer, dict):
        return {_renamed(key, path): _renamed(value, path) for key, value in answer.items()}
    if isinstance(answer, list):
        return [_renamed(value, path) for value in answer]
    return answer.replace(path, NAME) if isinstance(answer, str) else answer


def reproducible(files: Sequence[Path]) -> list[Path]:
    """Paths for Python code: standard input has to be saved to a file first."""
    return [Path(f"{NAME}.csv") if str(file) == SIGN else file for file in files]


def _copy(path: Path) -> None:
    stream = sys.stdin
    if stream is None or stream.isatty():
        raise ValueError(
            "Standard input (-) is a terminal. Pipe a table into the command, for example: "
            "zcat table.csv.gz | latefusion cluster -"
        )
    with path.open("wb") as target:
        shutil.copyfileobj(stream.buffer, target)
