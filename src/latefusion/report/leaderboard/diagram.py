"""Geometry of the critical-difference diagram; ``templates/leaderboard/figures.html`` draws it.

One line per method, so that 50 names can be read: a mark at its mean rank, and bars at the right that join the methods
whose mean ranks do not differ significantly. Horizontal positions are percentages, so the figure fits any width.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latefusion.experiments.leaderboard.ranks import critical_difference, friedman_test, rank_groups
from latefusion.experiments.leaderboard.results import MethodEntry
from latefusion.experiments.leaderboard.tables import FEWEST
from latefusion.report.leaderboard.boards import Board
from latefusion.report.widgets import Tick

# Ends of the axis and of the lanes of the bars, in percent of the width; height of a line and of the axis in pixels.
LEFT, RIGHT, LANES, LANE_WIDTH = 37.0, 82.0, 86.0, 2.2
LINE, TOP, BOTTOM = 20, 58, 10
# Numbers on the axis, at most.
MOST_TICKS = 8


class DiagramRow(NamedTuple):
    """The line of one method."""

    method: MethodEntry
    mean_rank: float
    x: float
    y: float


class Group(NamedTuple):
    """A bar that joins methods without a significant difference."""

    x: float
    top: float
    bottom: float
    names: tuple[str, str]


class Diagram(NamedTuple):
    """A critical-difference diagram.

    Attributes
    ----------
    metric : str
    p_value : float
        Of the Friedman test.
    difference : float
        The critical difference of the Nemenyi test.
    end : float
        Horizontal position at this distance from the best mean rank.
    rows : list of DiagramRow
        By mean rank.
    ticks : list of Tick
    groups : list of Group
    height : float
    """

    metric: str
    p_value: float
    difference: float
    end: float
    rows: list[DiagramRow]
    ticks: list[Tick]
    groups: list[Group]
    height: float


def draw_diagram(board: Board, metric: str) -> Diagram | None:
    """Place the methods of a board on an axis of mean ranks.

    Parameters
    ----------
    board : Board
    metric : {"acc", "nmi", "ari"}

    Returns
    -------
    Diagram or None
        None with fewer than two methods or data sets: there is nothing to test.
    """
    if min(len(board.methods), len(board.sets)) < FEWEST:
        return None
    means, order = board.mean_ranks(metric), board.order(metric)
    difference = critical_difference(*board.ranks[metric].shape)
    best = means[order[0]]
    low, high = np.floor(best), np.ceil(max(means.max(), best + difference))

    def across(value: float) -> float:
        return LEFT + (value - low) / (high - low) * (RIGHT - LEFT)

    def down(position: int) -> float:
        return TOP + LINE * (position + 0.5)

    rows = [
        DiagramRow(board.methods[column], float(means[column]), across(means[column]), down(position))
        for position, column in enumerate(order)
    ]
    return Diagram(
        metric,
        friedman_test(board.scores[metric]).pvalue,
        difference,
        across(best + difference),
        rows,
        [Tick(across(value), f"{value:g}") for value in _ticks(low, high)],
        _lanes(rows, [(group[0], group[-1]) for group in rank_groups(means[order], difference)]),
        TOP + LINE * len(rows) + BOTTOM,
    )


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers between two whole ones."""
    step = next(one for one in (1, 2, 5, 10, 20, 50) if (high - low) / one <= MOST_TICKS)
    return [float(value) for value in np.arange(np.ceil(low / step) * step, high + 1e-9, step)]


def _lanes(rows: list[DiagramRow], joined: list[tuple[int, int]]) -> list[Group]:
    """The bars of groups beside each other: every bar is in the first lane that is free."""
    ends: list[int] = []
    lanes = []
    for first, last in joined:
        lane = next((one for one, end in enumerate(ends) if end < first), len(ends))
        ends[lane:] = [last, *ends[lane + 1 :]]
        lanes.append(lane)
    width = min(LANE_WIDTH, (100 - LANES) / max(len(ends), 1))
    return [
        Group(
            LANES + width * lane,
            rows[first].y - LINE / 3,
            rows[last].y + LINE / 3,
            (rows[first].method.name, rows[last].method.name),
        )
        for lane, (first, last) in zip(lanes, joined, strict=True)
    ]
