"""Views as groups of columns of one table, by slices, positions, booleans or names."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.encoding.table_encoding import fit_table_encoding
from latefusion.validation.frames import columns_of, is_frame, select_columns, table_columns
from latefusion.validation.sample_ids import ROWS_AND_COLUMNS, shown_list
from latefusion.validation.views import named_views

# Views of a table whose columns are grouped by kind.
GROUPS = {
    "number": "numbers", "duration": "numbers", "category": "categories", "ordered": "categories", "date": "dates",
    "text": "text",
}  # fmt: skip

ViewColumns = Any  # what `views=` may hold for one view: a slice, or a list of positions or column names


def column_groups(views: Any, width: int, columns: list[Any] | None) -> dict[str, NDArray[np.intp]]:
    """Positions of the columns of every view in one table.

    Parameters
    ----------
    views : None, mapping of str to columns, or sequence of columns
        Columns of one view: a slice, a list of positions, or a list of column names (or one name). None: one view.
    width : int
        Number of columns of the table.
    columns : list or None
        Names of the columns; None if they have no names.

    Returns
    -------
    dict of str to ndarray
    """
    if views is None:
        return {"view_0": np.arange(width)}
    if len(views) == 0:
        raise ValueError("views is empty. Give at least one group of columns, or leave it out for a single view.")
    return {name: _positions(group, name, width, columns) for name, group in named_views(views).items()}


def automatic_groups(frame: Any, wanted: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Columns of one data frame by kind: numbers, categories, dates, and every text on its own.

    Parameters
    ----------
    frame : data frame
    wanted : mapping of str to object
        Kinds given by the user.

    Returns
    -------
    dict of str to list
        Names of the columns of every view; columns that are left out are in none.
    """
    kinds = fit_table_encoding(table_columns(frame, "X", ROWS_AND_COLUMNS), wanted).kinds
    groups: dict[str, list[Any]] = {}
    for name in columns_of(frame):
        kind = kinds[str(name)]
        if kind in GROUPS:
            groups.setdefault(str(name) if kind == "text" else GROUPS[kind], []).append(name)
    if not groups:
        raise ValueError(f"X has no column that can be used: {kinds}. Set the kinds of columns with column_kinds.")
    return groups


def reorder_columns(
    frames: Mapping[str, Any], expected: Mapping[str, Sequence[Any]], estimator: str, *, allow: bool = False
) -> dict[str, Any]:
    """Data frames of new samples with the columns of the training frames in their order, and warnings of differences.

    Parameters
    ----------
    frames : mapping of str to array or data frame
        By the name that messages use, such as ``View 'rna'``.
    expected : mapping of str to sequence
        Names of the columns of the training frames.
    estimator : str
        For error messages.
    allow : bool, default=False
        Whether columns may be absent.

    Returns
    -------
    dict of str to array or data frame
    """
    ordered, moved, messages = dict(frames), [], []
    for label, frame in frames.items():
        columns = columns_of(frame) if is_frame(frame) and label in expected else None
        if columns is None or columns == list(expected[label]) or len(set(columns)) < len(columns):
            continue
        known, found = set(expected[label]), set(columns)
        missing = [one for one in expected[label] if one not in found]
        if missing and not allow:
            raise ValueError(
                f"{label} does not have the columns [{shown_list(missing)}] that {estimator} was fitted on. Add them, "
                f"or take their values as missing with missing_columns='allow'."
            )
        if missing:
            messages.append(
                f"{label} does not have the columns [{shown_list(missing)}]. Their values are taken as missing."
            )
        extra = [one for one in columns if one not in known]
        if extra:
            messages.append(f"{label} has columns that are not used: [{shown_list(extra)}].")
        ordered[label] = select_columns(frame, [one for one in expected[label] if one in found])
        moved += [label] * ([one for one in columns if one in known] != columns_of(ordered[label]))
    if moved:
        messages.append(
            f"{' and '.join(moved)} had the columns in another order than in `fit`. They were reordered by name."
        )
    for message in messages:
        warnings.warn(message, UserWarning, stacklevel=4)
    return ordered


def _positions(group: ViewColumns, name: str, width: int, columns: list[Any] | None) -> NDArray[np.intp]:
    if isinstance(group, slice):
        if not all(bound is None or isinstance(bound, Integral) for bound in (group.start, group.stop, group.step)):
            raise ValueError(
                f"View {name!r} is given by {group}, but slices must contain positions. List the column names instead."
            )
        positions = np.arange(width)[group]
    else:
        wanted = _wanted_columns(group, name, columns)
        if wanted and all(isinstance(one, (bool, np.bool_)) for one in wanted):
            if len(wanted) != width:
                raise ValueError(f"View {name!r} is given by {len(wanted)} booleans, but X has {width} columns.")
            positions = np.flatnonzero(wanted)
        elif all(isinstance(one, Integral) for one in wanted):
            positions = _by_number(wanted, name, width, columns)
        else:
            positions = _by_name(wanted, name, columns)
    if len(positions) == 0:
        raise ValueError(f"View {name!r} has no columns. Give at least one.")
    return positions


def _wanted_columns(group: ViewColumns, name: str, columns: list[Any] | None) -> list[Any]:
    if isinstance(group, (str, Integral)) or (isinstance(group, tuple) and group in (columns or ())):
        return [group]
    if not isinstance(group, Iterable):
        raise ValueError(
            f"View {name!r} must be a slice, a list of positions or a list of column names; got {group!r}."
        )
    return list(group)


def _by_number(wanted: list[Any], name: str, width: int, columns: list[Any] | None) -> NDArray[np.intp]:
    outside = [int(one) for one in wanted if not -width <= one < width]
    if outside:
        raise ValueError(f"View {name!r} contains the column positions {outside}, but X has {width} columns.")
    names = set(columns or ())
    unclear = [int(one) for one in wanted if columns and one in names and columns[one] != one]
    if unclear:
        raise ValueError(
            f"View {name!r} contains {unclear}, which are both positions of columns and names of other columns of X. "
            f"Convert the column names to text."
        )
    return np.array(wanted, dtype=np.intp)


def _by_name(wanted: list[Any], name: str, columns: list[Any] | None) -> NDArray[np.intp]:
    if columns is None:
        raise ValueError(
            f"View {name!r} is given by column names, but X has no column names. Pass positions or a data frame."
        )
    wanted = [match for one in wanted for match in _matching(one, columns)]
    position_of = {column: position for position, column in enumerate(columns)}
    unknown = [one for one in wanted if not isinstance(one, Hashable) or one not in position_of]
    if unknown:
        raise ValueError(f"View {name!r} contains column names that X does not have: {unknown}. Check their spelling.")
    return np.array([position_of[one] for one in wanted], dtype=np.intp)


def _matching(wanted: Any, columns: list[Any]) -> list[Any]:
    """The columns that a pattern such as ``spend_*`` stands for; a name stands for itself."""
    if wanted in columns or not isinstance(wanted, str) or not set("*?") & set(wanted):
        return [wanted]
    return [one for one in columns if fnmatchcase(str(one), wanted)] or [wanted]
