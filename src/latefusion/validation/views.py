"""Views of any kind, checked: two-dimensional, numeric, finite, of the same samples, and not constant."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, ValuesView
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.arrays import detached, is_lazy, lies_elsewhere, namespace, place_of, to_numpy
from latefusion.types import Array, Views
from latefusion.validation.frames import columns_of, frame_to_array, is_frame
from latefusion.validation.holes import empty_rows
from latefusion.validation.sample_ids import ROWS_AND_COLUMNS, Coordinates, ids_of, match_rows

# Distances and inner products add up squares of values; between them and the range of floats lies at least this factor.
SAFETY = 1e4
# Entries read at a time when all values are looked at.
BLOCK_ENTRIES = 2**20
# Rows that are looked at first to see that a view is not constant.
FIRST_ROWS = 100
# Rows that are read to tell data sets apart, at least.
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
    """Refuse a list of one-dimensional arrays, which may be views of one column or rows of one table.

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


def check_views(
    X: Any,
    *,
    precomputed: bool = False,
    holes: bool = False,
    columns: Mapping[str, NDArray[np.bool_]] | None = None,
    column_names: Mapping[str, Any] | None = None,
) -> Views:
    """Views from a collection: a list, a dict, `Views`, or an array of kernels of shape (n, n, m).

    Parameters
    ----------
    X : Views, mapping of str to array, sequence of arrays, or array of shape (n, n, m)
    precomputed : bool, default=False
        Whether the views are kernels, which is the only meaning of a three-dimensional array.
    holes : bool, default=False
        Whether samples may lack views: then rows of NaN, and sample ids that are not in every view, become a mask.
    columns : mapping of str to ndarray of bool, default=None
        For kernels of new samples with training samples: the columns that count, by view; the others are not read.
    column_names : mapping of str to sequence, default=None
        Names of the columns of views that are not data frames, for error messages.

    Returns
    -------
    Views
        With float arrays (float32 kept) or CSR matrices, rows matched by sample id where there are ids. Where a mask
        says that a sample is not observed, it holds zeros, whatever was there.
    """
    if getattr(X, "ndim", 2) == 3:
        X = _split_kernels(X, precomputed)
    mask, ids = (X.mask, X.sample_ids) if isinstance(X, Views) else (None, None)
    named = named_views(X)
    matched = match_rows(named, missing=holes)
    if matched.rows and not (mask is None and ids is None):
        raise ValueError(
            "The views have sample ids in different orders, but the mask and the sample_ids of `Views` refer to rows. "
            "Bring the rows of all views into one order first."
        )
    arrays, seen = {}, []
    for position, (name, view) in enumerate(named.items()):
        observed = None if mask is None else mask[:, position]
        array, observed = read_view(
            view,
            name,
            observed=observed,
            precomputed=precomputed,
            holes=holes,
            columns=None if columns is None else columns.get(name),
            coordinates=Coordinates(
                ids_of(view) if ids is None else ids,
                columns_of(view) if is_frame(view) else None if column_names is None else column_names[name],
            ),
        )
        if matched.rows:
            array, observed = _place_rows(array, observed, matched.rows[name])
        arrays[name] = array
        seen.append(observed)
    _check_one_place(arrays)
    views = Views(arrays, mask=mask, sample_ids=matched.ids if ids is None else ids)
    if all(one is None for one in seen):
        return views
    whole = np.ones(len(views), dtype=bool)
    together = np.stack([whole if one is None else one for one in seen], axis=1)
    return Views(arrays, mask=together, sample_ids=views.sample_ids)


def _place_rows(
    array: Array, observed: NDArray[np.bool_] | None, rows: NDArray[np.intp]
) -> tuple[Array, NDArray[np.bool_] | None]:
    """Rows in the order of the samples; a sample without a row has zeros and is not observed."""
    present = rows >= 0
    if present.all():
        return array[rows], None if observed is None else observed[rows]
    placed = np.zeros((len(rows), array.shape[1]), dtype=array.dtype)
    placed[present] = array[rows[present]]
    return placed, present if observed is None else present & observed[rows]


