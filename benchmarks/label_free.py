"""Clustering without labels on many data sets: mean ranks, useless and repeated views, the number of clusters.

usage: python benchmarks/label_free.py {ranks,larger,views,numbers,cost,local,references} DATA_DIR [--output FILE.json]
       [--seeds 1] [--limit SECONDS]

ranks     `LateFusionClustering`, both alignments and every comparison method with their defaults on every data set
          with at most 2100 samples and 60 classes; rank 1 is the best accuracy. One process per cell with a time limit.
larger    `LateFusionClustering` and the two lines of scikit-learn on the sets with more samples or classes (up to 7000
          and 110), none of which any choice was made on.
views     what a view of pure noise, or one of the views once more, does to the accuracy.
numbers   the number of clusters that n_clusters="auto" finds, on planted problems and on the sets with at most 15
          classes.
cost      seconds of `LateFusionClustering` beside those of one fit of LF-MVC-GAM, on the data sets of `ranks` and on
          planted problems above the exact sizes, and the exponent of its growth there.
local     fusing both kinds of similarity with λ = 1, by global alignment and by local alignment with several τ: whether
          weighting samples by their neighbour counts is worth being a candidate.
references  LF-MVC-GAM pulled to the mean of all similarities, or to one graph of all views side by side, with λ = 1, 4
          and 8, on z-scored views of the data sets of `ranks` that have features.

Views are given as they are in the files but there; the classes are used for scores only. Rows are saved as they come,
and a run that was interrupted goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
from scipy.sparse import issparse
from scipy.stats import rankdata
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler

import latefusion as lf
from latefusion.assignment import assign_by_kmeans
from latefusion.partitions.neighborhoods import count_neighbors
from latefusion.partitions.partitions import PartitionKey
from latefusion.selection.candidates import SIMILARITY_SETS, fit_space
from latefusion.selection.sources import NamedSimilarities, view_source
from measuring import machine

OURS = {
    "LateFusion": lf.LateFusionClustering,
    "LF-MVC-GAM": lf.GlobalAlignmentClustering,
    "LF-MVC-LAM": lf.LocalAlignmentClustering,
}
METHODS = {**OURS, **lf.baselines.METHODS}
MOST_SAMPLES, MOST_CLASSES = 2100, 60
LARGER_SAMPLES, LARGER_CLASSES = 7000, 110
HONEST = ("LateFusion", "concat-kmeans", "concat-spectral")
MOST_NUMBERED = 15
# Sizes at which the search runs on some of the samples and one fit on all.
PLANTED_SIZES = (25_000, 50_000, 100_000, 200_000, 400_000)

# Base partitions and pulls with which references are compared.
BASES = {"linear kernels": lf.KernelSimilarity("linear"), "graphs": lf.GraphSimilarity()}
PULLS = (1.0, 4.0, 8.0)


def sets_up_to(folder, n_samples, n_classes):
    """Data sets of at most that size, smallest first."""
    found = []
    for path in sorted(Path(folder).glob("*.npz")):
        with np.load(path, allow_pickle=False) as archive:
            target = archive["y"]
        if len(target) <= n_samples and len(np.unique(target)) <= n_classes:
            found.append((len(target), path))
    return [path for _, path in sorted(found)]


def small_sets(folder):
    """The data sets that are looked at."""
    return sets_up_to(folder, MOST_SAMPLES, MOST_CLASSES)


def cluster(method, views, kind, n_clusters, seed):
    """A fitted model."""
    extra = {"similarity": "precomputed"} if kind == "kernels" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return METHODS[method](n_clusters=n_clusters, random_state=seed, **extra).fit(views)


def cell(path, method, seed):
    """One method on one data set, as JSON on the standard output; runs in a process of its own."""
    data = lf.datasets.load_views(path)
    start = time.perf_counter()
    model = cluster(method, data.views, data.kind, len(np.unique(data.target)), seed)
    scores = lf.metrics.clustering_scores(data.target, model.labels_)
    print(json.dumps({"ACC": scores["accuracy"], "NMI": scores["nmi"], "seconds": time.perf_counter() - start}))


def ranks(args, store):
    """All methods on the small data sets."""
    compare(small_sets(args.data), list(METHODS), args, store)


def larger(args, store):
    """The honest lines on the other data sets."""
    small = small_sets(args.data)
    others = [path for path in sets_up_to(args.data, LARGER_SAMPLES, LARGER_CLASSES) if path not in small]
    compare(others, list(HONEST), args, store)


def compare(paths, methods, args, store):
    """Fill the table of methods and data sets, and print mean ranks."""
    for path in paths:
        for method in methods:
            for seed in range(args.seeds):
                key = {"data": path.stem, "method": method, "seed": seed}
                if not store.has(key):
                    command = [sys.executable, __file__, "cell", str(path), "--method", method, "--seed", str(seed)]
                    store.add(key | run_cell(command, args.limit))
    names = sorted({row["data"] for row in store.rows})
    table = np.array([[mean_of(store.rows, name, method, "ACC") for name in names] for method in methods])
    filled = np.where(np.isnan(table), -1.0, table)  # no answer is the last rank
    order = np.array([rankdata(-filled[:, column], method="average") for column in range(len(names))]).T
    print(f"mean over {len(names)} data sets, {args.seeds} seed(s): rank by ACC, ACC, NMI, answers, seconds")
    for position in np.argsort(order.mean(axis=1)):
        method = methods[position]
        own = [row for row in store.rows if row["method"] == method and "ACC" in row]
        means = [np.mean([row[column] for row in own]) for column in ("ACC", "NMI", "seconds")]
        print(
            f"{method:16s} {order[position].mean():6.2f}  {means[0]:.3f}  {means[1]:.3f}  "
            f"{np.isfinite(table[position]).sum():3d}  {means[2]:8.2f}"
        )


def run_cell(command, limit):
    """What a process printed last, or why it has nothing to say."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return {"failed": f"no answer in {limit} s"}
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1][:200]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def mean_of(rows, name, method, column):
    """Mean over seeds, NaN without an answer."""
    values = [row[column] for row in rows if row["data"] == name and row["method"] == method and column in row]
    return np.mean(values) if values else np.nan


