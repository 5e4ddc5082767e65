"""Check of a submitted result file: run some of its cells again and compare the scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from latefusion.experiments.leaderboard.evaluation import BoardCell
from latefusion.experiments.leaderboard.methods import Entrant
from latefusion.experiments.leaderboard.planning import plan
from latefusion.experiments.leaderboard.problems import BoardSet
from latefusion.experiments.leaderboard.results import SCORES, CellEntry, Leaderboard
from latefusion.experiments.store import Outcome

# Scores in the file have six digits.
TOLERANCE = 1e-6


class Difference(NamedTuple):
    """A score that differs when its cell is run again.

    Attributes
    ----------
    board, set, method : str
    seed : int
    score : str
    submitted : float
    found : float or None
        None if the run failed.
    reason : str
        Why it failed.
    """

    board: str
    set: str
    method: str
    seed: int
    score: str
    submitted: float
    found: float | None
    reason: str


def cells_to_check(
    board: Leaderboard, sets: Sequence[BoardSet], methods: Sequence[Entrant], share: float, random_state: int | None
) -> dict[BoardCell, CellEntry]:
    """Draw cells with results at random, among those whose data set and method are at hand.

    Parameters
    ----------
    board : Leaderboard
    sets : sequence of BoardSet
    methods : sequence of Entrant
    share : float
        Of the cells that can be run; at least one cell is drawn.
    random_state : int or None

    Returns
    -------
    dict of BoardCell to CellEntry
        In the order in which they should run.

    Raises
    ------
    ValueError
        If a data set of the file differs from that at hand, or no cell can be run.
    """
    submitted = {(one.board, one.name): one for one in board.sets}
    for one in sets:
        entry = submitted.get((one.entry.board, one.name))
        if entry is not None and (entry.n_samples, entry.views) != (one.entry.n_samples, one.entry.views):
            raise ValueError(f"The file has results on other data: {one.name!r} has {entry.n_samples} samples there.")
        if entry is not None and entry.checksum not in (None, one.checksum):
            raise ValueError(f"The file has results on other data: {one.name!r} has another checksum there.")
    results = {entry.key: entry for entry in board.cells if entry.seeds}
    known = {cell: results[cell.place] for cell in plan(sets, methods, board.limits) if cell.place in results}
    if not known:
        raise ValueError("The file has no cell whose data set and method are at hand. Add data sets with --data.")
    number = max(1, round(share * len(known)))
    drawn = set(np.random.default_rng(random_state).choice(len(known), number, replace=False).tolist())
    return {cell: entry for position, (cell, entry) in enumerate(known.items()) if position in drawn}


def differences(cells: Mapping[BoardCell, CellEntry], outcomes: Mapping[BoardCell, Outcome]) -> list[Difference]:
    """The submitted scores that the runs do not confirm.

    Parameters
    ----------
    cells : mapping of BoardCell to CellEntry
        The submitted entries.
    outcomes : mapping of BoardCell to Outcome

    Returns
    -------
    list of Difference
        A seed that a slower machine does not finish in the time limit is not compared, if another one is.
    """
    found = []
    for cell, entry in cells.items():
        outcome = outcomes[cell]
        runs = {run.seed: run for run in outcome.points}
        for position, seed in enumerate(entry.seeds):
            for score in SCORES:
                submitted = getattr(entry, score)[position]
                again = getattr(runs[seed], score) if seed in runs else None
                agrees = abs(again - submitted) <= TOLERANCE if again is not None else bool(runs)
                if not agrees:
                    found.append(Difference(*entry.key, seed, score, submitted, again, outcome.reason))
    return found
