"""Public multi-view data sets, downloaded on first use and kept in the cache (see `latefusion.datasets.download`).

Their publishers state no checksums, so the checksum of the first download is stored and required from then on.
"""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse
from numpy.typing import NDArray

from latefusion.datasets.download import RemoteFile, download
from latefusion.datasets.joining import Part, join_samples
from latefusion.datasets.labels import encode_labels
from latefusion.types import MultiViewDataset, Views

UCI_MULTIFEATURE = RemoteFile(
    "https://archive.ics.uci.edu/static/public/72/multiple+features.zip", "uci_multiple_features.zip"
)
THREE_SOURCES = RemoteFile("http://mlg.ucd.ie/files/datasets/3sources.zip", "3sources.zip")
CITATIONS = {
    name: RemoteFile(f"https://linqs-data.soe.ucsc.edu/public/lbc/{name}.tgz", f"{name}.tgz")
    for name in ("cora", "citeseer")
}

DIGIT_FILES = {view: f"mfeat-{view.lower()}" for view in ("FAC", "FOU", "KAR", "MOR", "PIX", "ZER")}
N_DIGITS = 10
NEWS_SOURCES = {"BBC": "bbc", "Guardian": "guardian", "Reuters": "reuters"}
# Errors that the standard library raises for damaged archives.
UNREADABLE = (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, tarfile.TarError, zlib.error)


