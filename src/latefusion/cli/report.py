"""`latefusion report`: the report of a saved model."""

from __future__ import annotations

import argparse
import shlex
import sys
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

import latefusion
from latefusion.arrays import to_numpy
from latefusion.cli.answers import add_color_argument, add_force_argument, check_outputs, print_answer
from latefusion.cli.arguments import file_path
from latefusion.cli.columns import add_missing_columns_argument
from latefusion.cli.inputs import (
    add_file_arguments,
    described,
    in_words_of_the_command_line,
    input_files,
    translated,
)
from latefusion.cli.labels import Known
from latefusion.cli.outcome import add_outcome_arguments, compare_outcome, read_outcome
from latefusion.cli.pages import check_colors, named_classes, reading_code
from latefusion.cli.predict import Opened, absences, open_files
from latefusion.cli.terminal import colored, progress
from latefusion.estimators import ConsensusClustering
from latefusion.interpretation import Explanation, explain_views
from latefusion.interpretation.gather import gather, gather_new
from latefusion.interpretation.warnings import data_warnings
from latefusion.outputs.labels import can_predict, recognized_labels
from latefusion.outputs.targets import REPORT
from latefusion.report import write_report
from latefusion.report.html import require_jinja2
from latefusion.types import MultiViewDataset, Views

EXAMPLES = """\
For the training files the page is that of `latefusion cluster --report`, except for the command line. Model files do
not contain the training data, which the importance of the views and other numbers of clusters need. The model is
therefore fitted again on the files, with the same settings; --quick leaves these parts and the baselines out.

For other samples, the model labels them first. The page then describes these samples, without the parts that need a
fit.

examples:
  latefusion report groups.model genes.csv proteins.csv -o page.html
  latefusion report groups.model new_genes.csv new_proteins.csv -o new.html --labels truth.csv
  latefusion report consensus.model kmeans.csv snf.csv -o page.html --quick
"""

