from dataclasses import replace

import pytest

from latefusion.experiments.leaderboard.checking import cells_to_check, differences
from latefusion.experiments.leaderboard.evaluation import Run
from latefusion.experiments.leaderboard.methods import find_entrants
from latefusion.experiments.store import Outcome
from tests.experiments.leaderboard.boards import leaderboard


@pytest.fixture
def submitted(small_sets):
    board = leaderboard(
        {
            "SNF": {"small": [0.5, 0.75], "kernels": 0.25, "elsewhere": 0.5},
            "GMC": {"small": "time limit 120 s", "kernels": 0.5, "elsewhere": 0.5},
            "Stranger": {"small": 0.5},
        }
    )
    entries = [small_sets[one.name].entry if one.name in small_sets else one for one in board.sets]
    return replace(board, sets=entries)


def drawn(board, small_sets, share, seed=0):
    return cells_to_check(board, list(small_sets.values()), find_entrants(["SNF", "GMC"]), share, seed)


def test_cells_with_results_at_hand_are_drawn(submitted, small_sets):
    every = drawn(submitted, small_sets, 1.0)
    places = {("complete", "small", "SNF"), ("complete", "kernels", "SNF"), ("complete", "kernels", "GMC")}
    assert {cell.place for cell in every} == places
    assert all(entry.key == cell.place for cell, entry in every.items())
    several = [drawn(submitted, small_sets, 0.1, seed) for seed in range(20)]
    assert {len(some) for some in several} == {1}
    assert {cell.place for some in several for cell in some} == places


def test_other_data_and_nothing_at_hand_are_errors(submitted, small_sets):
    other = [replace(one, n_samples=41) if one.name == "small" else one for one in submitted.sets]
    with pytest.raises(ValueError, match="'small' has 41 samples there"):
        drawn(replace(submitted, sets=other), small_sets, 1.0)
    other = [replace(one, checksum="other") if one.name == "small" else one for one in submitted.sets]
    with pytest.raises(ValueError, match="'small' has another checksum there"):
        drawn(replace(submitted, sets=other), small_sets, 1.0)
    with pytest.raises(ValueError, match="no cell whose data set and method are at hand"):
        drawn(leaderboard({"SNF": {"elsewhere": 0.5}}), small_sets, 1.0)


def test_every_score_that_differs_is_listed(submitted, small_sets):
    cells = {cell: entry for cell, entry in drawn(submitted, small_sets, 1.0).items() if cell.source.name == "small"}
    (cell,) = cells
    same = [Run(seed, acc, acc / 2, acc / 2, 1.0, 1.0, None) for seed, acc in enumerate((0.5, 0.75))]
    assert differences(cells, {cell: Outcome(1.0, [run._replace(acc=run.acc + 4e-7) for run in same])}) == []
    assert differences(cells, {cell: Outcome(1.0, same[:1], "took more than 120 s")}) == []
    (one,) = differences(cells, {cell: Outcome(1.0, [same[0], same[1]._replace(nmi=0.5)])})
    assert (*one[:5], one.submitted, one.found) == ("complete", "small", "SNF", 1, "nmi", 0.375, 0.5)
    failed = differences(cells, {cell: Outcome(1.0, [], "crashed")})
    assert len(failed) == 6
    assert {(found.found, found.reason) for found in failed} == {(None, "crashed")}
