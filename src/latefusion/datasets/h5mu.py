"""Multi-view data sets in ``.h5mu`` files, the format of MuData: one modality is one view.

The matrix of a modality is in ``/mod/<name>/X``, dense or as the parts of a sparse matrix. The names of its samples are
in ``/mod/<name>/obs``, and those of all samples in ``/obs``. They are read with h5py, a light dependency; the attribute
``encoding-type`` describes each group.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.datasets.hdf5 import open_hdf5
from latefusion.datasets.headers import Header
from latefusion.datasets.joining import Part, join_samples
from latefusion.datasets.labels import LABEL_COLUMNS, encode_labels, plain
from latefusion.types import Array, MultiViewDataset

# Errors that h5py raises for damaged files.
UNREADABLE = (OSError, RuntimeError, LookupError, EOFError, TypeError, AttributeError, MemoryError, UnicodeError)
SPARSE = {"csr_matrix": scipy.sparse.csr_array, "csc_matrix": scipy.sparse.csc_array}


def read_h5mu(file: Path, *, label_column: str | None = None) -> MultiViewDataset:
    """The data set in an ``.h5mu`` file.

    Parameters
    ----------
    file : Path
    label_column : str, default=None
        The column of ``obs``, of all samples or of a modality, with the classes; by default the first one with a name
        in `LABEL_COLUMNS`, if there is one.

    Returns
    -------
    MultiViewDataset
        Samples are in the order of the file. Rows of samples without a modality are NaN or empty.
    """
    with opened(file) as root:
        modalities = _modalities(root, file)
        parts = {
            name: Part(read_matrix(group, where := f"{str(file)!r}, modality {name!r}"), read_ids(group["obs"]), where)
            for name, group in modalities.items()
        }
        views = join_samples(parts, read_ids(root["obs"]).tolist())
        labels = find_labels(root, modalities, label_column, file)
        columns = {name: read_names(group["var"]).tolist() for name, group in modalities.items() if "var" in group}
    assert views.sample_ids is not None  # for the type checker: all parts have ids
    target, target_names, column = classes_of(labels, views.sample_ids, label_column is not None, file)
    return MultiViewDataset(
        views=views,
        target=target,
        name=file.stem,
        target_names=target_names,
        description=f"Read from {file.name}: {len(views)} samples"
        + (f", classes from {column!r}." if target is not None else "."),
        feature_names=columns,
    )


def classes_of(
    labels: tuple[str, dict[str, Any]] | None, sample_ids: NDArray[Any], wanted: bool, file: Path
) -> tuple[NDArray[Any] | None, tuple[str, ...], str]:
    """Classes in the order of the samples, their names, and their column; none if a sample has no class."""
    if labels is None:
        return None, (), ""
    column, classes = labels
    samples = sample_ids.tolist()
    bare = [one for one in samples if classes.get(one) is None]
    if bare and wanted:
        raise ValueError(f"{str(file)!r}: {len(bare)} samples have no {column!r}, such as {bare[0]!r}.")
    if bare:
        return None, (), column
    values = np.array([classes[one] for one in samples])
    return *encode_labels(values, f"{str(file)!r}, {column}", samples), column


def h5mu_header(file: Path) -> Header:
    """Sizes of the data set in an ``.h5mu`` file; only names and classes are read."""
    with opened(file) as root:
        modalities = _modalities(root, file)
        labels = find_labels(root, modalities, None, file)
        n_samples = len(read_ids(root["obs"]))
    classes = None if labels is None else [value for value in labels[1].values() if value is not None]
    return Header(n_samples, len(modalities), None if classes is None else len(set(classes)), "features")


@contextlib.contextmanager
def opened(file: Path, library: str = "MuData") -> Iterator[Any]:
    """The root of a file of MuData or AnnData; errors of h5py about damaged files get the name of the file."""
    try:
        with open_hdf5(file) as root:
            yield root
    except (*UNREADABLE, ValueError) as error:
        if isinstance(error, ValueError) and str(file) in str(error):
            raise  # already in our words
        raise ValueError(
            f"{str(file)!r} cannot be read as a file of {library} ({type(error).__name__}: {error}). It may be "
            f"truncated or damaged. Copy or download it again."
        ) from error


def _modalities(root: Any, file: Path) -> dict[str, Any]:
    if "mod" not in root or "obs" not in root:
        raise ValueError(
            f"{str(file)!r} has no modalities: 'mod' and 'obs' are required; got {', '.join(root) or 'nothing'}."
            + (" It looks like a file of AnnData: rename it to end in .h5ad." if "X" in root and "obs" in root else "")
        )
    if int(root.attrs.get("axis", 0)) != 0:
        raise ValueError(
            f"{str(file)!r}: its modalities share variables, not samples, so they are not views of the same samples."
        )
    order = [str(name) for name in root["mod"].attrs.get("mod-order", list(root["mod"]))]
    if not order:
        raise ValueError(f"{str(file)!r} has no modality.")
    return {name: root["mod"][name] for name in order}


def read_matrix(group: Any, where: str) -> Array:
    """The matrix X of a group, dense or CSR."""
    if "X" not in group:
        raise ValueError(f"{where} has no matrix X; it has {', '.join(group)}.")
    stored = group["X"]
    kind = stored.attrs.get("encoding-type", "array" if hasattr(stored, "dtype") else "unknown")
    if kind in SPARSE:
        parts = tuple(stored[part][()] for part in ("data", "indices", "indptr"))
        matrix = scipy.sparse.csr_array(
            sparse_matrix(SPARSE[kind], parts, tuple(map(int, stored.attrs["shape"])), where)
        )
    elif hasattr(stored, "dtype"):
        matrix = stored[()]
    else:
        raise ValueError(f"{where}: a matrix of type {kind!r} cannot be read. Store it as a dense, CSR or CSC matrix.")
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise ValueError(
            f"{where}: X has shape {matrix.shape} and type {matrix.dtype}, but a view is a table of numbers."
        )
    return matrix


def sparse_matrix(kind: Any, parts: tuple[Any, ...], shape: tuple[int, ...], where: str) -> Any:
    """A sparse matrix of its parts; raises an error if an index is outside of the shape."""
    try:
        matrix = kind(parts, shape=shape)
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, LookupError, OverflowError) as error:
        raise ValueError(f"{where} is damaged: its parts do not make a sparse matrix ({error}).") from error
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"{where}: the matrix has type {matrix.dtype}, but a view is a table of numbers.")
    return matrix


def read_ids(obs: Any) -> NDArray[Any]:
    """Names of samples, which must differ from each other."""
    names = read_names(obs)
    seen, times = np.unique(names, return_counts=True)
    if (times > 1).any():
        repeated = np.flatnonzero(times > 1)
        raise ValueError(
            f"{obs.file.filename!r}: {obs.name} has the sample {str(seen[repeated[0]])!r} {times[repeated[0]]} times "
            f"({repeated.size} samples more than once). Make the names unique."
        )
    return names


def read_names(table: Any) -> NDArray[Any]:
    """The index of ``obs`` or ``var``."""
    return np.asarray(table[str(table.attrs.get("_index", "_index"))].asstr()[()], dtype=str)


def find_labels(
    root: Any, modalities: dict[str, Any], label_column: str | None, file: Path
) -> tuple[str, dict[str, Any]] | None:
    """The column of classes and the class of each sample by its id, None for samples without a class."""
    tables = [root["obs"], *(group["obs"] for group in modalities.values())]
    for obs in tables:
        for column in _columns(obs):
            own = column.rpartition(":")[2]  # muon copies the columns of a modality as modality:column
            if label_column in (column, own) if label_column is not None else plain(own) in LABEL_COLUMNS:
                return column, dict(
                    zip(read_ids(obs).tolist(), read_column(obs[column], f"{str(file)!r}, {column}"), strict=True)
                )
    if label_column is not None:
        found = sorted({column for obs in tables for column in _columns(obs)})
        raise ValueError(f"{str(file)!r} has no column {label_column!r} in obs; its columns are {found}.")
    return None


def _columns(obs: Any) -> Iterator[str]:
    index = str(obs.attrs.get("_index", "_index"))
    return (str(name) for name in obs.attrs.get("column-order", [name for name in obs if name != index]))


def read_column(column: Any, where: str) -> list[Any]:
    """The values of a column of ``obs`` or ``var``, None where a category is missing."""
    if "codes" in column and "categories" in column:
        categories = read_column(column["categories"], where)
        return [None if code < 0 else categories[code] for code in column["codes"][()]]
    if not hasattr(column, "dtype"):
        raise ValueError(f"{where}: a column of kind {column.attrs.get('encoding-type')!r} cannot be read as classes.")
    values: list[Any] = (column.asstr()[()] if column.dtype.kind == "O" else column[()]).tolist()
    return values
