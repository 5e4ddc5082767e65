"""`latefusion cluster`: cluster the samples of data files and summarize the result."""

from __future__ import annotations

import argparse
import shlex
import sys
import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

import latefusion
from latefusion.baselines import METHODS
from latefusion.cli.answers import (
    add_answer_arguments,
    add_color_argument,
    add_memberships_argument,
    check_outputs,
    membership_line,
    membership_of,
    put_answer,
    put_labels,
    written_line,
)
from latefusion.cli.arguments import add_clusters_argument, add_seed_argument, file_path
from latefusion.cli.columns import add_column_arguments, column_kinds, one_table, view_columns, view_weights
from latefusion.cli.hints import add_hints_argument, check_hints, hint_record
from latefusion.cli.inputs import (
    OURS,
    add_file_arguments,
    configured,
    described,
    empty_cells,
    find_method,
    in_words_of_the_command_line,
    input_files,
    read,
    translated,
    with_columns,
)
from latefusion.cli.labels import describe_scores
from latefusion.cli.outcome import (
    add_outcome_arguments,
    check_outcome,
    compare_outcome,
    describe_outcome,
    read_outcome,
)
from latefusion.cli.pages import check_colors, named_classes, reading_code
from latefusion.cli.terminal import colored, progress
from latefusion.interpretation import Explanation, explain_views
from latefusion.interpretation.gather import gather
from latefusion.interpretation.warnings import data_warnings
from latefusion.metrics import clustering_scores
from latefusion.outputs import fitted_labels, save
from latefusion.outputs.labels import can_predict
from latefusion.report import write_report
from latefusion.report.html import require_jinja2
from latefusion.selection.alternatives import Alternative
from latefusion.summaries import ClusteringSummary, summarize
from latefusion.types import MultiViewDataset

EXAMPLES = """\
Each file is one view with the name of the file. A folder, .npz, .mat or .h5mu file may contain several views. Rows are
matched by sample id. The ids are the first column if its name is id, sample or similar, or if it contains text that
differs in every row; --id selects another column.

examples:
  latefusion cluster genes.csv proteins.csv                    choose the number of clusters
  latefusion cluster genes.csv proteins.csv -k 5 -o labels.csv --save groups.model
  latefusion cluster genes.csv proteins.csv --report page.html   write a report
  latefusion cluster rna.parquet adt.csv --id barcode --labels cell_type --explain
  latefusion cluster - proteins.csv -k 5                       one table from standard input
  latefusion cluster cells.h5mu -k 2-12 --json > answer.json   the best of 2 to 12 clusters
  latefusion cluster cells.h5mu -k 5,10,20                     the best of these three numbers
  latefusion cluster kernels.mat -k 4 --method SimpleMKKM
  latefusion cluster customers.csv reviews.csv --category zip --drop note   words, dates and gaps are fine
  latefusion cluster survey.csv --missing-values 99 --missing-columns allow --save survey.model
  latefusion cluster rna.csv adt.csv --hints known.csv         classes of some samples are known
  latefusion cluster rna.csv adt.csv --must-link pairs.csv     samples of a pair belong together
  latefusion cluster rna.csv clinic.csv --weight rna=2         rna counts twice as much
  latefusion cluster rna.csv adt.csv --outcome clinic.csv      do the clusters differ in survival, age, stage?
  latefusion cluster all.csv --views auto                      views of one table, by kind of column
  latefusion cluster all.csv --view people=age,region --view spending='spend_*'
"""

# What is known about views, where the method has it.
VIEW_FACTS = ("columns", "samples", "kind", "weight", "agreement")
# The methods whose models label new samples.
NAMES = ", ".join(OURS)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    add_file_arguments(parser)
    add_hints_argument(parser)
    add_column_arguments(parser)
    add_clusters_argument(parser, "auto", "auto")
    parser.add_argument(
        "--method",
        default="late-fusion",
        metavar="NAME",
        help=f"late-fusion (default: makes all choices without labels), gam, lam, or one of {', '.join(METHODS)}",
    )
    add_seed_argument(parser)
    add_outcome_arguments(parser)
    add_answer_arguments(parser)
    add_memberships_argument(parser)
    parser.add_argument(
        "--save",
        type=file_path,
        metavar="FILE",
        help=f"write the fitted model; `latefusion predict` needs a model of {NAMES}",
    )
    parser.add_argument("--report", type=file_path, metavar="FILE", help="write a report (.html)")
    add_color_argument(parser)
    parser.add_argument(
        "--explain", action="store_true", help="print the effect of leaving out each view (always in the report)"
    )


