"""`--labels`: what is known about the samples, for scores and the report only."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.cli.outcome import with_words
from latefusion.datasets.files import check_file
from latefusion.datasets.labels import encode_labels
from latefusion.datasets.options import TableOptions
from latefusion.datasets.tables import files_in, has_sheets, is_table, label_name, take_apart, view_name
from latefusion.interpretation.annotation import Annotation, annotation_columns, words_of
from latefusion.interpretation.class_table import class_table
from latefusion.types import MultiViewDataset, Views
from latefusion.validation.hints import is_unknown


class Known(NamedTuple):
    """What `--labels` says about the samples.

    Attributes
    ----------
    classes : ndarray of shape (n_samples,) or None
        Classes of all samples, if they are known: they become the target of the data set.
    annotation : data frame, dict of str to array, or None
        Everything else: classes of some samples, and further columns.
    columns : Annotation
        The columns of the annotation, in the order of the samples.
    name : str or None
        The column of the classes.
    """

    classes: NDArray[Any] | None = None
    annotation: Any = None
    columns: Annotation = Annotation()
    name: str | None = None

    @property
    def notes(self) -> list[str]:
        """What was left out, and which columns have no scores."""
        numbers = [repr(one.name) for one in self.columns.columns if one.kind != "category"]
        more = (
            f"--labels: no scores for {', '.join(numbers)} (numbers or dates). The report compares them with clusters."
        )
        return [*self.columns.notes, *[more] * bool(numbers)]

    def scores(self, labels: Any) -> list[dict[str, Any]]:
        """Agreement of clusters with every column of categories of the annotation, on samples that have a value."""
        found = []
        for one in self.columns.columns:
            if one.kind == "category":
                scores = class_table(labels, words_of(one)).scores
                found.append({"column": one.name, "samples": int(one.known.sum()), **scores})
        return found


def add_labels_argument(parser: argparse.ArgumentParser) -> None:
    """The option for known classes and other annotation."""
    parser.add_argument(
        "--labels",
        metavar="COLUMN|FILE",
        help="known classes, for scores and the report only: a column, or a table with ids, in which samples may be "
        "absent; further columns of the table are annotation in the report",
    )


def label_file(labels: str | None) -> Path | None:
    """The file that `--labels` names; None for a column."""
    return Path(labels) if labels is not None and (Path(labels).is_file() or is_table(Path(labels))) else None


def tables_with(column: str, files: Sequence[Path], reading: TableOptions) -> dict[str, Any]:
    """The tables among the files, with the given column as their labels; see `Table`."""
    options = reading._replace(label_column=column, left_out=())
    paths = [one for file in files for one in (files_in(file)[1].values() if file.is_dir() else [file])]
    return {str(one): take_apart(one, options) for one in paths if is_table(one) and not has_sheets(one)}


def read_labels(labels: str, files: Sequence[Path], reading: TableOptions, views: Views) -> Known:
    """The labels of the samples of views that have been read.

    Parameters
    ----------
    labels : str
        The value of `--labels`: a file, or a column of tables among the files.
    files : sequence of Path
    reading : TableOptions
    views : Views

    Returns
    -------
    Known
    """
    file = label_file(labels)
    frame, name = _column(labels, files, reading, views) if file is None else _table(file, reading, views)
    if name is not None:
        classes = _complete(frame[name], views)
        if classes is not None:
            frame = frame.drop(columns=name)
        elif not _has_fractions(frame[name]):
            frame[name] = frame[name].astype("category")
    else:
        classes = None
    if not len(frame.columns):
        return Known(classes, name=name)
    given = frame if views.sample_ids is not None else {str(one): frame[one].to_numpy() for one in frame.columns}
    found = with_words(lambda: annotation_columns(given, views.sample_ids, len(views)))
    return Known(classes, given, found, None if classes is None else name)


def with_target(data: MultiViewDataset, classes: NDArray[Any] | None, where: str) -> MultiViewDataset:
    """The data set with classes of all samples, or without."""
    samples = None if data.views.sample_ids is None else data.views.sample_ids.tolist()
    target, names = (None, ()) if classes is None else encode_labels(classes, where, samples)
    return MultiViewDataset(**{**vars(data), "target": target, "target_names": names})


def describe_scores(answer: Mapping[str, Any]) -> list[str]:
    """Lines with the agreement with classes."""
    lines = []
    if answer["scores"] is not None:
        lines.append(f"Agreement with the known classes: {_listed(answer['scores'])}")
    for one in answer["labels"]:
        scores = {name: value for name, value in one.items() if name not in ("column", "samples")}
        lines.append(
            f"Agreement with {one['column']!r} ({one['samples']} of {answer['n_samples']} samples): {_listed(scores)}"
        )
    return lines


def _listed(scores: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in scores.items())


def _column(column: str, files: Sequence[Path], reading: TableOptions, views: Views) -> tuple[Any, Any]:
    """A column of some tables as a data frame."""
    classes: dict[Any, tuple[Any, str]] = {}
    for file, table in tables_with(column, files, reading).items():
        if table.labels is None:
            continue
        samples = range(len(views)) if views.sample_ids is None else np.asarray(table.ids).tolist()
        for sample, value in zip(samples, table.labels.tolist(), strict=True):
            if is_missing(value):
                continue
            known, other = classes.setdefault(sample, (value, file))
            if known != value:
                raise ValueError(
                    f"--labels: {file!r} has the class {value!r} for sample {sample!r}, but {other!r} has {known!r}."
                )
    samples = list(range(len(views))) if views.sample_ids is None else views.sample_ids.tolist()
    values = [classes.get(one, (None, ""))[0] for one in samples]
    if not classes:
        raise ValueError(f"--labels {column!r}: the column is empty. Fill in the classes that are known.")
    pandas: Any = importlib.import_module("pandas")
    return pandas.DataFrame({column: values}, index=samples), column


def _table(file: Path, reading: TableOptions, views: Views) -> tuple[Any, Any]:
    """A table of labels as a data frame, and the name of the column with the classes, if one is known to be that."""
    check_file(file)
    if not is_table(file):
        raise ValueError(f"--labels {str(file)!r} is not a table. Give a file such as .csv, .tsv, .parquet or .xlsx.")
    options = reading._replace(label_column=None, left_out=(), transpose=False)
    frame, ids, *_ = take_apart(file, options, find_labels=False)
    pandas: Any = importlib.import_module("pandas")
    if not len(frame.columns) and ids is not None:  # words alone are the labels
        frame, ids = pandas.DataFrame({view_name(file): ids}), None
    if ids is None or views.sample_ids is None:
        if len(frame) != len(views):
            raise ValueError(
                f"{str(file)!r} has {len(frame)} labels, but there are {len(views)} samples in the views. Add a column "
                f"of ids to all files, or give one row per sample."
            )
        ids = views.sample_ids
    frame = frame.set_axis(range(len(frame)) if ids is None else ids, axis=0)
    return frame, frame.columns[0] if len(frame.columns) == 1 else label_name(frame, options)


def is_missing(value: Any) -> bool:
    """Whether a class is empty; -1 is a class here."""
    return is_unknown(value) and str(value).strip() not in ("-1", "-1.0")


def _complete(column: Any, views: Views) -> NDArray[Any] | None:
    """Classes of all samples in their order; None if some are missing, or if they are numbers with fractions."""
    samples = range(len(views)) if views.sample_ids is None else views.sample_ids.tolist()
    values = column.reindex(samples).tolist()
    if any(map(is_missing, values)) or _has_fractions(column):
        return None
    return np.array(values)


def _has_fractions(column: Any) -> bool:
    """Whether a column contains measurements, not classes."""
    known = [one for one in column.tolist() if not is_missing(one)]
    return any(isinstance(one, float) and not one.is_integer() for one in known) or column.dtype.kind in "mM"
