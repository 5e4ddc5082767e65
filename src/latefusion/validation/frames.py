"""Data frames: numbers out of columns, rows matched by sample id, and frames of the same kind on the way out.

pandas and polars are met, never imported; pyarrow and other libraries are met through narwhals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from latefusion.types import Array


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of pandas, polars or a library with the same interface, or a table of pyarrow."""
    return (hasattr(X, "columns") and (hasattr(X, "iloc") or hasattr(X, "get_column"))) or _is_arrow(X)


def columns_of(frame: Any) -> list[Any]:
    """Column names of a data frame."""
    return list(frame.column_names if _is_arrow(frame) else frame.columns)


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
    """The numbers of a data frame; columns of text, dates or categories are refused by name."""
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
            f"{label} holds columns that are not numbers: {refused}. Encode them as numbers (one-hot, say) or drop "
            "them."
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


def align_by_id(
    frames: dict[str, Any], *, holes: bool = False
) -> tuple[dict[str, Any], np.ndarray | None, np.ndarray | None]:
    """Bring all views into the order of the first one that has sample ids.

    Parameters
    ----------
    frames : dict of str to array or data frame
        pandas frames carry ids in their index; arrays and polars frames have none.
    holes : bool, default=False
        Whether ids may be absent from some views. Then all ids of all views are taken, in the order in which they
        appear first, and a view has rows of NaN where it lacks one.

    Returns
    -------
    aligned : dict of str to array or data frame
    ids : ndarray of shape (n_samples,) or None
        None when no view has ids beyond the row numbers.
    mask : ndarray of bool of shape (n_samples, n_views) or None
        Where a sample is in a view; None for everywhere.
    """
    indexed = {name: frame.index for name, frame in frames.items() if is_frame(frame) and hasattr(frame, "index")}
    if not indexed:
        return frames, None, None
    reference, order = next(iter(indexed.items()))
    for name, index in indexed.items():
        if not index.is_unique:
            raise ValueError(
                f"View {name!r} has the sample id {index[index.duplicated()].tolist()[0]!r} more than once: ids must "
                f"be unique to match rows between views. Drop the repeated rows, or the index with "
                "`reset_index(drop=True)`."
            )
    if all(index.equals(order) for index in indexed.values()):
        return frames, None if _is_plain(order) else np.asarray(order), None
    unordered = sorted(set(frames) - set(indexed))
    if unordered:
        raise ValueError(
            f"The views {sorted(indexed)} have sample ids in different orders, and {unordered} have none, so their "
            f"rows cannot be matched. Give every view an index, or bring the rows of all views into one order."
        )
    strangers = {name for name, index in indexed.items() if _is_stranger(index, name, indexed)}
    for name, index in indexed.items():
        # Row numbers are no ids: of views of different lengths that have nothing else, one is wrong.
        if not holes or name in strangers or reference in strangers or all(map(_is_plain, indexed.values())):
            _check_same_ids(reference, order, name, index)
    if all(len(index) == len(order) and index.isin(order).all() for index in indexed.values()):
        return {name: frame.loc[order] for name, frame in frames.items()}, np.asarray(order), None
    for index in indexed.values():
        order = order.append(index[~index.isin(order)])
    mask = np.stack([order.isin(index) for index in indexed.values()], axis=1)
    return {name: frame.reindex(order) for name, frame in frames.items()}, np.asarray(order), mask


def _is_plain(index: Any) -> bool:
    """Whether an index is nothing but the row numbers."""
    return list(index) == list(range(len(index)))


def _is_stranger(index: Any, name: str, indexed: dict[str, Any]) -> bool:
    """Whether a view has no sample id in common with any other."""
    return not any(index.isin(other).any() for key, other in indexed.items() if key != name)


def _check_same_ids(reference: str, expected: Any, name: str, found: Any) -> None:
    for here, there, ids in (
        (reference, name, expected.difference(found, sort=False)),
        (name, reference, found.difference(expected, sort=False)),
    ):
        if len(ids):
            shown = ", ".join(repr(one) for one in ids[:3].tolist())
            more = f" and {len(ids) - 3} more" if len(ids) > 3 else ""
            raise ValueError(
                f"View {there!r} lacks {len(ids)} of the samples in view {here!r}: {shown}{more}. Keep the samples "
                f"that are in all views, or, if the rows are in the same order, drop the index with "
                "`reset_index(drop=True)`."
            )
