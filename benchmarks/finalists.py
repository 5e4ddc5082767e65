"""Which candidates of `LateFusionClustering` are compared by their final labels, and what that gains.

usage: python benchmarks/finalists.py DATA_DIR [OMICS_DIR] [--seeds 2] [--most-samples 3000] [--most-classes 60]
       [--sets NAME ...] [--output FILE.json]

Every candidate of a fit is finished: it gets the labels that the model would have if it were chosen. Then every rule
chooses one of them:

- first: the candidate of the highest score before the refinement. No other is finished.
- all: the highest score of final labels, if the gain over the first exceeds its standard error.
- errors, share, most: the same among those whose score is lower than that of the first by at most so many standard
  errors, whose labels differ on more than this share of the samples, and at most so many.
- known classes: the highest accuracy. The limit for any rule.

Classes are used for the scores of the table only. The last line has the rule that is best on all other sets, for every
set in turn. Rows that the output file contains are not measured again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import latefusion as lf
from latefusion.selection import finalists, search
from latefusion.selection.criterion import standard_error
from latefusion.selection.table import LEAST_BREADTH, is_gain
from measuring import machine, save
from missing_views import load

ERRORS, SHARES, MOST = (1.0, 2.0, 3.0, np.inf), (0.0, 0.01, 0.05), (3, 6, 99)
USED = (np.inf, 0.0, finalists.MOST_FINALISTS)
Row = dict[str, Any]
Rule = Callable[[Row], int]


def problems(args: argparse.Namespace) -> Iterator[tuple[str, Any, np.ndarray, dict[str, Any]]]:
    """Name, views, classes (-1 for none) and options of every set."""
    for path in sorted(path for folder in args.data for path in folder.glob("*.npz")):
        with np.load(path, allow_pickle=False) as data:
            classes = data["y"] if "y" in data.files else np.empty(0)
            n_classes = len(np.unique(classes[classes >= 0]))
            if not 2 <= n_classes <= args.most_classes or len(classes) > args.most_samples:
                continue
            if args.sets and path.stem not in args.sets:
                continue
            mask = data["mask"] if "mask" in data.files else None
            kernels = [data[f"kernel_{p}"] for p in range(len(data["names"]))] if "kernel_0" in data.files else None
        if kernels is not None:
            yield path.stem, kernels, classes, {"similarity": "precomputed"}
        else:
            views = load(path)[0]
            names = [f"view {p}" for p in range(len(views))]
            yield path.stem, lf.Views(views, names, mask=mask), classes, {}
    digits = lf.datasets.load_digits_views()
    if not args.sets or "digits" in args.sets:
        yield "digits", digits.views, np.asarray(digits.target), {}


def measure(views: Any, classes: np.ndarray, seed: int, options: dict[str, Any]) -> Row:
    """All candidates of one fit: scores before and after the refinement, accuracy, and how much their labels differ."""
    found: Row = {}
    original = search.choose_finalist

    def finish_all(selected: Any, spaces: Any, candidates: Any, alone: Any) -> Any:
        finished = [finalists._finish(selected, spaces, one).finished for one in candidates]
        searched = np.arange(len(classes)) if selected.samples is None else selected.samples
        known = classes[searched[selected.criterion.samples]]
        found["first"] = next(number for number, one in enumerate(candidates) if one is selected.candidate)
        found["before"] = [describe(one, known) for one in candidates]
        found["after"] = [describe(one, known) for one in finished]
        found["moved"] = [[moved(one, other) for other in candidates] for one in candidates]
        return original(selected, spaces, candidates, alone)

    with mock.patch.object(search, "choose_finalist", finish_all), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        n_clusters = len(np.unique(classes[classes >= 0]))
        lf.LateFusionClustering(n_clusters, random_state=seed, **options).fit(views)
    return found


def describe(one: Any, classes: np.ndarray) -> Row:
    """Score and scores by the classes of a candidate."""
    scores = lf.metrics.clustering_scores(classes[classes >= 0], one.labels[classes >= 0])
    by_class = {name: round(scores[key], 4) for name, key in (("ACC", "accuracy"), ("NMI", "nmi"), ("ARI", "ari"))}
    parts = [round(part, 5) for part in one.score.parts.tolist()]
    return {"value": round(one.score.value, 5), "parts": parts, "breadth": round(one.score.breadth, 4), **by_class}


def moved(one: Any, other: Any) -> float:
    """Share of the samples on which labels differ."""
    return round(float(np.mean(lf.metrics.match_labels(one.labels, other.labels) != one.labels)), 4)


def difference(one: Row, other: Row) -> tuple[float, float]:
    """Score of the other candidate minus that of one, and the standard error."""
    return other["value"] - one["value"], standard_error(np.subtract(other["parts"], one["parts"]))


def choose(row: Row, compared: list[int]) -> int:
    """The best of some candidates by their final labels, if it is better than the first."""
    after, first = row["after"], row["first"]
    least = LEAST_BREADTH * row["before"][0]["breadth"]
    broad = [first, *(one for one in compared if after[one]["breadth"] >= least)]
    best = max(broad, key=lambda one: after[one]["value"])
    return best if is_gain(*difference(after[first], after[best])) else first


def finalists_of(row: Row, errors: float, share: float, most: int) -> list[int]:
    """The candidates that a rule finishes beside the first."""
    before, first = row["before"], row["first"]
    least = LEAST_BREADTH * before[0]["breadth"]
    found: list[int] = []
    for one in sorted(range(len(before)), key=lambda number: -before[number]["value"]):
        gap, error = difference(before[first], before[one])
        others = [row["moved"][other][one] for other in (first, *found)]
        if before[one]["breadth"] >= least and gap >= -errors * error and min(others) > share:
            found.append(one)
    return found[:most]


def rules() -> dict[Any, Rule]:
    """Every rule by its name or its parameters."""
    found: dict[Any, Rule] = {
        "first": lambda row: row["first"],
        "all": lambda row: choose(row, list(range(len(row["after"])))),
        "known classes": lambda row: int(np.argmax([one["ACC"] for one in row["after"]])),
    }
    for parameters in itertools.product(ERRORS, SHARES, MOST):
        found[parameters] = lambda row, parameters=parameters: choose(row, finalists_of(row, *parameters))
    return found


def means(rows: list[Row], rule: Rule) -> tuple[np.ndarray, list[str]]:
    """ACC, NMI and ARI of the chosen candidates, mean over seeds, for every set."""
    names = list(dict.fromkeys(row["set"] for row in rows))
    table = []
    for name in names:
        own = [row["after"][rule(row)] for row in rows if row["set"] == name]
        table.append(np.mean([[one[score] for score in ("ACC", "NMI", "ARI")] for one in own], axis=0))
    return np.array(table), names


def print_table(rows: list[Row]) -> None:
    """One line per rule, and the rule that is best on all other sets."""
    tables = {name: means(rows, rule)[0] for name, rule in rules().items()}
    first, n_sets = tables["first"], len(tables["first"])
    print(
        f"{n_sets} sets; ACC, NMI, ARI; difference of ACC to 'first' with standard error; sets better, worse; finished"
    )
    for name, table in tables.items():
        gains = table[:, 0] - first[:, 0]
        error = gains.std(ddof=1) / np.sqrt(n_sets) if n_sets > 1 else float("nan")
        counts = f"+{np.sum(gains > 0.005)} -{np.sum(gains < -0.005)}"
        finished = np.mean([len(finalists_of(row, *name)) for row in rows]) if isinstance(name, tuple) else np.nan
        mark = " <- used" if name == USED else ""
        scores = " ".join(f"{value:.4f}" for value in table.mean(axis=0))
        print(f"{name!s:22s} {scores}  {gains.mean():+.4f} ± {error:.4f}  {counts}  {finished:.1f}{mark}")
    choices = [name for name in tables if isinstance(name, tuple)]
    stacked = np.array([tables[name] for name in choices])
    left_out = []
    for one in range(n_sets):
        others = np.delete(stacked[:, :, 0], one, axis=1).mean(axis=1)
        left_out.append(stacked[int(np.argmax(others)), one])
    print("chosen on other sets  ", " ".join(f"{value:.4f}" for value in np.mean(left_out, axis=0)))


def main() -> None:
    """Measure, save, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--most-samples", type=int, default=3000)
    parser.add_argument("--most-classes", type=int, default=60)
    parser.add_argument("--sets", nargs="+", metavar="NAME")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    rows = json.loads(args.output.read_text())["rows"] if args.output and args.output.exists() else []
    known = {(row["set"], row["seed"]) for row in rows}
    for name, views, classes, options in problems(args):
        for seed in range(args.seeds):
            if (name, seed) not in known:
                rows.append({"set": name, "seed": seed, **measure(views, classes, seed, options)})
                save(args.output, rows)
    print_table(rows)
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
