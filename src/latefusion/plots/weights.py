"""Weights of the views."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from latefusion.plots.canvas import PALETTE, Display, legend_above


class ViewWeightsDisplay(Display):
    """Weight of every view, and agreement of its own partition with the consensus.

    Options go to `matplotlib.axes.Axes.barh`.

    Parameters
    ----------
    weights : array of shape (n_views,)
    names : sequence of str
    agreement : array of shape (n_views,), default=None
        Between 0 and 1; drawn as a dot on the same bar.
    intervals : pair of arrays of shape (n_views,), default=None
        Lower and upper ends, drawn as a line at the end of the bar.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
    intervals_ : matplotlib ErrorbarContainer or None
    """

    def __init__(self, weights: Any, names: Any, *, agreement: Any = None, intervals: Any = None) -> None:
        self.weights = np.asarray(weights)
        self.names = [str(name) for name in names]
        self.agreement = None if agreement is None else np.asarray(agreement)
        self.intervals = None if intervals is None else np.asarray(intervals)

    @classmethod
    def from_estimator(cls, estimator: Any, *, intervals: bool = False, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the view weights of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with ``view_weights_`` and ``view_names_``
        intervals : bool, default=False
            Draw 95 % bootstrap intervals; the estimator needs a method ``weight_intervals``.
        ax : matplotlib Axes, default=None
        **kwargs : keyword arguments
            Passed to `matplotlib.axes.Axes.barh`.

        Returns
        -------
        ViewWeightsDisplay
        """
        found = estimator.weight_intervals() if intervals else None
        display = cls(
            estimator.view_weights_,
            estimator.view_names_,
            agreement=getattr(estimator, "agreement_", None),
            intervals=None if found is None else (found.lower, found.upper),
        )
        return display.plot(ax=ax, **kwargs)

    def _draw(self, ax: Any, options: dict[str, Any]) -> None:
        rows = np.arange(len(self.names))[::-1]
        style = {"color": PALETTE[0], "height": 0.7, "label": "weight"} | options
        self.bars_ = ax.barh(rows, self.weights, **style)
        shown = [self.bars_]
        self.intervals_ = None
        if self.intervals is not None:
            middle, half = self.intervals.mean(axis=0), np.diff(self.intervals, axis=0)[0] / 2
            self.intervals_ = ax.errorbar(
                middle, rows, xerr=half, fmt="none", ecolor="black", elinewidth=1.5, capsize=4, label="95 % interval"
            )
            shown.append(self.intervals_)
        if self.agreement is not None:
            dots = {"color": PALETTE[2], "markersize": 6, "label": "agreement with the consensus"}
            shown += ax.plot(self.agreement, rows, "o", **dots)
        if len(shown) > 1:
            legend_above(ax, shown)
        ax.set_yticks(rows, self.names)
        ax.set_xlim(0, 1)
        ax.set_xlabel("weight; agreement")
