"""What commands share about their inputs: files and methods, as they are named on the command line."""

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
from latefusion.cli.arguments import file_path
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
        "files", type=file_path, nargs=least, metavar="FILE", help="a data file per view, or one with several"
    )
    parser.add_argument("--id", metavar="COLUMN", help="column with the sample ids, in every table")
    if labels:
        parser.add_argument(
            "--labels", metavar="COLUMN|FILE", help="known classes, for scoring only: a column, or a table with ids"
        )


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
    """Refuse empty cells and infinite values by the names in the table; rows without any value are missing samples."""
    ids, mask = data.views.sample_ids, data.views.mask
    for position, (name, array) in enumerate(data.views.items()):
        if name not in data.feature_names or issparse(array):
            continue
        empty = np.isnan(array) if mask is None else np.isnan(array) & mask[:, position, None]
        infinite = np.isinf(array)
        if infinite.any():
            row, column = np.argwhere(infinite)[0]
            raise ValueError(
                f"View {name!r} has {int(infinite.sum())} infinite values, the first in column "
                f"{data.feature_names[name][column]!r} of {_sample(ids, row)}. Replace them, or remove the row or the "
                f"column."
            )
        if empty.any():
            row, column = np.argwhere(empty)[0]
            n_cells, n_rows = int(empty.sum()), int(empty.any(axis=1).sum())
            found = "an empty cell,"
            if n_cells > 1:
                found = f"{n_cells} empty cells, in {n_rows} row{'s' * (n_rows > 1)}, the first"
            raise ValueError(
                f"View {name!r} has {found} in column {data.feature_names[name][column]!r} of {_sample(ids, row)}. "
                f"Fill in what is missing, or remove the row or the column."
            )


def _sample(ids: Any, row: Any) -> str:
    return f"row {row + 1}" if ids is None else f"sample {str(ids[row])!r}"


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
