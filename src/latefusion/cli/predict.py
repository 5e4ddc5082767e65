"""`latefusion predict`: labels of new samples from a saved model."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

import latefusion
from latefusion.cli.answers import (
    add_answer_arguments,
    add_memberships_argument,
    check_outputs,
    count_novel,
    membership_line,
    membership_of,
    put_answer,
    put_labels,
    written_line,
)
from latefusion.cli.arguments import file_path
from latefusion.cli.columns import add_missing_columns_argument, one_table
from latefusion.cli.inputs import (
    Input,
    add_file_arguments,
    empty_cells,
    in_words_of_the_command_line,
    input_files,
    read,
    read_clusterings,
    with_columns,
)
from latefusion.cli.labels import Known
from latefusion.cli.terminal import colored, progress
from latefusion.estimators import ConsensusClustering
from latefusion.outputs import load, predicted_labels
from latefusion.outputs.labels import check_can_predict
from latefusion.results import SHOWN_ROWS
from latefusion.summaries import novelty_line
from latefusion.tables import format_table
from latefusion.types import MultiViewDataset, Views

EXAMPLES = """\
Files are matched with the views of the model by name. The name of a view may be part of a longer file name
(new_genes.csv matches genes). Otherwise files are matched by their order. Views may be missing for some or all samples.

examples:
  latefusion predict groups.model new/genes.csv new/proteins.csv -o labels.csv
  latefusion predict groups.model monday_genes.csv monday_proteins.csv --json
  latefusion predict groups.model genes.csv proteins.csv --missing-columns allow   some columns are absent
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument(
        "model", type=file_path, metavar="MODEL", help="model file written by `latefusion cluster --save`"
    )
    add_file_arguments(parser, labels=False)
    add_missing_columns_argument(parser, "take columns of the training tables that are absent as missing values")
    add_answer_arguments(parser)
    add_memberships_argument(parser)


class Opened(NamedTuple):
    """A model and the samples that it is applied to.

    Attributes
    ----------
    model : fitted estimator
    data : MultiViewDataset
        With the names of the views of the model.
    views : Views or DataFrame
        What the model takes.
    notes : list of str
        How the files were read.
    hints : dict
        Arguments of `fit`.
    known : Known
        What `--labels` says.
    """

    model: Any
    data: MultiViewDataset
    views: Any
    notes: list[str]
    hints: dict[str, Any]
    known: Known

    @property
    def trained(self) -> tuple[str, ...]:
        """Names of the views of the model."""
        return tuple(map(str, self.model.view_names_))


def open_files(options: argparse.Namespace, check: Callable[[Any], None]) -> Opened:
    """The model, which is checked before the files are read, and the samples."""
    with progress("reading", quiet=options.quiet):
        model = load(options.model)
        check(model)
        if options.missing_columns is not None:
            model.set_params(missing_columns=options.missing_columns)
        data, notes, hints, known = read_for(model, options)
        views, matched = with_columns(data), ""
        if getattr(model.input_schema_, "table_width", None) is None:
            views, matched = match_views(views, tuple(map(str, model.view_names_)))
            data = _renamed(data, views)
        elif getattr(model, "views", None) is not None:
            views = one_table(views)
    notes += [f"{matched[0].upper()}{matched[1:]}."] if matched else []
    return Opened(model, data, views, notes, hints, known)


def read_for(model: Any, options: argparse.Namespace) -> Input:
    """The files as a data set: tables of labels for a consensus of clusterings, otherwise data files."""
    if not isinstance(model, ConsensusClustering):
        return read(options)
    names = list(map(str, model.view_names_))
    data, notes, hints, known = read_clusterings(options, model.unassigned, names)
    if set(names) < set(data.views.names):
        kept = {name: array for name, array in data.views.items() if name in names}
        mask = data.views.observed[:, [data.views.names.index(name) for name in kept]]
        data = MultiViewDataset(**{**vars(data), "views": Views(kept, mask=mask, sample_ids=data.views.sample_ids)})
    return Input(data, notes, hints, known)


@contextlib.contextmanager
def warnings_as_notes(notes: list[str]) -> Iterator[None]:
    """Append each warning of the library once to the notes that the command prints."""
    with warnings.catch_warnings(record=True) as warned, in_words_of_the_command_line():
        warnings.simplefilter("always")
        yield
    notes += dict.fromkeys(str(one.message) for one in warned)


def check_model(model: Any, options: argparse.Namespace) -> None:
    """Raise an error if the model cannot label new samples, or not with the memberships that were asked for."""
    check_can_predict(model)
    if options.memberships and "calibration_" not in vars(model):
        raise ValueError(
            f"The model {str(options.model)!r} was written without the calibration of memberships. Write it again with "
            f"`latefusion cluster ... --memberships --save {shlex.quote(str(options.model))}`."
        )


