"""Views of random numbers beside views with clusters: whether they change the result, and are recognized.

usage: python benchmarks/noise_views.py [--draws 10] [--output FILE.json]

Every problem has 3 to 6 views, of which 1 or 2 are noise with 1, 2, 3, 5 or 30 columns: Gaussian, uniform, binary, or
in mixed units (sex, age, body-mass index). The other views have 20 to 200 columns and four planted clusters, of equal
or of unequal sizes, well separated or overlapping. Every combination of columns, distribution and sizes is drawn
`--draws` times.

A run counts as unharmed if the adjusted Rand index with the planted clusters is at most .03 below that of the same data
without the noise views. A noise view counts as recognized if it is in ``unrelated_views_``; its weight should be lower
than that of every other view. The last line counts views with clusters that were taken for noise.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

import latefusion as lf
from measuring import save

COLUMNS = (1, 2, 3, 5, 30)
DISTRIBUTIONS = ("gaussian", "uniform", "binary", "mixed units")
SIZES = {"equal": (100, 100, 100, 100), "unequal": (206, 110, 66, 18), "patients": (309, 164, 100, 27)}
SHAPES = ((3, 1), (4, 1), (4, 2), (5, 2), (6, 1), (6, 2))  # views, and how many of them are noise
WIDTHS = (200, 60, 120, 20, 40)
SEPARATIONS = (3.0, 5.0)
HARMLESS = 0.03


class Problem(NamedTuple):
    """What is drawn."""

    n_views: int
    n_noise: int
    columns: int
    distribution: str
    sizes: str
    separation: float
    draw: int


def problems(draws: int) -> list[Problem]:
    """All combinations of columns, distribution and sizes; numbers of views and separations take turns."""
    combinations = itertools.product(range(draws), COLUMNS, DISTRIBUTIONS, ("equal", "unequal"))
    found = []
    for position, (draw, columns, distribution, sizes) in enumerate(combinations):
        shape, separation = SHAPES[position % len(SHAPES)], SEPARATIONS[draw % len(SEPARATIONS)]
        found.append(Problem(*shape, columns, distribution, sizes, separation, draw))
    patients = [(3, "mixed units"), (1, "gaussian"), (2, "gaussian")]
    found += [
        Problem(3, 1, columns, distribution, "patients", 5.0, draw)
        for columns, distribution in patients
        for draw in range(draws)
    ]
    return found


def noise(rng: np.random.Generator, n_samples: int, columns: int, distribution: str) -> np.ndarray:
    """Random numbers."""
    if distribution == "gaussian":
        return rng.standard_normal((n_samples, columns))
    if distribution == "uniform":
        return rng.random((n_samples, columns))
    if distribution == "binary":
        return (rng.random((n_samples, columns)) < rng.uniform(0.2, 0.8, columns)).astype(float)
    kinds = [
        lambda: (rng.random(n_samples) < 0.5).astype(float),
        lambda: np.round(rng.uniform(20, 90, n_samples)),
        lambda: rng.normal(25, 4, n_samples),
    ]
    return np.column_stack([kinds[column % 3]() for column in range(columns)])


def draw_views(problem: Problem) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], np.ndarray]:
    """Views with clusters, noise views, and the planted clusters."""
    options = [
        COLUMNS.index(problem.columns),
        DISTRIBUTIONS.index(problem.distribution),
        list(SIZES).index(problem.sizes),
    ]
    rng = np.random.default_rng([problem.draw, *options, problem.n_views, problem.n_noise])
    clusters = rng.permutation(np.repeat(np.arange(4), SIZES[problem.sizes]))
    views = {}
    for position, width in enumerate(WIDTHS[: problem.n_views - problem.n_noise]):
        # The expected distance of two centers is the separation in units of the standard deviation of a cluster.
        centers = rng.standard_normal((4, width)) * problem.separation / np.sqrt(2 * width)
        views[f"view {position}"] = centers[clusters] + rng.standard_normal((len(clusters), width))
    others = {
        f"noise {position}": noise(rng, len(clusters), problem.columns, problem.distribution)
        for position in range(problem.n_noise)
    }
    return views, others, clusters


def fit(views: dict[str, np.ndarray], seed: int) -> lf.LateFusionClustering:
    """Ours, with its defaults."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lf.LateFusionClustering(4, random_state=seed).fit(views)


def run(problem: Problem) -> dict[str, object]:
    """Scores with and without noise views, and what was said of them."""
    views, others, clusters = draw_views(problem)
    without, model = fit(views, problem.draw), fit(views | others, problem.draw)
    weights = dict(zip(model.view_names_, model.view_weights_.tolist(), strict=True))
    return {
        **problem._asdict(),
        "without": round(adjusted_rand_score(clusters, without.labels_), 4),
        "with": round(adjusted_rand_score(clusters, model.labels_), 4),
        "recognized": sum(name in model.unrelated_views_ for name in others),
        "lowest": max(weights[name] for name in others) < min(weights[name] for name in views),
        "mistaken": sum(name in model.unrelated_views_ for name in views),
    }


def summary(rows: list[dict[str, object]], label: str) -> str:
    """One line of the table."""
    harmless = np.mean([row["with"] >= row["without"] - HARMLESS for row in rows])
    recognized = sum(row["recognized"] for row in rows) / sum(row["n_noise"] for row in rows)
    lowest = np.mean([row["lowest"] for row in rows])
    scores = [np.mean([row[name] for row in rows]) for name in ("without", "with")]
    shares = " | ".join(f"{share:.1%}" for share in (harmless, recognized, lowest))
    return f"| {label} | {len(rows)} | {scores[0]:.3f} | {scores[1]:.3f} | {shares} |"


def main() -> None:
    """Run all problems and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    rows = [run(problem) for problem in problems(args.draws)]
    save(args.output, rows)
    print("| problems | runs | ARI without noise | with noise | unharmed | noise recognized | lowest weights |")
    print("|---|---|---|---|---|---|---|")
    for key, values in (("columns", COLUMNS), ("distribution", DISTRIBUTIONS), ("sizes", SIZES)):
        for value in values:
            print(summary([row for row in rows if row[key] == value], f"{key}: {value}"))
    print(summary(rows, "all"))
    print(f"Views with clusters taken for noise: {sum(row['mistaken'] for row in rows)}")


if __name__ == "__main__":
    main()
