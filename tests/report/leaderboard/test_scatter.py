import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latefusion.report.leaderboard.boards import gather_boards
from latefusion.report.leaderboard.ranking import ranking
from latefusion.report.leaderboard.scatter import (
    BOTTOM,
    LEFT,
    LETTER,
    RIGHT,
    TOP,
    WIDTHS,
    _text_box,
    draw_scatter,
    place_names,
)
from tests.experiments.leaderboard.boards import leaderboard
from tests.properties import examples


def test_points_are_the_rows_of_the_table(complete):
    points = draw_scatter(complete, "acc").points
    rows = ranking(complete, "acc")
    assert [(one.method, one.mean_rank) for one in points] == [(row.method, row.mean_rank) for row in rows]
    assert [one.seconds for one in points] == pytest.approx([row.seconds for row in rows])
    assert [one.is_complete for one in points] == [row.n_results == len(complete.sets) for row in rows]


def test_better_is_higher_and_faster_is_further_left(complete):
    points = draw_scatter(complete, "nmi").points
    for one, other in itertools.combinations(points, 2):
        assert (one.x < other.x) == (one.seconds < other.seconds)
        assert (one.y < other.y) == (one.mean_rank < other.mean_rank)
    assert all(LEFT <= one.x <= RIGHT and TOP <= one.y <= BOTTOM for one in points)


def test_no_method_beats_those_of_the_frontier(complete):
    points = draw_scatter(complete, "acc").points
    for one in points:
        beaten = any(other.seconds <= one.seconds and other.mean_rank < one.mean_rank for other in points)
        assert one.is_frontier != beaten


def test_the_line_leads_from_mark_to_mark(complete):
    found = draw_scatter(complete, "acc")
    frontier = [point for point in found.points if point.is_frontier]
    assert len(found.steps) == 2 * (len(frontier) - 1)
    for one, after in itertools.pairwise(found.steps):
        assert (one.x2, one.y2) == (after.x1, after.y1)
    assert (found.steps[0].x1, found.steps[0].y1) == (frontier[0].x, frontier[0].y)
    assert (found.steps[-1].x2, found.steps[-1].y2) == (frontier[-1].x, frontier[-1].y)


def test_numbers_on_the_axes_are_in_order(complete):
    found = draw_scatter(complete, "acc")
    for ticks, low, high in ((found.x_ticks, LEFT, RIGHT), (found.y_ticks, TOP, BOTTOM)):
        places = [tick.position for tick in ticks]
        assert len(places) >= 2
        assert places == sorted(set(places))
        assert low <= places[0] <= places[-1] <= high


def test_ours_and_the_frontier_have_a_name(complete):
    for point in draw_scatter(complete, "acc").points:
        if point.is_frontier or point.method.family == "ours":
            assert set(point.labels) == set(WIDTHS)


@examples(60)
@given(st.lists(st.tuples(st.integers(0, 640), st.integers(0, 400)), max_size=30), st.data())
def test_names_do_not_overlap_and_stay_inside(places, data):
    x, y = np.array(places, dtype=float).reshape(-1, 2).T
    names = [data.draw(st.text("abc", min_size=1, max_size=14)) for _ in places]
    found = place_names(names, [False] * len(names), x, y, 640.0)
    boxes = {one: _text_box(x[one], y[one], label, LETTER * len(names[one])) for one, label in found.items()}
    for one, other in itertools.combinations(boxes.values(), 2):
        assert not one.overlaps(other)
    for one, box in boxes.items():
        assert box.left >= 0
        assert box.right <= 640
        for place in range(len(places)):
            assert place == one or not (box.left < x[place] < box.right and box.top < y[place] < box.bottom)


def test_equal_times_and_ranks_have_axes():
    (board,) = gather_boards(leaderboard({"A": {"one": 0.5}, "B": {"one": 0.5}}))
    points = draw_scatter(board, "acc").points
    assert [point.x for point in points] == [(LEFT + RIGHT) / 2] * 2
    assert [point.y for point in points] == [(TOP + BOTTOM) / 2] * 2


def test_one_method_has_no_figure():
    assert draw_scatter(gather_boards(leaderboard({"A": {"one": 0.5}}))[0], "acc") is None
