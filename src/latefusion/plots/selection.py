"""Candidates of `LateFusionClustering` and their scores."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from latefusion.plots.canvas import PALETTE, Display, legend_above


class SelectionDisplay(Display):
    """Scores of the best candidates with their standard errors, best on top, the chosen one marked.

    Options go to `matplotlib.axes.Axes.errorbar`.

    Parameters
    ----------
    names : sequence of str
        One per candidate.
    scores : array of shape (n_candidates,)
    standard_errors : array of shape (n_candidates,)
        Of the scores.
    chosen : int
        Position of the chosen candidate.
    most : int, default=20
        Number of candidates that are drawn: the chosen one and the best others.

    Attributes
    ----------
    dots_ : matplotlib ErrorbarContainer
        The candidates, best first.
    mark_ : matplotlib Line2D
        The chosen one.
    """

    def __init__(self, names: Any, scores: Any, standard_errors: Any, chosen: int, *, most: int = 20) -> None:
        self.names = [str(name) for name in names]
        self.scores = np.asarray(scores, dtype=np.float64)
        self.standard_errors = np.asarray(standard_errors, dtype=np.float64)
        self.chosen = chosen
        self.most = most

    @classmethod
    def _of(cls, estimator: Any) -> Self:
        if not hasattr(estimator, "selection_"):
            raise ValueError(f"{type(estimator).__name__} does not choose among candidates. Fit LateFusionClustering.")
        rows = list(estimator.selection_)
        names = [_name(row) for row in rows]
        chosen = [bool(row["chosen"]) for row in rows].index(True)
        return cls(names, [row["score"] for row in rows], [row["standard_error"] for row in rows], chosen)

    def _draw(self, ax: Any, options: dict[str, Any]) -> None:
        ranked = np.argsort(-self.scores, kind="stable")
        rank = int(np.flatnonzero(ranked == self.chosen)[0])
        order = ranked[: self.most] if rank < self.most else np.append(ranked[: self.most - 1], self.chosen)
        position = min(rank, len(order) - 1)
        heights = np.arange(len(order))[::-1]
        style = {"fmt": "o", "markersize": 5, "color": PALETTE[0], "elinewidth": 1.2} | options
        self.dots_ = ax.errorbar(self.scores[order], heights, xerr=self.standard_errors[order], **style)
        at = self.scores[self.chosen], heights[position]
        (self.mark_,) = ax.plot(*at, "o", color=PALETTE[2], markersize=9, zorder=3, label="chosen")
        ax.set_yticks(heights, [self.names[one] for one in order])
        ax.set_ylim(-0.7, len(order) - 0.3)
        ax.get_yticklabels()[position].set_color(PALETTE[2])
        rest = len(ranked) - len(order)
        ax.set_xlabel("score ± standard error" + (f"\n({rest} candidates not shown)" if rest else ""))
        legend_above(ax, [self.mark_])


def _name(row: Any) -> str:
    imputed = f", {row['n_shared_components']} components" if "n_shared_components" in row else ""
    return f"{row['similarity']}, {row['weighting']}, λ = {row['regularization']:g}{imputed}"
