"""Read multi-view data sets from files: one reader per format, chosen by the suffix and checked by the content.

========================== =========================================================================================
path                       expected contents
========================== =========================================================================================
``.npz``                   ``view_0`` … or ``kernel_0`` …, see `latefusion.datasets.npz`
``.mat``                   kernels ``KH`` or a cell array ``X`` of views, with labels ``Y``, see
                           `latefusion.datasets.matlab`
``.h5mu``                  one modality per view, see `latefusion.datasets.h5mu`
``.h5ad``                  one view, or one per type of features, see `latefusion.datasets.h5ad`
``.h5``                    counts of 10x Genomics, one view per type of features, see `latefusion.datasets.tenx`
``.csv`` ``.tsv`` ``.txt`` one view, rows are samples, see `latefusion.datasets.tables`; also compressed
``.parquet`` ``.feather``  one view, rows are samples; also ``.arrow`` and ``.ipc``
``.xlsx``                  one view, or one per sheet if there are several, see `latefusion.datasets.excel`
a folder                   one such table per view, matched by sample id
========================== =========================================================================================
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from latefusion.datasets.compression import SUFFIXES as COMPRESSIONS
from latefusion.datasets.compression import uncompressed_name
from latefusion.datasets.formats import check_content
from latefusion.datasets.h5ad import read_h5ad
from latefusion.datasets.h5mu import h5mu_header, read_h5mu
from latefusion.datasets.headers import Header
from latefusion.datasets.matlab import mat_header, read_mat
from latefusion.datasets.npz import npz_header, read_npz
from latefusion.datasets.options import TableOptions, table_options
from latefusion.datasets.tables import TABLE_SUFFIXES, is_table, read_tables
from latefusion.datasets.tenx import read_tenx
from latefusion.types import MultiViewDataset

READERS: dict[str, Callable[[Path], MultiViewDataset]] = {".npz": read_npz, ".mat": read_mat, ".h5": read_tenx}
# Formats with a table of the samples, one column of which may be the classes.
OBS_READERS: dict[str, Callable[..., MultiViewDataset]] = {".h5mu": read_h5mu, ".h5ad": read_h5ad}
HEADER_READERS: dict[str, Callable[[Path], Header]] = {".npz": npz_header, ".mat": mat_header, ".h5mu": h5mu_header}
# Formats in which names of views follow conventions for molecules of single cells.
SINGLE_CELL_SUFFIXES = (*OBS_READERS, ".h5")
SUFFIXES = (*READERS, *OBS_READERS, *TABLE_SUFFIXES)


def load_views(
    path: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    transpose: bool = False,
) -> MultiViewDataset:
    """Read a multi-view data set from a file or from a folder of tables.

    Parameters
    ----------
    path : str or path-like
        An ``.npz`` archive (``view_0``, ... or ``kernel_0``, ...), a ``.mat`` file (``KH`` and ``Y``, or a cell array
        ``X`` and ``Y``; any version), an ``.h5mu`` or ``.h5ad`` file, an ``.h5`` file of 10x Genomics, a table
        (``.csv``, ``.tsv``, ``.txt``, ``.parquet``, ``.feather``, ``.xlsx``; text also compressed, such as
        ``.csv.gz``), an ``.xlsx`` file with a sheet per view, or a folder with one table per view.
    id_column : str, default=None
        The column of every table with the sample ids. By default the first column, if its name is ``id``, ``sample`` or
        similar, if it has no name, or if it contains text that differs in every row. For tables only.
    label_column : str, default=None
        The column with the classes, in tables and in the ``obs`` of ``.h5mu`` and ``.h5ad`` files. By default the one
        called ``label``, ``labels``, ``class``, ``target`` or ``cell_type``, if there is one.
    separator : str, default=None
        The separator of values in text tables: "comma", "semicolon", "tab", "pipe", "blank", or any other character. By
        default, and for tables without that character, it is detected.
    decimal : {".", ","}, default=None
        The decimal separator of text tables. By default it is detected.
    transpose : bool, default=False
        Whether the columns of tables are samples and the rows features.

    Returns
    -------
    MultiViewDataset
        Named after the file. ``kind`` is "features" or "kernels"; ``target`` is None if there are no labels. Values and
        their types are those of the file: a table of numbers is a float array, a table with columns of words, dates or
        categories is a pandas data frame. If tables or modalities contain different samples, the result contains all
        of them, ``views.mask`` marks missing views, and missing rows are NaN (empty in sparse views).

    Notes
    -----
    ``.mat`` files of version 7.3, ``.h5mu``, ``.h5ad`` and ``.h5`` need h5py, tables need pandas:
    ``pip install 'latefusion[io]'``. Excel workbooks need openpyxl: ``pip install 'latefusion[excel]'``.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from latefusion.datasets import load_views
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/toy.npz", view_0=np.eye(3), view_1=np.ones((3, 2)), names=["color", "shape"])
    ...     load_views(f"{folder}/toy.npz").views
    Views(3 samples; color: 3, shape: 2)

    Kernels and labels as MATLAB users publish them:

    >>> import scipy.io
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scipy.io.savemat(f"{folder}/toy.mat", {"KH": np.ones((3, 3, 2)), "Y": [[1], [2], [2]]})
    ...     data = load_views(f"{folder}/toy.mat")
    >>> data.kind, data.views.n_views, data.target
    ('kernels', 2, array([0, 1, 1]))
    """
    return load(Path(path), table_options(id_column, label_column, separator, decimal, bool(transpose)))


def read_header(path: str | os.PathLike[str]) -> Header:
    """Sizes of a stored data set. Only headers and labels of archives are read; tables are read completely.

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
    file = Path(path)
    reader = HEADER_READERS.get(file.suffix.lower())
    if reader is not None and file.is_file():
        return reader(file)
    data = load_views(file)
    n_classes = None if data.target is None else len(np.unique(data.target))
    return Header(len(data.views), data.views.n_views, n_classes, data.kind)