def fetch_uci_multifeature(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
) -> MultiViewDataset:
    """The UCI Multiple Features data set: 2000 handwritten digits from Dutch utility maps in six views.

    ==== ======= ===============================
    view columns features
    ==== ======= ===============================
    FAC      216 profile correlations
    FOU       76 Fourier coefficients
    KAR       64 Karhunen-Loève coefficients
    MOR        6 morphological features
    PIX      240 pixel averages in 2 × 3 windows
    ZER       47 Zernike moments
    ==== ======= ===============================

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder for the download; by default ``LATEFUSION_CACHE``, or the cache of this platform.
    download_if_missing : bool, default=True
        If False, a missing file is an error.

    Returns
    -------
    MultiViewDataset
        The target is the digit, 0 to 9, 200 of each.

    Notes
    -----
    Given by Robert P. W. Duin to the UCI Machine Learning Repository, https://archive.ics.uci.edu/dataset/72, which
    publishes it under CC BY 4.0 (doi 10.24432/C5HC70).
    """
    path = download(UCI_MULTIFEATURE, folder=data_home, download_if_missing=download_if_missing)
    members = _members(path, DIGIT_FILES.values())
    views = {name: _parsed(path, file, np.loadtxt, io.BytesIO(members[file])) for name, file in DIGIT_FILES.items()}
    lengths = {name: view.shape[0] for name, view in views.items()}
    n_samples = lengths["FAC"]
    if set(lengths.values()) != {n_samples} or n_samples % N_DIGITS:
        raise ValueError(f"{str(path)!r}: its views have {lengths} rows, but equally many of each digit are expected.")
    # The files have no labels. The digits are sorted, with equally many of each.
    target = np.repeat(np.arange(N_DIGITS), n_samples // N_DIGITS)
    return MultiViewDataset(
        views=Views(views),
        target=target,
        name="mfeat",
        target_names=tuple(map(str, range(N_DIGITS))),
        description=(
            "Handwritten digits in six views (Multiple Features, R. P. W. Duin, UCI Machine Learning Repository, "
            "CC BY 4.0, doi 10.24432/C5HC70)."
        ),
    )


def fetch_three_sources(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    only_complete: bool = False,
) -> MultiViewDataset:
    """News stories of the BBC, the Guardian and Reuters: word counts of 416 stories, 169 of them in all three.

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder for the download; by default ``LATEFUSION_CACHE``, or the cache of this platform.
    download_if_missing : bool, default=True
        If False, a missing file is an error.
    only_complete : bool, default=False
        Keep only the stories that are in all three sources. By default all stories are kept, and the mask of the views
        marks the missing ones.

    Returns
    -------
    MultiViewDataset
        Sparse views; the target is the dominant topic, one of six.

    Notes
    -----
    Collected by Derek Greene, http://mlg.ucd.ie/datasets/3sources.html. A licence is not stated; the articles belong to
    their publishers.
    """
    path = download(THREE_SOURCES, folder=data_home, download_if_missing=download_if_missing)
    files = [f"3sources_{name}.{kind}" for name in NEWS_SOURCES.values() for kind in ("mtx", "docs")]
    members = _members(path, [*files, "3sources.disjoint.clist"])
    topics = _parsed(path, "3sources.disjoint.clist", _topics, members["3sources.disjoint.clist"].decode())
    parts = {}
    for name, source in NEWS_SOURCES.items():
        # Terms are rows in the file, stories are columns.
        counts = _parsed(path, f"3sources_{source}.mtx", scipy.io.mmread, io.BytesIO(members[f"3sources_{source}.mtx"]))
        stories = np.array(members[f"3sources_{source}.docs"].decode().split())
        if counts.shape[1] != len(stories):
            raise ValueError(f"{str(path)!r}: {name} has {counts.shape[1]} columns but {len(stories)} stories.")
        parts[name] = Part(scipy.sparse.csr_array(counts.T), stories, f"{path.name}, {name}")
    stories_told = {story for part in parts.values() for story in np.asarray(part.ids).tolist()}
    views = join_samples(parts, sorted(stories_told, key=lambda story: (len(story), story)))
    assert views.sample_ids is not None  # for the type checker: all parts have ids
    unknown = [story for story in views.sample_ids.tolist() if story not in topics]
    if unknown:
        raise ValueError(f"{str(path)!r}: {len(unknown)} stories have no topic, such as {unknown[0]!r}.")
    words = np.array([topics[story] for story in views.sample_ids.tolist()])
    if only_complete and views.mask is not None:
        complete = views.mask.all(axis=1)
        words = words[complete]
        chosen = views[complete]
        views = Views(chosen.arrays, chosen.names, sample_ids=chosen.sample_ids)
    target, names = encode_labels(words, str(path))
    description = "News stories by three sources, word counts (3sources, D. Greene; licence not stated)."
    return MultiViewDataset(views, target, "3sources", names, description)


def fetch_citations(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
) -> MultiViewDataset:
    """Scientific papers with the views words and citations: Cora or CiteSeer.

    ======== ====== ===== ======== ================
    name     papers words subjects field
    ======== ====== ===== ======== ================
    cora       2708  1433        7 machine learning
    citeseer   3312  3703        6 computer science
    ======== ====== ===== ======== ================

    Parameters
    ----------
    name : {"cora", "citeseer"}
    data_home : str or path-like, default=None
        Folder for the download; by default ``LATEFUSION_CACHE``, or the cache of this platform.
    download_if_missing : bool, default=True
        If False, a missing file is an error.

    Returns
    -------
    MultiViewDataset
        Sparse views ``content`` and ``cites``, the latter symmetric; the target is the subject. Citations of papers
        that are not in the set are left out.

    Notes
    -----
    Published by the LINQS group, https://linqs.org/datasets. A licence is not stated.
    """
    if name not in CITATIONS:
        raise ValueError(f"name must be one of {', '.join(map(repr, CITATIONS))}, got {name!r}.")
    path = download(CITATIONS[name], folder=data_home, download_if_missing=download_if_missing)
    members = _members(path, (f"{name}.content", f"{name}.cites"))
    papers, words, subjects = _parsed(path, f"{name}.content", _paper_words, members[f"{name}.content"].decode())
    cites = _parsed(path, f"{name}.cites", _citations, members[f"{name}.cites"].decode(), papers)
    target, names = encode_labels(subjects, str(path))
    return MultiViewDataset(
        views=Views({"content": words, "cites": cites}, sample_ids=papers),
        target=target,
        name=name,
        target_names=names,
        description=f"Papers by their words and their citations ({name}, LINQS; licence not stated).",
    )


def _paper_words(text: str) -> tuple[list[str], scipy.sparse.csr_array, NDArray[Any]]:
    """Lines of paper, a zero or one per word, subject."""
    papers, subjects, columns, starts, widths = [], [], [], [0], set()
    for line in filter(None, map(str.strip, text.splitlines())):
        paper, *words, subject = line.split()
        papers.append(paper)
        subjects.append(subject)
        widths.add(len(words))
        columns += [column for column, word in enumerate(words) if word != "0"]
        starts.append(len(columns))
    if len(widths) != 1:
        raise ValueError(f"lines have {sorted(widths)} words")
    values = np.ones(len(columns), dtype=np.float32)
    return papers, scipy.sparse.csr_array((values, columns, starts), (len(papers), *widths)), np.array(subjects)


def _citations(text: str, papers: list[str]) -> scipy.sparse.csr_array:
    """Lines of cited and citing paper, as a symmetric matrix of zeros and ones."""
    row = {paper: number for number, paper in enumerate(papers)}
    pairs = [line.split() for line in text.splitlines() if line.strip()]
    known = [(row[cited], row[citing]) for cited, citing in pairs if cited in row and citing in row and cited != citing]
    first, second = np.array(known, dtype=np.intp).reshape(-1, 2).T
    indices = (np.concatenate([first, second]), np.concatenate([second, first]))
    matrix = scipy.sparse.coo_array((np.ones(2 * len(known), dtype=np.float32), indices), (len(papers), len(papers)))
    matrix = matrix.tocsr()
    matrix.data[:] = 1.0  # a pair may be listed more than once
    return matrix


def _topics(text: str) -> dict[str, str]:
    """Lines of a topic and its stories, such as ``sport: 3,17,20``."""
    topics: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        topic, _, stories = line.rpartition(":")
        topics |= {story.strip(): topic.strip() for story in stories.split(",")}
    return topics


def _members(path: Path, wanted: Any) -> dict[str, bytes]:
    """Files of an archive by name, from any folder or nested archive; nothing is unpacked to disk."""
    try:
        found = {name: content for name, content in _walk(path.name, path.read_bytes()) if name in set(wanted)}
    except UNREADABLE as error:
        raise ValueError(
            f"{str(path)!r} is not a readable archive ({type(error).__name__}: {error}): delete it to have it "
            f"downloaded again."
        ) from error
    absent = sorted(set(wanted) - set(found))
    if absent:
        raise ValueError(f"{str(path)!r} does not contain {', '.join(absent)}. Its publisher may have changed it.")
    return found


def _walk(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.namelist():
                if not member.endswith("/"):
                    yield from _walk(Path(member).name, archive.read(member))
    elif name.endswith((".tar", ".tgz", ".tar.gz")):
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            for entry in archive:
                stream = archive.extractfile(entry) if entry.isfile() else None
                if stream is not None:
                    yield from _walk(Path(entry.name).name, stream.read())
    else:
        yield name, content


def _parsed(path: Path, member: str, parse: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return parse(*arguments)
    except (ValueError, IndexError, OSError) as error:
        raise ValueError(f"{str(path)!r}: {member} cannot be read ({error}).") from error
