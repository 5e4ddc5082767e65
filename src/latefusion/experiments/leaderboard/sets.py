"""The data sets of the boards: files, embedded and synthetic ones, with rows of views removed, and as clusterings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.datasets import catalogue, find_datasets
from latefusion.experiments.leaderboard.ensembles import ensemble_sets
from latefusion.experiments.leaderboard.problems import SYNTHETIC, BoardSet, class_codes, load_data, mask_of_seed
from latefusion.experiments.leaderboard.results import SetEntry, ViewEntry
from latefusion.experiments.sources import file_checksum
from latefusion.types import Views

# Probabilities with which rows are removed, and the largest data sets that this is done with.
RATES = (0.3, 0.5, 0.7)
MOST_SAMPLES_DRAWN = 1000
# Arrays of an archive with this prefix are masks of observed rows that were published with the data.
MASK_PREFIX = "mask_"


class FoundSets(NamedTuple):
    """The data sets of the boards, and files that cannot be used, with the reason.

    Attributes
    ----------
    sets : list of BoardSet
    refused : dict of str to str
    """

    sets: list[BoardSet]
    refused: dict[str, str]


def find_sets(
    paths: Sequence[Path], boards: Sequence[str], *, only: Sequence[str] = (), max_samples: int = 10_000
) -> FoundSets:
    """The data sets of the boards.

    Parameters
    ----------
    paths : sequence of Path
        Files, and folders of files, that `load_views` reads; the embedded data sets are added.
    boards : sequence of {"complete", "missing", "large", "clusterings"}
    only : sequence of str, default=()
        Names of data sets as on a board, or of those from which they are made; all when empty.
    max_samples : int, default=10_000
        Larger data sets are on the board "large".

    Returns
    -------
    FoundSets
    """
    origins = _origins(paths, with_synthetic="large" in boards)
    sets, refused, names = list[BoardSet](), {}, list[str]()
    for name, path in origins.items():
        if only and not any(one == name or one.startswith(f"{name}, ") for one in only):
            continue
        try:
            own = list(_sets_of(path, name, max_samples))
        except (ValueError, OSError) as error:
            refused[name] = str(error)
            continue
        names += [one.name for one in own]
        sets += [one for one in own if one.entry.board in boards and (not only or {name, one.name} & {*only})]
    unknown = [name for name in only if name not in {*names, *origins}]
    if unknown:
        raise ValueError(f"Unknown data set {unknown[0]!r}. Available are {', '.join(origins)}. Add files with --data.")
    return FoundSets(sets, refused)


def _origins(paths: Sequence[Path], *, with_synthetic: bool) -> dict[str, str]:
    """Path of every data set by its name; the path of embedded and synthetic ones is empty."""
    found = dict.fromkeys([*catalogue.EMBEDDED, *(SYNTHETIC if with_synthetic else ())], "")
    for path in (file for one in paths for file in _files(one)):
        if path.stem in found:
            other = found[path.stem] or "an embedded data set"
            raise ValueError(f"{str(path)!r} has the name of {other!r}. Rename the file: names must be unique.")
        found[path.stem] = str(path)
    return found


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise FileNotFoundError(f"File or folder not found: {str(path)!r}. Check --data.")
    if path.is_file():
        return [path]
    found = [one.path for one in find_datasets(path) if one.path is not None and one.path.parent == path]
    if not found:
        raise FileNotFoundError(f"The folder {str(path)!r} has no data set that can be read. Check --data.")
    return sorted(set(found))


def _sets_of(path: str, name: str, max_samples: int) -> Iterator[BoardSet]:
    """All sets that are made of one data set: itself, with published masks, with removed rows, and labelings of it."""
    whole = _described(path, name, max_samples)
    yield whole
    yield from ensemble_sets(whole)
    entry = whole.entry
    if entry.missing or entry.kind != "features":
        return
    for key, missing in _masks(path, (entry.n_samples, len(entry.views))):
        own = _incomplete(entry, f"{name}, mask {key.removeprefix(MASK_PREFIX)}", missing)
        yield replace(whole, entry=own, checksum=f"{whole.checksum} {key}", mask=key)
    if entry.n_samples <= MOST_SAMPLES_DRAWN and len(entry.views) > 1:
        for rate in RATES:
            missing = 1 - mask_of_seed(entry.n_samples, len(entry.views), rate, 0).mean()
            own = _incomplete(entry, f"{name}, {rate:.0%} missing".replace("%", " %"), float(missing))
            yield replace(whole, entry=own, checksum=f"{whole.checksum} {rate}", rate=rate)


def _incomplete(entry: SetEntry, name: str, missing: float) -> SetEntry:
    return replace(entry, name=name, title=name.replace(entry.name, entry.title), board="missing", missing=missing)


def _described(path: str, name: str, max_samples: int) -> BoardSet:
    data = load_data(path, name)
    if data.target is None or class_codes(data.target).max() < 1:
        raise ValueError(f"{path or name!r} has no classes, which the scores need. Add an array y with two or more.")
    pairs = zip(data.views.names, data.views.widths, strict=True)
    views = tuple(ViewEntry(view, width) for view, width in pairs)
    missing = 1 - float(_observed(data.views).mean())
    board = "missing" if missing else "large" if len(data.views) > max_samples else "complete"
    codes = class_codes(data.target)
    entry = SetEntry(name, name, board, len(codes), int(codes.max()) + 1, data.kind, views, missing)
    return BoardSet(entry, path, name, file_checksum(Path(path)) if path else _array_checksum(data.views.arrays))


def _observed(views: Views) -> NDArray[np.bool_]:
    """Which views of which samples are observed: not masked, and not NaN in every column of a dense view."""
    empty = [
        np.isnan(array).all(axis=1) if isinstance(array, np.ndarray) and array.dtype.kind == "f" else False
        for array in views.arrays
    ]
    return views.observed & ~np.column_stack([np.broadcast_to(one, len(views)) for one in empty])


def _masks(path: str, shape: tuple[int, int]) -> Iterator[tuple[str, float]]:
    """Name and share of missing rows of every published mask of a file, without those that remove nothing."""
    if not path.endswith(".npz"):
        return
    with np.load(path, allow_pickle=False) as archive:
        for key in filter(lambda name: name.startswith(MASK_PREFIX), archive.files):
            mask = archive[key]
            if mask.dtype == bool and mask.shape == shape and not mask.all():
                yield key, 1 - float(mask.mean())


def _array_checksum(arrays: Iterable[Any]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
