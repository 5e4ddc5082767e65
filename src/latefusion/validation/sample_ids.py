"""Sample ids: rows of several views matched by id, and a diagnosis if ids do not match."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Ids named in a message.
SHOWN = 3


class Coordinates(NamedTuple):
    """How the user names the rows and columns of one view, for error messages.

    Attributes
    ----------
    ids : sequence of shape (n_samples,) or None
        Sample ids; None for row numbers.
    columns : sequence of shape (n_columns,) or None
        Column names, or positions in the table that the view is a part of; None for column numbers.
    """

    ids: Any = None
    columns: Any = None

    def sample(self, row: int) -> str:
        """One row, for example ``sample 'p7'`` or ``row 7``."""
        return f"row {row}" if self.ids is None else f"sample {shown(self.ids[row])}"

    def cell(self, row: int, column: int) -> str:
        """One value, for example ``sample 'p7', column 'age'``."""
        return f"{self.sample(row)}, column {column if self.columns is None else shown(self.columns[column])}"


# Where rows and columns have no names.
ROWS_AND_COLUMNS = Coordinates()


def shown(value: Any) -> str:
    """An id or a column name as a message shows it."""
    return repr(value.item() if hasattr(value, "item") else value)


def shown_list(values: Sequence[Any]) -> str:
    """The first few ids of many, and how many more there are."""
    more = f" and {len(values) - SHOWN} more" if len(values) > SHOWN else ""
    return ", ".join(shown(one) for one in values[:SHOWN]) + more


class MatchedRows(NamedTuple):
    """Rows of several views that belong to the same samples.

    Attributes
    ----------
    index : pandas.Index or None
        One entry per sample; None when no view has an index.
    rows : dict of str to ndarray of shape (n_samples,)
        Per view the row of every sample, -1 if the view is missing; empty if all rows are in order already.
    """

    index: Any
    rows: dict[str, NDArray[np.intp]]

    @property
    def ids(self) -> NDArray[Any] | None:
        """Sample ids; None if there are only row numbers."""
        plain = self.index is None or (not self.rows and is_plain(self.index))
        return None if plain else np.asarray(self.index)


def index_of(view: Any) -> Any:
    """The index of a data frame or series of pandas; None for everything else."""
    return view.index if hasattr(view, "iloc") and hasattr(view, "index") else None


def ids_of(view: Any) -> Any:
    """Sample ids of a data frame or series of pandas; None if its index contains row numbers, or there is none."""
    index = index_of(view)
    return None if index is None or is_plain(index) else index


def is_plain(index: Any) -> bool:
    """Whether an index contains only row numbers."""
    return getattr(index.dtype, "kind", "O") in "iu" and np.array_equal(index, np.arange(len(index)))


def match_rows(views: Mapping[str, Any], *, missing: bool = False) -> MatchedRows:
    """Match the rows of all views by sample id, in the order of the first view that has ids.

    Parameters
    ----------
    views : mapping of str to array, data frame or series
        Frames and series of pandas carry ids in their index; others have none.
    missing : bool, default=False
        Whether ids may be absent from some views. Then all ids of all views are taken, in the order in which they
        appear first.

    Returns
    -------
    MatchedRows
    """
    indexed = {name: index_of(view) for name, view in views.items() if index_of(view) is not None}
    if not indexed:
        return MatchedRows(None, {})
    reference, order = next(iter(indexed.items()))
    for name, index in indexed.items():
        if not index.is_unique:
            repeated = index[index.duplicated()]
            raise ValueError(
                f"View {name!r} contains the sample id {shown(repeated[0])} more than once, so its rows cannot be "
                f"matched with other views. Sample ids must be unique. Remove the repeated rows or change their ids."
            )
    if all(index.equals(order) for index in indexed.values()):
        return MatchedRows(order, {})
    unordered = [name for name in views if name not in indexed]
    if unordered:
        raise ValueError(
            f"The views {list(indexed)} have sample ids in different orders, and {unordered} have no ids, so rows "
            f"cannot be matched. Give every view an index of sample ids, or sort all views in the same order."
        )
    # Plain row numbers are not ids: views of different lengths that have nothing else cannot be matched.
    strict = not missing or all(map(is_plain, indexed.values()))
    separate = [name for name, index in indexed.items() if _is_separate(index, name, indexed)]
    for name, index in indexed.items():
        if strict or name in separate or reference in separate:
            _check_same_ids(reference, order, name, index)
    for index in indexed.values():
        if len(index) != len(order) or not index.isin(order).all():
            order = order.append(index[~index.isin(order)])
    for first, second in combinations(indexed, 2):
        _warn_of_spelling(first, indexed[first], second, indexed[second])
    return MatchedRows(order, {name: index.get_indexer(order) for name, index in indexed.items()})


def sample_index(views: Iterable[Any], ids: NDArray[Any] | None) -> Any:
    """The index of samples for a frame of results.

    Parameters
    ----------
    views : iterable of array, data frame or series
    ids : ndarray of shape (n_samples,) or None
        Of the samples, in the order of the results.

    Returns
    -------
    pandas.Index, ndarray or None
        An index of the type, and with the name, of the frames and series of pandas among the views; the ids where these
        do not contain all of them.
    """
    indices = [index for index in map(index_of, views) if index is not None]
    if not indices:
        return ids
    order = indices[0]
    if ids is None or np.array_equal(np.asarray(order), ids):
        return order
    for index in indices[1:]:
        order = order.append(index[~index.isin(order)])
    rows = order.get_indexer(ids) if order.is_unique else np.array([-1])
    return ids if (rows < 0).any() else order[rows]


def _is_separate(index: Any, name: str, indexed: Mapping[str, Any]) -> bool:
    """Whether a view has no sample id in common with any other."""
    return not any(index.isin(other).any() for key, other in indexed.items() if key != name)


def _check_same_ids(reference: str, expected: Any, name: str, found: Any) -> None:
    missing = expected.difference(found, sort=False)
    here, all_ids, there = reference, expected, name
    if len(missing) == 0:
        missing = found.difference(expected, sort=False)
        here, all_ids, there = name, found, reference
    if len(missing) == 0:
        return
    difference = spelling_difference(here, all_ids.tolist(), there, (found if here == reference else expected).tolist())
    plain = [key for key, index in ((reference, expected), (name, found)) if is_plain(index)]
    if difference:
        same_order = _normalized(expected.tolist(), SPELLINGS) == _normalized(found.tolist(), SPELLINGS)
        hint = " The rows are in the same order, so `reset_index(drop=True)` in each view is enough."
        advice = difference + hint * same_order
    elif len(plain) == 1:
        advice = f"The index of view {plain[0]!r} contains only row numbers. Set it to the sample ids of its rows."
    else:
        advice = "Keep the samples that are in all views, and write their ids in the same way everywhere."
    raise ValueError(
        f"View {there!r} does not have {len(missing)} of the {len(all_ids)} samples in view {here!r}: "
        f"{shown_list(missing)}. {advice}"
    )


class Spelling(NamedTuple):
    """One way in which ids of the same sample are written differently.

    Attributes
    ----------
    name : str
    normalize : callable
        Removes the difference from one id.
    remedy : str
        Does the same to an index of pandas.
    """

    name: str
    normalize: Callable[[Any], Any]
    remedy: str


def _as_text(one: Any) -> Any:
    if isinstance(one, float) and one.is_integer():
        return str(int(one))
    return str(one) if isinstance(one, (int, float)) else one


def _of_text(normalize: Callable[[str], str]) -> Callable[[Any], Any]:
    return lambda one: normalize(one) if isinstance(one, str) else one


LEADING_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")

SPELLINGS = (
    Spelling("numbers against text", _as_text, ".astype(str)"),
    Spelling("blanks", _of_text(str.strip), ".str.strip()"),
    Spelling(
        "leading zeros",
        _of_text(lambda one: LEADING_ZEROS.sub("", one)),
        rf".str.replace(r'{LEADING_ZEROS.pattern}', '', regex=True)",
    ),
    Spelling("upper and lower case", _of_text(str.lower), ".str.lower()"),
)


def spelling_difference(first: str, ids: Sequence[Any], second: str, others: Sequence[Any]) -> str:
    """How the ids of two views differ in spelling, with an example and a remedy; empty if that is not the difference.

    Parameters
    ----------
    first, second : str
        Names of the views.
    ids, others : sequence
        Their sample ids.

    Returns
    -------
    str
    """
    row_of = {one: row for row, one in enumerate(_normalized(others, SPELLINGS))}
    normalized = _normalized(ids, SPELLINGS)
    known = set(others)
    pairs = [
        (one, others[row_of[plain]])
        for one, plain in zip(ids, normalized, strict=True)
        if one not in known and plain in row_of
    ]
    if not pairs or len(set(normalized)) < len(ids) or len(row_of) < len(others):  # or ids would become ambiguous
        return ""
    left, right = ([pair[side] for pair in pairs] for side in (0, 1))
    needed = []
    for spelling in SPELLINGS:
        others_only = [one for one in SPELLINGS if one is not spelling]
        if _normalized(left, others_only) != _normalized(right, others_only):
            needed.append(spelling)
    remedies = "".join(one.remedy for one in needed)
    return (
        f"The ids are written differently ({', '.join(one.name for one in needed)}): {shown(left[0])} in view "
        f"{first!r} is {shown(right[0])} in view {second!r}, and so on for {len(pairs)} ids. Write them in the same "
        f"way, for example with frame.index = frame.index{remedies} in each view."
    )


def _normalized(ids: Sequence[Any], spellings: Sequence[Spelling]) -> list[Any]:
    for spelling in spellings:
        ids = [spelling.normalize(one) for one in ids]
    return list(ids)


def _warn_of_spelling(first: str, ids: Any, second: str, others: Any) -> None:
    """Warn if ids that differ between views may be the same samples in another spelling."""
    own, other = ids.difference(others, sort=False), others.difference(ids, sort=False)
    difference = spelling_difference(first, own.tolist(), second, other.tolist())
    if difference:
        warnings.warn(f"Some samples may be counted twice. {difference}", UserWarning, stacklevel=2)
