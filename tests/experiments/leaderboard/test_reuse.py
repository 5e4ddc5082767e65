from dataclasses import replace

import pytest

from latefusion.experiments.leaderboard.evaluation import Run
from latefusion.experiments.leaderboard.methods import find_entrants
from latefusion.experiments.leaderboard.planning import cell_entries, plan
from latefusion.experiments.leaderboard.results import LimitEntry
from latefusion.experiments.leaderboard.reuse import reused_outcomes
from latefusion.experiments.store import Outcome
from tests.experiments.leaderboard.boards import leaderboard

LIMITS = LimitEntry(120.0, 6144, 3, 10_000)
RUNS = [Run(seed, 0.5 + seed / 8, 0.25, 0.125, 1.0 + seed, 0.5, 10.0 * (3 - seed)) for seed in range(3)]
OUTCOMES = {
    "all seeds": Outcome(9.0, RUNS),
    "some seeds": Outcome(120.0, RUNS[:2], "took more than 120 s"),
    "too long": Outcome(120.0, [], "took more than 120 s"),
    "too large": Outcome(1.0, [], "out of memory: Unable to allocate 9 GiB"),
    "an error": Outcome(1.0, [], "ValueError: two\n lines"),
}


@pytest.fixture
def cells(small_sets):
    return plan([small_sets["small"]], find_entrants(["SNF", "NEMO"]), LIMITS)


@pytest.fixture
def written(small_sets, cells):
    """The board of one run in which the first cell had an outcome and the second was not run."""
    source = small_sets["small"]

    def board(outcome):
        empty = leaderboard({"SNF": {}, "NEMO": {}})
        entries = cell_entries(cells, {cells[0]: outcome})
        return replace(empty, limits=LIMITS, sets=[replace(source.entry, checksum=source.checksum)], cells=entries)

    return board


@pytest.mark.parametrize("name", OUTCOMES)
def test_a_reused_outcome_gives_the_same_entry(written, cells, name):
    board = written(OUTCOMES[name])
    found, n_results = reused_outcomes(board, cells, LIMITS)
    assert list(found) == cells[:1]
    assert n_results == 1
    assert cell_entries(cells, found) == board.cells
    assert bool(found[cells[0]].reason) == bool(OUTCOMES[name].reason)  # what --retry repeats


def test_only_cells_with_the_same_code_and_data_are_reused(written, cells):
    board = written(OUTCOMES["all seeds"])
    other_code = [replace(cell, code="other") for cell in cells]
    other_data = [replace(cell, source=replace(cell.source, checksum="other")) for cell in cells]
    for changed in (other_code, other_data):
        assert reused_outcomes(board, changed, LIMITS).outcomes == {}
    old = replace(board, cells=[replace(cell, code=None) for cell in board.cells])
    assert reused_outcomes(old, cells, LIMITS).outcomes == {}
    old = replace(board, sets=[replace(one, checksum=None) for one in board.sets])
    assert reused_outcomes(old, cells, LIMITS).outcomes == {}


@pytest.mark.parametrize("what", ["seconds", "memory_mib", "seeds"])
def test_other_limits_are_an_error(written, cells, what):
    limits = replace(LIMITS, **{what: getattr(LIMITS, what) + 1})
    with pytest.raises(ValueError, match=f"computed with {what}="):
        reused_outcomes(written(OUTCOMES["all seeds"]), cells, limits)
