"""How much every view counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from latefusion.plots.canvas import PALETTE, get_axes, strip


class ViewWeightsDisplay:
    """Weight of every view, and how well its own partition agrees with the consensus.

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
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(self, weights: Any, names: Any, *, agreement: Any = None, intervals: Any = None) -> None:
        self.weights = np.asarray(weights)
        self.names = [str(name) for name in names]
        self.agreement = None if agreement is None else np.asarray(agreement)
        self.intervals = None if intervals is None else np.asarray(intervals)

    @classmethod
    def from_estimator(cls, estimator: Any, *, intervals: bool = False, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the view weights of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with ``view_weights_`` and ``view_names_``
        intervals : bool, default=False
            Draw 95 % bootstrap intervals; the estimator needs a method ``weight_intervals``.
        ax : matplotlib Axes, default=None
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.barh`.

        Returns
        -------
        ViewWeightsDisplay
        """
        agreement = getattr(estimator, "agreement_", None)
        ends = None
        if intervals:
            found = estimator.weight_intervals()
            ends = (found.lower, found.upper)
        display = cls(estimator.view_weights_, estimator.view_names_, agreement=agreement, intervals=ends)
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            A new figure when None.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.barh`.

        Returns
        -------
        self
        """
        ax = get_axes(ax)
        rows = np.arange(len(self.names))[::-1]
        style = {"color": PALETTE[0], "height": 0.7, "label": "weight"} | kwargs
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
            ax.legend(handles=shown, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
        ax.set_yticks(rows, self.names)
        ax.set_xlim(0, 1)
        ax.set_xlabel("from 0 to 1")
        strip(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self
