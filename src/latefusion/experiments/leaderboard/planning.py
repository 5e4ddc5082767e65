"""The cells of the leaderboard: which there are, in which order they run, and which are left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from latefusion.experiments.leaderboard.evaluation import BoardCell, Run
from latefusion.experiments.leaderboard.methods import Entrant, entrants
from latefusion.experiments.leaderboard.problems import BoardSet
from latefusion.experiments.leaderboard.results import NOT_RUN, CellEntry, LimitEntry, SetEntry, failed_cell
from latefusion.experiments.runner import OUT_OF_MEMORY, TOOK_TOO_LONG
from latefusion.experiments.store import Outcome

TIME_LIMIT, MEMORY_LIMIT = "time limit", "memory limit"
# Longer texts of errors are cut.
MOST_CHARACTERS = 300


def plan(sets: Sequence[BoardSet], methods: Sequence[Entrant], limits: LimitEntry) -> list[BoardCell]:
    """All cells, those of small data sets first.

    Parameters
    ----------
    sets : sequence of BoardSet
    methods : sequence of Entrant
    limits : LimitEntry

    Returns
    -------
    list of BoardCell
        A data set that is larger than another in every respect comes after it, so that `Skipping` can leave out its
        cells. A method whose result cannot depend on the seed has one.
    """
    versions = {method.name: method.version for method in methods}
    ordered = sorted(sets, key=lambda one: (_size(one.entry), one.name))
    return [
        BoardCell(
            one,
            method.name,
            tuple(range(limits.seeds if method.has_seed or one.rate else 1)),
            limits.seconds,
            limits.memory_mib,
            versions[method.name],
        )
        for one in ordered
        for method in methods
    ]


def part_of(cells: Sequence[BoardCell], part: int, n_parts: int) -> list[BoardCell]:
    """The share of the cells that one of several runs has.

    Parameters
    ----------
    cells : sequence of BoardCell
    part : int
        From 1.
    n_parts : int

    Returns
    -------
    list of BoardCell
        All cells of a method are in one part, so that every part knows how long it takes on smaller data sets.
    """
    methods = list(dict.fromkeys(cell.method for cell in cells))[part - 1 :: n_parts]
    return [cell for cell in cells if cell.method in methods]


class Skipping:
    """Which cells are not worth a run: those that cannot work, and those that would exceed a limit.

    Parameters
    ----------
    outcomes : mapping of BoardCell to Outcome
        May grow between calls.
    """

    def __init__(self, outcomes: Mapping[BoardCell, Outcome]) -> None:
        self._outcomes = outcomes

    def reason(self, cell: BoardCell) -> str:
        """Why a cell is left out; empty if it is not.

        Parameters
        ----------
        cell : BoardCell

        Returns
        -------
        str
        """
        entry = cell.source.entry
        refusal = entrants()[cell.method].refusal(entry.kind, entry.missing)
        if refusal:
            return refusal
        for other, outcome in self._outcomes.items():
            if other.method == cell.method and other != cell and is_smaller(other.source.entry, entry):
                limit = exceeded_limit(outcome)
                if limit and not outcome.points:
                    return f"exceeded the {limit} on {other.source.name}, which is smaller"
        return ""


def exceeded_limit(outcome: Outcome) -> str:
    """The limit that stopped a cell; empty if none did.

    Parameters
    ----------
    outcome : Outcome

    Returns
    -------
    {"time limit", "memory limit", ""}
    """
    if outcome.reason.startswith(OUT_OF_MEMORY):
        return MEMORY_LIMIT
    return TIME_LIMIT if outcome.reason.startswith(TOOK_TOO_LONG) else ""


def is_smaller(one: SetEntry, other: SetEntry) -> bool:
    """Whether a data set is on the same board and of the same kind as another, and not larger in any respect.

    Parameters
    ----------
    one, other : SetEntry

    Returns
    -------
    bool
    """
    alike = (one.board, one.kind) == (other.board, other.kind)
    return alike and all(left <= right for left, right in zip(_sizes(one), _sizes(other), strict=True))


def cell_entries(cells: Iterable[BoardCell], outcomes: Mapping[BoardCell, Outcome]) -> list[CellEntry]:
    """The entries of cells in the result file.

    Parameters
    ----------
    cells : iterable of BoardCell
    outcomes : mapping of BoardCell to Outcome

    Returns
    -------
    list of CellEntry
        The seeds that a cell finished before a limit are a result. An error in any seed is a failure.
    """
    skipping = Skipping(outcomes)
    return [_entry(cell, outcomes.get(cell), skipping) for cell in cells]


def _entry(cell: BoardCell, outcome: Outcome | None, skipping: Skipping) -> CellEntry:
    if outcome is None:
        return failed_cell(cell.place, skipping.reason(cell) or NOT_RUN)
    limit = exceeded_limit(outcome)
    if outcome.points and (limit or not outcome.reason):
        return _result(cell, outcome.points)
    reasons = {TIME_LIMIT: f"{TIME_LIMIT} {cell.seconds:g} s", MEMORY_LIMIT: f"{MEMORY_LIMIT} {cell.memory} MiB"}
    return failed_cell(cell.place, reasons.get(limit) or " ".join(outcome.reason.split())[:MOST_CHARACTERS], cell.code)


def _result(cell: BoardCell, runs: Sequence[Run]) -> CellEntry:
    peaks = [run.peak_mib for run in runs if run.peak_mib is not None]
    return CellEntry(
        *cell.place,
        seeds=[run.seed for run in runs],
        acc=[run.acc for run in runs],
        nmi=[run.nmi for run in runs],
        ari=[run.ari for run in runs],
        seconds=float(np.median([run.seconds for run in runs])),
        cpu_seconds=float(np.median([run.cpu_seconds for run in runs])),
        peak_mib=max(peaks, default=None),
        reason=None,
        code=cell.code,
    )


def _sizes(entry: SetEntry) -> tuple[int, int, int, int]:
    return entry.n_samples, len(entry.views), entry.n_columns, entry.n_clusters


def _size(entry: SetEntry) -> int:
    """A rough cost, which is larger for a data set that is larger in any respect."""
    return entry.n_samples**2 * len(entry.views) + entry.n_samples * (entry.n_columns + entry.n_clusters)
