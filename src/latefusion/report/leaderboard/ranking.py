"""The table of a board, and the numbers from which the script computes it again for other scores and data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from latefusion.experiments.leaderboard.ranks import Tally, tallies
from latefusion.experiments.leaderboard.results import FAMILIES, SCORES, MethodEntry
from latefusion.report.leaderboard.boards import Board, Numbers

# Smallest numbers of samples of the groups that the reader can choose among, and their names.
SIZES = {0: "up to 500 samples", 501: "501 to 2000 samples", 2001: "more than 2000 samples"}
# Digits of the numbers for the script. The means that the page shows are those of the same numbers.
DIGITS = 6


@dataclass(frozen=True)
class RankingRow:
    """One method on all data sets of a board.

    Attributes
    ----------
    column : int
        Position of the method on the board.
    method : MethodEntry
    place : int
        Number of methods with a better mean rank, plus one.
    mean_rank : float
    share : float
        Mean rank as a share, from 0 (last everywhere) to 1 (first everywhere).
    means : dict of str to float
        Mean scores over the data sets with a result.
    n_results : int
        Number of data sets with a result.
    against_ours : Tally or None
        Data sets on which this method is better than, equal to and worse than the best of ours; None for that method
        itself, or where none of ours takes part.
    seconds, peak, oracle : float or None
        Medians over the data sets with a result; mean accuracy of the oracle.
    """

    column: int
    method: MethodEntry
    place: int
    mean_rank: float
    share: float
    means: dict[str, float]
    n_results: int
    against_ours: Tally | None
    seconds: float | None
    peak: float | None
    oracle: float | None


@dataclass(frozen=True)
class MatrixRow:
    """The scores of one method on all data sets of a board.

    Attributes
    ----------
    column : int
    method : MethodEntry
    cells : list of (float, float) or None
        Score and rank as a share, from 0 (last) to 1 (first); None without a result.
    """

    column: int
    method: MethodEntry
    cells: list[tuple[float, float] | None]


def ranking(board: Board, metric: str) -> list[RankingRow]:
    """The rows of the table, by mean rank.

    Parameters
    ----------
    board : Board
    metric : {"acc", "nmi", "ari"}

    Returns
    -------
    list of RankingRow
    """
    means, ours = board.mean_ranks(metric), board.ours(metric)
    tally = tallies(board.scores[metric])
    return [
        RankingRow(
            column=column,
            method=board.methods[column],
            place=1 + int((means < means[column]).sum()),
            mean_rank=float(means[column]),
            share=rank_share(float(means[column]), len(means)),
            means={one: float(np.nanmean(np.round(scores[:, column], DIGITS))) for one, scores in board.scores.items()},
            n_results=int(np.isfinite(board.scores[metric][:, column]).sum()),
            against_ours=None if ours in (None, column) else tally[column][ours],
            seconds=_known(np.median, board.seconds[:, column]),
            peak=_known(np.median, board.peak[:, column]),
            oracle=_known(np.mean, board.oracle[metric][:, column]),
        )
        for column in board.order(metric)
    ]


def matrix(board: Board, metric: str) -> list[MatrixRow]:
    """All scores of a board, methods by mean rank.

    Parameters
    ----------
    board : Board
    metric : {"acc", "nmi", "ari"}

    Returns
    -------
    list of MatrixRow
    """
    scores, ranks = board.scores[metric].T.tolist(), board.ranks[metric].T.tolist()
    return [
        MatrixRow(
            column,
            board.methods[column],
            [
                None if np.isnan(score) else (score, rank_share(rank, len(board.methods)))
                for score, rank in zip(scores[column], ranks[column], strict=True)
            ],
        )
        for column in board.order(metric)
    ]


def rank_share(rank: float, n_methods: int) -> float:
    """A rank as a share: 1 for the first of all methods, 0 for the last."""
    return (n_methods - rank) / (n_methods - 1) if n_methods > 1 else 1.0


def script_data(boards: Sequence[Board]) -> dict[str, Any]:
    """What the script needs to compute the tables for a choice of data sets, without any text of the results.

    Parameters
    ----------
    boards : sequence of Board

    Returns
    -------
    dict
        By name of the board. Lists have one list per method, with one number per data set.
    """
    return {board.name: _script_board(board) for board in boards}


def size_group(n_samples: int) -> int:
    """The group of `SIZES` that a number of samples belongs to."""
    return max(least for least in SIZES if least <= n_samples)


def _script_board(board: Board) -> dict[str, Any]:
    return {
        "kinds": [one.kind for one in board.sets],
        "sizes": [size_group(one.n_samples) for one in board.sets],
        "families": [FAMILIES.index(one.family) for one in board.methods],
        "ranks": {metric: _plain(board.ranks[metric]) for metric in SCORES},
        "scores": {metric: _plain(board.scores[metric]) for metric in SCORES},
        "oracle": {metric: _plain(board.oracle[metric]) for metric in SCORES},
        "seconds": _plain(board.seconds),
        "peak": _plain(board.peak),
    }


def _plain(values: Numbers) -> list[list[float | None]]:
    """Numbers for JSON: None without a result, and integers where they are whole."""
    rows = np.round(values.T, DIGITS).tolist()
    return [[None if np.isnan(one) else int(one) if one == int(one) else one for one in row] for row in rows]


def _known(statistic: Any, values: Numbers) -> float | None:
    """A statistic of the values that are not NaN; None if there are none."""
    known = np.round(values[np.isfinite(values)], DIGITS)
    return float(statistic(known)) if len(known) else None
