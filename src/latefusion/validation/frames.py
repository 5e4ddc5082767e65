"""Data frames: numbers out of columns, rows matched by sample id. pandas and polars are met, never imported."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from latefusion.types import Array


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of pandas, polars or a library with the same interface."""
    return hasattr(X, "columns") and (hasattr(X, "iloc") or hasattr(X, "get_column"))


def columns_of(frame: Any) -> list[Any]:
    """Column names of a data frame."""
    return list(frame.columns)


def frame_to_array(frame: Any, label: str) -> Array:
    """The numbers of a data frame; columns of text, dates or categories are refused by name."""
    columns = columns_of(frame)
    repeated = sorted(str(name) for name, times in Counter(columns).items() if times > 1)
    if repeated:
        raise ValueError(f"{label} has several columns of the same name: {repeated}. Rename or drop them.")
    dtypes = list(frame.dtypes)
    refused = {str(name): str(dtype) for name, dtype in zip(columns, dtypes, strict=True) if not _is_numeric(dtype)}
    if refused:
        raise ValueError(
            f"{label} holds columns that are not numbers: {refused}. Encode them as numbers (one-hot, say) or drop "
            "them."
        )
    if hasattr(frame, "iloc"):
        single = all(str(dtype).lower() == "float32" for dtype in dtypes)
        return frame.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan)
    return frame.to_numpy()


def _is_numeric(dtype: Any) -> bool:
    """Whether a column type of pandas or polars holds real numbers or booleans."""
    if hasattr(dtype, "is_numeric"):  # polars
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
