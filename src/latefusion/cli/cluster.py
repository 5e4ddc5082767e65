"""`latefusion cluster`: files in, one clustering out, with what a person wants to know about it."""

from __future__ import annotations

import argparse
import difflib
import importlib
import inspect
import json
import shlex
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import latefusion
from latefusion.baselines import METHODS
from latefusion.cli.terminal import colored, progress
from latefusion.datasets import load_files
from latefusion.datasets.tables import TABLE_SUFFIXES
from latefusion.estimators import GlobalAlignmentClustering, LateFusionClustering, LocalAlignmentClustering
from latefusion.experiments import format_table
from latefusion.metrics import clustering_scores
from latefusion.outputs import Labels, check_target, fitted_labels, save, write_labels
from latefusion.outputs.labels import check_labels_target, write_text
from latefusion.report import write_report
from latefusion.types import MultiViewDataset, Views

SUMMARY = "cluster samples that are described in several files"

EXAMPLES = """\
Every file is a view, called as the file; a folder, .npz, .mat or .h5mu file may hold several. Rows are matched by id:
the first column where it is called id, sample or the like, or holds words; --id names another one.

examples:
  latefusion cluster genes.csv proteins.csv                    how many clusters, and which
  latefusion cluster genes.csv proteins.csv -k 5 -o labels.csv --save groups.model
  latefusion cluster genes.csv proteins.csv --report page.html   everything about it, on one page
  latefusion cluster rna.parquet adt.csv --id barcode --labels cell_type --explain
  latefusion cluster cells.h5mu -k 2-12 --json > answer.json
  latefusion cluster kernels.mat -k 4 --method SimpleMKKM
"""

OURS: dict[str, Any] = {
    "late-fusion": LateFusionClustering,
    "gam": GlobalAlignmentClustering,
    "lam": LocalAlignmentClustering,
}
# The paper's names of the latter two.
ALIASES = {"lf-mvc-gam": "gam", "lf-mvc-lam": "lam"}
STDOUT = Path("-")
# More clusters than this are summed up.
SHOWN_CLUSTERS = 20
# A sample of less confidence lies about as near to a second cluster.
DOUBTFUL = 0.1
# A cluster of less than this share of an even one is pointed out.
SMALL_CLUSTER = 0.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="a data file per view, or one with several")
    parser.add_argument(
        "-k",
        "--clusters",
        type=number_of_clusters,
        default="auto",
        metavar="K",
        help="number of clusters, a range such as 2-8, or auto (default)",
    )
    parser.add_argument("--id", metavar="COLUMN", help="column with the sample ids, in every table")
    parser.add_argument(
        "--labels", metavar="COLUMN|FILE", help="known classes, for scoring only: a column, or a table with ids"
    )
    parser.add_argument(
        "--method",
        default="late-fusion",
        metavar="NAME",
        help=f"late-fusion (default: decides for itself), gam, lam, or one of {', '.join(METHODS)}",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of everything random (default: %(default)s)")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="write id, label and confidence (.csv, .tsv, .parquet; - prints)",
    )
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the model, for `latefusion predict`")
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="write a page to look at (.html), open in a browser"
    )
    parser.add_argument("--explain", action="store_true", help="also try without each view, to see what it is good for")
    parser.add_argument("--json", action="store_true", help="print JSON; it holds the labels unless -o takes them")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors, and JSON where asked for")


