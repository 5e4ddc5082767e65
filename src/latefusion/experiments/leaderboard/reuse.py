"""Outcomes of cells from an earlier result file, so that a run repeats none that would be the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from latefusion.experiments.leaderboard.evaluation import BoardCell, Run
from latefusion.experiments.leaderboard.planning import MEMORY_LIMIT, TIME_LIMIT
from latefusion.experiments.leaderboard.results import CellEntry, Leaderboard, LimitEntry
from latefusion.experiments.runner import OUT_OF_MEMORY, TOOK_TOO_LONG
from latefusion.experiments.store import Outcome


class Reused(NamedTuple):
    """Cells of an earlier result file.

    Attributes
    ----------
    outcomes : dict of BoardCell to Outcome
        Those whose result would be the same.
    n_results : int
        Number of cells of the file that were run.
    """

    outcomes: dict[BoardCell, Outcome]
    n_results: int


def reused_outcomes(board: Leaderboard, cells: Sequence[BoardCell], limits: LimitEntry) -> Reused:
    """The outcomes that an earlier result file has for cells.

    Parameters
    ----------
    board : Leaderboard
    cells : sequence of BoardCell
    limits : LimitEntry
        Of this run.

    Returns
    -------
    Reused
        Cells with the same code of the method and the same checksum of the data. Files of earlier versions contain
        neither, and have none. Every seed has the median time of the cell.

    Raises
    ------
    ValueError
        If seeds or limits differ.
    """
    for name in ("seeds", "seconds", "memory_mib"):
        theirs, ours = getattr(board.limits, name), getattr(limits, name)
        if theirs != ours:
            raise ValueError(
                f"The earlier results were computed with {name}={theirs:g}, but this run has {name}={ours:g}, so that "
                f"none of them can be used. Use the same --seeds, --time-limit and --memory-limit."
            )
    checksums = {(one.board, one.name): one.checksum for one in board.sets}
    entries = {one.key: one for one in board.cells if one.code is not None}
    same = {
        cell: entries[cell.place]
        for cell in cells
        if cell.place in entries
        and entries[cell.place].code == cell.code
        and checksums[cell.place[:2]] == cell.source.checksum
    }
    run = [one for one in board.cells if one.seeds or one.code is not None]
    return Reused({cell: _outcome(cell, entry) for cell, entry in same.items()}, len(run))


def _outcome(cell: BoardCell, entry: CellEntry) -> Outcome:
    seconds, cpu_seconds = entry.seconds or 0.0, entry.cpu_seconds or 0.0
    runs = [
        Run(seed, acc, nmi, ari, seconds, cpu_seconds, entry.peak_mib)
        for seed, acc, nmi, ari in zip(entry.seeds, entry.acc, entry.nmi, entry.ari, strict=True)
    ]
    return Outcome(seconds * len(runs), runs, _reason(cell, entry))


def _reason(cell: BoardCell, entry: CellEntry) -> str:
    """The reason of a failure in the words of the runner; seeds that were not finished exceeded the time limit."""
    if (entry.seeds and len(entry.seeds) < len(cell.seeds)) or (entry.reason or "").startswith(TIME_LIMIT):
        return f"{TOOK_TOO_LONG} {cell.seconds:g} s"
    if (entry.reason or "").startswith(MEMORY_LIMIT):
        return OUT_OF_MEMORY
    return entry.reason or ""
