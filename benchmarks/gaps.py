"""Single missing values: our imputation and those of scikit-learn, followed by the same clustering.

usage: python benchmarks/gaps.py [--data DATA_DIR] [--sets NAME ...] [--rates 0.05 0.2 0.4] [--patterns random blocks]
       [--draws N] [--methods NAME ...] [--output FILE.json] [--errors]

Of every view, a share of the values is removed. Pattern "random": each value with the same probability. Pattern
"blocks": some samples lose a block of adjacent columns, half of all columns where the rate allows it. Every row keeps
a value. All methods get the same gaps. The views are then completed and clustered by
``LateFusionClustering(n_classes, random_state=draw)``. Classes are used for scores only.

Small sets get more draws, because their accuracy varies more and a fit costs less: 10000 divided by the number of
samples, at least 5 and at most 50. ``--draws`` sets one number for all; ``--draws 0`` prints the tables of the output
file.

IterativeImputer is limited to 20 predictors per column and 3 rounds, because it needs minutes for wide views otherwise.
The other imputers of scikit-learn have their defaults. ``--methods`` also accepts the variants that are listed
in ``VARIANTS``.

The first table has the mean accuracy over the draws with its standard error. The mean over the sets has the same weight
for every set; its standard error is that of the draws, for these sets. The line "noise" has complete views plus
independent noise of 1 % of the standard deviation of each column. It shows how much the clustering itself changes with
the smallest change of the views. The second table has the differences between our imputation and every other method,
from pairs with the same set, gaps and random state; the third has their means. A bar holds if the difference is at
least the bar, fails if it is more than two standard errors below, and is open otherwise.

The other tables do not depend on classes, nor on which candidate the search selects: the adjusted Rand index between
the labels of a candidate and those of the same candidate for complete views, as a mean over the candidates. It shows
what an imputation changes.

With --errors there is one table: the root mean square error of the imputed values, in units of the standard deviations
of the columns, and the seconds of the imputation. Rows that the output file contains already are not measured again.

The data are read from DATA_DIR, from the folder data in LATEFUSION_SHARED, or from ../shared/data.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import time
import warnings
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np
from sklearn.metrics import adjusted_rand_score

import latefusion
from latefusion.encoding import gaps
from latefusion.encoding.column_statistics import column_statistics
from latefusion.encoding.preparation import describe_view
from latefusion.selection import search
from latefusion.tables import format_table
from measuring import machine, save

SHARED = Path(os.environ.get("LATEFUSION_SHARED", Path(__file__).parents[2] / "shared"))
SETS = ("nutrimouse", "msrc_v1", "rosmap", "prokaryotic", "mfeat", "caltech101_7")
RATES = (0.05, 0.2, 0.4)
# Loss of mean accuracy that is accepted at these rates.
LOSSES = {0.05: 0.01, 0.2: 0.02, 0.4: 0.05}
# Draws of a set: so many samples altogether, within these limits.
DRAWN_SAMPLES = 10_000
LEAST_DRAWS = 5
MOST_DRAWS = 50
# Differences of so many standard errors are not due to the draws.
CERTAIN = 2.0
# Blocks are half of the columns, in at most this share of the samples.
MOST_SAMPLES = 0.8
OURS = "latefusion"
# Standard deviation of the noise that is added to complete views, for comparison.
NOISE = 0.01


class Estimate(NamedTuple):
    """A mean and its standard error; NaN if it is unknown."""

    mean: float
    error: float

    @classmethod
    def of_draws(cls, values):
        """From independent draws."""
        n_values = len(values)
        error = np.std(values, ddof=1) / np.sqrt(n_values) if n_values > 1 else float("nan")
        return cls(float(np.mean(values)) if n_values else float("nan"), float(error))

    @classmethod
    def of_sets(cls, parts):
        """The mean of independent estimates with equal weights."""
        errors = np.array([part.error for part in parts])
        return cls(float(np.mean([part.mean for part in parts])), float(np.sqrt(np.sum(errors**2)) / len(parts)))

    def text(self, sign=""):
        """With three digits."""
        if np.isnan(self.mean):
            return "–"
        return f"{self.mean:{sign}.3f}" + ("" if np.isnan(self.error) else f" ± {self.error:.3f}")

    def against(self, bar):
        """Whether the mean is at least a bar."""
        if self.mean >= bar:
            return "holds"
        return "fails" if self.mean < bar - CERTAIN * self.error else "open"


@functools.lru_cache(maxsize=1)
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
    return gaps.fit_gap_filling(view)(view)


def impute_by_means(view):
    """Column means."""
    return np.where(np.isnan(view), np.nanmean(view, axis=0), view)


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


def each(impute):
    """The same imputation of every view."""
    return lambda views: [impute(view) for view in views]


def by_residuals(change):
    """Our imputation with ``change(residuals_of, filling)`` in the place of ``residuals_of``."""

    def impute(view):
        filling = gaps.fit_gap_filling(view)
        with mock.patch.object(gaps._Donors, "residuals_of", change(gaps._Donors.residuals_of, filling)):
            return filling(view)

    return each(impute)


def times(weight):
    """Residuals times a weight; zero leaves the conditional means."""
    return by_residuals(lambda original, _: lambda *row: weight * original(*row))


def in_units_of_columns(original, filling):
    """Donors are near by distances of the columns as they are, not as standardized."""
    units = filling.scales / np.sqrt(np.mean(filling.scales**2))

    def residuals_of(donors, values, observed):
        scaled = donors._replace(rows=donors.rows * units, squares=donors.squares * units**2)
        return original(scaled, values * units, observed)

    return residuals_of


def impute_from_many(view):
    """Residuals of 20 donors."""
    with mock.patch.object(gaps, "N_DONORS", 20):
        return impute_ours(view)


def impute_roots(view):
    """Square roots of distributions, because Hellinger distances are distances of roots; other views as they are."""
    if np.nanmin(view) < 0 or describe_view(column_statistics(impute_ours(view))) != "distribution":
        return impute_ours(view)
    return impute_ours(np.sqrt(view)) ** 2


def impute_together(views):
    """All views side by side as one."""
    together = impute_ours(np.hstack(views))
    return np.split(together, np.cumsum([view.shape[1] for view in views])[:-1], axis=1)


def impute_in_range(view):
    """Regressions within the observed range of each column: the others impute such values only."""
    return np.clip(impute_by_regressions(view), np.nanmin(view, axis=0), np.nanmax(view, axis=0))


METHODS = {
    OURS: each(impute_ours),
    "mean": each(impute_by_means),
    "KNNImputer": each(impute_by_neighbors),
    "IterativeImputer": each(impute_by_regressions),
}
# Variants of our imputation that were tried and are not used, and one of IterativeImputer.
VARIANTS = {
    "no residuals": times(0.0),
    "half residuals": times(0.5),
    "20 donors": each(impute_from_many),
    "units of columns": by_residuals(in_units_of_columns),
    "roots": each(impute_roots),
    "all views": impute_together,
    "in range": each(impute_in_range),
}


def with_gaps(views, pattern, rate, draw):
    """Views with gaps, the same for all methods."""
    rng = np.random.default_rng([draw, round(1000 * rate), list(PATTERNS).index(pattern)])
    return [np.where(PATTERNS[pattern](view.shape, rate, rng), np.nan, view) for view in views]


def cluster(views, n_clusters, draw):
    """Labels of complete views, and those of all candidates of the search."""
    found, choose = {}, search.choose

    def record(candidates, n_samples):
        found.update({(one.similarity, one.weighting, one.regularization): one.labels for one in candidates})
        return choose(candidates, n_samples)

    with mock.patch.object(search, "choose", record):
        return latefusion.LateFusionClustering(n_clusters, random_state=draw).fit_predict(views), found


@functools.lru_cache(maxsize=1)
def complete_candidates(path, draw):
    """Labels of the candidates if nothing is missing."""
    views, classes = load(path)
    return cluster(views, len(np.unique(classes)), draw)[1]


def scores(completed, path, draw):
    """Accuracy of the clustering, and how much its candidates agree with those of the complete views."""
    classes, complete = load(path)[1], complete_candidates(path, draw)
    labels, candidates = cluster(completed, len(np.unique(classes)), draw)
    agreement = [adjusted_rand_score(complete[one], candidates[one]) for one in complete.keys() & candidates.keys()]
    accuracy = float(latefusion.metrics.clustering_accuracy(classes, labels))
    return {"ACC": round(accuracy, 4), "agreement": round(float(np.mean(agreement)), 4)}


def error(completed, views, incomplete):
    """Root mean square error of the imputed values of all views, in standard deviations of their columns."""
    squares = []
    for result, view, gappy in zip(completed, views, incomplete, strict=True):
        scales = view.std(axis=0)
        differences = ((result - view) / np.where(scales > 0, scales, 1.0))[np.isnan(gappy)]
        if differences.size:  # a small view may have no gap
            squares.append(np.mean(differences**2))
    return float(np.sqrt(np.mean(squares)))


def measure(path, pattern, rate, method, draw, *, clusters):
    """One row of results."""
    views = load(path)[0]
    row = {"set": path.stem, "pattern": pattern, "rate": rate, "method": method, "draw": draw}
    if method == "complete":
        return row | scores(views, path, draw)
    if method == "noise":
        rng = np.random.default_rng(draw)
        noisy = [view + NOISE * view.std(axis=0) * rng.normal(size=view.shape) for view in views]
        bounded = [np.clip(one, view.min(axis=0), view.max(axis=0)) for one, view in zip(noisy, views, strict=True)]
        return row | scores(bounded, path, draw)
    incomplete = with_gaps(views, pattern, rate, draw)
    start = time.process_time()
    completed = (METHODS | VARIANTS)[method](incomplete)
    row["seconds"] = round(time.process_time() - start, 3)
    row["error"] = round(error(completed, views, incomplete), 4)
    return row | scores(completed, path, draw) if clusters else row


def n_draws(args, name):
    """Draws of a set: more of small ones."""
    if args.draws is not None:
        return args.draws
    n_samples = len(load(args.data / f"{name}.npz")[1])
    return min(max(DRAWN_SAMPLES // n_samples, LEAST_DRAWS), MOST_DRAWS)


def tasks(args):
    """What is to be measured, complete views first."""
    for name in args.sets:
        for draw in range(n_draws(args, name)):
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


class Results:
    """Rows by what was measured, and the means over their draws."""

    def __init__(self, rows, sets, field):
        self.sets = sets
        self.draws = defaultdict(dict)
        for row in rows:
            if field in row:
                self.draws[row["set"], row["pattern"], row["rate"], row["method"]][row["draw"]] = row[field]

    def means(self, pattern, rate, method):
        """One estimate per set, and their mean."""
        found = [self.draws[name, pattern, rate, method] for name in self.sets]
        return self._with_mean([Estimate.of_draws(list(values.values())) for values in found])

    def differences(self, cells, other):
        """Ours minus another method, draw by draw, as a mean over patterns and rates: per set, and their mean."""
        parts = []
        for name in self.sets:
            found = defaultdict(list)
            for pattern, rate in cells:
                ours = self.draws[name, pattern, rate, OURS]
                theirs = self.draws[(name, "none", 0.0, other) if other == "complete" else (name, pattern, rate, other)]
                for draw in ours.keys() & theirs.keys():
                    found[draw].append(ours[draw] - theirs[draw])
            parts.append(Estimate.of_draws([np.mean(one) for one in found.values() if len(one) == len(cells)]))
        return self._with_mean(parts)

    def _with_mean(self, parts):
        return [*parts, Estimate.of_sets(parts)]


def means(results, args):
    """One line per pattern, rate and method."""
    wanted = [("none", 0.0, "complete"), ("none", 0.0, "noise"), *cases(args, args.methods)]
    lines = [
        [pattern, f"{rate:.0%}", method, *(one.text() for one in results.means(pattern, rate, method))]
        for pattern, rate, method in wanted
    ]
    return format_table(["pattern", "rate", "method", *args.sets, "mean"], lines)


def differences(results, args):
    """Ours minus every other method, what is asked of the difference, and whether this holds."""
    lines = []
    for pattern, rate, other in cases(args, ["complete", *others(args)]):
        found = results.differences([(pattern, rate)], other)
        bar = -LOSSES.get(rate, float("nan")) if other == "complete" else 0.0
        verdict = "" if np.isnan(bar) else f"≥ {bar:.2f} {found[-1].against(bar)}"
        lines.append([pattern, f"{rate:.0%}", other, *(one.text("+") for one in found), verdict])
    return format_table(["pattern", "rate", "ours minus", *args.sets, "mean", "bar"], lines)


def overall(results, args):
    """Ours minus every other method over all patterns and rates, from draws that have them all."""
    cells = [(pattern, rate) for pattern in args.patterns for rate in args.rates]
    lines = [[other, *(one.text("+") for one in results.differences(cells, other))] for other in others(args)]
    return format_table(["ours minus", *args.sets, "mean"], lines)


def others(args):
    """The methods that ours is compared with."""
    return [method for method in args.methods if method != OURS]


def errors(results, rows, args):
    """Errors of imputed values and the seconds of all sets, one draw of each."""
    seconds, lines = Results(rows, args.sets, "seconds"), []
    for pattern, rate, method in cases(args, args.methods):
        total = sum(one.mean for one in seconds.means(pattern, rate, method)[:-1])
        found = [one.text() for one in results.means(pattern, rate, method)]
        lines.append([pattern, f"{rate:.0%}", method, *found, "–" if np.isnan(total) else f"{total:.1f} s"])
    return format_table(["pattern", "rate", "method", *args.sets, "mean", "CPU"], lines)


def cases(args, methods):
    """All patterns, rates and methods."""
    return [(pattern, rate, method) for pattern in args.patterns for rate in args.rates for method in methods]


def main():
    """Measure, save, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED / "data")
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="NAME")
    parser.add_argument("--rates", nargs="+", type=float, default=RATES, metavar="RATE")
    parser.add_argument("--patterns", nargs="+", choices=list(PATTERNS), default=list(PATTERNS))
    parser.add_argument("--draws", type=int, help="draws of every set; by default more of small sets")
    parser.add_argument("--methods", nargs="+", choices=[*METHODS, *VARIANTS], default=list(METHODS))
    parser.add_argument("--errors", action="store_true", help="errors of imputed values only, without clustering")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    rows = json.loads(args.output.read_text())["rows"] if args.output and args.output.exists() else []
    known = {key(row) for row in rows if args.errors or "ACC" in row}
    for name, *task in tasks(args):
        if (name, *task) not in known:
            rows.append(measure(args.data / f"{name}.npz", *task, clusters=not args.errors))
            save(args.output, rows)
    if args.errors:
        print(errors(Results(rows, args.sets, "error"), rows, args))
    else:
        results = Results(rows, args.sets, "ACC")
        agreement = Results(rows, args.sets, "agreement")
        for title, table in (
            ("Accuracy", means(results, args)),
            ("Differences of accuracy", differences(results, args)),
            ("Differences of accuracy over all patterns and rates", overall(results, args)),
            ("Agreement with the candidates of complete views", means(agreement, args)),
            ("Differences of agreement over all patterns and rates", overall(agreement, args)),
        ):
            print(f"{title}\n\n{table}\n")
    print(machine())


if __name__ == "__main__":
    main()
