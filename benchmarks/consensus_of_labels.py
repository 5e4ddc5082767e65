"""Consensus of given clusterings: of k-means with random numbers of clusters, and of published ones.

usage: python benchmarks/consensus_of_labels.py [--seeds N] [--published DIR] [--sets FILE.npz ...]
                                                [--output FILE.json] [--figure FILE.png]

Digits that scikit-learn ships, per seed: 20 labelings, each one start of k-means with a number of clusters drawn from a
range (2 to 20, and 5 to 20); their consensus with 10 clusters, scored by the classes. With --sets the same for data
with views, side by side and standardized: numbers of clusters from 2, or half the number of classes, to twice it.

Published clusterings (files tcga_labels_*.npz with `labels`, one column per method, and `methods`): the consensus of
nine methods, with the median of their numbers of clusters, 3, 4 and 5 clusters, five seeds each, scored by the mean
adjusted Rand index with the nine.

Methods: `lf.consensus`; variants of it (labels of the fused subspaces without refinement, with and without extra
directions; refinement in which clusterings count alike, whatever their number of clusters); k-means on all cluster
indicators side by side; average linkage on co-association. For digits also

- the best and the mean of 20 single starts of k-means with the right number, 10; the best is chosen with the classes,
  or without them by inertia, as `KMeans(n_init=20)` does;
- spectral clustering of the co-association matrix, which is n x n;
- majority vote after matching every labelling to the one that agrees best with all others (Hungarian method).

The number of clusters that `n_clusters="auto"` finds, and what it gives, stands last. Classes are used for scores only.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import hstack
from scipy.spatial.distance import squareform
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import latefusion as lf
from latefusion.assignment import assign_by_kmeans
from latefusion.estimators import partition_fusion
from latefusion.selection.candidates import sameness
from latefusion.solvers.subspace_consensus import Subspaces
from measuring import BLUE, GREY, ORANGE, figure, save

N_LABELINGS = 20
N_CLUSTERS = 10
RANGES = ((2, 20), (5, 20))
DIGITS = "digits"
# These take no part in the published comparison; the second has another number of clusters than the others.
LEFT_OUT = ("SubtypeGAN", "cc")
PUBLISHED_SEEDS = 5
OURS = "lf.consensus"
ORACLE = "best of 20 starts, chosen with classes"


def restarts(X, y, seed):
    """Single starts of k-means with the right number of clusters: labels of the best ones, and their mean accuracy."""
    runs = [KMeans(N_CLUSTERS, n_init=1, random_state=10_000 + 100 * seed + i).fit(X) for i in range(N_LABELINGS)]
    accuracies = [lf.metrics.clustering_accuracy(y, run.labels_) for run in runs]
    best = runs[int(np.argmax(accuracies))].labels_
    return best, min(runs, key=lambda run: run.inertia_).labels_, float(np.mean(accuracies))


def labelings(X, low, high, seed):
    """One start of k-means per number of clusters drawn."""
    numbers = np.random.default_rng(seed).integers(low, high + 1, N_LABELINGS)
    return [KMeans(int(k), n_init=1, random_state=100 * seed + i).fit_predict(X) for i, k in enumerate(numbers)]


def co_association(partitions, n_clusters, seed):
    """Spectral clustering of how often two samples are together."""
    together = np.mean([one[:, None] == one for one in partitions], axis=0)
    return SpectralClustering(n_clusters, affinity="precomputed", random_state=seed).fit_predict(together)


def average_linkage(partitions, n_clusters, seed):
    """Average linkage on how often two samples are apart."""
    apart = squareform(np.mean([one[:, None] != one for one in partitions], axis=0), checks=False)
    return fcluster(linkage(apart, "average"), n_clusters, "maxclust") - 1


def majority(partitions):
    """The most frequent label after matching all labelings to one of them; it has that one's number of clusters."""
    agreement = [np.mean([adjusted_rand_score(one, other) for other in partitions]) for one in partitions]
    reference = partitions[int(np.argmax(agreement))]
    matched = np.array([lf.metrics.match_labels(reference, one) for one in partitions])
    return np.array([np.bincount(votes).argmax() for votes in matched.T])


def indicators(partitions, n_clusters, seed):
    """K-means on one column per cluster of every labelling."""
    columns = np.hstack([np.eye(one.max() + 1)[one] for one in partitions])
    return KMeans(n_clusters, n_init=10, random_state=seed).fit_predict(columns)


def ours(partitions, n_clusters, seed):
    """As users call it."""
    return lf.consensus(partitions, n_clusters, random_state=seed).labels_


def counted_alike(partitions, n_clusters, seed):
    """The refinement without weights by the number of clusters."""
    with patch.object(partition_fusion, "FINEST", 1e-9):
        return ours(partitions, n_clusters, seed)


