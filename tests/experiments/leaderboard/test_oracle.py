import json
from dataclasses import replace

import pytest

from latefusion.baselines import METHODS
from latefusion.experiments.leaderboard.evaluation import scores
from latefusion.experiments.leaderboard.methods import entrants, find_entrants
from latefusion.experiments.leaderboard.oracle import (
    OraclePoint,
    drawn_points,
    evaluate_oracle,
    grid_of,
    oracle_entries,
    plan_oracle,
    reused_oracle,
)
from latefusion.experiments.leaderboard.planning import plan
from latefusion.experiments.leaderboard.results import LimitEntry
from latefusion.experiments.store import Outcome
from tests.experiments.leaderboard.boards import leaderboard

LIMITS = LimitEntry(120.0, 6144, 3, 10_000)
POINTS = [OraclePoint({"n_neighbors": 5}, 0.5, 0.75, 0.25), OraclePoint({"n_neighbors": 9}, 0.625, 0.5, 0.375)]


def cells_of(source, *methods, most=3):
    return plan_oracle(plan([source], find_entrants(methods), LIMITS), most)


def test_grids_are_those_of_the_methods():
    every = entrants()
    assert grid_of(every["SNF"]) == METHODS["SNF"].parameter_grid
    assert grid_of(every["LF-MVC-LAM"]).keys() == {"regularization", "neighborhood"}
    assert not grid_of(every["A-MKKM"])
    for entrant in every.values():
        for point in drawn_points(grid_of(entrant), 2):
            assert json.loads(json.dumps(point)) == point
            assert entrant.configured(3, "features", 0).set_params(**point).get_params().items() >= point.items()


def test_points_are_drawn_without_repetition_and_more_include_fewer():
    grid = {"a": [1, 2, 3], "b": ["x", "y"]}
    whole = drawn_points(grid, 10)
    assert len({tuple(point.items()) for point in whole}) == len(whole) == 6
    assert drawn_points(grid, 4) == whole[:4]
    assert drawn_points({}, 4) == []


def test_methods_with_a_grid_have_a_cell(small_sets):
    source = small_sets["small"]
    (cell,) = cells_of(source, "SNF", "A-MKKM")
    assert cell.place == ("complete", "small", "SNF")
    assert len(json.loads(cell.points)) == 3
    (more,) = cells_of(source, "SNF", most=4)
    (board_cell,) = plan([source], find_entrants(["SNF"]), LIMITS)
    assert len({cell.code, more.code, board_cell.code}) == 3
    assert len({cell.key, more.key, board_cell.key}) == 3


def test_every_point_has_the_scores_of_a_fit(small_sets):
    (cell,) = cells_of(small_sets["small"], "SNF")
    found = list(evaluate_oracle(cell))
    assert [point.parameters for point in found] == json.loads(cell.points)
    problem = cell.source.problem(0)
    for point in found:
        labels = METHODS["SNF"](3, random_state=0, **point.parameters).fit_predict(problem.views)
        assert point[1:] == scores(problem.target, labels)


def test_points_with_which_a_method_fails_are_left_out_unless_all_do(small_sets):
    (cell,) = cells_of(small_sets["small"], "SNF")
    points = json.loads(cell.points)
    some = replace(cell, points=json.dumps([{"n_neighbors": -1}, points[0]]))
    assert [point.parameters for point in evaluate_oracle(some)] == points[:1]
    with pytest.raises(ValueError, match="n_neighbors"):
        list(evaluate_oracle(replace(cell, points=json.dumps([{"n_neighbors": -1}]))))


def test_every_score_has_its_own_maximum(small_sets):
    (cell,) = cells_of(small_sets["small"], "SNF")
    (entry,) = oracle_entries([cell], {cell: Outcome(9.0, POINTS, "took more than 120 s")})
    assert (entry.acc, entry.nmi, entry.ari, entry.points) == (0.625, 0.75, 0.375, 2)
    assert (entry.parameters, entry.reason, entry.code) == ({"n_neighbors": 9}, None, cell.code)


def test_a_failure_has_a_reason(small_sets):
    (cell,) = cells_of(small_sets["small"], "SNF")
    (missing,) = cells_of(small_sets["small, 30 % missing"], "SNF")
    outcomes = {cell: Outcome(120.0, [], "took more than 120 s")}
    entries = oracle_entries([cell, missing], outcomes)
    assert [entry.reason for entry in entries] == ["time limit 120 s", "does not support missing views"]
    assert [entry.code for entry in entries] == [cell.code, None]
    assert [(entry.acc, entry.points, entry.parameters) for entry in entries] == [(None, 0, {})] * 2


def test_an_earlier_entry_with_the_same_code_points_and_data_is_reused(small_sets):
    source = small_sets["small"]
    (cell,) = cells_of(source, "SNF")
    (entry,) = oracle_entries([cell], {cell: Outcome(9.0, POINTS)})
    board = leaderboard({"SNF": {"small": 0.5}}, oracle=[entry])
    board = replace(board, sets=[replace(source.entry, checksum=source.checksum)])
    assert reused_oracle(board, [cell]) == [entry]
    assert reused_oracle(board, cells_of(source, "SNF", most=4)) == []
    assert reused_oracle(board, [replace(cell, source=replace(source, checksum="other"))]) == []
    assert reused_oracle(replace(board, oracle=[replace(entry, code=None)]), [cell]) == []
