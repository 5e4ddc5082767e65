import re

import numpy as np
import pytest

from latefusion.report.pieces import (
    bar,
    cluster_styles,
    code,
    count,
    decimal,
    effect_bar,
    heat_table,
    line_chart,
    section,
    signed,
    swatch,
    table,
)

NASTY = "<script>alert(1)</script>"


def luminance(color):
    parts = np.array([int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(first, second):
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_forty_clusters_differ_in_colour_or_shape():
    colors, shapes = cluster_styles(40)
    assert len(set(zip(colors, shapes, strict=True))) == 40
    assert len(set(colors)) == 40


@pytest.mark.parametrize("paper", ["#ffffff", "#14171a"])
def test_marks_are_seen_on_light_and_on_dark_paper(paper):
    assert min(contrast(color, paper) for color in cluster_styles(30)[0]) > 1.35


def test_styles_of_few_clusters_are_those_of_many():
    assert cluster_styles(5)[0] == cluster_styles(30)[0][:5]


@pytest.mark.parametrize("shape", ["circle", "square", "triangle", "diamond"])
def test_swatches(shape):
    assert "#3f90da" in swatch("#3f90da", shape)


def test_numbers():
    assert count(1234567) == "1\u202f234\u202f567"
    assert signed(-0.125, 2) == "\u22120.12"
    assert signed(0.5, 1) == "+0.5"
    assert decimal(-0.001, 2) == "0.00"
    assert decimal(-0.5, 2) == "\u22120.50"


def test_bars_stay_within_their_box():
    assert "width:100.0%" in bar(1.7)
    assert "width:0.0%" in bar(-1)
    assert "left:20.0%;width:60.0%" in bar(0.5, interval=(0.2, 0.8))
    assert "left:25.0%;width:25.0%" in effect_bar(-1, 2)
    assert "left:50.0%;width:50.0%" in effect_bar(9, 2)
    assert "width:0.0%" in effect_bar(0, 0)


def test_tables_escape_and_say_what_is_a_number():
    made = table([NASTY, "n"], [[NASTY, "1"], ["x", NASTY]], label=NASTY, marked=1)
    assert "<script" not in made
    assert made.count('class="number"') == 3
    assert made.count('<tr class="marked">') == 1


def test_heat_table():
    made = heat_table([NASTY, "b"], np.array([[1.0, np.nan], [-0.2, 1.0]]), label="x")
    assert "<script" not in made
    assert "–" in made
    assert "--strength:0.00" in made


@pytest.mark.parametrize("values", [[1.0], [2.0, 2.0, 2.0], [1.0, 3.0, 2.0]])
def test_lines_stay_within_the_chart(values):
    steps = list(range(1, len(values) + 1))
    made = line_chart(steps, [(NASTY, values), ("other", values)], label=NASTY, x_name=NASTY, marked=1)
    assert "<script" not in made
    for points in re.findall(r'points="([^"]*)"', made):
        for x, y in (map(float, one.split(",")) for one in points.split()):
            assert 0 <= x <= 480
            assert 0 <= y <= 200


@pytest.mark.parametrize("values", [[15.78701, 15.78708], [3.995103378, 3.995103382], [1.0, 1.0], [-2e-9, 3e9]])
def test_the_ends_of_an_axis_differ_and_fit_beside_it(values):
    made = line_chart([1, 2], [("objective", values)], label="x", x_name="y")
    ends = re.findall(r'text-anchor="end">([^<]*)<', made)
    assert len(set(ends)) == 2
    assert max(map(len, ends)) <= 8


def test_sections_have_a_heading_that_names_them():
    made = section("one", NASTY, "what", "content")
    assert 'aria-labelledby="one-title"' in made
    assert 'id="one-title"' in made
    assert "<script" not in made + code(NASTY)


def test_axes_are_labelled_with_few_digits_and_the_chosen_number():
    made = line_chart([2, 11, 20], [("stability", [0.96411, 0.5, 0.08762])], label="x", x_name="k", marked=11)
    assert re.findall(r'text-anchor="end">([^<]*)<', made) == ["0.088", "0.96"]
    assert re.findall(r'text-anchor="middle">(\d+)<', made) == ["2", "20", "11"]
