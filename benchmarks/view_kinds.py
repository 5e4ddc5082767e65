"""What a wrong kind of view costs: the same data with every scaling that its views could get.

usage: python benchmarks/view_kinds.py {simulated,real} [--data DIR] [--draws 5] [--output FILE.json]

simulated  four clusters of unequal sizes in two views. Reads: negative binomial counts per gene, with and without
           samples of different depths. Logarithms: the logarithms of such reads after division by the depth. Shares:
           reads as shares of their sum.
real       data sets in which a view is scaled differently by the present rule and by the former one, by which sums of
           rows counted as equal if they varied by less than 10 %. DIR has the folders `data` and `omics`.

Every view is scaled as the rule of the package says ("chosen") and as the former rule said ("former"). Views of
simulated problems are also scaled in every other way ("all distribution" and so on). Classes are used for the number of
clusters and for scores only.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

import latefusion as lf
from latefusion.encoding import column_statistics, preparation
from measuring import save
from missing_views import load

SHARED = Path(os.environ.get("LATEFUSION_SHARED", Path(__file__).parents[2] / "shared"))
KINDS = ("distribution", "abundances", "intensities", "measurements", "coordinates")
MEANS = (3.0, 30.0, 300.0)
DEPTHS = {"one depth": 0.0, "different depths": 0.5}
N_SAMPLES, SHARES, WIDTHS = 200, (0.4, 0.3, 0.2, 0.1), (300, 200)
DISPERSION, EFFECT, MARKERS = 0.4, 0.6, (30, 12)
# Constants of the former rule.
FORMER_SUMS, FORMER_LEVEL = 0.1, 0.5
Row = dict[str, Any]


def reads(rng: np.random.Generator, classes: np.ndarray, width: int, markers: int, mean: float, depth: float) -> Any:
    """Negative binomial counts of genes with different means, some of which depend on the class."""
    means = np.tile(np.exp(rng.normal(np.log(mean), 1.2, width)), (classes.max() + 1, 1))
    for row in means:
        row[rng.choice(width, markers, replace=False)] *= np.exp(EFFECT * rng.choice([-1, 1], markers))
    expected = means[classes] * np.exp(rng.normal(0, depth, (len(classes), 1)))
    return rng.negative_binomial(1 / DISPERSION, 1 / (1 + DISPERSION * expected)).astype(float)


def logarithms(counts: np.ndarray) -> np.ndarray:
    """Reads per million, in logarithms of base 2."""
    return np.log2(1 + 1e6 * counts / counts.sum(axis=1, keepdims=True))


def simulated_problems(draws: int) -> Iterator[tuple[str, list[np.ndarray], np.ndarray, int]]:
    """Name, views, classes and draw."""
    for name, depth in DEPTHS.items():
        for mean in MEANS:
            for draw in range(draws):
                rng = np.random.default_rng(draw)
                classes = rng.choice(4, N_SAMPLES, p=SHARES)
                views = [reads(rng, classes, *size, mean, depth) for size in zip(WIDTHS, MARKERS, strict=True)]
                yield f"reads, mean {mean:g}, {name}", views, classes, draw
                if depth:
                    yield f"logarithms, mean {mean:g}", [logarithms(one) for one in views], classes, draw
                    shares = [one / one.sum(axis=1, keepdims=True) for one in views]
                    yield f"shares, mean {mean:g}", shares, classes, draw


def real_problems(folder: Path) -> Iterator[tuple[str, Any, np.ndarray]]:
    """Sets of features in which the two rules differ."""
    for path in sorted([*folder.glob("data/*.npz"), *folder.glob("omics/*.npz")]):
        with np.load(path, allow_pickle=False) as data:
            if "kernel_0" in data.files:
                continue
            mask = data["mask"] if "mask" in data.files else None
        views, classes = load(path)
        known = [view if mask is None else view[mask[:, position]] for position, view in enumerate(views)]
        statistics = [column_statistics(view) for view in known]
        differ = any(preparation.describe_view(one) != former_kind(one) for one in statistics)
        if differ and len(np.unique(classes[classes >= 0])) > 1:
            yield path.stem, lf.Views(views, [f"view {p}" for p in range(len(views))], mask=mask), classes


def former_kind(statistics: Any) -> str:
    """The kind by the former rule."""
    sample, deviations = statistics.sample, statistics.deviations[statistics.deviations > 0]
    entries = sample.data if scipy.sparse.issparse(sample) else np.asarray(sample)
    nonzero = entries[entries != 0]
    if deviations.size > 2 and nonzero.size and nonzero.min() > 0:
        sparse = statistics.n_nonzero.sum() < preparation.SPARSE_SHARE * statistics.n_rows * sample.shape[1]
        if sparse and np.median(nonzero) <= preparation.SMALL_COUNT and np.all(nonzero == np.round(nonzero)):
            return "counts"
        sums = np.asarray(sample.sum(axis=1), dtype=np.float64).ravel()
        level = sums.var() / sample.shape[1]
        if sparse or (sums.std() < FORMER_SUMS * sums.mean() and level < FORMER_LEVEL * np.sum(deviations**2)):
            return "distribution"
    spread = np.sqrt(np.mean(deviations**2)) / np.exp(np.mean(np.log(deviations))) if deviations.size else 0.0
    return "measurements" if spread > preparation.UNEQUAL_SPREADS else "coordinates"


@contextmanager
def described(rule: Any) -> Iterator[None]:
    """Another rule for the kinds of views."""
    own = preparation.describe_view
    preparation.describe_view = rule
    try:
        yield
    finally:
        preparation.describe_view = own


def forced(kind: str) -> Any:
    """The rule that all views are of one kind, but for views with negative values, which are as chosen."""
    own = preparation.describe_view

    def rule(statistics: Any) -> str:
        return kind if statistics.sample.min() >= 0 or kind not in preparation.DIRECTED else own(statistics)

    return rule


def measure(name: str, views: Any, classes: np.ndarray, draw: int, kinds: Sequence[str] = ()) -> Iterator[Row]:
    """One row per rule."""
    known = classes >= 0
    rules = {"chosen": preparation.describe_view, "former": former_kind, **{f"all {one}": forced(one) for one in kinds}}
    for rule, describe in rules.items():
        with described(describe), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = lf.LateFusionClustering(len(np.unique(classes[known])), random_state=draw).fit(views)
        yield {
            "problem": name,
            "draw": draw,
            "scaling": rule,
            "kinds": [str(one) for one in model.view_kinds_],
            "ARI": adjusted_rand_score(classes[known], model.labels_[known]),
            "ACC": lf.metrics.clustering_accuracy(classes[known], model.labels_[known]),
        }


def table(rows: list[Row], score: str) -> str:
    """Mean score of every problem and scaling, as Markdown."""
    rules = list(dict.fromkeys(row["scaling"] for row in rows))
    lines = ["| problem | " + " | ".join(rules) + " |", "|---" * (len(rules) + 1) + "|"]
    for name in dict.fromkeys(row["problem"] for row in rows):
        means = [np.mean([r[score] for r in rows if (r["problem"], r["scaling"]) == (name, rule)]) for rule in rules]
        lines.append(f"| {name} | " + " | ".join(f"{one:.3f}" for one in means) + " |")
    return "\n".join(lines)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["simulated", "real"])
    parser.add_argument("--data", type=Path, default=SHARED)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    rows: list[Row] = []
    if args.what == "simulated":
        for problem in simulated_problems(args.draws):
            rows += measure(*problem, KINDS)
            save(args.output, rows)
    else:
        for name, views, classes in real_problems(args.data):
            for draw in range(args.draws):
                rows += measure(name, views, classes, draw)
            save(args.output, rows)
            print(table([row for row in rows if row["problem"] == name], "ACC").splitlines()[-1], flush=True)
    print(table(rows, "ARI" if args.what == "simulated" else "ACC"))


if __name__ == "__main__":
    main()
