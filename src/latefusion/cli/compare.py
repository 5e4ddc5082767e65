"""`latefusion compare`: baselines, the methods of the paper, and ours, on one data set."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.baselines import METHODS
from latefusion.cli.answers import add_json_argument, print_json
from latefusion.cli.arguments import add_clusters_argument, add_seed_argument, positive_number
from latefusion.cli.inputs import (
    OURS,
    add_file_arguments,
    configured,
    find_method,
    in_words_of_the_command_line,
    read,
    takes_kernels,
    translated,
)
from latefusion.cli.terminal import progress
from latefusion.datasets import load_digits_views
from latefusion.estimators import LateFusionClustering
from latefusion.experiments import (
    Comparison,
    ComparisonRow,
    fit_and_score,
    run_single_views,
    with_label_free_scores,
)
from latefusion.experiments.outside_methods import outside_methods, refused_methods
from latefusion.progress import progress_steps
from latefusion.types import MultiViewDataset, Views
from latefusion.validation import InputRules, read_views

EXAMPLES = """\
The baselines come first: k-means on single views and on all columns, spectral clustering, the mean kernel.
Samples with missing views are excluded, since most methods do not support them.

examples:
  latefusion compare                                      all methods on five views of digits
  latefusion compare genes.csv proteins.csv               without classes: agreement and label-free scores
  latefusion compare genes.csv proteins.csv --labels truth.csv
  latefusion compare kernels.mat --methods SimpleMKKM LF-MVC-LAM
  latefusion compare cells.h5mu -k 8 --methods concat-kmeans concat-spectral late-fusion
