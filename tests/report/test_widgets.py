import numpy as np
import pytest

from latefusion.report.html import environment
from latefusion.report.widgets import (
    HEIGHT,
    WIDTH,
    Style,
    bar_length,
    cluster_styles,
    decimal,
    ink_on,
    integer,
    line_chart,
    percent,
    signed,
)


def macro(name):
    return getattr(environment().get_template("widgets.html").module, name)


def luminance(color):
    parts = np.array([int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(first, second):
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_forty_clusters_differ_in_colour_and_in_style():
    styles = cluster_styles(40)
    assert len(set(styles)) == 40
    assert len({style.color for style in styles}) == 40


@pytest.mark.parametrize("paper", ["#ffffff", "#14171a"])
def test_marks_are_visible_on_light_and_on_dark_paper(paper):
    assert min(contrast(style.color, paper) for style in cluster_styles(30)) > 1.35


def test_shades_are_visible_on_dark_paper():
    """Dark colours become lighter where others become darker, so that repeated colours can be seen, too."""
    assert min(contrast(style.color, "#14171a") for style in cluster_styles(40)) > 2


@pytest.mark.parametrize("style", cluster_styles(40)[::3])
def test_ink_is_the_better_of_black_and_white(style):
    ink = ink_on(style.color)
    other = {"#000000": "#ffffff", "#ffffff": "#000000"}[ink]
    assert contrast(style.color, ink) >= contrast(style.color, other)


def test_a_cluster_keeps_its_style_after_updates():
    """Ids that vanished leave a gap; names that are no ids, and additional styles, take the unused ones."""
    styles = cluster_styles(40)
    assert cluster_styles(4, ["0", "1", "3", "4"]) == [styles[one] for one in (0, 1, 3, 4)]
    assert cluster_styles(5, ["0", "3", "47"]) == [styles[one] for one in (0, 3, 1, 2, 4)]
    assert cluster_styles(3, ["1", "01", "noise"]) == [styles[one] for one in (1, 0, 2)]


def test_styles_of_few_clusters_are_those_of_many():
    assert cluster_styles(5) == cluster_styles(30)[:5]


@pytest.mark.parametrize(
    ("shape", "element"), [("circle", "circle"), ("square", "rect"), ("triangle", "polygon"), ("diamond", "polygon")]
)
def test_swatches(shape, element):
    made = macro("swatch")(Style("#3f90da", shape))
    assert made.count('fill="#3f90da"') == 1
    assert f"<{element} " in made


def test_numbers():
    assert integer(1234567) == "1\u202f234\u202f567"
    assert signed(-0.125, 2) == "\u22120.12"
    assert signed(0.5, 1) == "+0.5"
    assert signed(-0.0001, 3) == signed(0.0, 3) == "+0.000"
    assert decimal(-0.001, 2) == "0.00"
    assert decimal(-0.5, 2) == "\u22120.50"
    assert percent(0.375) == "38\u00a0%"
    assert percent(0.375, 1) == "37.5\u00a0%"


def test_bars_stay_within_their_box():
    assert [bar_length(one) for one in (1.7, -1, 0.25)] == ["100.0%", "0.0%", "25.0%"]
    assert "left:20.0%;right:20.0%" in macro("bar")(0.5, (0.2, 0.8))
    assert "range" not in macro("bar")(0.5)
    assert 'less" style="left:25.0%;width:25.0%' in macro("effect_bar")(-1, 2)
    assert 'fill" style="left:50.0%;width:50.0%' in macro("effect_bar")(2, 2)
    assert "width:0.0%" in macro("effect_bar")(0, 0)


@pytest.mark.parametrize("values", [[1.0], [2.0, 2.0, 2.0], [1.0, 3.0, 2.0], list(range(100))])
def test_lines_stay_within_the_chart(values):
    steps = list(range(1, len(values) + 1))
    chart = line_chart(steps, [("one", values), ("other", values)], label="a", x_name="b", marked=1)
    for series in chart.series:
        assert len(series.points) == len(values)
        assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in series.points)
    drawn = macro("line_chart")(chart)
    assert drawn.count("<polyline") == 2
    assert drawn.count("<circle") == (len(values) if len(values) <= 40 else 0)


@pytest.mark.parametrize("values", [[15.78701, 15.78708], [3.995103378, 3.995103382], [1.0, 1.0], [-2e-9, 3e9]])
def test_the_ends_of_an_axis_differ_and_fit_beside_it(values):
    ends = [tick.text for tick in line_chart([1, 2], [("objective", values)], label="x", x_name="y").y_ticks]
    assert len(set(ends)) == 2
    assert max(map(len, ends)) <= 8


def test_axes_are_labelled_with_few_digits_and_the_marked_number():
    chart = line_chart([2, 11, 20], [("stability", [0.96411, 0.5, 0.08762])], label="x", x_name="k", marked=11)
    assert [tick.text for tick in chart.y_ticks] == ["0.088", "0.96"]
    assert [tick.text for tick in chart.x_ticks] == ["2", "20", "11"]
