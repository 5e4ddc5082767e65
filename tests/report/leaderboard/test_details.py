from collections import Counter

import numpy as np
import pytest

from latefusion.experiments.leaderboard.results import NOT_RUN
from latefusion.report.leaderboard.boards import gather_boards
from latefusion.report.leaderboard.details import method_sections, set_sections, unranked
from tests.experiments.leaderboard.boards import leaderboard
from tests.report.leaderboard.drawn import INCOMPLETE


def cells_of_methods(boards):
    """Every cell of the sections of methods: board, data set and method, and its reason."""
    for section in method_sections(boards):
        for part in section.boards:
            for entry, _ in part.results:
                yield (part.board.name, entry.name, section.entry.name), None
            for reason, entries in part.failures.items():
                for entry in entries:
                    yield (part.board.name, entry.name, section.entry.name), reason


def cells_of_sets(boards):
    """Every cell of the sections of data sets, and those of methods that are not ranked."""
    for section in set_sections(boards):
        place = (section.board.name, section.entry.name)
        for method, _ in section.results:
            yield (*place, method.name), None
        for part in (section.failures, unranked(section.board)):
            for reason, methods in part.items():
                for method in methods:
                    yield (*place, method.name), reason


@pytest.mark.parametrize("cells_of", [cells_of_methods, cells_of_sets])
def test_every_cell_is_shown_once_with_its_reason(results, boards, cells_of):
    shown = list(cells_of(boards))
    assert Counter(key for key, _ in shown) == Counter(cell.key for cell in results.cells)
    assert dict(shown) == {cell.key: cell.reason for cell in results.cells}


def test_results_are_those_of_the_cell(results, boards):
    cells = {cell.key: cell for cell in results.cells}
    for section in set_sections(boards):
        for method, result in section.results:
            cell = cells[section.board.name, section.entry.name, method.name]
            assert result.scores == {one: pytest.approx(np.mean(getattr(cell, one))) for one in ("acc", "nmi", "ari")}
            assert result.spreads["nmi"] == pytest.approx(np.std(cell.nmi))
            assert (result.n_seeds, result.seconds, result.peak) == (5, cell.seconds, cell.peak_mib)


def test_the_best_of_a_set_is_first(boards):
    for section in set_sections(boards):
        accuracies = [result.scores["acc"] for _, result in section.results]
        assert accuracies == sorted(accuracies, reverse=True)
        ranks = [result.rank for _, result in section.results]
        assert ranks == sorted(ranks)


def test_the_oracle_stands_beside_the_result(results, boards):
    known = {entry.key: entry.acc for entry in results.oracle}
    for section in set_sections(boards):
        for method, result in section.results:
            assert result.oracle == known.get((section.board.name, section.entry.name, method.name))


def test_frequent_reasons_come_first():
    scores = {"A": {"one": 0.5, "two": "slow", "three": "large", "four": "large"}, "B": dict.fromkeys(["one"], 0.4)}
    scores["B"] |= {name: 0.1 for name in ("two", "three", "four")}
    boards = gather_boards(leaderboard(scores))
    (part,) = method_sections(boards)[0].boards
    assert [(reason, len(entries)) for reason, entries in part.failures.items()] == [("large", 2), ("slow", 1)]


def test_methods_without_any_result_are_listed_by_their_usual_reason(boards):
    missing = boards[1]
    assert [method.name for method in unranked(missing)[INCOMPLETE]] == [
        method.name for place, method in enumerate(missing.all_methods) if place % 3 == 2
    ]
    assert unranked(boards[0]) == {}


def test_a_cell_that_is_not_in_the_file_was_not_run():
    scores = {"A": {"one": 0.5, "two": 0.4}, "B": {"one": 0.5}}
    sections = {section.entry.name: section for section in set_sections(gather_boards(leaderboard(scores)))}
    assert {reason: [one.name for one in found] for reason, found in sections["two"].failures.items()} == {
        NOT_RUN: ["B"]
    }


def test_methods_are_in_the_order_of_their_names(boards):
    names = [section.entry.name for section in method_sections(boards)]
    assert names == sorted(names, key=str.lower)
