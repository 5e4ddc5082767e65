"""Multi-view data sets in ``.mat`` files, as papers on multi-view clustering publish them.

Names of variables differ between publishers. They are compared without case and underscores:

* kernels: ``KH`` (n × n × m), ``K``, ``Ks``, ``kernels``; one array, or a cell array of n × n matrices;
* views: a cell array ``X``, ``fea``, ``data``, ``views``, ... of n × d or d × n matrices, dense or sparse; or numbered
  variables ``X1``, ``X2``, ...; or one matrix;
* labels: ``Y``, ``gt``, ``truth``, ``gnd``, ``labels``, ... (`latefusion.datasets.labels.LABEL_KEYS`), from 0 or 1,
  one-hot, words, or one equal vector per view.

The samples of a view are along the axis with the length of the labels. If both axes have this length, or if there are
no labels, the axis is the one whose length all views share. Otherwise rows are samples.

Files up to version 7 are read by SciPy, those of version 7.3, which are HDF5 files with all axes reversed and cells as
references, by h5py.
"""

from __future__ import annotations

import contextlib
import re
import struct
import warnings
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.io
import scipy.sparse
from numpy.typing import NDArray
from scipy.io.matlab import MatReadError, MatReadWarning

from latefusion.datasets.hdf5 import open_hdf5
from latefusion.datasets.headers import Header
from latefusion.datasets.labels import LABEL_KEYS, encode_labels, plain
from latefusion.types import Array, MultiViewDataset, Views

KERNEL_KEYS = ("kh", "k", "ks", "khs", "kernel", "kernels", "kernelmatrix", "kmatrix")
VIEW_KEYS = ("x", "xs", "fea", "feas", "feature", "features", "data", "views", "view", "dataset", "multiviewdata")
NAME_KEYS = ("names", "viewnames", "feanames", "featurenames", "kernelnames", "datanames")
NUMBERED = re.compile(r"(x|fea|feature|data|view|k|kernel)(\d+)")

HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
# MATLAB puts 512 bytes of its own before the HDF5 part; other writers do not.
HDF5_OFFSETS = (512, 0)
# Errors that SciPy and h5py raise for damaged files and files that are not MATLAB files.
UNREADABLE = (
    OSError, ValueError, TypeError, LookupError, AttributeError, EOFError, RuntimeError, MemoryError, AssertionError,
    struct.error, zlib.error, MatReadError, MatReadWarning,
)  # fmt: skip

# A variable that was read: an array, a sparse matrix, a string, a list of variables (a cell array), or None for
# anything else (a structure, an object, a function).
Variable = Any


class Stored(NamedTuple):
    """A variable that was not read: its shape and its MATLAB class."""

    shape: tuple[int, ...]
    kind: str

    def __str__(self) -> str:
        return f"{' × '.join(map(str, self.shape))} {self.kind}"


class Layout(NamedTuple):
    """Roles of the variables of a file."""

    kind: Literal["features", "kernels"]
    views: tuple[str, ...]
    labels: tuple[str, ...]
    names: tuple[str, ...]


def read_mat(file: Path) -> MultiViewDataset:
    """The data set in a ``.mat`` file of any version; see the top of this module for the names of variables."""
    layout = _choose(_inventory(file), file)
    content = _read(file, (*layout.views, *layout.labels, *layout.names))
    target, target_names = _labels(content, layout, file)
    n_labels = None if target is None else len(target)
    matrices = _matrices(content, layout, file)
    arrays = (_square if layout.kind == "kernels" else _oriented)(matrices, n_labels, file)
    return MultiViewDataset(
        views=Views(arrays, _view_names(content, layout, list(matrices))),
        target=target,
        name=file.stem,
        target_names=target_names,
        description=(
            f"Read from {file.name}: {arrays[0].shape[0]} samples, views given as {layout.kind} in "
            f"{', '.join(layout.views)}" + (f", classes in {layout.labels[0]} numbered from 0." if n_labels else ".")
        ),
        kind=layout.kind,
    )


def mat_header(file: Path) -> Header:
    """Sizes of the data set in a ``.mat`` file; views are read only if necessary."""
    inventory = _inventory(file)
    layout = _choose(inventory, file)
    target = _labels(_read(file, layout.labels), layout, file)[0]
    shape, kind = inventory[layout.views[0]]
    if len(layout.views) > 1:
        n_views = len(layout.views)
    elif kind == "cell":
        n_views = int(np.prod(shape))
    else:
        n_views = 1 if len(shape) < 3 else shape[2] if layout.kind == "features" or shape[0] == shape[1] else shape[0]
    n_samples = len(read_mat(file).views) if target is None else len(target)
    return Header(n_samples, n_views, None if target is None else len(np.unique(target)), layout.kind)


