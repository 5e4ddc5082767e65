"""What commands share about their inputs: files, methods and numbers, as they are named on the command line."""

from __future__ import annotations

import argparse
import difflib
import importlib
import inspect
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from latefusion.baselines import METHODS
from latefusion.datasets import load_files
from latefusion.datasets.tables import TABLE_SUFFIXES
from latefusion.estimators import GlobalAlignmentClustering, LateFusionClustering, LocalAlignmentClustering
from latefusion.report import Features
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


class Input(NamedTuple):
    """What was read.

    Attributes
    ----------
    data : MultiViewDataset
    notes : list of str
        What was done to it, where that is not what everybody expects.
    """

    data: MultiViewDataset
    notes: list[str]


def add_file_arguments(parser: argparse.ArgumentParser, *, labels: bool = True, least: str = "+") -> None:
    """Options that say what to read."""
    parser.add_argument(
        "files", type=Path, nargs=least, metavar="FILE", help="a data file per view, or one with several"
    )
    parser.add_argument("--id", metavar="COLUMN", help="column with the sample ids, in every table")
    if labels:
        parser.add_argument(
            "--labels", metavar="COLUMN|FILE", help="known classes, for scoring only: a column, or a table with ids"
        )


def add_clusters_argument(parser: argparse.ArgumentParser, default: str | None, shown: str) -> None:
    """The option for the number of clusters; `shown` describes the default."""
    parser.add_argument(
        "-k",
        "--clusters",
        type=number_of_clusters,
        default=default,
        metavar="K",
        help=f"number of clusters: a number (5), a list to choose from (2,4,6), a range to choose from (2-8), or auto; "
        f"default: {shown}",
    )


def number_of_clusters(text: str) -> Any:
    """What estimators take as ``n_clusters``: an int for 5, a list for 2,4,6, a range for 2-8, or "auto"."""
    if text == "auto":
        return text
    words = text.replace(" ", "")
    least, dash, most = words.partition("-")
    numbers = [least, most] if dash else words.split(",")
    if not all(one.isdecimal() for one in numbers):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number such as 5, a list such as 2,4,6, a range such as 2-8, or auto"
        )
    values = [int(one) for one in numbers]
    if len(values) == 1:
        if values[0] < 1:
            raise argparse.ArgumentTypeError(f"the number of clusters must be at least 1, got {text}")
        return values[0]
    if min(values) < 2:
        raise argparse.ArgumentTypeError(f"all numbers to choose from must be at least 2, got {text}")
    if not dash:
        return values
    if values[0] > values[1]:
        raise argparse.ArgumentTypeError(f"the range {text} is empty: write the smaller number first")
    return range(values[0], values[1] + 1)


def label_file(labels: str | None) -> Path | None:
    """The file that ``--labels`` names; None where it names a column."""
    if labels is None:
        return None
    place = Path(labels)
    return place if place.is_file() or place.suffix.lower() in TABLE_SUFFIXES else None


def input_files(options: argparse.Namespace) -> list[Path]:
    """All that a command reads."""
    others = [getattr(options, "model", None), label_file(getattr(options, "labels", None))]
    return [*options.files, *(one for one in others if one is not None)]


def read(files: list[Path], id_column: str | None, labels: str | None = None) -> Input:
    """All files as one data set."""
    file = label_file(labels)
    try:
        if file is not None:
            data = load_files(files, id_column=id_column, label_file=file)
        else:
            data = load_files(files, id_column=id_column, label_column=labels)
    except ValueError as error:  # in the words of the command line
        raise ValueError(str(error).replace("id_column", "--id").replace("label_column", "--labels")) from error
    _check_cells(data)
    notes = []
    if any(file.suffix.lower() == ".h5mu" for file in files):  # where names of modalities follow conventions
        views, read_as = normalize_modalities(data.views)
        notes = [f"View {name!r}: {told}." for name, told in read_as.items()]
        data = MultiViewDataset(**{**vars(data), "views": views})
    return Input(data, notes)


def _check_cells(data: MultiViewDataset) -> None:
    """Refuse rows with some cells empty, in the words of the table; rows without any value are missing samples."""
    ids, mask = data.views.sample_ids, data.views.mask
    for position, (name, array) in enumerate(data.views.items()):
        if name not in data.feature_names or issparse(array):
            continue
        empty = np.isnan(array) if mask is None else np.isnan(array) & mask[:, position, None]
        if empty.any():
            row, column = np.argwhere(empty)[0]
            sample = f"row {row + 1}" if ids is None else f"sample {str(ids[row])!r}"
            n_cells, n_rows = int(empty.sum()), int(empty.any(axis=1).sum())
            found = "an empty cell,"
            if n_cells > 1:
                found = f"{n_cells} empty cells, in {n_rows} row{'s' * (n_rows > 1)}, the first"
            raise ValueError(
                f"View {name!r} has {found} in column {data.feature_names[name][column]!r} of {sample}. Fill in what "
                f"is missing, or remove the row or the column."
            )


def with_columns(data: MultiViewDataset) -> Views:
    """The views, those with known columns as data frames: then new samples are checked to have the same columns."""
    if not data.feature_names:
        return data.views
    pandas: Any = importlib.import_module("pandas")  # column names come from tables, which pandas has read
    arrays = {
        name: pandas.DataFrame(array, columns=data.feature_names[name], copy=False)
        if name in data.feature_names and not issparse(array)
        else array
        for name, array in data.views.items()
    }
    return Views(arrays, mask=data.views.mask, sample_ids=data.views.sample_ids)


def described(data: MultiViewDataset) -> dict[str, Features]:
    """The columns of sparse views, whose names no array can carry, in the units in which people compare them."""
    return {
        name: Features(comparable(array, modality_kind(name)), list(data.feature_names[name]))
        for name, array in data.views.items()
        if name in data.feature_names and issparse(array)
    }


def find_method(name: str) -> Any:
    """The estimator of a name, in whatever case."""
    known = {one.lower(): found for one, found in {**OURS, **METHODS}.items()}
    wanted = ALIASES.get(name.lower(), name.lower())
    if wanted not in known:
        names = {one.lower(): one for one in [*OURS, *METHODS]}
        near = difflib.get_close_matches(wanted, names, 1)
        hint = f" Did you mean {names[near[0]]}?" if near else ""
        raise ValueError(f"There is no method {name!r}.{hint} Known are {', '.join(names.values())}.")
    return known[wanted]


def configured(estimator: Any, n_clusters: Any, kind: str, seed: int) -> Any:
    """The estimator with its options."""
    if not isinstance(n_clusters, int) and estimator is not LateFusionClustering:
        raise ValueError(f"{estimator.__name__} cannot choose the number of clusters: give it with -k, such as -k 5.")
    options: dict[str, Any] = {"n_clusters": n_clusters}
    if "random_state" in inspect.signature(estimator).parameters:
        options["random_state"] = seed
    if kind == "kernels":
        options["partition"] = "precomputed"
    return estimator(**options)
