import itertools
from dataclasses import replace

import pytest

from latefusion.experiments.leaderboard.evaluation import BoardCell, Run
from latefusion.experiments.leaderboard.methods import find_entrants
from latefusion.experiments.leaderboard.planning import Skipping, cell_entries, is_smaller, part_of, plan
from latefusion.experiments.leaderboard.results import LimitEntry
from latefusion.experiments.store import Outcome
from tests.experiments.leaderboard.boards import set_entry

LIMITS = LimitEntry(120.0, 6144, 3, 10_000)
RUNS = [Run(seed, 0.5 + seed / 8, 0.25, 0.125, 1.0 + seed, 0.5, 10.0 * (3 - seed)) for seed in range(3)]
TOO_LONG = Outcome(120.0, [], "took more than 120 s")


def cells_of(sets, *methods):
    return plan(list(sets.values()), find_entrants(methods), LIMITS)


def set_of(source, name, **changes):
    return replace(source, entry=replace(set_entry(name), **changes), checksum=name)


def test_every_method_has_a_cell_on_every_set_with_all_seeds(small_sets):
    cells = cells_of(small_sets, "SNF", "NEMO")
    assert len({cell.key for cell in cells}) == len(cells) == 2 * len(small_sets)
    assert {cell.seeds for cell in cells} == {(0, 1, 2)}
    assert {(cell.seconds, cell.memory) for cell in cells} == {(120.0, 6144)}
    assert len({cell.code for cell in cells}) == 2


def test_a_larger_set_comes_later(small_sets):
    sizes = itertools.product((10, 20), (2, 3), (1, 2))
    sets = {
        str(size): set_of(small_sets["small"], str(size), n_samples=size[0], n_clusters=size[1])
        for size in reversed(list(sizes))
    }
    order = [cell.source.entry for cell in cells_of(sets, "SNF")]
    for position, entry in enumerate(order):
        assert not any(is_smaller(later, entry) and not is_smaller(entry, later) for later in order[position + 1 :])


def test_parts_have_whole_methods_and_together_all_cells(small_sets):
    cells = cells_of(small_sets, "SNF", "NEMO", "GMC")
    parts = [part_of(cells, part, 2) for part in (1, 2)]
    assert sorted(cell.key for part in parts for cell in part) == sorted(cell.key for cell in cells)
    methods = [{cell.method for cell in part} for part in parts]
    assert methods == [{"SNF", "GMC"}, {"NEMO"}]


@pytest.mark.parametrize("what", ["n_samples", "n_clusters"])
def test_smaller_is_no_larger_in_any_respect(what):
    entry = set_entry("a")
    larger = replace(entry, **{what: getattr(entry, what) + 1})
    assert is_smaller(entry, entry)
    assert is_smaller(entry, larger)
    assert not is_smaller(larger, entry)
    assert not is_smaller(entry, replace(larger, views=entry.views[:1]))
    assert not is_smaller(entry, replace(larger, board="large"))
    assert not is_smaller(entry, replace(larger, kind="kernels"))


def test_a_method_is_not_run_where_a_smaller_set_exceeded_a_limit(small_sets):
    small = set_of(small_sets["small"], "first")
    sets = {
        "first": small,
        "larger": set_of(small, "larger", n_samples=200),
        "tiny": set_of(small, "tiny", n_samples=9),
    }
    cells = {cell.place[1:]: cell for cell in cells_of(sets, "SNF", "NEMO")}
    outcomes = {cells["first", "SNF"]: TOO_LONG}
    skipping = Skipping(outcomes)
    reason = "exceeded the time limit on first, which is smaller"
    assert skipping.reason(cells["larger", "SNF"]) == reason
    assert skipping.reason(cells["tiny", "SNF"]) == skipping.reason(cells["larger", "NEMO"]) == ""
    assert skipping.reason(cells["first", "SNF"]) == ""
    outcomes[cells["first", "SNF"]] = TOO_LONG._replace(reason="out of memory: Unable to allocate 9 GiB")
    assert skipping.reason(cells["larger", "SNF"]) == reason.replace("time", "memory")
    for harmless in (
        TOO_LONG._replace(points=RUNS[:1]),
        TOO_LONG._replace(reason="ValueError: no"),
        Outcome(1.0, RUNS),
    ):
        outcomes[cells["first", "SNF"]] = harmless
        assert skipping.reason(cells["larger", "SNF"]) == ""


def test_missing_views_are_refused_before_a_run(small_sets):
    cells = {cell.place[1:]: cell for cell in cells_of(small_sets, "SNF", "NEMO")}
    skipping = Skipping({})
    assert skipping.reason(cells["small, 30 % missing", "SNF"]) == "does not support missing views"
    assert skipping.reason(cells["small, 30 % missing", "NEMO"]) == skipping.reason(cells["small", "SNF"]) == ""


@pytest.fixture
def cell(small_sets):
    return BoardCell(small_sets["small"], "SNF", (0, 1, 2), 120.0, 6144, "abc")


def test_a_result_has_medians_and_the_highest_peak(cell):
    (entry,) = cell_entries([cell], {cell: Outcome(9.0, RUNS)})
    assert entry.key == ("complete", "small", "SNF")
    assert (entry.seeds, entry.acc, entry.nmi, entry.ari) == ([0, 1, 2], [0.5, 0.625, 0.75], [0.25] * 3, [0.125] * 3)
    assert (entry.seconds, entry.cpu_seconds, entry.peak_mib, entry.reason) == (2.0, 0.5, 30.0, None)


def test_an_unknown_peak_stays_unknown(cell):
    (entry,) = cell_entries([cell], {cell: Outcome(9.0, [run._replace(peak_mib=None) for run in RUNS])})
    assert entry.peak_mib is None


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("took more than 120 s", "time limit 120 s"),
        ("out of memory: Unable to allocate 9 GiB", "memory limit 6144 MiB"),
        ("crashed (signal 11)", "crashed (signal 11)"),
        ("ValueError: two\n  lines", "ValueError: two lines"),
    ],
)
def test_every_failure_has_a_reason_in_one_line(cell, reason, words):
    (entry,) = cell_entries([cell], {cell: Outcome(9.0, [], reason)})
    assert (entry.seeds, entry.reason) == ([], words)


def test_seeds_before_a_limit_are_a_result_but_an_error_is_a_failure(cell):
    for reason, seeds in (("took more than 120 s", [0, 1]), ("out of memory", [0, 1]), ("ValueError: no", [])):
        (entry,) = cell_entries([cell], {cell: Outcome(9.0, RUNS[:2], reason)})
        assert entry.seeds == seeds


def test_a_cell_without_an_outcome_was_not_run_or_left_out(cell, small_sets):
    missing = replace(cell, source=small_sets["small, 30 % missing"])
    assert [entry.reason for entry in cell_entries([cell, missing], {})] == [
        "not run",
        "does not support missing views",
    ]
