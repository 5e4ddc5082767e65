"""`--outcome`: a table that is compared with the clusters after the fit."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from latefusion.cli.arguments import file_path
from latefusion.cli.standard_input import SIGN
from latefusion.cli.terminal import progress
from latefusion.datasets.files import check_file
from latefusion.datasets.options import table_options
from latefusion.datasets.tables import is_table, read_frame
from latefusion.interpretation import Outcome, outcome
from latefusion.interpretation.outcome_table import read_outcomes
from latefusion.types import MultiViewDataset

# Parameters in messages, as the command line calls them.
WORDS = (
    (r"survival=\(time, event\)", "--survival TIME EVENT"),
    (r"survival contains", "--survival contains"),
    (r" in `(clusters|comparison)`\.", r": --json prints all, in outcome.\1."),
    (r"To test it, give columns=\{[^}]*\}\.", "To test it, use `latefusion.outcome` in Python with columns=."),
    (r", set them as its index, or give a dict of arrays in the order of the samples", ""),
    (r"Fit the model on data frames with ids as their index, or give", "Add a column of ids to all files, or give"),
)


def add_outcome_arguments(parser: argparse.ArgumentParser) -> None:
    """Options for the table of outcomes."""
    parser.add_argument(
        "--outcome",
        type=file_path,
        metavar="FILE",
        help="table with sample ids, survival and other columns: tests whether clusters differ in them, beside single "
        "views and baselines; never used in the fit",
    )
    parser.add_argument(
        "--survival",
        nargs=2,
        metavar=("TIME", "EVENT"),
        help="columns of --outcome with survival times and events (default: recognized by their names)",
    )


def read_outcome(options: argparse.Namespace) -> Any:
    """The table of `--outcome` as a data frame, None without it."""
    if options.outcome is None:
        if options.survival is not None:
            raise ValueError("--survival needs --outcome FILE, the table with these columns.")
        return None
    file = Path(options.outcome)
    if str(file) == SIGN:
        raise ValueError(
            "--outcome needs a file: standard input (-) can only be a data file. Save the table to a file."
        )
    check_file(file)
    if not is_table(file):
        raise ValueError(f"--outcome {str(file)!r} is not a table. Give a file such as .csv, .tsv, .parquet or .xlsx.")
    if any(Path(one).exists() and Path(one).samefile(file) for one in options.files):
        raise ValueError(
            f"{str(file)!r} is given as a view and as --outcome. Outcomes must not be used in the fit: remove it from "
            f"the files, or split the table."
        )
    frame, _ = read_frame(file, table_options(None, None, options.separator, options.decimal, False))
    return frame


def check_outcome(frame: Any, data: MultiViewDataset, options: argparse.Namespace) -> None:
    """Raise the errors of an outcome before the samples are clustered."""
    if frame is not None:
        if options.clusters == 1:
            raise ValueError("--outcome compares clusters, but -k 1 gives only one. Use -k 2 or more, or leave it out.")
        with_words(
            lambda: read_outcomes(
                frame, data.views.sample_ids, np.ones(len(data.views), dtype=bool), survival=_pair(options)
            )
        )


def compare_outcome(
    model: Any, views: Any, frame: Any, options: argparse.Namespace, *, seed: Any, new: bool = False
) -> Outcome:
    """The clusters compared in the table of `--outcome`, with notes in the words of the command line.

    Those of new samples are their labels alone: single views and baselines have none for them.
    """
    given: dict[str, Any] = {"survival": _pair(options), "random_state": seed}
    if new:
        checked = model.new_views(views)
        subject, given = model.predict(views), given | {"sample_ids": checked.sample_ids}
    else:
        subject, given = model, given | {"views": views, "baselines": True}
    with progress("testing the outcome", quiet=options.quiet):
        found = with_words(lambda: outcome(subject, frame, **given))
    return replace(found, notes=tuple(translated(note) for note in found.notes))


def describe_outcome(found: Outcome) -> dict[str, Any]:
    """The outcome in types of JSON, and as text."""
    return found.records() | {"text": translated(repr(found))}


def with_words(action: Any) -> Any:
    """The result of a function, with errors in the words of the command line."""
    try:
        return action()
    except ValueError as error:
        raise ValueError(translated(str(error))) from error


def translated(message: str) -> str:
    """A message with options of the command line in place of parameters."""
    for pattern, word in WORDS:
        message = re.sub(pattern, word, message)
    return message


def _pair(options: argparse.Namespace) -> tuple[str, str] | None:
    return None if options.survival is None else (options.survival[0], options.survival[1])
