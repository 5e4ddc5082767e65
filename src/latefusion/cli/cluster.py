"""`latefusion cluster`: files in, one clustering out, with what a person wants to know about it."""

from __future__ import annotations

import argparse
import shlex
import sys
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

import latefusion
from latefusion.baselines import METHODS
from latefusion.cli.answers import (
    add_answer_arguments,
    check_outputs,
    count_novel,
    novelty_line,
    put_answer,
    put_labels,
)
from latefusion.cli.arguments import add_clusters_argument, add_seed_argument, file_path
from latefusion.cli.inputs import (
    OURS,
    add_file_arguments,
    configured,
    described,
    find_method,
    input_files,
    read,
    with_columns,
)
from latefusion.cli.terminal import colored, progress
from latefusion.experiments import format_table
from latefusion.metrics import clustering_scores
from latefusion.outputs import fitted_labels, save
from latefusion.outputs.labels import can_predict
from latefusion.report import REPORT_STEPS, write_report
from latefusion.report.judgement import UNSURE, empty_rows, loose_views
from latefusion.types import MultiViewDataset

EXAMPLES = """\
Every file is a view, called as the file; a folder, .npz, .mat or .h5mu file may hold several. Rows are matched by id:
the first column where it is called id, sample or the like, or holds words; --id names another one.

examples:
  latefusion cluster genes.csv proteins.csv                    how many clusters, and which
  latefusion cluster genes.csv proteins.csv -k 5 -o labels.csv --save groups.model
  latefusion cluster genes.csv proteins.csv --report page.html   everything about it, on one page
  latefusion cluster rna.parquet adt.csv --id barcode --labels cell_type --explain
  latefusion cluster cells.h5mu -k 2-12 --json > answer.json   the best of 2 to 12 clusters
  latefusion cluster cells.h5mu -k 5,10,20                     the best of these three numbers
  latefusion cluster kernels.mat -k 4 --method SimpleMKKM
"""

# The methods whose models label new samples.
NAMES = ", ".join(OURS)
# More clusters than this are summed up.
SHOWN_CLUSTERS = 20
# A cluster of less than this share of an even one is pointed out.
SMALL_CLUSTER = 0.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    add_file_arguments(parser)
    add_clusters_argument(parser, "auto", "auto")
    parser.add_argument(
        "--method",
        default="late-fusion",
        metavar="NAME",
        help=f"late-fusion (default: decides for itself), gam, lam, or one of {', '.join(METHODS)}",
    )
    add_seed_argument(parser)
    add_answer_arguments(parser)
    parser.add_argument(
        "--save",
        type=file_path,
        metavar="FILE",
        help=f"write the fitted model; `latefusion predict` uses those of {NAMES}, other methods cannot predict",
    )
    parser.add_argument("--report", type=file_path, metavar="FILE", help="write a report (.html) for a browser")
    parser.add_argument(
        "--explain", action="store_true", help="also say here what would be without each view (the report does)"
    )


def run(options: argparse.Namespace) -> None:
    """Read, cluster, write, and say what came of it."""
    estimator = find_method(options.method)
    check_outputs(options, input_files(options))
    with progress("reading", quiet=options.quiet):
        data, notes = read(options.files, options.id, options.labels)
    model = configured(estimator, options.clusters, data.kind, options.seed)
    verdicts: list[dict[str, Any]] = []
    doubts: list[str] = []
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with progress(f"clustering {len(data.views)} samples", quiet=options.quiet):
            views = with_columns(data)
            model.fit(views)
        if options.explain:
            with progress("leaving out one view at a time", quiet=options.quiet):
                verdicts, doubts = explain(model)
    found = fitted_labels(model).called(data.id_name)
    put_labels(found, options)
    if options.save is not None:
        with progress("writing the model", quiet=options.quiet):
            save(model, options.save, force=options.force)
    if options.report is not None:
        with progress("writing the report", n_steps=REPORT_STEPS, quiet=options.quiet) as work:
            write_report(
                model,
                views,
                options.report,
                target=data.target,
                features=described(data),
                command=shlex.join(["latefusion", *sys.argv[1:]]),
                progress=work.begin,
                force=options.force,
            )
    answer = describe(model, data, options)
    answer["novel"] = count_novel(found)
    answer["dropping"] = verdicts
    answer["warnings"] += [*notes, *doubts, *dict.fromkeys(str(one.message) for one in told)]
    put_answer(answer, found, options, text_of)


