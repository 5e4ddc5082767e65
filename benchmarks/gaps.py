"""Single missing values: our imputation and those of scikit-learn, followed by the same clustering.

usage: python benchmarks/gaps.py [--data DATA_DIR] [--sets NAME ...] [--rates 0.05 0.2 0.4] [--patterns random blocks]
       [--draws 5] [--methods NAME ...] [--output FILE.json] [--errors]

Of every view, a share of the values is removed. Pattern "random": each value with the same probability. Pattern
"blocks": some samples lose a block of adjacent columns, half of all columns where the rate allows it. Every row keeps
a value. All methods get the same gaps. The views are then completed and clustered by
``LateFusionClustering(n_classes, random_state=draw)``. Classes are used for scores only.

IterativeImputer is limited to 20 predictors per column and 3 rounds, because it needs minutes for wide views otherwise.
The other imputers of scikit-learn have their defaults.

The table has the mean accuracy over the draws, and the loss of the mean over the sets against complete views. The line
"noise" has complete views plus independent noise of 1 % of the standard deviation of each column. It shows how much the
clustering itself changes with the smallest change of the views. With
--errors it has the root mean square error of the imputed values instead, in units of the standard deviations of the
columns, and the seconds of the imputation. Rows that the output file contains already are not measured again.

The data are read from DATA_DIR, from the folder data in LATEFUSION_SHARED, or from ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path

import numpy as np

from measuring import machine, save

SHARED = Path(os.environ.get("LATEFUSION_SHARED", Path(__file__).parents[2] / "shared"))
SETS = ("nutrimouse", "msrc_v1", "rosmap", "prokaryotic", "mfeat", "caltech101_7")
RATES = (0.05, 0.2, 0.4)
# Loss of mean accuracy that is accepted at these rates.
LOSSES = {0.05: 0.01, 0.2: 0.02, 0.4: 0.05}
# Blocks are half of the columns, in at most this share of the samples.
MOST_SAMPLES = 0.8
OURS = "latefusion"
# Standard deviation of the noise that is added to complete views, for comparison.
NOISE = 0.01


def load(path):
    """Views and classes of a file."""
    with np.load(path, allow_pickle=False) as data:
        return [data[f"view_{p}"].astype(np.float64) for p in range(len(data["names"]))], data["y"]


def random_gaps(shape, rate, rng):
    """Cells at random."""
    return _keep_a_value(rng.random(shape) < rate, rng)


def block_gaps(shape, rate, rng):
    """A block of adjacent columns of some rows."""
    n_rows, n_columns = shape
    share = min(2 * rate, MOST_SAMPLES)
    missing = np.zeros(shape, dtype=bool)
    for row in np.flatnonzero(rng.random(n_rows) < share):
        width = min(int(rate / share * n_columns + rng.random()), n_columns - 1)
        start = rng.integers(0, n_columns - width + 1)
        missing[row, start : start + width] = True
    return _keep_a_value(missing, rng)


PATTERNS = {"random": random_gaps, "blocks": block_gaps}


def _keep_a_value(missing, rng):
    full = np.flatnonzero(missing.all(axis=1))
    missing[full, rng.integers(0, missing.shape[1], len(full))] = False
    return missing


def impute_ours(view):
    """The imputation of this package."""
    from latefusion.encoding.gaps import fit_gap_filling

    return fit_gap_filling(view)(view)


def impute_by(statistic):
    """Column means or medians."""
    return lambda view: np.where(np.isnan(view), statistic(view, axis=0), view)


def impute_by_neighbors(view):
    """Means of the five nearest rows."""
    from sklearn.impute import KNNImputer

    return KNNImputer(keep_empty_features=True).fit_transform(view)


def impute_by_regressions(view):
    """Bayesian ridge regressions of every column in turn."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # three rounds do not converge
        model = IterativeImputer(n_nearest_features=20, max_iter=3, random_state=0, keep_empty_features=True)
        return model.fit_transform(view)


METHODS = {
    OURS: impute_ours,
    "mean": impute_by(np.nanmean),
    "median": impute_by(np.nanmedian),
    "KNNImputer": impute_by_neighbors,
    "IterativeImputer": impute_by_regressions,
}


def with_gaps(views, pattern, rate, draw):
    """Views with gaps, the same for all methods."""
    rng = np.random.default_rng([draw, round(1000 * rate), list(PATTERNS).index(pattern)])
    return [np.where(PATTERNS[pattern](view.shape, rate, rng), np.nan, view) for view in views]


def accuracy(views, classes, draw):
    """Accuracy of the clustering of complete views."""
    import latefusion

    model = latefusion.LateFusionClustering(len(np.unique(classes)), random_state=draw)
    return float(latefusion.metrics.clustering_accuracy(classes, model.fit_predict(views)))


def error(completed, views, incomplete):
    """Root mean square error of the imputed values of all views, in standard deviations of their columns."""
    squares = []
    for result, view, gappy in zip(completed, views, incomplete, strict=True):
        scales = view.std(axis=0)
        squares.append((((result - view) / np.where(scales > 0, scales, 1.0))[np.isnan(gappy)]) ** 2)
    return float(np.sqrt(np.mean([np.mean(part) for part in squares])))


