"""Known data sets: those of the paper and other common ones, which of them are available, and how to get the others.

Their descriptions are in ``catalogue.toml`` in the same folder.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import importlib.resources
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from latefusion.datasets import fetchers
from latefusion.datasets.download import RemoteFile, cache_folder, download
from latefusion.datasets.embedded import load_breast_cancer_views, load_digits_views
from latefusion.datasets.files import SUFFIXES, load_views, read_header
from latefusion.datasets.headers import Header
from latefusion.datasets.labels import plain
from latefusion.datasets.tables import TABLE_SUFFIXES
from latefusion.types import MultiViewDataset

EMBEDDED: dict[str, Callable[[], MultiViewDataset]] = {
    "digits": load_digits_views,
    "breast_cancer": load_breast_cancer_views,
}
# Tables have no headers with sizes, so larger tables are listed without sizes.
LARGEST_TABLE = 20 * 2**20


@dataclass(frozen=True)
class DatasetCopy:
    """A file with a data set, or with a similar one.

    Attributes
    ----------
    file : str
        Its name in the data folder.
    likeness : str
        How it relates to the data of the paper: "same kernels", "same samples, own kernels", "recomputed features" or
        "relative"; empty for data sets that are not in the paper.
    views : tuple of str
        The views that the paper uses, if the file has more.
    note : str
    url : str
        Where the file itself can be downloaded, if anywhere.
    """

    file: str
    likeness: str = ""
    views: tuple[str, ...] = ()
    note: str = ""
    url: str = ""


@dataclass(frozen=True)
class DatasetEntry:
    """The description of a data set.

    Attributes
    ----------
    name : str
        Name in `load_dataset`.
    title : str
        Common name.
    n_samples, n_views, n_classes : int
        As stated in the paper, or otherwise as in the file.
    kind : {"features", "kernels"}
    source : str
        Publisher or address.
    licence : str
        License stated by the publisher.
    copies : tuple of DatasetCopy
        The files that are searched for, the closest to the paper first.
    paper : str
        Row in the tables of the paper; empty if the paper does not use it.
    fetcher : str
        The function in `latefusion.datasets` that downloads it, if there is one.
    fetcher_options : dict
        Arguments of the fetcher.
    note : str
    """

    name: str
    title: str
    n_samples: int
    n_views: int
    n_classes: int
    kind: Literal["features", "kernels"]
    source: str
    licence: str
    copies: tuple[DatasetCopy, ...]
    paper: str = ""
    fetcher: str = ""
    fetcher_options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    note: str = ""

    def how_to_get(self) -> str:
        """How to get the data set if no copy is available."""
        files = " or ".join(copy.file for copy in self.copies)
        if self.fetcher or any(copy.url for copy in self.copies):
            return f"load_dataset({self.name!r}, download=True), or put {files} into the data folder ({self.source})"
        return f"put {files} into the data folder; it comes from {self.source}"


@dataclass(frozen=True)
class FoundDataset:
    """A data set and its file, if available.

    Attributes
    ----------
    name : str
    entry : DatasetEntry or None
        None for files that are not in the catalogue.
    copy : DatasetCopy or None
    path : Path or None
        None if no copy is available.
    header : Header or None
        None if there is no copy, or it cannot be read.
    problem : str
        Why it cannot be read.
    """

    name: str
    entry: DatasetEntry | None = None
    copy: DatasetCopy | None = None
    path: Path | None = None
    header: Header | None = None
    problem: str = ""


@functools.cache
def known_datasets() -> tuple[DatasetEntry, ...]:
    """All known data sets, those of the paper first.

    Returns
    -------
    tuple of DatasetEntry

    Examples
    --------
    >>> from latefusion.datasets import known_datasets
    >>> sum(entry.paper != "" for entry in known_datasets())
    18
    """
    text = importlib.resources.files("latefusion.datasets").joinpath("catalogue.toml").read_text(encoding="utf-8")
    entries = []
    for fields in tomllib.loads(text)["dataset"]:
        copies = [DatasetCopy(**{**copy, "views": tuple(copy.get("views", ()))}) for copy in fields.pop("copies")]
        entries.append(DatasetEntry(**fields, copies=tuple(copies)))
    return tuple(entries)


def data_folder(data: str | os.PathLike[str] | None = None) -> Path | None:
    """The folder with the user's data sets.

    Parameters
    ----------
    data : str or path-like, default=None
        By default the environment variable ``LATEFUSION_DATA``.

    Returns
    -------
    Path or None
        None if neither is given.
    """
    chosen = data or os.environ.get("LATEFUSION_DATA")
    if not chosen:
        return None
    folder = Path(chosen).expanduser()
    try:
        os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError) as error:
        origin = "data" if data else "LATEFUSION_DATA"
        message = f"{origin} must be a folder of data sets; {str(folder)!r} is not a folder."
        raise NotADirectoryError(message) from error
    except PermissionError as error:
        message = f"Permission denied: the data folder {str(folder)!r} cannot be read. Change its permissions."
        raise PermissionError(message) from error
    return folder


def find_datasets(data: str | os.PathLike[str] | None = None) -> list[FoundDataset]:
    """All data sets of the catalogue, present or not, then all other files of the data folder.

    Parameters
    ----------
    data : str or path-like, default=None
        The data folder; by default the environment variable ``LATEFUSION_DATA``. Downloads in the cache count, too.

    Returns
    -------
    list of FoundDataset
        A file that cannot be read is listed with its problem.
    """
    folders = _folders(data)
    found = []
    for entry in known_datasets():
        copy, path = _copy_of(entry, folders)
        found.append(_inspected(FoundDataset(entry.name, entry, copy, path)))
    known = {item.path for item in found}
    taken = {copy.file.lower() for entry in known_datasets() for copy in entry.copies}
    folder = data_folder(data)
    for path in [] if folder is None else _data_files(folder):
        if path not in known and path.name.lower() not in taken:
            found.append(_inspected(FoundDataset(path.stem if path.is_file() else path.name, path=path)))
    return found


def load_dataset(name: str, *, data: str | os.PathLike[str] | None = None, download: bool = False) -> MultiViewDataset:
    """A data set by name: of the catalogue, of the data folder, or one that comes with scikit-learn.

    Parameters
    ----------
    name : str
        A name of the catalogue (``latefusion info --datasets`` lists them), the name of a file in the data folder
        without its ending, ``digits``, or ``breast_cancer``. Case, hyphens and underscores do not matter.
    data : str or path-like, default=None
        The data folder; by default the environment variable ``LATEFUSION_DATA``.
    download : bool, default=False
        Download it into the cache if it is not available and has an address.

    Returns
    -------
    MultiViewDataset
        The description states how it relates to the data of the paper, if the paper uses it.

    Examples
    --------
    >>> from latefusion.datasets import load_dataset
    >>> load_dataset("breast-cancer").views
    Views(569 samples; mean: 10, error: 10, worst: 10)
    """
    for embedded, load in EMBEDDED.items():
        if plain(embedded) == plain(name):
            return load()
    entry = next((entry for entry in known_datasets() if plain(name) in _names(entry)), None)
    if entry is None:
        return _load_unlisted(name, data)
    copy, path = _copy_of(entry, _folders(data))
    if path is None and download:
        copy, dataset = _downloaded(entry)
    elif path is None:
        folder = data_folder(data)
        where = "no data folder is set (LATEFUSION_DATA)" if folder is None else f"it is not in {str(folder)!r}"
        raise FileNotFoundError(
            f"The data set {entry.name!r} ({entry.title}) is not available: {where}. To get it: {entry.how_to_get()}."
        )
    else:
        dataset = load_views(path)
    likeness = f"Data set {entry.paper} of the paper: {copy.likeness}. " if entry.paper and copy is not None else ""
    remark = f"{copy.note[0].upper()}{copy.note[1:]}. " if copy is not None and copy.note else ""
    description = f"{entry.note} {likeness}{remark}{dataset.description} Licence: {entry.licence}. From {entry.source}."
    return dataclasses.replace(dataset, name=entry.name, description=description.strip())


def _names(entry: DatasetEntry) -> set[str]:
    return {plain(name) for name in (entry.name, entry.title, *(Path(copy.file).stem for copy in entry.copies))}


def _folders(data: str | os.PathLike[str] | None) -> list[Path]:
    folder = data_folder(data)
    return [one for one in (folder, cache_folder()) if one is not None and one.is_dir()]


def _copy_of(entry: DatasetEntry, folders: list[Path]) -> tuple[DatasetCopy | None, Path | None]:
    """The best available copy."""
    present = {path.name.lower(): path for one in reversed(folders) for path in one.iterdir()}
    for copy in entry.copies:
        if path := present.get(copy.file.lower()):
            return copy, path
    return None, None


def _data_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir():
            if _may_hold_tables(path):
                yield path
        elif path.suffix.lower() in SUFFIXES and path.suffix.lower() != ".txt":  # mostly notes
            yield path


def _may_hold_tables(folder: Path) -> bool:
    try:
        return any(inside.suffix.lower() in TABLE_SUFFIXES for inside in folder.iterdir())
    except PermissionError:  # reported when the file is read
        return True


def _inspected(found: FoundDataset) -> FoundDataset:
    """A data set with its sizes, or with the reason why they are unknown."""
    path = found.path
    if path is None:
        return found
    try:
        inside = list(path.iterdir()) if path.is_dir() else [path]
        size = sum(one.stat().st_size for one in inside)
        if path.suffix.lower() not in (".npz", ".mat", ".h5mu") and size > LARGEST_TABLE:
            return dataclasses.replace(found, problem="a large table; sizes were not read")
        return dataclasses.replace(found, header=read_header(path))
    except (ValueError, OSError, ImportError) as error:
        return dataclasses.replace(found, problem=str(error))


def _downloaded(entry: DatasetEntry) -> tuple[DatasetCopy | None, MultiViewDataset]:
    if entry.fetcher:
        fetched: MultiViewDataset = getattr(fetchers, entry.fetcher)(**entry.fetcher_options)
        # A download is described by the same copy as a file in the data folder.
        return next((copy for copy in entry.copies if copy.file.endswith(".npz")), None), fetched
    copy = next((copy for copy in entry.copies if copy.url), None)
    if copy is None:
        raise FileNotFoundError(f"The data set {entry.name!r} cannot be downloaded: {entry.how_to_get()}.")
    return copy, load_views(download(RemoteFile(copy.url, copy.file)))


def _load_unlisted(name: str, data: str | os.PathLike[str] | None) -> MultiViewDataset:
    folder = data_folder(data)
    files = [] if folder is None else list(_data_files(folder))
    for path in files:
        if plain(name) in (plain(path.stem), plain(path.name)):
            return load_views(path)
    names = [*(entry.name for entry in known_datasets()), *EMBEDDED, *(path.stem for path in files)]
    close = difflib.get_close_matches(name.lower(), names, n=3) or names
    where = "and no data folder is set (LATEFUSION_DATA)" if folder is None else f"nor a file in {str(folder)!r}"
    raise ValueError(
        f"Unknown data set {name!r}: it is not in the catalogue, {where}. Did you mean {', '.join(close)}?"
    )
