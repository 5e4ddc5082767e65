"""Checks of views: two-dimensional, numeric, finite, of the same samples, and not constant."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, ValuesView
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


def is_collection(X: Any) -> bool:
    """Whether X consists of several views, in contrast to one table.

    A list in which there is a table (something two-dimensional) is a collection of views; a list of rows is one table,
    as everywhere in scikit-learn.
    """
    if scipy.sparse.issparse(X):  # a DOK matrix is a dict, too
        return False
    if isinstance(X, (Views, Mapping)) or getattr(X, "ndim", 2) == 3:
        return True
    if not isinstance(X, (list, tuple, ValuesView)):
        return False
    return len(X) == 0 or any(_dimensions(item) >= 2 for item in X)


def refuse_single_columns(X: Any) -> None:
    """Raise an error for a list of one-dimensional arrays, which may be views of one column or rows of one table.

    Parameters
    ----------
    X : object
        Lists of lists are tables, as everywhere in scikit-learn.

    Raises
    ------
    ValueError
    """
    if isinstance(X, (list, tuple)) and X and all(_dimensions(item) == 1 and hasattr(item, "shape") for item in X):
        raise ValueError(
            f"X is a list of {len(X)} one-dimensional arrays: {len(X)} views of one column or {len(X)} rows of "
            f"one table? Pass views as columns, [x.reshape(-1, 1) for x in X], or the table as np.stack(X)."
        )


def _dimensions(item: Any) -> int:
    if hasattr(item, "shape"):
        return len(item.shape)
    if isinstance(item, (list, tuple)):
        return 1 + (_dimensions(item[0]) if len(item) else 0)
    return 0


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


def parts(X: Any) -> list[Any]:
    """The views of X, or X itself if it is one table."""
    return list(named_views(X).values()) if is_collection(X) and getattr(X, "ndim", 2) != 3 else [X]


def fingerprint(views: Views) -> str:
    """A digest of some rows of all views, which identifies samples without ids.

    Parameters
    ----------
    views : Views

    Returns
    -------
    str
    """
    digest = hashlib.blake2b(str(len(views)).encode(), digest_size=16)
    for array in views.arrays:
        rows = array[:: max(1, len(views) // FINGERPRINT_ROWS)]
        digest.update(np.ascontiguousarray(rows.toarray() if scipy.sparse.issparse(rows) else to_numpy(rows)).tobytes())
    return digest.hexdigest()


def read_view(
    array: Any,
    name: str,
    *,
    observed: NDArray[np.bool_] | None = None,
    square: bool = False,
    holes: bool = False,
    columns: NDArray[np.bool_] | None = None,
    coordinates: Coordinates = ROWS_AND_COLUMNS,
) -> tuple[Array, NDArray[np.bool_] | None]:
    """One view as a finite float array or CSR array with at least one row and one column.

    Parameters
    ----------
    array : array, sparse matrix, data frame or nested list
    name : str
        For error messages.
    observed : ndarray of bool of shape (n_samples,), default=None
        Samples whose values are read; all when None. The rows of the others become zero.
    square : bool, default=False
        Whether the view is a kernel of the training samples, in which a missing sample has a column, too.
    holes : bool, default=False
        Whether a row of NaN means that the view is missing for the sample.
    columns : ndarray of bool of shape (n_columns,), default=None
        For a kernel of new samples with training samples: the columns that are read.
    coordinates : Coordinates, default=ROWS_AND_COLUMNS
        Names of rows and columns, for error messages.

    Returns
    -------
    array : ndarray or csr_array
    observed : ndarray of bool of shape (n_samples,) or None
        None for all.
    """
    label = f"View {name!r}"
    if is_device_array(array):
        return _check_device_array(array, label, observed), observed
    if is_frame(array):
        array = frame_to_array(array, label)
    elif scipy.sparse.issparse(array):
        array = scipy.sparse.csr_array(array)
    else:
        array = _as_array(array, label)
    if array.ndim != 2:
        hint = " Use array.reshape(-1, 1) for a single column, or similarity='labels' for this view if it is labels."
        hint = hint if array.ndim == 1 else ""
        raise ValueError(f"{label} must have two dimensions (samples, features); got shape {array.shape}.{hint}")
    if 0 in array.shape:
        raise ValueError(
            f"{label} is empty: its shape is {array.shape}. Every view must have at least one sample and one column."
        )
    array = _as_float(array, label)
    values = array.data if scipy.sparse.issparse(array) else array
    if holes and not np.isfinite(_sum_of_squares(values)):
        empty = empty_rows(array)
        if empty.any():
            observed = ~empty if observed is None else observed & ~empty
    if columns is not None and len(columns) == array.shape[1] and not columns.all():
        array = hide_entries(array, None, columns)
    if observed is not None and not observed.all():
        square = square and array.shape[0] == array.shape[1]
        array = hide_entries(array, observed, observed if square else None)
    _check_finite(array, label, coordinates, hint=not holes)
    return array, observed


def _as_array(array: Any, label: str) -> NDArray[Any]:
    if isinstance(array, np.ma.MaskedArray):
        return np.ma.filled(array.astype(np.float64), np.nan)
    try:
        return np.asarray(array)
    except ValueError as error:
        raise ValueError(f"{label} is not a table: {error}") from error


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


def _check_device_array(array: Array, label: str, observed: NDArray[np.bool_] | None) -> Array:
    """A tensor that stays where it is: two dimensions, single or double precision, finite, all samples observed."""
    device = device_name(array)
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
        f"{bad[1, 0]}. Impute or drop them; the input must be finite."
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


def _as_float(array: Array, label: str) -> Array:
    if array.dtype.kind == "c":
        raise ValueError(
            f"{label} contains complex numbers. Complex data not supported: pass real and imaginary parts as columns."
        )
    if array.dtype.kind in "OUS":
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{label} contains values that are not numbers ({error}). Encode or remove them."
            ) from error
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{label} has the type {array.dtype}, which is not numeric. Convert it to numbers first.")
    if array.dtype in (np.float32, np.float64):
        return array
    return array.astype(np.float32 if array.dtype == np.float16 else np.float64)


def _check_finite(array: Array, label: str, coordinates: Coordinates, *, hint: bool) -> None:
    values = array.data if scipy.sparse.issparse(array) else array
    if np.isfinite(_sum_of_squares(values)):
        return
    bad = np.flatnonzero(~np.isfinite(values).ravel())
    if len(bad) == 0:
        return
    if scipy.sparse.issparse(array):
        row, column = int(np.searchsorted(array.indptr, bad[0], side="right")) - 1, int(array.indices[bad[0]])
    else:
        row, column = (int(one) for one in np.unravel_index(bad[0], array.shape))
    kind = "NaN" if np.isnan(values.ravel()[bad[0]]) else "infinite"
    n_empty = int(empty_rows(array).sum()) if hint else 0
    advice = "Impute single values first, for example with sklearn.impute.SimpleImputer, or drop their rows or columns"
    if n_empty:
        advice += (
            f"; the {n_empty} rows that are all NaN (samples without this view) need a method for missing "
            f"views such as LateFusionClustering"
        )
    raise ValueError(
        f"{label} contains {len(bad)} values that are NaN or infinite, the first in {coordinates.cell(row, column)} "
        f"({kind}). {advice}; the input must be finite."
    )


def check_magnitude(array: Array, name: str) -> None:
    """Raise an error for values so large that distances and inner products overflow."""
    if is_device_array(array):
        largest, limit = _largest(array), float(namespace(array).finfo(array.dtype).max)
    else:
        values = array.data if scipy.sparse.issparse(array) else array
        limit = float(np.finfo(values.dtype).max)
        if _sum_of_squares(values) < limit / SAFETY**2:
            return
        largest = max(float(np.max(values, initial=0.0)), -float(np.min(values, initial=0.0)))
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