def measure(path, pattern, rate, method, draw, *, cluster):
    """One row of results."""
    views, classes = load(path)
    row = {"set": path.stem, "pattern": pattern, "rate": rate, "method": method, "draw": draw}
    if method == "complete":
        return {**row, "ACC": accuracy(views, classes, draw)}
    if method == "noise":
        rng = np.random.default_rng(draw)
        noisy = [view + NOISE * view.std(axis=0) * rng.normal(size=view.shape) for view in views]
        bounded = [np.clip(one, view.min(axis=0), view.max(axis=0)) for one, view in zip(noisy, views, strict=True)]
        return {**row, "ACC": accuracy(bounded, classes, draw)}
    incomplete = with_gaps(views, pattern, rate, draw)
    start = time.process_time()
    completed = [METHODS[method](view) for view in incomplete]
    row["seconds"] = round(time.process_time() - start, 3)
    row["error"] = round(error(completed, views, incomplete), 4)
    return {**row, "ACC": accuracy(completed, classes, draw)} if cluster else row


def tasks(args):
    """What is to be measured, complete views first."""
    for name in args.sets:
        for draw in range(args.draws):
            if not args.errors:
                yield name, "none", 0.0, "complete", draw
                yield name, "none", 0.0, "noise", draw
            for pattern in args.patterns:
                for rate in args.rates:
                    for method in args.methods:
                        yield name, pattern, rate, method, draw


def key(row):
    """What identifies a row."""
    return row["set"], row["pattern"], row["rate"], row["method"], row["draw"]


def mean_of(rows, field, **wanted):
    """Mean over draws; NaN if nothing was measured."""
    found = [row[field] for row in rows if field in row and all(row[name] == value for name, value in wanted.items())]
    return float(np.mean(found)) if found else float("nan")


def table(rows, args, field):
    """One line per pattern, rate and method; one column per data set, their mean, the loss against complete views."""
    from latefusion.tables import format_table

    lines = []
    complete = [mean_of(rows, field, set=name, method="complete") for name in args.sets]
    if field == "ACC":
        lines.append(["none", "", "complete", *(f"{value:.3f}" for value in [*complete, np.mean(complete)]), ""])
        noise = [mean_of(rows, field, set=name, method="noise") for name in args.sets]
        cells = [f"{value:.3f}" for value in [*noise, np.mean(noise)]]
        lines.append(["none", "", "noise", *cells, f"{np.mean(noise) - np.mean(complete):+.3f}"])
    for pattern in args.patterns:
        for rate in args.rates:
            for method in args.methods:
                wanted = {"pattern": pattern, "rate": rate, "method": method}
                found = [mean_of(rows, field, set=name, **wanted) for name in args.sets]
                cells = [f"{value:.3f}" for value in [*found, np.mean(found)]]
                last = f"{np.mean(found) - np.mean(complete):+.3f}"
                if field != "ACC":
                    last = f"{sum(mean_of(rows, 'seconds', set=name, **wanted) for name in args.sets):.1f} s"
                lines.append([pattern, f"{rate:.0%}", method, *cells, last])
    return format_table(["pattern", "rate", "method", *args.sets, "mean", "loss" if field == "ACC" else "CPU"], lines)


def verdicts(rows, args):
    """Whether the accepted losses hold and whether our imputation is the best, in sentences."""
    sentences = []
    whole = np.mean([mean_of(rows, "ACC", set=name, method="complete") for name in args.sets])
    for pattern in args.patterns:
        for rate in args.rates:
            means = {}
            for method in args.methods:
                wanted = {"pattern": pattern, "rate": rate, "method": method}
                means[method] = np.mean([mean_of(rows, "ACC", set=name, **wanted) for name in args.sets])
            if OURS not in means:
                continue
            loss, best = whole - means[OURS], max(means, key=means.get)
            text = f"{pattern}, {rate:.0%}: loss {loss:.3f}, best {best} ({means[best]:.3f})"
            if rate in LOSSES:
                text += f"; at most {LOSSES[rate]:.2f} {'holds' if loss <= LOSSES[rate] else 'fails'}"
            sentences.append(text)
    return sentences


def main():
    """Measure, save, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED / "data")
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="NAME")
    parser.add_argument("--rates", nargs="+", type=float, default=RATES, metavar="RATE")
    parser.add_argument("--patterns", nargs="+", choices=list(PATTERNS), default=list(PATTERNS))
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--errors", action="store_true", help="errors of imputed values only, without clustering")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    rows = json.loads(args.output.read_text())["rows"] if args.output and args.output.exists() else []
    known = {key(row) for row in rows if args.errors or "ACC" in row}
    for name, *task in tasks(args):
        if (name, *task) not in known:
            rows.append(measure(args.data / f"{name}.npz", *task, cluster=not args.errors))
            save(args.output, rows)
    print(table(rows, args, "error" if args.errors else "ACC"))
    print(f"\n{machine()}\n")
    if not args.errors:
        print("\n".join(verdicts(rows, args)))


if __name__ == "__main__":
    main()
