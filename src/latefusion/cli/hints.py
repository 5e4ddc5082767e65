"""`--hints`, `--must-link` and `--cannot-link`: what is known about some samples, which the fit uses."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.cli.arguments import file_path
from latefusion.cli.labels import tables_with
from latefusion.datasets.files import check_file
from latefusion.datasets.id_columns import listed
from latefusion.datasets.options import TableOptions
from latefusion.datasets.table_values import Table
from latefusion.datasets.tables import is_table, label_table, read_frame
from latefusion.types import Views
from latefusion.validation.hints import is_unknown

# Options for pairs of samples, and what the pairs say.
PAIRS = {"must-link": "one cluster", "cannot-link": "different clusters"}


def add_hints_argument(parser: argparse.ArgumentParser) -> None:
    """The options for known classes of some samples, and for pairs of samples."""
    parser.add_argument(
        "--hints",
        metavar="COLUMN|FILE",
        help="known classes of some samples, used in the fit: a column, empty where the class is unknown, or a table "
        "with ids",
    )
    for option, meaning in PAIRS.items():
        parser.add_argument(
            f"--{option}",
            type=file_path,
            metavar="FILE",
            help=f"table with two columns of sample ids, used in the fit: the samples of each row belong to {meaning}",
        )


def hint_file(hints: str | None) -> Path | None:
    """The file that `--hints` names; None for a column."""
    if hints is not None and (Path(hints).is_file() or is_table(Path(hints))):
        return Path(hints)
    return None


def hint_files(options: argparse.Namespace) -> dict[str, Path]:
    """The files with hints, by option; none for commands without these options."""
    given = {option: getattr(options, option.replace("-", "_"), None) for option in PAIRS}
    given = {"hints": hint_file(getattr(options, "hints", None)), **given}
    return {f"--{option}": Path(file) for option, file in given.items() if file is not None}


def check_hints(options: argparse.Namespace, what: str, *, supported: bool) -> None:
    """Raise an error for hints that are an input in another role, or that a method or a model does not support."""
    given = [*(["--hints"] if options.hints is not None else []), *hint_files(options)]
    if given and not supported:
        raise ValueError(f"{given[0]} requires {what}.")
    if options.hints is not None and options.hints == getattr(options, "labels", None):
        raise ValueError(
            f"--hints and --labels both name {options.hints!r}. Hints are used in the fit, so scores with the same "
            f"classes would be too high. Leave out --labels."
        )
    for option, file in hint_files(options).items():
        if any(Path(one).exists() and file.exists() and Path(one).samefile(file) for one in options.files):
            advice = "Give the name of the column with the hints instead, or remove the file from the views."
            if option != "--hints":
                advice = "Remove it from the views."
            raise ValueError(f"{str(file)!r} is given as a view and as {option}. {advice}")


def read_hints(
    options: argparse.Namespace, files: Sequence[Path], reading: TableOptions, views: Views
) -> dict[str, Any]:
    """All hints as arguments of `fit`; empty without hints.

    Parameters
    ----------
    options : Namespace
    files : sequence of Path
        Those of the views.
    reading : TableOptions
    views : Views
        Which were read from the files.

    Returns
    -------
    dict
    """
    hints = getattr(options, "hints", None)
    found = {} if hints is None else {"y": read_hint_classes(hints, files, reading, views)}
    pairs = {option: file for option, file in hint_files(options).items() if option != "--hints"}
    return found | {
        option.removeprefix("--").replace("-", "_"): read_pairs(option, file, reading, views)
        for option, file in pairs.items()
    }


def read_pairs(option: str, file: Path, reading: TableOptions, views: Views) -> list[tuple[str, ...]]:
    """The pairs of sample ids in a table with two columns, with or without a row of names.

    Parameters
    ----------
    option : str
        Of the command line, for error messages.
    file : Path
    reading : TableOptions
    views : Views

    Returns
    -------
    list of (str, str)
    """
    check_file(file)
    if views.sample_ids is None:
        raise ValueError(f"{option} names samples by their ids, but the data files have none. Add a column of ids.")
    plain = TableOptions(separator=reading.separator, decimal=reading.decimal)
    names = [str(one) for one in read_frame(file, plain)[0].columns]
    if len(names) != 2:
        raise ValueError(
            f"{option}: {str(file)!r} has the columns {listed(names)}. Keep two, with the ids of the samples of a pair."
        )
    # A column of ids is read as text, so that 007 is not 7.
    columns = [read_frame(file, plain._replace(id_column=name))[0][name] for name in names]
    pairs = [tuple(str(one).strip() for one in row) for row in zip(*columns, strict=True)]
    return [tuple(names), *pairs] if set(names) <= set(views.sample_ids.tolist()) else pairs


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
        try:
            tables = {str(file): label_table(file, reading._replace(label_column=None, left_out=()))}
        except ValueError as error:  # the column of labels cannot be named here
            advice = "Keep one column, or name it 'label'."
            raise ValueError(re.sub("Keep one column, name it 'label', or give .*", advice, str(error))) from error
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


def hint_record(model: Any) -> dict[str, Any] | None:
    """The hints of a model, in types of JSON; None without hints."""
    result, ids = getattr(model, "hints_", None), getattr(model, "sample_ids_", None)
    if result is None:
        return None
    named = result.overruled if ids is None else ids[result.overruled]
    return {
        "samples": len(result.samples),
        "kept": int(result.kept.sum()),
        "overruled": named.tolist(),
        "followed": result.followed,
        "classes": dict(zip(map(str, result.classes.tolist()), result.class_clusters.tolist(), strict=True)),
        "pairs": {"kept": result.pairs_kept, "all": result.n_pairs},
        "text": result.reason,
    }


def translated_hints(message: str) -> str:
    """A message about hints with options of the command line in place of parameters."""
    message = re.sub(r"^y (names|contains|has|and must_link)", r"--hints \1", message)
    return re.sub(r"\b(must|cannot)_link\b", r"--\1-link", message).replace("Raise n_clusters,", "Raise -k,")


def _tables_with(column: str, files: Sequence[Path], reading: TableOptions) -> dict[str, Table]:
    """The tables that have a column, read with this column as classes."""
    tables = tables_with(column, files, reading)
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
