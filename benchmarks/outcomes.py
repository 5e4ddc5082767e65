"""Survival of the clusters of patients: our clusterings, single views, baselines and published labelings, in one table.

usage: python benchmarks/outcomes.py [--omics DIR] [--published DIR] [--seeds N] [--sets NAME ...] [--output FILE.json]

All p-values come from `lf.outcome`: log-rank statistic, 9999 permutations of the clusters.

Omics (files .npz with view_0 ..., `time`, `event`; `mask` where assays are missing): late fusion with the number of
clusters given (that of the classes, or 4) and selected, global and local alignment, the clusters of every single view
in the model with the given number, and the baselines of `lf.compare_baselines` with that number; medians over seeds.
Known classes are a row for comparison.

Published (files tcga_labels_*.npz with `labels`, one column per method): these labels as they are; their consensus
(`lf.consensus` of nine of the eleven, see `LEFT_OUT`) with the median of their numbers of clusters and with a selected
number; and, where the features of one assay are in the file, late fusion and k-means of this single view.

Same patients (data sets of omics and of published labels with common patients): all of the above in one table, on these
patients, with the number of clusters of the published labels.

At the end the time of one test (1000 patients, five clusters, 10 000 permutations), and how often p is below .05 for
five clusters of two samples among 40 that do not differ.
"""

from __future__ import annotations

import argparse
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

import latefusion as lf
from latefusion.metrics import logrank_test
from measuring import save

# Number of clusters of data without classes.
N_CLUSTERS = 4
# As in benchmarks/consensus_of_labels.py: these two take no part in the published comparison.
LEFT_OUT = ("SubtypeGAN", "cc")
GIVEN, SELECTED = "late fusion, k given", "late fusion, k selected"
CONSENSUS_GIVEN, CONSENSUS_SELECTED = "lf.consensus of nine, k given", "lf.consensus of nine, k selected"
LEVEL = 0.05
# Data sets are compared with published labels if these have at least this share of their patients.
LEAST_COMMON = 0.5


def read(path):
    """Arrays of a file."""
    with np.load(path, allow_pickle=False) as archive:
        return dict(archive)


def views_of(data):
    """The views as they are in the file."""
    arrays = {str(name): data[f"view_{position}"].astype(np.float64) for position, name in enumerate(data["names"])}
    return lf.Views(arrays, mask=data.get("mask"))


def outcome_rows(found, name, seed):
    """The comparison of an outcome as rows."""
    return [
        {
            "data": name,
            "seed": seed,
            "method": row["method"],
            "clusters": row["clusters"],
            "samples": row["samples"],
            "smallest": row["smallest"],
            "p": row["p survival"],
        }
        for row in found.comparison
    ]


def run_omics(path, seed):
    """All clusterings of a data set with views."""
    data = read(path)
    return cluster_and_test(data, views_of(data), path.stem, seed)


def run_same_patients(path, published, seed):
    """All clusterings of a data set with views beside published labels of the same patients; nothing if few are."""
    data, name = read(path), path.stem
    found = []
    for file in published:
        labeled = read(file)
        _, rows, other_rows = np.intersect1d(data["ids"], labeled["ids"], return_indices=True)
        if len(rows) < LEAST_COMMON * len(data["ids"]):
            continue
        columns = dict(zip(labeled["methods"].tolist(), labeled["labels"][other_rows].T, strict=True))
        fused = [column for method, column in columns.items() if method not in LEFT_OUT]
        k = round(float(np.median([len(np.unique(column)) for column in fused])))
        more = {f"published: {method}": column for method, column in columns.items()}
        more["lf.consensus of nine published"] = lf.consensus(fused, k, random_state=seed).labels_
        own = {key: data[key][rows] for key in ("time", "event", "y")}
        own_name = f"{name} and {file.stem.removeprefix('tcga_labels_')}"
        found += cluster_and_test(own, views_of(data)[rows], own_name, seed, k=k, more=more)
    return found


def cluster_and_test(data, views, name, seed, k=None, more=None):
    """Our clusterings of the views, those of single views and baselines, and others, with the p-values of survival."""
    classes = np.unique(data["y"][data["y"] >= 0])
    k = k or len(classes) or N_CLUSTERS
    model = lf.LateFusionClustering(k, random_state=seed).fit(views)
    others = {
        SELECTED: lf.LateFusionClustering("auto", random_state=seed).fit(views).labels_,
        "global alignment": lf.GlobalAlignmentClustering(k, random_state=seed).fit(views).labels_,
        "local alignment": lf.LocalAlignmentClustering(k, random_state=seed).fit(views).labels_,
    }
    if len(classes):
        others["known classes"] = data["y"]
    others |= more or {}
    table = {"time": data["time"], "event": data["event"]}
    found = lf.outcome(model, table, views=views, baselines=True, others=others, random_state=seed)
    rows = outcome_rows(found, name, seed)
    number = {f"view {one}": position for position, one in enumerate(views.names)}
    number |= {f"KMeans on {one}": position for position, one in enumerate(views.names)}
    for row in rows:
        own = row["method"]
        row["method"] = GIVEN if own == "LateFusionClustering" else own
        if own in number:
            row["view"] = views.names[number[own]]
            row["method"] = (
                "k-means of view " if own.startswith("KMeans") else "late fusion's clusters of view "
            ) + str(number[own] + 1)
    return rows


