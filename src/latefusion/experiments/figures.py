"""The figures of the paper, from the results of an evaluation and from a few additional fits.

Every figure becomes a PNG and an SVG file. Colours are those of `latefusion.plots`, which colour-blind readers can
distinguish; lines differ in marker and dash as well.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import TSNE

from latefusion.arrays import namespace, unit_rows
from latefusion.atomic_files import atomic_write
from latefusion.estimators import GlobalAlignmentClustering, LocalAlignmentClustering
from latefusion.estimators.alignment_map import aligned_partitions
from latefusion.experiments.protocol import GAM, LAM, OURS
from latefusion.experiments.report import Picture
from latefusion.experiments.sources import Source, standardized
from latefusion.experiments.summary import Summary
from latefusion.metrics import encode_labels, objective_gap
from latefusion.plots.canvas import PALETTE, require_pyplot, strip
from latefusion.solvers import solve_alignment

# Above this many samples, t-SNE and the affinity of all pairs take minutes.
MOST_SAMPLES = 2500
EVOLUTION = (1, 5, 10, 20)
AFFINITIES = (1, 2, 5, 10)
DOTS_PER_INCH = 150
# Methods of this package, which are not comparison methods.
MINE = (GAM, LAM, OURS)
# With more classes than colours, the colours are repeated with another marker.
MARKERS = "o^sDvP"


class Iterate(NamedTuple):
    """The consensus after an iteration, and both objectives there."""

    consensus: NDArray[Any]
    residual: float
    surrogate: float


def draw_figures(
    folder: Path,
    summaries: Sequence[Summary],
    *,
    fits: bool = True,
    endings: Sequence[str] = ("png", "svg"),
    dots_per_inch: int = DOTS_PER_INCH,
) -> list[Picture]:
    """Draw all figures for which there are results.

    Parameters
    ----------
    folder : Path
        Folder of the figures.
    summaries : sequence of Summary
    fits : bool, default=True
        Whether to draw those that need the data and a fit of their own: objective, evolution, affinity and gap.
    endings : sequence of str, default=("png", "svg")
        Formats of the files.
    dots_per_inch : int, default=150

    Returns
    -------
    list of Picture
        Paths are relative to the parent of the folder.
    """
    pictures: list[Picture] = []

    def save(name: str, caption: str, figure: Any) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for ending in endings:
            with atomic_write(folder / f"{name}.{ending}") as stream:
                figure.savefig(stream, format=ending, dpi=dots_per_inch)
        require_pyplot().close(figure)
        pictures.append(Picture(f"{folder.name}/{name}.{endings[0]}", caption))

    for source in dict.fromkeys(one.source for one in summaries):
        here = [one for one in summaries if one.source == source]
        for one in here:
            if one.method == GAM and len(one.levels) > 1:
                save(f"lambda-{source.name}", *draw_regularization(one, here))
            if one.method == LAM and len(one.levels) > 1:
                save(f"surface-{source.name}", *draw_surface(one))
        if fits and source.n_samples <= MOST_SAMPLES:
            for name, draw in FITS.items():
                save(f"{name}-{source.name}", *draw(source))
    if sum(one.seconds is not None for one in summaries) > 1:
        save("times", *draw_times(summaries))
    return pictures


def draw_regularization(gam: Summary, others: Sequence[Summary]) -> tuple[str, Any]:
    """Accuracy of global alignment over λ, and the best of the comparison methods."""
    levels = sorted(gam.levels, key=lambda level: level.parameters["regularization"])
    values = [level.parameters["regularization"] for level in levels]
    best, mean, spread = 100 * np.array([level[1:] for level in levels]).T
    figure, ax = require_pyplot().subplots(figsize=(6, 4.2), layout="constrained")
    ax.plot(values, best, "o-", color=PALETTE[0], label=f"{GAM}, best restart")
    ax.plot(values, mean, "s--", color=PALETTE[2], label=f"{GAM}, mean of restarts")
    ax.fill_between(values, mean - spread, mean + spread, color=PALETTE[2], alpha=0.15, linewidth=0)
    rivals = {one.method: one.oracle["accuracy"].value for one in others if one.oracle and one.method not in MINE}
    if rivals:
        rival = max(rivals, key=lambda method: rivals[method])
        ax.axhline(100 * rivals[rival], color=PALETTE[8], linestyle=":", label=f"{rival}, oracle")
    ax.set_xscale("log", base=2)
    ax.set(xlabel="λ", ylabel="ACC in per cent", title=gam.source.title)
    figure.legend(frameon=False, fontsize=9, loc="outside lower center", ncols=2)
    strip(ax)
    return f"{gam.source.title}: accuracy of {GAM} over λ; the band is one standard deviation over restarts.", figure


def draw_surface(lam: Summary) -> tuple[str, Any]:
    """Best accuracy of local alignment over λ and τ."""
    rows = sorted({level.parameters["neighborhood"] for level in lam.levels})
    columns = sorted({level.parameters["regularization"] for level in lam.levels})
    heights = np.full((len(rows), len(columns)), np.nan)
    for level in lam.levels:
        at = rows.index(level.parameters["neighborhood"]), columns.index(level.parameters["regularization"])
        heights[at] = 100 * level.best
    figure, ax = require_pyplot().subplots(figsize=(6.4, 4.4), layout="constrained")
    image = ax.imshow(heights, origin="lower", aspect="auto", cmap="cividis")
    low, high = np.nanmin(heights), np.nanmax(heights)
    for (row, column), height in np.ndenumerate(heights):
        dark = height < (low + high) / 2
        ax.text(column, row, f"{height:.0f}", ha="center", va="center", fontsize=8, color="white" if dark else "black")
    ax.set_xticks(range(len(columns)), [f"$2^{{{np.log2(value):.0f}}}$" for value in columns])
    ax.set_yticks(range(len(rows)), [f"{value:g}" for value in rows])
    ax.set(xlabel="λ", ylabel="τ, share of the samples", title=lam.source.title)
    figure.colorbar(image, label="ACC in per cent, best restart")
    return f"{lam.source.title}: accuracy of {LAM} over λ and τ.", figure


def draw_times(summaries: Sequence[Summary]) -> tuple[str, Any]:
    """Seconds of all methods, relative to global alignment, a dot per data set."""
    seconds = {(one.source.title, one.method): one.seconds for one in summaries if one.seconds}
    datasets = [name for name in dict.fromkeys(name for name, _ in seconds) if (name, GAM) in seconds]
    relative = {
        method: [seconds[name, method] / seconds[name, GAM] for name in datasets if (name, method) in seconds]
        for method in dict.fromkeys(method for _, method in seconds)
    }
    order = sorted((method for method in relative if relative[method]), key=lambda method: np.median(relative[method]))
    figure, ax = require_pyplot().subplots(figsize=(6.4, 1.2 + 0.27 * len(order)), layout="constrained")
    for row, method in enumerate(order):
        ours = method in MINE
        color = PALETTE[0] if ours else PALETTE[8]
        ax.plot(relative[method], [row] * len(relative[method]), "o", color=color, alpha=0.6, markersize=5)
        ax.plot(np.median(relative[method]), row, "|", color=color, markersize=16, markeredgewidth=2.5)
    ax.axvline(1, color=PALETTE[0], linestyle=":", linewidth=1)
    ax.set_yticks(range(len(order)), order)
    ax.set_xscale("log")
    ax.set_xlabel(f"running time, {GAM} = 1 (dots: data sets, bar: median)")
    strip(ax)
    return f"Running time of one clustering relative to {GAM}, default parameters.", figure


def draw_objective(source: Source) -> tuple[str, Any]:
    """Objective of both alignments after every iteration, from the paper's start."""
    figure, axes = require_pyplot().subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    kinds = {GAM: GlobalAlignmentClustering, LAM: LocalAlignmentClustering}
    for position, (ax, (name, estimator)) in enumerate(zip(axes, kinds.items(), strict=True)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = estimator(init="identity", **_options(source)).fit(standardized(source.load()))
        ax.plot(range(1, model.n_iter_ + 1), model.objective_, "os"[position] + "-", color=PALETTE[2 * position])
        ax.set(title=name, xlabel="iteration", ylabel="objective")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.ticklabel_format(axis="y", useOffset=False)
        strip(ax)
    figure.suptitle(source.title)
    return (
        f"{source.title}: the objective after every iteration (λ = 1, τ = 0.3, rotations start at the identity).",
        figure,
    )


def draw_evolution(source: Source) -> tuple[str, Any]:
    """The consensus by t-SNE after some iterations, coloured by class."""
    iterates = _iterates(source, max(EVOLUTION))
    classes, members = encode_labels(source.load().target)
    figure, axes = require_pyplot().subplots(1, len(EVOLUTION), figsize=(12, 3.3), layout="constrained")
    for ax, step in zip(axes, EVOLUTION, strict=True):
        consensus = iterates[step - 1].consensus
        rows = unit_rows(consensus, xp=namespace(consensus))
        positions = TSNE(2, perplexity=min(30.0, (len(rows) - 1) / 3), random_state=0).fit_transform(rows)
        for one in range(len(classes)):
            marker, color = MARKERS[one // len(PALETTE) % len(MARKERS)], PALETTE[one % len(PALETTE)]
            size = np.clip(6000 / len(rows), 5, 30)
            ax.scatter(*positions[members == one].T, s=size, linewidths=0, color=color, marker=marker)
        ax.set(xticks=[], yticks=[], title=f"iteration {step}")
    shape = " and shaped" * (len(classes) > len(PALETTE))
    figure.suptitle(f"{source.title}, coloured{shape} by class")
    return f"{source.title}: the consensus F of {GAM} by t-SNE after 1, 5, 10 and 20 iterations.", figure


def draw_affinity(source: Source) -> tuple[str, Any]:
    """The affinity F Fᵀ after some iterations, samples sorted by class."""
    iterates = _iterates(source, max(AFFINITIES))
    _, target = encode_labels(source.load().target)
    order = np.argsort(target, kind="stable")
    affinities = []
    for step in AFFINITIES:
        consensus = iterates[step - 1].consensus
        rows = unit_rows(consensus, xp=namespace(consensus))[order]
        affinities.append(rows @ rows.T)
    figure, axes = require_pyplot().subplots(1, len(AFFINITIES), figsize=(12, 3.4), layout="constrained")
    edges = np.flatnonzero(np.diff(target[order])) + 0.5
    for ax, step, affinity in zip(axes, AFFINITIES, affinities, strict=True):
        image = ax.imshow(affinity, cmap="cividis", vmin=0, vmax=1, interpolation="nearest")
        if len(edges) <= 20:
            for edge in edges:
                ax.axhline(edge, color="white", linewidth=0.4)
                ax.axvline(edge, color="white", linewidth=0.4)
        ax.set(xticks=[], yticks=[], title=f"iteration {step}")
    figure.colorbar(image, ax=list(axes), label="cosine of rows of F", shrink=0.85, extend="min")
    figure.suptitle(f"{source.title}, samples sorted by class")
    return f"{source.title}: the affinity FFᵀ (rows of unit length) after 1, 2, 5 and 10 iterations.", figure


def draw_gap(source: Source) -> tuple[str, Any]:
    """Both objectives of the paper's appendix, ① below its bound ②, after every iteration."""
    iterates = _iterates(source, max(EVOLUTION))
    steps = range(1, len(iterates) + 1)
    figure, ax = require_pyplot().subplots(figsize=(6, 3.8), layout="constrained")
    ax.plot(
        steps,
        [one.surrogate for one in iterates],
        "s--",
        color=PALETTE[0],
        markersize=4,
        label="② Tr(BBᵀ) − Tr²(FᵀB)/k",
    )
    ax.plot(
        steps, [one.residual for one in iterates], "o-", color=PALETTE[2], markersize=4, label="① Tr(BBᵀ) − Tr(FᵀBBᵀF)"
    )
    ax.set(xlabel="iteration", ylabel="value", title=source.title, ylim=(0, None))
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(frameon=False)
    strip(ax)
    return f"{source.title}: the objectives ① and ② of {GAM} after every iteration.", figure


FITS: dict[str, Callable[[Source], tuple[str, Any]]] = {
    "objective": draw_objective,
    "evolution": draw_evolution,
    "affinity": draw_affinity,
    "gap": draw_gap,
}


def _options(source: Source) -> dict[str, Any]:
    options: dict[str, Any] = {"n_clusters": source.n_clusters, "random_state": 0}
    return options | ({"similarity": "precomputed"} if source.load().kind == "kernels" else {})


def _iterates(source: Source, n_steps: int) -> list[Iterate]:
    """Global alignment with λ = 1 from the paper's start, every iteration kept."""
    model = GlobalAlignmentClustering(**_options(source)).fit(standardized(source.load()))
    return list(_steps(*aligned_partitions(model._partitions), n_steps))


def _steps(partitions: Sequence[NDArray[Any]], average: NDArray[Any], n_steps: int) -> Iterator[Iterate]:
    states: list[Any] = []
    solve_alignment(
        partitions,
        average,
        regularization=1.0,
        init="identity",
        max_iter=n_steps,
        tol=0.0,
        callback=states.append,
        xp=namespace(average),
    )
    for state in states:
        gap = objective_gap(partitions, state.rotations, state.weights, state.consensus)
        yield Iterate(state.consensus, gap.residual, gap.surrogate)
    for _ in range(n_steps - len(states)):  # it had converged before
        yield Iterate(states[-1].consensus, gap.residual, gap.surrogate)
