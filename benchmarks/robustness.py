"""`LateFusionClustering` where it is tested hardest: patients, missing views, published masks, and small changes.

usage: python benchmarks/robustness.py {patients,missing,masks,changes} [--data DIR] [--seeds N] [--sets NAME ...]
       [--output FILE.json]

patients  ACC and NMI on sets of patients with known subtypes, the number of clusters given, five seeds; samples without
          a class take part in the fit and not in the scores. DIR has the files of `omics`.
missing   mean ACC with 30 and 50 % of the views missing, fifteen draws, and the same with similarity="graph" and
          "kernel": whether the choice of the similarity is better than each fixed one. DIR has files of `data` or
          `omics`.
masks     mean ACC on a data set with published masks (arrays mask_RATE), five seeds, complete and with every mask. DIR
          is the file.
changes   the digits of the demo with ten seeds, ten orders of the samples, and 1 to 10 columns of Gaussian noise added
          to a view: the range of the adjusted Rand index with the classes, and whether another clustering with an equal
          score was reported (`alternatives_`).

Classes are used for the number of clusters and for scores only. Rows that the output file contains are not measured
again.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

import latefusion as lf
from measuring import machine, save
from missing_views import draw, load, random_holes, with_holes

SHARED = Path(os.environ.get("LATEFUSION_SHARED", Path(__file__).parents[2] / "shared"))
DATA = {"patients": SHARED / "omics", "missing": SHARED, "masks": SHARED / "published" / "bdgp_cbg.npz"}
SEEDS = {"patients": 5, "missing": 15, "masks": 5, "changes": 10}
RATES = (0.3, 0.5)
MISSING_SETS = ("data/nutrimouse", "data/rosmap", "data/prokaryotic", "omics/coread", "omics/brca_jive")
SIMILARITIES = ("auto", "graph", "kernel")
NOISE_COLUMNS = (1, 2, 3, 5, 10)
# Largest distance of the ARI of a run to the median of all runs that is not counted.
LARGEST_RANGE = 0.03
Row = dict[str, Any]


def fit(views: Any, n_clusters: int, seed: int, **options: Any) -> lf.LateFusionClustering:
    """A fitted model; warnings about weak structure and unrelated views are results here, not noise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lf.LateFusionClustering(n_clusters, random_state=seed, **options).fit(views)


def scores(classes: np.ndarray, labels: np.ndarray) -> Row:
    """ACC, NMI and ARI over the samples with a class."""
    known = classes >= 0
    found = lf.metrics.clustering_scores(classes[known], labels[known])
    return {"ACC": found["accuracy"], "NMI": found["nmi"], "ARI": found["ari"]}


def patients(args: argparse.Namespace, known: set[str]) -> Iterator[Row]:
    """Every set with classes."""
    for path in sorted(args.data.glob("*.npz")):
        views, classes = load(path)
        with np.load(path, allow_pickle=False) as data:
            mask = data["mask"] if "mask" in data.files else None
        if (classes < 0).all() or (args.sets and path.stem not in args.sets):
            continue
        given = lf.Views(views, [f"view {p}" for p in range(len(views))], mask=mask)
        for seed in range(args.seeds):
            key = f"{path.stem}, {seed}"
            if key not in known:
                model = fit(given, len(np.unique(classes[classes >= 0])), seed)
                yield {"key": key, "case": path.stem, **scores(classes, model.labels_)}


def missing(args: argparse.Namespace, known: set[str]) -> Iterator[Row]:
    """Every set, rate, similarity and draw."""
    for name in args.sets or MISSING_SETS:
        everything, classes_of_all = load(args.data / f"{name}.npz")
        for rate in RATES:
            for seed in range(args.seeds):
                views, classes = draw(everything, classes_of_all, seed)
                incomplete = with_holes(views, random_holes(len(classes), len(views), rate, seed))
                for similarity in SIMILARITIES:
                    key = f"{name}, {rate}, {similarity}, {seed}"
                    if key not in known:
                        model = fit(incomplete, len(np.unique(classes)), 0, similarity=similarity)
                        case = f"{name} {rate:.0%} {similarity}"
                        yield {"key": key, "case": case, **scores(classes, model.labels_)}


