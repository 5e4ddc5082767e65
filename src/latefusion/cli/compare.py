"""`latefusion compare`: plain methods, those of the paper, and ours, on one data set."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

from latefusion.baselines import METHODS
from latefusion.cli.inputs import OURS, add_file_arguments, configured, find_method, read
from latefusion.cli.terminal import progress
from latefusion.datasets import load_digits_views
from latefusion.experiments import comparison_table, fit_and_score
from latefusion.types import MultiViewDataset

EXAMPLES = """\
examples:
  latefusion compare                                      all methods on five views of digits
  latefusion compare genes.csv proteins.csv --labels truth.csv
  latefusion compare kernels.mat --methods SimpleMKKM LF-MVC-LAM
  latefusion compare cells.h5mu -k 8 --methods concat-kmeans concat-spectral late-fusion
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    add_file_arguments(parser, least="*")
    parser.add_argument("-k", "--clusters", type=int, help="number of clusters (default: number of known classes)")
    parser.add_argument(
        "--methods",
        nargs="+",
        default=[],
        metavar="NAME",
        help=f"methods to run (default: all): {', '.join([*METHODS, *OURS])}",
    )
    parser.add_argument("--samples", type=int, help="use this many samples, drawn at random, in place of all")
    parser.add_argument("--seed", type=int, default=0, help="seed of everything random (default: %(default)s)")


def run(options: argparse.Namespace) -> None:
    """Read, run, print."""
    methods = {name: find_method(name) for name in options.methods or [*METHODS, *OURS]}
    with progress("reading"):
        data = read(options.files, options.id, options.labels).data if options.files else load_digits_views()
    views, target = _draw(data, options.samples, options.seed)
    if options.clusters is None and target is None:
        raise ValueError("the data set has no classes to count: give the number of clusters with -k")
    n_clusters = options.clusters or len(np.unique(target))
    print(f"{len(views)} samples, {views.n_views} views, {n_clusters} clusters\n", flush=True)
    rows = []
    for name, estimator in methods.items():
        with progress(name):
            model = configured(estimator, n_clusters, data.kind, options.seed)
            rows.append(fit_and_score(name, model, views, target))
        print(f"{name}: {rows[-1].seconds:.1f} s", file=sys.stderr, flush=True)
    print(comparison_table(rows))


def _draw(data: MultiViewDataset, n_samples: int | None, seed: int) -> tuple[Any, Any]:
    if n_samples is None or n_samples >= len(data.views):
        return data.views, data.target
    if data.kind == "kernels":
        raise ValueError("--samples cannot cut kernels: they hold similarities to all samples")
    rows = np.sort(np.random.default_rng(seed).choice(len(data.views), n_samples, replace=False))
    return data.views[rows], None if data.target is None else data.target[rows]
