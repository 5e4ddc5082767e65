"""One section per data set and per method: all scores, and why some are missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from latefusion.experiments.leaderboard.results import NOT_RUN, SCORES, CellEntry, MethodEntry, SetEntry
from latefusion.report.leaderboard.boards import Board
from latefusion.report.leaderboard.ranking import RankingRow, ranking


class Result(NamedTuple):
    """The result of one method on one data set.

    Attributes
    ----------
    rank : float
        By accuracy, among the methods of the board.
    scores, spreads : dict of str to float
        Mean and standard deviation over the seeds.
    n_seeds : int
    seconds, peak, oracle : float or None
        The last one is the best accuracy over the grid.
    """

    rank: float
    scores: dict[str, float]
    spreads: dict[str, float]
    n_seeds: int
    seconds: float | None
    peak: float | None
    oracle: float | None


class SetSection(NamedTuple):
    """A data set with the results of all methods, best first, and the ranked methods without a result by reason."""

    board: Board
    entry: SetEntry
    results: list[tuple[MethodEntry, Result]]
    failures: dict[str, list[MethodEntry]]


class MethodBoard(NamedTuple):
    """A method on one board: its row, None without any result, results and data sets without a result by reason."""

    board: Board
    row: RankingRow | None
    results: list[tuple[SetEntry, Result]]
    failures: dict[str, list[SetEntry]]


class MethodSection(NamedTuple):
    """A method on all boards on which it takes part."""

    entry: MethodEntry
    boards: list[MethodBoard]


def set_sections(boards: Iterable[Board]) -> list[SetSection]:
    """The sections of all data sets, by board and number of samples.

    Parameters
    ----------
    boards : iterable of Board

    Returns
    -------
    list of SetSection
    """
    return [_set_section(board, entry) for board in boards for entry in board.all_sets]


def method_sections(boards: Sequence[Board]) -> list[MethodSection]:
    """The sections of all methods, by name.

    Parameters
    ----------
    boards : sequence of Board

    Returns
    -------
    list of MethodSection
    """
    rows = {(board.name, row.method.name): row for board in boards for row in ranking(board, SCORES[0])}
    entries = {entry.name: entry for board in boards for entry in board.all_methods}
    return [
        MethodSection(
            entries[name],
            [
                _method_board(board, entries[name], rows.get((board.name, name)))
                for board in boards
                if entries[name] in board.all_methods
            ],
        )
        for name in sorted(entries, key=str.lower)
    ]


def unranked(board: Board) -> dict[str, list[MethodEntry]]:
    """The methods without any result on a board, by the most frequent reason of each.

    Parameters
    ----------
    board : Board

    Returns
    -------
    dict of str to list of MethodEntry
    """
    methods = [method for method in board.all_methods if method.name in board.without_results]
    return _by_reason((board.without_results[method.name], method) for method in methods)


def _set_section(board: Board, entry: SetEntry) -> SetSection:
    found = [(method, _result(board, entry, method)) for method in board.methods]
    return SetSection(
        board,
        entry,
        sorted(
            ((method, result) for method, result in found if result is not None),
            key=lambda pair: (pair[1].rank, pair[0].name),
        ),
        _by_reason((_reason(board, entry, method), method) for method in board.methods),
    )


def _method_board(board: Board, method: MethodEntry, row: RankingRow | None) -> MethodBoard:
    found = [(entry, _result(board, entry, method)) for entry in board.sets]
    return MethodBoard(
        board,
        row,
        [(entry, result) for entry, result in found if result is not None],
        _by_reason((_reason(board, entry, method), entry) for entry in board.all_sets),
    )


def _result(board: Board, entry: SetEntry, method: MethodEntry) -> Result | None:
    cell = board.cells.get((entry.name, method.name))
    if cell is None or not cell.seeds:
        return None
    oracle = board.oracle_cells.get((entry.name, method.name))
    return Result(
        float(board.ranks[SCORES[0]][board.sets.index(entry), board.methods.index(method)]),
        {metric: float(np.mean(getattr(cell, metric))) for metric in SCORES},
        {metric: float(np.std(getattr(cell, metric))) for metric in SCORES},
        len(cell.seeds),
        cell.seconds,
        cell.peak_mib,
        None if oracle is None else oracle.acc,
    )


def _reason(board: Board, entry: SetEntry, method: MethodEntry) -> str | None:
    cell: CellEntry | None = board.cells.get((entry.name, method.name))
    return NOT_RUN if cell is None else cell.reason


def _by_reason(pairs: Iterable[tuple[str | None, MethodEntry | SetEntry]]) -> dict[str, list]:
    """What has the same reason, the most frequent reason first."""
    found: dict[str, list] = {}
    for reason, entry in pairs:
        if reason is not None:
            found.setdefault(reason, []).append(entry)
    return dict(sorted(found.items(), key=lambda pair: -len(pair[1])))
