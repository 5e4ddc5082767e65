"""Profiles of clusters: time and memory for large sparse counts, planted features, and p-values of pure noise.

usage: python benchmarks/profiles.py size [--samples 100000] [--features 20000] [--density 0.05] [--clusters 10] [--fit]
       python benchmarks/profiles.py planted [--draws 50]
       python benchmarks/profiles.py noise [--draws 50]
       each with [--output FILE.json]

size: sparse counts, and a model of ten coordinates per sample, as when principal components are clustered. The counts
are profiled as its features. With --fit, the model is fitted on the counts themselves. Seconds are those of
`latefusion.profiles`; memory is by how much it raises that of the process, and the peak of the whole process.

planted: 600 samples in five clusters, with a view of 1000 sparse counts and a view of 200 numbers. Three counts and two
numbers of every cluster are shifted, each by about two standard deviations. A draw succeeds if these are the five
largest effects of each cluster of ``GlobalAlignmentClustering``.

noise: two views of five Gaussian features of 120 samples, cut into three clusters. The share of p-values below 0.05,
which is 0.05 for valid p-values: without and with ``honest=True``, and for new samples, labelled by all their features.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import latefusion as lf
from latefusion.interpretation import Features
from latefusion.metrics import clustering_accuracy, match_labels
from measuring import machine, save, with_peak_memory

# Rows that are drawn at a time.
ROWS = 2000
N_PLANTED = {"counts": 3, "numbers": 2}
NUMBER_SHIFT = 2.2
BASE_RATE, PLANTED_RATE = 0.3, 3.0


def large_counts(n_samples, n_features, density, labels, rng):
    """Sparse counts in CSR format, in which some features are more frequent in one cluster."""
    lengths, columns, values = [], [], []
    per_row = int(density * n_features)
    for start in range(0, n_samples, ROWS):
        own = labels[start : start + ROWS]
        for label in own:
            chosen = rng.integers(0, n_features, per_row + per_row // 20)
            # A tenth of the features of a row are drawn among those of its cluster.
            own_features = per_row // 10
            chosen[:own_features] = chosen[:own_features] // 20 + label * (n_features // 20)
            chosen = np.unique(chosen % n_features)
            lengths.append(len(chosen))
            columns.append(chosen.astype(np.int32))
        values.append(rng.geometric(0.4, sum(lengths[start : start + ROWS])).astype(np.float32))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    columns = np.concatenate(columns)
    return sp.csr_array((np.concatenate(values), columns, starts.astype(np.int32)), shape=(n_samples, n_features))


def measure_size(args):
    """Seconds and memory of the profiles of large sparse counts."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, args.clusters, args.samples)
    counts = large_counts(args.samples, args.features, args.density, labels, rng)
    if args.fit:
        X, features = {"counts": counts}, None
    else:
        X = {"counts": rng.standard_normal((args.samples, 10)) + 6 * np.eye(args.clusters, 10)[labels]}
        features = {"counts": Features(counts, [f"gene {one}" for one in range(args.features)])}
    start = time.perf_counter()
    model = lf.GlobalAlignmentClustering(args.clusters, random_state=0).fit(X)
    fitting = time.perf_counter() - start
    start, cpu = time.perf_counter(), time.process_time()
    found, megabytes = with_peak_memory(lambda: lf.profiles(model, X, features=features))
    return {
        "samples": args.samples,
        "features": args.features,
        "stored values": counts.nnz,
        "clusters": args.clusters,
        "fitted on": "counts" if args.fit else "coordinates",
        "fit, s": round(fitting, 1),
        "accuracy": round(float(clustering_accuracy(labels, model.labels_)), 3),
        "profiles, s": round(time.perf_counter() - start, 1),
        "profiles, CPU s": round(time.process_time() - cpu, 1),
        "profiles, GiB more": round(megabytes / 1024, 2),
        "process, GiB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
        "rows": len(found),
    }


def planted_views(seed, n_samples=600, n_clusters=5, n_counts=1000, n_numbers=200):
    """Two views, the clusters, and the names of the planted features of every cluster."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_clusters, n_samples)
    rates, shifts = np.full((n_samples, n_counts), BASE_RATE), np.zeros((n_samples, n_numbers))
    chosen = {
        "counts": rng.choice(n_counts, (n_clusters, N_PLANTED["counts"]), replace=False),
        "numbers": rng.choice(n_numbers, (n_clusters, N_PLANTED["numbers"]), replace=False),
    }
    for cluster in range(n_clusters):
        rows = labels == cluster
        rates[np.ix_(rows, chosen["counts"][cluster])] = PLANTED_RATE
        shifts[np.ix_(rows, chosen["numbers"][cluster])] = NUMBER_SHIFT
    views = {
        "counts": sp.csr_array(rng.poisson(rates).astype(np.float64)),
        "numbers": shifts + rng.standard_normal(shifts.shape),
    }
    names = [
        {(view, f"column {one}") for view, own in chosen.items() for one in own[cluster].tolist()}
        for cluster in range(n_clusters)
    ]
    return views, labels, names


def measure_planted(seed):
    """Whether the planted features of every cluster have its five largest effects."""
    views, labels, names = planted_views(seed)
    model = lf.GlobalAlignmentClustering(len(names), random_state=0).fit(views)
    top = lf.profiles(model, views).top(5)
    of_model = match_labels(labels, model.labels_)  # the planted cluster of every cluster of the model
    partners = {int(own): int(planted) for own, planted in zip(model.labels_, of_model, strict=True)}
    found = [
        {(row["view"], row["feature"]) for row in top.of(cluster)} == names[partners[cluster]]
        for cluster in np.unique(top["cluster"]).tolist()
    ]
    return {
        "draw": seed,
        "clusters found": int(sum(found)),
        "all": bool(all(found)),
        "accuracy": round(float(clustering_accuracy(labels, model.labels_)), 3),
    }


def measure_noise(seed):
    """Shares of small p-values where there are no clusters."""
    rng = np.random.default_rng(seed)
    views = [rng.standard_normal((120, 5)) for _ in range(2)]
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(views)
    half = lf.GlobalAlignmentClustering(3, random_state=0).fit([view[:60] for view in views])
    tables = {
        "ordinary": lf.profiles(model, views),
        "honest": lf.profiles(model, views, honest=True, random_state=seed),
        "new samples": lf.profiles(half, [view[60:] for view in views]),
    }
    shares = {name: float(np.mean(table["p"] < 0.05)) for name, table in tables.items()}
    return {"draw": seed, **shares}


def main():
    """Measure, save, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["size", "planted", "noise"])
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=20_000)
    parser.add_argument("--density", type=float, default=0.05)
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--fit", action="store_true", help="fit the model on the counts themselves")
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.what == "size":
        rows = [measure_size(args)]
        print("\n".join(f"{name}: {value}" for name, value in rows[0].items()))
    else:
        rows = [(measure_planted if args.what == "planted" else measure_noise)(seed) for seed in range(args.draws)]
        columns = ("all", "accuracy") if args.what == "planted" else ("ordinary", "honest", "new samples")
        means = ", ".join(f"{name} {np.mean([row[name] for row in rows]):.3f}" for name in columns)
        print(f"{args.what}, mean of {args.draws} draws: {means}")
    save(args.output, rows, what=args.what)
    print(machine())


if __name__ == "__main__":
    main()
