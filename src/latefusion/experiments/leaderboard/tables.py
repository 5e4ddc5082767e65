"""The boards as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.experiments.leaderboard.packing import DIGITS
from latefusion.experiments.leaderboard.ranks import (
    critical_difference,
    friedman_test,
    mean_ranks,
    pvalues_against,
    tallies,
)
from latefusion.experiments.leaderboard.results import SCORES, CellEntry, Leaderboard
from latefusion.results import ResultTable

# Fewest sets and methods for ranks.
FEWEST = 2
NOTHING = "–"


@dataclass(frozen=True)
class Standing:
    """The results of one board as arrays.

    Attributes
    ----------
    board : str
    sets : list of str
    methods : list of str
        Those with at least one result on the board.
    scores : dict of str to ndarray of shape (n_sets, n_methods)
        Mean over the seeds, by score; NaN for a missing result.
    seconds : ndarray of shape (n_sets, n_methods)
    without_results : dict of str to str
        Methods without any result on this board, and the most frequent reason.
    """

    board: str
    sets: list[str]
    methods: list[str]
    scores: dict[str, NDArray[np.float64]]
    seconds: NDArray[np.float64]
    without_results: dict[str, str]


def standing_of(board: Leaderboard, name: str) -> Standing:
    """The results of one board.

    Parameters
    ----------
    board : Leaderboard
    name : {"complete", "missing", "large", "clusterings"}

    Returns
    -------
    Standing
        Without data sets on which no method has a result.
    """
    cells = {(cell.set, cell.method): cell for cell in board.cells if cell.board == name}
    done = [cell for cell in cells.values() if cell.seeds]
    sets = [one.name for one in board.sets if one.board == name and any(cell.set == one.name for cell in done)]
    entered = [one.name for one in board.methods if any(method == one.name for _, method in cells)]
    methods = [one for one in entered if any(cell.method == one for cell in done)]
    return Standing(
        name,
        sets,
        methods,
        {score: _matrix(cells, sets, methods, score) for score in SCORES},
        _matrix(cells, sets, methods, "seconds"),
        {one: _usual_reason(list(cells.values()), one) for one in entered if one not in methods},
    )


def head_table(standing: Standing, score: str = "acc") -> ResultTable:
    """The methods of a board by mean rank.

    Parameters
    ----------
    standing : Standing
        With at least one method.
    score : {"acc", "nmi", "ari"}, default="acc"
        The score that is ranked and tested.

    Returns
    -------
    ResultTable
        Mean scores are over the data sets on which the method has a result.
    """
    values = standing.scores[score]
    ranks = mean_ranks(values)
    order = np.argsort(ranks, kind="stable")
    runs = (~np.isnan(values)).sum(axis=0)
    columns: dict[str, Any] = {
        "method": np.array(standing.methods, dtype=object)[order],
        "mean rank": ranks[order],
        **{name.upper(): np.nanmean(own, axis=0)[order] for name, own in standing.scores.items()},
        "sets": runs[order],
        "failures": (len(standing.sets) - runs)[order],
        "seconds": np.nanmedian(standing.seconds, axis=0)[order],
        "p": pvalues_against(values, int(order[0]))[order] if len(order) > 1 else np.full(1, np.nan),
    }
    formats = {"mean rank": _decimals(2), **{name.upper(): _decimals(3) for name in SCORES}}
    return ResultTable(columns, _notes(standing, score), {**formats, "seconds": _seconds, "p": _pvalue})


def tally_table(standing: Standing, method: str, score: str = "acc") -> ResultTable:
    """On how many data sets one method is better than each of the others, equal, or worse.

    Parameters
    ----------
    standing : Standing
    method : str
    score : {"acc", "nmi", "ari"}, default="acc"

    Returns
    -------
    ResultTable
    """
    row = tallies(standing.scores[score])[standing.methods.index(method)]
    others = [position for position, name in enumerate(standing.methods) if name != method]
    return ResultTable(
        {
            f"{method} against": [standing.methods[position] for position in others],
            "wins": [row[position].wins for position in others],
            "ties": [row[position].ties for position in others],
            "losses": [row[position].losses for position in others],
        }
    )


def _notes(standing: Standing, score: str) -> list[str]:
    n_sets, n_methods = standing.scores[score].shape
    sizes = [f"{n_sets} data set{'s' * (n_sets > 1)}", f"{n_methods} method{'s' * (n_methods > 1)}"]
    notes = [
        f"Board {standing.board!r}: {', '.join(sizes)}, ranked by mean {score.upper()} over the seeds. A failure has "
        f"the worst rank, and is not in the mean scores. p: Wilcoxon signed-rank test against the first, corrected by "
        f"Holm."
    ]
    if min(n_sets, n_methods) >= FEWEST:
        test = friedman_test(standing.scores[score])
        difference = critical_difference(n_sets, n_methods)
        notes.append(
            f"Friedman test: p = {test.pvalue:.2g}. Critical difference of mean ranks (Nemenyi, 5 %): {difference:.2f}."
        )
    groups: dict[str, list[str]] = {}
    for method, reason in standing.without_results.items():
        groups.setdefault(reason, []).append(method)
    notes += [f"No result, not ranked ({reason}): {', '.join(names)}." for reason, names in groups.items()]
    return notes


def _matrix(
    cells: dict[tuple[str, str], CellEntry], sets: Sequence[str], methods: Sequence[str], what: str
) -> NDArray[np.float64]:
    found = np.full((len(sets), len(methods)), np.nan)
    for row, name in enumerate(sets):
        for column, method in enumerate(methods):
            cell = cells.get((name, method))
            if cell is not None and cell.seeds:
                found[row, column] = np.mean(getattr(cell, what))
    # Equal labels have scores that differ by rounding, in memory and in the file: they must tie.
    return np.round(found, DIGITS - 1)


def _usual_reason(cells: Sequence[CellEntry], method: str) -> str:
    reasons = [cell.reason for cell in cells if cell.method == method and cell.reason]
    return max(dict.fromkeys(reasons), key=reasons.count)


def _decimals(digits: int) -> Any:
    return lambda value: NOTHING if np.isnan(value) else f"{value:.{digits}f}"


def _seconds(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _pvalue(value: float) -> str:
    return NOTHING if np.isnan(value) else f"{value:.2g}"
