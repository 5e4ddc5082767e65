"""Samples that lack views: ours and every clusterer of iMML, on the same holes, in one run.

usage: python benchmarks/missing_views.py DATA_DIR [--only NAME ...] [--sets NAME ...] [--seeds 5] [--limit 600]
       [--environments .venv-peers] [--choices] [--fillings] [--zeros] [--output FILE.json]

Of every data set, at most 500 samples drawn at random; a view of a sample is missing with a probability of 30, 50 or
70 %, but every sample keeps one. Five draws of samples and holes. Methods get the number of classes and their own
defaults, and classes are used for scores only. Our methods get the views as they are. The others get them twice, as
they are and with z-scored columns (the observed rows only), and the better of the two means counts, which favours
them. Rows of other methods and sets that the output file holds already are kept, so that the command may be given in
parts. Every method has its own process per data set, and iMML its own virtual environment; what fails or needs more
than the limit becomes a row with its reason.

Two more questions, for `LateFusionClustering` on the UCI digits only: holes that depend on the class (one class lacks a
view altogether, or every class one of its own; against the same holes in samples at random), and new samples (1000,
after a fit on 1000 others) that lack one of the views, each in turn.

With --choices, instead of all this, what could be done about missing rows, one choice at a time; with --fillings, what
the search of `LateFusionClustering` gains by filling them in in several ways (docs/MISSING.md). With --zeros, data sets
in which rows of a view are zero in all columns: as they are, and with these rows taken as missing; complete, and where
there are many such rows also with holes.

The bars: ACC of .92, .88 and .79 on the UCI digits; ahead of every other method on every set at every rate; holes by
class at most .03 below random ones; new samples without a view at most .05 below those with all.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import scipy.sparse

from measuring import BLUE, GREY, ORANGE, figure, machine, save
from peers import interpreter

RATES = (0.3, 0.5, 0.7)
SETS = ("mfeat", "msrc_v1", "reuters1200", "bdgp")
N_SAMPLES = 500
BARS = {0.3: 0.92, 0.5: 0.88, 0.7: 0.79}
CLASS_LOSS = 0.03
VIEW_LOSS = 0.05
# Share of rows of zeros in a view from which they are looked at among holes as well.
MANY_ZEROS = 0.05
IMML = "iMML 0.6.0"
OURS = {
    "LateFusionClustering": ("LateFusionClustering", {}),
    "LateFusionClustering, align": ("LateFusionClustering", {"missing": "zero"}),
    "LF-MVC-GAM, graph": ("GlobalAlignmentClustering", {"similarity": "graph"}),
    "LF-MVC-GAM, graph, impute": ("GlobalAlignmentClustering", {"similarity": "graph", "missing": "impute"}),
    "LF-MVC-LAM, graph": ("LocalAlignmentClustering", {"similarity": "graph"}),
    "LF-MVC-LAM, graph, impute": ("LocalAlignmentClustering", {"similarity": "graph", "missing": "impute"}),
}
THEIRS = (
    "NEMO", "LFIMVC", "EEIMVC", "DAIMC", "IMSR", "OPIMC", "PIMVC", "SIMCADC", "MONET", "SUMO", "MKKMIK", "OMVC",
    "OSLFIMVC", "IMSCAGL", "MLMF", "IntegrAO", "MRGCN",
)  # fmt: skip
METHODS = (*OURS, *(f"iMML {name}" for name in THEIRS))


def load(path):
    """Views (dense) and classes of a file."""
    with np.load(path, allow_pickle=False) as data:
        views = []
        for p in range(len(data["names"])):
            if f"view_{p}" in data.files:
                views.append(data[f"view_{p}"].astype(np.float64))
            else:
                parts = tuple(data[f"view_{p}_{part}"] for part in ("data", "indices", "indptr"))
                sparse = scipy.sparse.csr_array(parts, shape=tuple(data[f"view_{p}_shape"]))
                views.append(sparse.toarray().astype(np.float64))
        return views, data["y"]


def draw(views, classes, seed):
    """Some of the samples."""
    n_samples = min(N_SAMPLES, len(classes))
    chosen = np.sort(np.random.default_rng(seed).choice(len(classes), n_samples, replace=False))
    return [view[chosen] for view in views], classes[chosen]


def random_holes(n_samples, n_views, rate, seed):
    """Where samples are observed: every view is missing with a probability, but one is kept."""
    generator = np.random.default_rng(1000 + seed)
    mask = generator.random((n_samples, n_views)) >= rate
    return keep_one(mask, generator)


def keep_one(mask, generator):
    """Give every sample without any view one of them."""
    bare = np.flatnonzero(~mask.any(axis=1))
    mask[bare, generator.integers(mask.shape[1], size=len(bare))] = True
    return mask


def class_holes(classes, n_views, whom, seed):
    """One class lacks a view altogether, or every class lacks one of its own."""
    generator = np.random.default_rng(2000 + seed)
    names = generator.permutation(np.unique(classes))
    mask = np.ones((len(classes), n_views), dtype=bool)
    for one in names[:1] if whom == "one class" else names:
        mask[classes == one, generator.integers(n_views)] = False
    return mask


def shuffled(mask, seed):
    """As many holes per view, in other samples, each of which keeps a view."""
    generator = np.random.default_rng(3000 + seed)
    return keep_one(generator.permuted(mask, axis=0), generator)


def with_holes(views, mask, z_scored=False):
    """Views with NaN rows."""
    incomplete = []
    for view, observed in zip(views, mask.T, strict=True):
        own = view.copy()
        if z_scored:
            spread = own[observed].std(axis=0)
            own = (own - own[observed].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        own[~observed] = np.nan
        incomplete.append(own)
    return incomplete


def run(name, views, n_clusters):
    """Labels by a method."""
    if name in OURS:
        kind, options = OURS[name]
        model = getattr(importlib.import_module("latefusion"), kind)(n_clusters, random_state=0, **options)
        return model.fit_predict(views)
    kind = getattr(importlib.import_module("imml.cluster"), name.removeprefix("iMML "))
    return np.asarray(kind(n_clusters=n_clusters, random_state=0).fit_predict(views)).ravel()


def measure(name, path, n_seeds, found):
    """All draws of one data set in this process; the labels are saved as they come."""
    warnings.simplefilter("ignore")
    everything, classes = load(path)
    labels = {}
    for scaling in ("raw",) if name in OURS else ("z-scored", "raw"):
        for rate in RATES:
            for seed in range(n_seeds):
                views, y = draw(everything, classes, seed)
                mask = random_holes(len(y), len(views), rate, seed)
                incomplete = with_holes(views, mask, z_scored=scaling == "z-scored")
                try:
                    labels[f"{scaling} {rate} {seed}"] = run(name, incomplete, len(np.unique(y)))
                except Exception as error:
                    if scaling == "z-scored":
                        raise
                    print(f"{name} fails on raw views: {error}", file=sys.stderr)
                    return
                np.savez(found, **labels)


def rows_of(name, folder, dataset, args):
    """One row per rate with the mean accuracy over the draws, or one with what went wrong."""
    row = {"set": dataset, "method": name, "kind": "ours" if name in OURS else "peer"}
    path = folder / f"{dataset}.npz"
    with tempfile.TemporaryDirectory() as place:
        found, note = Path(place) / "found.npz", ""
        python = interpreter(None if name in OURS else IMML, args.environments)
        command = [python, __file__, str(folder), "--child", name, dataset, str(found), "--seeds", str(args.seeds)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=args.limit)
            if done.returncode:
                note = "fails: " + done.stderr.strip().splitlines()[-1][:150]
        except subprocess.TimeoutExpired:
            note = f"not done in {args.limit:g} s"
        labels = dict(np.load(found)) if found.exists() else {}
    return [row | {"rate": rate} | score(labels, path, rate, args.seeds, note) for rate in RATES]


def score(labels, path, rate, n_seeds, note):
    """Mean and spread of the accuracy at one rate, for the better scaling."""
    from latefusion.metrics import clustering_accuracy, normalized_mutual_info

    everything, classes = load(path)
    targets = [draw(everything, classes, seed)[1] for seed in range(n_seeds)]
    best = {}
    for scaling in ("raw", "z-scored"):
        own = [labels.get(f"{scaling} {rate} {seed}") for seed in range(n_seeds)]
        if any(one is None for one in own):
            continue
        accuracy = [clustering_accuracy(*pair) for pair in zip(targets, own, strict=True)]
        if np.mean(accuracy) > best.get("ACC", -1.0):
            nmi = [normalized_mutual_info(*pair) for pair in zip(targets, own, strict=True)]
            best = {
                "ACC": round(float(np.mean(accuracy)), 4),
                "spread": round(float(np.std(accuracy, ddof=1)), 4) if n_seeds > 1 else 0.0,
                "NMI": round(float(np.mean(nmi)), 4),
                "views": scaling,
            }
    return best or {"note": note or "no result"}


def by_class(folder, n_seeds):
    """Accuracy with holes that depend on the class, and with as many at random."""
    from latefusion.metrics import clustering_accuracy

    rows = []
    everything, classes = load(folder / "mfeat.npz")
    for whom in ("one class", "every class"):
        scores = {"by class": [], "at random": []}
        for seed in range(n_seeds):
            views, y = draw(everything, classes, seed)
            mask = class_holes(y, len(views), whom, seed)
            for name, own in (("by class", mask), ("at random", shuffled(mask, seed))):
                labels = run("LateFusionClustering", with_holes(views, own), len(np.unique(y)))
                scores[name].append(clustering_accuracy(y, labels))
        means = {name: round(float(np.mean(values)), 4) for name, values in scores.items()}
        rows.append({"question": "holes by class", "who": whom, "missing": round(float(1 - mask.mean()), 3), **means})
    return rows


def without_a_view(folder, n_seeds):
    """Accuracy of `predict` for new samples with all views, and without each of them."""
    import latefusion
    from latefusion.metrics import clustering_accuracy

    everything, classes = load(folder / "mfeat.npz")
    named = {f"view_{p}": view for p, view in enumerate(everything)}
    scores = {name: [] for name in ("none", *named)}
    for seed in range(n_seeds):
        order = np.random.default_rng(seed).permutation(len(classes))
        seen, new = order[: len(order) // 2], order[len(order) // 2 :]
        model = latefusion.LateFusionClustering(len(np.unique(classes)), random_state=0)
        model.fit({name: view[seen] for name, view in named.items()})
        for absent, found in scores.items():
            labels = model.predict({name: view[new] for name, view in named.items() if name != absent})
            found.append(clustering_accuracy(classes[new], labels))
    return [
        {"question": "new samples", "absent": absent, "ACC": round(float(np.mean(found)), 4)}
        for absent, found in scores.items()
    ]


def choices(views, mask, n_clusters):
    """Consensus embeddings by name: what to do about missing rows, and what to fuse.

    Of every view, a graph and a kernel of the samples that have it, as in `LateFusionClustering` of kind "both".
    """
    from dataclasses import replace

    from latefusion.arrays import top_eigenpairs
    from latefusion.partitions.fitting import fit_imputation, fit_partitions
    from latefusion.partitions.imputation import Fill
    from latefusion.partitions.partitions import PartitionKey
    from latefusion.partitions.sources import feature_source
    from latefusion.selection.candidates import CandidateSpace, imputed_source
    from latefusion.similarities import GraphSimilarity, KernelSimilarity
    from latefusion.similarities.graph import NeighborSearch

    similarities = {"graph 10": GraphSimilarity(10), "kernel": KernelSimilarity()}
    sources = [feature_source(view[seen], similarities, seen) for view, seen in zip(views, mask.T, strict=True)]
    keys = [PartitionKey(view, name) for view in range(len(views)) for name in similarities]
    n_components = 4 * n_clusters
    raw = fit_partitions(sources, keys, n_components, n_clusters)
    width = raw.columns[-1].stop
    fills = {"zero": Fill(np.zeros(width, dtype=bool)), "zero, D^{-1/2}": Fill(np.ones(width, dtype=bool))} | {
        f"imputed, {name} components": Fill(
            np.zeros(width, dtype=bool), fit_imputation(raw, n_clusters, n_components_shared=number)
        )
        for name, number in (("k/2", max(1, n_clusters // 2)), ("k", n_clusters), ("2k", 2 * n_clusters))
    }
    found = {}
    searches = [NeighborSearch(one.coordinates) for one in sources]
    for name, fill in fills.items():
        basis = fill(raw.basis(), mask)
        filled = replace(raw, vectors=tuple(basis[:, own] for own in raw.columns), fill=fill)
        space = CandidateSpace(sources, filled, len(views), n_clusters, searches)
        (fused,) = space.fuse(space.plan("both", "equal"), [1.0])
        found[f"{name}: views alike"] = space.partitions.times(fused.coefficients)
        found[f"{name}: mean similarity only"] = space.partitions.times(fused.mean)
        space = space.with_joint(imputed_source(space, {"graph 10": GraphSimilarity(10)}), ["graph 10"], n_components)
        (fused,) = space.fuse(space.plan("both", "agreement"), [1.0])
        found[f"{name}: by agreement, with a graph of all views"] = space.partitions.times(fused.coefficients)
        found[f"{name}: graph of all views only"] = space.partitions.vectors[-1][:, :n_clusters]
    graphs = np.zeros((len(mask), len(mask)))
    for source, seen in zip(sources, mask.T, strict=True):
        graphs[np.ix_(seen, seen)] += GraphSimilarity(10).similarity(source.coordinates, n_clusters)[0].toarray()
    shared = np.maximum(mask.astype(float) @ mask.T, 1.0)
    roots = np.sqrt(mask.sum(axis=1))
    found["mean graph, D^{-1/2}"] = top_eigenpairs(graphs / roots[:, None] / roots, n_clusters)[1]
    found["mean graph over shared views, pair by pair"] = top_eigenpairs(graphs / shared, n_clusters)[1]
    return found


def compare_choices(args):
    """Mean accuracy of every choice on every set at every rate."""
    from latefusion.assignment import assign_by_kmeans
    from latefusion.metrics import clustering_accuracy
    from latefusion.tables import format_table

    warnings.simplefilter("ignore")
    rows = []
    for dataset in args.sets:
        everything, classes = load(args.data / f"{dataset}.npz")
        for rate in RATES:
            scores = {}
            for seed in range(args.seeds):
                views, y = draw(everything, classes, seed)
                n_clusters = len(np.unique(y))
                mask = random_holes(len(y), len(views), rate, seed)
                for name, consensus in choices(views, mask, n_clusters).items():
                    labels, _ = assign_by_kmeans(consensus, n_clusters, random_state=0)
                    scores.setdefault(name, []).append(clustering_accuracy(y, labels))
            rows += [
                {"set": dataset, "rate": rate, "choice": name, "ACC": round(float(np.mean(own)), 4)}
                for name, own in scores.items()
            ]
            save(args.output, rows, samples=N_SAMPLES, seeds=args.seeds)
    columns = [(dataset, rate) for dataset in args.sets for rate in RATES]
    cells = {(row["choice"], row["set"], row["rate"]): row["ACC"] for row in rows}
    lines = []
    for name in dict.fromkeys(row["choice"] for row in rows):
        own = [cells[name, *column] for column in columns]
        lines.append([name, *(f"{one:.3f}" for one in own), f"{np.mean(own):.3f}"])
    print(format_table(["choice", *(f"{dataset[:5]} {rate:.0%}" for dataset, rate in columns), "mean"], lines))


def compare_fillings(args):
    """Mean accuracy of `LateFusionClustering` by the numbers of directions that its search chooses from."""
    import latefusion
    from latefusion.metrics import clustering_accuracy
    from latefusion.selection import spaces

    warnings.simplefilter("ignore")
    every = spaces.COMPONENTS_PER_CLUSTER
    rows = []
    for dataset in args.sets:
        everything, classes = load(args.data / f"{dataset}.npz")
        for rate in RATES:
            row = {"set": dataset, "rate": rate}
            for name, numbers in (("k", every[:1]), ("k/2, k, 2k", every)):
                spaces.COMPONENTS_PER_CLUSTER = numbers
                scores = []
                for seed in range(args.seeds):
                    views, y = draw(everything, classes, seed)
                    mask = random_holes(len(y), len(views), rate, seed)
                    model = latefusion.LateFusionClustering(len(np.unique(y)), random_state=0)
                    scores.append(clustering_accuracy(y, model.fit_predict(with_holes(views, mask))))
                row[name] = round(float(np.mean(scores)), 4)
            rows.append(row)
            print(json.dumps(row), flush=True)
            save(args.output, rows, samples=N_SAMPLES, seeds=args.seeds)


def compare_zeros(args):
    """Mean accuracy of `LateFusionClustering` with rows of zeros as they are, as missing, and by the rule in use.

    The rule is also applied to the same data with 5 % of the views missing.
    """
    import latefusion

    warnings.simplefilter("ignore")
    rows = []
    for path in sorted(args.data.glob("*.npz")):
        data = latefusion.datasets.load_views(path)
        if data.kind == "kernels":
            continue
        filled = np.column_stack([np.asarray(abs(view).sum(axis=1)).ravel() > 0 for view in data.views.arrays])
        if filled.all():
            continue
        row = {"set": path.stem, "rows of zeros": np.round(1 - filled.mean(axis=0), 3).tolist()}
        filled[~filled.any(axis=1)] = True  # every sample keeps a view
        arrays, classes = data.views.arrays, data.target
        holes = [random_holes(len(classes), len(arrays), 0.05, seed) for seed in range(args.seeds)]
        complete = [np.ones_like(filled)] * args.seeds
        with zero_rows_missing(complete=(), incomplete=()):
            row["as they are"] = mean_accuracy(arrays, classes, complete)
        row["missing"] = mean_accuracy(arrays, classes, [filled] * args.seeds)
        row["rule"] = mean_accuracy(arrays, classes, complete)
        row["rule, 5% of the views missing"] = mean_accuracy(arrays, classes, holes)
        if max(row["rows of zeros"]) > MANY_ZEROS:
            row |= zeros_among_holes(path, args.seeds)
        rows.append(row)
        print(json.dumps(row), flush=True)
        save(args.output, rows, seeds=args.seeds)


def mean_accuracy(arrays, classes, masks):
    """Mean over masks, one for every seed."""
    import latefusion
    from latefusion.metrics import clustering_accuracy

    scores = []
    for seed, mask in enumerate(masks):
        model = latefusion.LateFusionClustering(len(np.unique(classes)), random_state=seed)
        labels = model.fit_predict(latefusion.Views(arrays, mask=None if mask.all() else mask))
        scores.append(clustering_accuracy(classes, labels))
    return round(float(np.mean(scores)), 4)


@contextmanager
def zero_rows_missing(complete, incomplete):
    """Treat rows of zeros as missing in views of some kinds only, in complete data and where views are missing."""
    from latefusion.selection import sources

    before = sources.ZERO_IS_MISSING, sources.DIRECTED
    sources.ZERO_IS_MISSING, sources.DIRECTED = complete, incomplete
    try:
        yield
    finally:
        sources.ZERO_IS_MISSING, sources.DIRECTED = before


def zeros_among_holes(path, n_seeds):
    """The same where samples lack views, by rate."""
    import latefusion
    from latefusion.metrics import clustering_accuracy
    from latefusion.selection import sources

    everything, classes = load(path)
    found = {}
    for name, compared in (("as they are", ()), ("missing", sources.DIRECTED)):
        with zero_rows_missing(complete=compared, incomplete=compared):
            for rate in RATES:
                scores = []
                for seed in range(n_seeds):
                    views, y = draw(everything, classes, seed)
                    incomplete = with_holes(views, random_holes(len(y), len(views), rate, seed))
                    model = latefusion.LateFusionClustering(len(np.unique(y)), random_state=0)
                    scores.append(clustering_accuracy(y, model.fit_predict(incomplete)))
                found[f"{name}, {rate:.0%} of the views missing"] = round(float(np.mean(scores)), 4)
    return found


def kept_rows(args):
    """Rows of an earlier run that this one will not measure again."""
    if args.output is None or not args.output.exists():
        return []
    found = json.loads(args.output.read_text())
    if (found["samples"], found["seeds"]) != (N_SAMPLES, args.seeds):
        raise SystemExit(f"{args.output} holds results of other draws: name another file.")
    return [row for row in found["rows"] if row.get("set") not in args.sets or row.get("method") not in args.only]


def verdicts(rows):
    """Whether the bars hold, in sentences."""
    sentences = []
    accuracy = {(row["set"], row["rate"], row["method"]): row["ACC"] for row in rows if "rate" in row and "ACC" in row}
    for (dataset, rate, method), value in accuracy.items():
        if method != "LateFusionClustering":
            continue
        others = {key[2]: one for key, one in accuracy.items() if key[:2] == (dataset, rate) and key[2] not in OURS}
        best = max(others, key=others.get) if others else None
        text = f"{dataset}, {rate:.0%} missing: {value:.3f}"
        if dataset == "mfeat":
            text += f", {'reaches' if value >= BARS[rate] else 'misses'} {BARS[rate]:.2f}"
        if best is not None:
            side = "ahead of" if value > others[best] else "behind"
            text += f", {side} {best} ({others[best]:.3f}), the best of {len(others)}"
        sentences.append(text)
    for row in rows:
        if row.get("question") == "holes by class":
            loss = row["at random"] - row["by class"]
            holds = "holds" if loss <= CLASS_LOSS else "fails"
            sentences.append(f"holes by class ({row['who']}): {loss:+.3f} against random ones: {holds}")
    new = {row["absent"]: row["ACC"] for row in rows if row.get("question") == "new samples"}
    for absent, value in new.items():
        if absent != "none":
            loss = new["none"] - value
            sentences.append(f"new samples without {absent}: {loss:+.3f}: {'holds' if loss <= VIEW_LOSS else 'fails'}")
    return sentences


def picture(rows, path):
    """Accuracy over the share that is missing, one panel per data set, one line per method."""
    measured = [row for row in rows if "rate" in row and "ACC" in row]
    sets = list(dict.fromkeys(row["set"] for row in measured))
    canvas, axes = figure(ncols=len(sets), figsize=(3.4 * len(sets), 4.2), squeeze=False)
    names = list(dict.fromkeys(row["method"] for row in measured))
    for ax, dataset in zip(axes[0], sets, strict=True):
        for name in names:
            own = sorted(
                (row["rate"], row["ACC"]) for row in measured if row["set"] == dataset and row["method"] == name
            )
            first = name == "LateFusionClustering"
            color = BLUE if first else GREY if name in OURS else ORANGE
            style = {"linewidth": 2.5 if first else 1.0, "marker": "o", "markersize": 5 if first else 3}
            if own:
                ax.plot(*zip(*own, strict=True), color=color, zorder=3 if first else 2, **style)
        best = [row for row in measured if row["set"] == dataset and row["similarity"] == "peer"]
        for rate in RATES:
            here = [row for row in best if row["rate"] == rate]
            if here:
                top = max(here, key=lambda row: row["ACC"])
                ax.annotate(
                    top["method"].removeprefix("iMML "),
                    (rate, top["ACC"]),
                    xytext=(0, -11),
                    textcoords="offset points",
                    ha="center",
                    fontsize=7,
                    color="black",
                )
        ax.set_title(dataset, loc="left")
        ax.set_xticks(RATES, [f"{rate:.0%}" for rate in RATES])
        ax.set_xlim(0.24, 0.76)
        ax.set_ylim(0, 1)
        ax.set_xlabel("of the rows missing")
    axes[0][0].set_ylabel("accuracy, mean of the draws")
    from matplotlib.lines import Line2D

    legend = {"LateFusionClustering": BLUE, "our other methods": GREY, "iMML (the best is named)": ORANGE}
    handles = [Line2D([], [], color=color, marker="o", label=name) for name, color in legend.items()]
    canvas.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    canvas.savefig(path, dpi=150)


def main():
    """Measure, save, draw, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder that holds the data sets")
    parser.add_argument("--only", nargs="+", choices=METHODS, default=METHODS, metavar="NAME")
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="NAME")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one method on one data set")
    parser.add_argument("--environments", type=Path, default=Path(".venv-peers"))
    parser.add_argument("--output", type=Path)
    parser.add_argument("--choices", action="store_true", help="compare what could be done, on sets with features")
    parser.add_argument("--fillings", action="store_true", help="compare what the search fills missing rows in with")
    parser.add_argument("--zeros", action="store_true", help="take rows of zeros as they are, and as missing")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        name, dataset, found = args.child
        measure(name, args.data / f"{dataset}.npz", args.seeds, found)
        return
    if args.choices:
        compare_choices(args)
        return
    if args.zeros:
        compare_zeros(args)
        return
    if args.fillings:
        compare_fillings(args)
        return
    from latefusion.tables import format_table

    rows = kept_rows(args)
    for dataset in args.sets:
        for name in args.only:
            rows += rows_of(name, args.data, dataset, args)
            print(json.dumps(rows[-len(RATES) :]), file=sys.stderr, flush=True)
            save(args.output, rows, samples=N_SAMPLES, seeds=args.seeds)
    if "LateFusionClustering" in args.only and "mfeat" in args.sets:
        rows = [row for row in rows if "rate" in row]
        rows += by_class(args.data, args.seeds) + without_a_view(args.data, args.seeds)
        save(args.output, rows, samples=N_SAMPLES, seeds=args.seeds)
    names = list(dict.fromkeys(row["method"] for row in rows if "rate" in row))
    cells = {(row["set"], row["method"], row["rate"]): row for row in rows if "rate" in row}
    for dataset in dict.fromkeys(row["set"] for row in rows if "rate" in row):
        print(f"\n{dataset}\n")
        lines = []
        for name in names:
            own = [cells.get((dataset, name, rate), {}) for rate in RATES]
            note = next((one["note"] for one in own if "note" in one), "")
            lines.append([name, *(f"{one['ACC']:.3f}" if "ACC" in one else "-" for one in own), note])
        print(format_table(["method", *(f"{rate:.0%}" for rate in RATES), "note"], lines))
    print(f"\n{machine()}\n")
    print("\n".join(verdicts(rows)))
    if args.output:
        picture(rows, args.output.with_suffix(".png"))


if __name__ == "__main__":
    main()