"""

# Fewest complete samples per cluster for a comparison.
LEAST_PER_CLUSTER = 5


class Problem(NamedTuple):
    """The data that all methods are run on.

    Attributes
    ----------
    views : Views
    target : ndarray of shape (n_samples,) or None
    kind : str
        "features" or "kernels".
    notes : list of str
        Samples that were excluded.
    """

    views: Views
    target: NDArray[Any] | None
    kind: str
    notes: list[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    add_file_arguments(parser, least="*")
    add_clusters_argument(parser, None, "the number of known classes, else auto")
    parser.add_argument(
        "--methods",
        nargs="+",
        default=[],
        metavar="NAME",
        help=f"methods to run (default: single views, and all of these): "
        f"{', '.join([*METHODS, *OURS, *outside_methods()])}",
    )
    parser.add_argument(
        "--samples", type=positive_number, help="number of samples to use, drawn at random (default: all)"
    )
    add_seed_argument(parser)
    add_json_argument(parser)


def run(options: argparse.Namespace) -> None:
    """Read the data, run the methods, print the scores."""
    methods, refused = _methods(options.methods)
    with progress("reading"):
        data = read(options).data if options.files else load_digits_views()
    if options.files and options.labels is not None and data.target is None:
        raise ValueError(
            f"--labels {options.labels!r} has no class for some samples, and the scores of all methods need all "
            f"classes. Add them, or leave --labels out."
        )
    problem = complete_samples(_draw(data, options.samples, options.seed))
    if not options.methods:
        methods, unsuited = _suited(methods, problem.kind)
        refused += unsuited
    problem = problem._replace(notes=[*problem.notes, *input_notes(problem), *refused])
    n_clusters = _number(problem, options)
    n_views = problem.views.n_views
    head = f"{len(problem.views)} samples, {n_views} view{'s' * (n_views > 1)}, {n_clusters} clusters"
    if not options.json:
        print("\n".join([head, *problem.notes, ""]), flush=True)
    rows = compare(problem, methods, n_clusters, options.seed, single=not options.methods)
    if options.json:
        known = {"n_samples": len(problem.views), "n_clusters": n_clusters, "views": list(problem.views.names)}
        print_json({**known, "notes": problem.notes, "methods": Comparison(rows).records()})
    else:
        print(Comparison(rows))


def _methods(names: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """The methods with some names, or all; and why methods of other packages cannot be used."""
    if names:
        return {name: find_method(name, outside=True) for name in names}, []
    refused = refused_methods()
    others = {name: method.load() for name, method in outside_methods().items() if name not in refused}
    return {**METHODS, **OURS, **others}, list(refused.values())


def _suited(methods: dict[str, Any], kind: str) -> tuple[dict[str, Any], list[str]]:
    """The methods that take a kind of views, and a note for every other one."""
    others = [name for name, method in methods.items() if kind == "kernels" and not takes_kernels(method)]
    notes = [f"{name} is left out: it needs features, not kernels." for name in others]
    return {name: method for name, method in methods.items() if name not in others}, notes


def complete_samples(problem: Problem) -> Problem:
    """The samples without missing views."""
    mask = problem.views.mask
    if mask is None or mask.all():
        return problem
    here = np.flatnonzero(mask.all(axis=1))
    if len(here) < 2 * LEAST_PER_CLUSTER:
        raise ValueError(
            f"Only {len(here)} of {len(mask)} samples have all views, which most methods need. At least "
            f"{2 * LEAST_PER_CLUSTER} are needed to compare methods. `latefusion cluster` supports missing views."
        )
    taken = problem.views[here]
    note = f"{len(here)} of {len(mask)} samples have all views and are used. `latefusion cluster` can use all samples."
    target = None if problem.target is None else problem.target[here]
    return Problem(Views(taken.arrays, taken.names), target, problem.kind, [*problem.notes, note])


def input_notes(problem: Problem) -> list[str]:
    """Notes on the columns of tables, which are the same for all methods."""
    with warnings.catch_warnings(record=True) as caught, in_words_of_the_command_line():
        warnings.simplefilter("always")
        read_views(problem.views, InputRules("The comparison", similarity=_similarity(problem)))
    return [translated(str(one.message)) for one in caught]


def compare(
    problem: Problem, methods: dict[str, Any], n_clusters: int, seed: int, *, single: bool
) -> list[ComparisonRow]:
    """Fit one method after the other; with late-fusion among them, label-free scores are added."""
    rows, ours = [], None
    with progress("comparing"), progress_steps(len(methods) + single) as begin_step:
        if single:
            begin_step("single views")
            rows += run_single_views(
                read_views(problem.views, InputRules("KMeans", similarity=_similarity(problem)))[0],
                n_clusters,
                target=problem.target,
                random_state=seed,
                kernels=problem.kind == "kernels",
            )
        for name, estimator in methods.items():
            begin_step(name)
            model = configured(estimator, n_clusters, problem.kind, seed)
            row = fit_and_score(name, model, problem.views, problem.target)
            rows.append(row._replace(note=_without(row.note, problem.notes)))
            if isinstance(model, LateFusionClustering) and rows[-1].labels is not None:
                ours = model
    return rows if ours is None else with_label_free_scores(rows, ours.criterion(), ours.labels_)


def _without(note: str, notes: list[str]) -> str:
    """The note of one method without those that are shown for all."""
    known = {one.partition(". ")[0].removesuffix(".") for one in notes}
    return "; ".join(one for one in note.split("; ") if one.removesuffix(".") not in known)


def _similarity(problem: Problem) -> str:
    return "precomputed" if problem.kind == "kernels" else "auto"


def _draw(data: MultiViewDataset, n_samples: int | None, seed: int) -> Problem:
    if n_samples is None or n_samples >= len(data.views):
        return Problem(data.views, data.target, data.kind, [])
    if data.kind == "kernels":
        raise ValueError("--samples requires features, but the files contain precomputed kernels. Leave it out.")
    rows = np.sort(np.random.default_rng(seed).choice(len(data.views), n_samples, replace=False))
    return Problem(data.views[rows], None if data.target is None else data.target[rows], data.kind, [])


def _number(problem: Problem, options: argparse.Namespace) -> int:
    wanted = options.clusters
    if wanted is None and problem.target is not None:
        return len(np.unique(problem.target))
    if isinstance(wanted, int):
        return wanted
    with progress("finding the number of clusters"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the notes of the table are the same
        model = configured(LateFusionClustering, wanted or "auto", problem.kind, options.seed).fit(problem.views)
    if not options.json:
        print(model.number_selection_.reason, file=sys.stderr, flush=True)
    return int(model.n_clusters_)
