"""From the input of the user (Dask arrays and data frames, Zarr, Parquet, .npy files) to chunked views.

Each worker opens the files that it reads, so that a path must be valid on all workers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import isnan
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import scipy.sparse
from dask import is_dask_collection
from dask.array.core import normalize_chunks
from numpy.typing import NDArray

from latefusion.arrays import is_device_array, to_numpy
from latefusion.distributed.chunks import ChunkedViews, call_guarded
from latefusion.types import Views
from latefusion.validation.frames import check_numeric
from latefusion.validation.opening import is_collection
from latefusion.validation.views import named_views

# Size in bytes of the chunks of views that are not chunked yet.
CHUNK_BYTES = 2**25


def is_chunked(X: Any) -> bool:
    """Whether X, or any of its views, is stored or computed in chunks rather than held in memory."""
    return any(map(_is_store, _by_name(X).values()))


def _by_name(X: Any) -> dict[str, Any]:
    """The views of X by name; X itself if it is a single view."""
    has_views = isinstance(X, (list, tuple)) or (not _is_store(X) and is_collection(X))
    return named_views(X) if has_views else {"view_0": X}


def _is_store(view: Any) -> bool:
    return is_dask_collection(view) or isinstance(view, (str, os.PathLike)) or _is_zarr(view) or _is_whole_map(view)


def _is_zarr(view: Any) -> bool:
    return type(view).__module__.partition(".")[0] == "zarr" and hasattr(view, "chunks")


def _is_whole_map(view: Any) -> bool:
    """Whether a view is a whole memory-mapped array; the offset of a part of one in the file is unknown."""
    return isinstance(view, np.memmap) and not isinstance(view.base, np.memmap) and view.filename is not None


def chunked_views(X: Any, *, names: tuple[str, ...] | None = None) -> ChunkedViews:
    """Views that are chunked by rows.

    Parameters
    ----------
    X : list, dict or `Views` of views, or a single view
        Dask arrays or data frames, Zarr arrays, memory-mapped arrays, or paths of Zarr stores, Parquet files or folders
        and ``.npy`` files; NumPy arrays and sparse matrices beside them.
    names : tuple of str, default=None
        Names of the views of a model, for views in a list.

    Returns
    -------
    ChunkedViews
    """
    known = _by_name(X)
    if names is not None and not isinstance(X, (Mapping, Views)) and len(names) == len(known):
        known = dict(zip(names, known.values(), strict=True))
    columns: dict[str, list[Any]] = {}
    arrays = {}
    for name, view in known.items():
        array = _opened(view, name)
        if hasattr(array, "to_dask_array"):
            columns[name] = list(array.columns)
            array = _frame_values(array, name)
        arrays[name] = _checked(array, name)
    Views(arrays)  # raises an error for different numbers of rows
    if isinstance(X, Views) and X.mask is not None:
        pairs = zip(arrays.items(), X.mask.T, strict=True)
        arrays = {name: array if seen.all() else _hidden(array, seen) for (name, array), seen in pairs}
    return ChunkedViews(tuple(map(str, arrays)), tuple(arrays.values()), columns)


def _hidden(array: da.Array, seen: NDArray[np.bool_]) -> da.Array:
    """The same rows, with NaN where the view is missing."""
    mask = da.from_array(seen[:, None], chunks=(array.chunks[0], 1))
    return da.map_blocks(_hide, array, mask, chunks=array.chunks, dtype=array.dtype, meta=array._meta)


def _hide(block: Any, seen: NDArray[np.bool_]) -> Any:
    if not scipy.sparse.issparse(block):
        return np.where(seen, block, block.dtype.type(np.nan))
    # A sparse row marks a missing view if it stores at least one value and all stored values are NaN.
    holes = np.flatnonzero(~seen[:, 0])
    marks = (np.full(len(holes), np.nan, dtype=block.dtype), (holes, np.zeros(len(holes), dtype=np.intp)))
    rows = scipy.sparse.diags_array(seen[:, 0].astype(block.dtype)) @ scipy.sparse.csr_array(block)
    rows.eliminate_zeros()
    return scipy.sparse.csr_array(rows + scipy.sparse.csr_array(marks, shape=block.shape))


def _opened(view: Any, name: str) -> Any:
    """A Dask array or data frame."""
    if isinstance(view, (str, os.PathLike)):
        return _from_path(Path(view), name)
    if _is_zarr(view):
        return da.from_zarr(view)
    if _is_whole_map(view):
        return _from_map(view)
    if is_dask_collection(view):
        return view
    view = view.tocsr() if scipy.sparse.issparse(view) else np.asarray(view)
    return da.from_array(view, chunks=_chunk_shape(view), asarray=False)


def _from_path(path: Path, name: str) -> Any:
    if not path.exists():
        raise FileNotFoundError(
            f"View {name!r}: {str(path)!r} does not exist. The path must be valid on this machine and on all workers."
        )
    try:
        if path.suffix == ".npy":
            return _from_map(np.load(path, mmap_mode="r"))
        if path.suffix == ".zarr" or any((path / mark).exists() for mark in ("zarr.json", ".zarray")):
            return da.from_zarr(str(path))
        import dask.dataframe as dd

        return dd.read_parquet(str(path))
    except (OSError, ValueError, KeyError) as error:
        raise ValueError(
            f"View {name!r}: {str(path)!r} cannot be opened as a .npy file, Zarr array or Parquet folder "
            f"({type(error).__name__}: {error})."
        ) from error


def _from_map(view: np.memmap) -> da.Array:
    """Chunks of a memory-mapped array, which every task opens itself, since pickling would copy the whole array."""
    path = str(view.filename)
    order = "F" if view.flags.f_contiguous and not view.flags.c_contiguous else "C"
    return da.map_blocks(
        _read_map,
        source=(path, view.dtype, "r", view.offset, view.shape, order),
        changed=os.stat(path).st_mtime_ns,  # so that another file of this name has other keys
        chunks=normalize_chunks(_chunk_shape(view), view.shape, dtype=view.dtype),
        meta=np.empty((0,) * view.ndim, dtype=view.dtype),
    )


def _read_map(*, source: Any, changed: int, block_info: Any = None) -> NDArray[Any]:
    rows, *_ = block_info[None]["array-location"]
    return np.array(np.memmap(*source)[slice(*rows)])


def _chunk_shape(view: Any) -> Any:
    """Chunks of a table that is not chunked yet; other arrays are refused later."""
    if view.ndim != 2:
        return "auto"
    return max(1, CHUNK_BYTES // max(1, view.shape[1] * view.dtype.itemsize)), -1


def _frame_values(frame: Any, name: str) -> da.Array:
    """The values of a data frame; counts the rows of its partitions."""
    check_numeric(frame._meta, f"View {name!r}")
    try:
        return frame.to_dask_array(lengths=True)
    except Exception:
        for number, part in enumerate(frame.to_delayed()):  # one by one, to name the one that cannot be read
            call_guarded(part.compute, name, number, 0, None)
        raise


def _checked(array: Any, name: str) -> da.Array:
    """Check an array: two dimensions, known chunk sizes, floats, and all columns in one chunk."""
    label = f"View {name!r}"
    if not isinstance(array, da.Array):
        raise ValueError(f"{label} must be a Dask array or data frame, got {type(array).__name__}.")
    if array.ndim != 2:
        raise ValueError(f"{label} must have two dimensions (samples, features), got shape {array.shape}.")
    if any(isnan(size) for size in array.shape):
        raise ValueError(
            f"{label} has chunks of unknown size (shape {array.shape}). Call its method compute_chunk_sizes(), or "
            f"to_dask_array(lengths=True) on its data frame."
        )
    if 0 in array.shape:
        raise ValueError(f"{label} is empty: its shape is {array.shape}. Every view needs a sample and a column.")
    if not isinstance(array._meta, np.ndarray) and not scipy.sparse.issparse(array._meta):
        if not is_device_array(array._meta):
            raise ValueError(f"{label} has chunks of type {type(array._meta).__name__}. Convert them to arrays first.")
        # Sums are computed in the memory of the workers: each chunk is copied there when it is processed.
        array = array.map_blocks(to_numpy, meta=to_numpy(array._meta))
    if array.dtype.kind not in "biuf":
        raise ValueError(
            f"{label} has the dtype {array.dtype}, which is not numeric. Convert it with astype(float), or select the "
            f"numeric columns."
        )
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float32 if array.dtype == np.float16 else np.float64)
    return array if array.numblocks[1] == 1 else array.rechunk({1: -1})
