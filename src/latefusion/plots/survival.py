"""Survival of the clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from latefusion.metrics import KaplanMeier
from latefusion.plots.canvas import MOST_LEGEND_ENTRIES, Display, cluster_colors, cluster_legend

# Distances of the numbers at risk, in lines of text: between rows, of the first row below the axes, and of the names of
# rows to the left, so that they do not touch the numbers at time 0.
ROW, FIRST_ROW, NAMES = 1.35, 4.2, 2.2


class SurvivalDisplay(Display):
    """Kaplan–Meier curves of the clusters, with numbers at risk below and the p-value.

    Options go to `matplotlib.axes.Axes.step`.

    Parameters
    ----------
    curves : mapping of object to KaplanMeier
        By cluster.
    p : float, default=None
        Of the test of all clusters; not written if it is None or NaN.
    time_name : str, default="time"
        Label of the axis of times.
    intervals : bool, default=False
        Whether to draw the 95 % intervals.

    Attributes
    ----------
    curves_ : dict of object to matplotlib Line2D
    censored_ : dict of object to matplotlib Line2D
        Ticks at the times of censored samples.
    numbers_ : dict of object to list of matplotlib Text
        Numbers at risk at the ticks of the time axis; empty with too many clusters to tell apart.
    """

    def __init__(
        self,
        curves: Mapping[Any, KaplanMeier],
        *,
        p: float | None = None,
        time_name: str = "time",
        intervals: bool = False,
    ) -> None:
        self.curves = dict(curves)
        self.p = p
        self.time_name = time_name
        self.intervals = intervals

    @classmethod
    def from_outcome(cls, outcome: Any, *, ax: Any = None, intervals: bool = False, **kwargs: Any) -> Self:
        """Draw the survival of an outcome.

        Parameters
        ----------
        outcome : Outcome
            As `latefusion.outcome` returns it.
        ax : matplotlib Axes, default=None
        intervals : bool, default=False
            Whether to draw the 95 % intervals.
        **kwargs : keyword arguments
            Passed to `matplotlib.axes.Axes.step`.

        Returns
        -------
        SurvivalDisplay
        """
        found = outcome.survival
        if found is None:
            raise ValueError("This outcome has no survival. Give survival=(time, event) to `latefusion.outcome`.")
        display = cls(found.curves, p=found.p, time_name=found.time_name, intervals=intervals)
        return display.plot(ax=ax, **kwargs)

    def _draw(self, ax: Any, options: dict[str, Any]) -> None:
        colors = cluster_colors(len(self.curves))
        self.curves_, self.censored_ = {}, {}
        for (name, curve), color in zip(self.curves.items(), colors, strict=True):
            style = {"color": color, "linewidth": 1.8, "where": "post"} | options
            (self.curves_[name],) = ax.step(curve.times, curve.survival, **style)
            ended = curve.censored > 0
            ticks = {"marker": "|", "markersize": 6, "linestyle": "none", "color": color}
            (self.censored_[name],) = ax.plot(curve.times[ended], curve.survival[ended], **ticks)
            if self.intervals:
                ax.fill_between(
                    curve.times, curve.lower, curve.upper, step="post", color=color, alpha=0.15, linewidth=0
                )
        ax.set(ylim=(0, 1.03), ylabel="share without event", xlabel=self.time_name)
        ax.set_xlim(0, max(float(curve.times[-1]) for curve in self.curves.values()) * 1.02 or 1.0)
        if self.p is not None and not np.isnan(self.p):
            ax.text(0.98, 0.97, f"log-rank p = {self.p:.2g}", transform=ax.transAxes, ha="right", va="top")
        cluster_legend(ax, list(self.curves), colors)
        self.numbers_ = self._draw_numbers(ax, colors) if len(self.curves) <= MOST_LEGEND_ENTRIES else {}

    def _draw_numbers(self, ax: Any, colors: Any) -> dict[Any, list[Any]]:
        """Numbers at risk below the ticks of the time axis, one row per cluster."""
        start, end = ax.get_xlim()
        ticks = [tick for tick in ax.get_xticks() if start <= tick <= end]
        size = 0.85 * _font_size()

        def write(x: float, row: float, text: str, color: Any, side: str) -> Any:
            offset = (0 if side == "center" else -size * NAMES, -size * (FIRST_ROW + ROW * row))
            return ax.annotate(
                text, (x, 0), xycoords=("data" if side == "center" else "axes fraction", "axes fraction"),
                xytext=offset, textcoords="offset points", ha=side, va="top", color=color, fontsize=size,
            )  # fmt: skip

        write(0, 0, "at risk", "black", "right")
        found = {}
        for row, ((name, curve), color) in enumerate(zip(self.curves.items(), colors, strict=True), start=1):
            write(0, row, str(name), color, "right")
            counts = curve.at_risk_at(ticks)
            found[name] = [
                write(tick, row, str(count), color, "center") for tick, count in zip(ticks, counts, strict=True)
            ]
        return found


def _font_size() -> float:
    from matplotlib import rcParams

    return float(rcParams["font.size"])
