import numpy as np
import pytest

from latefusion.experiments.leaderboard.ranks import critical_difference, friedman_test, pvalues_against
from latefusion.experiments.leaderboard.tables import head_table, standing_of, tally_table
from tests.experiments.leaderboard.boards import leaderboard

BOARD = leaderboard(
    {
        "SNF": {"a": [0.5, 0.7], "b": 0.4, "c": 0.3, "d": "time limit 120 s"},
        "GMC": {"a": 0.2, "b": "ValueError: no", "c": 0.3, "d": "not run"},
        "MKKM": {"a": 0.9, "b": 0.8, "c": 0.7, "d": "memory limit 6144 MiB"},
        "OPMC": dict.fromkeys("abcd", "needs features"),
    }
)


def test_a_standing_has_means_and_leaves_out_what_has_no_result():
    standing = standing_of(BOARD, "complete")
    assert (standing.sets, standing.methods) == (["a", "b", "c"], ["SNF", "GMC", "MKKM"])
    expected = [[0.6, 0.2, 0.9], [0.4, np.nan, 0.8], [0.3, 0.3, 0.7]]
    assert standing.scores["acc"] == pytest.approx(np.array(expected), nan_ok=True)
    assert standing.scores["nmi"] == pytest.approx(np.array(expected) / 2, nan_ok=True)
    assert standing.without_results == {"OPMC": "needs features"}
    assert standing_of(BOARD, "missing").methods == []


def test_scores_that_differ_by_rounding_tie():
    """The same labels, scored in memory and read from a file with six digits."""
    board = leaderboard({"SNF": {"a": [0.8949362]}, "GMC": {"a": [0.894936, 0.8949363]}})
    first, second = standing_of(board, "complete").scores["acc"][0]
    assert first == second


def test_the_head_is_sorted_by_mean_rank():
    standing = standing_of(BOARD, "complete")
    table = head_table(standing)
    assert table["method"].tolist() == ["MKKM", "SNF", "GMC"]
    assert table["mean rank"] == pytest.approx([1, 6.5 / 3, 8.5 / 3])
    assert table["ACC"] == pytest.approx([0.8, 1.3 / 3, 0.25])
    assert table["sets"].tolist() == [3, 3, 2]
    assert table["failures"].tolist() == [0, 0, 1]
    assert table["seconds"].tolist() == [1.5] * 3
    assert table["p"] == pytest.approx(pvalues_against(standing.scores["acc"], 2)[[2, 0, 1]], nan_ok=True)
    assert f"Friedman test: p = {friedman_test(standing.scores['acc']).pvalue:.2g}." in table.notes[1]
    assert f"{critical_difference(3, 3):.2f}." in table.notes[1]
    assert table.notes[2] == "No result, not ranked (needs features): OPMC."


def test_the_tally_of_one_method():
    table = tally_table(standing_of(BOARD, "complete"), "SNF")
    assert [tuple(row.values()) for row in table] == [("GMC", 2, 1, 0), ("MKKM", 0, 0, 3)]


def test_one_method_and_one_set_are_a_table_without_tests():
    table = head_table(standing_of(leaderboard({"SNF": {"a": 0.5}}), "complete"))
    assert len(table) == 1
    assert len(table.notes) == 1
    assert "1 data set, 1 methods" not in table.notes[0]