# Consensus rows that differ by less are equal, relative to the largest one.
ROUNDING = 1e-6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument(
        "model",
        type=file_path,
        metavar="MODEL",
        help="model file written by `latefusion cluster` or `consensus --save`",
    )
    add_file_arguments(parser)
    add_missing_columns_argument(parser, "take columns of the training tables that are absent as missing values")
    parser.add_argument(
        "-o", "--output", type=file_path, metavar="FILE", required=True, help="the report to write (.html)"
    )
    add_outcome_arguments(parser)
    add_color_argument(parser)
    parser.add_argument("--title", metavar="TEXT", help="heading of the page")
    parser.add_argument(
        "--quick", action="store_true", help="leave out what needs more fits: importance of the views and baselines"
    )
    add_force_argument(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--quiet", action="store_true", help="print only errors, and JSON with --json")


def run(options: argparse.Namespace) -> None:
    """Read the model and the files, and write the report."""
    check_outputs(options, input_files(options), REPORT)
    require_jinja2()
    clinic = read_outcome(options)
    opened = in_order_of_fit(open_files(options, check_is_fitted))
    model, data, views, notes, _, known = opened
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with in_words_of_the_command_line():
            is_new = not are_training_views(model, views)
        if not is_new and not options.quick and hasattr(model, "leave_one_view_out"):
            with progress("fitting the model again", quiet=options.quiet):
                model, again = fitted_again(model, views)
            notes += again
        with progress("checking the data", quiet=options.quiet):
            if is_new:
                checked = gather_new(model, views)
                noted = absences(model.new_views(views), opened.trained)
            else:
                checked = gather(model, views, single_views=False)
                noted = data_warnings(checked)
        check_colors(options, checked, known, clinic)
        explanation: Explanation | bool = False
        if not is_new and not options.quick:
            with progress("leaving out one view at a time", quiet=options.quiet):
                explanation = explain_views(model)
        outcome = None
        if clinic is not None:
            seed = getattr(model, "random_state", 0)
            outcome = compare_outcome(model, views, clinic, options, seed=seed, new=is_new)
        with progress("writing the report", quiet=options.quiet):
            write_report(
                model,
                views,
                options.output,
                target=named_classes(data, known),
                annotation=known.annotation,
                color_by=options.color_by or None,
                outcome=outcome,
                files=[file for file in input_files(options) if file != options.model],
                title=options.title,
                features=described(data),
                explain=explanation,
                baselines=not options.quick,
                warnings=noted,
                command=shlex.join(["latefusion", *options.words]),
                loading=_loading(model, options, known),
                fitting=f"model = lf.load({str(options.model)!r})" if is_new else None,
                new=is_new,
                force=options.force,
            )
    answer = {
        "latefusion": latefusion.__version__,
        "model": str(options.model),
        "files": [str(file) for file in options.files],
        "n_samples": len(views),
        "n_clusters": len(checked.clusters),
        "new": is_new,
        "warnings": list(dict.fromkeys([*noted, *notes, *(translated(str(one.message)) for one in caught)])),
        "output": str(options.output),
    }
    print_answer(answer, options, _text)


def in_order_of_fit(opened: Opened) -> Opened:
    """The views and the samples in the order of the training data, if they are the same."""
    model, data, views, *_ = opened
    if not isinstance(views, Views):
        return opened
    names = [name for name in opened.trained if name in views.names]
    arrays = dict(views.items())
    mask = None if views.mask is None else views.mask[:, [views.names.index(name) for name in names]]
    views = Views({name: arrays[name] for name in names}, mask=mask, sample_ids=views.sample_ids)
    known = getattr(model, "sample_ids_", None)
    ids = views.sample_ids
    if known is None or ids is None or np.array_equal(known, ids) or set(known.tolist()) != set(ids.tolist()):
        return opened._replace(views=views)
    row_of = {one: row for row, one in enumerate(ids.tolist())}
    rows = np.array([row_of[one] for one in known.tolist()])
    target = None if data.target is None else data.target[rows]
    data = MultiViewDataset(**{**vars(data), "views": data.views[rows], "target": target})
    return opened._replace(views=views[rows], data=data)


def are_training_views(model: Any, views: Any) -> bool:
    """Whether the views are those of `fit`, perhaps with other rounding errors, as other programs write numbers."""
    checked = model.new_views(views)
    if recognized_labels(model, checked)[1]:
        return True
    known = getattr(model, "sample_ids_", None)
    if not can_predict(model) or known is None or not np.array_equal(known, checked.sample_ids):
        return False
    rows = to_numpy(model.transform(views))
    return bool(np.allclose(rows, model.consensus_, rtol=0.0, atol=ROUNDING * np.abs(model.consensus_).max()))


def fitted_again(model: Any, views: Any) -> tuple[Any, list[str]]:
    """The model with the data of `fit`, which its file does not contain, and a note if it finds other clusters."""
    hints = [model.hints_.hints] if getattr(model, "hints_", None) is not None else []
    again = clone(model).fit(views, *hints)
    if "calibration_" in vars(model):
        vars(again)["calibration_"] = model.calibration_
    if np.array_equal(again.labels_, model.labels_) and np.allclose(again.view_weights_, model.view_weights_):
        return again, []
    return model, [
        "A fit on these files gives other clusters than the model file, which was perhaps written with other versions. "
        "The report describes the clusters of the model file, without the importance of the views."
    ]


def _loading(model: Any, options: argparse.Namespace, known: Known) -> str:
    """Python code that reads the files as this command does."""
    if isinstance(model, ConsensusClustering):
        return reading_code(options, known, reader="load_clusterings", unassigned=model.unassigned)
    return reading_code(options, known)


def _text(answer: Any) -> str:
    n_samples, n_clusters = answer["n_samples"], answer["n_clusters"]
    new = "new " * answer["new"]
    lines = [f"{n_samples} {new}samples in {n_clusters} cluster{'s' * (n_clusters != 1)}"]
    lines += [f"{colored('Note:', 'yellow', sys.stdout)} {one}" for one in answer["warnings"]]
    return "\n".join([*lines, f"Report: {answer['output']}"])
