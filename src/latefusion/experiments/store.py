"""Results on disk: one row per cell in an SQLite file, each written atomically.

A row belongs to the code that computed it and to the data it was computed from. Rows of other versions are kept but not
used.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from latefusion.experiments.protocol import Point
from latefusion.version import __version__

SCHEMA = """
CREATE TABLE IF NOT EXISTS cells (
    code TEXT, checksum TEXT, dataset TEXT, method TEXT, protocol TEXT, grid TEXT, seeds TEXT,
    seconds REAL, reason TEXT, points TEXT,
    PRIMARY KEY (code, checksum, dataset, method, protocol, grid, seeds)
)
"""
PACKAGE = Path(__file__).parents[1]
# Packages that cannot change a result because they only draw, write and parse, except for the files named below.
SILENT_ROOMS = ("cli", "plots", "report", "outputs", "experiments")
COMPUTING_FILES = ("experiments/protocol.py", "experiments/sources.py")


class Keyed(Protocol):
    """A cell of any experiment."""

    @property
    def key(self) -> tuple[str, ...]:
        """Six texts that identify it: checksum of the data, data set, method, protocol, grid or settings, seeds."""

    def __hash__(self) -> int: ...


AnyKeyed = TypeVar("AnyKeyed", bound=Keyed)


class Outcome(NamedTuple):
    """The outcome of a cell.

    Attributes
    ----------
    seconds : float
    points : list of Point, or of another tuple
        The results; empty when it failed, unless it was stopped by a limit.
    reason : str
        Reason of a failure; empty otherwise.
    """

    seconds: float
    points: list[Any]
    reason: str = ""


class ResultStore:
    """Outcomes of cells in one file.

    Parameters
    ----------
    path : Path
        Created with its folder if it does not exist.
    code : str, default=None
        Version of the code; that of this package when None.
    point : type, default=Point
        The named tuple of one result.
    """

    def __init__(self, path: Path, code: str | None = None, point: type = Point) -> None:
        self.path = path
        self.point = point
        self.code = code_version() if code is None else code
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            words = f"The folder {str(path.parent)!r} cannot be created or opened: {error.strerror or error}."
            raise OSError(f"{words} Choose another --output.") from error
        with self._named():
            self._database = sqlite3.connect(path)
            with self._database:
                self._database.execute(SCHEMA)

    def record(self, cell: Keyed, outcome: Outcome) -> None:
        """Write the outcome of a cell to disk."""
        values = (outcome.seconds, outcome.reason, json.dumps(outcome.points))
        with self._named(), self._database:
            self._database.execute(
                f"INSERT OR REPLACE INTO cells VALUES ({', '.join('?' * 10)})", (self.code, *cell.key, *values)
            )

    def load(self, cells: Sequence[AnyKeyed]) -> dict[AnyKeyed, Outcome]:
        """The outcomes of the cells that are done, in their order."""
        with self._named():
            rows = self._database.execute("SELECT * FROM cells WHERE code = ?", (self.code,)).fetchall()
        done = {row[:7]: row[7:] for row in rows}
        found = {}
        for cell in cells:
            row = done.get((self.code, *cell.key))
            if row is not None:
                seconds, reason, text = row
                found[cell] = Outcome(seconds, [self.point(*one) for one in json.loads(text)], reason)
        return found

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise OSError(
                f"The results in {str(self.path)!r} cannot be read or written: {error}. Earlier results are intact. "
                f"Free disk space, check the permissions or choose another --output, and run the same command again to "
                f"continue."
            ) from error


def code_version(folder: Path = PACKAGE) -> str:
    """Version of the package and a hash of those source files that numbers can depend on."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        if name.split("/")[0] not in SILENT_ROOMS or name in COMPUTING_FILES:
            digest.update(name.encode() + path.read_bytes())
    return f"{__version__}+{digest.hexdigest()[:12]}"