def run(options: argparse.Namespace) -> None:
    """Read the files, cluster the samples, write and print the results."""
    estimator = find_method(options.method)
    check_outputs(options, input_files(options))
    check_hints(options, f"--method {NAMES}, got {options.method!r}", supported=estimator in OURS.values())
    if options.explain and not hasattr(estimator, "leave_one_view_out"):
        raise ValueError(f"--explain requires --method late-fusion, got {options.method!r}.")
    if options.memberships and estimator not in OURS.values():
        raise ValueError(f"--memberships requires --method {NAMES}, got {options.method!r}.")
    if options.report is not None:
        require_jinja2()
    elif options.color_by:
        raise ValueError("--color-by needs --report FILE, whose maps it colours.")
    clinic = read_outcome(options)
    parameters = {
        "column_kinds": column_kinds(options),
        "views": view_columns(options),
        "view_weights": view_weights(options),
        "missing_values": options.missing_values,
        "missing_columns": options.missing_columns,
    }
    with progress("reading", quiet=options.quiet):
        data, notes, hints, known = read(options)
        views = with_columns(data)
        if parameters["views"] is not None:
            views = one_table(views)
    check_outcome(clinic, data, options)
    model = configured(estimator, options.clusters, data.kind, options.seed, **parameters)
    explanation = Explanation()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with progress(f"clustering {len(data.views)} samples", quiet=options.quiet), in_words_of_the_command_line():
            model.fit(views, **hints)
        if options.explain or options.report is not None:
            with progress("leaving out one view at a time", quiet=options.quiet):
                explanation = explain_views(model, intervals=options.report is not None)
        outcome = None if clinic is None else compare_outcome(model, views, clinic, options, seed=options.seed)
    with progress("checking the data", quiet=options.quiet):
        noted = data_warnings(gather(model, views, single_views=False, as_given=False))
    if options.color_by:
        check_colors(options, gather(model, views, single_views=False), known, clinic)
    with progress("calibrating memberships", quiet=options.quiet or not options.memberships):
        found = fitted_labels(model, memberships=options.memberships).called(data.id_name)
    put_labels(found, options)
    if options.save is not None:
        with progress("writing the model", quiet=options.quiet):
            save(model, options.save, force=options.force)
    if options.report is not None:
        with progress("writing the report", quiet=options.quiet):
            write_report(
                model,
                views,
                options.report,
                target=named_classes(data, known),
                annotation=known.annotation,
                color_by=options.color_by or None,
                outcome=outcome,
                files=input_files(options),
                features=described(data),
                explain=explanation,
                warnings=noted,
                command=shlex.join(["latefusion", *options.words]),
                loading=reading_code(options, known),
                force=options.force,
            )
    summary = summarize(model, found.novelty)
    answer = describe(model, summary, data, options)
    answer |= {"membership": membership_of(found), "labels": known.scores(model.labels_)}
    if options.explain:
        answer["dropping"] = [
            {**one._asdict(), "worse": one.advice == "remove", "text": str(one)} for one in explanation.verdicts or ()
        ]
        answer["warnings"] += [
            f"The importance of each view could not be estimated. {note}" for note in explanation.notes
        ]
    if outcome is not None:
        answer["outcome"] = describe_outcome(outcome)
    gaps = empty_cells(data, model)
    # The fit gives some of the same warnings.
    answer["warnings"] = list(
        dict.fromkeys([*answer["warnings"], *noted, *notes, *gaps, *(translated(str(one.message)) for one in caught)])
    )
    put_answer(answer, found, options, partial(text_of, summary))


