"""Inputs that commands share: files and methods, as named on the command line."""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import importlib
import inspect
import re
import shlex
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from latefusion.baselines import METHODS
from latefusion.cli.arguments import file_path
from latefusion.cli.hints import hint_file, hint_files, read_hints, translated_hints
from latefusion.cli.labels import (
    Known,
    add_labels_argument,
    label_file,
    read_labels,
    tables_with,
    with_target,
)
from latefusion.cli.standard_input import standard_input
from latefusion.datasets.clusterings import load_clustering_paths
from latefusion.datasets.collection import load_paths
from latefusion.datasets.files import SINGLE_CELL_SUFFIXES, check_file
from latefusion.datasets.id_columns import row_position
from latefusion.datasets.options import SEPARATORS, TableOptions, table_options
from latefusion.datasets.tables import files_in, is_table
from latefusion.encoding.column_kinds import KINDS
from latefusion.estimators import GlobalAlignmentClustering, LateFusionClustering, LocalAlignmentClustering
from latefusion.experiments.outside_methods import OutsideMethod, outside_methods, refusal
from latefusion.interpretation import Features
from latefusion.scverse.counts import comparable, modality_kind
from latefusion.scverse.reading import normalize_modalities
from latefusion.types import MultiViewDataset, Views

OURS: dict[str, Any] = {
    "late-fusion": LateFusionClustering,
    "LF-MVC-GAM": GlobalAlignmentClustering,
    "LF-MVC-LAM": LocalAlignmentClustering,
}
# Shorter names of the latter two.
ALIASES = {"gam": "lf-mvc-gam", "lam": "lf-mvc-lam"}
# Parameters of estimators, as the command line calls them.
OPTIONS = {
    "column_kinds": "--category, --drop and other kinds of columns",
    "views": "--view and --views",
    "view_weights": "--weight",
    "missing_values": "--missing-values",
    "missing_columns": "--missing-columns",
}
# Word of the command line for every file.
ALL = "all"
# Views with fewer column names in common are not suspected to be transposed.
LEAST_SHARED_COLUMNS = 5


class Input(NamedTuple):
    """A data set read from files.

    Attributes
    ----------
    data : MultiViewDataset
    notes : list of str
        How views were normalized, and possible mistakes.
    hints : dict
        Hints as arguments of `fit`; empty without hints.
    known : Known
        What `--labels` says. Classes of all samples are the target of the data set, too.
    """

    data: MultiViewDataset
    notes: list[str]
    hints: dict[str, Any]
    known: Known = Known()


DATA_FILES = "data files, one per view or with several views each; - is a table from standard input"


def add_file_arguments(
    parser: argparse.ArgumentParser, *, labels: bool = True, least: str = "+", files: str = DATA_FILES
) -> None:
    """Options for the files to read; ``files`` describes them."""
    parser.add_argument("files", type=file_path, nargs=least, metavar="FILE", help=files)
    add_table_arguments(parser)
    if labels:
        add_labels_argument(parser)


def add_table_arguments(parser: argparse.ArgumentParser) -> None:
    """Options for reading tables."""
    parser.add_argument("--id", metavar="COLUMN", help="column of sample ids, the same in all tables")
    parser.add_argument(
        "--transpose",
        action="append",
        default=[],
        metavar="FILE",
        help="a table with samples in columns and features in rows, or 'all'; may be repeated",
    )
    parser.add_argument(
        "--separator",
        metavar="SIGN",
        help=f"separator of values in text tables: {', '.join(SEPARATORS)}, or a character (default: detected)",
    )
    parser.add_argument(
        "--decimal",
        choices=[".", ","],
        metavar="SIGN",
        help="decimal separator in text tables: . or , (default: detected)",
    )


def table_arguments(options: argparse.Namespace) -> dict[str, Any]:
    """These options as arguments of `latefusion.datasets.load_files`."""
    return {
        "id_column": options.id,
        "separator": options.separator,
        "decimal": options.decimal,
        "transpose": True if ALL in options.transpose else options.transpose,
    }


