"""Geometry of the figure of time against quality; ``templates/leaderboard/figures.html`` draws it.

Horizontal positions are percentages, so the figure fits any width. Names are placed twice, for a wide and for a narrow
figure, where they do not overlap; methods without a free place have their name in the hint of their mark.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latefusion.experiments.leaderboard.results import MethodEntry
from latefusion.report.leaderboard.boards import Board, Numbers
from latefusion.report.widgets import Tick

# Ends of the axes: percent of the width, pixels of the height.
LEFT, RIGHT, TOP, BOTTOM, HEIGHT = 7.0, 97.0, 16.0, 400.0, 446.0
# Widths for which names are placed, and the size of a name per letter and in height, all in pixels.
WIDTHS = {"wide": 720.0, "narrow": 330.0}
LETTER, LETTER_HEIGHT, GAP = 6.6, 13.0, 8.0


class Label(NamedTuple):
    """The name of a method beside its mark: the distance in pixels, and which end of the text is at it."""

    dx: float
    dy: float
    anchor: str


class Point(NamedTuple):
    """One method."""

    method: MethodEntry
    seconds: float
    mean_rank: float
    is_complete: bool
    is_frontier: bool
    x: float
    y: float
    labels: dict[str, Label]


class Step(NamedTuple):
    """A part of the line through the methods that no other method beats in both time and rank."""

    x1: float
    y1: float
    x2: float
    y2: float


class Scatter(NamedTuple):
    """Median seconds against mean ranks."""

    metric: str
    points: list[Point]
    steps: list[Step]
    x_ticks: list[Tick]
    y_ticks: list[Tick]


def draw_scatter(board: Board, metric: str) -> Scatter | None:
    """Place the methods of a board by their time and mean rank.

    Parameters
    ----------
    board : Board
    metric : {"acc", "nmi", "ari"}

    Returns
    -------
    Scatter or None
        None if fewer than two methods have a result.
    """
    timed = [row for row in board.order(metric) if np.isfinite(board.seconds[:, row]).any()]
    if len(timed) < 2:
        return None
    seconds = np.array([max(float(np.nanmedian(board.seconds[:, row])), 1e-4) for row in timed])
    ranks = board.mean_ranks(metric)[timed]
    exponents = np.log10(seconds)
    low, high = np.floor(exponents.min()), np.ceil(exponents.max() + 1e-9)
    first, last = np.floor(ranks.min()), max(np.ceil(ranks.max()), np.floor(ranks.min()) + 1)
    x = LEFT + (exponents - low) / (high - low) * (RIGHT - LEFT)
    y = TOP + (ranks - first) / (last - first) * (BOTTOM - TOP)
    frontier = _frontier(seconds)
    is_important = np.array([one or board.methods[row].family == "ours" for one, row in zip(frontier, timed, strict=True)])
    names = [board.methods[row].name for row in timed]
    labels = {size: _place(names, is_important, x * width / 100, y, width) for size, width in WIDTHS.items()}
    points = [
        Point(
            board.methods[row],
            float(seconds[place]),
            float(ranks[place]),
            bool(np.isfinite(board.seconds[:, row]).all()),
            bool(frontier[place]),
            float(x[place]),
            float(y[place]),
            {size: found[place] for size, found in labels.items() if place in found},
        )
        for place, row in enumerate(timed)
    ]
    return Scatter(
        metric,
        points,
        _steps([point for point in points if point.is_frontier]),
        [Tick(LEFT + (one - low) / (high - low) * (RIGHT - LEFT), _time_text(one)) for one in np.arange(low, high + 1)],
        [Tick(TOP + (one - first) / (last - first) * (BOTTOM - TOP), f"{one:g}") for one in _rank_ticks(first, last)],
    )


def _frontier(seconds: Numbers) -> list[bool]:
    """Whether every method is faster than all methods before it, which have a better mean rank."""
    fastest = np.minimum.accumulate(np.concatenate([[np.inf], seconds[:-1]]))
    return list(seconds < fastest)


def _steps(frontier: list[Point]) -> list[Step]:
    """A line with right angles: from one method to the next one, which is faster and has a worse rank."""
    found = []
    for better, faster in zip(frontier, frontier[1:], strict=False):
        found += [Step(better.x, better.y, better.x, faster.y), Step(better.x, faster.y, faster.x, faster.y)]
    return found


def _time_text(exponent: float) -> str:
    return f"{10.0**exponent:g} s" if exponent >= 0 else f"{10.0 ** (exponent + 3):g} ms"


def _rank_ticks(first: float, last: float) -> list[float]:
    step = next(one for one in (1, 2, 5, 10, 20, 50) if (last - first) / one <= 8)
    return [float(one) for one in np.arange(np.ceil(first / step) * step, last + 1e-9, step)]


def _place(names: list[str], is_important: Numbers, x: Numbers, y: Numbers, width: float) -> dict[int, Label]:
    """Names where they overlap neither a mark nor another name; important ones first, which are placed in any case."""
    taken = [(left - 5, top - 5, left + 5, top + 5) for left, top in zip(x, y, strict=True)]
    found = {}
    for place in sorted(range(len(names)), key=lambda one: not is_important[one]):
        length = LETTER * len(names[place])
        sides = [
            Label(GAP, 4, "start"),
            Label(-GAP, 4, "end"),
            Label(0, -GAP, "middle"),
            Label(0, GAP + 9, "middle"),
        ]
        boxes = [_box(x[place], y[place], side, length) for side in sides]
        inside = [box[0] >= 0 and box[2] <= width and box[1] >= 0 for box in boxes]
        own = taken[place]
        free = [
            not any(_overlap(box, other) for other in taken if other is not own) for box in boxes
        ]
        choices = [one for one in range(4) if inside[one] and free[one]]
        if not choices and is_important[place]:
            choices = [one for one in range(4) if inside[one]]
        if choices:
            found[place] = sides[choices[0]]
            taken.append(boxes[choices[0]])
    return found


Box = tuple[float, float, float, float]


def _box(x: float, y: float, label: Label, length: float) -> Box:
    left = x + label.dx - {"start": 0.0, "middle": length / 2, "end": length}[label.anchor]
    bottom = y + label.dy + 2
    return left, bottom - LETTER_HEIGHT, left + length, bottom


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
