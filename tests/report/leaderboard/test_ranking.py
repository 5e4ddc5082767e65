import json

import numpy as np
import pytest

from latefusion.experiments.leaderboard.ranks import mean_ranks, tallies
from latefusion.report.leaderboard.boards import gather_boards
from latefusion.report.leaderboard.ranking import SIZES, matrix, rank_share, ranking, script_data, size_group
from tests.experiments.leaderboard.boards import leaderboard


@pytest.mark.parametrize("metric", ["acc", "nmi", "ari"])
def test_numbers_are_those_of_the_library(boards, metric):
    for board in boards:
        means, pairs = mean_ranks(board.scores[metric]), tallies(board.scores[metric])
        ours = board.ours(metric)
        for row in ranking(board, metric):
            assert row.mean_rank == means[row.column]
            assert row.against_ours == (None if row.column == ours else pairs[row.column][ours])
            assert row.place == 1 + sum(means < row.mean_rank)


def test_means_and_medians_use_the_sets_with_a_result(complete):
    for row in ranking(complete, "acc"):
        known = np.isfinite(complete.scores["acc"][:, row.column])
        assert row.n_results == known.sum()
        for metric, scores in complete.scores.items():
            assert row.means[metric] == pytest.approx(scores[known, row.column].mean(), abs=1e-6)
        assert row.seconds == pytest.approx(np.median(complete.seconds[known, row.column]))
        assert row.peak == pytest.approx(np.median(complete.peak[known, row.column]))


def test_the_oracle_is_a_mean_of_its_own_and_ranks_nobody(complete, results):
    for row in ranking(complete, "acc"):
        own = [entry.acc for entry in results.oracle if entry.method == row.method.name]
        assert (row.oracle is None) == (not own)
        if own:
            assert row.oracle == pytest.approx(np.mean(own))
    order = [row.method.name for row in ranking(complete, "acc")]
    without = [row.method.name for row in ranking(complete_without_oracle(results), "acc")]
    assert order == without


def complete_without_oracle(results):
    from dataclasses import replace

    return gather_boards(replace(results, oracle=[]))[0]


def test_shares_of_ranks():
    assert [rank_share(rank, 5) for rank in (1, 3, 5)] == [1, 0.5, 0]
    assert rank_share(1, 1) == 1


def test_equal_mean_ranks_share_a_place():
    (board,) = gather_boards(leaderboard({"A": {"one": 0.5}, "B": {"one": 0.5}, "C": {"one": 0.1}}))
    assert [(row.method.name, row.place) for row in ranking(board, "acc")] == [("A", 1), ("B", 1), ("C", 3)]


def test_without_ours_nothing_is_compared():
    (board,) = gather_boards(leaderboard({"A": {"one": 0.5}, "B": {"one": 0.4}}))
    assert [row.against_ours for row in ranking(board, "acc")] == [None, None]


def test_the_matrix_has_a_cell_per_result(complete):
    rows = matrix(complete, "ari")
    assert [row.column for row in rows] == complete.order("ari")
    for row in rows:
        for place, cell in enumerate(row.cells):
            score = complete.scores["ari"][place, row.column]
            assert (cell is None) == np.isnan(score)
            if cell is not None:
                assert cell[0] == score
                assert 0 <= cell[1] <= 1


def test_the_script_can_compute_the_same_numbers(boards):
    data = json.loads(json.dumps(script_data(boards), allow_nan=False))
    for board in boards:
        own = data[board.name]
        for row in ranking(board, "acc"):
            for metric, mean in row.means.items():
                known = [one for one in own["scores"][metric][row.column] if one is not None]
                assert sum(known) / len(known) == pytest.approx(mean, abs=1e-12)
            known = [one for one in own["seconds"][row.column] if one is not None]
            assert np.median(known) == row.seconds
            assert np.mean(own["ranks"]["acc"][row.column]) == pytest.approx(row.mean_rank, abs=1e-6)


def test_the_script_gets_no_text_of_the_results(boards, results):
    text = json.dumps(script_data(boards))
    assert not [entry.name for entry in (*results.sets, *results.methods) if entry.name in text]


def test_groups_of_sizes():
    assert [size_group(n) for n in (1, 500, 501, 2000, 2001, 10**6)] == [0, 0, 501, 501, 2001, 2001]
    assert {size_group(n) for n in (1, 1000, 10**4)} == set(SIZES)