def named_views(X: Any) -> dict[str, Any]:
    """The items of a collection by name; where they have none, ``view_0``, ``view_1``, ..."""
    if isinstance(X, (Views, Mapping)):
        pairs = [(str(name), array) for name, array in X.items()]
    else:
        pairs = [(f"view_{position}", array) for position, array in enumerate(X)]
    if not pairs:
        raise ValueError("There are no views: give at least one array.")
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise ValueError(f"View names must differ when written as text, got {names}. Rename the views.")
    return dict(pairs)


def parts(X: Any) -> list[Any]:
    """What X consists of: its views, or X itself if it is one table."""
    return list(named_views(X).values()) if is_collection(X) and getattr(X, "ndim", 2) != 3 else [X]


def fingerprint(views: Views) -> str:
    """A digest of some rows of all views: whether samples without ids are those of an earlier call.

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


def adopt_names(X: Any, names: tuple[str, ...], *, precomputed: bool = False) -> Any:
    """New samples whose views have no names of their own take those of the training views, in order."""
    if precomputed and getattr(X, "ndim", 2) == 3:
        X = [X[:, :, position] for position in range(X.shape[2])]
    if isinstance(X, Views):
        unnamed = X.names == tuple(f"view_{position}" for position in range(X.n_views))
        return Views(X.arrays, names, X.mask, X.sample_ids) if unnamed and X.n_views == len(names) else X
    if isinstance(X, Mapping) or getattr(X, "ndim", 2) == 3 or len(X) != len(names):
        return X
    return dict(zip(names, X, strict=True))


def frame_columns(X: Any) -> dict[str, list[Any]]:
    """Column names of those views of a collection that are data frames."""
    if getattr(X, "ndim", 2) == 3:
        return {}
    return {name: columns_of(view) for name, view in named_views(X).items() if is_frame(view)}


def _split_kernels(X: Any, precomputed: bool) -> dict[str, Any]:
    if not precomputed:
        raise ValueError(
            f"X has three dimensions {X.shape}, which means kernels of shape (n_samples, n_samples, n_views) and "
            f"needs partition='precomputed'. Pass feature views as a list or dict of two-dimensional arrays."
        )
    if X.shape[0] != X.shape[1]:
        hint = " Move the view axis to the end with np.moveaxis(X, 0, -1)." if X.shape[1] == X.shape[2] else ""
        raise ValueError(f"Kernels must have the shape (n_samples, n_samples, n_views), got {X.shape}.{hint}")
    return {f"view_{position}": X[:, :, position] for position in range(X.shape[2])}


def check_view(array: Any, name: str, *, observed: NDArray[np.bool_] | None = None, precomputed: bool = False) -> Array:
    """One view as a finite float array or CSR matrix with at least one row and one column.

    Parameters
    ----------
    array : array, sparse matrix, data frame or nested list
    name : str
        For error messages.
    observed : ndarray of bool of shape (n_samples,), default=None
        Samples whose values are to be read; all when None. The rows of the others become zero.
    precomputed : bool, default=False
        Whether the view is a kernel, in which a sample that is not observed has a column, too.

    Returns
    -------
    ndarray or csr_array
    """
    return read_view(array, name, observed=observed, precomputed=precomputed)[0]


def read_view(
    array: Any,
    name: str,
    *,
    observed: NDArray[np.bool_] | None = None,
    precomputed: bool = False,
    holes: bool = False,
    columns: NDArray[np.bool_] | None = None,
    coordinates: Coordinates = ROWS_AND_COLUMNS,
) -> tuple[Array, NDArray[np.bool_] | None]:
    """The same, and which samples are observed: None for all.

    Parameters
    ----------
    array, name, observed, precomputed : as in `check_view`
    holes : bool, default=False
        Whether a row of NaN says that the sample is not observed.
    columns : ndarray of bool of shape (n_columns,), default=None
        For a kernel of new samples with training samples: the columns that are read.
    coordinates : Coordinates, default=ROWS_AND_COLUMNS
        Names of rows and columns, for error messages.

    Returns
    -------
    array : ndarray or csr_array
    observed : ndarray of bool of shape (n_samples,) or None
    """
    label = f"View {name!r}"
    if lies_elsewhere(array):
        return _check_device_array(array, label, observed), observed
    if is_frame(array):
        array = frame_to_array(array, label)
    elif scipy.sparse.issparse(array):
        array = scipy.sparse.csr_array(array)
    else:
        array = _as_array(array, label)
    if array.ndim != 2:
        hint = " Use array.reshape(-1, 1) for a single column, or partition='labels' for this view if it is labels."
        hint = hint if array.ndim == 1 else ""
        raise ValueError(f"{label} must have two dimensions (samples, features), got shape {array.shape}.{hint}")
    if 0 in array.shape:
        raise ValueError(
            f"{label} is empty: its shape is {array.shape}. Every view needs at least one sample and one column."
        )
    array = _as_float(array, label)
    values = array.data if scipy.sparse.issparse(array) else array
    if holes and not np.isfinite(_sum_of_squares(values)):
        empty = empty_rows(array)
        if empty.any():
            observed = ~empty if observed is None else observed & ~empty
    if columns is not None and len(columns) == array.shape[1] and not columns.all():
        array = _hide(array, None, columns)
    if observed is not None and not observed.all():
        square = precomputed and array.shape[0] == array.shape[1] and columns is None
        array = _hide(array, observed, observed if square else None)
    _check_finite(array, label, coordinates, hint=not holes)
    return array, observed


def _as_array(array: Any, label: str) -> NDArray[Any]:
    if isinstance(array, np.ma.MaskedArray):
        return np.ma.filled(array.astype(np.float64), np.nan)
    try:
        return np.asarray(array)
    except ValueError as error:
        raise ValueError(f"{label} is not a table: {error}") from error


def _hide(array: Array, rows: NDArray[np.bool_] | None, columns: NDArray[np.bool_] | None) -> Array:
    """A copy with zeros outside of some rows and columns."""
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
    place = place_of(array)
    if is_lazy(array):
        raise ValueError(
            f"{label} is a {type(array).__name__} of {place}, which cannot be written to or is not computed yet. "
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
            f"{label} has the type {array.dtype}: arrays on a device ({place}) must be float32 or float64. Convert it "
            f"there first (view.float() in torch, view.astype('float32') in CuPy), or pass NumPy arrays."
        )
    if observed is not None and not observed.all():
        raise ValueError(f"{label} is stored in {place}, but samples that are missing from a view need NumPy arrays.")
    if not np.isfinite(_largest(array)):
        _refuse_values(array, label, place, xp)
    return array


def _refuse_values(array: Array, label: str, place: str, xp: Any) -> None:
    bad = to_numpy(xp.stack(xp.nonzero(~xp.isfinite(array))))  # an error is allowed to be slow
    n_empty = int(xp.count_nonzero(xp.all(xp.isnan(array), axis=1)))
    if n_empty:
        raise ValueError(
            f"{label} is stored in {place} and has {n_empty} rows that are all NaN, but samples that are missing "
            f"from a view need NumPy arrays."
        )
    raise ValueError(
        f"{label} holds {bad.shape[1]} values that are NaN or infinite, the first in row {bad[0, 0]}, column "
        f"{bad[1, 0]}. Impute or drop them; the input must be finite."
    )


def _largest(array: Array) -> float:
    """Largest magnitude in an array on a device, NaN where there is one; nothing of its size is made."""
    xp = namespace(array)
    return float(xp.max(xp.stack([xp.max(array), -xp.min(array)])))


def _check_one_place(arrays: Mapping[str, Array]) -> None:
    """All views must belong to one array library and one device, where they share one float type."""
    places = {name: place_of(array) for name, array in arrays.items()}
    if len(set(places.values())) > 1:
        raise ValueError(f"All views must be stored in one place, got {places}. Move them to one device first.")
    types = {name: str(array.dtype) for name, array in arrays.items() if lies_elsewhere(array)}
    if len(set(types.values())) > 1:
        raise ValueError(f"Views on a device must have one float type, got {types}. Convert them to one of these.")


def check_same_place(views: Views, place: str, estimator: str) -> None:
    """New samples must be stored where the training samples were."""
    for name, array in views.items():
        if place_of(array) != place:
            raise ValueError(
                f"View {name!r} is stored in {place_of(array)}, but {estimator} was fitted on arrays in {place}. Move "
                f"the new samples there, or fit on arrays of the kind that you want to predict for."
            )


def _as_float(array: Array, label: str) -> Array:
    if array.dtype.kind == "c":
        raise ValueError(
            f"{label} holds complex numbers. Complex data not supported: pass real and imaginary parts as columns."
        )
    if array.dtype.kind in "OUS":
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{label} holds values that are not numbers ({error}). Encode or drop them.") from error
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
            f"; the {n_empty} rows that are all NaN, samples without this view, need a method for incomplete "
            f"views such as LateFusionClustering"
        )
    raise ValueError(
        f"{label} holds {len(bad)} values that are NaN or infinite, the first in {coordinates.cell(row, column)} "
        f"({kind}). {advice}; the input must be finite."
    )


def check_magnitude(array: Array, name: str) -> None:
    """Refuse values so large that their squares, and with them distances and inner products, are infinite."""
    if lies_elsewhere(array):
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
            f"it by a constant, or standardise its columns."
        )


def check_not_constant(array: Array, name: str) -> None:
    """Refuse a view in which all samples are the same: its centred kernel is zero."""
    if array.shape[0] < 2:
        return
    limits = namespace(array).finfo if lies_elsewhere(array) else np.finfo
    enough = float(getattr(limits(array.dtype), "smallest_normal", np.finfo(np.float32).tiny)) ** 0.5 * SAFETY
    if float(_spread(array[:FIRST_ROWS])) >= enough:  # nearly always; the rest need not be read
        return
    spread = float(_spread(array))
    if spread == 0:
        raise ValueError(
            f"View {name!r} is constant: all samples have the same values, so it cannot separate clusters. Drop it."
        )
    if spread < enough:
        raise ValueError(
            f"View {name!r} is constant up to rounding: its values differ by at most {spread:.3g}, and the square of "
            f"that underflows {array.dtype}. Multiply it by a constant, or standardise its columns."
        )


def _spread(array: Array) -> Any:
    if lies_elsewhere(array):
        xp = namespace(array)
        return xp.max(xp.max(array, axis=0) - xp.min(array, axis=0))
    return (array.max(axis=0) - array.min(axis=0)).max()


def _sum_of_squares(values: Array) -> float:
    """One fast pass that proves most arrays good: a finite sum of squares has no NaN, no infinity and no huge value."""
    rows = values.reshape(1, -1) if values.ndim == 1 else values
    step = max(1, BLOCK_ENTRIES // max(1, rows.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):
        parts = [np.vdot(block, block) for block in (rows[i : i + step] for i in range(0, rows.shape[0], step))]
        return float(np.sum(parts, dtype=np.float64))


def check_n_clusters(n_clusters: int, n_samples: int) -> None:
    """Refuse more clusters than samples."""
    if isinstance(n_clusters, bool):
        raise ValueError(f"n_clusters={n_clusters} is not a number of clusters: pass an integer.")
    if n_clusters > n_samples:
        raise ValueError(f"n_samples={n_samples} should be >= n_clusters={n_clusters}. Ask for fewer clusters.")


def check_new_views(
    views: Views, names: tuple[str, ...], estimator: str, widths: Mapping[str, int] | None = None
) -> Views:
    """Views of new samples in the order of the training views, whatever order they come in.

    With ``widths``, the number of columns of every view, views may be absent: they are missing for all samples then.
    """
    missing = [name for name in names if name not in views.names]
    unknown = [name for name in views.names if name not in names]
    if unknown or (missing and (widths is None or len(missing) == len(names))):
        raise ValueError(
            f"{estimator} was fitted on the views {list(names)}, got {list(views.names)} (missing: {missing}; unknown: "
            f"{unknown}). Pass the same views."
        )
    order = [views.names.index(name) if name in views.names else None for name in names]
    arrays, observed = [], []
    for name, position in zip(names, order, strict=True):
        if position is None:
            assert widths is not None
            arrays.append(np.zeros((len(views), widths[name]), dtype=np.float32))
            observed.append(np.zeros(len(views), dtype=bool))
        else:
            arrays.append(views.arrays[position])
            observed.append(np.ones(len(views), dtype=bool) if views.mask is None else views.mask[:, position])
    mask = None if views.mask is None and not missing else np.stack(observed, axis=1)
    return Views(arrays, names, mask, views.sample_ids)


def check_new_width(array: Array, name: str, width: int, estimator: str) -> None:
    """New samples must have as many columns as the training samples."""
    if array.shape[1] != width:
        raise ValueError(
            f"View {name!r} has {array.shape[1]} columns, but {estimator} was fitted on {width}. Give the same columns "
            f"in the same order."
        )
