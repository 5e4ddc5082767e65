"""The picture of the landing page, the example report and the leaderboard: `python docs/picture.py FOLDER`.

The README shows the same picture, which `python docs/picture.py --readme` writes to ``docs/static/picture.png``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import patches, pyplot
from sklearn.decomposition import PCA
from sklearn.preprocessing import normalize

import latefusion as lf
from latefusion.experiments.leaderboard import read_leaderboard
from latefusion.plots.canvas import PALETTE
from latefusion.report import write_leaderboard, write_report

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results" / "leaderboard.json"
INK = {"light": "#24292f", "dark": "#d6dbe0"}
COLORS = np.array(PALETTE)[[0, 1, 2, 4]]


def draw(folder: Path) -> None:
    """Write ``picture-light.svg``, ``picture-dark.svg`` and ``report.html``; what is there already stays.

    ``leaderboard.html`` is written if there are results.
    """
    folder.mkdir(parents=True, exist_ok=True)
    data, model = _example()
    for theme, ink in INK.items():
        path = folder / f"picture-{theme}.svg"
        if not path.exists():
            _draw_picture(data, model, ink, path)
    report = folder / "report.html"
    if not report.exists():
        digits = lf.datasets.load_digits_views()
        views, target = digits.views[:500], digits.target[:500]
        fused = lf.LateFusionClustering(10, random_state=0).fit(views)
        write_report(fused, views, report, target=target, title="500 digits in five views")
    if RESULTS.exists():
        write_leaderboard(folder / "leaderboard.html", read_leaderboard(RESULTS), docs="../")


def draw_for_readme() -> None:
    """The picture as pixels on white, which every page that shows a README can show."""
    _draw_picture(*_example(), INK["light"], Path(__file__).parent / "static" / "picture.png")


def _example() -> Any:
    data = lf.datasets.make_views(240, 4, n_views=3, n_features=6, complementary=True, separation=6.0, random_state=1)
    return data, lf.LateFusionClustering(4, random_state=0).fit(data.views)


def _draw_picture(data: Any, model: Any, ink: str, path: Path) -> None:
    """Three views, none of which shows all clusters; their consensus, which does."""
    settings = {"svg.hashsalt": "latefusion", "text.color": ink, "font.size": 11, "svg.fonttype": "none"}
    with pyplot.rc_context(settings):
        figure = pyplot.figure(figsize=(10, 4.2))
        colors = COLORS[lf.metrics.match_labels(data.target, model.labels_)]
        for row, (name, view) in enumerate(zip(data.views.names, data.views.arrays, strict=True)):
            axes = figure.add_axes((0.1, 0.68 - 0.325 * row, 0.13, 0.29))
            _scatter(axes, view, colors, ink)
            figure.text(0.085, 0.825 - 0.325 * row, name.replace("_", " "), ha="right", va="center")
            weight = model.view_weights_[row]
            arrow = patches.FancyArrowPatch(
                (0.245, 0.825 - 0.325 * row),
                (0.42, 0.5 + 0.12 * (1 - row)),
                transform=figure.transFigure,
                arrowstyle="-|>",
                mutation_scale=14,
                linewidth=4 * weight,
                color=ink,
                alpha=0.7,
            )
            figure.add_artist(arrow)
            figure.text(0.325, (0.77, 0.525, 0.34)[row], f"weight {weight:.2f}", ha="center", va="bottom", fontsize=9)
        axes = figure.add_axes((0.43, 0.09, 0.32, 0.82))
        _scatter(axes, normalize(model.consensus_), colors, ink, size=22, alpha=0.35 + 0.6 * model.confidence_)
        figure.text(0.59, 0.93, "consensus", ha="center", fontweight="bold")
        share = (lf.metrics.match_labels(data.target, model.labels_) == data.target).mean()
        lines = ["one label per sample", "confidence per sample", "weight per view", "labels for new samples"]
        for position, line in enumerate(lines):
            figure.text(0.77, 0.66 - 0.1 * position, f"· {line}")
        figure.text(0.59, 0.03, f"{share:.0%} of the samples in their planted cluster", ha="center", fontsize=9)
        vector = path.suffix == ".svg"
        figure.savefig(path, dpi=110, transparent=vector, metadata={"Date": None} if vector else None)
        pyplot.close(figure)


def _scatter(axes: Any, points: Any, colors: Any, ink: str, size: float = 7, alpha: Any = 0.8) -> None:
    axes.scatter(*PCA(2).fit_transform(points).T, s=size, c=colors, alpha=alpha, linewidths=0)
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(color=ink, linewidth=0.5)


if __name__ == "__main__":
    if sys.argv[1] == "--readme":
        draw_for_readme()
    else:
        draw(Path(sys.argv[1]))
