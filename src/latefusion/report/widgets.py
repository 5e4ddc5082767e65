"""Colours, number formats and the geometry of charts; ``templates/widgets.html`` draws them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from latefusion.plots.canvas import PALETTE

# After ten clusters, colours repeat with another shape and brightness.
SHAPES = ("circle", "square", "triangle", "diamond")
SHADES = (0.0, -0.28, 0.22, -0.45)
N_STYLES = len(PALETTE) * len(SHAPES)
# Shades with a lower luminance are not seen on a dark page; they become lighter instead, and by how much more.
LEAST_LUMINANCE, LIGHTER = 0.07, 1.4
# Size of a chart and its margins, in SVG units.
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 480, 200, 86, 34, 12, 12


def integer(number: Any) -> str:
    """An integer with thin spaces between thousands."""
    return f"{int(number):,}".replace(",", "\u202f")


def decimal(value: float, digits: int) -> str:
    """A number with a fixed number of digits, a typographic minus, and no minus before zero."""
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "\u2212")


def signed(number: float, digits: int) -> str:
    """A number with its sign, as a typographic minus if it is negative, and no minus before zero."""
    return f"{number:+z.{digits}f}".replace("-", "\u2212")


def percent(share: float, digits: int = 0) -> str:
    """A share as a percentage."""
    return f"{100 * share:.{digits}f}\u00a0%"


def bar_length(share: float) -> str:
    """A share as a length in CSS, from 0 % to 100 %."""
    return f"{100 * float(np.clip(share, 0, 1)):.1f}%"


class Style(NamedTuple):
    """Mark of a cluster."""

    color: str
    shape: str


def cluster_styles(n_styles: int, clusters: Sequence[str] = ()) -> list[Style]:
    """One colour and shape per cluster; the first forty are all different.

    Parameters
    ----------
    n_styles : int
    clusters : sequence of str, default=()
        Names of the first clusters. Those that are ids below 40 have the style of their id, so that a cluster looks the
        same in the reports of all updates of a model.

    Returns
    -------
    list of Style
    """
    ids = [int(name) if name.isdecimal() and str(int(name)) == name else N_STYLES for name in clusters]
    taken = set(ids)
    free = (number for number in itertools.count() if number not in taken or number >= N_STYLES)
    numbers = [one if one < N_STYLES else next(free) for one in (*ids, *[N_STYLES] * (n_styles - len(ids)))]
    turns = [divmod(number, len(PALETTE)) for number in numbers]
    return [
        Style(_shade(PALETTE[position], SHADES[turn % len(SHADES)]), SHAPES[turn % len(SHAPES)])
        for turn, position in turns
    ]


def _shade(color: str, amount: float) -> str:
    """A colour mixed with white (positive) or black (negative); dark ones with white, to be seen on a dark page."""
    parts = _parts(color)
    mixed = [part + abs(amount) * ((amount > 0) - part) for part in parts]
    if amount < 0 and _luminance(mixed) < LEAST_LUMINANCE:
        mixed = [part + LIGHTER * abs(amount) * (1 - part) for part in parts]
    return "#" + "".join(f"{round(255 * part):02x}" for part in mixed)


def _parts(color: str) -> list[float]:
    """Red, green and blue of a colour such as "#3f90da", from 0 to 1."""
    return [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]


def _luminance(parts: Sequence[float]) -> float:
    """The relative luminance of a colour, by which contrast is computed (WCAG)."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ink_on(color: str) -> str:
    """Black or white, whichever is easier to read on a colour such as "#3f90da"."""
    luminance = _luminance(_parts(color))
    return "#000000" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "#ffffff"


class Tick(NamedTuple):
    """A position on an axis and its text."""

    position: float
    text: str


class Series(NamedTuple):
    """One line of a chart: its name and points in SVG units."""

    name: str
    points: list[tuple[float, float]]


@dataclass(frozen=True)
class LineChart:
    """Lines over common horizontal values, in SVG units.

    Attributes
    ----------
    label : str
        Description for screen readers.
    x_name : str
    series : list of Series
        The first is drawn solid, the others dashed.
    x_ticks, y_ticks : list of Tick
    marked : float or None
        Horizontal position that is highlighted.
    """

    label: str
    x_name: str
    series: list[Series]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    marked: float | None = None
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    bottom: int = HEIGHT - BOTTOM
    top: int = TOP
    right: int = WIDTH - RIGHT


def line_chart(
    x: Sequence[float],
    lines: Sequence[tuple[str, Sequence[float]]],
    *,
    label: str,
    x_name: str,
    marked: float | None = None,
) -> LineChart:
    """Place lines in a chart.

    Parameters
    ----------
    x : sequence of float
    lines : sequence of (name, values)
    label : str
    x_name : str
    marked : float, default=None
        Horizontal value that is highlighted.

    Returns
    -------
    LineChart
    """
    values = np.concatenate([np.asarray(own, dtype=float) for _, own in lines])
    low, high = float(values.min()), float(values.max())
    high = high if high > low else low + (abs(low) or 1.0)
    first, last = float(min(x)), float(max(x))
    extent = last - first or 1.0

    def across(value: float) -> float:
        return LEFT + (value - first) / extent * (WIDTH - LEFT - RIGHT)

    def up(value: float) -> float:
        return HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - BOTTOM - TOP)

    # As few digits as are needed. Where more than six would be, the text is too wide for the margin: the upper end is
    # then given by its difference from the lower one.
    digits = next((one for one in range(2, 7) if all(_near(end, one, high - low) for end in (low, high))), None)
    texts = (f"{low:.{digits or 6}g}", f"{high:.{digits}g}" if digits else f"+{high - low:.1g}")
    named = dict.fromkeys((first, last, first if marked is None else float(marked)))
    return LineChart(
        label,
        x_name,
        [Series(name, [(across(one), up(two)) for one, two in zip(x, own, strict=True)]) for name, own in lines],
        [Tick(across(value), f"{value:g}") for value in named],
        [Tick(up(value), text) for value, text in zip((low, high), texts, strict=True)],
        None if marked is None else across(marked),
    )


def _near(value: float, digits: int, span: float) -> bool:
    """Whether a number rounded to so many digits is accurate enough for an axis."""
    return abs(float(f"{value:.{digits}g}") - value) <= 0.02 * span
