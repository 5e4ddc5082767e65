"""The data sets of an evaluation: files of a folder, or embedded data sets."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from latefusion.datasets import catalogue, find_datasets, load_views, make_views
from latefusion.experiments.printed import paper_dataset
from latefusion.types import MultiViewDataset, Views


def _planted() -> MultiViewDataset:
    return make_views(300, 5, noise=1.5, random_state=0)


EMBEDDED: dict[str, Callable[[], MultiViewDataset]] = {"planted": _planted, **catalogue.EMBEDDED}


@dataclass(frozen=True)
class Source:
    """One data set of an evaluation, with all that is needed to load it in another process and to identify it later.

    Attributes
    ----------
    name : str
        Name of the file without ending, or of an embedded set.
    path : str
        Empty for an embedded set.
    checksum : str
        SHA-256 of the file, or of the arrays; also of the names of views and the number of samples if not all are used.
    n_samples, n_views, n_clusters : int
    use : tuple of str
        Names of the views to use; all when empty.
    most : int
        Number of samples to use, evenly spaced; 0 for all.
    """

    name: str
    path: str
    checksum: str
    n_samples: int
    n_views: int
    n_clusters: int
    use: tuple[str, ...] = ()
    most: int = 0

    @property
    def title(self) -> str:
        """The paper's name of the data set where it has one."""
        known = paper_dataset(self.name)
        return self.name if known is None else known[0].paper

    def load(self) -> MultiViewDataset:
        """Load the data; the last data set is cached."""
        return _load(self)


class Found(NamedTuple):
    """The data sets that can be evaluated, and those that cannot, with the reason.

    Attributes
    ----------
    sources : list of Source
        By number of samples.
    refused : dict of str to str
    """

    sources: list[Source]
    refused: dict[str, str]


def find_sources(
    folder: Path | None = None, only: Sequence[str] = (), *, most_embedded: int = 0, most_samples: int = 0
) -> Found:
    """Data sets for an evaluation.

    Parameters
    ----------
    folder : Path, default=None
        All files that `load_views` reads are used; the embedded data sets when None.
    only : sequence of str, default=()
        Names of files without ending, of data sets of the paper, or of embedded sets; all when empty.
    most_embedded : int, default=0
        Samples to use of an embedded set; 0 for all.
    most_samples : int, default=0
        Leave out files with more samples, unless ``only`` names them; 0 for no bound.

    Returns
    -------
    Found
    """
    paths = {} if folder is None else _files(folder)
    wanted = [_known(name, paths) for name in only] or list(paths or EMBEDDED)
    sources, refused = [], {}
    for name in dict.fromkeys(wanted):
        try:
            source = _file_source(paths[name]) if name in paths else _embedded_source(name, most_embedded)
        except (ValueError, OSError) as error:
            if only:
                raise
            refused[name] = str(error)
            continue
        if most_samples and not only and source.path and source.n_samples > most_samples:
            refused[name] = f"left out: {source.n_samples} samples are more than {most_samples}"
        else:
            sources.append(source)
    return Found(sorted(sources, key=lambda source: (source.n_samples, source.name)), refused)


def _files(folder: Path) -> dict[str, Path]:
    found = [one.path for one in find_datasets(folder) if one.path is not None and one.path.parent == folder]
    if not found:
        raise FileNotFoundError(
            f"The data folder {str(folder)!r} has no data set that can be read. `latefusion info --datasets` "
            f"lists the files that are searched."
        )
    return {path.stem: path for path in sorted(found)}


def _known(name: str, paths: dict[str, Path]) -> str:
    known = paper_dataset(name)
    files = [] if known is None else [Path(copy.file).stem for copy in known[0].copies]
    for candidate in [name, *files]:
        if candidate in paths or candidate in EMBEDDED:
            return candidate
    there = ", ".join([*paths, *EMBEDDED])
    raise ValueError(
        f"Unknown data set {name!r}. Available are {there}. Set the folder of files with --data or LATEFUSION_DATA."
    )


def _file_source(path: Path) -> Source:
    known = paper_dataset(path.stem)
    return _described(path.stem, str(path), file_checksum(path), () if known is None else known[1].views, 0)


def _embedded_source(name: str, most: int) -> Source:
    digest = hashlib.sha256()
    for array in EMBEDDED[name]().views.arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return _described(name, "", digest.hexdigest(), (), most)


def _described(name: str, path: str, checksum: str, use: tuple[str, ...], most: int) -> Source:
    partial = [",".join(use)] * bool(use) + [f"{most} samples"] * bool(most)
    data = _load(Source(name, path, " ".join([checksum, *partial]), 0, 0, 0, use, most))
    if data.target is None:
        raise ValueError(f"{name} has no classes, which the scores need.")
    n_clusters = len(np.unique(data.target))
    return Source(
        name, path, " ".join([checksum, *partial]), len(data.views), data.views.n_views, n_clusters, use, most
    )


def file_checksum(path: Path) -> str:
    """Of the file, or of all files of a folder of tables."""
    digest = hashlib.sha256()
    for one in sorted(path.iterdir()) if path.is_dir() else [path]:
        with one.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


@lru_cache(maxsize=1)
def _load(source: Source) -> MultiViewDataset:
    data = load_views(source.path) if source.path else EMBEDDED[source.name]()
    views, target = data.views, data.target
    if source.use:
        arrays = dict(views.items())
        absent = [name for name in source.use if name not in arrays]
        if absent:
            raise ValueError(f"{source.path!r} has no views {absent}; it has {list(views.names)}.")
        views = Views({name: arrays[name] for name in source.use})
    if source.most and source.most < len(views):
        rows = np.linspace(0, len(views) - 1, source.most).astype(np.intp)
        views, target = views[rows], None if target is None else target[rows]
    return MultiViewDataset(views, target, data.name, data.target_names, data.description, data.kind)


def standardized(data: MultiViewDataset) -> list[Any]:
    """Views for the methods of the paper: columns of dense views have unit variance, other views do not change."""
    if data.kind == "kernels":
        return list(data.views.arrays)
    return [array if scipy.sparse.issparse(array) else _unit_variance(array) for array in data.views.arrays]


def _unit_variance(array: Any) -> Any:
    columns = np.asarray(array, dtype=np.float64)
    spread = columns.std(axis=0)
    return (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
