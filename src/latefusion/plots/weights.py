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

    Attributes
    ----------
    bars_ : matplotlib BarContainer
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(self, weights: Any, names: Any, *, agreement: Any = None) -> None:
        self.weights = np.asarray(weights)
        self.names = [str(name) for name in names]
        self.agreement = None if agreement is None else np.asarray(agreement)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the view weights of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with ``view_weights_`` and ``view_names_``
        ax : matplotlib Axes, default=None
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.barh`.

        Returns
        -------
        ViewWeightsDisplay
        """
        agreement = getattr(estimator, "agreement_", None)
        return cls(estimator.view_weights_, estimator.view_names_, agreement=agreement).plot(ax=ax, **kwargs)

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
        if self.agreement is not None:
            ax.plot(self.agreement, rows, "o", color=PALETTE[2], markersize=6, label="agreement with the consensus")
            ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, 1.16), ncols=2)
        ax.set_yticks(rows, self.names)
        ax.set_xlim(0, 1)
        ax.set_xlabel("from 0 to 1")
        strip(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self
