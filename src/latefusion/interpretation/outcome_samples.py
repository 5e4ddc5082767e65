"""Rows of a table of outcomes matched with the samples of a clustering, by id."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.datasets.joining import SPELLINGS
from latefusion.datasets.labels import plain
from latefusion.datasets.text_tables import ID_NAMES
from latefusion.encoding.column_kinds import ID_NAME
from latefusion.encoding.columns import Column, as_words, column_of, parse_numbers, written_as
from latefusion.validation import columns_of, is_frame
from latefusion.validation.frames import check_columns, table_columns
from latefusion.validation.sample_ids import ROWS_AND_COLUMNS, Coordinates, ids_of, shown_list

# Ids that agree in fewer characters at their beginning may be different samples.
LEAST_START = 4
# Name of a single column that has none.
SINGLE = "values"
# How messages call the table.
TABLE = "The outcome table"


class Matched(NamedTuple):
    """Columns of a table in the order of the samples.

    Attributes
    ----------
    columns : dict of str to Column
        Without the column of ids; values of samples that are not in the table are missing.
    present : ndarray of bool of shape (n_samples,)
        Samples that are in the table.
    names : sequence of str of shape (n_samples,)
        How messages call the samples.
    notes : tuple of str
    """

    columns: dict[str, Column]
    present: NDArray[np.bool_]
    names: Sequence[str]
    notes: tuple[str, ...] = ()


def match_table(table: Any, ids: Any, n_samples: int) -> Matched:
    """Read a table and bring its rows into the order of the samples.

    Parameters
    ----------
    table : data frame, mapping of str to array, series or array of shape (n_samples,)
        A frame has the sample ids as its index or in a column; arrays are in the order of the samples.
    ids : sequence of shape (n_samples,) or None
        Ids of the samples.
    n_samples : int

    Returns
    -------
    Matched
    """
    names = (
        [f"row {row}" for row in range(n_samples)] if ids is None else [f"sample {written_as(one)!r}" for one in ids]
    )
    if not is_frame(table):
        return Matched(_arrays(table, ids, n_samples), np.ones(n_samples, dtype=bool), names)
    check_columns(table, TABLE)
    index = ids_of(table)
    columns = _columns(table, ROWS_AND_COLUMNS if index is None else Coordinates(list(index)))
    n_rows = len(next(iter(columns.values())).values) if columns else 0
    if not n_rows:
        raise ValueError(f"{TABLE} has {n_rows} rows and {len(columns)} columns. Give one row per sample.")
    if ids is None:
        return _by_order(columns, n_rows, n_samples, names)
    candidates = ({} if index is None else {None: [written_as(one) for one in index]}) | _id_columns(columns)
    wanted = [written_as(one) for one in ids]
    chosen, texts = _chosen(candidates, wanted, list(map(str, columns_of(table))))
    where = "its index" if chosen is None else f"column {chosen!r}"
    rows, notes = _rows(texts, wanted, where)
    present = rows >= 0
    found = {
        name: column.take(np.maximum(rows, 0)).hidden(~present) for name, column in columns.items() if name != chosen
    }
    return Matched(found, present, names, notes)


def _columns(table: Any, coordinates: Coordinates) -> dict[str, Column]:
    """The columns of a frame; errors do not name parameters of estimators."""
    try:
        return table_columns(table, TABLE, coordinates)
    except ValueError as error:
        raise ValueError(re.sub(r"drop it with column_kinds=.*", "remove it.", str(error))) from error


def _arrays(table: Any, ids: Any, n_samples: int) -> dict[str, Column]:
    if np.ndim(table) == 1 and not isinstance(table, Mapping):
        name = str(getattr(table, "name", None) or SINGLE)
        return {name: column_of(aligned(TABLE, table, ids, n_samples).tolist())}
    if not isinstance(table, Mapping):
        raise ValueError(
            f"{TABLE} must be a data frame or series with sample ids, or a dict of arrays in the order of the samples; "
            f"got {type(table).__name__}."
        )
    lengths = {str(name): len(values) for name, values in table.items() if ids is None or ids_of(values) is None}
    wrong = [name for name, length in lengths.items() if length != n_samples]
    if wrong or not table:
        found = f"column {wrong[0]!r} has {lengths[wrong[0]]} values" if wrong else "it has no columns"
        raise ValueError(
            f"{TABLE} is a dict, which needs one value per sample ({n_samples}), but {found}. Add missing values, or "
            f"give a data frame with sample ids."
        )
    return {
        str(name): column_of(aligned(f"Column {str(name)!r} of the outcome table", values, ids, n_samples).tolist())
        for name, values in table.items()
    }


def aligned(name: str, values: Any, ids: Any, n_samples: int) -> Any:
    """Values of samples in their order; None for samples that a series of pandas does not have.

    Parameters
    ----------
    name : str
        For error messages.
    values : array-like of shape (n_samples,)
    ids : sequence of shape (n_samples,) or None
        Ids of the samples.
    n_samples : int

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    own = ids_of(values)
    if own is not None and ids is not None:
        value_of = dict(zip(map(written_as, own), _plain(values).tolist(), strict=True))
        if len(value_of) < len(own):
            raise ValueError(f"{name} has repeated sample ids. Sample ids must be unique. Remove the repeated rows.")
        wanted = [written_as(one) for one in ids]
        if value_of.keys().isdisjoint(wanted):
            raise ValueError(
                f"{name} has no sample id in common with the clustering. Its ids are like "
                f"{shown_list(list(value_of))}; the samples are {shown_list(wanted)}. Write the ids in the same way, "
                f"or give an array in the order of the samples."
            )
        return np.array([value_of.get(one) for one in wanted], dtype=object)
    found = _plain(values)
    if len(found) != n_samples:
        raise ValueError(f"{name} has {len(found)} values for {n_samples} samples. Give one per sample.")
    return found


