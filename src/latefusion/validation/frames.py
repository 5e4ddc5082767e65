"""Data frames: numbers of columns, views of column levels, and results as frames of the same library.

pandas and polars are supported without importing them; pyarrow and other libraries are supported through narwhals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from latefusion.types import Array


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of pandas, polars or a library with the same interface, or a table of pyarrow."""
    return (hasattr(X, "columns") and (hasattr(X, "iloc") or hasattr(X, "get_column"))) or _is_arrow(X)


def columns_of(frame: Any) -> list[Any]:
    """Column names of a data frame."""
    return list(frame.column_names if _is_arrow(frame) else frame.columns)


def split_levels(X: Any) -> Any:
    """A data frame whose columns are pairs (view, feature) as a dict of frames, one per view; others as they are."""
    if not is_frame(X) or getattr(X.columns, "nlevels", 1) < 2:
        return X
    return {name: X[name] for name in X.columns.get_level_values(0).unique()}


def select_columns(frame: Any, columns: Sequence[Any]) -> Any:
    """Columns of a data frame, by name and in this order."""
    return frame.select(list(columns)) if hasattr(frame, "select") else frame[list(columns)]


def frame_like(columns: Mapping[str, np.ndarray], frame: Any, index: Any = None) -> Any:
    """Columns as a data frame of the library that another one comes from.

    Parameters
    ----------
    columns : mapping of str to ndarray of shape (n_samples,)
    frame : data frame
        Of any library that narwhals knows.
    index : sequence of shape (n_samples,), default=None
        For frames that have one, as those of pandas.

    Returns
    -------
    data frame
    """
    narwhals = _narwhals(frame)
    native = narwhals.from_dict(dict(columns), backend=narwhals.get_native_namespace(frame)).to_native()
    if index is not None and hasattr(native, "index"):
        native.index = index
    return native


def _is_arrow(X: Any) -> bool:
    return hasattr(X, "column_names") and hasattr(X, "num_rows") and hasattr(X, "schema")


def _narwhals(frame: Any) -> Any:
    try:
        import narwhals
    except ImportError as error:
        raise ImportError(
            f"Frames of type {type(frame).__module__}.{type(frame).__name__} need narwhals: pip install "
            f"'latefusion[frames]'."
        ) from error
    return narwhals


def frame_to_array(frame: Any, label: str) -> Array:
    """The numbers of a data frame; columns of text, dates or categories raise an error with their names."""
    columns = columns_of(frame)
    repeated = sorted(str(name) for name, times in Counter(columns).items() if times > 1)
    if repeated:
        raise ValueError(f"{label} has several columns of the same name: {repeated}. Rename or drop them.")
    if _is_arrow(frame):
        frame = _narwhals(frame).from_native(frame, eager_only=True)
    dtypes = list(frame.schema.values() if hasattr(frame, "to_native") else frame.dtypes)
    refused = {str(name): str(dtype) for name, dtype in zip(columns, dtypes, strict=True) if not _is_numeric(dtype)}
    if refused:
        raise ValueError(
            f"{label} contains columns that are not numeric: {refused}. Encode them, for example one-hot, or drop them."
        )
    if hasattr(frame, "iloc"):
        single = all(str(dtype).lower() == "float32" for dtype in dtypes)
        return frame.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan)
    array = frame.to_numpy()
    return array.astype(np.float64) if array.dtype == object else array  # booleans or decimals with nulls


def _is_numeric(dtype: Any) -> bool:
    """Whether a column type of pandas or polars holds real numbers or booleans."""
    if hasattr(dtype, "is_numeric"):  # polars and narwhals
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
    return getattr(dtype, "kind", "O") in "biuf"