def explain(model: Any) -> tuple[list[dict[str, Any]], list[str]]:
    """What would be without each of the views, or why that cannot be said."""
    if not hasattr(model, "leave_one_view_out"):
        raise ValueError("--explain needs --method late-fusion")
    if model.n_views_ < 2:
        return [], []
    try:
        verdicts = model.leave_one_view_out()
    except ValueError as error:  # the clusters are there all the same
        return [], [f"What each view is good for cannot be said. {error}"]
    return [
        {**verdict._asdict(), "worse": bool(verdict.gain > 2 * verdict.doubt), "text": str(verdict)}
        for verdict in verdicts
    ], []


def describe(model: Any, data: MultiViewDataset, options: argparse.Namespace) -> dict[str, Any]:
    """Everything that is said about a clustering, as JSON takes it."""
    labels, confidence = np.asarray(model.labels_), getattr(model, "confidence_", None)
    names, sizes = np.unique(labels, return_counts=True)
    clusters = [
        {
            "label": int(name),
            "samples": int(size),
            "confidence": None if confidence is None else float(np.median(confidence[labels == name])),
        }
        for name, size in zip(names, sizes, strict=True)
    ]
    number = getattr(model, "number_selection_", None)
    reasons = [one.reason for one in (number, getattr(model, "selection_", None)) if one is not None]
    return {
        "latefusion": latefusion.__version__,
        "method": type(model).__name__,
        "seed": options.seed,
        "files": [str(file) for file in options.files],
        "n_samples": len(labels),
        "n_clusters": len(names),
        "clusters": clusters,
        "confidence": None if confidence is None else float(np.median(confidence)),
        "doubtful": None if confidence is None else int(np.sum(confidence < UNSURE)),
        "stability": None if number is None else number.chosen.stability,
        "views": _views(model, data),
        "reasons": reasons,
        "scores": None if data.target is None else clustering_scores(data.target, labels),
        "warnings": data_warnings(data, model.observed_, clusters, len(options.files)),
        "output": None if options.output is None else str(options.output),
        "model": None if options.save is None else str(options.save),
        "can_predict": can_predict(model),
        "report": None if options.report is None else str(options.report),
    }


def _views(model: Any, data: MultiViewDataset) -> list[dict[str, Any]]:
    mask, kinds = data.views.mask, getattr(model, "view_kinds_", {})
    weights: Any = getattr(model, "view_weights_", None)
    agreement: Any = getattr(model, "agreement_", None)
    rows = []
    for position, (name, array) in enumerate(data.views.items()):
        row: dict[str, Any] = {"name": name, "columns": int(array.shape[1])}
        row["samples"] = len(data.views) if mask is None else int(mask[:, position].sum())
        row["kind"] = kinds.get(name)
        # Some methods weigh samples or clusters, not views.
        row["weight"] = float(weights[position]) if np.shape(weights) == (data.views.n_views,) else None
        row["agreement"] = None if agreement is None else float(agreement[position])
        rows.append(row)
    return rows


