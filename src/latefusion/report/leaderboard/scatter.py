"""Geometry of the figure of time against quality; ``templates/leaderboard/figures.html`` draws it.

Horizontal positions are percentages, so the figure fits any width. Names are placed twice, for a wide and for a narrow
figure, where they do not overlap. A method without a free place has its name in the hint of its mark.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from latefusion.experiments.leaderboard.results import MethodEntry
from latefusion.report.leaderboard.boards import Board, Numbers
from latefusion.report.widgets import Tick

# Ends of the axes: percent of the width, pixels of the height.
LEFT, RIGHT, TOP, BOTTOM = 8.0, 98.0, 20.0, 400.0
# Space beside the marks, as a share of the range of the values.
SPACE = 0.04
# Shortest time that is shown, in seconds.
SHORTEST = 1e-3
# Widths for which names are placed, and the size of a name per letter and in height, all in pixels.
WIDTHS = {"wide": 640.0, "narrow": 330.0}
LETTER, LETTER_HEIGHT, GAP, MARK = 7.0, 13.0, 8.0, 5.0


class Label(NamedTuple):
    """The name of a method beside its mark: the distance in pixels, and which end of the text is at it."""

    dx: float
    dy: float
    anchor: str


# Where a name may be, the first choice first.
SIDES = (
    Label(GAP, 4, "start"),
    Label(-GAP, 4, "end"),
    Label(0, -GAP, "middle"),
    Label(0, GAP + 9, "middle"),
)


class Box(NamedTuple):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two have an area in common."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


class Axis(NamedTuple):
    """Values from ``low`` to ``high`` at positions from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float

    def place(self, values: Numbers) -> Numbers:
        """The positions of values."""
        return self.start + (values - self.low) / (self.high - self.low) * (self.end - self.start)


class Point(NamedTuple):
    """One method.

    Attributes
    ----------
    method : MethodEntry
    seconds, mean_rank : float
    is_complete : bool
        Whether it has a result on every data set.
    is_frontier : bool
        Whether no method is better in time and mean rank.
    x, y : float
    labels : dict of str to Label
        By the width of the figure; without those for which there is no place.
    """

    method: MethodEntry
    seconds: float
    mean_rank: float
    is_complete: bool
    is_frontier: bool
    x: float
    y: float
    labels: dict[str, Label]


class Step(NamedTuple):
    """A part of the line through the methods of the frontier."""

    x1: float
    y1: float
    x2: float
    y2: float


class Scatter(NamedTuple):
    """Median seconds against mean ranks: methods by mean rank, the line of the frontier, and numbers on the axes."""

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
        None with one method only.
    """
    order = board.order(metric)
    if len(order) < 2:
        return None
    seconds = np.maximum(np.nanmedian(board.seconds[:, order], axis=0), SHORTEST)
    ranks = board.mean_ranks(metric)[order]
    across, down = _axis(np.log10(seconds), LEFT, RIGHT), _axis(ranks, TOP, BOTTOM)
    x, y = across.place(np.log10(seconds)), down.place(ranks)
    methods, is_frontier = [board.methods[column] for column in order], _frontier(seconds)
    first = [one or method.family == "ours" for one, method in zip(is_frontier, methods, strict=True)]
    labels = {
        size: place_names([one.name for one in methods], first, x * width / 100, y, width)
        for size, width in WIDTHS.items()
    }
    points = [
        Point(
            method,
            float(seconds[place]),
            float(ranks[place]),
            bool(np.isfinite(board.seconds[:, order[place]]).all()),
            is_frontier[place],
            float(x[place]),
            float(y[place]),
            {size: found[place] for size, found in labels.items() if place in found},
        )
        for place, method in enumerate(methods)
    ]
    steps = _steps([point for point in points if point.is_frontier])
    return Scatter(metric, points, steps, _time_ticks(across), _rank_ticks(down))


def place_names(names: Sequence[str], first: Sequence[bool], x: Numbers, y: Numbers, width: float) -> dict[int, Label]:
    """Names beside their marks where they overlap neither a mark nor another name.

    Parameters
    ----------
    names : sequence of str
    first : sequence of bool
        Names that are placed before the others, and also where they overlap if there is no other way.
    x, y : ndarray of shape (n_names,)
        Positions of the marks, in pixels.
    width : float
        Of the figure.

    Returns
    -------
    dict of int to Label
        By position of the name.
    """
    marks = [Box(left - MARK, top - MARK, left + MARK, top + MARK) for left, top in zip(x, y, strict=True)]
    placed: list[Box] = []
    found = {}
    for own in sorted(range(len(names)), key=lambda one: not first[one]):
        others = [mark for position, mark in enumerate(marks) if position != own] + placed
        boxes = {side: _text_box(x[own], y[own], side, LETTER * len(names[own])) for side in SIDES}
        inside = [side for side, box in boxes.items() if box.left >= 0 and box.right <= width and box.top >= 0]
        free = [side for side in inside if not any(boxes[side].overlaps(other) for other in others)]
        if free or (first[own] and inside):
            found[own] = (free or inside)[0]
            placed.append(boxes[found[own]])
    return found


def _axis(values: Numbers, start: float, end: float) -> Axis:
    low, high = float(values.min()), float(values.max())
    space = SPACE * (high - low) or 0.5
    return Axis(low - space, high + space, start, end)


def _frontier(seconds: Numbers) -> list[bool]:
    """Whether every method is faster than all methods before it, which have a better mean rank."""
    fastest = np.minimum.accumulate(np.concatenate([[np.inf], seconds[:-1]]))
    return [bool(one) for one in seconds < fastest]


def _steps(frontier: Sequence[Point]) -> list[Step]:
    """A line with right angles from one method to the next one, which is faster and has a worse rank."""
    found = []
    for better, faster in itertools.pairwise(frontier):
        found += [Step(better.x, better.y, better.x, faster.y), Step(better.x, faster.y, faster.x, faster.y)]
    return found


def _time_ticks(axis: Axis) -> list[Tick]:
    """Powers of ten, and their double and fivefold where the axis has few of them."""
    factors = (1, 2, 5) if axis.high - axis.low < 1.5 else (1,)
    exponents = range(int(np.floor(axis.low)) - 1, int(np.ceil(axis.high)) + 1)
    seconds = [factor * 10.0**exponent for exponent in exponents for factor in factors]
    shown = [one for one in seconds if axis.low <= np.log10(one) <= axis.high]
    places = axis.place(np.log10(np.array(shown)))
    return [Tick(float(place), _time_text(one)) for place, one in zip(places, shown, strict=True)]


def _time_text(seconds: float) -> str:
    return f"{seconds:g} s" if seconds >= 1 else f"{1000 * seconds:g} ms"


def _rank_ticks(axis: Axis) -> list[Tick]:
    step = next(one for one in (1, 2, 5, 10, 20, 50) if (axis.high - axis.low) / one <= 8)
    values = np.arange(np.ceil(axis.low / step) * step, axis.high, step)
    return [Tick(float(place), f"{value:g}") for place, value in zip(axis.place(values), values, strict=True)]


def _text_box(x: float, y: float, label: Label, length: float) -> Box:
    left = x + label.dx - {"start": 0.0, "middle": length / 2, "end": length}[label.anchor]
    bottom = y + label.dy + 2
    return Box(left, bottom - LETTER_HEIGHT, left + length, bottom)
