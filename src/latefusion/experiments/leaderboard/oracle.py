"""The best scores over a grid of parameters, selected with the classes: an upper bound, not a result."""

from __future__ import annotations

import hashlib
import itertools
import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from latefusion.experiments.leaderboard.evaluation import BoardCell, scores
from latefusion.experiments.leaderboard.methods import Entrant, entrants
from latefusion.experiments.leaderboard.planning import Skipping, failure_reason
from latefusion.experiments.leaderboard.problems import BoardSet
from latefusion.experiments.leaderboard.results import SCORES, Leaderboard, OracleEntry
from latefusion.experiments.protocol import CONTENDERS
from latefusion.experiments.store import Outcome

SEED = 0


@dataclass(frozen=True)
class OracleCell:
    """All points of the grid of one method on one data set of one board.

    Attributes
    ----------
    source : BoardSet
    method : str
    points : str
        The parameters of every point, as JSON.
    seconds : float
        Limit of all points together.
    memory : int
        Limit in MiB.
    code : str
        Version of the code of the method, and of the points.
    """

    source: BoardSet
    method: str
    points: str
    seconds: float
    memory: int
    code: str

    @property
    def place(self) -> tuple[str, str, str]:
        """Board, data set and method."""
        return self.source.entry.board, self.source.name, self.method

    @property
    def key(self) -> tuple[str, ...]:
        """What identifies it in a store, as texts."""
        settings = {"code": self.code, "seconds": self.seconds, "memory": self.memory}
        board, name, method = self.place
        return self.source.checksum, name, method, f"{board}, oracle", json.dumps(settings), json.dumps([SEED])


class OraclePoint(NamedTuple):
    """The scores of one point of a grid.

    Attributes
    ----------
    parameters : dict
    acc, nmi, ari : float
    """

    parameters: dict[str, Any]
    acc: float
    nmi: float
    ari: float


def grid_of(method: Entrant) -> Mapping[str, Sequence[Any]]:
    """The grid of parameters of a method: that of its paper, or for our methods that of the evaluation of the paper.

    Parameters
    ----------
    method : Entrant

    Returns
    -------
    mapping of str to sequence
        Empty if the method has none.
    """
    known = CONTENDERS[method.name].grid if method.name in CONTENDERS else {}
    return getattr(method.estimator, "parameter_grid", None) or known


def drawn_points(grid: Mapping[str, Sequence[Any]], most: int) -> list[dict[str, Any]]:
    """The points of a grid, in an order drawn at random by a fixed seed.

    Parameters
    ----------
    grid : mapping of str to sequence
    most : int
        Number of points, at most.

    Returns
    -------
    list of dict
    """
    values = list(itertools.product(*grid.values()))
    order = np.random.default_rng(SEED).permutation(len(values))[:most]
    return [dict(zip(grid, values[position], strict=True)) for position in order] if grid else []


def plan_oracle(cells: Iterable[BoardCell], most: int) -> list[OracleCell]:
    """The cells of the oracle: one for every cell of the board whose method has a grid.

    Parameters
    ----------
    cells : iterable of BoardCell
    most : int
        Number of points of a grid, at most.

    Returns
    -------
    list of OracleCell
    """
    found = []
    for cell in cells:
        points = json.dumps(drawn_points(grid_of(entrants()[cell.method]), most))
        if points != "[]":
            code = hashlib.sha256(f"{cell.code} {points}".encode()).hexdigest()[:12]
            found.append(OracleCell(cell.source, cell.method, points, cell.seconds, cell.memory, code))
    return found


def evaluate_oracle(cell: OracleCell) -> Iterator[OraclePoint]:
    """Fit a method with every point of its grid.

    Parameters
    ----------
    cell : OracleCell

    Yields
    ------
    OraclePoint
        None for points with which the method fails.
    """
    entry, problem = cell.source.entry, cell.source.problem(SEED)
    error: Exception | None = None
    n_done = 0
    for parameters in json.loads(cell.points):
        model = entrants()[cell.method].configured(entry.n_clusters, entry.kind, SEED).set_params(**parameters)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # results that did not converge count
                labels = model.fit_predict(problem.views)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as problem_of_point:
            error = problem_of_point
            continue
        n_done += 1
        yield OraclePoint(parameters, *scores(problem.target, labels))
    if error is not None and not n_done:
        raise error


def oracle_entries(cells: Iterable[OracleCell], outcomes: Mapping[OracleCell, Outcome]) -> list[OracleEntry]:
    """The entries of the oracle in the result file.

    Parameters
    ----------
    cells : iterable of OracleCell
    outcomes : mapping of OracleCell to Outcome

    Returns
    -------
    list of OracleEntry
        Every score has its own maximum. Points that were finished before a limit count.
    """
    skipping = Skipping(outcomes)
    return [_entry(cell, outcomes.get(cell), skipping) for cell in cells]


def reused_oracle(board: Leaderboard, cells: Iterable[OracleCell]) -> list[OracleEntry]:
    """Entries of an earlier result file whose code, points and data are the same.

    Parameters
    ----------
    board : Leaderboard
        With the limits of this run.
    cells : iterable of OracleCell

    Returns
    -------
    list of OracleEntry
    """
    checksums = {(one.board, one.name): one.checksum for one in board.sets}
    known = {one.key: one for one in board.oracle}
    entries = [(cell, known[cell.place]) for cell in cells if cell.place in known]
    return [
        entry
        for cell, entry in entries
        if entry.code == cell.code and checksums[cell.place[:2]] == cell.source.checksum
    ]


def _entry(cell: OracleCell, outcome: Outcome | None, skipping: Skipping) -> OracleEntry:
    if outcome is None or not outcome.points:
        reason = failure_reason(cell, outcome, skipping)
        return OracleEntry(*cell.place, None, None, None, 0, {}, reason, None if outcome is None else cell.code)
    best = max(outcome.points, key=lambda point: point.acc)
    acc, nmi, ari = (max(getattr(point, score) for point in outcome.points) for score in SCORES)
    return OracleEntry(*cell.place, acc, nmi, ari, len(outcome.points), best.parameters, None, cell.code)
