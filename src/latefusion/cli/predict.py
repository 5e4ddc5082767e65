"""`latefusion predict`: labels of new samples from a saved model."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

import latefusion
from latefusion.cli.answers import (
    add_answer_arguments,
    check_outputs,
    count_novel,
    novelty_line,
    put_answer,
    put_labels,
)
from latefusion.cli.arguments import file_path
from latefusion.cli.cluster import SHOWN_CLUSTERS
from latefusion.cli.inputs import add_file_arguments, input_files, read, with_columns
from latefusion.cli.terminal import colored, progress
from latefusion.experiments import format_table
from latefusion.outputs import load, predicted_labels
from latefusion.outputs.labels import check_can_predict
from latefusion.types import Views

EXAMPLES = """\
Files are matched to the views of the model by name, also where there is more in the name (new_genes.csv is genes); else
in the order in which they are given. Views may be absent, for all samples or for some.

examples:
  latefusion predict groups.model new/genes.csv new/proteins.csv -o labels.csv
  latefusion predict groups.model monday_genes.csv monday_proteins.csv --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("model", type=file_path, metavar="MODEL", help="what `latefusion cluster --save` wrote")
    add_file_arguments(parser, labels=False)
    add_answer_arguments(parser)


def run(options: argparse.Namespace) -> None:
    """Read, predict, write, and say what came of it."""
    check_outputs(options, input_files(options))
    with progress("reading", quiet=options.quiet):
        model = load(options.model)
        check_can_predict(model)
        data, notes = read(options)
        trained = tuple(map(str, model.view_names_))
        views, matched = match_views(with_columns(data), trained)
    if matched and not options.quiet:
        print(f"latefusion predict: {matched}", file=sys.stderr)
    with (
        warnings.catch_warnings(record=True) as warned,
        progress(f"labelling {len(views)} samples", quiet=options.quiet),
    ):
        warnings.simplefilter("always")
        found = predicted_labels(model, views).called(data.id_name)
    for message in () if options.quiet else dict.fromkeys(str(one.message) for one in warned):
        print(f"latefusion predict: {message}", file=sys.stderr)
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
        "views": present_in(views, trained),
        "warnings": [*notes, *absences(views, trained)],
        "output": None if options.output is None else str(options.output),
    }
    put_answer(answer, found, options, _text)


def present_in(views: Views, trained: tuple[str, ...]) -> list[dict[str, Any]]:
    """Every view of the model, and how many of the new samples have it."""
    counts = dict(zip(views.names, views.observed.sum(axis=0).tolist(), strict=True))
    return [{"name": name, "samples": int(counts.get(name, 0))} for name in trained]


def absences(views: Views, trained: tuple[str, ...]) -> list[str]:
    """A sentence for every view that is absent, for all of the new samples or for some."""
    n_samples = len(views)
    said = []
    for one in present_in(views, trained):
        missing = n_samples - one["samples"]
        if missing == n_samples:
            said.append(f"View {one['name']!r} is absent: the samples are labelled by the other views.")
        elif missing:
            said.append(
                f"View {one['name']!r} is missing for {missing} of {n_samples} samples, which are labelled by the "
                f"other views."
            )
    return said


def match_views(views: Views, names: tuple[str, ...]) -> tuple[Views, str]:
    """The views under the names of the model's, and what to tell when they had other names.

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
        Empty where the names were those of the model.
    """
    if not names or set(views.names) <= set(names):
        return views, ""
    meant = [[name for name in names if name in own] for own in views.names]  # new_genes means genes
    if all(len(one) == 1 for one in meant) and len({one[0] for one in meant}) == len(meant):
        found = tuple(one[0] for one in meant)
        return Views(views.arrays, found, views.mask, views.sample_ids), _told(views.names, found)
    if views.n_views != len(names):
        raise ValueError(
            f"the model has the views {', '.join(names)}, but the files hold {', '.join(views.names)}: name the files "
            f"like the views, or give one per view in that order."
        )
    if set(views.names) & set(names):
        strange = [name for name in views.names if name not in names]
        free = [name for name in names if name not in views.names]
        raise ValueError(
            f"the model has no view {', '.join(strange)}, and the files none for {', '.join(free)}: name the files "
            f"like the views."
        )
    return Views(views.arrays, names, views.mask, views.sample_ids), f"{_told(views.names, names)}, in this order"


def _told(given: tuple[str, ...], names: tuple[str, ...]) -> str:
    return "taking " + ", ".join(f"{own} for view {name}" for own, name in zip(given, names, strict=True))


def _text(answer: Mapping[str, Any]) -> str:
    shown = answer["clusters"][:SHOWN_CLUSTERS]
    rows = [[str(one["label"]), str(one["samples"])] for one in shown]
    rest = len(answer["clusters"]) - len(shown)
    confidence = "" if answer["confidence"] is None else f", median confidence {answer['confidence']:.2f}"
    lines = [f"{answer['n_samples']} new samples{confidence}", "", format_table(["cluster", "samples"], rows)]
    lines += [f"… and {rest} more"] * bool(rest)
    notes = [f"{colored('Note:', 'yellow', sys.stdout)} {one}" for one in answer["warnings"]]
    lines += ["", *novelty_line(answer["novel"], answer["n_samples"], "training samples"), *notes]
    lines += [f"Labels: {answer['output']}" if answer["output"] else "Labels were not written: add -o labels.csv."]
    return "\n".join(lines)
