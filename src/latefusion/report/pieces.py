"""Tables, bars, small charts and colours: what sections are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from latefusion.plots.canvas import PALETTE
from latefusion.report.markup import Html, element, escape

# Beyond ten clusters colours come back with another shape, and a little darker or lighter.
SHAPES = ("circle", "square", "triangle", "diamond")
SHADES = (0.0, -0.28, 0.22, -0.45)


def count(number: Any) -> str:
    """A whole number with thin spaces between thousands."""
    return f"{int(number):,}".replace(",", "\u202f")


def decimal(value: float, digits: int) -> str:
    """A number with so many digits, a true minus, and no minus before zero."""
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "\u2212")


def signed(number: float, digits: int) -> str:
    """A number with its sign, a true minus."""
    return f"{number:+.{digits}f}".replace("-", "\u2212")


def cluster_styles(n_clusters: int) -> tuple[list[str], list[str]]:
    """One colour and one shape per cluster; no two clusters below forty share both.

    Parameters
    ----------
    n_clusters : int

    Returns
    -------
    colors : list of str
    shapes : list of str
    """
    colors, shapes = [], []
    for cluster in range(n_clusters):
        turn, position = divmod(cluster, len(PALETTE))
        colors.append(_shade(PALETTE[position], SHADES[turn % len(SHADES)]))
        shapes.append(SHAPES[turn % len(SHAPES)])
    return colors, shapes


def _shade(color: str, amount: float) -> str:
    """A colour nearer to white (positive) or to black (negative)."""
    parts = [int(color[start : start + 2], 16) for start in (1, 3, 5)]
    aim = 255 if amount > 0 else 0
    return "#" + "".join(f"{round(part + abs(amount) * (aim - part)):02x}" for part in parts)


def swatch(color: str, shape: str) -> Html:
    """The mark of a cluster."""
    marks = {
        "circle": element("circle", cx=7, cy=7, r=5.5, fill=color),
        "square": element("rect", x=2, y=2, width=10, height=10, fill=color),
        "triangle": element("polygon", points="7,1.5 12.8,12 1.2,12", fill=color),
        "diamond": element("polygon", points="7,0.8 13.2,7 7,13.2 0.8,7", fill=color),
    }
    return element("svg", marks[shape], class_="swatch", viewBox="0 0 14 14", aria_hidden="true")


def bar(share: float, *, interval: tuple[float, float] | None = None, color: str | None = None) -> Html:
    """A bar from 0 to 1, with an interval where there is one; decoration beside a number that says the same."""
    width = f"width:{100 * float(np.clip(share, 0, 1)):.1f}%"
    inside = [element("span", class_="fill", style=width + (f";background:{color}" if color else ""))]
    if interval is not None:
        low, high = (100 * float(np.clip(end, 0, 1)) for end in interval)
        inside.append(element("span", class_="range", style=f"left:{low:.1f}%;width:{high - low:.1f}%"))
    return element("span", inside, class_="bar", aria_hidden="true")


def effect_bar(effect: float, largest: float) -> Html:
    """A bar to the right of the middle for more, to the left for less."""
    half = 50 * min(1.0, abs(effect) / largest) if largest > 0 else 0.0
    left = 50 - half if effect < 0 else 50
    style = f"left:{left:.1f}%;width:{half:.1f}%"
    return element(
        "span",
        element("span", class_="fill less" if effect < 0 else "fill", style=style),
        class_="bar both",
        aria_hidden="true",
    )


def table(header: Sequence[Any], rows: Sequence[Sequence[Any]], *, label: str, text: int = 1, marked: int = -1) -> Html:
    """A table that scrolls sideways on its own where it is too wide.

    Parameters
    ----------
    header : sequence of str or Html
    rows : sequence of sequences of str or Html
    label : str
        What the table shows, for those who cannot see it.
    text : int, default=1
        Number of columns, from the left, that hold text; the others hold numbers.
    marked : int, default=-1
        Row that stands out.

    Returns
    -------
    Html
    """

    def cell(kind: str, position: int, content: Any, **attributes: Any) -> Html:
        return element(kind, content, class_=None if position < text else "number", **attributes)

    head = element("tr", [cell("th", place, one, scope="col") for place, one in enumerate(header)])
    body = [
        element(
            "tr",
            [
                cell("th", 0, row[0], scope="row"),
                *(cell("td", place, one) for place, one in enumerate(row[1:], start=1)),
            ],
            class_="marked" if position == marked else None,
        )
        for position, row in enumerate(rows)
    ]
    whole = element("table", element("thead", head), element("tbody", body))
    return element("div", whole, class_="scroll", role="region", aria_label=label, tabindex=0)


def heat_table(names: Sequence[str], values: Any, *, label: str) -> Html:
    """A square table whose cells are the darker the larger their number."""
    rows = []
    for name, own in zip(names, values, strict=True):
        cells = [element("th", name, scope="row")]
        for value in own:
            known = bool(np.isfinite(value))
            strength = float(np.clip(value, 0, 1)) if known else 0.0
            text = decimal(value, 2) if known else "–"
            cells.append(element("td", text, class_="heat", style=f"--strength:{strength:.2f}"))
        rows.append(element("tr", cells))
    head = element("tr", element("td"), [element("th", name, scope="col") for name in names])
    whole = element("table", element("thead", head), element("tbody", rows), class_="heatmap")
    return element("div", whole, class_="scroll", role="region", aria_label=label, tabindex=0)


def line_chart(
    x: Sequence[float],
    lines: Sequence[tuple[str, Sequence[float]]],
    *,
    label: str,
    x_name: str,
    marked: float | None = None,
) -> Html:
    """One or several lines over the same numbers, the first solid and the others dashed.

    Parameters
    ----------
    x : sequence of float
    lines : sequence of (name, values)
    label : str
        What the chart shows, for those who cannot see it.
    x_name : str
    marked : float, default=None
        Number on the horizontal axis that stands out.

    Returns
    -------
    Html
    """
    width, height, left, bottom, top, right = 480, 200, 86, 34, 12, 12
    values = np.concatenate([np.asarray(own, dtype=float) for _, own in lines])
    low, high = float(values.min()), float(values.max())
    high = high if high > low else low + (abs(low) or 1.0)
    first, last = float(min(x)), float(max(x))
    last = last if last > first else first + 1

    def across(value: float) -> float:
        return left + (value - first) / (last - first) * (width - left - right)

    def up(value: float) -> float:
        return height - bottom - (value - low) / (high - low) * (height - bottom - top)

    # As few digits as place the ends of the axis well enough.
    digits = next((one for one in range(2, 7) if all(_near(end, one, high - low) for end in (low, high))), None)
    # Numbers that differ further behind would not fit beside the axis: then the upper one is said by the difference.
    ends = {low: f"{low:.{digits or 6}g}", high: f"{high:.{digits}g}" if digits else f"+{high - low:.1g}"}
    parts = []
    for value, words in ends.items():
        parts.append(
            element("line", x1=left, x2=width - right, y1=f"{up(value):.1f}", y2=f"{up(value):.1f}", class_="rule")
        )
        parts.append(element("text", words, x=left - 8, y=f"{up(value) + 4:.1f}", text_anchor="end"))
    for value in dict.fromkeys((first, float(max(x)), first if marked is None else float(marked))):
        parts.append(element("text", f"{value:g}", x=f"{across(value):.1f}", y=height - 16, text_anchor="middle"))
    middle = f"{(left + width - right) / 2:.0f}"
    parts.append(element("text", x_name, x=middle, y=height - 2, text_anchor="middle"))
    if marked is not None:
        place = f"{across(marked):.1f}"
        parts.append(element("line", x1=place, x2=place, y1=top, y2=height - bottom, class_="chosen"))
    for position, (_, own) in enumerate(lines):
        points = " ".join(f"{across(one):.1f},{up(two):.1f}" for one, two in zip(x, own, strict=True))
        kind = "series" if position == 0 else "series other"
        parts.append(element("polyline", points=points, class_=kind))
        if len(own) <= 40 and position == 0:
            parts += [
                element("circle", cx=f"{across(one):.1f}", cy=f"{up(two):.1f}", r=2.5, class_="dot")
                for one, two in zip(x, own, strict=True)
            ]
    key = [
        element("span", element("span", class_="stroke" if place == 0 else "stroke other"), name, class_="series-name")
        for place, (name, _) in enumerate(lines)
    ]
    drawing = element("svg", parts, viewBox=f"0 0 {width} {height}", role="img", aria_label=label, class_="chart")
    return element("figure", drawing, element("figcaption", key))


def _near(value: float, digits: int, span: float) -> bool:
    """Whether a number written with so many digits is off by little of the axis."""
    return abs(float(f"{value:.{digits}g}") - value) <= 0.02 * span


def section(name: str, title: str, explanation: Any, *content: Any) -> Html:
    """A section with a heading and one sentence that says what is to be seen."""
    return element(
        "section",
        element("h2", title, id=f"{name}-title"),
        element("p", explanation, class_="what"),
        *content,
        id=name,
        aria_labelledby=f"{name}-title",
    )


def code(text: str) -> Html:
    """Lines of code."""
    return element("pre", element("code", escape(text)), tabindex=0)
