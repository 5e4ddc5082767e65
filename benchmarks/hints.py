"""Known classes of 10 % of the samples as hints: scores with and without them, for right and wrong hints.

usage: python benchmarks/hints.py DATA_DIR [--draws 20] [--only a,b] [--methods late-fusion,gam,lam]
                                  [--output FILE.json]

Uses every data set with at most 2100 samples and 60 classes. A draw chooses 10 % of the samples (at least two) at
random as hints, in these variants:

- ``right``: their classes.
- ``tenth wrong``: one hint in ten, rounded, has another class, drawn at random.
- ``all wrong``: every hint has another class, drawn at random; with two classes, the other one.
- ``pairs``: instead of classes, as many random pairs of these samples as there are samples, as must-link or
  cannot-link.
- ``tenth of pairs wrong``: the same, with one pair in ten of the wrong kind, as far as the pairs do not contradict each
  other.

The model without hints has the same seed, which is 0 in all draws: a difference is an effect of the hints. Hints take
part after all other choices, so a model is fitted once for all hints; the first hints that are followed are checked
against a fit with these hints. The adjusted
Rand index (ARI) is that of the samples without hints ("others"), and of all samples. The standard error is that of the
mean over data sets. "worst set" is the lowest mean difference of a data set over all draws, "worst draw" the lowest
difference of a single draw, and "lower" the share of the draws with a lower ARI than without hints.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
from sklearn.metrics import adjusted_rand_score

import latefusion as lf
from latefusion.datasets import load_views
from latefusion.selection.hints import follow_hints
from latefusion.validation.hints import read_hints
from measuring import save

SHARE = 0.1
WRONG = {"right": 0.0, "tenth wrong": 0.1, "all wrong": 1.0}
PAIRS = {"pairs": 0.0, "tenth of pairs wrong": 0.1}
METHODS = {
    "late-fusion": lf.LateFusionClustering,
    "gam": lf.GlobalAlignmentClustering,
    "lam": lf.LocalAlignmentClustering,
}


def data_sets(folder, only):
    """Name and content of every data set."""
    for path in sorted(Path(folder).glob("*.npz")):
        if only and path.stem not in only:
            continue
        data = load_views(path)
        classes = np.unique(data.target, return_inverse=True)[1]
        if len(classes) <= 2100 and classes.max() < 60:
            yield path.stem, data, classes


def class_hints(classes, share, draw):
    """Classes of some samples, -1 for the others, of which a share is wrong."""
    rng = np.random.default_rng([draw, len(classes)])
    rows = rng.choice(len(classes), max(2, round(SHARE * len(classes))), replace=False)
    known, n_classes = classes[rows].copy(), classes.max() + 1
    wrong = rng.permutation(len(rows))[: round(share * len(rows))]
    known[wrong] = (known[wrong] + rng.integers(1, n_classes, len(wrong))) % n_classes
    hints = np.full(len(classes), -1)
    hints[rows] = known
    return {"y": hints}, rows


def pair_hints(classes, share, draw):
    """Pairs of some samples as must-links and cannot-links, of which a share is wrong."""
    rng = np.random.default_rng([draw, len(classes), 1])
    rows = rng.choice(len(classes), max(2, round(SHARE * len(classes))), replace=False)
    pairs = {tuple(sorted(rng.choice(rows, 2, replace=False).tolist())) for _ in rows}
    wrong = rng.random(len(pairs)) < share
    found = {"must_link": [], "cannot_link": []}
    for (one, other), exchanged in sorted(zip(sorted(pairs), wrong, strict=True), key=lambda pair: pair[1]):
        kind = "must_link" if (classes[one] == classes[other]) != exchanged else "cannot_link"
        try:
            if exchanged:
                read_hints(None, *{**found, kind: [*found[kind], (one, other)]}.values(), len(classes))
        except ValueError:
            continue  # contradicts the others
        found[kind].append((one, other))
    return found, rows


def fit_and_record(model, views, **hints):
    """Fit with some hints, and return what is passed to `follow_hints`, which is the same for all hints."""
    module, recorded = sys.modules[type(model)._follow.__module__], []

    def record(hints, *arguments):
        recorded.append(arguments)
        return follow_hints(hints, *arguments)

    with mock.patch.object(module, "follow_hints", record):
        model.fit(views, **hints)
    return recorded[0]


def compare(hints, rows, classes, arguments):
    """Scores of the labels with hints and without."""
    start = time.perf_counter()
    before = arguments[3]
    guided, result = follow_hints(hints, *arguments)
    seconds = time.perf_counter() - start
    after = before if guided is None else guided.labels
    others = np.setdiff1d(np.arange(len(classes)), rows)
    row = {"followed": result.followed, "kept": int(result.kept.sum()), "hints": len(result.samples)}
    for name, used in (("others", others), ("all", slice(None))):
        for when, labels in (("before", before), ("after", after)):
            row[f"{when}, {name}"] = round(float(adjusted_rand_score(classes[used], labels[used])), 4)
    return row | {"seconds": round(seconds, 3)}, after


def run(name, data, classes, method, draws):
    """All variants and draws of one data set."""
    options = {"similarity": "precomputed"} if data.kind == "kernels" else {}
    model = METHODS[method](int(classes.max()) + 1, random_state=0, **options)
    arguments = fit_and_record(model, data.views, must_link=[(0, 1)])
    without = model.fit(data.views).labels_
    assert np.array_equal(without, arguments[3])
    rows, checked = [], False
    for draw in range(draws):
        drawn = [(variant, *class_hints(classes, share, draw)) for variant, share in WRONG.items()]
        drawn += [(variant, *pair_hints(classes, share, draw)) for variant, share in PAIRS.items()]
        for variant, given, hinted in drawn:
            if variant in WRONG and len(np.unique(given["y"][hinted])) == 1:
                continue  # one class separates no samples, and is refused
            hints = read_hints(given.get("y"), given.get("must_link"), given.get("cannot_link"), len(classes))
            found, labels = compare(hints, hinted, classes, arguments)
            rows.append({"set": name, "method": method, "variant": variant, "draw": draw, **found})
            if found["followed"] and not checked:  # a fit with these hints has the same labels
                assert np.array_equal(model.fit(data.views, **given).labels_, labels)
                checked = True
    return rows


def mean_change(rows, variant):
    """Mean change of the ARI of samples without hints."""
    changes = [row["after, others"] - row["before, others"] for row in rows if row["variant"] == variant]
    return np.mean(changes) if changes else np.nan


def of_sets(rows):
    """Means over the draws of every data set; draws in which hints were not followed change nothing."""
    keys = dict.fromkeys((row["set"], row["method"], row["variant"]) for row in rows)
    found = []
    for key in keys:
        own = [row for row in rows if (row["set"], row["method"], row["variant"]) == key]
        one = dict(zip(("set", "method", "variant"), key, strict=True)) | {"draws": len(own), "hints": own[0]["hints"]}
        for part in ("others", "all"):
            before, after = (np.array([row[f"{when}, {part}"] for row in own]) for when in ("before", "after"))
            one[part] = {
                "before": round(float(before.mean()), 4),
                "after": round(float(after.mean()), 4),
                "lowest change": round(float((after - before).min()), 4),
            }
        found.append(one | {"followed": int(sum(row["followed"] for row in own))})
    return found


def summary(rows, method, variant, part):
    """One line of the table."""
    own = [row for row in rows if (row["method"], row["variant"]) == (method, variant)]
    sets = sorted({row["set"] for row in own})
    differences = {
        name: [row[f"after, {part}"] - row[f"before, {part}"] for row in own if row["set"] == name] for name in sets
    }
    means = np.array([np.mean(differences[name]) for name in sets])
    before = np.mean([np.mean([row[f"before, {part}"] for row in own if row["set"] == name]) for name in sets])
    error = np.std(means, ddof=1) / np.sqrt(len(means)) if len(means) > 1 else 0.0
    every = np.concatenate([differences[name] for name in sets])
    followed = np.mean([row["followed"] for row in own])
    worst = int(np.argmin(means))
    return (
        f"| {method} | {variant} | {part} | {before:.3f} | {before + means.mean():.3f} | {means.mean():+.3f} ± "
        f"{error:.3f} | {means[worst]:+.4f} ({sets[worst]}) | {every.min():+.3f} | {np.mean(every < 0):.1%} | "
        f"{followed:.0%} |"
    )


def main():
    """Run all data sets and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--only", default="")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    rows, methods = [], args.methods.split(",")
    for name, data, classes in data_sets(args.data, args.only.split(",") if args.only else []):
        for method in methods:
            own = run(name, data, classes, method, args.draws)
            rows += own
            changes = {variant: mean_change(own, variant) for variant in (*WRONG, *PAIRS)}
            shown = ", ".join(f"{variant} {change:+.3f}" for variant, change in changes.items())
            print(f"{name:20s} {method:12s} {shown}", flush=True)
            save(args.output, of_sets(rows), followed=[row for row in rows if row["followed"]])
    print("\n| method | hints | samples | ARI without | with | change | worst set | worst draw | lower | followed |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for method in methods:
        for variant in (*WRONG, *PAIRS):
            for part in ("others", "all"):
                print(summary(rows, method, variant, part))


if __name__ == "__main__":
    main()
