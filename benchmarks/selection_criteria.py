"""Which criterion without labels finds good clusterings: the experiment behind `LateFusionClustering`.

usage: python benchmarks/selection_criteria.py DATA_DIR... [--numbers] [--output FILE.json] [--seed 0]

Every data set with at most 2100 samples and 60 classes is clustered in 45 ways: three kinds of similarity, views alike,
by agreement or side by side, four λ and the mean similarity alone. Every criterion scores every candidate without the
classes. Printed for each: mean ACC and NMI of the candidates it chooses, and its mean rank correlation with ACC.
With --numbers: how often rules for the number of clusters find the planted one, or come close to that of the classes.
The evidence is saved, and all rules are computed from it.

The classes are used for scores only. A data set is saved as soon as it is done, and a run that was interrupted goes on
where it was.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
from scipy.stats import rankdata, spearmanr
from sklearn.metrics import (
    adjusted_rand_score,
    normalized_mutual_info_score,
    pairwise_distances,
    silhouette_score,
)
from sklearn.preprocessing import normalize

import latefusion as lf
from label_free import MOST_NUMBERED, small_sets
from latefusion.assignment import ASSIGNMENTS
from latefusion.encoding.coordinates import put_side_by_side
from latefusion.metrics import neighbor_information, shared_information, subspace_agreement
from latefusion.partitions.partitions import PartitionKey
from latefusion.partitions.spectra import fit_spectrum
from latefusion.selection.candidates import SIMILARITY_SETS, WEIGHTINGS, similarity_names
from latefusion.selection.cluster_number import WEAK, NumberEvidence, NumberOfClusters
from latefusion.selection.search import fit_criterion
from latefusion.selection.spaces import fit_spaces
from measuring import machine

# The default comes first.
REGULARIZATIONS = (1.0, 0.5, 2.0, 4.0)
SIDE_BY_SIDE = "side by side"
# λ so large that the consensus is the similarity of the mean similarity.
MEAN = "mean"
N_SPLITS = 2
CHOSEN = ("joint neighbours", "neighbours in views", "shared with views")


# Candidates: consensus, labels and a rule for new rows.


def plans(space):
    """Similarities and factors of every choice."""
    found = {
        (similarity, weighting): space.plan(similarity, weighting)
        for similarity in SIMILARITY_SETS
        for weighting in WEIGHTINGS
    }
    if len(space.sources) > space.n_views:
        for similarity in SIMILARITY_SETS:
            names = similarity_names(space.sources[-1].similarities, similarity)
            factor = 1 / np.sqrt(len(names))
            found[similarity, SIDE_BY_SIDE] = {PartitionKey(space.n_views, name): factor for name in names}
    return found


def consensuses(space):
    """Coefficients of every candidate, the first of which is the default."""
    found = {}
    for choice, plan in plans(space).items():
        fused = space.fuse(plan, REGULARIZATIONS)
        for value, one in zip(REGULARIZATIONS, fused, strict=True):
            found[*choice, value] = one.coefficients
        found[*choice, MEAN] = fused[0].mean
    return found


# Criteria, all of them the better the larger.


def criteria(model, space, criterion, candidates):
    """Every criterion of every candidate, and the standard_error of the chosen one: name -> list."""
    k = space.n_clusters
    rows = {name: space.partitions.times(one) for name, one in candidates.items()}
    labels = {name: model._state.options.assign(own, k)[0] for name, own in rows.items()}
    everything = list(labels.values())
    alone = [labels for own in criterion.view_labels for labels in own]
    (joint,), of_views = criterion.joint_neighbors, criterion.view_neighbors
    distances = pairwise_distances(space.sources[-1].coordinates)
    np.fill_diagonal(distances, 0.0)
    members = {choice: list(plan) for choice, plan in plans(space).items()}
    gaps = {choice: eigengap(space, plan) for choice, plan in plans(space).items()}
    found_again = subsample_stability(model, space)
    table = {}
    for name, own in labels.items():
        family = [labels[other] for other in labels if other[:2] == name[:2] and other != name]
        in_views = [neighbor_information(own, one, k) for one in of_views]
        table[name] = {
            "joint neighbours": neighbor_information(own, joint, k),
            "neighbours in views": float(criterion.shares @ in_views),
            "neighbours in the best view": max(in_views),
            "shared with views": float(
                criterion.shares
                @ [np.mean([shared_information(own, o, k) for o in one]) for one in criterion.view_labels]
            ),
            "shared with candidates": mean(shared_information(own, other, k) for other in everything),
            "ARI with candidates": mean(adjusted_rand_score(own, other) for other in everything),
            "ARI with views": mean(adjusted_rand_score(own, other) for other in alone),
            "NMI with views": mean(normalized_mutual_info_score(own, other) for other in alone),
            "ARI between λ": mean(adjusted_rand_score(own, other) for other in family),
            "subspace agreement": mean(
                subspace_agreement(space.partitions.vectors[space.partitions.position(key)][:, :k], rows[name])
                for key in members[name[:2]]
            ),
            "stability of k-means": k_means_stability(rows[name], k),
            "stability in halves": found_again[name],
            "eigengap": gaps[name[:2]],
            "silhouette, consensus": silhouette(normalize(rows[name]), own),
            "silhouette, joint": silhouette(distances, own, metric="precomputed"),
            "neighbours alike": float(np.mean(own[joint] == own[:, None])),
            "balance": balance(own, k),
        }
    default = criterion.score(everything[0], k)
    doubts = [
        float(np.std(criterion.score(own, k).parts - default.parts, ddof=1) / np.sqrt(len(default.parts)))
        for own in everything
    ]
    names = list(table[next(iter(table))])
    return labels, {name: [one[name] for one in table.values()] for name in names} | {"standard_error": doubts}


def mean(values):
    """Mean of an iterable."""
    return float(np.mean(list(values)))


def k_means_stability(rows, k):
    """Agreement of single starts."""
    assign = ASSIGNMENTS["kmeans"]
    starts = [assign(rows, k, n_init=1, random_state=seed)[0] for seed in range(3)]
    return mean(adjusted_rand_score(one, other) for one, other in itertools.combinations(starts, 2))


def eigengap(space, plan):
    """Gap below the k-th eigenvalue of the mean similarity, as a share of that value."""
    products, scales = space.partitions.products, np.zeros(space.partitions.columns[-1].stop)
    for key, factor in plan.items():
        position = space.partitions.position(key)
        values = space.partitions.values[position]
        level = values[: space.n_clusters].mean()
        scales[space.partitions.columns[position]] = factor * np.sqrt(values / level) if level > 0 else 0.0
    used = np.flatnonzero(scales)
    values = np.linalg.eigvalsh(products[np.ix_(used, used)] * np.outer(scales[used], scales[used]))[::-1]
    return float(1 - values[space.n_clusters] / values[space.n_clusters - 1])


def space_of(model, sources):
    """Partitions of all similarities of some samples, as the search of the model fits them."""
    (space,) = fit_spaces(sources, model.n_clusters_, model._state.options).values()
    return space


def subsample_stability(model, space):
    """How well every candidate is found again by another half of the samples, through its rule for new samples."""
    n_samples, generator = space.partitions.n_samples, np.random.default_rng(model._state.options.seed)
    found = {}
    for _ in range(N_SPLITS):
        order = generator.permutation(n_samples)
        first, second = np.sort(order[: n_samples // 2]), np.sort(order[n_samples // 2 :])
        halves = [clustered_half(model, *pair) for pair in ((first, second), (second, first))]
        for name in halves[0]:
            for (_, theirs), (own, _) in ((halves[0][name], halves[1][name]), (halves[1][name], halves[0][name])):
                found.setdefault(name, []).append(adjusted_rand_score(own, theirs))
    return {name: float(np.mean(values)) for name, values in found.items()}


def clustered_half(model, seen, unseen):
    """Labels that a half of the samples gives to itself and to the other half, for every candidate."""
    sources = model._state.sources
    half = space_of(model, [one.take(seen) for one in sources])
    crossed = []
    for block in half.partitions.blocks:
        if block.view < half.n_views:
            crossed.append(sources[block.view].cross(block, seen, unseen))
        else:
            others = [one.coordinates[unseen] for one in sources]
            crossed.append(block.rows(put_side_by_side(others, half.sources[-1].encoding.scales)))
    found = {}
    for name, coefficients in consensuses(half).items():
        labels, rule = model._state.options.assign(half.partitions.times(coefficients), half.n_clusters, n_init=3)
        rows = sum(part @ coefficients[own] for part, own in zip(crossed, half.partitions.columns, strict=True))
        found[name] = labels, rule.predict(rows)
    return found


def silhouette(points, labels, **options):
    """Mean silhouette; -1 where there is a single cluster."""
    return float(silhouette_score(points, labels, **options)) if len(np.unique(labels)) > 1 else -1.0


def balance(labels, k):
    """Entropy of the cluster sizes, 1 for equal ones."""
    return shared_information(labels, labels, k)


# One data set after the other, and what comes of it.


def judged(path, seed):
    """One data set: candidates, their scores against the classes, and all criteria."""
    data = lf.datasets.load_views(path)
    similarity = "precomputed" if data.kind == "kernels" else "auto"
    start = time.perf_counter()
    model = lf.LateFusionClustering(len(np.unique(data.target)), similarity=similarity, random_state=seed).fit(
        data.views
    )
    space = space_of(model, model._state.sources)
    criterion = fit_criterion([space], model._state.options)
    candidates = consensuses(space)
    labels, table = criteria(model, space, criterion, candidates)
    scores = [lf.metrics.clustering_scores(data.target, own) for own in labels.values()]
    ours = lf.metrics.clustering_scores(data.target, model.labels_)
    return {
        "data": path.stem,
        "n_samples": len(data.target),
        "n_clusters": model.n_clusters_,
        "ours": {"ACC": round(ours["accuracy"], 4), "NMI": round(ours["nmi"], 4)},
        "candidates": [" | ".join(map(str, name)) for name in candidates],
        "ACC": rounded(one["accuracy"] for one in scores),
        "NMI": rounded(one["nmi"] for one in scores),
        "criteria": {name: rounded(values, 5) for name, values in table.items()},
        "seconds": round(time.perf_counter() - start, 1),
    }


def rounded(values, digits=4):
    """Plain numbers for a file."""
    return [round(float(value), digits) for value in values]


def report(rows):
    """Print what every criterion, and combinations of them, would have chosen."""
    names = [name for name in rows[0]["criteria"] if name != "standard_error"]
    everything, ours, *_ = pools(rows[0]["candidates"]).values()
    line = reporter([row["ACC"][0] for row in rows])
    print(f"\n{len(rows)} data sets, {len(rows[0]['candidates'])} candidates: mean ACC and NMI of what is chosen,")
    print("mean rank correlation with ACC, sets on which ACC is better | worse than the default by more than .005")
    line("best candidate of every set, by ACC", [(max(row["ACC"]), max(row["NMI"]), 1.0) for row in rows])
    line("a candidate at random", [(np.mean(row["ACC"]), np.mean(row["NMI"]), 0.0) for row in rows])
    line("the default, " + rows[0]["candidates"][0], [(row["ACC"][0], row["NMI"][0], 0.0) for row in rows])
    line("LateFusionClustering as it is", [(row["ours"]["ACC"], row["ours"]["NMI"], 0.0) for row in rows])
    print("\nsingle criteria, all candidates")
    single = {name: [chosen(row, row["criteria"][name]) for row in rows] for name in names}
    for name in sorted(names, key=lambda one: -np.mean(single[one], axis=0)[0]):
        line(name, single[name])
    print("\nparts of the chosen three, by their mean, candidates of LateFusionClustering, beyond chance")
    for size in (1, 2, 3):
        for members in itertools.combinations(CHOSEN, size):
            line(" + ".join(members), [guarded(row, ours, members) for row in rows])
    print("\nthe chosen three, among fewer or more candidates")
    for pool_name, pool in pools(rows[0]["candidates"]).items():
        line(f"{pool_name}, mean", [chosen(row, plain_mean(row, CHOSEN), pool) for row in rows])
        line(f"{pool_name}, mean of ranks", [chosen(row, rank_mean(row, CHOSEN), pool) for row in rows])
        if pool[0]:
            line(f"{pool_name}, mean, beyond chance", [guarded(row, pool) for row in rows])
    print("\nbest of all pairs and triples by mean of ranks, all candidates (found with the classes: flattering)")
    combined = {
        members: [chosen(row, rank_mean(row, members), everything) for row in rows]
        for size in (1, 2, 3)
        for members in itertools.combinations(names, size)
    }
    gains = {members: np.array(values)[:, :2].sum(axis=1) for members, values in combined.items()}
    for members in sorted(combined, key=lambda one: -gains[one].mean())[:10]:
        line(" + ".join(members), combined[members])
    held_out = []
    for position in range(len(rows)):
        others = np.arange(len(rows)) != position
        held_out.append(combined[max(gains, key=lambda one: gains[one][others].mean())][position])
    line(f"for every set, the best of these {len(combined)} on the other sets", held_out)
    rank = 1 + sum(one.mean() > gains[CHOSEN].mean() for one in gains.values())
    print(f"  rank of the chosen three among them: {rank}")


def reporter(default):
    """A function that prints one line of the report."""

    def line(name, values):
        table = np.array(values, dtype=float)
        accuracy, information, correlation = table.mean(axis=0)
        gains = table[:, 0] - default
        sets = f"{np.sum(gains > 0.005):3d} |{np.sum(gains < -0.005):3d}"
        print(f"  {name:78s} {accuracy:.4f}  {information:.4f}  {correlation:6.3f}  {sets}")

    return line


def pools(candidates):
    """Candidates among which to choose: all, those of the class, and parts of these."""
    parts = [name.split(" | ") for name in candidates]
    ours = [p[1] != SIDE_BY_SIDE and p[2] in ("1.0", "2.0", "4.0") for p in parts]
    return {
        "all candidates": np.ones(len(parts), dtype=bool),
        "those of LateFusionClustering": np.array(ours),
        "views alike only": np.array([own and p[1] == "equal" for own, p in zip(ours, parts, strict=True)]),
        "λ = 1 only": np.array([own and p[2] == "1.0" for own, p in zip(ours, parts, strict=True)]),
        "mean similarity only": np.array([p[2] == MEAN for p in parts]),
    }


def chosen(row, values, pool=None):
    """ACC and NMI of the candidate with the largest value, and the rank correlation with ACC."""
    values, accuracy = np.asarray(values), np.asarray(row["ACC"])
    if pool is not None:
        values = np.where(pool, values, -np.inf)
    best = int(np.argmax(values))
    own = np.isfinite(values)
    varied = np.ptp(values[own]) > 0 and np.ptp(accuracy[own]) > 0
    correlation = spearmanr(values[own], accuracy[own]).statistic if varied else 0.0
    return row["ACC"][best], row["NMI"][best], correlation


def guarded(row, pool, members=CHOSEN):
    """The rule of `LateFusionClustering`: the best, or the default unless it is beaten beyond chance."""
    values = plain_mean(row, members)
    # The standard_error is that of all three criteria together, whatever the members.
    best = int(np.argmax(np.where(pool, values, -np.inf)))
    taken = best if values[best] - values[0] > row["criteria"]["standard_error"][best] else 0
    return row["ACC"][taken], row["NMI"][taken], chosen(row, values, pool)[2]


def plain_mean(row, members):
    """Mean of some criteria."""
    return np.mean([row["criteria"][name] for name in members], axis=0)


def rank_mean(row, members):
    """Mean of the ranks by some criteria."""
    return np.mean([rankdata(row["criteria"][name]) for name in members], axis=0)


# The number of clusters.


THRESHOLDS = (0.0, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)


def numbered(views, kind, seed):
    """The evidence for every number of clusters that the class collects, and the number of an eigengap."""
    similarity = "precomputed" if kind == "kernels" else "auto"
    model = lf.LateFusionClustering("auto", similarity=similarity, random_state=seed).fit(views)
    found = model.number_selection_
    numbers = np.array([one.n_clusters for one in found.evidence])
    return {
        "evidence": [[one[0], *rounded(one[1:], 5)] for one in found.evidence],
        "null": [[one[0], *rounded(one[1:], 5)] for one in found.null],
        "eigengap": gap_rule(model, numbers),
    }


def rules(row):
    """What rules for the number of clusters say."""
    numbers, stability, error, information = np.array(row["evidence"]).T
    _, null, null_error, _ = np.array(row["null"]).T
    score = np.maximum(stability, 0) ** 2 * information
    adjusted = np.maximum((stability - null) / (1 - null), 0)
    most_stable = numbers[np.argmax(stability)]
    best = np.argmax(score)
    is_structured = stability[best] - null[best] > 2 * np.hypot(error[best], null_error[best])
    found = {
        "squared stability × information": numbers[best] if is_structured else most_stable,
        "the same, few clusters if no stability is .4": weak_rule(row, 0.0 if stability.max() >= WEAK else 2.0),
        "the same, numbers with a stability of .4 only (used)": weak_rule(row, WEAK),
        "the same, numbers with a stability of .5 only": weak_rule(row, 0.5),
        "adjusted stability squared × information": numbers[np.argmax(adjusted**2 * information)],
        "adjusted stability × information": numbers[np.argmax(adjusted * information)],
        "adjusted stability": numbers[np.argmax(adjusted)],
        "stability × information": numbers[np.argmax(stability * information)],
        "stability": most_stable,
        "smallest of the most stable": weak_rule(row, 2.0),
        "largest with nearly (.05) the highest stability": numbers[stability >= stability.max() - 0.05][-1],
        "information as a share of log k": numbers[np.argmax(information / np.log(numbers))],
        "information": numbers[np.argmax(information)],
        "eigengap of graphs": row["eigengap"],
    }
    return {name: int(number) for name, number in found.items()}


def weak_rule(row, threshold):
    """The rule of the class with another threshold of stability."""
    evidence, null = ([NumberEvidence(int(one[0]), *one[1:]) for one in row[name]] for name in ("evidence", "null"))
    with mock.patch("latefusion.selection.cluster_number.WEAK", threshold):
        return NumberOfClusters(tuple(evidence), tuple(null)).n_clusters


def held_out_threshold(rows):
    """For every row, the number by the threshold with the smallest mean absolute error on the others."""
    numbers = np.array([[weak_rule(row, threshold) for row in rows] for threshold in THRESHOLDS])
    errors = abs(numbers - np.array([row["true"] for row in rows]))
    best = [np.delete(errors, position, axis=1).mean(axis=1).argmin() for position in range(len(rows))]
    return numbers[best, range(len(rows))]


def gap_rule(model, numbers):
    """The number with the largest gap after it in the mean spectrum of the graphs."""
    n_components = min(int(numbers[-1]) + 1, model._state.sources[0].coordinates.shape[0])
    spectra = [
        fit_spectrum(one.coordinates, one.similarities["graph 10"], n_components, 2).values
        for one in model._state.sources
    ]
    values = np.zeros(n_components)
    for one in spectra:
        values[: len(one)] += one / one[0]
    kept = numbers[numbers < n_components]
    return int(kept[np.argmax(values[kept - 1] - values[kept])])


def planted_problems(seed):
    """Views with two to twelve clusters, of equal sizes and of sizes one to three: name, number, data."""
    for number, balanced in itertools.product(range(2, 13), (True, False)):
        sizes = None if balanced else np.linspace(1, 3, number) / np.linspace(1, 3, number).sum()
        data = lf.datasets.make_views(60 * number, number, balance=sizes, random_state=100 * seed + number)
        yield f"planted {number}, {'equal' if balanced else 'unequal'} sizes", number, data


def number_rows(args, rows):
    """Rules on planted problems and on data sets with at most fifteen classes."""
    done = {row["data"] for row in rows}
    for name, true, data in planted_problems(args.seed):
        if name not in done:
            add(args.output, rows, {"data": name, "true": true} | numbered(data.views, "features", args.seed))
    for path in [path for folder in args.data for path in small_sets(folder)]:
        data = lf.datasets.load_views(path)
        n_classes = 0 if data.target is None else len(np.unique(data.target[data.target >= 0]))
        if n_classes <= MOST_NUMBERED and path.stem not in done:
            add(
                args.output,
                rows,
                {"data": path.stem, "true": n_classes or None} | numbered(data.views, data.kind, args.seed),
            )
    real = [row for row in rows if not row["data"].startswith("planted")]
    scored = [row for row in real if row["true"]]
    report_rules("planted", [row for row in rows if row["data"].startswith("planted")])
    report_rules("real", scored)
    report_numbers("threshold chosen on the other sets", held_out_threshold(scored), scored)
    for row in real:
        print(f"  {row['data']:20s} classes {row['true']}", *list(rules(row).values())[:3])


def report_rules(name, rows):
    """Print how well every rule does."""
    print(f"\n{name}, {len(rows)} problems: exact, within one, within two, mean error, mean absolute error")
    found = [rules(row) for row in rows]
    for rule in found[0]:
        report_numbers(rule, [one[rule] for one in found], rows)


def report_numbers(name, numbers, rows):
    """Print one line."""
    off = np.array(numbers) - [row["true"] for row in rows]
    near = "  ".join(f"{np.mean(abs(off) <= most):.2f}" for most in range(3))
    print(f"  {name:55s} {near}  {off.mean():+.1f}  {abs(off).mean():.2f}")


def add(path, rows, row):
    """Keep a row, and save all, one line each."""
    rows.append(row)
    print(json.dumps(row, ensure_ascii=False)[:160], flush=True)
    if path:
        lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in rows)
        path.write_text(f'{{"machine": {json.dumps(machine())},\n"rows": [\n{lines}\n]}}\n')


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--numbers", action="store_true", help="judge rules for the number of clusters instead")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = json.loads(args.output.read_text())["rows"] if args.output and args.output.exists() else []
    if args.numbers:
        number_rows(args, rows)
        return
    done = {row["data"] for row in rows}
    for path in [path for folder in args.data for path in small_sets(folder)]:
        if path.stem not in done:
            add(args.output, rows, judged(path, args.seed))
    report(rows)


if __name__ == "__main__":
    main()