def _choose(inventory: Mapping[str, Stored], file: Path) -> Layout:
    # A single number is a parameter, such as the number of clusters k, not a view.
    usable = {
        name: stored
        for name, stored in inventory.items()
        if stored.kind not in ("struct", "object", "function") and (stored.kind == "cell" or np.prod(stored.shape) > 1)
    }

    def named(keys: Sequence[str]) -> tuple[str, ...]:
        return tuple(sorted((name for name in usable if plain(name) in keys), key=lambda name: keys.index(plain(name))))

    kernels, features = named(KERNEL_KEYS), named(VIEW_KEYS)
    cells = tuple(name for name in features if usable[name].kind == "cell")
    features = cells or features
    if not kernels and not features:
        prefix, features = _numbered(usable)
        if prefix.startswith("k"):
            kernels, features = features, ()
    elif len(kernels) + len(features) > 1:
        found = ", ".join(f"{name} ({usable[name]})" for name in (*kernels, *features))
        raise ValueError(
            f"{str(file)!r} has several variables that may be the views: {found}. Keep one of them in a file of its "
            f"own."
        )
    if not kernels and not features:
        found = ", ".join(f"{name} ({stored})" for name, stored in inventory.items()) or "nothing"
        raise ValueError(
            f"{str(file)!r} has no variable with a known name of views. It has {found}. Kernels are expected as KH "
            f"(n × n × m), features as a cell array X with one matrix per view, labels as Y. Rename the variables."
        )
    return Layout("kernels" if kernels else "features", kernels or features, named(LABEL_KEYS), named(NAME_KEYS)[:1])


