from dataclasses import replace

import numpy as np
import pytest

from latefusion.experiments.leaderboard.ranks import mean_ranks, pvalues_against
from latefusion.report.leaderboard.boards import gather_boards
from latefusion.report.leaderboard.verdict import LEVEL, judge
from tests.experiments.leaderboard.boards import leaderboard, method_entry


def board_of(scores, ours="ours"):
    results = leaderboard(scores)
    methods = [method_entry(one.name, "ours" if one.name.startswith(ours) else one.family) for one in results.methods]
    return gather_boards(replace(results, methods=methods))[0]


def level_scores(levels, n_sets=12):
    """Scores that differ by as much as the levels on every data set."""
    return {name: {f"s{one}": level + one / 100 for one in range(n_sets)} for name, level in levels.items()}


@pytest.mark.parametrize("metric", ["acc", "nmi", "ari"])
def test_p_values_are_those_of_the_library(boards, metric):
    for board in boards:
        found, ours = judge(board, metric), board.ours(metric)
        means, p_values = mean_ranks(board.scores[metric]), pvalues_against(board.scores[metric], ours)
        names = [method.name for method in board.methods]
        compared = [*found.ahead, *found.equal, *found.behind]
        others = {method.name for method in board.methods if method.family != "ours"}
        assert {one.method.name for one in compared} == others
        assert len(compared) == len(others)
        for one in compared:
            column = names.index(one.method.name)
            assert one.p_value == p_values[column]
            assert (one in found.equal) == (p_values[column] >= LEVEL)
            assert one in found.equal or (one in found.ahead) == (means[ours] < means[column])
        assert found.rival.method.name == min(others, key=lambda name: means[names.index(name)])
        assert found.mean_rank == means[ours]


def test_better_on_every_set_is_significantly_ahead():
    found = judge(board_of(level_scores({"ours": 0.6, "A": 0.5, "B": 0.4})), "acc")
    assert found.is_ahead
    assert (found.place, found.n_first, found.losses) == (1, 12, [])
    assert [one.method.name for one in found.ahead] == ["A", "B"]


def test_worse_on_every_set_is_significantly_behind():
    found = judge(board_of(level_scores({"ours": 0.4, "A": 0.5, "B": 0.6})), "acc")
    assert not found.is_ahead
    assert [one.method.name for one in found.behind] == ["B", "A"]
    assert found.place == 3
    assert len(found.losses) == 12


def test_a_few_sets_do_not_decide():
    found = judge(board_of(level_scores({"ours": 0.6, "A": 0.5}, n_sets=3)), "acc")
    assert found.mean_rank == 1
    assert not found.is_ahead
    assert found.equal == [found.rival]


def test_the_best_of_ours_is_compared():
    found = judge(board_of(level_scores({"ours 1": 0.4, "ours 2": 0.6, "A": 0.5})), "acc")
    assert found.ours.name == "ours 2"
    assert [one.method.name for one in found.ahead] == ["A"]


def test_losses_are_the_sets_on_which_the_rival_is_better_largest_difference_first():
    scores = {
        "ours": {"a": 0.9, "b": 0.5, "c": 0.4, "d": "took too long", "e": 0.7, "f": 0.9},
        "A": {"a": 0.8, "b": 0.6, "c": 0.7, "d": 0.9, "e": 0.7, "f": "took too long"},
    }
    found = judge(board_of(scores), "acc")
    assert [(loss.set.name, loss.ours, loss.rival) for loss in found.losses] == [
        ("d", None, 0.9),
        ("c", 0.4, 0.7),
        ("b", 0.5, 0.6),
    ]
    assert found.n_first == 3


def test_the_order_of_the_file_does_not_matter(results):
    rng = np.random.default_rng(0)
    cells, sets = (list(rng.permutation(len(one))) for one in (results.cells, results.sets))
    shuffled = replace(results, cells=[results.cells[one] for one in cells], sets=[results.sets[one] for one in sets])
    for one, other in zip(gather_boards(results), gather_boards(shuffled), strict=True):
        assert judge(one, "acc") == judge(other, "acc")


def test_without_ours_or_without_others_there_is_no_verdict():
    assert judge(board_of({"A": {"one": 0.5}, "B": {"one": 0.4}}), "acc") is None
    assert judge(board_of({"ours": {"one": 0.5}}), "acc") is None