def masks(args: argparse.Namespace, known: set[str]) -> Iterator[Row]:
    """Complete data, and every published mask."""
    views, classes = load(args.data)
    with np.load(args.data, allow_pickle=False) as data:
        published = {name: data[name] for name in sorted(data.files) if name.startswith("mask_")}
    names = [f"view {p}" for p in range(len(views))]
    for name, mask in {"complete": None, **published}.items():
        for seed in range(args.seeds):
            if f"{name}, {seed}" not in known:
                model = fit(lf.Views(views, names, mask=mask), len(np.unique(classes)), seed)
                yield {"key": f"{name}, {seed}", "case": name, **scores(classes, model.labels_)}


def changes(args: argparse.Namespace, known: set[str]) -> Iterator[Row]:
    """The digits with other seeds, orders and added columns."""
    data = lf.datasets.load_digits_views()
    arrays, classes = [np.asarray(one) for one in data.views.arrays], np.asarray(data.target)
    whole = np.arange(len(classes))
    for seed in range(args.seeds):
        rng = np.random.default_rng(seed)
        tasks = {"seeds": (arrays, whole, seed)}
        order = rng.permutation(len(classes))
        tasks["orders"] = ([one[order] for one in arrays], order, 0)
        for count in NOISE_COLUMNS:
            noise = arrays[0].std() * rng.normal(size=(len(classes), count))
            tasks[f"{count} columns of noise"] = ([np.hstack([arrays[0], noise]), *arrays[1:]], whole, 0)
        for case, (views, rows, model_seed) in tasks.items():
            key = f"{case}, {seed}"
            if key not in known:
                model = fit(dict(zip(data.views.names, views, strict=True)), 10, model_seed)
                found = scores(classes[rows], model.labels_)
                others = [adjusted_rand_score(classes[rows[one.samples]], one.labels) for one in model.alternatives_]
                yield {"key": key, "case": case, **found, "alternatives": others}


CASES = {"patients": patients, "missing": missing, "masks": masks, "changes": changes}


def print_table(what: str, rows: list[Row]) -> None:
    """Means over seeds or draws with standard errors; for changes the range and the reported ties."""
    for case in dict.fromkeys(row["case"] for row in rows):
        own = [row for row in rows if row["case"] == case]
        values = {name: np.array([row[name] for row in own]) for name in ("ACC", "NMI", "ARI")}
        means = "  ".join(f"{name} {one.mean():.3f} ± {_error(one):.3f}" for name, one in values.items())
        line = f"{case:28s} n={len(own):2d}  {means}"
        if what == "changes":
            low, high = values["ARI"].min(), values["ARI"].max()
            tied = sum(bool(row["alternatives"]) for row in own)
            line += f"  ARI {low:.3f} to {high:.3f}; other clusterings reported in {tied} of {len(own)}"
        print(line)


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def print_changes(rows: list[Row]) -> None:
    """Runs farther than the limit from the median run, and in how many of them a tie was reported."""
    middle = np.median([row["ARI"] for row in rows])
    far = [row for row in rows if abs(row["ARI"] - middle) > LARGEST_RANGE]
    tied = sum(bool(row["alternatives"]) for row in far)
    print(f"{len(far)} of {len(rows)} runs are more than {LARGEST_RANGE} from the median ARI {middle:.3f}; ", end="")
    print(f"other clusterings with an equal score were reported in {tied} of these.")


def main() -> None:
    """Measure, save, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=list(CASES))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--sets", nargs="+", metavar="NAME")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    args.data = args.data or DATA.get(args.what)
    args.seeds = args.seeds or SEEDS[args.what]
    rows = json.loads(args.output.read_text())["rows"] if args.output and args.output.exists() else []
    for row in CASES[args.what](args, {row["key"] for row in rows}):
        rows.append(row)
        save(args.output, rows)
    print_table(args.what, rows)
    if args.what == "changes":
        print_changes(rows)
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