def load(path: Path, options: TableOptions) -> MultiViewDataset:
    """`load_views` with all options in one object."""
    try:
        return _load(path, options)
    except PermissionError as error:
        raise PermissionError(
            f"Permission denied: {str(error.filename or path)!r} cannot be read. Change its permissions, or ask its "
            f"owner."
        ) from error


def _load(path: Path, options: TableOptions) -> MultiViewDataset:
    check_file(path)
    if path.is_dir() or is_table(path):
        return read_tables(path, options)
    suffix = path.suffix.lower()
    given = {name: value for name, value in options._asdict().items() if value and name != "label_column"}
    if given:
        name, value = next(iter(given.items()))
        raise ValueError(f"{name}={value!r} requires tables, but {str(path)!r} is not a table. Leave it out.")
    if suffix in OBS_READERS:
        return OBS_READERS[suffix](path, label_column=options.label_column)
    if options.label_column is not None:
        raise ValueError(
            f"label_column={options.label_column!r} requires tables, .h5mu or .h5ad files, but {str(path)!r} is "
            f"none of these. Leave it out."
        )
    return READERS[suffix](path)


def check_file(file: Path) -> None:
    """Raise an error for a file that does not exist, is empty, or has an unsupported format."""
    if not file.exists():
        raise FileNotFoundError(f"File not found: {str(file)!r}. Check the path.")
    if file.is_dir():
        return
    if not file.is_file():
        raise ValueError(
            f"{str(file)!r} is a pipe or a device, which cannot be read several times. Save the data to a file."
        )
    if file.stat().st_size == 0:
        raise ValueError(f"{str(file)!r} is empty. Copy or download it again.")
    check_content(file)
    if uncompressed_name(file).suffix.lower() not in SUFFIXES:
        raise ValueError(
            f"{str(file)!r} ends in {file.suffix!r}, but only {', '.join(SUFFIXES)} can be read (text also "
            f"compressed: {', '.join(COMPRESSIONS)}). If it is a table of text, rename it to end in .txt."
        )
