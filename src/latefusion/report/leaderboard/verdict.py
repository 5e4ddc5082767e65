"""Whether the best method of this package is significantly ahead of the others on a board, and where it is not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latefusion.experiments.leaderboard.ranks import pvalues_against
from latefusion.experiments.leaderboard.results import MethodEntry, SetEntry
from latefusion.experiments.summary import LEVEL
from latefusion.report.leaderboard.boards import Board


class Compared(NamedTuple):
    """Another method: the adjusted p-value, and whether its mean rank is worse than that of ours."""

    method: MethodEntry
    p_value: float
    is_worse: bool

    @property
    def is_significant(self) -> bool:
        """Whether the difference is significant."""
        return self.p_value < LEVEL


class Loss(NamedTuple):
    """A data set on which the best other method has a better score than ours; None without a result."""

    set: SetEntry
    ours: float | None
    rival: float | None


class Verdict(NamedTuple):
    """The best of our methods against all methods of others.

    Attributes
    ----------
    metric : str
    ours : MethodEntry
    place : int
        By mean rank, among all methods.
    mean_rank : float
    rival : Compared
        The method of others with the best mean rank.
    rival_rank : float
    ahead, equal, behind : list of Compared
        Methods that are significantly worse by mean rank, do not differ significantly, are significantly better.
    n_first : int
        Number of data sets on which no method is better.
    losses : list of Loss
        The largest differences first.
    """

    metric: str
    ours: MethodEntry
    place: int
    mean_rank: float
    rival: Compared
    rival_rank: float
    ahead: list[Compared]
    equal: list[Compared]
    behind: list[Compared]
    n_first: int
    losses: list[Loss]

    @property
    def is_ahead(self) -> bool:
        """Whether ours is significantly better than the best other method."""
        return self.rival in self.ahead


def judge(board: Board, metric: str) -> Verdict | None:
    """Compare the best of our methods with all methods of others.

    Parameters
    ----------
    board : Board
    metric : {"acc", "nmi", "ari"}

    Returns
    -------
    Verdict or None
        None if none of our methods takes part, or no other one.
    """
    ours, means, ranks = board.ours(metric), board.mean_ranks(metric), board.ranks[metric]
    others = [column for column in board.order(metric) if board.methods[column].family != "ours"]
    if ours is None or not others:
        return None
    p_values = pvalues_against(board.scores[metric], ours)
    compared = [
        Compared(board.methods[column], float(p_values[column]), bool(means[ours] < means[column])) for column in others
    ]
    rival = others[0]
    return Verdict(
        metric=metric,
        ours=board.methods[ours],
        place=1 + int((means < means[ours]).sum()),
        mean_rank=float(means[ours]),
        rival=compared[0],
        rival_rank=float(means[rival]),
        ahead=[one for one in compared if one.is_significant and one.is_worse],
        equal=[one for one in compared if not one.is_significant],
        behind=[one for one in compared if one.is_significant and not one.is_worse],
        n_first=int((ranks[:, ours] == ranks.min(axis=1)).sum()),
        losses=_losses(board, metric, ours, rival),
    )


def _losses(board: Board, metric: str, ours: int, rival: int) -> list[Loss]:
    pairs, ranks = board.scores[metric][:, [ours, rival]], board.ranks[metric]
    lost = np.flatnonzero(ranks[:, rival] < ranks[:, ours])
    differences = np.nan_to_num(pairs) @ [1, -1]
    return [
        Loss(board.sets[row], *(None if np.isnan(one) else float(one) for one in pairs[row]))
        for row in sorted(lost, key=lambda one: differences[one])
    ]