def subspaces(partitions, n_clusters, seed, n_extra=0):
    """K-means on the rows of the fused subspaces, without refinement."""
    maps = [lf.GivenPartition("labels").fit_map(one) for one in partitions]
    columns = hstack([given.columns(one) for given, one in zip(maps, partitions, strict=True)], format="csr")
    spaces = Subspaces.of([given.weights for given in maps], (columns.T @ columns).toarray())
    same = sameness(spaces.overlap())
    spaces = replace(spaces, factors=np.sqrt(spaces.trust(same, columns.shape[0]) / same.sum(axis=1)))
    found, _ = spaces.fuse(n_clusters + n_extra, regularization=1.0, max_iter=100, tol=1e-6)
    rows = columns @ np.concatenate([given.weights @ own for given, own in zip(maps, found, strict=True)])
    return assign_by_kmeans(rows, n_clusters, n_init=10, random_state=seed)[0]


def more_subspaces(partitions, n_clusters, seed):
    """The same with a third more directions."""
    return subspaces(partitions, n_clusters, seed, n_clusters // 3)


METHODS = {
    OURS: ours,
    "refined, clusterings count alike": counted_alike,
    "subspaces, k/3 extra directions": more_subspaces,
    "subspaces": subspaces,
    "k-means on indicators": indicators,
    "average linkage on co-association": average_linkage,
}


def mean_agreement(partitions, labels):
    """Mean adjusted Rand index with the inputs."""
    return float(np.mean([adjusted_rand_score(one, labels) for one in partitions]))


def measure(X, y, ranges, seed, name, n_clusters):
    """Rows of one seed of a data set with classes."""
    rows = []

    def add(method, drawn, found, partitions=(), **more):
        labels, seconds = found
        scores = {key: round(value, 4) for key, value in lf.metrics.clustering_scores(y, labels).items()}
        if len(partitions):
            more["agreement"] = round(mean_agreement(partitions, labels), 4)
        facts = {"set": name, "seed": seed, "range": drawn, "method": method}
        rows.append({**facts, **scores, "seconds": round(seconds, 3), **more})

    best, by_inertia, mean = restarts(X, y, seed) if name == DIGITS else (None, None, None)
    for low, high in ranges:
        drawn = f"{low} to {high}"
        partitions = labelings(X, low, high, seed)
        for method, run in METHODS.items():
            add(method, drawn, timed(lambda p=partitions, run=run: run(p, n_clusters, seed)), partitions)
        model = lf.consensus(partitions, random_state=seed)
        add(f"{OURS}, number found", drawn, (model.labels_, 0.0), partitions, n_clusters=model.n_clusters_)
        if name == DIGITS:
            add("co-association, spectral", drawn, timed(lambda p=partitions: co_association(p, n_clusters, seed)))
            add("majority after matching", drawn, timed(lambda p=partitions: majority(p)))
            add(ORACLE, drawn, (best, 0.0))
            add("best of 20 starts, by inertia", drawn, (by_inertia, 0.0))
            facts = {"set": name, "seed": seed, "range": drawn, "method": "mean of 20 starts"}
            rows.append({**facts, "accuracy": round(mean, 4)})
    return rows


def measure_published(path):
    """Rows of one file of published clusterings."""
    file = np.load(path, allow_pickle=True)
    kept = [column for column, method in enumerate(file["methods"]) if str(method) not in LEFT_OUT]
    partitions = [np.unique(file["labels"][:, column], return_inverse=True)[1] for column in kept]
    median = int(np.median([one.max() + 1 for one in partitions]))
    found = lf.consensus(partitions, random_state=0).n_clusters_
    rows = []
    for n_clusters in sorted({median, 3, 4, 5}):
        for method, run in METHODS.items():
            labels = [run(partitions, n_clusters, seed) for seed in range(PUBLISHED_SEEDS)]
            agreement = np.mean([mean_agreement(partitions, one) for one in labels])
            row = {"set": path.stem.split("_")[-1], "n_clusters": n_clusters, "is_median": n_clusters == median}
            rows.append({**row, "method": method, "agreement": round(float(agreement), 5), "number_found": found})
    return rows


def timed(run):
    """What a call returns and its seconds."""
    start = time.perf_counter()
    return run(), time.perf_counter() - start


def report(rows):
    """One line per data set, range and method: the mean over seeds, and every seed."""
    for name, drawn in dict.fromkeys((row["set"], row["range"]) for row in rows):
        print(f"\n{f'{name}, labelings of {drawn} clusters':42s} ACC    NMI    ARI*   per seed (ACC)")
        here = [row for row in rows if (row["set"], row["range"]) == (name, drawn)]
        for method in dict.fromkeys(row["method"] for row in here):
            own = [row for row in here if row["method"] == method]
            accuracy = [row["accuracy"] for row in own]
            nmi, agreement = (
                f"{np.mean([row[key] for row in own]):.3f}" if key in own[0] else "     "
                for key in ("nmi", "agreement")
            )
            found = f"  k = {[row['n_clusters'] for row in own]}" if "n_clusters" in own[0] else ""
            each = " ".join(f"{a:.3f}" for a in accuracy)
            print(f"{method:42s} {np.mean(accuracy):.3f}  {nmi}  {agreement}  {each}{found}")
    print("\n* mean adjusted Rand index with the inputs")
    names = list(dict.fromkeys(row["set"] for row in rows))
    if len(names) > 1:
        print_by_set("ACC per data set, mean over ranges and seeds", names, by_set(rows, names, "accuracy"))


def by_set(rows, names, key):
    """Means of every method on every data set."""
    return {
        method: [float(np.mean([r[key] for r in rows if r["method"] == method and r["set"] == name])) for name in names]
        for method in METHODS
    }


def print_by_set(title, names, scores):
    """Scores per data set; the last line has those of the method that is the best on all other sets."""
    width = max(5, *map(len, names))
    print(f"\n{title:45s} mean   {'  '.join(f'{name:{width}s}' for name in names)}")
    left_out = []
    for held in range(len(names)):
        best = max(scores, key=lambda method: np.sum(np.delete(scores[method], held)))
        left_out.append(scores[best][held])
    for method, values in {**scores, "best method on the other sets": left_out}.items():
        print(f"{method:45s} {np.mean(values):.4f} {'  '.join(f'{value:<{width}.3f}' for value in values)}")


def report_published(rows):
    """Agreement with the inputs per method, in the sample and if the method is chosen on the other data sets."""
    names = list(dict.fromkeys(row["set"] for row in rows))
    for what, chosen in (("median number", [row for row in rows if row["is_median"]]), ("3, 4, 5 and median", rows)):
        print_by_set(f"published, {what} of clusters", names, by_set(chosen, names, "agreement"))
    numbers = {row["set"]: (row["number_found"], row["n_clusters"]) for row in rows if row["is_median"]}
    print("numbers found (median of the inputs):", ", ".join(f"{n} {k} ({m})" for n, (k, m) in numbers.items()))


def draw(rows, path):
    """Accuracy on the digits of every seed, and the mean, per method and range."""
    rows = [row for row in rows if row["set"] == DIGITS]
    methods = [name for name in dict.fromkeys(row["method"] for row in rows) if "number found" not in name]
    canvas, axes = figure(ncols=len(RANGES), sharex=True, sharey=True, figsize=(9, 3.8))
    for axis, drawn in zip(axes, dict.fromkeys(row["range"] for row in rows), strict=True):
        for height, method in enumerate(reversed(methods)):
            own = [row["accuracy"] for row in rows if row["method"] == method and row["range"] == drawn]
            color = BLUE if method == OURS else ORANGE if method == ORACLE else GREY
            axis.plot(own, [height] * len(own), "o", color=color, alpha=0.5, markersize=5)
            axis.plot([np.mean(own)], [height], "|", color=color, markersize=18, markeredgewidth=2.5)
        axis.set_yticks(range(len(methods)), list(reversed(methods)))
        axis.set_title(f"20 labelings of {drawn} clusters", fontsize=10)
        axis.set_xlabel("accuracy")
    canvas.savefig(path, dpi=120)


def side_by_side(path):
    """Standardized features of all views of a data set, its classes, and the ranges of numbers of clusters."""
    data = lf.datasets.load_views(path)
    X = np.hstack([StandardScaler().fit_transform(np.asarray(view)) for view in data.views.arrays])
    n_classes = len(np.unique(data.target))
    lowest = dict.fromkeys((2, max(2, n_classes // 2)))
    return X, data.target, [(low, 2 * n_classes) for low in lowest], n_classes


def main():
    """Measure, print, save, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--published", type=Path)
    parser.add_argument("--sets", type=Path, nargs="*", default=[])
    parser.add_argument("--output", type=Path)
    parser.add_argument("--figure", type=Path)
    args = parser.parse_args()
    problems = {DIGITS: (*load_digits(return_X_y=True), RANGES, N_CLUSTERS)}
    problems |= {path.stem: side_by_side(path) for path in args.sets}
    rows, published = [], []
    files = [] if args.published is None else sorted(args.published.glob("tcga_labels_*.npz"))

    def keep():
        save(args.output, rows, data="scikit-learn's digits, 1797 samples, 64 pixels", published=published)

    for path in files:
        published += measure_published(path)
        keep()
    for name, (X, y, ranges, n_clusters) in problems.items():
        for seed in range(args.seeds):
            rows += measure(X, y, ranges, seed, name, n_clusters)
            keep()
    report(rows)
    if published:
        report_published(published)
    if args.figure:
        draw(rows, args.figure)


if __name__ == "__main__":
    main()
