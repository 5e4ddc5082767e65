"""`--hints`: known classes of some samples, which the fit uses."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.datasets.files import check_file
from latefusion.datasets.options import TableOptions
from latefusion.datasets.table_values import Table
from latefusion.datasets.tables import files_in, has_sheets, is_table, label_table, take_apart
from latefusion.types import Views
from latefusion.validation.hints import is_unknown


def add_hints_argument(parser: argparse.ArgumentParser) -> None:
    """The option for known classes of some samples."""
    parser.add_argument(
        "--hints",
        metavar="COLUMN|FILE",
        help="known classes of some samples, used in the fit: a column, empty where the class is unknown, or a table "
        "with ids",
    )


def hint_file(hints: str | None) -> Path | None:
    """The file that `--hints` names; None for a column."""
    if hints is not None and (Path(hints).is_file() or is_table(Path(hints))):
        return Path(hints)
    return None


def check_hints(options: argparse.Namespace) -> None:
    """Raise an error for hints that are an input in another role."""
    file = hint_file(options.hints)
    if options.hints is not None and options.hints == options.labels:
        raise ValueError(
            f"--hints and --labels both name {options.hints!r}. Hints are used in the fit, so scores with the same "
            f"classes would be too high. Leave out --labels."
        )
    if file is not None and any(
        Path(one).exists() and file.exists() and Path(one).samefile(file) for one in options.files
    ):
        raise ValueError(
            f"{str(file)!r} is given as a view and as --hints. Give the name of the column with the hints instead, or "
            f"remove the file from the views."
        )


def read_hint_classes(hints: str, files: Sequence[Path], reading: TableOptions, views: Views) -> dict[Any, Any]:
    """Known classes by sample id, or by row number if the samples have no ids.

    Parameters
    ----------
    hints : str
        The value of `--hints`.
    files : sequence of Path
        Those of the views.
    reading : TableOptions
    views : Views
        Which were read from the files.

    Returns
    -------
    dict
        Samples without a class are left out.
    """
    file = hint_file(hints)
    if file is None:
        tables = _tables_with(hints, files, reading)
    else:
        check_file(file)
        tables = {str(file): label_table(file, reading._replace(label_column=None, hint_column=None))}
    known: dict[Any, tuple[Any, str]] = {}
    for name, table in tables.items():
        for sample, value in _classes(name, table, views):
            first, other = known.setdefault(sample, (value, name))
            if first != value:
                raise ValueError(
                    f"--hints: {name!r} has the class {value!r} for sample {sample!r}, but {other!r} has {first!r}."
                )
    if not known:
        raise ValueError(f"--hints {hints!r} contains no class. Fill in the classes that are known.")
    if len(known) == len(views):
        raise ValueError(
            f"--hints {hints!r} has a class for all {len(views)} samples. Leave the unknown classes empty. To compare "
            f"clusters with known classes, use --labels."
        )
    return {sample: value for sample, (value, _) in known.items()}


def translated_hints(message: str) -> str:
    """A message about `y` with the option of the command line in its place."""
    return re.sub(r"^y (names|contains|has|and must_link)", r"--hints \1", message)


def _tables_with(column: str, files: Sequence[Path], reading: TableOptions) -> dict[str, Table]:
    """The tables that have a column, read with this column as classes."""
    options = reading._replace(label_column=column, hint_column=None)
    paths = [one for file in files for one in (files_in(file)[1].values() if file.is_dir() else [file])]
    tables = {str(one): take_apart(one, options) for one in paths if is_table(one) and not has_sheets(one)}
    found = {name: table for name, table in tables.items() if table.labels is not None}
    if not found:
        columns = {Path(name).name: [str(one) for one in table.values.columns[:8]] for name, table in tables.items()}
        raise ValueError(
            f"--hints {column!r} is not a file, and no table has a column with this name; the first columns are "
            f"{columns}."
        )
    return found


def _classes(name: str, table: Table, views: Views) -> list[tuple[Any, Any]]:
    """Samples and their known classes in one table."""
    labels: NDArray[Any] = np.asarray(table.labels)
    samples: list[Any]
    if views.sample_ids is None or table.ids is None:
        if len(labels) != len(views):
            raise ValueError(
                f"--hints: {name!r} has {len(labels)} rows, but there are {len(views)} samples, and they cannot be "
                f"matched by id. Add a column of ids to all files, or give one row per sample."
            )
        samples = (np.arange(len(views)) if views.sample_ids is None else views.sample_ids).tolist()
    else:
        samples = np.asarray(table.ids).tolist()
    pairs = zip(samples, labels.tolist(), strict=True)
    return [(sample, value) for sample, value in pairs if not is_unknown(value)]
