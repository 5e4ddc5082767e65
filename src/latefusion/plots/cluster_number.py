"""Scores of the numbers of clusters that were tried."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from latefusion.plots.canvas import PALETTE, Display, legend_above


class NumberOfClustersDisplay(Display):
    """Stability, information and score of every number of clusters, and the stability of data without clusters.

    Options go to `matplotlib.axes.Axes.errorbar` for the stability.

    Parameters
    ----------
    numbers : array of shape (n_numbers,)
    stability : array of shape (n_numbers,)
        Mean adjusted Rand index between halves of the data, at most 1.
    standard_error : array of shape (n_numbers,)
        Of the stability.
    information : array of shape (n_numbers,)
        Information of clusters about neighboring samples, in any unit: drawn as a share of the largest.
    chosen : int
        The chosen number.
    null : array of shape (n_numbers,), default=None
        Stability of data of the same shape without clusters.

    Attributes
    ----------
    stability_ : matplotlib ErrorbarContainer
    information_ : matplotlib Line2D
    score_ : matplotlib Line2D
        Information times squared stability, as a share of the largest.
    null_ : matplotlib Line2D or None
    mark_ : matplotlib Line2D
        Vertical line at the chosen number.
    """

    def __init__(
        self, numbers: Any, stability: Any, standard_error: Any, information: Any, chosen: int, *, null: Any = None
    ) -> None:
        self.numbers = np.asarray(numbers)
        self.stability = np.asarray(stability, dtype=np.float64)
        self.standard_error = np.asarray(standard_error, dtype=np.float64)
        self.information = np.asarray(information, dtype=np.float64)
        self.chosen = chosen
        self.null = None if null is None else np.asarray(null, dtype=np.float64)

    @classmethod
    def _of(cls, estimator: Any) -> Self:
        if not hasattr(estimator, "number_selection_"):
            raise ValueError(
                f"This {type(estimator).__name__} did not choose the number of clusters. Fit LateFusionClustering with "
                f"n_clusters='auto' or a range."
            )
        found = estimator.number_selection_
        numbers, stability, standard_error, information = zip(*found.evidence, strict=True)
        null = [one.stability for one in found.null]
        return cls(numbers, stability, standard_error, information, found.n_clusters, null=null)

    def _draw(self, ax: Any, options: dict[str, Any]) -> None:
        # Drawn first, behind everything else.
        self.mark_ = ax.axvline(self.chosen, color="0.85", linewidth=8, zorder=0, label=f"chosen: {self.chosen}")
        style = {"color": PALETTE[0], "marker": "o", "markersize": 5, "capsize": 2, "label": "stability"} | options
        self.stability_ = ax.errorbar(self.numbers, self.stability, yerr=self.standard_error, **style)
        self.null_ = None
        if self.null is not None:
            (self.null_,) = ax.plot(self.numbers, self.null, ":", color=PALETTE[0], label="stability without clusters")
        share = _as_share(self.information)
        (self.information_,) = ax.plot(self.numbers, share, "s--", color=PALETTE[3], markersize=4, label="information")
        score = _as_share(np.maximum(self.stability, 0.0) ** 2 * self.information)
        (self.score_,) = ax.plot(
            self.numbers, score, "D-", color=PALETTE[2], markersize=5, label="score: stability² × information"
        )
        ax.set_ylim(
            min(0.0, *(self.stability - self.standard_error), *(self.null if self.null is not None else ())), 1.05
        )
        ax.set(xlabel="number of clusters", ylabel="stability; information and score relative to maximum")
        ax.xaxis.get_major_locator().set_params(integer=True)
        lines = [self.stability_, self.null_, self.information_, self.score_, self.mark_]
        legend_above(ax, [line for line in lines if line is not None], n_columns=2)


def _as_share(values: Any) -> Any:
    largest = values.max()
    return values / largest if largest > 0 else values