def number_of_clusters(text: str) -> Any:
    """A number, a range such as 2-8, or "auto"."""
    if text == "auto":
        return text
    least, dash, most = text.partition("-")
    if not least.isdecimal() or (dash and not most.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number, nor a range such as 2-8, nor auto")
    if not dash:
        if int(least) < 1:
            raise argparse.ArgumentTypeError("there must be at least 1 cluster")
        return int(least)
    if not 2 <= int(least) <= int(most):
        raise argparse.ArgumentTypeError(f"the range {text} must run from at least 2 upwards")
    return range(int(least), int(most) + 1)


def run(options: argparse.Namespace) -> None:
    """Read, cluster, write, and say what came of it."""
    estimator = find_method(options.method)
    check_outputs(options.output, options.save, options.report, json=options.json)
    with progress("reading", quiet=options.quiet):
        data = read(options.files, options.id, options.labels)
    check_cells(data)
    model = configured(estimator, options.clusters, data.kind, options.seed)
    with (
        progress(f"clustering {len(data.views)} samples", quiet=options.quiet),
        warnings.catch_warnings(record=True) as told,
    ):
        warnings.simplefilter("always")
        views = with_columns(data)
        model.fit(views)
        verdicts = explain(model) if options.explain else []
    found = fitted_labels(model)
    if options.output is not None:
        put_labels(found, options.output)
    if options.save is not None:
        save(model, options.save)
    if options.report is not None:
        with progress("writing the report", quiet=options.quiet):
            command = shlex.join(["latefusion", *sys.argv[1:]])
            write_report(model, views, options.report, target=data.target, explain=options.explain, command=command)
    answer = describe(model, data, options)
    answer["dropping"] = verdicts
    answer["warnings"] += list(dict.fromkeys(str(one.message) for one in told))
    if options.json:
        if options.output is None:
            answer["samples"] = {"id": _listed(found.ids), **{k: _listed(v) for k, v in found.columns().items()}}
        print(json.dumps(without_nan(answer), ensure_ascii=False))
    elif not options.quiet:
        print(text_of(answer), file=sys.stderr if options.output == STDOUT else sys.stdout)


def check_outputs(labels: Path | None, *others: Path | None, json: bool = False) -> None:
    """Refuse places that cannot be written to, before any work is done."""
    if labels == STDOUT:
        if json:
            raise ValueError("-o - and --json would both go to the standard output: leave one out.")
    elif labels is not None:
        check_labels_target(labels)
    for other in others:
        if other is not None:
            check_target(other)


def put_labels(found: Labels, target: Path) -> None:
    """Write labels to a file, or to the standard output."""
    if target == STDOUT:
        sys.stdout.flush()
        write_text(found.table(), sys.stdout.buffer)
    else:
        write_labels(found, target)


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


def read(files: list[Path], id_column: str | None, labels: str | None) -> MultiViewDataset:
    """All files as one data set; `labels` is a file if there is one of that name, else a column."""
    try:
        if labels is not None and (Path(labels).is_file() or Path(labels).suffix.lower() in TABLE_SUFFIXES):
            return load_files(files, id_column=id_column, label_file=labels)
        return load_files(files, id_column=id_column, label_column=labels)
    except ValueError as error:  # in the words of the command line
        raise ValueError(str(error).replace("id_column", "--id").replace("label_column", "--labels")) from error


def check_cells(data: MultiViewDataset) -> None:
    """Refuse rows with some cells empty, in the words of the table; rows without any value are missing samples."""
    ids, mask = data.views.sample_ids, data.views.mask
    for position, (name, array) in enumerate(data.views.items()):
        if name not in data.feature_names:
            continue
        empty = np.isnan(array) if mask is None else np.isnan(array) & mask[:, position, None]
        if empty.any():
            row, column = np.argwhere(empty)[0]
            sample = f"row {row + 1}" if ids is None else f"sample {str(ids[row])!r}"
            raise ValueError(
                f"View {name!r} has {empty.sum()} empty cells, in {empty.any(axis=1).sum()} rows, the first in column "
                f"{data.feature_names[name][column]!r} of {sample}. Fill them in, or remove these rows or columns."
            )


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


def with_columns(data: MultiViewDataset) -> Views:
    """The views, those with known columns as data frames: then new samples are checked to have the same columns."""
    if not data.feature_names:
        return data.views
    pandas: Any = importlib.import_module("pandas")  # column names come from tables, which pandas has read
    arrays = {
        name: pandas.DataFrame(array, columns=data.feature_names[name], copy=False)
        if name in data.feature_names
        else array
        for name, array in data.views.items()
    }
    return Views(arrays, mask=data.views.mask, sample_ids=data.views.sample_ids)


def explain(model: Any) -> list[dict[str, Any]]:
    """What would be without each of the views."""
    if not hasattr(model, "leave_one_view_out"):
        raise ValueError("--explain needs --method late-fusion")
    if model.n_views_ < 2:
        return []
    return [
        {**verdict._asdict(), "worse": bool(verdict.gain > 2 * verdict.doubt), "text": str(verdict)}
        for verdict in model.leave_one_view_out()
    ]


def describe(model: Any, data: MultiViewDataset, options: argparse.Namespace) -> dict[str, Any]:
    """Everything that is said about a clustering, as JSON takes it."""
    labels, confidence = np.asarray(model.labels_), getattr(model, "confidence_", None)
    names, sizes = np.unique(labels, return_counts=True)
    clusters = [
        {
            "label": int(name),
            "samples": int(size),
            "confidence": None if confidence is None else float(np.mean(confidence[labels == name])),
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
        "confidence": None if confidence is None else float(np.mean(confidence)),
        "doubtful": None if confidence is None else int(np.sum(confidence < DOUBTFUL)),
        "stability": None if number is None else number.chosen.stability,
        "views": _views(model, data),
        "reasons": reasons,
        "scores": None if data.target is None else clustering_scores(data.target, labels),
        "warnings": data_warnings(data, clusters, len(options.files)),
        "output": None if options.output is None else str(options.output),
        "model": None if options.save is None else str(options.save),
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


def data_warnings(data: MultiViewDataset, clusters: list[dict[str, Any]], n_files: int) -> list[str]:
    """What a careful person would have pointed out about the data."""
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
    small = [one for one in clusters if one["samples"] < SMALL_CLUSTER * n_samples / len(clusters)]
    for one in small:
        told.append(f"Cluster {one['label']} has only {one['samples']} samples: look whether they are outliers.")
    return told


def text_of(answer: Mapping[str, Any]) -> str:
    """The answer as a person reads it."""
    n_samples, views = answer["n_samples"], answer["views"]
    head = f"{n_samples} samples, {len(views)} view{'s' * (len(views) > 1)}: {answer['n_clusters']} clusters"
    lines = [colored(head, "bold", sys.stdout), "", _clusters_table(answer), "", _views_table(views), ""]
    lines += _certainty(answer)
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
        lines.append(f"Model:  {answer['model']} (for new samples: latefusion predict {answer['model']} FILE ...)")
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
        f"How sure: mean confidence {answer['confidence']:.2f} (0 between two clusters, 1 at the centre of one); "
        f"{answer['doubtful']} of {answer['n_samples']} samples lie between clusters (below {DOUBTFUL})."
    ]


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return "–" if value is None else str(value)


def _listed(values: Any) -> list[Any] | None:
    return None if values is None else np.asarray(values).tolist()


def without_nan(value: Any) -> Any:
    """JSON has no NaN: it becomes null."""
    if isinstance(value, dict):
        return {str(key): without_nan(one) for key, one in value.items()}
    if isinstance(value, list):
        return [without_nan(one) for one in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
