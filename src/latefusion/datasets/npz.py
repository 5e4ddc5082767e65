"""Multi-view data sets in ``.npz`` archives, as `numpy.savez` writes them.

An archive holds, for m views of n samples,

* ``view_0`` … ``view_{m-1}``: dense views, n × d; or
* ``view_i_data``, ``view_i_indices``, ``view_i_indptr``, ``view_i_shape``: the parts of a sparse view (CSR); or
* ``kernel_0`` … ``kernel_{m-1}``: precomputed kernels, n × n;

and may hold ``y`` (classes), ``names`` (of the views) and ``class_names``. Other keys are ignored. Archives are read
without pickle, so a file from elsewhere cannot run code.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.datasets.headers import Header
from latefusion.types import Array, MultiViewDataset, Views

CSR_PARTS = ("data", "indices", "indptr", "shape")
# Errors that NumPy raises for archives with damaged members or pickles.
UNREADABLE = (OSError, ValueError, EOFError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error)
ARRAY_KEY = re.compile(rf"(view|kernel)_(\d+)(?:_(?:{'|'.join(CSR_PARTS)}))?")


def read_npz(file: Path) -> MultiViewDataset:
    """The data set in an archive; see the top of this module for its keys."""
    content = _read_archive(file)
    kind, count = _survey(content, file)
    if kind == "kernels":
        arrays = [_checked(content[f"kernel_{view}"], f"kernel_{view}", file) for view in range(count)]
    else:
        arrays = [_read_view(content, view, file) for view in range(count)]
    n_samples = arrays[0].shape[0]
    for view, array in enumerate(arrays):
        key = f"{'kernel' if kind == 'kernels' else 'view'}_{view}"
        if array.shape[0] != n_samples:
            raise ValueError(f"{str(file)!r}: {key} has {array.shape[0]} rows, but the first one has {n_samples}.")
        if kind == "kernels" and array.shape != (n_samples, n_samples):
            raise ValueError(f"{str(file)!r}: {key} has shape {array.shape}, but a kernel must be square.")
    target = content.get("y")
    if target is not None and target.shape != (n_samples,):
        raise ValueError(f"{str(file)!r}: y has shape {target.shape}, but {n_samples} samples need {(n_samples,)}.")
    return MultiViewDataset(
        views=Views(arrays, _view_names(content, count, file)),
        target=target,
        name=file.stem,
        target_names=tuple(str(name) for name in np.ravel(content.get("class_names", ()))),
        description=f"Read from {file.name}: {n_samples} samples, views given as {kind}.",
        kind=kind,
    )


def npz_header(file: Path) -> Header:
    """Sizes of the data set in an archive, from the headers of its arrays; no view is read."""
    try:
        with zipfile.ZipFile(file) as archive, np.load(file, allow_pickle=False) as content:
            small = {key: content[key] for key in content.files if key in ("y", "names") or key.endswith("_shape")}
            kind, n_views = _survey({**dict.fromkeys(content.files), **small}, file)
            first = "kernel_0" if kind == "kernels" else "view_0"
            shape = small[f"{first}_shape"] if f"{first}_shape" in small else _member_shape(archive, f"{first}.npy")
    except UNREADABLE as error:
        raise ValueError(f"{str(file)!r} is not a readable .npz archive: {error}") from error
    return Header(int(shape[0]), n_views, len(np.unique(small["y"])) if "y" in small else None, kind)


def _member_shape(archive: zipfile.ZipFile, member: str) -> tuple[int, ...]:
    with archive.open(member) as stream:
        newer = np.lib.format.read_magic(stream) > (1, 0)
        read = np.lib.format.read_array_header_2_0 if newer else np.lib.format.read_array_header_1_0
        shape: tuple[int, ...] = read(stream)[0]
    return shape


def _read_archive(file: Path) -> dict[str, NDArray[Any]]:
    try:
        archive = np.load(file, allow_pickle=False)
    except UNREADABLE as error:
        raise ValueError(f"{str(file)!r} is not a readable .npz archive: {error}") from error
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise ValueError(f"{str(file)!r} is a single array, not an .npz archive: write it with numpy.savez.")
    content = {}
    with archive:
        for key in archive.files:
            if not ARRAY_KEY.fullmatch(key) and key not in ("y", "names", "class_names"):
                continue
            try:
                content[key] = archive[key]
            except UNREADABLE as error:
                raise ValueError(
                    f"{str(file)!r}: key {key!r} cannot be read ({error}). Arrays of Python objects are not read, "
                    f"since they could run code. Store numbers or strings."
                ) from error
    return content


def _survey(content: Mapping[str, Any], file: Path) -> tuple[Literal["features", "kernels"], int]:
    found: dict[str, set[int]] = {"view": set(), "kernel": set()}
    for match in filter(None, map(ARRAY_KEY.fullmatch, content)):
        found[match[1]].add(int(match[2]))
    if found["view"] and found["kernel"]:
        raise ValueError(f"{str(file)!r} contains both views and kernels. Save them in separate files.")
    prefix = "kernel" if found["kernel"] else "view"
    positions = found[prefix]
    if not positions:
        raise ValueError(f"{str(file)!r} has none of the keys view_0, view_0_data or kernel_0, so there are no views.")
    expected = max(np.size(content.get("names", ())), max(positions) + 1)
    absent = sorted(set(range(expected)) - positions)
    if absent:
        raise ValueError(
            f"{str(file)!r} has no key {prefix}_{absent[0]}: by its names and other keys there are {expected} views, "
            f"numbered from 0 without gaps."
        )
    return ("kernels" if prefix == "kernel" else "features"), expected


def _read_view(content: Mapping[str, NDArray[Any]], view: int, file: Path) -> Array:
    key = f"view_{view}"
    absent = [f"{key}_{part}" for part in CSR_PARTS if f"{key}_{part}" not in content]
    if key in content:
        if len(absent) < len(CSR_PARTS):
            raise ValueError(f"{str(file)!r} has {key} both dense and as sparse parts: keep one of them.")
        return _checked(content[key], key, file)
    if absent:
        raise ValueError(f"{str(file)!r} has no key {absent[0]}: a sparse view needs {', '.join(CSR_PARTS)}.")
    try:
        data, indices, indptr, shape = (content[f"{key}_{part}"] for part in CSR_PARTS)
        sparse = scipy.sparse.csr_array((data, indices, indptr), shape=tuple(int(side) for side in shape))
        sparse.check_format(full_check=True)
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(f"{str(file)!r}: the parts of {key} do not make a sparse matrix: {error}") from error
    return _checked(sparse, key, file)


def _checked(array: Array, key: str, file: Path) -> Array:
    if array.ndim != 2:
        raise ValueError(f"{str(file)!r}: {key} has shape {array.shape}, but a view must be two-dimensional.")
    if array.dtype.kind not in "biuf":
        raise ValueError(
            f"{str(file)!r}: {key} contains values of type {array.dtype}, but a view must contain real numbers."
        )
    return array


def _view_names(content: Mapping[str, NDArray[Any]], count: int, file: Path) -> list[str] | None:
    if "names" not in content:
        return None
    names = [str(name) for name in np.ravel(content["names"])]
    if len(names) != count or len(set(names)) < count:
        raise ValueError(f"{str(file)!r}: names must contain {count} different names, one per view; got {names}.")
    return names