def input_files(options: argparse.Namespace) -> list[Path]:
    """All files that a command reads."""
    named = label_file(getattr(options, "labels", None))
    others = [getattr(options, name, None) for name in ("model", "outcome")]
    return [
        *options.files,
        *(one for one in others if one is not None),
        *([] if named is None else [named]),
        *hint_files(options).values(),
    ]


def read(options: argparse.Namespace) -> Input:
    """All files as one data set."""
    with standard_input(options) as available:
        return _read(available)


def _read(options: argparse.Namespace) -> Input:
    files, hints = options.files, getattr(options, "hints", None)
    with in_words_of_the_command_line():
        reading, labels = label_reading(options, files)
        if hints is not None and hint_file(hints) is None:
            reading = reading._replace(left_out=(*reading.left_out, hints))
        data = load_paths(files, reading)
        found = read_hints(options, files, reading, data.views)
        known = Known(name=getattr(options, "labels", None))
        if labels is not None:
            known = read_labels(labels, files, reading, data.views)
            data = with_target(data, known.classes, labels)
    check_cells(data, files, reading)
    notes = shared_columns(data)
    if any(file.suffix.lower() in SINGLE_CELL_SUFFIXES for file in files):
        views, read_as = normalize_modalities(data.views)
        notes += [f"View {name!r}: {steps}." for name, steps in read_as.items()]
        data = MultiViewDataset(**{**vars(data), "views": views})
    return Input(data, [*notes, *known.notes], found, known)


def label_reading(options: argparse.Namespace, files: Sequence[Path]) -> tuple[TableOptions, str | None]:
    """Options for reading tables, and `--labels` if it names a file or a column of tables, which is left out of views.

    Columns of other files are found by their readers.
    """
    labels, reading = getattr(options, "labels", None), table_options(label_column=None, **table_arguments(options))
    if labels is None or label_file(labels) is not None:
        return reading, labels
    for file in files:
        check_file(file)
    if any(table.labels is not None for table in tables_with(labels, files, reading).values()):
        return reading._replace(left_out=(labels,)), labels
    return reading._replace(label_column=labels), None