def data_warnings(data: MultiViewDataset, used: Any, clusters: list[dict[str, Any]], n_files: int) -> list[str]:
    """What a careful person would have pointed out about the data, of which the model used some rows."""
    told, n_samples, mask = [], len(data.views), data.views.mask
    if data.views.n_views == 1:
        told.append("There is only one view, so there is nothing to fuse: give a file per view.")
    if n_files > 1 and data.views.sample_ids is None:
        told.append("The files have no ids: row 1 of each is taken for the same sample, and so on.")
    for name, columns in data.feature_names.items() if data.views.sample_ids is None else ():
        first = data.views.arrays[data.views.names.index(name)][:, 0]
        if len(np.unique(first)) == n_samples and np.all(first == np.round(first)):
            told.append(
                f"Column {columns[0]!r} of {name} has another whole number in every row. If that is the id of a "
                f"sample, add --id {columns[0]}."
            )
    if mask is not None:
        missing = {name: int(n) for name, n in zip(data.views.names, (~mask).sum(axis=0), strict=True) if n}
        told.append(
            f"{int((~mask.all(axis=1)).sum())} of {n_samples} samples are not in every view; missing are "
            f"{', '.join(f'{n} in {name}' for name, n in missing.items())}."
        )
        told += loose_views(data.views.names, mask, len(clusters))
    if data.kind != "kernels":
        for (name, array), observed, heard in zip(data.views.items(), data.views.observed.T, used.T, strict=True):
            told += empty_rows(name, array, observed, heard) if data.views.n_views > 1 else []
    small = [one for one in clusters if one["samples"] < SMALL_CLUSTER * n_samples / len(clusters)]
    for one in small:
        told.append(f"Cluster {one['label']} has only {one['samples']} samples: look whether they are outliers.")
    return told


def text_of(answer: Mapping[str, Any]) -> str:
    """The answer as a person reads it."""
    n_samples, views = answer["n_samples"], answer["views"]
    head = f"{n_samples} samples, {len(views)} view{'s' * (len(views) > 1)}: {answer['n_clusters']} clusters"
    lines = [colored(head, "bold", sys.stdout), "", _clusters_table(answer), "", _views_table(views), ""]
    lines += [*_certainty(answer), *novelty_line(answer["novel"], n_samples, "other samples")]
    lines += answer["reasons"]
    lines += [one["text"] for one in answer["dropping"]]
    if answer["dropping"]:
        worse = [one["view"] for one in answer["dropping"] if one["worse"]]
        lines.append(f"Try without {', '.join(worse)}." if worse else "No view does harm: keep them all.")
    if answer["scores"] is not None:
        lines.append("Against the known classes: " + ", ".join(f"{k} {v:.3f}" for k, v in answer["scores"].items()))
    lines += [f"{colored('Note:', 'yellow', sys.stdout)} {one}" for one in answer["warnings"]]
    lines.append(f"Labels: {answer['output']}" if answer["output"] else "Labels were not written: add -o labels.csv.")
    if answer["report"]:
        lines.append(f"Report: {answer['report']}")
    if answer["model"]:
        use = f"for new samples: latefusion predict {shlex.quote(answer['model'])} FILE ..."
        if not answer["can_predict"]:
            use = f"fitted results only: this method cannot label new samples; {NAMES} can"
        lines.append(f"Model:  {answer['model']} ({use})")
    return "\n".join(lines)


def _clusters_table(answer: Mapping[str, Any]) -> str:
    shown = answer["clusters"][:SHOWN_CLUSTERS]
    header = ["cluster", "samples", "share"] + ["confidence"] * (answer["confidence"] is not None)
    rows = []
    for one in shown:
        share = f"{one['samples'] / answer['n_samples']:.0%}"
        rows.append([str(one["label"]), str(one["samples"]), share, _shown(one["confidence"])][: len(header)])
    rest = len(answer["clusters"]) - len(shown)
    return format_table(header, rows) + (f"\n… and {rest} more" if rest else "")


def _views_table(views: list[dict[str, Any]]) -> str:
    header = ["view", *(key for key in views[0] if key != "name" and any(one[key] is not None for one in views))]
    return format_table(header, [[one["name"], *(_shown(one[key]) for key in header[1:])] for one in views])


def _certainty(answer: Mapping[str, Any]) -> list[str]:
    if answer["confidence"] is None:
        return []
    return [
        f"How sure: median confidence {answer['confidence']:.2f} (0 between two clusters, 1 at the centre of one); "
        f"{answer['doubtful']} of {answer['n_samples']} samples are between clusters (below {UNSURE})."
    ]


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return "–" if value is None else str(value)