def views(args, store):
    """Accuracy as it is, with a view of noise, and with the first view twice."""
    for path in small_sets(args.data):
        data = lf.datasets.load_views(path)
        arrays, n_clusters = list(data.views.arrays), len(np.unique(data.target))
        generator = np.random.default_rng(0)
        noise = generator.standard_normal((len(data.target), 50))
        if data.kind == "kernels":
            noise = noise @ noise.T
        for name, given in {"as it is": arrays, "noise": [*arrays, noise], "twice": [*arrays, arrays[0]]}.items():
            for seed in range(args.seeds):
                key = {"data": path.stem, "views": name, "seed": seed}
                if store.has(key):
                    continue
                model = cluster("LateFusion", given, data.kind, n_clusters, seed)
                accuracy = lf.metrics.clustering_accuracy(data.target, model.labels_)
                store.add(key | {"ACC": accuracy, "weights": np.round(model.view_weights_, 4).tolist()})
    for name in ("as it is", "noise", "twice"):
        print(f"{name:10s} mean ACC {np.mean([row['ACC'] for row in store.rows if row['views'] == name]):.4f}")


def numbers(args, store):
    """Numbers of clusters found, beside those that are there."""
    for n_clusters in range(2, 13):
        for balanced in (True, False):
            for seed in range(args.seeds):
                key = {"data": f"planted, {'' if balanced else 'un'}balanced", "true": n_clusters, "seed": seed}
                if store.has(key):
                    continue
                sizes = None if balanced else np.linspace(1, 3, n_clusters) / np.linspace(1, 3, n_clusters).sum()
                data = lf.datasets.make_views(
                    n_samples=60 * n_clusters,
                    n_clusters=n_clusters,
                    balance=sizes,
                    random_state=100 * seed + n_clusters,
                )
                store.add(key | found(data.views, "features", seed))
    for path in small_sets(args.data):
        data = lf.datasets.load_views(path)
        n_classes = len(np.unique(data.target))
        if n_classes > MOST_NUMBERED:
            continue
        for seed in range(args.seeds):
            key = {"data": path.stem, "true": n_classes, "seed": seed}
            if not store.has(key):
                store.add(key | found(data.views, data.kind, seed))
    for planted in (True, False):
        off = [abs(row["found"] - row["true"]) for row in store.rows if row["data"].startswith("planted") == planted]
        print(
            f"{'planted' if planted else 'real'}: {len(off)} runs, exact {np.mean(np.array(off) == 0):.2f}, within two "
            f"{np.mean(np.array(off) <= 2):.2f}"
        )


def cost(args, store):
    """How many times longer than one global alignment it takes, and how that grows."""
    for path in small_sets(args.data):
        if not store.has({"data": path.stem}):
            data = lf.datasets.load_views(path)
            store.add({"data": path.stem} | times_of_one_fit(data.views, data.kind, len(np.unique(data.target))))
    for n_samples in PLANTED_SIZES:
        if not store.has({"data": "planted", "samples": n_samples}):
            data = lf.datasets.make_views(n_samples, 10, n_views=3, n_features=32, separation=4.0, random_state=0)
            store.add({"data": "planted", "samples": n_samples} | times_of_one_fit(data.views, "features", 10))
    planted = [row for row in store.rows if row["data"] == "planted"]
    real = [row["times"] for row in store.rows if row["data"] != "planted"]
    growth = np.polyfit(np.log([row["samples"] for row in planted]), np.log([row["LateFusion"] for row in planted]), 1)
    print(f"times of one fit of LF-MVC-GAM: median {np.median(real):.1f}, largest {max(real):.1f} on {len(real)} sets")
    print(f"planted: {[row['times'] for row in planted]} times, seconds grow with the power {growth[0]:.2f} of n")


