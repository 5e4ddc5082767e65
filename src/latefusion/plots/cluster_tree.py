"""How clusters split as their number increases."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from latefusion.plots.canvas import Display, cluster_colors

# Width of a bar, and free space between two bars as a share of all samples.
BAR_WIDTH = 0.16
GAP = 0.02
# Lower clusters have no room for a number.
LEAST_NUMBERED = 0.03
# Shares of red, green and blue in the brightness of a colour.
BRIGHTNESS = (0.299, 0.587, 0.114)
# Points of the curves between two bars.
N_POINTS = 30


class ClusterTreeDisplay(Display):
    """Clusters for several numbers of clusters, and the samples that they have in common.

    Every number is a column of bars, as high as the clusters are large. Bands connect clusters of successive numbers
    and are as wide as the number of samples that both have. A cluster keeps its colour and its id as long as it is the
    largest part of its parent.

    Options go to `matplotlib.axes.Axes.fill_between` for the bands.

    Parameters
    ----------
    numbers : array of shape (n_numbers,)
        Numbers of clusters, ascending.
    labels : array of int of shape (n_samples, n_numbers)
        Ids of the clusters, which stay from number to number.
    n_clusters : int, default=None
        A number that is emphasized.

    Attributes
    ----------
    bars_ : dict of (int, int) to matplotlib Rectangle
        By number of clusters and id.
    bands_ : list of matplotlib collection
    """

    def __init__(self, numbers: Any, labels: Any, *, n_clusters: int | None = None) -> None:
        self.numbers = np.asarray(numbers)
        self.labels = np.asarray(labels)
        self.n_clusters = n_clusters

    @classmethod
    def from_estimator(cls, estimator: Any, *, numbers: Any = None, ax: Any = None, **kwargs: Any) -> Self:
        """Cluster the training samples with several numbers of clusters and draw.

        Parameters
        ----------
        estimator : LateFusionClustering
            Fitted in this process, not loaded from a file.
        numbers : range or sequence of int, default=None
            As in ``n_clusters_path`` of the estimator.
        ax : matplotlib Axes, default=None
        **kwargs : keyword arguments
            Passed to `matplotlib.axes.Axes.fill_between` for the bands.

        Returns
        -------
        ClusterTreeDisplay
        """
        path = estimator.n_clusters_path(numbers)
        return cls(path.numbers, path.labels, n_clusters=path.n_clusters).plot(ax=ax, **kwargs)

    def _draw(self, ax: Any, options: dict[str, Any]) -> None:
        ids = np.unique(self.labels)
        colors = dict(zip(ids.tolist(), cluster_colors(len(ids)), strict=True))
        layout = tree_layout(self.labels)
        style = {"alpha": 0.35, "linewidth": 0.0} | options
        numbers = self.numbers.tolist()
        self.bars_: dict[tuple[int, int], Any] = {}
        for place, one, low, share in layout.bars:
            edge = "black" if numbers[place] == self.n_clusters else "none"
            (bar,) = ax.bar(place, share, BAR_WIDTH, bottom=low, facecolor=colors[one], edgecolor=edge, zorder=2)
            self.bars_[numbers[place], one] = bar
            if share >= LEAST_NUMBERED:
                color = "black" if colors[one][:3] @ BRIGHTNESS > 0.5 else "white"
                ax.text(place, low + share / 2, one, ha="center", va="center", size="small", color=color, zorder=3)
        self.bands_ = [self._draw_band(ax, band, colors, style) for band in layout.bands]
        ax.set_xticks(range(len(self.numbers)), [str(one) for one in self.numbers.tolist()])
        if self.n_clusters is not None:
            for tick, number in zip(ax.get_xticklabels(), self.numbers.tolist(), strict=True):
                tick.set_fontweight("bold" if number == self.n_clusters else "normal")
        ax.set_ylim(layout.low - GAP, layout.high + GAP)
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
        ax.set(xlabel="number of clusters", ylabel="samples, by cluster")

    def _draw_band(self, ax: Any, band: TreeBand, colors: dict[int, Any], style: dict[str, Any]) -> Any:
        x = np.linspace(band.place - 1 + BAR_WIDTH / 2, band.place - BAR_WIDTH / 2, N_POINTS)
        steps = np.linspace(0.0, 1.0, N_POINTS)
        low = band.left + steps**2 * (3 - 2 * steps) * (band.right - band.left)
        return ax.fill_between(x, low, low + band.share, color=colors[band.cluster], **style)


class TreeBar(NamedTuple):
    """A cluster: its column, id, lower end and height, as a share of all samples."""

    place: int
    cluster: int
    low: float
    share: float


class TreeBand(NamedTuple):
    """The samples that two clusters of successive columns have in common.

    Attributes
    ----------
    place : int
        The column on the right.
    cluster : int
        Id of the cluster on the right.
    left, right : float
        Lower ends on the left and on the right.
    share : float
        Height.
    """

    place: int
    cluster: int
    left: float
    right: float
    share: float


class TreeLayout(NamedTuple):
    """Where bars and bands are drawn.

    Attributes
    ----------
    bars : list of TreeBar
    bands : list of TreeBand
    """

    bars: list[TreeBar]
    bands: list[TreeBand]

    @property
    def low(self) -> float:
        """The lowest end of a bar."""
        return min(bar.low for bar in self.bars)

    @property
    def high(self) -> float:
        """The highest end of a bar."""
        return max(bar.low + bar.share for bar in self.bars)


def tree_layout(labels: Any) -> TreeLayout:
    """Place the clusters of several numbers of clusters.

    Parameters
    ----------
    labels : array of int of shape (n_samples, n_numbers)
        Ids of the clusters, which stay from number to number.

    Returns
    -------
    TreeLayout
    """
    labels = np.asarray(labels)
    order = _tree_order(labels)
    columns = [_Column(column, order) for column in labels.T]
    bars = [
        TreeBar(place, *one)
        for place, column in enumerate(columns)
        for one in zip(column.ids, column.lows, column.shares, strict=True)
    ]
    pairs = enumerate(pairwise(columns), start=1)
    return TreeLayout(bars, [band for place, (before, after) in pairs for band in _bands(place, before, after)])


def _bands(place: int, before: _Column, after: _Column) -> Iterator[TreeBand]:
    left, right = dict(zip(before.ids, before.lows, strict=True)), dict(zip(after.ids, after.lows, strict=True))
    for one in before.ids:
        for other in after.ids:
            share = float(np.mean((before.labels == one) & (after.labels == other)))
            if share > 0:
                yield TreeBand(place, other, left[one], right[other], share)
                left[one] += share
                right[other] += share


class _Column:
    """Bars of one number of clusters, from below."""

    def __init__(self, labels: Any, order: list[int]) -> None:
        self.labels = labels
        present = set(labels.tolist())
        self.ids = [one for one in order if one in present]
        self.shares = [float(np.mean(labels == one)) for one in self.ids]
        starts = np.cumsum([0.0, *self.shares[:-1]]) + GAP * np.arange(len(self.ids))
        # Columns with fewer bars, and so fewer gaps, are centred.
        self.lows = (starts - GAP * (len(self.ids) - 1) / 2).tolist()


def _tree_order(labels: Any) -> list[int]:
    """All ids, so that every new one follows the cluster that most of its samples come from."""
    order = np.unique(labels[:, 0]).tolist()
    for before, after in zip(labels.T, labels.T[1:], strict=False):
        for one in np.unique(after).tolist():
            if one not in order:
                parents, counts = np.unique(before[after == one], return_counts=True)
                order.insert(order.index(parents[counts.argmax()]) + 1, one)
    return order
