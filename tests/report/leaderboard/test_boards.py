import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latefusion.experiments.leaderboard.ranks import mean_ranks, set_ranks
from latefusion.experiments.leaderboard.tables import standing_of
from latefusion.report.leaderboard.boards import anchors, gather_boards
from tests.experiments.leaderboard.boards import leaderboard
from tests.properties import examples
from tests.report.leaderboard.drawn import drawn_results


@pytest.mark.parametrize("metric", ["acc", "nmi", "ari"])
def test_ranks_are_those_of_the_library(results, boards, metric):
    for board in boards:
        standing = standing_of(results, board.name)
        rows = [standing.sets.index(entry.name) for entry in board.sets]
        assert [method.name for method in board.methods] == standing.methods
        np.testing.assert_array_equal(board.scores[metric], standing.scores[metric][rows])
        np.testing.assert_array_equal(board.ranks[metric], set_ranks(standing.scores[metric])[rows])
        np.testing.assert_allclose(board.mean_ranks(metric), mean_ranks(standing.scores[metric]), rtol=1e-12)


def test_methods_are_ordered_by_mean_rank_and_sets_by_size(boards):
    for board in boards:
        assert (np.diff(board.mean_ranks("acc")[board.order("acc")]) >= 0).all()
        sizes = [entry.n_samples for entry in board.sets]
        assert sizes == sorted(sizes)


def test_ours_is_the_first_of_its_family(boards):
    for board in boards:
        families = [board.methods[column].family for column in board.order("nmi")]
        assert board.order("nmi").index(board.ours("nmi")) == families.index("ours")
    assert gather_boards(leaderboard({"SNF": {"one": 0.5}}))[0].ours("acc") is None


def test_equal_mean_ranks_are_ordered_by_name():
    (board,) = gather_boards(leaderboard({"B": {"one": 0.5}, "A": {"one": 0.5}}))
    assert [board.methods[column].name for column in board.order("acc")] == ["A", "B"]


def test_values_are_those_of_the_cells(results, complete):
    cells = {(cell.set, cell.method): cell for cell in results.cells if cell.board == "complete"}
    oracle = {(entry.set, entry.method): entry.ari for entry in results.oracle}
    for row, entry in enumerate(complete.sets):
        for column, method in enumerate(complete.methods):
            cell = cells[entry.name, method.name]
            assert np.isnan(complete.peak[row, column]) == (cell.peak_mib is None)
            if cell.seeds:
                assert complete.seconds[row, column] == cell.seconds
                assert complete.peak[row, column] == cell.peak_mib
            expected = oracle.get((entry.name, method.name), np.nan)
            np.testing.assert_equal(complete.oracle["ari"][row, column], expected)


def test_boards_without_a_result_are_left_out():
    assert gather_boards(leaderboard({"SNF": {"one": "took too long"}})) == []
    assert [board.name for board in gather_boards(drawn_results(missing=0))] == ["complete"]


def test_methods_and_sets_without_a_result_are_not_ranked_but_known():
    scores = {"A": {"one": 0.5, "two": "failed"}, "B": {"one": "failed", "two": "failed"}}
    (board,) = gather_boards(leaderboard(scores))
    assert [method.name for method in board.methods] == ["A"]
    assert [method.name for method in board.all_methods] == ["A", "B"]
    assert [entry.name for entry in board.sets] == ["one"]
    assert {entry.name for entry in board.all_sets} == {"one", "two"}
    assert board.n_results == 1


@examples(80)
@given(st.lists(st.text()))
def test_anchors_are_different_and_need_no_quotes(names):
    found = anchors("set", names)
    assert len(set(found)) == len(names)
    assert all(re.fullmatch("set(-[a-z0-9]+)*", one) for one in found)
