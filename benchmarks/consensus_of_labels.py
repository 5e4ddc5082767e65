"""Consensus of many k-means labelings with random numbers of clusters, on the digits that scikit-learn ships.

usage: python benchmarks/consensus_of_labels.py [--seeds N] [--output FILE.json] [--figure FILE.png]

Per seed: 20 labelings, each one start of k-means with a number of clusters drawn from a range (2 to 20, and 5 to 20);
their consensus with 10 clusters, and beside it

- the best and the mean of 20 single starts of k-means with the right number, 10; the best is chosen with the classes,
  or without them by inertia, as `KMeans(n_init=20)` does;
- spectral clustering of the co-association matrix, which is n x n;
- majority vote after matching every labelling to the one that agrees best with all others (Hungarian method);
- k-means on all cluster indicators side by side.

The number of clusters that `n_clusters="auto"` finds, and what it gives, stands last. Classes are used for scores only.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

import latefusion as lf
from measuring import BLUE, GREY, ORANGE, figure, save

N_LABELINGS = 20
N_CLUSTERS = 10
RANGES = ((2, 20), (5, 20))
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


def co_association(partitions, seed):
    """Spectral clustering of how often two samples are together."""
    together = np.mean([one[:, None] == one for one in partitions], axis=0)
    return SpectralClustering(N_CLUSTERS, affinity="precomputed", random_state=seed).fit_predict(together)


def majority(partitions):
    """The most frequent label after matching all labelings to one of them; it has that one's number of clusters."""
    agreement = [np.mean([adjusted_rand_score(one, other) for other in partitions]) for one in partitions]
    reference = partitions[int(np.argmax(agreement))]
    matched = np.array([lf.metrics.match_labels(reference, one) for one in partitions])
    return np.array([np.bincount(votes).argmax() for votes in matched.T])


def indicators(partitions, seed):
    """K-means on one column per cluster of every labelling."""
    columns = np.hstack([np.eye(one.max() + 1)[one] for one in partitions])
    return KMeans(N_CLUSTERS, n_init=10, random_state=seed).fit_predict(columns)


def measure(X, y, seed):
    """Rows of one seed."""
    best, by_inertia, mean = restarts(X, y, seed)
    rows = []

    def add(method, drawn, found, **more):
        labels, seconds = found
        scores = {key: round(value, 4) for key, value in lf.metrics.clustering_scores(y, labels).items()}
        rows.append({"seed": seed, "range": drawn, "method": method, **scores, "seconds": round(seconds, 3), **more})

    for low, high in RANGES:
        drawn = f"{low} to {high}"
        partitions = labelings(X, low, high, seed)
        add(OURS, drawn, timed(lambda p=partitions: lf.consensus(p, N_CLUSTERS, random_state=seed).labels_))
        add("co-association, spectral", drawn, timed(lambda p=partitions: co_association(p, seed)))
        add("majority after matching", drawn, timed(lambda p=partitions: majority(p)))
        add("k-means on indicators", drawn, timed(lambda p=partitions: indicators(p, seed)))
        model = lf.consensus(partitions, random_state=seed)
        add(f"{OURS}, number found", drawn, (model.labels_, 0.0), n_clusters=model.n_clusters_)
        add(ORACLE, drawn, (best, 0.0))
        add("best of 20 starts, by inertia", drawn, (by_inertia, 0.0))
        rows.append({"seed": seed, "range": drawn, "method": "mean of 20 starts", "accuracy": round(mean, 4)})
    return rows


def timed(run):
    """What a call returns and its seconds."""
    start = time.perf_counter()
    return run(), time.perf_counter() - start


def report(rows):
    """One line per range and method: the mean over seeds, and every seed."""
    for drawn in dict.fromkeys(row["range"] for row in rows):
        print(f"\nlabelings of {drawn} clusters{'':22s}ACC    NMI    per seed (ACC)")
        here = [row for row in rows if row["range"] == drawn]
        for method in dict.fromkeys(row["method"] for row in here):
            own = [row for row in here if row["method"] == method]
            accuracy = [row["accuracy"] for row in own]
            nmi = f"{np.mean([row['nmi'] for row in own]):.3f}" if "nmi" in own[0] else "     "
            found = f"  k = {[row['n_clusters'] for row in own]}" if "n_clusters" in own[0] else ""
            print(f"{method:42s} {np.mean(accuracy):.3f}  {nmi}  {' '.join(f'{a:.3f}' for a in accuracy)}{found}")


def draw(rows, path):
    """Accuracy of every seed, and the mean, per method and range."""
    methods = [name for name in dict.fromkeys(row["method"] for row in rows) if "number found" not in name]
    canvas, axes = figure(ncols=len(RANGES), sharex=True, sharey=True, figsize=(9, 3.2))
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


def main():
    """Measure, print, save, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--figure", type=Path)
    args = parser.parse_args()
    X, y = load_digits(return_X_y=True)
    rows = []
    for seed in range(args.seeds):
        rows += measure(X, y, seed)
        save(args.output, rows, data="scikit-learn's digits, 1797 samples, 64 pixels")
    report(rows)
    if args.figure:
        draw(rows, args.figure)


if __name__ == "__main__":
    main()
