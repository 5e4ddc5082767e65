"""`latefusion compare`: any of the comparison methods, and ours, on one data set."""

from __future__ import annotations

import argparse
import inspect
import sys
from pathlib import Path
from typing import Any

import numpy as np

from latefusion.baselines import METHODS
from latefusion.datasets import load_digits_views, load_views
from latefusion.estimators import GlobalAlignmentClustering, LocalAlignmentClustering
from latefusion.experiments import ComparisonRow, compare_methods, comparison_table
from latefusion.types import MultiViewDataset

SUMMARY = "run comparison methods and ours on one data set and print one table"

OURS = {"LF-MVC-GAM": GlobalAlignmentClustering, "LF-MVC-LAM": LocalAlignmentClustering}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument(
        "data", type=Path, nargs="?", help="a data file or folder of tables; the digits views when left out"
    )
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
    """Load, run, print."""
    data = load_digits_views() if options.data is None else load_views(options.data)
    views, target = _draw(data, options.samples, options.seed)
    if options.clusters is None and target is None:
        raise ValueError("the data set has no classes to count: give the number of clusters with -k")
    n_clusters = options.clusters or len(np.unique(target))
    known = {**METHODS, **OURS}
    unknown = [name for name in options.methods if name not in known]
    if unknown:
        raise ValueError(f"unknown methods {unknown}; known are {', '.join(known)}")
    methods = {name: _configured(known[name], n_clusters, data.kind, options.seed) for name in options.methods or known}
    print(f"{len(views)} samples, {views.n_views} views, {n_clusters} clusters\n")
    print(comparison_table(compare_methods(views, methods, target=target, progress=_report)))


def _draw(data: MultiViewDataset, n_samples: int | None, seed: int) -> tuple[Any, Any]:
    if n_samples is None or n_samples >= len(data.views):
        return data.views, data.target
    if data.kind == "kernels":
        raise ValueError("--samples cannot cut kernels: they hold similarities to all samples")
    rows = np.sort(np.random.default_rng(seed).choice(len(data.views), n_samples, replace=False))
    return data.views[rows], None if data.target is None else data.target[rows]


def _configured(method: Any, n_clusters: int, kind: str, seed: int) -> Any:
    options: dict[str, Any] = {"n_clusters": n_clusters}
    if "random_state" in inspect.signature(method).parameters:
        options["random_state"] = seed
    if kind == "kernels":
        options["partition"] = "precomputed"
    return method(**options)


def _report(row: ComparisonRow) -> None:
    print(f"{row.method}: {row.seconds:.1f} s", file=sys.stderr, flush=True)