def run_published(path, seed):
    """Published labels, and clusterings made of them."""
    data, name = read(path), path.stem.removeprefix("tcga_labels_")
    methods, labels = data["methods"].tolist(), data["labels"]
    reported = dict(zip(methods, data["reported_p"].tolist(), strict=True))
    fused = [column for method, column in zip(methods, labels.T, strict=True) if method not in LEFT_OUT]
    k = round(float(np.median([len(np.unique(column)) for column in fused])))
    published = dict(zip(methods, labels.T, strict=True))
    others = dict(published)
    others[CONSENSUS_SELECTED] = lf.consensus(fused, "auto", random_state=seed).labels_
    if "view_0" in data and np.ptp(data["view_0"]) > 0:  # the file of one cancer has zeros only
        views = views_of(data)
        others["late fusion of miRNA alone, k given"] = lf.LateFusionClustering(k, random_state=seed).fit(views).labels_
        others["k-means of miRNA alone, k given"] = KMeans(k, n_init=10, random_state=seed).fit_predict(views.arrays[0])
    ours = lf.consensus(fused, k, random_state=seed).labels_
    table = {"time": data["time"], "event": data["event"]}
    rows = outcome_rows(lf.outcome(ours, table, others=others, random_state=seed), name, seed)
    for row in rows:
        row["method"] = CONSENSUS_GIVEN if row["method"] == "labels" else row["method"]
        row["reported"] = reported.get(row["method"])
    return rows


def table_of(rows, kind, names):
    """One row per method, one column per data set: medians over seeds."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    table = []
    for method in methods:
        line = {"kind": kind, "method": method}
        for name in names:
            own = [row["p"] for row in rows if row["method"] == method and row["data"] == name]
            numbers = [row["clusters"] for row in rows if row["method"] == method and row["data"] == name]
            if own and not np.isnan(own).all():
                line[name] = float(np.nanmedian(own))
                line[f"{name} clusters"] = int(np.median(numbers))
        known = [line[name] for name in names if name in line]
        line["below .05"] = f"{sum(p < LEVEL for p in known)} of {len(known)}"
        table.append(line)
    return table


def seconds_of_a_test():
    """CPU seconds of a log-rank test of 1000 patients with 10 000 permutations: the median of five."""
    rng = np.random.default_rng(0)
    times, events, clusters = rng.exponential(1.0, 1000), rng.random(1000) < 0.5, rng.integers(0, 5, 1000)
    found = []
    for _ in range(5):
        start = time.process_time()
        logrank_test(times, events, clusters, n_permutations=10_000)
        found.append(time.process_time() - start)
    return float(np.median(found))


def share_of_small_asymptotic_p():
    """How often the asymptotic p, and the permutation p, are below .05 for small clusters that do not differ."""
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(6), [30, 2, 2, 2, 2, 2])
    found = [
        logrank_test(rng.exponential(1.0, 40), np.ones(40), clusters, n_permutations=199, random_state=draw)
        for draw in range(2000)
    ]
    return [float(np.mean([getattr(one, name) <= LEVEL for one in found])) for name in ("p_asymptotic", "p_value")]


def main():
    """Run, print and save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--omics", type=Path)
    parser.add_argument("--published", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    omics = sorted(options.omics.glob("*.npz")) if options.omics else []
    published = sorted(options.published.glob("tcga_labels_*.npz")) if options.published else []
    kinds = {
        "omics": (run_omics, omics),
        "published": (run_published, published),
        "same patients": (partial(run_same_patients, published=published), omics if published else []),
    }
    details, rows = [], []
    for kind, (run, paths) in kinds.items():
        paths = [path for path in paths if options.sets is None or path.stem in options.sets]
        found = []
        for path in paths:
            start = time.process_time()
            for seed in range(options.seeds):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of small data
                    found += run(path, seed=seed)
            print(f"{path.stem}: {time.process_time() - start:.0f} s", flush=True)
        rows += table_of(found, kind, list(dict.fromkeys(row["data"] for row in found)))
        details += [{"kind": kind, **row} for row in found]
    for row in rows:
        print({key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()})
    seconds = seconds_of_a_test()
    print(f"log-rank test, 1000 patients, 10 000 permutations: {seconds:.2f} s")
    small = share_of_small_asymptotic_p()
    print(f"small clusters, no difference: p <= .05 in {small[0]:.3f} (asymptotic), {small[1]:.3f} (permuted)")
    facts = {"seconds_of_a_test": seconds, "small_clusters": dict(zip(("asymptotic", "permuted"), small, strict=True))}
    save(options.output, rows, **facts, details=details)


if __name__ == "__main__":
    main()
