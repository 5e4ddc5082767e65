"""Objective after every iteration."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from latefusion.plots.canvas import PALETTE, Display


class ConvergenceDisplay(Display):
    """Objective after every iteration; options go to `matplotlib.axes.Axes.plot`.

    Parameters
    ----------
    objective : array of shape (n_iter,)
    name : str, default=None
        Name of the method, for the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
    """

    def __init__(self, objective: Any, *, name: str | None = None) -> None:
        self.objective = np.asarray(objective)
        self.name = name

    @classmethod
    def _of(cls, estimator: Any) -> Self:
        return cls(estimator.objective_, name=type(estimator).__name__)

    def _draw(self, ax: Any, options: dict[str, Any]) -> None:
        style = {"marker": "o", "markersize": 4, "color": PALETTE[0], "label": self.name} | options
        (self.line_,) = ax.plot(np.arange(1, len(self.objective) + 1), self.objective, **style)
        ax.set(xlabel="iteration", ylabel="objective")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.ticklabel_format(axis="y", useOffset=False)
        if style["label"]:
            ax.legend(frameon=False, loc="lower right")
