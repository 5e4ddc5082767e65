"""Results of the leaderboard in one JSON file, with a schema that is checked when the file is read.

The page of the leaderboard is built from this file alone. It contains scores, never data. Scores are rounded to six
digits.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from latefusion.experiments.leaderboard.packing import built, packed
from latefusion.experiments.report import write_text

FORMAT = 1
BOARDS = ("complete", "missing", "large", "clusterings")
FAMILIES = ("ours", "comparison method", "baseline", "outside")
KINDS = ("features", "kernels", "clusterings")
SCORES = ("acc", "nmi", "ari")
# Reason for a cell that has not been run.
NOT_RUN = "not run"


@dataclass(frozen=True)
class CodeEntry:
    """The code that computed the results.

    Attributes
    ----------
    version : str
        Version of the package, and a hash of the source files that numbers can depend on.
    commit : str or None
        None if the package is not a clean checkout of its repository.
    """

    version: str
    commit: str | None


@dataclass(frozen=True)
class LimitEntry:
    """Limits of one cell.

    Attributes
    ----------
    seconds : float
        For all seeds together.
    memory_mib : int
    seeds : int
    max_samples : int
        Larger data sets are on the board "large".
    """

    seconds: float
    memory_mib: int
    seeds: int
    max_samples: int


@dataclass(frozen=True)
class ViewEntry:
    """One view of a data set.

    Attributes
    ----------
    name : str
    columns : int
    """

    name: str
    columns: int


@dataclass(frozen=True)
class SetEntry:
    """One data set on one board.

    Attributes
    ----------
    name : str
        Unique on its board.
    title : str
    board : {"complete", "missing", "large", "clusterings"}
    n_samples, n_clusters : int
    kind : {"features", "kernels", "clusterings"}
    views : tuple of ViewEntry
    missing : float
        Share of the rows of all views that are missing.
    checksum : str or None
        Of the data, and of how rows were removed; None in files of earlier versions.
    """

    name: str
    title: str
    board: str
    n_samples: int
    n_clusters: int
    kind: str
    views: tuple[ViewEntry, ...]
    missing: float
    checksum: str | None = None

    @property
    def n_columns(self) -> int:
        """Number of columns of all views."""
        return sum(view.columns for view in self.views)


@dataclass(frozen=True)
class MethodEntry:
    """One method.

    Attributes
    ----------
    name : str
    class_name : str
        Full name of the class or function.
    year : int or None
        Year of publication.
    family : {"ours", "comparison method", "baseline", "outside"}
    page : str or None
        Page of the documentation, relative to its root.
    """

    name: str
    class_name: str = field(metadata={"key": "class"})
    year: int | None
    family: str
    page: str | None


@dataclass(frozen=True)
class CellEntry:
    """The results of one method on one data set of one board.

    Attributes
    ----------
    board, set, method : str
    seeds : list of int
        Finished seeds, one score each; empty without a result.
    acc, nmi, ari : list of float
        Accuracy, mutual information normalized by the mean entropy, adjusted Rand index.
    seconds, cpu_seconds : float or None
        Of one fit: median over the seeds.
    peak_mib : float or None
        Peak memory of the process above that before the first fit.
    reason : str or None
        Reason for a missing result; None otherwise.
    code : str or None
        Version of the code that the method used; None if it was not run, and in files of earlier versions.
    """

    board: str
    set: str
    method: str
    seeds: list[int]
    acc: list[float]
    nmi: list[float]
    ari: list[float]
    seconds: float | None
    cpu_seconds: float | None
    peak_mib: float | None
    reason: str | None
    code: str | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """Board, data set and method."""
        return self.board, self.set, self.method


@dataclass(frozen=True)
class OracleEntry:
    """The best scores over a grid of parameters, selected with the classes: an upper bound, not a result.

    Attributes
    ----------
    board, set, method : str
    acc, nmi, ari : float or None
    points : int
        Number of points of the grid that were finished.
    parameters : dict
        Those with the best accuracy.
    reason : str or None
        Reason for a missing result; None otherwise.
    code : str or None
        Version of the code of the method and of the points of the grid; None if nothing was run.
    """

    board: str
    set: str
    method: str
    acc: float | None
    nmi: float | None
    ari: float | None
    points: int
    parameters: dict[str, Any]
    reason: str | None
    code: str | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """Board, data set and method."""
        return self.board, self.set, self.method


@dataclass(frozen=True)
class Leaderboard:
    """The content of a result file.

    Attributes
    ----------
    format : int
    code : CodeEntry
    limits : LimitEntry
    machine : str
    created : str
        Date, such as "2026-11-19".
    sets : list of SetEntry
    methods : list of MethodEntry
    cells : list of CellEntry
        One per data set and method.
    oracle : list of OracleEntry
    """

    format: int
    code: CodeEntry
    limits: LimitEntry
    machine: str
    created: str
    sets: list[SetEntry]
    methods: list[MethodEntry]
    cells: list[CellEntry]
    oracle: list[OracleEntry]


def write_leaderboard(path: Path, board: Leaderboard) -> Path:
    """Write results as ASCII JSON, one line per data set, method and cell.

    Parameters
    ----------
    path : Path
    board : Leaderboard

    Returns
    -------
    Path
    """
    _check_references(board)
    lines = [f'"{name}": {_as_text(value)}' for name, value in packed(board).items()]
    return write_text(path, "{\n" + ",\n".join(lines) + "\n}\n")


def read_leaderboard(path: Path) -> Leaderboard:
    """Read a file of `write_leaderboard`.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Leaderboard

    Raises
    ------
    ValueError
        If the file does not follow the schema; the message names the entry.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
        if isinstance(content, dict) and content.get("format", FORMAT) != FORMAT:
            raise ValueError(f"format is {content['format']!r}, but this version reads format {FORMAT}")
        board: Leaderboard = built(Leaderboard, content, "file")
        _check_references(board)
    except ValueError as error:
        raise ValueError(f"{str(path)!r} is not a result file of `latefusion leaderboard`: {error}.") from error
    return board