def read_clusterings(options: argparse.Namespace, unassigned: Any = None, names: Sequence[str] = ()) -> Input:
    """All tables of labels as one data set; ``names`` are those of the clusterings of a model."""
    with (
        standard_input(options) as available,
        in_words_of_the_command_line(),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        reading, labels = label_reading(options, available.files)
        columns = getattr(options, "column", None) or None
        data = load_clustering_paths(available.files, reading, columns, unassigned, known=names)
        known = Known(name=getattr(options, "labels", None))
        if labels is not None:
            known = read_labels(labels, available.files, reading, data.views)
            data = with_target(data, known.classes, labels)
    notes = [translated(str(one.message)) for one in caught if issubclass(one.category, UserWarning)]
    return Input(data, [*notes, *known.notes], {}, known)


@contextlib.contextmanager
def in_words_of_the_command_line() -> Iterator[None]:
    """Rename Python options in error messages to command line options."""
    try:
        yield
    except ValueError as error:
        raise ValueError(translated(str(error))) from error


def translated(message: str) -> str:
    """A message with command line options in place of Python options."""

    def named(match: re.Match[str]) -> str:
        files = ast.literal_eval(match[1])
        return " ".join(f"--transpose {shlex.quote(file)}" for file in files)

    def kinds(match: re.Match[str]) -> str:
        given = ast.literal_eval(match[1]).items()
        pairs = [
            (kind, column) if isinstance(kind, str) else ("ordered", _listing(column, kind)) for column, kind in given
        ]
        return " ".join(f"--{option} {shlex.quote(value)}" for option, value in pairs)

    message = translated_hints(message)
    message = re.sub(r"transpose=(\[[^\]]*\])", named, message).replace("transpose=True", "--transpose all")
    message = message.replace("transpose names", "--transpose names").replace("separator= ", "--separator ")
    message = re.sub(r"\bdecimal='(.)'", r"--decimal \1", message)
    message = re.sub(r"column_kinds=(\{[^}]*\})", kinds, message).replace(
        "column_kinds", "--category, --number or similar"
    )
    message = message.replace("missing_columns='allow'", "--missing-columns allow").replace("honest=True", "--honest")
    message = message.replace("color_by contains", "--color-by contains")
    message = message.replace("with columns=", "with --column NAME")
    message = message.replace("pass unassigned=[]", "name the label of samples without a cluster with --unassigned")
    message = message.replace("unassigned=", "--unassigned ")
    return message.replace("id_column", "--id").replace("label_column", "--labels")


def _listing(column: str, levels: Sequence[str]) -> str:
    """The value of ``--ordered``."""
    return f"{column}={','.join(levels)}"


def shared_columns(data: MultiViewDataset) -> list[str]:
    """A note if tables share most of their column names, which may mean that columns are samples."""
    columns = [set(names) for names in data.feature_names.values()]
    if len(columns) < 2 or data.views.sample_ids is None:
        return []
    common = set.intersection(*columns)
    if len(common) < LEAST_SHARED_COLUMNS or 2 * len(common) < max(map(len, columns)):
        return []
    return [
        f"The tables share {len(common)} column names, such as {min(common)!r}. If columns are samples, add "
        f"--transpose all."
    ]


def check_cells(data: MultiViewDataset, files: Sequence[Path], options: TableOptions) -> None:
    """Raise an error for infinite values, by row and column of the table."""
    folders = [files_in(path)[1] for path in files if path.is_dir() or is_table(path)]
    tables = {name: file for folder in folders for name, file in folder.items()}

    def sample(name: str, row: Any) -> str:
        if ids is not None:
            return f"sample {str(ids[row])!r}"
        return row_position(tables[name], int(row), options) if name in tables else f"row {row + 1}"

    ids = data.views.sample_ids
    for name, array in data.views.items():
        if name not in data.feature_names or issparse(array):
            continue
        infinite = _infinite(array)
        if infinite.any():
            row, column = np.argwhere(infinite)[0]
            raise ValueError(
                f"View {name!r} has {int(infinite.sum())} infinite values, the first in column "
                f"{data.feature_names[name][column]!r} of {sample(name, row)}. Replace them, or remove the row or the "
                f"column."
            )


def empty_cells(data: MultiViewDataset, model: Any = None) -> list[str]:
    """A note for every view with missing values in rows that have others, without columns that a model leaves out."""
    marker = getattr(model, "missing_values", None)
    unused = {
        column
        for kinds in getattr(model, "column_kinds_", {}).values()
        for column, kind in kinds.items()
        if kind not in KINDS or kind == "drop"
    }
    notes = []
    for position, (name, array) in enumerate(data.views.items()):
        if issparse(array):
            continue
        empty = _empty(array, marker)
        used = [column not in unused for column in data.feature_names.get(name, range(empty.shape[1]))]
        empty = empty if all(used) else empty[:, used]
        observed = ~empty.all(axis=1) & (data.views.mask is None or data.views.mask[:, position])
        cells = empty[observed]
        cells = cells[:, ~cells.all(axis=0)]  # there is nothing to impute in a column without values
        n_cells, share = int(cells.sum()), cells.mean() if cells.size else 0.0
        if n_cells:
            shown = f"{share:.1%}" if share >= 0.001 else "less than 0.1%"
            notes.append(
                f"View {name!r} has {n_cells} missing value{'s' * (n_cells > 1)} ({shown}), imputed from the other "
                f"columns."
            )
    return notes


def _empty(array: Any, marker: Any) -> Any:
    """Where an array or data frame has no value, or the one that stands for a missing value."""
    if not hasattr(array, "iloc"):
        return np.isnan(array) | (array == marker)
    empty = array.isna()
    return (empty if marker is None else empty | array.isin([marker, str(marker)])).to_numpy()


def _infinite(array: Any) -> Any:
    """Where an array, or a column of numbers in a data frame, is infinite."""
    if not hasattr(array, "iloc"):
        return np.isinf(array)
    found = np.zeros(array.shape, dtype=bool)
    for at, dtype in enumerate(array.dtypes):
        if dtype.kind == "f":
            found[:, at] = np.isinf(array.iloc[:, at].to_numpy(dtype=np.float64, na_value=np.nan))
    return found


def with_columns(data: MultiViewDataset) -> Views:
    """The views, as data frames where column names are known, so that `predict` checks the columns of new samples."""
    if not data.feature_names:
        return data.views
    pandas: Any = importlib.import_module("pandas")  # column names come from tables, which pandas has read
    arrays = {
        name: pandas.DataFrame(array, columns=data.feature_names[name], copy=False)
        if name in data.feature_names and not issparse(array) and not hasattr(array, "iloc")
        else array
        for name, array in data.views.items()
    }
    return Views(arrays, mask=data.views.mask, sample_ids=data.views.sample_ids)


def described(data: MultiViewDataset) -> dict[str, Features]:
    """Names and normalized values of the columns of sparse views, for the report."""
    return {
        name: Features(comparable(array, modality_kind(name)), list(data.feature_names[name]))
        for name, array in data.views.items()
        if name in data.feature_names and issparse(array)
    }


def known_classes(data: MultiViewDataset) -> Any:
    """The classes in the words of the file, or as numbers; None if they are not known."""
    if data.target is None or not data.target_names:
        return data.target
    return np.array(data.target_names, dtype=object)[data.target]


def find_method(name: str, *, outside: bool = False) -> Any:
    """The estimator with a name, ignoring case; with ``outside`` also one of another package."""
    others = outside_methods() if outside else {}
    known = {one.lower(): found for one, found in {**OURS, **METHODS, **others}.items()}
    wanted = ALIASES.get(name.lower(), name.lower())
    if wanted not in known:
        names = {one.lower(): one for one in [*OURS, *METHODS, *others]}
        near = difflib.get_close_matches(wanted, names, 1)
        hint = f" Did you mean {names[near[0]]}?" if near else ""
        reason = refusal(name) if outside else ""
        raise ValueError(reason or f"Unknown method {name!r}.{hint} Choose one of {', '.join(names.values())}.")
    found = known[wanted]
    return found.load() if isinstance(found, OutsideMethod) else found


def takes_kernels(estimator: Any) -> bool:
    """Whether precomputed kernels can be given; all methods of this package can."""
    return "similarity" in inspect.signature(estimator).parameters


def configured(estimator: Any, n_clusters: Any, kind: str, seed: int, **parameters: Any) -> Any:
    """The estimator with its options; further parameters that are None are left at their defaults."""
    if not isinstance(n_clusters, int) and estimator is not LateFusionClustering:
        raise ValueError(f"{estimator.__name__} needs a fixed number of clusters, such as -k 5.")
    options: dict[str, Any] = {"n_clusters": n_clusters}
    if "random_state" in inspect.signature(estimator).parameters:
        options["random_state"] = seed
    if kind == "kernels":
        if not takes_kernels(estimator):
            raise ValueError(f"{estimator.__name__} needs features, but the files contain precomputed kernels.")
        options["similarity"] = "precomputed"
    given = {name: value for name, value in parameters.items() if value is not None}
    unsupported = [name for name in given if name not in inspect.signature(estimator).parameters]
    if unsupported:
        option = OPTIONS.get(unsupported[0], unsupported[0])
        raise ValueError(f"{estimator.__name__} does not support {option}. Use one of {', '.join(OURS)}.")
    return estimator(**options, **given)
