"""`latefusion update`: a new clustering of a new table of samples, with the ids of the clusters of a saved model."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import latefusion
from latefusion.cli.answers import add_answer_arguments, check_outputs, put_answer, put_labels, written_line
from latefusion.cli.arguments import file_path
from latefusion.cli.hints import add_hints_argument, check_hints, hint_record
from latefusion.cli.inputs import OURS, add_file_arguments, described, empty_cells, input_files
from latefusion.cli.pages import reading_code
from latefusion.cli.predict import Opened, open_files, warnings_as_notes
from latefusion.cli.terminal import colored, progress
from latefusion.estimators import Update
from latefusion.interpretation.gather import gather
from latefusion.interpretation.warnings import data_warnings
from latefusion.outputs import fitted_labels, save
from latefusion.outputs.labels import check_can_predict
from latefusion.report import write_report
from latefusion.report.html import require_jinja2

EXAMPLES = """\
The files contain all samples to cluster now: old ones, new ones, or both. Samples are recognized by their ids. Files
are matched with the views of the model as `latefusion predict` does. All views are needed. The parameters of the model
are kept, and choices such as -k auto are made again. So are hints, for samples that are still there, unless --hints,
--must-link or --cannot-link give new ones. A cluster keeps its id if it has more than half of the samples of
an old cluster, or if more than half of its samples come from it.

-o writes the columns of `latefusion cluster`, with the novelty by the old model, and two more: before (cluster by the
old model) and change (kept, moved or new). No input is overwritten: --save needs another name than the old model.

examples:
  latefusion update groups.model new/genes.csv new/proteins.csv -o labels.csv --save new.model
  latefusion update groups.model new/genes.csv new/proteins.csv --report page.html
  latefusion update groups.model new/genes.csv new/proteins.csv --hints known.csv
  latefusion update groups.model new/genes.csv new/proteins.csv --json > changes.json
"""


NEW_FIT = "fit a new model with `latefusion cluster`"
# Advice about parameters, and what to do instead.
ADVICE = {
    "Fit a new model on the other views, and compare with lf.match": "To cluster without them, " + NEW_FIT,
    "or take their values as missing with missing_columns='allow'": f"or {NEW_FIT}",
    "Raise n_clusters, or merge classes": f"Merge classes, or {NEW_FIT} and a larger -k",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument(
        "model", type=file_path, metavar="MODEL", help="model file written by `latefusion cluster --save`"
    )
    add_file_arguments(parser, labels=False)
    add_hints_argument(parser)
    add_answer_arguments(parser, "id, label, confidence, novelty, cluster before and change of every sample")
    parser.add_argument("--save", type=file_path, metavar="FILE", help="write the new model, with the ids that stay")
    parser.add_argument("--report", type=file_path, metavar="FILE", help="write a report of the new model (.html)")


def run(options: argparse.Namespace) -> None:
    """Read the model and the files, cluster the samples, write and print what changed."""
    check_outputs(options, input_files(options))
    if options.report is not None:
        require_jinja2()
    options.missing_columns = None  # all columns are needed

    def check(model: Any) -> None:
        check_can_predict(model)
        what = f"a model of {', '.join(OURS)}, but {str(options.model)!r} contains a {type(model).__name__}"
        check_hints(options, what, supported=isinstance(model, tuple(OURS.values())))

    opened = open_files(options, check)
    with warnings_as_notes(opened.notes), in_words_of_updates():
        with progress(f"clustering {len(opened.views)} samples", quiet=options.quiet):
            update = opened.model.update(opened.views, **opened.hints)
        with progress("checking the data", quiet=options.quiet):
            noted = data_warnings(gather(update.model, opened.views, single_views=False, as_given=False))
    found = fitted_labels(update.model).called(opened.data.id_name)
    found = found._replace(novelty=update.novelty, before=update.before, change=update.change)
    put_labels(found, options)
    if options.save is not None:
        with progress("writing the model", quiet=options.quiet):
            save(update.model, options.save, force=options.force)
    if options.report is not None:
        _write_report(update, opened, noted, options)
    answer = describe(update, options) | {
        "warnings": list(dict.fromkeys([*noted, *opened.notes, *empty_cells(opened.data, update.model)]))
    }
    put_answer(answer, found, options, lambda answer: _text(update, answer))


@contextlib.contextmanager
def in_words_of_updates() -> Iterator[None]:
    """Errors with advice that can be followed here: the parameters are those of the model."""
    try:
        yield
    except ValueError as error:
        message = str(error)
        for words, possible in ADVICE.items():
            message = message.replace(words, possible)
        raise ValueError(message) from error


def describe(update: Update, options: argparse.Namespace) -> dict[str, Any]:
    """What changed, in types of JSON."""
    match, drift = update.match, update.drift
    return {
        "latefusion": latefusion.__version__,
        "method": type(update.model).__name__,
        "model": str(options.model),
        "files": [str(file) for file in options.files],
        "n_samples": len(update.labels),
        "n_known": int(update.known.sum()),
        "n_new": drift.n_new,
        "n_gone": len(update.gone),
        "gone": update.gone.tolist(),
        "n_clusters": len(match.second),
        "clusters": update.clusters.records(),
        "agreement": match.agreement,
        "moved": update.moved.tolist(),
        "moves": update.moves.records(),
        "appeared": match.appeared,
        "vanished": match.vanished,
        "splits": [{"cluster": one, "into": parts} for one, parts in match.splits.items()],
        "merges": [{"cluster": one, "from": parts} for one, parts in match.merges.items()],
        "drift": {
            "novel": drift.n_novel,
            "share": drift.share,
            "expected": drift.expected,
            "p_novelty": drift.p_novelty,
            "p_sizes": drift.p_sizes,
        },
        "hints": hint_record(update.model),
        "notes": update.notes,
        "output": None if options.output is None else str(options.output),
        "saved": None if options.save is None else str(options.save),
        "report": None if options.report is None else str(options.report),
    }


def _write_report(update: Update, opened: Opened, noted: list[str], options: argparse.Namespace) -> None:
    """The report of the new model, with what changed."""
    with progress("writing the report", quiet=options.quiet):
        write_report(
            update.model,
            opened.views,
            options.report,
            files=[*options.files, options.model],
            features=described(opened.data),
            update=update,
            warnings=noted,
            command=shlex.join(["latefusion", *options.words]),
            loading=reading_code(options),
            force=options.force,
        )


def _text(update: Update, answer: Mapping[str, Any]) -> str:
    notes = [f"{colored('Note:', 'yellow', sys.stdout)} {one}" for one in answer["warnings"]]
    lines = [colored(update.head, "bold", sys.stdout), "", update.body(), *notes]
    lines += ["", written_line("Labels", answer, "labels.csv")]
    if answer["report"]:
        lines.append(f"Report: {answer['report']}")
    if answer["saved"]:
        lines.append(
            f"Model:  {answer['saved']} (for new samples: latefusion predict {shlex.quote(answer['saved'])} FILE)"
        )
    return "\n".join(lines)