def times_of_one_fit(views, kind, n_clusters):
    """Seconds of both, the second of two fits each, and their ratio."""
    seconds = {}
    for method in ("LateFusion", "LF-MVC-GAM"):
        cluster(method, views, kind, n_clusters, 0)
        start = time.perf_counter()
        cluster(method, views, kind, n_clusters, 0)
        seconds[method] = round(time.perf_counter() - start, 3)
    return seconds | {"times": round(seconds["LateFusion"] / seconds["LF-MVC-GAM"], 1)}


def local(args, store):
    """Rows of the eigenvectors multiplied by neighbour counts, as local alignment does, beside rows as they are."""
    for path in small_sets(args.data):
        data = lf.datasets.load_views(path)
        n_samples, n_clusters = len(data.target), len(np.unique(data.target))
        if store.has({"data": path.stem}):
            continue
        spec = "precomputed" if data.kind == "kernels" else "auto"
        named = NamedSimilarities.of("gaussian", None)
        sources = [view_source(data.views, p, spec, named) for p in range(data.views.n_views)]
        keys = [PartitionKey(view, name) for view in range(len(sources)) for name in SIMILARITY_SETS["both"]]
        space = fit_space(sources, keys, min(4 * n_clusters, n_samples), n_clusters)
        plan = space.plan("both", "equal")
        row = {"data": path.stem, "global": fused_accuracy(space, plan, data.target)}
        for share in (0.05, 0.1, 0.3):
            size = max(1, round(share * n_samples))
            counts = [count_neighbors(-euclidean_distances(one.coordinates), [size])[0].counts for one in sources]
            vectors = [
                one * (counts[key.view] / counts[key.view].mean())[:, None]
                for key, one in zip(keys, space.partitions.vectors, strict=True)
            ]
            weighed = replace(space, partitions=replace(space.partitions, vectors=tuple(vectors)))
            row[f"τ = {share}"] = fused_accuracy(weighed, plan, data.target)
        store.add(row)
    for column in store.rows[0]:
        if column != "data":
            print(f"{column:10s} mean ACC {np.mean([row[column] for row in store.rows]):.4f}")


def references(args, store):
    """What the consensus is pulled to: the mean of similarities, or one graph of all views."""
    for path in small_sets(args.data):
        data = lf.datasets.load_views(path)
        if data.kind == "kernels" or store.has({"data": path.stem}):
            continue
        views = [StandardScaler(with_mean=not issparse(view)).fit_transform(view) for view in data.views.arrays]
        row = {"data": path.stem}
        for (name, similarity), reference in product(BASES.items(), ("mean", "graph")):
            model = lf.GlobalAlignmentClustering(
                len(np.unique(data.target)), similarity=similarity, reference=reference, random_state=0
            )
            for point in model.regularization_path(views, PULLS):
                accuracy = lf.metrics.clustering_accuracy(data.target, point.labels)
                row[f"{name}, {reference}, λ = {point.regularization:g}"] = accuracy
        store.add(row)
    for column in store.rows[0]:
        if column != "data":
            print(f"{column:32s} mean ACC {np.mean([row[column] for row in store.rows]):.4f}")


def fused_accuracy(space, plan, target):
    """Accuracy of a fusion with λ = 1, mean of two assignments of labels."""
    (fused,) = space.fuse(plan, [1.0])
    rows = space.partitions.times(fused.coefficients)
    found = [assign_by_kmeans(rows, space.n_clusters, random_state=seed)[0] for seed in range(2)]
    return float(np.mean([lf.metrics.clustering_accuracy(target, labels) for labels in found]))


def found(views, kind, seed):
    """The number that was found and its evidence."""
    start = time.perf_counter()
    model = cluster("LateFusion", views, kind, "auto", seed)
    chosen = model.number_selection_.chosen
    return {
        "found": model.n_clusters_,
        "stability": round(chosen.stability, 3),
        "structure": model.number_selection_.has_structure,
        "seconds": round(time.perf_counter() - start, 2),
    }


class Store:
    """Rows in a file, written after every one of them."""

    def __init__(self, path):
        self.path = path
        self.rows = json.loads(path.read_text())["rows"] if path and path.exists() else []

    def has(self, key):
        """Whether a row is there already."""
        return any(key.items() <= row.items() for row in self.rows)

    def add(self, row):
        """Print and save a row."""
        print(json.dumps(row), flush=True)
        self.rows.append(row)
        if self.path:
            self.path.write_text(json.dumps({"machine": machine(), "rows": self.rows}, indent=1) + "\n")


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=[*MODES, "cell"])
    parser.add_argument("data", type=Path)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--limit", type=float, default=600, help="seconds per cell")
    parser.add_argument("--method", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.what == "cell":
        cell(args.data, args.method, args.seed)
    else:
        MODES[args.what](args, Store(args.output))


MODES = {
    "ranks": ranks,
    "larger": larger,
    "views": views,
    "numbers": numbers,
    "cost": cost,
    "local": local,
    "references": references,
}


if __name__ == "__main__":
    main()