def run(options: argparse.Namespace) -> None:
    """Read the model and the files, label the samples, write and print the results."""
    check_outputs(options, input_files(options))
    model, data, views, notes, *_ = opened = open_files(options, lambda one: check_model(one, options))
    trained = opened.trained
    with warnings_as_notes(notes), progress(f"labeling {len(views)} samples", quiet=options.quiet):
        found = predicted_labels(model, views, memberships=options.memberships).called(data.id_name)
        present = views if isinstance(views, Views) else model.new_views(views)  # groups of columns of one table
    put_labels(found, options)
    names, sizes = np.unique(found.labels, return_counts=True)
    answer: dict[str, Any] = {
        "latefusion": latefusion.__version__,
        "model": str(options.model),
        "files": [str(file) for file in options.files],
        "n_samples": len(found.labels),
        "clusters": [{"label": int(k), "samples": int(n)} for k, n in zip(names, sizes, strict=True)],
        "confidence": None if found.confidence is None else float(np.median(found.confidence)),
        "novel": count_novel(found),
        "membership": membership_of(found),
        "views": present_in(present, trained),
        "warnings": [*notes, *empty_cells(data, model), *absences(present, trained)],
        "output": None if options.output is None else str(options.output),
    }
    put_answer(answer, found, options, _text)


def _renamed(data: MultiViewDataset, views: Views) -> MultiViewDataset:
    """The data set with the names of the views in the model, for notes."""
    names = dict(zip(data.views.names, views.names, strict=True))
    columns = {names[name]: own for name, own in data.feature_names.items()}
    return MultiViewDataset(**{**vars(data), "views": views, "feature_names": columns})


def present_in(views: Views, trained: tuple[str, ...]) -> list[dict[str, Any]]:
    """Every view of the model, and how many of the new samples have it."""
    counts = dict(zip(views.names, views.observed.sum(axis=0).tolist(), strict=True))
    return [{"name": name, "samples": int(counts.get(name, 0))} for name in trained]


def absences(views: Views, trained: tuple[str, ...]) -> list[str]:
    """A sentence for every view that is missing for some or all new samples."""
    n_samples = len(views)
    notes = []
    for one in present_in(views, trained):
        missing = n_samples - one["samples"]
        if missing == n_samples:
            notes.append(f"View {one['name']!r} is missing for all samples. They are labeled by the other views.")
        elif missing:
            notes.append(
                f"View {one['name']!r} is missing for {missing} of {n_samples} samples. They are labeled by the other "
                f"views."
            )
    return notes


def match_views(views: Views, names: tuple[str, ...]) -> tuple[Views, str]:
    """The views with the names of the model, and a message if their names were different.

    Parameters
    ----------
    views : Views
        Of new samples.
    names : tuple of str
        Of the views of the model.

    Returns
    -------
    views : Views
    matched : str
        Empty if the names are those of the model.
    """
    if not names or set(views.names) <= set(names):
        return views, ""
    meant = [[name for name in names if name in own] for own in views.names]  # new_genes means genes
    if all(len(one) == 1 for one in meant) and len({one[0] for one in meant}) == len(meant):
        found = tuple(one[0] for one in meant)
        return Views(views.arrays, found, views.mask, views.sample_ids), _matches(views.names, found)
    if views.n_views != len(names):
        raise ValueError(
            f"The model has the views {', '.join(names)}, but the files contain {', '.join(views.names)}. Give the "
            f"files the names of the views, or give one file per view in this order."
        )
    if set(views.names) & set(names):
        strange = [name for name in views.names if name not in names]
        free = [name for name in names if name not in views.names]
        raise ValueError(
            f"The model has no view {', '.join(strange)}, and no file matches its view {', '.join(free)}. Give the "
            f"files the names of the views."
        )
    return Views(views.arrays, names, views.mask, views.sample_ids), f"{_matches(views.names, names)}, in this order"


def _matches(given: tuple[str, ...], names: tuple[str, ...]) -> str:
    return "using " + ", ".join(f"{own} as view {name}" for own, name in zip(given, names, strict=True))


def _text(answer: Mapping[str, Any]) -> str:
    shown = answer["clusters"][:SHOWN_ROWS]
    rows = [[str(one["label"]), str(one["samples"])] for one in shown]
    rest = len(answer["clusters"]) - len(shown)
    confidence = "" if answer["confidence"] is None else f", median confidence {answer['confidence']:.2f}"
    lines = [f"{answer['n_samples']} new samples{confidence}", "", format_table(["cluster", "samples"], rows)]
    lines += [f"… and {rest} more"] * bool(rest)
    notes = [f"{colored('Note:', 'yellow', sys.stdout)} {one}" for one in answer["warnings"]]
    lines += ["", *novelty_line(answer["novel"], answer["n_samples"], "training samples"), *membership_line(answer)]
    return "\n".join([*lines, *notes, written_line("Labels", answer, "labels.csv")])