def _numbered(names: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """The longest series of variables X1, X2, ... without gaps, and what their names have in common."""
    groups: dict[str, dict[int, str]] = {}
    for name in names:
        if match := NUMBERED.fullmatch(plain(name)):
            groups.setdefault(match[1], {})[int(match[2])] = name
    series = {
        prefix: tuple(members[number] for number in sorted(members))
        for prefix, members in groups.items()
        if min(members) <= 1 and max(members) - min(members) + 1 == len(members)
    }
    return max(series.items(), key=lambda item: len(item[1]), default=("", ()))


def _labels(content: Mapping[str, Variable], layout: Layout, file: Path) -> tuple[NDArray[Any] | None, tuple[str, ...]]:
    found: list[tuple[str, NDArray[Any], tuple[str, ...]]] = []
    for key in layout.labels:
        value = content[key]
        # A cell array holds one word or number per sample, or all labels again for every view.
        whole = isinstance(value, list) and all(np.size(item) > 1 and not isinstance(item, str) for item in value)
        for part in value if whole else [value]:
            flat = np.array([np.ravel(item)[0] for item in part]) if isinstance(part, list) and part else part
            found.append((key, *encode_labels(flat, f"{str(file)!r}, {key}")))
    for key, target, _ in found[1:]:
        if not np.array_equal(target, found[0][1]):
            raise ValueError(
                f"{str(file)!r} has labels that differ from each other: {found[0][0]} ({len(found[0][1])} samples) and "
                f"{key} ({len(target)} samples). Keep the right ones."
            )
    return found[0][1:] if found else (None, ())


def _matrices(content: Mapping[str, Variable], layout: Layout, file: Path) -> dict[str, Array]:
    """The views by what to call them in messages, still oriented as in the file."""
    matrices: dict[str, Array] = {}
    for key in layout.views:
        value = content[key]
        if isinstance(value, list):
            matrices |= {f"{key}{{{position}}}": item for position, item in enumerate(value, start=1)}
        elif np.ndim(value) == 3:
            # n × n × m, unless written by a library that puts the last axis first.
            last = layout.kind == "features" or value.shape[0] == value.shape[1] or value.shape[1] != value.shape[2]
            stack = np.moveaxis(value, -1 if last else 0, 0)
            matrices |= {f"{key}(:,:,{position})": item for position, item in enumerate(stack, start=1)}
        else:
            matrices[key] = value
    if not matrices:
        raise ValueError(f"{str(file)!r}: the cell array {layout.views[0]} is empty.")
    for key, matrix in matrices.items():
        sparse = scipy.sparse.issparse(matrix)
        if not sparse and not isinstance(matrix, np.ndarray):
            raise ValueError(f"{str(file)!r}: {key} must be a matrix, since it is a view.")
        if matrix.ndim != 2 or (not sparse and not matrix.size):
            raise ValueError(f"{str(file)!r}: {key} has shape {matrix.shape}, but a view must be two-dimensional.")
        if matrix.dtype.kind not in "biuf":
            raise ValueError(
                f"{str(file)!r}: {key} contains values of type {matrix.dtype}, but views must contain real numbers."
            )
    return matrices


def _square(kernels: Mapping[str, Array], n_labels: int | None, file: Path) -> list[Array]:
    n_samples = n_labels or next(iter(kernels.values())).shape[0]
    for key, kernel in kernels.items():
        if kernel.shape[0] != kernel.shape[1]:
            raise ValueError(
                f"{str(file)!r}: {key} has shape {kernel.shape}, but a kernel must be square. If these are features, "
                f"call the variable X."
            )
        if kernel.shape[0] != n_samples:
            others = f"there are {n_labels} labels" if n_labels else f"the first one is of {n_samples} samples"
            raise ValueError(f"{str(file)!r}: {key} is a kernel of {kernel.shape[0]} samples, but {others}.")
    return [_in_rows(kernel) for kernel in kernels.values()]


def _oriented(matrices: Mapping[str, Array], n_labels: int | None, file: Path) -> list[Array]:
    """The views with samples in rows."""
    sides = [set(matrix.shape) for matrix in matrices.values()]
    common = set.intersection(*sides)
    rows, columns = next(iter(matrices.values())).shape
    n_samples = n_labels or (rows if rows in common else columns)
    misfit = [f"{key}: {matrix.shape}" for key, matrix in matrices.items() if n_samples not in matrix.shape]
    if misfit:
        rule = f"there are {n_labels} labels" if n_labels else "the views have no length in common"
        raise ValueError(
            f"{str(file)!r}: {rule}, but {', '.join(misfit)} has no axis of {n_samples} samples. All views and the "
            f"labels must be of the same samples."
        )
    decided = {matrix.shape[0] == n_samples for matrix in matrices.values() if matrix.shape[0] != matrix.shape[1]}
    square_is_upright = True in decided or not decided
    return [
        _in_rows(
            matrix if (square_is_upright if len(set(matrix.shape)) == 1 else matrix.shape[0] == n_samples) else matrix.T
        )
        for matrix in matrices.values()
    ]


def _in_rows(matrix: Array) -> Array:
    return scipy.sparse.csr_array(matrix) if scipy.sparse.issparse(matrix) else np.ascontiguousarray(matrix)


def _view_names(content: Mapping[str, Variable], layout: Layout, matrices: list[str]) -> list[str] | None:
    if len(layout.views) > 1:
        return matrices
    given = np.ravel(content[layout.names[0]]).tolist() if layout.names else []
    names = [str(name).strip() for name in given]
    return names if len(names) == len(set(names)) == len(matrices) else None


def _inventory(file: Path) -> dict[str, Stored]:
    """All variables of a file, without their values."""
    with _reading(file):
        if not _is_hdf5(file):
            return {name: Stored(tuple(shape), kind) for name, shape, kind in scipy.io.whosmat(file)}
        with open_hdf5(file) as root:
            return {name: _describe(root[name]) for name in root if not name.startswith("#")}


def _read(file: Path, names: Sequence[str]) -> dict[str, Variable]:
    """The values of some variables."""
    if not names:
        return {}
    with _reading(file):
        if not _is_hdf5(file):
            content = scipy.io.loadmat(file, variable_names=list(names))
            return {name: _from_scipy(content[name]) for name in names}
        with open_hdf5(file) as root:
            return {name: _from_hdf5(root[name], root) for name in names}


@contextlib.contextmanager
def _reading(file: Path) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", MatReadWarning)  # SciPy's word for a variable that it could not read
            yield
    except UNREADABLE as error:
        raise ValueError(
            f"{str(file)!r} cannot be read as a MATLAB file ({type(error).__name__}: {error}). It may be truncated or "
            f"damaged. Copy, download or save it again."
        ) from error


def _is_hdf5(file: Path) -> bool:
    with file.open("rb") as stream:
        for offset in HDF5_OFFSETS:
            stream.seek(offset)
            if stream.read(len(HDF5_SIGNATURE)) == HDF5_SIGNATURE:
                return True
    return False


def _from_scipy(value: Any) -> Variable:
    if scipy.sparse.issparse(value):
        return value
    if not isinstance(value, np.ndarray) or value.dtype.names is not None:
        return None
    if value.dtype.kind == "O":
        return [_from_scipy(item) for item in value.ravel(order="F")]
    if value.dtype.kind == "U":
        return str(value.item()) if value.size == 1 else value.ravel()
    return value


def _describe(node: Any) -> Stored:
    if "MATLAB_sparse" in node.attrs:
        return Stored((int(node.attrs["MATLAB_sparse"]), node["jc"].shape[0] - 1), "sparse")
    if not hasattr(node, "dtype"):
        return Stored((1, 1), "struct")
    kind = node.attrs.get("MATLAB_class", b"cell" if node.dtype.kind == "O" else str(node.dtype).encode())
    return Stored(tuple(reversed(node.shape)), kind.decode() if isinstance(kind, bytes) else str(kind))


def _from_hdf5(node: Any, root: Any) -> Variable:
    stored = _describe(node)
    if stored.kind == "sparse":
        n_stored = node["jc"][-1]
        entries, rows = (node[part][()] if n_stored else np.empty(0) for part in ("data", "ir"))
        return scipy.sparse.csc_array((entries, rows.astype(np.int64), node["jc"][()].astype(np.int64)), stored.shape)
    if stored.kind == "struct":
        return None
    if node.attrs.get("MATLAB_empty"):
        return [] if stored.kind == "cell" else np.empty((0, 0))
    if node.dtype.kind == "O" and stored.kind == "cell":
        # Reversed axes and MATLAB's order of columns cancel out.
        return [_from_hdf5(root[reference], root) for reference in node[()].ravel()]
    value = np.asarray(node[()]).T
    if stored.kind == "char":
        lines = ["".join(map(chr, line)) for line in np.atleast_2d(value)]
        return lines[0] if len(lines) == 1 else np.array(lines)
    return value