def merge_leaderboards(boards: Sequence[Leaderboard]) -> Leaderboard:
    """Merge the results of several runs, for example when cells were divided among machines.

    Parameters
    ----------
    boards : sequence of Leaderboard
        Of the same version of the code, with the same limits.

    Returns
    -------
    Leaderboard
        For every cell, the result with the most seeds; the first one if there are several. A cell of a data set and a
        method of different files that is in no file was not run.

    Raises
    ------
    ValueError
        If code or limits differ, or a data set or a method of one name differs.
    """
    first = boards[0]
    commits = {one.code.commit: None for one in boards if one.code.commit is not None}
    for what in ("code", "limits"):
        found = list(dict.fromkeys(one.code.version if what == "code" else one.limits for one in boards))
        if len(found) > 1:
            raise ValueError(
                f"The files have different {what}, {' and '.join(map(str, found))}, so their results cannot be merged. "
                f"Run one of them again with the {what} of the other."
            )
    sets = _united(_with_checksums(boards), lambda entry: (entry.board, entry.name), "data sets")
    methods = _united([one.methods for one in boards], lambda entry: entry.name, "methods")
    oracle = {entry.key: entry for one in reversed(boards) for entry in one.oracle}
    return dataclasses.replace(
        first,
        code=CodeEntry(first.code.version, next(iter(commits), None)),
        machine="; ".join(dict.fromkeys(one.machine for one in boards)),
        created=max(one.created for one in boards),
        sets=sets,
        methods=methods,
        cells=_best_cells([cell for one in boards for cell in one.cells], sets, methods),
        oracle=list(oracle.values()),
    )


def failed_cell(key: tuple[str, str, str], reason: str, code: str | None = None) -> CellEntry:
    """A cell without a result.

    Parameters
    ----------
    key : tuple of str
        Board, data set and method.
    reason : str
    code : str or None, default=None
        Version of the code that failed; None if nothing was run.

    Returns
    -------
    CellEntry
    """
    return CellEntry(*key, [], [], [], [], None, None, None, reason, code)