def describe(
    model: Any, summary: ClusteringSummary, data: MultiViewDataset, options: argparse.Namespace
) -> dict[str, Any]:
    """The summary of a clustering, in types of JSON."""
    number = getattr(model, "number_selection_", None)
    notes = [f"{summary.alternatives} See the report (--report) or alternatives_."] if summary.alternatives else []
    return {
        "latefusion": latefusion.__version__,
        "method": type(model).__name__,
        "seed": options.seed,
        "files": [str(file) for file in options.files],
        "n_samples": summary.n_samples,
        "n_clusters": len(summary.clusters),
        "clusters": [
            {"label": one["cluster"], "samples": one["samples"], "confidence": one.get("confidence")}
            for one in summary.clusters
        ],
        "confidence": summary.confidence,
        "doubtful": summary.doubtful,
        "novel": summary.novel,
        "stability": None if number is None else number.chosen.stability,
        "views": [{"name": one["view"], **{key: one.get(key) for key in VIEW_FACTS}} for one in summary.views],
        "columns": model.column_kinds_,
        "column_summary": dict(summary.columns),
        "hints": hint_record(model),
        "reasons": list(summary.reasons),
        "alternatives": [_alternative(one) for one in getattr(model, "alternatives_", ())],
        "scores": None if data.target is None else clustering_scores(data.target, np.asarray(model.labels_)),
        "dropping": [],
        "outcome": None,
        "warnings": [*notes, *file_warnings(data, len(options.files))],
        "output": None if options.output is None else str(options.output),
        "model": None if options.save is None else str(options.save),
        "can_predict": can_predict(model),
        "report": None if options.report is None else str(options.report),
    }


def _alternative(one: Alternative) -> dict[str, Any]:
    """Settings, score and numbers of samples of another clustering."""
    counts = {"samples": len(one.samples), "moved": len(one.moved), "share": one.share, "text": str(one)}
    return {key: value for key, value in one._asdict().items() if key not in ("labels", "samples", "moved")} | counts


def file_warnings(data: MultiViewDataset, n_files: int) -> list[str]:
    """Warn about files without sample ids, and about columns that may be ids."""
    notes: list[str] = []
    if data.views.sample_ids is not None:
        return notes
    if n_files > 1:
        notes.append("The files have no sample ids. Rows are matched by their order.")
    for name, columns in data.feature_names.items():
        array = data.views.arrays[data.views.names.index(name)]
        if hasattr(array, "iloc"):  # ids in tables of several kinds are recognized
            continue
        first = array[:, 0]
        if len(np.unique(first)) == len(data.views) and np.all(first == np.round(first)):
            notes.append(
                f"Column {columns[0]!r} of {name} contains a different integer in every row. If these are sample ids, "
                f"add --id {columns[0]}."
            )
    return notes


def text_of(summary: ClusteringSummary, answer: Mapping[str, Any]) -> str:
    """The summary as text."""
    lines = [colored(summary.head, "bold", sys.stdout), "", summary.body(), *membership_line(answer)]
    lines += [one["text"] for one in answer["dropping"]]
    if answer["dropping"]:
        worse = [one["view"] for one in answer["dropping"] if one["worse"]]
        lines.append(f"Try without {', '.join(worse)}." if worse else "No view reduces the stability. Keep all views.")
    lines += describe_scores(answer)
    lines += [f"{colored('Note:', 'yellow', sys.stdout)} {one}" for one in answer["warnings"]]
    lines += ["", answer["outcome"]["text"], ""] if answer["outcome"] else []
    lines.append(written_line("Labels", answer, "labels.csv"))
    if answer["report"]:
        lines.append(f"Report: {answer['report']}")
    if answer["model"]:
        use = f"for new samples: latefusion predict {shlex.quote(answer['model'])} FILE ..."
        if not answer["can_predict"]:
            use = f"results only: this method cannot label new samples; {NAMES} can"
        lines.append(f"Model:  {answer['model']} ({use})")
    return "\n".join(lines)
