"""`latefusion consensus`: one clustering from several, which are columns of labels in tables."""

from __future__ import annotations

import argparse
import shlex
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import latefusion
from latefusion.cli.answers import (
    add_answer_arguments,
    add_memberships_argument,
    check_outputs,
    membership_line,
    membership_of,
    put_answer,
    put_labels,
    written_line,
)
from latefusion.cli.arguments import add_clusters_argument, add_seed_argument, file_path
from latefusion.cli.inputs import (
    add_file_arguments,
    in_words_of_the_command_line,
    input_files,
    read_clusterings,
    translated,
)
from latefusion.cli.labels import describe_scores
from latefusion.cli.pages import named_classes, reading_code
from latefusion.cli.terminal import colored, progress
from latefusion.datasets.joining import other_spelling
from latefusion.estimators import ConsensusClustering
from latefusion.interpretation import explain_views
from latefusion.interpretation.gather import gather
from latefusion.interpretation.importance import verdict_columns
from latefusion.interpretation.warnings import data_warnings
from latefusion.metrics import clustering_scores
from latefusion.outputs import fitted_labels, save
from latefusion.report import write_report
from latefusion.report.html import require_jinja2
from latefusion.results import ResultTable
from latefusion.summaries import ClusteringSummary, summarize, two_digits
from latefusion.types import MultiViewDataset, Views

EXAMPLES = """\
A table that `latefusion cluster -o` wrote is one clustering. In other tables every column besides the ids is one.
Labels are numbers or words. Samples may be missing from files; an empty label, or a negative number, means no cluster.
Samples are matched by id, as `latefusion cluster` does.

with others: adjusted Rand index of the clustering and the consensus of the others, without those to remove. changed:
share of the labels that change without the clustering. advice: remove it if it has no more in common with the others
than chance; it is optional if few labels change without it.

examples:
  latefusion consensus kmeans.csv snf.csv leiden.csv -o labels.csv
  latefusion consensus a.csv b.csv -k 2-6                      the best of 2 to 6 clusters
  latefusion consensus runs.csv -k 5 --save groups.model       every column of runs.csv is a clustering
  latefusion consensus clinic.csv --column 'subtype_*'         only these columns
  latefusion consensus a.csv b.csv --unassigned 0 --unassigned noise
  latefusion consensus a.csv b.csv --labels truth.csv --report page.html
"""
FILES = "tables of labels: a column of ids, and one or more columns, each of which is a clustering; - is standard input"
# A clustering whose clusters have fewer samples than this on average may be a column of values.
FEW_PER_CLUSTER = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    add_file_arguments(parser, files=FILES)
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="COLUMN",
        help="a column that is a clustering, or a pattern such as 'k_*'; may be repeated (default: all but the ids)",
    )
    parser.add_argument(
        "--unassigned",
        action="append",
        default=[],
        metavar="LABEL",
        help="a label of samples without a cluster, such as 0 or noise; may be repeated (default: negative numbers). "
        "Empty cells always mean no cluster",
    )
    add_clusters_argument(parser, "auto", "auto")
    parser.add_argument(
        "--weights",
        choices=["auto", "equal"],
        default="auto",
        help="auto: clusterings count by their agreement with the others, and copies count as one (default); equal: "
        "all count alike",
    )
    add_seed_argument(parser)
    add_answer_arguments(parser)
    add_memberships_argument(parser)
    parser.add_argument(
        "--save", type=file_path, metavar="FILE", help="write the fitted model, for `latefusion predict` and `report`"
    )
    parser.add_argument("--report", type=file_path, metavar="FILE", help="write a report (.html)")


def run(options: argparse.Namespace) -> None:
    """Read the tables, find the consensus, write and print the results."""
    check_outputs(options, input_files(options))
    if options.report is not None:
        require_jinja2()
    unassigned = unassigned_labels(options.unassigned)
    with progress("reading", quiet=options.quiet):
        data, notes, _, known = read_clusterings(options, unassigned)
    notes = [*notes, *clustering_notes(data, options.files)]
    if data.views.n_views < 2:
        raise ValueError(
            f"The only clustering is {data.views.names[0]!r}. A consensus needs at least two. Add files, or columns."
        )
    model = ConsensusClustering(
        options.clusters, unassigned=unassigned, weights=options.weights, random_state=options.seed
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with progress("finding the consensus", quiet=options.quiet), in_words_of_the_command_line():
            model.fit(data.views)
        with progress("leaving out one clustering at a time", quiet=options.quiet):
            explanation = explain_views(model)
    noted = data_warnings(gather(model, data.views, single_views=False, as_given=False))
    notes += many_clusters(model)
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
                data.views,
                options.report,
                target=named_classes(data, known),
                annotation=known.annotation,
                files=input_files(options),
                explain=explanation,
                warnings=noted,
                command=shlex.join(["latefusion", *options.words]),
                loading=reading_code(
                    options, known, reader="load_clusterings", columns=options.column, unassigned=unassigned
                ),
                force=options.force,
            )
    summary = with_verdicts(summarize(model, found.novelty), explanation.verdicts)
    answer: dict[str, Any] = {
        "latefusion": latefusion.__version__,
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
        "membership": membership_of(found),
        "clusterings": clusterings_of(summary, explanation.verdicts),
        "scores": None if data.target is None else clustering_scores(data.target, model.labels_),
        "labels": known.scores(model.labels_),
        "warnings": list(
            dict.fromkeys([*noted, *notes, *explanation.notes, *(translated(str(one.message)) for one in caught)])
        ),
        "output": None if options.output is None else str(options.output),
        "model": None if options.save is None else str(options.save),
        "report": None if options.report is None else str(options.report),
    }
    put_answer(answer, found, options, partial(text_of, summary))