def _best_cells(
    cells: Sequence[CellEntry], sets: Sequence[SetEntry], methods: Sequence[MethodEntry]
) -> list[CellEntry]:
    found: dict[tuple[str, str, str], CellEntry] = {}
    for cell in cells:
        known = found.get(cell.key)
        if known is None or _rank(cell) > _rank(known):
            found[cell.key] = cell
    entered = {(cell.board, cell.method) for cell in cells}
    keys = [(one.board, one.name, method.name) for one in sets for method in methods]
    keys = [key for key in keys if (key[0], key[2]) in entered]
    return [found.get(key) or failed_cell(key, NOT_RUN) for key in keys]


def _rank(cell: CellEntry) -> tuple[int, bool]:
    """What makes one result of a cell better than another: more seeds, or at least a reason."""
    return len(cell.seeds), cell.reason != NOT_RUN


def _with_checksums(boards: Sequence[Leaderboard]) -> list[list[SetEntry]]:
    """The data sets of all files; the checksum of a set in a file of an earlier version is that of another file."""
    known = {(one.board, one.name): one.checksum for board in boards for one in board.sets if one.checksum}
    return [
        [dataclasses.replace(one, checksum=one.checksum or known.get((one.board, one.name))) for one in board.sets]
        for board in boards
    ]


def _united(lists: Iterable[Sequence[Any]], key: Any, what: str) -> list[Any]:
    found: dict[Any, Any] = {}
    for entry in (entry for one in lists for entry in one):
        if found.setdefault(key(entry), entry) != entry:
            raise ValueError(f"Two files have different {what} of the same name {entry.name!r}.")
    return list(found.values())


def _as_text(value: Any) -> str:
    if isinstance(value, list):
        return "[\n" + ",\n".join(json.dumps(one, allow_nan=False) for one in value) + "\n]"
    return json.dumps(value, allow_nan=False)


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"it contains {word}, which is not JSON")


def _check_references(board: Leaderboard) -> None:
    """Check what types cannot say: known words, names that exist once, equal lengths, and a reason or a result."""
    sets = [(one.board, one.name) for one in board.sets]
    methods = [one.name for one in board.methods]
    for where, names in (("sets", sets), ("methods", methods), ("cells", [one.key for one in board.cells])):
        repeated = [name for name, count in Counter(names).items() if count > 1]
        if repeated:
            raise ValueError(f"{where} contains {repeated[0]!r} more than once")
    for position, one in enumerate(board.sets):
        _check_word(one.board, BOARDS, f"sets[{position}].board")
        _check_word(one.kind, KINDS, f"sets[{position}].kind")
    for position, method in enumerate(board.methods):
        _check_word(method.family, FAMILIES, f"methods[{position}].family")
    known_sets, known_methods = set(sets), set(methods)
    parts: dict[str, Sequence[CellEntry | OracleEntry]] = {"cells": board.cells, "oracle": board.oracle}
    for where, entries in parts.items():
        for position, entry in enumerate(entries):
            if (entry.board, entry.set) not in known_sets:
                raise ValueError(
                    f"{where}[{position}] has the set {entry.set!r}, which the board {entry.board!r} lacks"
                )
            if entry.method not in known_methods:
                raise ValueError(f"{where}[{position}] has the unknown method {entry.method!r}")
    for position, cell in enumerate(board.cells):
        _check_cell(cell, f"cells[{position}]")


def _check_cell(cell: CellEntry, where: str) -> None:
    lengths = {name: len(getattr(cell, name)) for name in ("seeds", *SCORES)}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"{where} has lists of different lengths: {lengths}")
    if bool(cell.seeds) == (cell.reason is not None):
        raise ValueError(f"{where} must have either scores or a reason")


def _check_word(word: str, known: Sequence[str], where: str) -> None:
    if word not in known:
        raise ValueError(f"{where} is {word!r}, but must be one of {list(known)}")
