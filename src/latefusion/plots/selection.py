"""What `LateFusionClustering` tried, and what each scored."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from latefusion.plots.canvas import PALETTE, Display


class SelectionDisplay(Display):
    """Score of every candidate with its standard error, best on top, the chosen one marked.

    Options go to `matplotlib.axes.Axes.errorbar`.

    Parameters
    ----------
    names : sequence of str
        One per candidate.
    scores : array of shape (n_candidates,)
    spreads : array of shape (n_candidates,)
        Standard errors of the scores.
    chosen : int
        Position of the candidate that was taken.

    Attributes
    ----------
    dots_ : matplotlib ErrorbarContainer
        All candidates, best first.
    mark_ : matplotlib Line2D
        The chosen one.
    """

    def __init__(self, names: Any, scores: Any, spreads: Any, chosen: int) -> None:
        self.names = [str(name) for name in names]
        self.scores = np.asarray(scores, dtype=np.float64)
        self.spreads = np.asarray(spreads, dtype=np.float64)
        self.chosen = chosen

    @classmethod
    def _of(cls, estimator: Any) -> Self:
        rows = list(estimator.selection_)
        names = [f"{row['kind']}, {row['weighing']}, λ = {row['regularization']:g}" for row in rows]
        chosen = [bool(row["chosen"]) for row in rows].index(True)
        return cls(names, [row["score"] for row in rows], [row["spread"] for row in rows], chosen)

    def _draw(self, ax: Any, options: dict[str, Any]) -> None:
        order = np.argsort(-self.scores, kind="stable")
        heights = np.empty(len(order))
        heights[order] = np.arange(len(order))[::-1]
        style = {"fmt": "o", "markersize": 5, "color": PALETTE[0], "elinewidth": 1.2} | options
        self.dots_ = ax.errorbar(self.scores[order], heights[order], xerr=self.spreads[order], **style)
        at = self.scores[self.chosen], heights[self.chosen]
        (self.mark_,) = ax.plot(*at, "o", color=PALETTE[2], markersize=9, zorder=3, label="chosen")
        ax.set_yticks(heights, self.names)
        ax.set_ylim(-0.7, len(order) - 0.3)
        ax.get_yticklabels()[self.chosen].set_color(PALETTE[2])
        ax.set_xlabel("score ± standard error")
        ax.legend(frameon=False, loc="lower right")
