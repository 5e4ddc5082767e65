"""Containers of views: lists, dicts, `Views`, MuData, kernels in one array, and groups of columns of one table."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, ValuesView
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_array

from latefusion.arrays import is_device_array, take_columns
from latefusion.datasets.modalities import is_mudata, modality_views
from latefusion.types import Array, Views
from latefusion.validation.columns import automatic_groups, column_groups, reorder_columns
from latefusion.validation.frames import (
    check_columns,
    columns_of,
    is_frame,
    is_numeric_frame,
    select_columns,
    split_levels,
)
from latefusion.validation.kernels import is_precomputed
from latefusion.validation.sample_ids import ids_of
from latefusion.validation.schema import InputRules, InputSchema, feature_names
from latefusion.validation.views import named_views


class Given(NamedTuple):
    """Views as given by the user, by name.

    Attributes
    ----------
    views : dict of str to array or data frame
    columns : dict of str to sequence
        Names of columns, or their positions in one table, for messages.
    named : bool
        Whether the user named them; names by position do not identify missing views.
    mask : ndarray of bool of shape (n_samples, n_views) or None
    ids : ndarray of shape (n_samples,) or None
    table_width : int or None
        Number of columns, if X is one table.
    table_columns : list or None
        Their names, if it is a data frame.
    """

    views: dict[str, Any]
    columns: dict[str, Any]
    named: bool = False
    mask: NDArray[np.bool_] | None = None
    ids: Any = None
    table_width: int | None = None
    table_columns: list[Any] | None = None


def open_input(X: Any, rules: InputRules, schema: InputSchema | None = None) -> Given:
    """Views by name, out of any container.

    Parameters
    ----------
    X : list, dict or `Views` of arrays and data frames, array of shape (n, n, m), MuData, or one table
    rules : InputRules
    schema : InputSchema, default=None
        For new samples.

    Returns
    -------
    Given
    """
    if X is None:
        raise ValueError(
            f"X is None. Give {rules.estimator} the views, such as a list or dict of arrays or data frames."
        )
    if is_mudata(X):
        X = modality_views(X)
    if rules.views is None:
        X = split_levels(X)
        refuse_single_columns(X)
    if not is_collection(X):
        return _open_table(X, rules, schema)
    if rules.views is not None:
        raise ValueError("views= requires one table, but X consists of several views. Remove views=.")
    named = _split_kernels(X, rules, schema) if getattr(X, "ndim", 2) == 3 else named_views(X)
    if schema is not None and len(named) == len(schema.names) and _is_unnamed(X):
        named = dict(zip(schema.names, named.values(), strict=True))
    columns = {name: columns_of(view) for name, view in named.items() if is_frame(view)}
    if isinstance(X, Views):
        return Given(named, columns, True, X.mask, X.sample_ids)
    return Given(named, columns, isinstance(X, Mapping))


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


def parts(X: Any) -> list[Any]:
    """The views of X, or X itself if it is one table."""
    return list(named_views(X).values()) if is_collection(X) and getattr(X, "ndim", 2) != 3 else [X]


def _is_unnamed(X: Any) -> bool:
    if isinstance(X, Views):
        return X.names == tuple(f"view_{position}" for position in range(X.n_views))
    return not isinstance(X, Mapping)


def _split_kernels(X: Any, rules: InputRules, schema: InputSchema | None) -> dict[str, Any]:
    if not is_precomputed(rules.similarity):
        raise ValueError(
            f"X has three dimensions {X.shape}. Kernels of shape (n_samples, n_samples, n_views) require "
            f"similarity='precomputed'. Pass views of features as a list or dict of two-dimensional arrays."
        )
    if X.shape[0] != X.shape[1] and schema is None:
        hint = " Move the view axis to the end with np.moveaxis(X, 0, -1)." if X.shape[1] == X.shape[2] else ""
        raise ValueError(f"Kernels must have the shape (n_samples, n_samples, n_views); got {X.shape}.{hint}")
    return named_views([X[:, :, position] for position in range(X.shape[2])])


def _open_table(X: Any, rules: InputRules, schema: InputSchema | None) -> Given:
    """Groups of columns of one table."""
    if is_frame(X):
        check_columns(X, "X")
    mixed = "table" in schema.kinds if schema is not None else is_frame(X) and _is_mixed(X, rules)
    if mixed:
        return _open_mixed_table(X, rules, schema)
    if schema is not None and schema.table_width is not None:
        X = _order_table(X, rules.estimator, schema.feature_names)
    columns, ids = columns_of(X) if is_frame(X) else None, ids_of(X)
    if isinstance(X, np.ma.MaskedArray):  # scikit-learn would ignore the mask
        X = np.ma.filled(X.astype(np.float64), np.nan)
    table = X if is_device_array(X) else _check_table(X, rules.estimator)
    width = int(table.shape[1])
    if schema is not None and schema.table_width not in (None, width):
        raise ValueError(
            f"X has {width} features, but {rules.estimator} is expecting {schema.table_width} features as input."
        )
    groups = column_groups(None if rules.views == "auto" else rules.views, width, columns)
    alone = len(groups) == 1 and rules.views in (None, "auto")
    views = {name: table if alone else take_columns(table, group) for name, group in groups.items()}
    named = {name: group if columns is None else [columns[one] for one in group] for name, group in groups.items()}
    return Given(views, named, False, None, None if ids is None else np.asarray(ids), width, columns)


def _is_mixed(frame: Any, rules: InputRules) -> bool:
    return not is_numeric_frame(frame) or any(kind != "drop" for kind in (rules.column_kinds or {}).values())


def _open_mixed_table(X: Any, rules: InputRules, schema: InputSchema | None) -> Given:
    """Groups of columns of one data frame, as data frames."""
    if not is_frame(X):
        raise ValueError(
            f"X must be a data frame, since {rules.estimator} was fitted on one with columns that are not numbers; "
            f"got {type(X).__name__}."
        )
    columns = columns_of(X)
    groups: Mapping[str, list[Any]]
    if schema is not None:
        found = set(columns)
        groups = {view.name: [one for one in view.columns or () if one in found] for view in schema.views}
    elif rules.views == "auto":
        groups = automatic_groups(X, rules.kinds_of(""))
    else:
        positions = column_groups(rules.views, len(columns), columns)
        groups = {name: [columns[one] for one in group] for name, group in positions.items()}
    views = {name: select_columns(X, group) for name, group in groups.items()}
    return Given(views, dict(groups), False, None, None, len(columns), columns)


def _order_table(X: Any, estimator: str, known: NDArray[Any] | None) -> Any:
    """A table of new samples with its columns in the training order; warns if only one of the tables has names."""
    found = feature_names(columns_of(X)) if is_frame(X) else None
    if known is not None and found is not None:
        return reorder_columns({"X": X}, {"X": known.tolist()}, estimator)["X"]
    if known is not None:
        warnings.warn(
            f"X does not have valid feature names, but {estimator} was fitted with feature names", stacklevel=5
        )
    if found is not None:
        warnings.warn(f"X has feature names, but {estimator} was fitted without feature names", stacklevel=5)
    return X


def _check_table(X: Any, estimator: str) -> Array:
    """One table, read by scikit-learn; values that are not finite are reported later, with their view."""
    table = check_array(
        X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False, estimator=estimator
    )
    # The old sparse matrices turn into np.matrix in sums with arrays.
    return csr_array(table) if issparse(table) else table
