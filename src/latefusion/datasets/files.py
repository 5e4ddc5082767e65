"""Read multi-view data sets from files: one reader per format, found by how the name ends.

========================== =========================================================================================
path                       what is expected inside
========================== =========================================================================================
``.npz``                   ``view_0`` … or ``kernel_0`` …, see `latefusion.datasets.npz`
``.mat``                   kernels ``KH`` or a cell array ``X`` of views, with labels ``Y``, see
                           `latefusion.datasets.matlab`
``.h5mu``                  one modality per view, see `latefusion.datasets.h5mu`
``.csv`` ``.tsv`` ``.txt`` one view, rows are samples, see `latefusion.datasets.tables`
``.parquet``               one view, rows are samples
a folder                   one such table per view, matched by sample id
========================== =========================================================================================
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from latefusion.datasets.h5mu import h5mu_header, read_h5mu
from latefusion.datasets.headers import Header
from latefusion.datasets.matlab import mat_header, read_mat
from latefusion.datasets.npz import npz_header, read_npz
from latefusion.datasets.tables import TABLE_SUFFIXES, read_tables
from latefusion.types import MultiViewDataset

READERS: dict[str, Callable[[Path], MultiViewDataset]] = {".npz": read_npz, ".mat": read_mat}
HEADER_READERS: dict[str, Callable[[Path], Header]] = {".npz": npz_header, ".mat": mat_header, ".h5mu": h5mu_header}
SUFFIXES = (*READERS, ".h5mu", *TABLE_SUFFIXES)

# How files begin, for names that do not say what is inside.
SIGNATURES = {b"PK\x03\x04": ".npz", b"MATLAB": ".mat", b"\x89HDF": ".h5mu or .mat (version 7.3)", b"PAR1": ".parquet"}


def load_views(
    path: str | os.PathLike[str], *, id_column: str | None = None, label_column: str | None = None
) -> MultiViewDataset:
    """Read a multi-view data set from a file or from a folder of tables.

    Parameters
    ----------
    path : str or path-like
        An ``.npz`` archive (``view_0``, ... or ``kernel_0``, ...), a ``.mat`` file (``KH`` and ``Y``, or a cell array
        ``X`` and ``Y``; any version), an ``.h5mu`` file, a table (``.csv``, ``.tsv``, ``.txt``, ``.parquet``), or a
        folder with one table per view.
    id_column : str, default=None
        The column of every table that says which sample a row is about. By default the first column, where it is
        called ``id``, ``sample`` or the like, has no name, or holds words. For tables only.
    label_column : str, default=None
        The column with the classes, in tables and in the ``obs`` of ``.h5mu`` files. By default the one called
        ``label``, ``labels``, ``class``, ``target`` or ``cell_type``, if there is one.

    Returns
    -------
    MultiViewDataset
        Named after the file. Its ``kind`` says whether the views are features or kernels, its ``target`` is None where
        there are no labels. Values and their types are those of the file. Where tables or modalities do not hold the
        same samples, all samples are there, ``views.mask`` says in which views, and their rows are NaN elsewhere (empty
        in sparse views).

    Notes
    -----
    ``.mat`` files of version 7.3 and ``.h5mu`` need h5py, tables need pandas: ``pip install 'latefusion[io]'``.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from latefusion.datasets import load_views
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/toy.npz", view_0=np.eye(3), view_1=np.ones((3, 2)), names=["colour", "shape"])
    ...     load_views(f"{folder}/toy.npz").views
    Views(3 samples; colour: 3, shape: 2)

    Kernels and labels as MATLAB users publish them:

    >>> import scipy.io
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scipy.io.savemat(f"{folder}/toy.mat", {"KH": np.ones((3, 3, 2)), "Y": [[1], [2], [2]]})
    ...     data = load_views(f"{folder}/toy.mat")
    >>> data.kind, data.views.n_views, data.target
    ('kernels', 2, array([0, 1, 1]))
    """
    place = Path(path)
    try:
        return _load(place, id_column, label_column)
    except PermissionError as error:
        raise PermissionError(
            f"There is no right to read {str(error.filename or place)!r}: ask its owner, or change its permissions."
        ) from error


def read_header(path: str | os.PathLike[str]) -> Header:
    """How large a stored data set is, quickly: of archives only headers and labels are read, tables are read whole.

    Parameters
    ----------
    path : str or path-like
        As in `load_views`.

    Returns
    -------
    Header
        Numbers of samples, views and classes, and whether the views are features or kernels.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from latefusion.datasets import read_header
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/toy.npz", view_0=np.eye(3), view_1=np.ones((3, 2)), y=[0, 1, 1])
    ...     read_header(f"{folder}/toy.npz")
    Header(n_samples=3, n_views=2, n_classes=2, kind='features')
    """
    place = Path(path)
    reader = HEADER_READERS.get(place.suffix.lower())
    if reader is not None and place.is_file():
        return reader(place)
    data = load_views(place)
    n_classes = None if data.target is None else len(np.unique(data.target))
    return Header(len(data.views), data.views.n_views, n_classes, data.kind)


def _load(place: Path, id_column: str | None, label_column: str | None) -> MultiViewDataset:
    check_file(place)
    suffix = place.suffix.lower()
    if place.is_dir() or suffix in TABLE_SUFFIXES:
        return read_tables(place, id_column=id_column, label_column=label_column)
    if id_column is not None:
        raise ValueError(f"id_column={id_column!r} is for tables, but {str(place)!r} is none: leave it out.")
    if suffix == ".h5mu":
        return read_h5mu(place, label_column=label_column)
    if suffix not in READERS:
        raise ValueError(f"{str(place)!r} ends in {suffix!r}, but only {', '.join(SUFFIXES)} can be read: convert it.")
    if label_column is not None:
        raise ValueError(
            f"label_column={label_column!r} is for tables and .h5mu files, but {str(place)!r} is neither: leave it out."
        )
    return READERS[suffix](place)


def check_file(file: Path) -> None:
    """Refuse a file that is not there, is empty, or whose content is of another known format than its name says."""
    if not file.exists():
        raise FileNotFoundError(f"There is no file {str(file)!r}: check the path.")
    if file.is_dir():
        return
    suffix = file.suffix.lower()
    if file.stat().st_size == 0 and suffix in SUFFIXES:
        raise ValueError(f"{str(file)!r} is empty: copy or download it again.")
    with file.open("rb") as stream:
        beginning = stream.read(8)
    found = next((kind for signature, kind in SIGNATURES.items() if beginning.startswith(signature)), None)
    if found is not None and suffix not in found:
        raise ValueError(f"{str(file)!r} ends in {suffix!r}, but its content looks like {found}: rename it.")