def unassigned_labels(given: Sequence[str]) -> list[Any] | None:
    """The labels of `--unassigned` as text and, where they are whole numbers, as numbers; None by default."""
    numbers = [int(one) for one in given if one.removeprefix("-").isdecimal()]
    return [*given, *numbers] or None


def clustering_notes(data: MultiViewDataset, files: Sequence[Path]) -> list[str]:
    """Notes on ids, and on tables that may be transposed."""
    views, notes = data.views, []
    if views.sample_ids is None and len(files) > 1:
        notes.append("The files have no sample ids. Rows are matched by their order.")
    if views.n_views > len(views):
        notes.append(
            f"There are {views.n_views} clusterings of only {len(views)} samples. If columns are samples, add "
            f"--transpose all."
        )
    return [*notes, *_spellings(views)]


def many_clusters(model: ConsensusClustering) -> list[str]:
    """Notes on columns that may not be clusterings."""
    counts = zip(model.view_names_, model.n_clusters_per_view_, model.observed_.sum(axis=0), strict=True)
    return [
        f"Clustering {name!r} has {n_clusters} clusters for {n_assigned} samples. If the column contains measurements, "
        f"leave it out, or cluster them with `latefusion cluster`."
        for name, n_clusters, n_assigned in counts
        if n_assigned < FEW_PER_CLUSTER * n_clusters
    ]


def _spellings(views: Views) -> list[str]:
    """A note if ids that are in different files may be the same samples."""
    if views.sample_ids is None or views.mask is None:
        return []
    for one, other in combinations(range(views.n_views), 2):
        only = [
            views.sample_ids[views.mask[:, a] & ~views.mask[:, b]].tolist() for a, b in ((one, other), (other, one))
        ]
        found = other_spelling(*only)
        if found is not None:
            how, count, mine, theirs = found
            return [
                f"{count} samples may be counted twice: ids of {views.names[one]!r} and {views.names[other]!r} differ "
                f"only in {how}, such as {mine!r} and {theirs!r}. Write them in the same way."
            ]
    return []


def clusterings_of(summary: ClusteringSummary, verdicts: Any) -> list[dict[str, Any]]:
    """What is known about every clustering, in types of JSON."""
    names = {"clusters": "clusters", "samples": "samples", "weight": "weight", "ARI": "ari", "NMI": "nmi"}
    found = [{"name": row["clustering"], **{new: row[old] for old, new in names.items()}} for row in summary.views]
    for one, verdict in zip(found, verdicts or (), strict=False):
        one |= {**verdict._asdict(), "advice": verdict.advice, "text": str(verdict)}
        one["with_others"] = one.pop("agreement")
        del one["view"]
    return found


def with_verdicts(summary: ClusteringSummary, verdicts: Any) -> ClusteringSummary:
    """The summary with a table of clusterings that has the verdicts."""
    columns = dict(summary.views.columns)
    columns = {"clustering": columns.pop("view"), **columns}
    del columns["agreement"]
    formats = {**dict.fromkeys(("weight", "ARI", "NMI", "with others"), two_digits), "changed": "{:.0%}".format}
    more = verdict_columns(verdicts) if verdicts else {}
    return replace(summary, views=ResultTable({**columns, **more}, formats=formats))


def text_of(summary: ClusteringSummary, answer: Mapping[str, Any]) -> str:
    """The summary as text."""
    n_views = len(summary.views)
    number = answer["n_clusters"]
    head = f"{answer['n_samples']} samples, {n_views} clusterings: {number} cluster{'s' * (number != 1)}"
    lines = [colored(head, "bold", sys.stdout), "", summary.body(), *membership_line(answer)]
    lines += [one["text"] for one in answer["clusterings"] if one.get("unrelated")]
    lines += describe_scores(answer)
    lines += [f"{colored('Note:', 'yellow', sys.stdout)} {one}" for one in answer["warnings"]]
    lines.append(written_line("Labels", answer, "labels.csv"))
    if answer["report"]:
        lines.append(f"Report: {answer['report']}")
    if answer["model"]:
        lines.append(
            f"Model:  {answer['model']} (for new samples: latefusion predict {shlex.quote(answer['model'])} FILE ...)"
        )
    return "\n".join(lines)
