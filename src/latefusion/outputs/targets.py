"""Checks of output paths: never an input, and a file of another kind only with ``force``.

Every command, and every function that writes a file, calls `check_targets` before any computation.
"""

from __future__ import annotations

import csv
import itertools
import os
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from latefusion.atomic_files import check_target, is_special
from latefusion.datasets.tables import TABLE_SUFFIXES

# Columns of a table of labels, after the ids. Not every method has the last two. Memberships are written on request:
# that in the own cluster, then one column per cluster, with its number.
LABEL_COLUMNS = ("label", "confidence", "novelty")
# That of the own cluster, and with a number that of every cluster; on request.
MEMBERSHIP_COLUMN = "membership"
# Of a table of labels after an update: the cluster by the old model, and whether the sample is kept, moved or new.
UPDATE_COLUMNS = ("before", "change")
# First columns of a table of profiles.
PROFILE_COLUMNS = ("cluster", "view", "feature", "kind", "effect", "auc", "p", "p_adjusted")
WRITTEN_SUFFIXES = ("", ".csv", ".tsv", ".txt", ".parquet")
# The header of a model file.
MODEL_HEADER = "model.json"
# A header longer than this is not that of a table of labels.
LONGEST_HEADER = 10_000


class Kind(NamedTuple):
    """A kind of output.

    Attributes
    ----------
    name : str
        With an article.
    recognizes : callable
        Whether an existing path was written as this kind, by its content.
    suffixes : tuple of str
        Allowed suffixes; any if empty.
    parts : callable or None
        For a folder: files that may be written in it.
    """

    name: str
    recognizes: Callable[[Path], bool]
    suffixes: tuple[str, ...] = ()
    parts: Callable[[Path], list[Path]] | None = None


class Target(NamedTuple):
    """A file or folder to be written.

    Attributes
    ----------
    path : Path
    kind : Kind
    option : str
        Of the command line; empty in Python.
    """

    path: Path
    kind: Kind
    option: str = ""

    def __str__(self) -> str:
        return f"{self.option} {str(self.path)!r}".lstrip()

    @property
    def files(self) -> list[Path]:
        """The files that may be written."""
        return [self.path] if self.kind.parts is None else self.kind.parts(self.path)


def check_targets(targets: Sequence[Target], inputs: Sequence[Path] = (), *, force: bool = False) -> None:
    """Refuse outputs that would destroy something.

    Parameters
    ----------
    targets : sequence of Target
    inputs : sequence of Path, default=()
        Files and folders that are read. Links and other spellings of a path are the same file.
    force : bool, default=False
        Whether existing files of another kind may be replaced. Inputs may never be.

    Raises
    ------
    ValueError
        If an output is an input, would be read as part of an input folder, is the same file as another output, has
        a suffix of another kind, or would replace a file of another kind without ``force``.
    OSError
        If an output cannot be written.
    """
    for target in targets:
        _check_suffix(target)
        if target.kind.parts is None:
            check_target(target.path)
        elif target.path.is_file():
            raise NotADirectoryError(f"{target} is a file. Give the name of a folder.")
        for file, source in itertools.product(target.files, inputs):
            _check_not_input(target, file, source)
    for one, other in itertools.combinations(targets, 2):
        if _is_same_file(one.path, other.path):
            raise ValueError(f"{one} and {other} are the same file. Give each output a name of its own.")
    for target in targets:
        if not force and not _may_be_replaced(target):
            force_it = "add --force" if target.option else "pass force=True"
            use = "replace it" if target.kind.parts is None else "write into it"
            raise ValueError(
                f"{target} exists and is not {target.kind.name}. Give another name, or {force_it} to {use}."
            )


def _check_suffix(target: Target) -> None:
    suffixes, suffix = target.kind.suffixes, target.path.suffix.lower()
    if suffixes and suffix not in suffixes and not is_special(target.path):
        found = f"ends in {suffix!r}" if suffix else "has no suffix"
        raise ValueError(
            f"{target} {found}, but {target.kind.name} is written as {', '.join(filter(None, suffixes))}. Choose "
            f"one of these."
        )


def _check_not_input(target: Target, file: Path, source: Path) -> None:
    if not source.is_dir():
        members = [source] if source.exists() else []  # reading it will raise its own error
    else:
        members = [member for member in source.iterdir() if _is_table(member)]
        if _is_table(file) and _is_same_file(file.parent, source):
            raise ValueError(
                f"{target} would be read as a table of the input folder {str(source)!r} from then on. Write to another "
                f"folder."
            )
    for member in members:
        if _is_same_file(file, member):
            raise ValueError(f"{target} would overwrite the input {str(member)!r}. Give another name.")


def _is_table(path: Path) -> bool:
    return path.suffix.lower() in TABLE_SUFFIXES


def _is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths are one file, which need not exist; devices and pipes may be named twice."""
    if is_special(one) or is_special(other):
        return False
    if one.exists() and other.exists():
        return os.path.samefile(one, other)
    first, second = one.resolve(), other.resolve()  # on some file systems, names that differ by case are one file
    return first.parent == second.parent and first.name.casefold() == second.name.casefold()


def _may_be_replaced(target: Target) -> bool:
    path = target.path
    if not path.exists() or is_special(path) or (path.is_file() and path.stat().st_size == 0):
        return True
    try:
        return target.kind.recognizes(path)
    except (OSError, ValueError, ImportError, csv.Error, zipfile.BadZipFile):  # of another kind, or not readable
        return False


def _is_labels(path: Path) -> bool:
    return any(_are_label_columns(names) for names in _headers(path))


def _are_label_columns(names: Sequence[str]) -> bool:
    rest = [str(name) for name in names[2:] if not str(name).startswith(f"{MEMBERSHIP_COLUMN}_")]
    return tuple(names[1:2]) == LABEL_COLUMNS[:1] and set(rest) <= {
        *LABEL_COLUMNS[1:],
        MEMBERSHIP_COLUMN,
        *UPDATE_COLUMNS,
    }


def _is_profiles(path: Path) -> bool:
    return any(tuple(names[: len(PROFILE_COLUMNS)]) == PROFILE_COLUMNS for names in _headers(path))


def _headers(path: Path) -> list[list[str]]:
    """The names of the columns of a table, for every separator that a text table may have."""
    with path.open("rb") as stream:
        if stream.read(4) == b"PAR1":
            import pyarrow.parquet as parquet

            return [list(parquet.read_schema(path).names)]
    with path.open(encoding="utf-8", newline="") as text:
        header = text.readline(LONGEST_HEADER)
    return [next(csv.reader([header], delimiter=one), []) for one in ",\t"]


def _is_model(path: Path) -> bool:
    with zipfile.ZipFile(path) as archive:
        return MODEL_HEADER in archive.namelist()


def _is_report(path: Path) -> bool:
    content = path.read_bytes()
    return content.lstrip()[:9].lower() == b"<!doctype" and b"latefusion" in content


LABELS = Kind("a table of labels", _is_labels, WRITTEN_SUFFIXES)
PROFILES = Kind("a table of profiles", _is_profiles, WRITTEN_SUFFIXES)
MODEL = Kind("a model", _is_model)
REPORT = Kind("a report of latefusion", _is_report, (".html", ".htm"))
