"""Calibration of memberships: the share of samples with a membership of p in their cluster that keep it.

usage: python benchmarks/memberships.py DATA_DIR [--estimator NAME] [--repeats 5] [--rate 0] [--sets a,b]
       [--output FILE.json] [--figure FILE.png]

`LateFusionClustering` (or another estimator with memberships) is fitted to every data set of at most 2100 samples and
60 classes, with as many clusters as there are classes; classes are used for nothing else. Then the clustering is
repeated on other samples: the samples are divided into random halves, each half is clustered by a new fit with another
seed, and labels the other half. Clusters are matched on the half that was clustered, and the labels of the other half
are compared. The divisions are not those by which the model calibrates its memberships.

error        expected calibration error: samples in ten bins of equal width by the membership in their own cluster, mean
             over comparisons of the distance between the mean membership of a bin and the share that kept its cluster
equal bins   the same with ten bins of equally many samples
Brier        mean squared difference of membership and outcome, and the same for one number for all samples, the share
             that kept its cluster in these comparisons
cost         seconds of reading `memberships_` over seconds of the fit

`--rate 0.3` removes that share of the views of all samples at random (each sample keeps one). Rows are saved as they
come, and a run that was interrupted goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone

import latefusion as lf
from label_free import small_sets
from latefusion.metrics import calibration_curve
from latefusion.plots import CalibrationDisplay
from measuring import figure, machine

EVALUATION_SEED = 1_000


def part(views, kind, rows, columns):
    """Some samples of a data set."""
    if kind != "kernels":
        return views[rows]
    return lf.Views([kernel[np.ix_(rows, columns)] for kernel in views.arrays], views.names)


def repeat(model, views, kind, n_divisions):
    """For every sample, how many fits to other samples left it in its cluster, and the number of these fits."""
    generator = np.random.default_rng(EVALUATION_SEED)
    n_samples, k = len(views), model.get_params()["n_clusters"]
    kept, compared = np.zeros(n_samples, dtype=int), np.zeros(n_samples, dtype=int)
    for division in range(n_divisions):
        order = generator.permutation(n_samples)
        halves = order[: n_samples // 2], order[n_samples // 2 :]
        for direction, (seen, unseen) in enumerate((halves, halves[::-1])):
            again = clone(model).set_params(random_state=EVALUATION_SEED + 2 * division + direction)
            again.fit(part(views, kind, seen, seen))
            diagonals = [np.diagonal(kernel)[unseen] for kernel in views.arrays] if kind == "kernels" else None
            labels = again.predict(part(views, kind, unseen, seen), diagonals=diagonals)
            table = np.zeros((k, k), dtype=int)
            np.add.at(table, (again.labels_, model.labels_[seen]), 1)
            names = linear_sum_assignment(table, maximize=True)[1]
            kept[unseen] += names[labels] == model.labels_[unseen]
            compared[unseen] += 1
    return kept, compared


def equal_bins_error(memberships, kept, compared, n_bins=10):
    """Expected calibration error with bins of equally many samples."""
    parts = np.array_split(np.argsort(memberships, kind="stable"), n_bins)
    gaps = [abs(kept[one].sum() - compared[one] @ memberships[one]) for one in parts]
    return float(np.sum(gaps) / compared.sum())


def with_holes(views, rate):
    """The same views, of which a share is missing at random; every sample keeps one."""
    generator = np.random.default_rng(0)
    mask = generator.random((len(views), views.n_views)) >= rate
    mask[np.arange(len(views)), generator.integers(views.n_views, size=len(views))] = True
    return lf.Views(views.arrays, views.names, mask)


def measure(path, args):
    """One data set."""
    data = lf.datasets.load_views(path)
    views = data.views if args.rate == 0 else with_holes(data.views, args.rate)
    extra = {"similarity": "precomputed"} if data.kind == "kernels" else {}
    model = getattr(lf, args.estimator)(n_clusters=len(np.unique(data.target)), random_state=0, **extra)
    start = time.process_time()
    model.fit(views)
    fitted = time.process_time()
    memberships = model.memberships_
    read = time.process_time()
    own = memberships[np.arange(len(views)), model.labels_]
    kept, compared = repeat(model, views, data.kind, args.repeats)
    curve = calibration_curve(own, kept, compared)
    share = kept.sum() / compared.sum()
    calibration = model.calibration_
    return {
        "data": path.stem,
        "samples": len(views),
        "clusters": model.n_clusters,
        "kept": float(share),
        "membership": float(np.average(own, weights=compared)),
        "error": curve.error,
        "equal bins": equal_bins_error(own, kept, compared),
        "Brier": float((kept @ (1 - own) ** 2 + (compared - kept) @ own**2) / compared.sum()),
        "Brier of one number": float(share * (1 - share)),
        "sharpness": calibration.membership.sharpness,
        "lapse": calibration.membership.lapse,
        "clusterings": calibration.n_clusterings,
        "seconds of fit": fitted - start,
        "cost": (read - fitted) / (fitted - start),
        "curve": [one.tolist() for one in curve],
    }


def draw(rows, path):
    """Curves of all data sets, and their mean with every data set counting equally."""
    drawing, ax = figure(figsize=(5.2, 5.2))
    bins = [[] for _ in range(10)]
    for row in rows:
        predicted, observed, counts = map(np.array, row["curve"])
        shares = counts / counts.sum()
        shown = shares > 0.01
        ax.plot(predicted[shown], observed[shown], "-", color="0.8", linewidth=0.8, zorder=1)
        for one in zip(predicted, observed, shares, strict=True):
            bins[min(int(10 * one[0]), 9)].append(one)
    together = np.array(
        [
            [*np.average(np.array(own)[:, :2], axis=0, weights=np.array(own)[:, 2]), np.array(own)[:, 2].sum()]
            for own in bins
            if own
        ]
    )
    predicted, observed, weights = together.T
    CalibrationDisplay(predicted, observed, weights).plot(ax=ax)
    ax.set_title(f"{len(rows)} data sets: mean error {np.mean([row['error'] for row in rows]):.3f}")
    drawing.savefig(path, dpi=150)
    return together


def main():
    """Measure, save and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--estimator", default="LateFusionClustering")
    parser.add_argument("--repeats", type=int, default=5, help="divisions into halves")
    parser.add_argument("--rate", type=float, default=0.0, help="share of missing views")
    parser.add_argument("--sets", default="")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--figure", type=Path)
    args = parser.parse_args()
    rows = []
    if args.output is not None and args.output.exists():
        rows = json.loads(args.output.read_text())["rows"]
    for path in small_sets(args.data):
        wanted = not args.sets or path.stem in args.sets.split(",")
        if not wanted or path.stem in [row["data"] for row in rows]:
            continue
        with np.load(path, allow_pickle=False) as archive:
            if args.rate and ("kernel_0" in archive.files or len(archive["names"]) < 2):
                continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows.append(measure(path, args))
        if args.output is not None:
            args.output.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")
        print(line(rows[-1]), flush=True)
    print(
        f"\nmean over {len(rows)} sets: "
        + ", ".join(
            f"{name} {np.mean([row[name] for row in rows]):.3f}"
            for name in ("error", "equal bins", "Brier", "Brier of one number", "cost")
        )
    )
    if args.figure is not None:
        for predicted, observed, weight in draw(rows, args.figure):
            print(f"membership {predicted:.2f}: {observed:.2f} kept ({weight / len(rows):.1%} of the samples)")


def line(row):
    """One data set in a line."""
    names = ("kept", "membership", "error", "equal bins", "Brier", "Brier of one number", "cost")
    numbers = "  ".join(f"{name} {row[name]:.3f}" for name in names)
    return f"{row['data']:20s} n={row['samples']:5d} k={row['clusters']:3d}  {numbers}"


if __name__ == "__main__":
    main()
