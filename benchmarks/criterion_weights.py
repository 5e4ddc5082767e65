"""Two choices inside the criterion of `LateFusionClustering`: relative informations, and the entropy of labels.

usage: python benchmarks/criterion_weights.py DATA_DIR [OMICS_DIR] [--mixed] [--seed 0] [--output FILE.json]

Data: all sets of the folders with at most 2100 samples and 60 classes, and with ``--mixed`` the tables of
`mixed_tables.py` whose packages are installed. The candidates of a fit with the default parameters are assigned labels
by k-means, average linkage and a mixture. The informations of all of them are measured once. Then every variant chooses
a candidate, as `LateFusionClustering` does, but without refinement:

- floor: the least information that a view is taken to attain on its own, as a share of the largest. Informations in
  single views are divided by the attained one. Floor 1 makes all views equal: the criterion without this step.
- entropy: the exponent of the entropy of labels by which scores of the three label rules of the chosen candidate are
  divided; "k-means" means no choice of the rule.

Classes are used for the scores of the table only. The last lines have the floor or the exponent that is best on all
other sets of a group, for every set in turn.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.stats
from sklearn.metrics import adjusted_rand_score

import latefusion as lf
from latefusion.selection import criterion as criteria
from latefusion.selection.candidates import SIMILARITY_SETS, WEIGHTINGS
from latefusion.selection.label_assignment import assign_known
from latefusion.selection.spaces import fit_spaces
from latefusion.selection.table import LEAST_BREADTH
from measuring import save

MOST_SAMPLES, MOST_CLASSES = 2100, 60
RULES = ("kmeans", "average", "mixture")
FLOORS = (0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
EXPONENTS = ("k-means", 0.0, 0.5, 1.0)
USED = (0.2, 0.5)


class Measured(NamedTuple):
    """Labels of a candidate by one rule: scores by the classes, entropy, and informations of all and of parts."""

    choice: tuple[Any, ...]
    rule: str
    scores: dict[str, float]
    entropy: float
    parts: np.ndarray  # (1 + n_folds, 1 + 2 n_views): joint, of neighbors in views, of clusterings of views


class Problem(NamedTuple):
    """One data set: its candidates, and the attained informations and shares of its views."""

    name: str
    found: list[Measured]
    attained: np.ndarray
    shares: np.ndarray
    presence: np.ndarray


def sets(folder: Path) -> Iterator[tuple[str, Any, np.ndarray, dict[str, Any]]]:
    """Name, views, classes (-1 if unknown) and parameters of every set of a folder."""
    for path in sorted(folder.glob("*.npz")):
        with np.load(path, allow_pickle=False) as file:
            classes = file["y"] if "y" in file else np.full(1, -1)
            mask = file.get("mask")
        if len(classes) > MOST_SAMPLES or not 0 < classes.max() < MOST_CLASSES:
            continue
        data = lf.datasets.load_views(path)
        views = data.views if mask is None else lf.Views(data.views.arrays, mask=mask)
        yield path.stem, views, classes, {"similarity": "precomputed"} if data.kind == "kernels" else {}


def tables() -> Iterator[tuple[str, Any, np.ndarray, dict[str, Any]]]:
    """The same of tables with mixed columns."""
    from mixed_sets import SETS

    for name, entry in SETS.items():
        if entry.is_installed:
            table = entry.load()
            yield name, table.views, np.unique(table.classes, return_inverse=True)[1], {}


def measure(name: str, views: Any, classes: np.ndarray, parameters: dict[str, Any], seed: int) -> Problem:
    """Candidates of a fit with their informations."""
    n_clusters = len(np.unique(classes[classes >= 0]))
    model = lf.LateFusionClustering(n_clusters, random_state=seed, **parameters).fit(views)
    state, judge = model._state, model._state.criterion
    sources = state.sources if state.samples is None else [one.take(state.samples) for one in state.sources]
    y = classes if state.samples is None else classes[state.samples]

    def informations(labels: np.ndarray) -> np.ndarray:
        """Of all samples, then of the parts: joint, of neighbors in views, of clusterings of views."""
        joint, near, shared = judge.informations(labels, n_clusters)
        return np.roll(np.vstack([joint, near, shared]).T, 1, axis=0)

    found = []
    for number, space in fit_spaces(sources, n_clusters, state.options).items():
        for similarity, weighting in product(SIMILARITY_SETS, WEIGHTINGS):
            plan = space.plan(similarity, weighting)
            solutions = space.fuse(plan, state.options.regularizations, **state.options.solver)
            for regularization, fused in zip(state.options.regularizations, solutions, strict=True):
                rows = space.partitions.times(fused.coefficients)
                for rule in RULES:
                    labels, _ = assign_known(
                        state.options.assign, rows, space.partitions.mask, n_clusters, assign_labels=rule
                    )
                    known = y >= 0
                    scores = {
                        "ACC": lf.metrics.clustering_accuracy(y[known], labels[known]),
                        "NMI": lf.metrics.normalized_mutual_info(y[known], labels[known]),
                        "ARI": adjusted_rand_score(y[known], labels[known]),
                    }
                    entropy = scipy.stats.entropy(np.bincount(labels)) / np.log(n_clusters)
                    choice = (similarity, weighting, regularization, number)
                    found.append(Measured(choice, rule, scores, float(entropy), informations(labels)))
    return Problem(name, found, judge._attained(), judge.shares, judge.presence)


def choose(problem: Problem, floor: float, exponent: Any) -> Measured:
    """The labels that a variant chooses."""
    n_views = len(problem.shares)
    before, criteria.LEAST_ATTAINED = criteria.LEAST_ATTAINED, floor
    relative = [criteria.relative_weights(problem.shares, attained) for attained in problem.attained]
    criteria.LEAST_ATTAINED = before
    weights = np.concatenate([[1.0], *relative]) / 3

    def breadth(one: Measured) -> float:
        explained = problem.presence * one.parts[0, 1 : 1 + n_views]
        squares = np.sum(explained**2)
        return float(np.sum(explained) ** 2 / squares) if squares > 0 else 0.0

    def best(candidates: list[Measured], power: float) -> Measured:
        """The highest score, if the gain over the first candidate exceeds its standard error."""
        first = candidates[0]
        broad = [one for one in candidates if breadth(one) >= LEAST_BREADTH * breadth(first)]
        scores = {
            id(one): one.parts @ weights / one.entropy**power for one in {id(c): c for c in [first, *broad]}.values()
        }
        top = max(broad, key=lambda one: scores[id(one)][0])
        gain = scores[id(top)] - scores[id(first)]
        return top if gain[0] > criteria.standard_error(gain[1:]) and round(gain[0], 3) > 0 else first

    chosen = best([one for one in problem.found if one.rule == RULES[0]], 0.0)
    if exponent == "k-means":
        return chosen
    return best([one for one in problem.found if one.choice == chosen.choice], exponent)


def main() -> None:
    """Measure all sets and print the variants."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="DATA_DIR")
    parser.add_argument("--mixed", action="store_true", help="also tables with mixed columns")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    groups = {str(folder.name): sets(folder) for folder in args.folders} | ({"tables": tables()} if args.mixed else {})
    rows = []
    for group, problems in groups.items():
        for one in problems:
            problem = measure(*one, args.seed)
            for floor, exponent in product(FLOORS, EXPONENTS):
                scores = {name: round(value, 4) for name, value in choose(problem, floor, exponent).scores.items()}
                rows.append({"group": group, "set": problem.name, "floor": floor, "exponent": exponent, **scores})
            save(args.output, rows, seed=args.seed)
            print(group, problem.name, flush=True)
    report(rows)


def report(rows: list[dict[str, Any]]) -> None:
    """Means of every variant by group, and the variant that is best on the other sets."""
    for group in dict.fromkeys(row["group"] for row in rows):
        own = [row for row in rows if row["group"] == group]
        names = list(dict.fromkeys(row["set"] for row in own))
        measures = ("ACC", "NMI", "ARI")
        values = {
            variant: np.array([[row[m] for m in measures] for row in own if (row["floor"], row["exponent"]) == variant])
            for variant in product(FLOORS, EXPONENTS)
        }
        print(f"\n{group}, {len(names)} sets\n| floor | entropy | ACC | NMI | ARI |\n|---|---|---|---|---|")
        for (floor, exponent), found in values.items():
            cells = " | ".join(f"{value:.4f}" for value in found.mean(axis=0))
            print(f"| {floor} | {exponent} | {cells} |{' used' if (floor, exponent) == USED else ''}")
        if len(names) > 1:
            held_out = []
            for position in range(len(names)):
                rest = np.arange(len(names)) != position
                variant = max(values, key=lambda one: values[one][rest, 0].mean())
                held_out.append(values[variant][position])
            print("leave-one-set-out:", np.round(np.mean(held_out, axis=0), 4).tolist())


if __name__ == "__main__":
    main()
