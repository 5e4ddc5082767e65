"""Checks of views: two-dimensional, numeric, finite, of the same samples, and not constant."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.arrays import detached, device_name, is_device_array, is_lazy, namespace, to_numpy
from latefusion.types import Array, Views
from latefusion.validation.frames import frame_to_array, is_frame
from latefusion.validation.holes import empty_rows
from latefusion.validation.sample_ids import ROWS_AND_COLUMNS, Coordinates

# Distances and inner products are sums of squares. Squares of values must be below the range of floats by this factor.
SAFETY = 1e4
# Entries per block in checks of all values.
BLOCK_ENTRIES = 2**20
# Rows that are checked first for a constant view.
FIRST_ROWS = 100
# Smallest number of rows in a digest.
FINGERPRINT_ROWS = 256
FINGERPRINT_COLUMNS = 64


def named_views(X: Any) -> dict[str, Any]:
    """The items of a collection by name; ``view_0``, ``view_1``, ... if they have no names."""
    if isinstance(X, (Views, Mapping)):
        pairs = [(str(name), array) for name, array in X.items()]
    else:
        pairs = [(f"view_{position}", array) for position, array in enumerate(X)]
    if not pairs:
        raise ValueError("X contains no views. Give at least one array.")
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise ValueError(f"View names must differ when written as text, got {names}. Rename the views.")
    return dict(pairs)


def fingerprint(views: Views) -> str:
    """A digest of some values of all views, which identifies samples without ids.

    Parameters
    ----------
    views : Views

    Returns
    -------
    str
    """
    digest = hashlib.blake2b(str(len(views)).encode(), digest_size=16)
    for array in views.arrays:
        rows = array[:: max(1, len(views) // FINGERPRINT_ROWS), :: max(1, array.shape[1] // FINGERPRINT_COLUMNS)]
        digest.update(np.ascontiguousarray(rows.toarray() if scipy.sparse.issparse(rows) else to_numpy(rows)).tobytes())
    return digest.hexdigest()


def as_numbers(view: Any, name: str, coordinates: Coordinates = ROWS_AND_COLUMNS) -> Array:
    """One view as a float array or CSR array of two dimensions, with at least one row and one column.

    Parameters
    ----------
    view : array, sparse matrix, numeric data frame or nested list
        NaN is allowed.
    name : str
        For error messages.
    coordinates : Coordinates, default=ROWS_AND_COLUMNS
        Names of rows and columns, for error messages.

    Returns
    -------
    ndarray or csr_array
    """
    label = f"View {name!r}"
    if is_frame(view):
        array = frame_to_array(view)
    elif scipy.sparse.issparse(view):
        array = scipy.sparse.csr_array(view)
    else:
        array = _as_array(view, label)
    if array.ndim != 2:
        hint = " Use array.reshape(-1, 1) for a single column, or similarity='labels' for this view if it is labels."
        hint = hint if array.ndim == 1 else ""
        raise ValueError(f"{label} must have two dimensions (samples, features); got shape {array.shape}.{hint}")
    if 0 in array.shape:
        raise ValueError(
            f"{label} is empty: its shape is {array.shape}. Every view must have at least one sample and one column."
        )
    return _as_float(array, label, coordinates)


def hide_missing(
    array: Array,
    observed: NDArray[np.bool_] | None,
    *,
    square: bool = False,
    columns: NDArray[np.bool_] | None = None,
) -> tuple[Array, NDArray[np.bool_] | None]:
    """A view with zeros for samples without it: those that the mask excludes, and those whose values are all NaN.

    Parameters
    ----------
    array : ndarray or csr_array of shape (n_samples, n_columns)
    observed : ndarray of bool of shape (n_samples,) or None
        Samples that have the view by the mask of the user; all when None.
    square : bool, default=False
        Whether the view is a kernel of the training samples, in which a missing sample has a column, too.
    columns : ndarray of bool of shape (n_columns,), default=None
        For a kernel of new samples with training samples: the columns that are read.

    Returns
    -------
    array : ndarray or csr_array
    observed : ndarray of bool of shape (n_samples,) or None
        None for all.
    """
    if not is_finite(array):
        empty = empty_rows(array)
        if empty.any():
            observed = ~empty if observed is None else observed & ~empty
    if columns is not None and len(columns) == array.shape[1] and not columns.all():
        array = hide_entries(array, None, columns)
    if observed is not None and not observed.all():
        array = hide_entries(array, observed, observed if square and array.shape[0] == array.shape[1] else None)
    return array, observed


def is_finite(array: Array) -> bool:
    """Whether all values of a view are finite."""
    values = array.data if scipy.sparse.issparse(array) else array
    return bool(np.isfinite(_sum_of_squares(values))) or bool(np.all(np.isfinite(values)))


def _as_array(array: Any, label: str) -> NDArray[Any]:
    if isinstance(array, np.ma.MaskedArray):
        return np.ma.filled(array.astype(np.float64), np.nan)
    try:
        return np.asarray(array)
    except ValueError as error:
        return _objects_of_rows(array, label, error)


def _objects_of_rows(rows: Any, label: str, error: ValueError) -> NDArray[Any]:
    """Rows that NumPy refuses, as an array of objects, whose first value that is not a number is then named."""
    widths = [len(row) if isinstance(row, (Sequence, np.ndarray)) else None for row in rows]
    other = next((row for row, width in enumerate(widths) if width != widths[0]), None)
    if other is not None and None not in widths:
        raise ValueError(
            f"{label} is not a table: row 0 has {widths[0]} values and row {other} has {widths[other]}. Give every row "
            f"the same number of values; NaN stands for missing ones."
        ) from error
    if other is not None or not widths[0]:
        raise ValueError(f"{label} is not a table: {error}") from error
    objects = np.empty((len(widths), widths[0]), dtype=object)
    for row, values in enumerate(rows):
        for column, value in enumerate(values):
            objects[row, column] = value
    return objects


def hide_entries(array: Array, rows: NDArray[np.bool_] | None, columns: NDArray[np.bool_] | None) -> Array:
    """A copy of a dense or sparse view with zeros outside of some rows and columns."""
    array = array.copy()
    if scipy.sparse.issparse(array):
        shown = np.ones(len(array.data), dtype=bool)
        if rows is not None:
            shown &= np.repeat(rows, np.diff(array.indptr))
        if columns is not None:
            shown &= columns[array.indices]
        array.data[~shown] = 0.0
        return array
    if rows is not None:
        array[~rows] = 0.0
    if columns is not None:
        array[:, ~columns] = 0.0
    return array


def check_device_array(array: Array, name: str, observed: NDArray[np.bool_] | None) -> Array:
    """A tensor that stays where it is: two dimensions, single or double precision, finite, all samples observed."""
    label, device = f"View {name!r}", device_name(array)
    if is_lazy(array):
        raise ValueError(
            f"{label} is a {type(array).__name__} of {device}, which cannot be written to or is not computed yet. "
            f"Pass arrays of NumPy, torch or CuPy, for example np.asarray(view), or use the estimators in "
            f"latefusion.distributed for Dask arrays."
        )
    xp, array = namespace(array), detached(array)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            f"{label} must have two dimensions, at least one sample and one column, got shape {tuple(array.shape)}."
        )
    if array.dtype not in (xp.float32, xp.float64):
        raise ValueError(
            f"{label} has the type {array.dtype}: arrays on a device ({device}) must be float32 or float64. Convert it "
            f"there first (view.float() in torch, view.astype('float32') in CuPy), or pass NumPy arrays."
        )
    if observed is not None and not observed.all():
        raise ValueError(f"{label} is stored in {device}, but missing views require NumPy arrays.")
    if not np.isfinite(_largest(array)):
        _refuse_values(array, label, device, xp)
    return array


def _refuse_values(array: Array, label: str, device: str, xp: Any) -> None:
    bad = to_numpy(xp.stack(xp.nonzero(~xp.isfinite(array))))  # an error is allowed to be slow
    n_empty = int(xp.count_nonzero(xp.all(xp.isnan(array), axis=1)))
    if n_empty:
        raise ValueError(
            f"{label} is stored in {device} and has {n_empty} rows that are all NaN, but missing views require NumPy "
            f"arrays."
        )
    raise ValueError(
        f"{label} contains {bad.shape[1]} values that are NaN or infinite, the first in row {bad[0, 0]}, column "
        f"{bad[1, 0]}. Arrays on a device must be finite. Impute the values first, or pass NumPy arrays."
    )


def _largest(array: Array) -> float:
    """Largest magnitude in an array on a device, NaN if there is one; allocates no array of its size."""
    xp = namespace(array)
    return float(xp.max(xp.stack([xp.max(array), -xp.min(array)])))


def check_one_device(arrays: Mapping[str, Array]) -> None:
    """All views must belong to one array library and one device, where they share one float type."""
    devices = {name: device_name(array) for name, array in arrays.items()}
    if len(set(devices.values())) > 1:
        raise ValueError(f"All views must be on the same device; got {devices}. Move them to one device first.")
    types = {name: str(array.dtype) for name, array in arrays.items() if is_device_array(array)}
    if len(set(types.values())) > 1:
        raise ValueError(f"Views on a device must have one float type, got {types}. Convert them to one of these.")


def _as_float(array: Array, label: str, coordinates: Coordinates) -> Array:
    if array.dtype.kind == "c":
        raise ValueError(
            f"{label} contains complex numbers. Complex data not supported: pass real and imaginary parts as columns."
        )
    if array.dtype.kind in "OUS":
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            row, column = next((cell for cell in np.ndindex(array.shape) if not _is_number(array.item(cell))), (0, 0))
            value = array.item((row, column))
            raise ValueError(
                f"{label} contains values that are not numbers, the first in {coordinates.cell(row, column)}: "
                f"{value!r:.60} (a {type(value).__name__}). An array must contain numbers. Encode or remove the "
                f"others, or pass words, dates and categories in a data frame."
            ) from error
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{label} has the type {array.dtype}, which is not numeric. Convert it to numbers first.")
    if array.dtype in (np.float32, np.float64):
        return array
    return array.astype(np.float32 if array.dtype == np.float16 else np.float64)


def _is_number(value: Any) -> bool:
    """Whether an object can be a number; None is a missing one."""
    try:
        float(0 if value is None else value)
    except (TypeError, ValueError, OverflowError):
        return False
    return not isinstance(value, np.ndarray)


def is_moderate(array: Array) -> bool:
    """Whether all values are finite and far from overflow, by one pass; most views are."""
    values = array.data if scipy.sparse.issparse(array) else array
    return bool(_sum_of_squares(values) < float(np.finfo(values.dtype).max) / SAFETY**2)


def check_finite(
    array: Array, name: str, coordinates: Coordinates, kind: str = "features", *, allow_missing: bool = False
) -> None:
    """Raise an error for infinite values, and for missing values where these are not imputed."""
    if is_finite(array):
        return
    values = array.data if scipy.sparse.issparse(array) else array
    bad = np.flatnonzero(np.isinf(values).ravel() if allow_missing else ~np.isfinite(values).ravel())
    if not len(bad):
        return
    if scipy.sparse.issparse(array):
        row, column = int(np.searchsorted(array.indptr, bad[0], side="right")) - 1, int(array.indices[bad[0]])
    else:
        row, column = (int(one) for one in np.unravel_index(bad[0], array.shape))
    first = "NaN" if np.isnan(values.ravel()[bad[0]]) else "infinite"
    advice = "Replace them by finite values, or by NaN to impute them, or drop their rows or columns"
    if kind == "precomputed":
        advice = (
            "Similarities cannot be imputed one by one. Compute the kernel from imputed features, or set the whole "
            "row and column of a sample to NaN if it does not have this view"
        )
    raise ValueError(
        f"View {name!r} contains {len(bad)} values that are NaN or infinite, the first in "
        f"{coordinates.cell(row, column)} ({first}). {advice}."
    )


def check_magnitude(array: Array, name: str) -> None:
    """Raise an error for values so large that distances and inner products overflow."""
    if is_device_array(array):
        largest, limit = _largest(array), float(namespace(array).finfo(array.dtype).max)
    else:
        values = array.data if scipy.sparse.issparse(array) else array
        limit = float(np.finfo(values.dtype).max)
        largest = max(
            float(np.fmax.reduce(values, axis=None, initial=0.0)),
            -float(np.fmin.reduce(values, axis=None, initial=0.0)),
        )
    if largest > limit**0.5 / SAFETY:
        raise ValueError(
            f"View {name!r} has values of magnitude {largest:.3g}, whose squares overflow {array.dtype}. Divide "
            f"it by a constant, or standardize its columns."
        )


def check_not_constant(array: Array, name: str) -> None:
    """Raise an error for a view in which all samples are the same: its centered kernel is zero."""
    if array.shape[0] < 2:
        return
    limits = namespace(array).finfo if is_device_array(array) else np.finfo
    enough = float(getattr(limits(array.dtype), "smallest_normal", np.finfo(np.float32).tiny)) ** 0.5 * SAFETY
    if float(_spread(array[:FIRST_ROWS])) >= enough:  # nearly always; the rest need not be read
        return
    largest_difference = float(_spread(array))
    if largest_difference == 0:
        raise ValueError(
            f"View {name!r} is constant: all samples have the same values, so it cannot separate clusters. Remove it."
        )
    if largest_difference < enough:
        raise ValueError(
            f"View {name!r} is constant up to rounding: its values differ by at most {largest_difference:.3g}, the "
            f"square of which underflows {array.dtype}. Multiply it by a constant, or standardize its columns."
        )


def _spread(array: Array) -> Any:
    if is_device_array(array):
        xp = namespace(array)
        return xp.max(xp.max(array, axis=0) - xp.min(array, axis=0))
    return (array.max(axis=0) - array.min(axis=0)).max()


def _sum_of_squares(values: Array) -> float:
    """A fast check that most arrays pass: if the sum of squares is finite, there is no NaN, infinity or overflow."""
    rows = values.reshape(1, -1) if values.ndim == 1 else values
    step = max(1, BLOCK_ENTRIES // max(1, rows.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):
        parts = [np.vdot(block, block) for block in (rows[i : i + step] for i in range(0, rows.shape[0], step))]
        return float(np.sum(parts, dtype=np.float64))


def check_n_clusters(n_clusters: int, n_samples: int) -> None:
    """Raise an error for more clusters than samples."""
    if isinstance(n_clusters, bool):
        raise ValueError(f"n_clusters must be an integer >= 1; got {n_clusters!r}.")
    if n_clusters > n_samples:
        raise ValueError(f"n_samples={n_samples} should be >= n_clusters={n_clusters}. Use fewer clusters.")
