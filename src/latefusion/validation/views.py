"""Views of any kind, checked: two-dimensional, numeric, finite, of the same samples, and not constant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse

from latefusion.types import Array, Views
from latefusion.validation.frames import align_by_id, columns_of, frame_to_array, is_frame

ViewColumns = Any  # what `views=` may hold for one view: a slice, or a list of positions or column names


def is_collection(X: Any) -> bool:
    """Whether X consists of several views, in contrast to one table.

    A list whose items are tables (two-dimensional) is a collection of views; a list of rows is one table, as everywhere in
    scikit-learn.
    """
    if scipy.sparse.issparse(X):  # a DOK matrix is a dict, too
        return False
    if isinstance(X, (Views, Mapping)) or getattr(X, "ndim", 2) == 3:
        return True
    if not isinstance(X, (list, tuple)) or len(X) == 0:
        return False
    return all(_dimensions(item) == 2 for item in X)


def _dimensions(item: Any) -> int:
    if hasattr(item, "shape"):
        return len(item.shape)
    if isinstance(item, (list, tuple)):
        return 1 + (_dimensions(item[0]) if len(item) else 0)
    return 0


def check_views(X: Any, *, precomputed: bool = False) -> Views:
    """Views from a collection: a list, a dict, `Views`, or an array of kernels of shape (n, n, m).

    Parameters
    ----------
    X : Views, mapping of str to array, sequence of arrays, or array of shape (n, n, m)
    precomputed : bool, default=False
        Whether the views are kernels, which is the only meaning of a three-dimensional array.

    Returns
    -------
    Views
        With float arrays (float32 kept) or CSR matrices, rows matched by sample id where there are ids.
    """
    if getattr(X, "ndim", 2) == 3:
        X = _split_kernels(X, precomputed)
    if isinstance(X, Views):
        named, mask, ids = dict(X.items()), X.mask, X.sample_ids
    else:
        named, mask, ids = (dict(X) if isinstance(X, Mapping) else _default_names(X)), None, None
    if not named:
        raise ValueError("There are no views: give at least one array.")
    aligned, found = align_by_id({str(name): array for name, array in named.items()})
    arrays = {name: check_view(array, name) for name, array in aligned.items()}
    return Views(arrays, mask=mask, sample_ids=found if ids is None else ids)


def _default_names(arrays: Any) -> dict[str, Any]:
    return {f"view_{position}": array for position, array in enumerate(arrays)}


def _split_kernels(X: Any, precomputed: bool) -> dict[str, Any]:
    if not precomputed:
        raise ValueError(
            f"X has three dimensions {X.shape}, which stands for kernels of shape (n_samples, n_samples, n_views) and needs "
            f"partition='precomputed'. Give feature views as a list or dict of two-dimensional arrays."
        )
    if X.shape[0] != X.shape[1]:
        hint = " Move the view axis to the end with np.moveaxis(X, 0, -1)." if X.shape[1] == X.shape[2] else ""
        raise ValueError(f"Kernels must have the shape (n_samples, n_samples, n_views), got {X.shape}.{hint}")
    return _default_names([X[:, :, position] for position in range(X.shape[2])])


def check_view(array: Any, name: str) -> Array:
    """One view as a finite float array or CSR matrix with at least one row and one column.

    Parameters
    ----------
    array : array, sparse matrix, data frame or nested list
    name : str
        For error messages.

    Returns
    -------
    ndarray or csr_array
    """
    label = f"View {name!r}"
    if is_frame(array):
        array = frame_to_array(array, label)
    elif scipy.sparse.issparse(array):
        array = scipy.sparse.csr_array(array)
    else:
        array = np.asarray(array)
    if array.ndim != 2:
        hint = " Use array.reshape(-1, 1) for a single column." if array.ndim == 1 else ""
        raise ValueError(f"{label} must have two dimensions (samples, features), got shape {array.shape}.{hint}")
    if 0 in array.shape:
        raise ValueError(f"{label} is empty: its shape is {array.shape}. Every view needs a sample and a column.")
    array = _as_float(array, label)
    _check_finite(array, label)
    return array


def _as_float(array: Array, label: str) -> Array:
    if array.dtype.kind == "c":
        raise ValueError(f"{label} holds complex numbers. Complex data not supported: give real and imaginary parts.")
    if array.dtype.kind in "OUS":
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{label} holds values that are not numbers ({error}). Encode or drop them.") from error
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{label} has the type {array.dtype}, which is not numeric. Turn it into numbers first.")
    if array.dtype in (np.float32, np.float64):
        return array
    return array.astype(np.float32 if array.dtype == np.float16 else np.float64)


def _check_finite(array: Array, label: str) -> None:
    values = array.data if scipy.sparse.issparse(array) else array
    # A finite sum proves that all entries are finite at half the memory traffic of looking at each.
    if np.isfinite(np.sum(values, dtype=np.float64)):
        return
    bad = np.flatnonzero(~np.isfinite(values).ravel())
    if len(bad) == 0:
        return
    place = ""
    if not scipy.sparse.issparse(array):
        row, column = np.unravel_index(bad[0], array.shape)
        place = f", the first in row {row}, column {column}"
    kind = "NaN" if np.isnan(values.ravel()[bad[0]]) else "infinite"
    raise ValueError(
        f"{label} holds {len(bad)} values that are NaN or infinite{place} ({kind}). Fill in or drop them; the input must be "
        f"finite."
    )


def check_not_constant(array: Array, name: str) -> None:
    """Refuse a view in which all samples are the same: it has nothing to say, and its centred kernel is zero."""
    if array.shape[0] < 2:
        return
    if scipy.sparse.issparse(array):
        difference = array.max(axis=0) - array.min(axis=0)
        constant = difference.count_nonzero() == 0
    else:
        constant = bool(np.all(array == array[:1]))
    if constant:
        raise ValueError(f"View {name!r} is constant: all samples have the same values, so it cannot separate any. Drop it.")


def split_columns(table: Array, views: Any, columns: list[Any] | None) -> Views:
    """Views as groups of columns of one checked table.

    Parameters
    ----------
    table : ndarray or CSR matrix of shape (n_samples, n_features)
    views : None, mapping of str to columns, or sequence of columns
        Columns of one view: a slice, a list of positions, or a list of column names (or one name). None: one view.
    columns : list or None
        Names of the columns of the table, where it has any.

    Returns
    -------
    Views
    """
    if views is None:
        return Views([table])
    groups = dict(views) if isinstance(views, Mapping) else _default_names(views)
    if not groups:
        raise ValueError("views is empty: name at least one group of columns, or leave it out for a single view.")
    return Views({str(name): table[:, _positions(group, name, table, columns)] for name, group in groups.items()})


def _positions(group: ViewColumns, name: Any, table: Array, columns: list[Any] | None) -> Any:
    width = table.shape[1]
    if isinstance(group, slice) and not isinstance(group.start, str) and not isinstance(group.stop, str):
        positions = np.arange(width)[group]
    else:
        wanted = [group] if isinstance(group, (str, int, np.integer)) else list(group)
        if any(isinstance(one, str) for one in wanted):
            if columns is None:
                raise ValueError(f"View {name!r} is given by column names, but X has none: give positions or a data frame.")
            unknown = [one for one in wanted if one not in columns]
            if unknown:
                raise ValueError(f"View {name!r} names columns that X does not have: {unknown}.")
            positions = np.array([columns.index(one) for one in wanted], dtype=np.intp)
        else:
            positions = np.asarray(wanted)
            if positions.dtype == bool:
                positions = np.flatnonzero(positions)
            outside = [int(one) for one in positions if not -width <= one < width]
            if outside:
                raise ValueError(f"View {name!r} asks for columns {outside}, but X has {width} columns.")
    if len(positions) == 0:
        raise ValueError(f"View {name!r} has no columns.")
    return positions


def check_n_clusters(n_clusters: int, n_samples: int) -> None:
    """Refuse more clusters than samples."""
    if n_clusters > n_samples:
        raise ValueError(f"n_samples={n_samples} should be >= n_clusters={n_clusters}. Ask for fewer clusters.")


def check_new_views(views: Views, names: tuple[str, ...], widths: tuple[int, ...], estimator: str) -> Views:
    """New samples must come in the views of the training samples; named views may come in another order."""
    default = tuple(f"view_{position}" for position in range(len(views.names)))
    if set(views.names) != set(names):
        if views.names != default or len(views.names) != len(names):
            missing = [name for name in names if name not in views.names]
            unknown = [name for name in views.names if name not in names]
            raise ValueError(
                f"{estimator} was fitted on the views {list(names)}, got {list(views.names)} (missing: {missing}; unknown: "
                f"{unknown}). Give the same views."
            )
        views = Views(views.arrays, names, views.mask, views.sample_ids)
    order = [views.names.index(name) for name in names]
    mask = None if views.mask is None else views.mask[:, order]
    views = Views([views.arrays[position] for position in order], names, mask, views.sample_ids)
    for name, found, expected in zip(names, views.widths, widths, strict=True):
        if found != expected:
            raise ValueError(
                f"View {name!r} has {found} columns, but {estimator} was fitted on {expected}. Give the same columns in the "
                f"same order."
            )
    return views
