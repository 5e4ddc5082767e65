"""Which views are missing, and for how many samples."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from latefusion.plots.canvas import LONGEST_NAME, PALETTE, Display, middle_cut


class MissingViewsDisplay(Display):
    """Combinations of observed views, the most frequent one first: dots show the views, bars the number of samples.

    Options go to `matplotlib.axes.Axes.barh`.

    Parameters
    ----------
    mask : array of bool of shape (n_samples, n_views)
        True where a sample is observed in a view.
    names : sequence of str
    most : int, default=12
        Combinations with a bar of their own; the last bar is all others.

    Attributes
    ----------
    combinations : ndarray of bool of shape (n_combinations, n_views)
    sizes : ndarray of shape (n_combinations,)
        Number of samples of every combination.
    n_others : int
        Number of samples of all other combinations.
    bars_ : matplotlib BarContainer
    """

    def __init__(self, mask: Any, names: Any, *, most: int = 12) -> None:
        self.mask = np.asarray(mask, dtype=bool)
        self.names = [str(name) for name in names]
        found, sizes = np.unique(self.mask, axis=0, return_counts=True)
        order = np.lexsort((-found.sum(axis=1), -sizes))[:most]
        self.combinations, self.sizes = found[order], sizes[order]
        self.n_others = int(len(self.mask) - self.sizes.sum())

    @classmethod
    def from_views(cls, views: Any, *, most: int = 12, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the missing views of `Views`.

        Parameters
        ----------
        views : Views
        most : int, default=12
        ax : matplotlib Axes, default=None
        **kwargs : keyword arguments
            Passed to `matplotlib.axes.Axes.barh`.

        Returns
        -------
        MissingViewsDisplay
        """
        return cls(views.observed, views.names, most=most).plot(ax=ax, **kwargs)

    @classmethod
    def _of(cls, estimator: Any) -> Self:
        return cls(estimator.observed_, estimator.view_names_)

    def _draw(self, ax: Any, options: dict[str, Any]) -> None:
        sizes = [*self.sizes.tolist(), *([self.n_others] if self.n_others else [])]
        rows, width = np.arange(len(sizes))[::-1], len(self.names)
        longest = max(sizes)
        # The columns of dots are left of zero and take two thirds of the width of the longest bar.
        columns = (np.arange(width) - width + 0.3) * longest * 2 / 3 / width
        style = {"color": PALETTE[0], "height": 0.7} | options
        self.bars_ = ax.barh(rows, sizes, **style)
        for row, present in zip(rows, self.combinations, strict=False):
            ax.plot(columns, np.full(width, row), "o", color="0.88", markersize=7, zorder=1)
            ax.plot(columns[present], np.full(present.sum(), row), "o-", color="black", markersize=7, linewidth=1)
        for row, size in zip(rows, sizes, strict=True):
            share = size / len(self.mask)
            ax.annotate(f"{size} ({share:.0%})", (size, row), (3, 0), textcoords="offset points", va="center")
        if self.n_others:
            ax.text(columns.mean(), rows[-1], "other combinations", ha="center", va="center")
        for name, column, have in zip(self.names, columns, self.mask.sum(axis=0), strict=True):
            words = f"{middle_cut(name, LONGEST_NAME)} ({have})"
            ax.text(column, rows[0] + 0.6, words, rotation=45, ha="left", va="bottom")
        ax.set_xlim(columns[0] - longest * 0.1, longest * 1.25)
        ax.set_ylim(-0.6, len(sizes) - 0.4)
        ax.set_yticks([])
        ax.set_xticks([tick for tick in ax.get_xticks() if 0 <= tick <= longest])
        ax.set_xlabel("samples with these views")
        ax.spines["left"].set_position(("data", 0))
        ax.spines["bottom"].set_bounds(0, longest * 1.25)
