"""One board of the leaderboard: the arrays that are ranked, and the cells with all that is known about them.

Arrays have one row per data set and one column per method, as in `latefusion.experiments.leaderboard.ranks`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.experiments.leaderboard.ranks import set_ranks
from latefusion.experiments.leaderboard.results import (
    BOARDS,
    SCORES,
    CellEntry,
    Leaderboard,
    MethodEntry,
    OracleEntry,
    SetEntry,
)
from latefusion.experiments.leaderboard.tables import standing_of

Numbers = NDArray[np.float64]
Key = tuple[str, str]

METRICS = dict(zip(SCORES, ("ACC", "NMI", "ARI"), strict=True))
TITLES = {
    "complete": "Complete views",
    "missing": "Missing views",
    "large": "Many samples",
    "clusterings": "Given clusterings",
}


@dataclass(frozen=True)
class Board:
    """Results of one board.

    Attributes
    ----------
    name, title : str
    sets : tuple of SetEntry
        Those on which a method has a result, by number of samples.
    methods : tuple of MethodEntry
        Those with a result on a data set.
    scores, ranks, oracle : dict of str to ndarray of shape (n_sets, n_methods)
        By score; NaN for a missing result. Ranks and tests use all digits of the scores.
    seconds, peak : ndarray of shape (n_sets, n_methods)
    all_sets : tuple of SetEntry
    all_methods : tuple of MethodEntry
        Also those without any result.
    without_results : dict of str to str
        Names of methods without any result, and the most frequent reason.
    cells : dict of (str, str) to CellEntry
        By names of data set and method.
    oracle_cells : dict of (str, str) to OracleEntry
    """

    name: str
    title: str
    sets: tuple[SetEntry, ...]
    methods: tuple[MethodEntry, ...]
    scores: dict[str, Numbers]
    ranks: dict[str, Numbers]
    oracle: dict[str, Numbers]
    seconds: Numbers
    peak: Numbers
    all_sets: tuple[SetEntry, ...]
    all_methods: tuple[MethodEntry, ...]
    without_results: Mapping[str, str]
    cells: Mapping[Key, CellEntry]
    oracle_cells: Mapping[Key, OracleEntry]

    @property
    def n_results(self) -> int:
        """Number of cells with a result."""
        return sum(bool(cell.seeds) for cell in self.cells.values())

    def mean_ranks(self, metric: str) -> Numbers:
        """Mean rank of every method over the data sets."""
        means: Numbers = self.ranks[metric].mean(axis=0)
        return means

    def order(self, metric: str) -> list[int]:
        """Columns of the methods by mean rank; equal ones by name."""
        means = self.mean_ranks(metric)
        return sorted(range(len(self.methods)), key=lambda column: (means[column], self.methods[column].name))

    def ours(self, metric: str) -> int | None:
        """Column of the method of this package with the best mean rank."""
        return next((column for column in self.order(metric) if self.methods[column].family == "ours"), None)


def gather_boards(results: Leaderboard) -> list[Board]:
    """The boards of a result file on which there is a result.

    Parameters
    ----------
    results : Leaderboard

    Returns
    -------
    list of Board
    """
    filled = {cell.board for cell in results.cells if cell.seeds}
    return [_gather(results, name) for name in BOARDS if name in filled]


def anchors(prefix: str, names: Iterable[str]) -> list[str]:
    """Ids for links: letters and digits of every name, and a number where two would be the same.

    Parameters
    ----------
    prefix : str
    names : iterable of str

    Returns
    -------
    list of str

    Examples
    --------
    >>> from latefusion.report.leaderboard.boards import anchors
    >>> anchors("set", ["MSRC-v1", "msrc v1", "mfeat"])
    ['set-msrc-v1', 'set-msrc-v1-2', 'set-mfeat']
    """
    found: dict[str, None] = {}
    for name in names:
        plain = "-".join([prefix, *re.findall("[a-z0-9]+", name.lower())])
        numbered = (f"{plain}-{number}" for number in itertools.count(2))
        found[next(one for one in itertools.chain([plain], numbered) if one not in found)] = None
    return list(found)


def _gather(results: Leaderboard, name: str) -> Board:
    standing = standing_of(results, name)
    cells = {(cell.set, cell.method): cell for cell in results.cells if cell.board == name}
    oracle = {(entry.set, entry.method): entry for entry in results.oracle if entry.board == name}
    own = [one for one in results.sets if one.board == name]
    by_size = sorted(own, key=lambda one: (one.n_samples, one.name))
    sets = tuple(one for one in by_size if one.name in standing.sets)
    rows = [standing.sets.index(one.name) for one in sets]
    entered = {method for _, method in cells}
    keys = [[(one.name, method) for method in standing.methods] for one in sets]
    return Board(
        name=name,
        title=TITLES[name],
        sets=sets,
        methods=tuple(one for one in results.methods if one.name in standing.methods),
        scores={metric: scores[rows] for metric, scores in standing.scores.items()},
        ranks={metric: set_ranks(scores[rows]) for metric, scores in standing.scores.items()},
        oracle={metric: _values(oracle, keys, metric) for metric in SCORES},
        seconds=standing.seconds[rows],
        peak=_values(cells, keys, "peak_mib"),
        all_sets=tuple(by_size),
        all_methods=tuple(one for one in results.methods if one.name in entered),
        without_results=standing.without_results,
        cells=cells,
        oracle_cells=oracle,
    )


def _values(entries: Mapping[Key, Any], keys: list[list[Key]], field: str) -> Numbers:
    """A field of every entry; NaN where there is no entry or it has no value."""
    found = [[getattr(entries.get(key), field, None) for key in row] for row in keys]
    return np.array(found, dtype=np.float64)