def _plain(values: Any) -> NDArray[Any]:
    """An array whose dates and durations become objects of Python, not numbers of nanoseconds, in a list."""
    array = np.asarray(values)
    return array.astype(f"{array.dtype.kind}8[us]") if array.dtype.kind in "mM" else array


def _by_order(columns: dict[str, Column], n_rows: int, n_samples: int, names: Sequence[str]) -> Matched:
    if n_rows != n_samples:
        raise ValueError(
            f"{TABLE} has {n_rows} rows for {n_samples} samples, and the samples have no ids to match them. Fit the "
            f"model on data frames with ids as their index, or give one row per sample in the same order."
        )
    note = f"The samples have no ids. The {n_rows} rows of the outcome table are matched by their order."
    return Matched(columns, np.ones(n_samples, dtype=bool), names, (note,))


def _id_columns(columns: Mapping[str, Column]) -> dict[Any, list[str | None]]:
    """Columns that may contain ids, as text; missing ids are None."""
    found: dict[Any, list[str | None]] = {}
    for position, (name, column) in enumerate(columns.items()):
        words = as_words(column)
        is_named = plain(name) in ID_NAMES or ID_NAME.search(name)
        if words.words and (position == 0 or is_named or column.words is not None):
            texts = [*words.words, None]
            found[name] = [texts[code] for code in words.values.tolist()]
    return found


def _chosen(
    candidates: Mapping[Any, Sequence[str | None]], wanted: Sequence[str], names: Sequence[str]
) -> tuple[Any, Sequence[str | None]]:
    """The candidate that has most of the sample ids."""
    known = set(wanted)
    shared = {name: len(known.intersection(texts)) for name, texts in candidates.items()}
    best = max(shared, key=lambda name: shared[name], default=None)
    if shared and shared[best]:
        return best, candidates[best]
    candidates = {name: texts for name, texts in candidates.items() if name is None or _may_be_ids(name, texts, wanted)}
    if not candidates:
        raise ValueError(
            f"{TABLE} has no column of ids (its columns are {shown_list(names)}), but the samples have ids such as "
            f"{wanted[0]!r}. Add a column of ids, set them as its index, or give a dict of arrays in the order of the "
            f"samples."
        )
    first, hint = next(
        ((name, hint) for name in candidates if (hint := _difference(candidates[name], wanted))),
        (next(iter(candidates)), "Write the ids in the same way."),
    )
    where = "index" if first is None else f"column {first!r}"
    examples = [text for text in candidates[first] if text is not None]
    raise ValueError(
        f"{TABLE} has no sample id in common with the clustering. Its {where} has ids like {shown_list(examples)}; the "
        f"samples are {shown_list(wanted)}. {hint}"
    )


def _may_be_ids(name: str, texts: Sequence[str | None], wanted: Sequence[str]) -> bool:
    """Whether a column without a common id may contain ids: by its name, or by values that differ in every row."""
    if plain(name) in ID_NAMES or ID_NAME.search(name):
        return True
    known = [text for text in texts if text is not None]
    are_numbers = not np.isnan(parse_numbers(known).values).any()
    return len(set(known)) == len(texts) and (not are_numbers or any(one.isdecimal() for one in wanted))


def _difference(texts: Sequence[str | None], wanted: Sequence[str]) -> str:
    """How ids of the same samples are written differently, if that is the reason."""
    own = [text for text in texts if text is not None]
    for how, change in SPELLINGS.items():
        theirs = {change(text): text for text in own}
        same = [(theirs[change(one)], one) for one in wanted if change(one) in theirs]
        if same:
            return (
                f"{len(same)} ids differ only in {how}, such as {same[0][0]!r} and {same[0][1]!r}. Write them in the "
                f"same way."
            )
    lengths = [min(map(len, ids), default=0) for ids in (own, wanted)]
    starts = {text[: min(lengths)] for text in own}
    n_equal = sum(one[: min(lengths)] in starts for one in wanted)
    if min(lengths) >= LEAST_START and lengths[0] != lengths[1] and 2 * n_equal > len(wanted):
        return f"The first {min(lengths)} characters of {n_equal} ids are equal. Cut the longer ids to this length."
    return ""


def _rows(texts: Sequence[str | None], wanted: Sequence[str], where: str) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """The row of every sample, -1 without one, and notes on samples and rows without a partner."""
    times = Counter(text for text in texts if text is not None)
    repeated = [text for text, count in times.items() if count > 1]
    if repeated:
        n_more = len(repeated) - 1
        more = f", and {n_more} other id{'s' * (n_more > 1)} more than once" * (n_more > 0)
        raise ValueError(
            f"{TABLE} has the sample id {repeated[0]!r} {times[repeated[0]]} times in {where}{more}. Sample ids must "
            f"be unique. Remove or merge the repeated rows."
        )
    row_of = {text: row for row, text in enumerate(texts)}
    rows = np.array([row_of.get(one, -1) for one in wanted], dtype=np.intp)
    notes, known = [], set(wanted)
    absent = [one for one in wanted if one not in row_of]
    others = [text for text in texts if text is not None and text not in known]
    n_empty = sum(text is None for text in texts)
    if absent:
        counted = f"{len(absent)} of {len(wanted)} samples"
        notes.append(f"Left out of all tests: {counted}, which are not in the outcome table ({shown_list(absent)}).")
    if others:
        counted = f"{len(others)} of {len(texts)} rows"
        notes.append(f"Not used: {counted} of the outcome table, which belong to no sample ({shown_list(others)}).")
    if n_empty:
        notes.append(f"Not used: {n_empty} of {len(texts)} rows of the outcome table, which have no id in {where}.")
    return rows, tuple(notes)
