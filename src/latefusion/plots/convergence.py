"""The objective, iteration by iteration."""

from __future__ import annotations

from typing import Any

import numpy as np

from latefusion.plots.canvas import PALETTE, get_axes, strip


class ConvergenceDisplay:
    """Objective after every iteration.

    Parameters
    ----------
    objective : array of shape (n_iter,)
    name : str, default=None
        Name of the method, for the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(self, objective: Any, *, name: str | None = None) -> None:
        self.objective = np.asarray(objective)
        self.name = name

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, name: str | None = None, **kwargs: Any) -> Any:
        """Draw the objective of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with ``objective_``
        ax : matplotlib Axes, default=None
        name : str, default=None
            The name of its class when None.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot`.

        Returns
        -------
        ConvergenceDisplay
        """
        return cls(estimator.objective_, name=name or type(estimator).__name__).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            A new figure when None.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot`.

        Returns
        -------
        self
        """
        ax = get_axes(ax)
        style = {"marker": "o", "markersize": 4, "color": PALETTE[0], "label": self.name} | kwargs
        (self.line_,) = ax.plot(np.arange(1, len(self.objective) + 1), self.objective, **style)
        ax.set(xlabel="iteration", ylabel="objective")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.ticklabel_format(axis="y", useOffset=False)
        if self.name:
            ax.legend(frameon=False, loc="lower right")
        strip(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self
