import itertools

import numpy as np
import pytest

from latefusion.experiments.leaderboard.ranks import critical_difference, friedman_test, mean_ranks, rank_groups
from latefusion.report.leaderboard.boards import gather_boards
from latefusion.report.leaderboard.diagram import LANES, LEFT, RIGHT, draw_diagram
from tests.experiments.leaderboard.boards import leaderboard
from tests.report.leaderboard.drawn import drawn_results


@pytest.fixture(params=["acc", "nmi", "ari"])
def metric(request):
    return request.param


def test_statistics_are_those_of_the_library(boards, metric):
    for board in boards:
        found, scores = draw_diagram(board, metric), board.scores[metric]
        assert found.p_value == friedman_test(scores).pvalue
        assert found.difference == critical_difference(*scores.shape)
        assert sorted(row.mean_rank for row in found.rows) == sorted(mean_ranks(scores))


def test_positions_are_linear_in_the_mean_rank(complete, metric):
    found = draw_diagram(complete, metric)
    ranks, places = np.array([(row.mean_rank, row.x) for row in found.rows]).T
    slope, start = np.polyfit(ranks, places, 1)
    np.testing.assert_allclose(start + slope * ranks, places, atol=1e-9)
    assert found.end == pytest.approx(places[0] + slope * found.difference)
    for tick in found.ticks:
        assert tick.position == pytest.approx(start + slope * float(tick.text))
    everything = [*places, found.end, *(tick.position for tick in found.ticks)]
    assert min(everything) >= LEFT - 1e-9
    assert max(everything) <= RIGHT + 1e-9


def test_bars_join_the_groups_of_the_library(metric):
    (board,) = gather_boards(drawn_results(26, 60, failing=0.05))
    found = draw_diagram(board, metric)
    names = [method.name for method in board.methods]
    expected = [
        (names[group[0]], names[group[-1]]) for group in rank_groups(mean_ranks(board.scores[metric]), found.difference)
    ]
    assert [group.names for group in found.groups] == expected
    assert len(expected) > 1
    rows = {row.method.name: row for row in found.rows}
    for group in found.groups:
        first, last = (rows[name] for name in group.names)
        assert group.top < first.y < last.y < group.bottom
        assert last.mean_rank - first.mean_rank <= found.difference


def test_bars_of_one_lane_do_not_touch():
    scores = {f"m{one:02}": {f"s{place}": 1 - one / 50 for place in range(40)} for one in range(40)}
    (board,) = gather_boards(leaderboard(scores))
    groups = draw_diagram(board, "acc").groups
    lanes = {}
    for group in groups:
        lanes.setdefault(group.x, []).append(group)
    assert 1 < len(lanes) < len(groups)
    for lane in lanes.values():
        assert all(one.bottom < after.top for one, after in itertools.pairwise(lane))
    assert all(LANES <= x < 100 for x in lanes)


def test_one_method_or_one_set_is_not_tested():
    assert draw_diagram(gather_boards(leaderboard({"A": {"one": 0.5, "two": 0.4}}))[0], "acc") is None
    assert draw_diagram(gather_boards(leaderboard({"A": {"one": 0.5}, "B": {"one": 0.4}}))[0], "acc") is None


def test_equal_methods_have_a_diagram_without_a_difference():
    scores = {name: {"one": 0.5, "two": 0.4} for name in "ABC"}
    found = draw_diagram(gather_boards(leaderboard(scores))[0], "acc")
    assert found.p_value == 1
    assert len({row.x for row in found.rows}) == 1
    assert [group.names for group in found.groups] == [("A", "C")]
