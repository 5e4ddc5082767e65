"""Tables of any columns as numbers: every column becomes coordinates, and every column counts alike.

============ ========================================================================================================
kind         coordinates
============ ========================================================================================================
number       (x - mean) / standard deviation
ordered      ranks of the categories, standardized as numbers
category     an indicator per category, divided by sqrt(1 - Σ p²), with p the shares of the categories
date         trend (the date as a number), season (sine and cosine of the time of year), and time of day where they vary
duration     seconds, standardized as numbers
text         leading directions of TF-IDF weights of its words
============ ========================================================================================================

The coordinates of a column have variances that sum to one, whatever its kind, so that the mean squared distance of two
samples is two for every column. A category with forty values counts as much as a number. Constant columns, ids and
columns with a different word in every row are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.encoding.codings import (
    LevelCoding,
    NumberCoding,
    RefusedColumn,
    check_parsed,
    dates_as_words,
    fit_levels,
    fit_number,
)
from latefusion.encoding.column_kinds import recognize
from latefusion.encoding.columns import Column, as_words
from latefusion.encoding.text_coding import TextCoding, fit_text

# A column is left out if fewer than this share of its values are known.
LEAST_KNOWN = 0.05
# Columns of one kind in a summary.
SHOWN = 6


class Left(NamedTuple):
    """Why a column is left out: "constant", "id", "empty" or "drop", and a sentence."""

    kind: str
    note: str


@dataclass(frozen=True)
class TableEncoding:
    """From the columns of a table to coordinates.

    Attributes
    ----------
    columns : tuple of str
        Names of all columns.
    codings : tuple of Coding
        Of the columns that are used, in their order.
    left_out : dict of str to str
        Columns that are not used: "constant", "id", "empty" or "drop".
    notes : tuple of str
        What a user should know about the columns, one sentence each.
    """

    columns: tuple[str, ...]
    codings: tuple[NumberCoding | LevelCoding | TextCoding, ...]
    left_out: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of every column; those that are not used are "constant", "id", "empty" or "drop"."""
        kinds = {coding.name: coding.kind for coding in self.codings} | self.left_out
        return {name: kinds[name] for name in self.columns}

    @property
    def summary(self) -> str:
        """The columns of every kind, as text."""
        by_kind: dict[str, list[str]] = {}
        for name, kind in self.kinds.items():
            by_kind.setdefault(kind, []).append(name)
        return "; ".join(f"{kind} {_shortened(names)}" for kind, names in by_kind.items())

    @property
    def owners(self) -> NDArray[np.intp]:
        """The coding that every coordinate belongs to."""
        return np.repeat(np.arange(len(self.codings)), [coding.width for coding in self.codings])

    def __call__(self, columns: Mapping[str, Column]) -> NDArray[np.float64]:
        """Coordinates of samples.

        Parameters
        ----------
        columns : mapping of str to Column
            All columns that are used; others are ignored.

        Returns
        -------
        ndarray of shape (n_samples, n_coordinates)
            NaN where a value is missing or unknown.
        """
        return np.hstack([coding(columns[coding.name]) for coding in self.codings])


def fit_table_encoding(columns: Mapping[str, Column], wanted: Mapping[str, Any] | None = None) -> TableEncoding:
    """Recognize the kind of every column and fit its coding.

    Parameters
    ----------
    columns : mapping of str to Column
        Of the training samples.
    wanted : mapping of str to str or sequence of str, default=None
        Kinds of some columns, one of `KINDS`, or the categories of an ordered column in ascending order.

    Returns
    -------
    TableEncoding

    Examples
    --------
    >>> from latefusion.encoding.columns import column_of
    >>> from latefusion.encoding.table_encoding import fit_table_encoding
    >>> region = column_of(["north", "south", "north", "North"])
    >>> spend = column_of(["$10", "$20", "$30", "n/a"])
    >>> encoding = fit_table_encoding({"region": region, "spend": spend})
    >>> encoding.kinds
    {'region': 'category', 'spend': 'number'}
    >>> encoding({"region": region, "spend": spend}).round(2)
    array([[ 1.63,  0.  , -1.22],
           [ 0.  ,  1.63,  0.  ],
           [ 1.63,  0.  ,  1.22],
           [ 1.63,  0.  ,   nan]])
    """
    codings, left_out, notes = [], {}, []
    for name, column in columns.items():
        found, note = fit_column(name, column, (wanted or {}).get(name))
        notes += note
        if isinstance(found, Left):
            left_out[name] = found.kind
            notes += [found.note] if found.note else []
        else:
            codings.append(found)
    return TableEncoding(tuple(columns), tuple(codings), left_out, tuple(notes))


def unknown_values(encoding: TableEncoding, columns: Mapping[str, Column]) -> list[str]:
    """Notes on values of new samples that cannot be used: unknown categories, words that are not numbers or dates.

    Parameters
    ----------
    encoding : TableEncoding
    columns : mapping of str to Column

    Returns
    -------
    list of str
    """
    notes = []
    for coding in encoding.codings:
        column = columns[coding.name]
        if isinstance(coding, LevelCoding):
            column, what = as_words(column), "categories that were not in the training samples"
            unknown = coding.positions(column) < 0
        elif isinstance(coding, NumberCoding):
            column = dates_as_words(column) if coding.kind == "date" else column
            what = f"values that are not {coding.kind}s as in the training samples"
            unknown = np.isnan(coding.numbers(column))
        else:
            continue
        unknown &= ~column.missing
        if unknown.any() and column.words is not None:
            first, n_rows = column.words[column.values[np.argmax(unknown)]], int(unknown.sum())
            notes.append(
                f"Column {coding.name!r} has {what}, such as {first!r:.40}, in {n_rows} row{'s' * (n_rows > 1)}. They "
                f"are taken as missing."
            )
    return notes


def fit_column(name: str, column: Column, wanted: Any = None) -> tuple[Any, list[str]]:
    """The coding of one column, or why it is left out, and notes.

    Parameters
    ----------
    name : str
    column : Column
    wanted : str or sequence of str, default=None
        Its kind, or its ordered categories; recognized by default.

    Returns
    -------
    coding : Coding or Left
    notes : list of str
    """
    if wanted == "drop":
        return Left("drop", ""), []
    known = ~column.missing
    if known.sum() < max(2, LEAST_KNOWN * len(known)):
        counted = f"{known.sum()} value{'s' * bool(known.sum() > 1)}"
        text = "has no values" if not known.any() else f"has only {counted} in {len(known)} rows"
        return Left("empty", f"Column {name!r} {text} and is left out."), []
    coding: Any
    if wanted is not None and not isinstance(wanted, str):
        coding, notes = fit_levels(name, column, "ordered", tuple(map(str, wanted)))
        return coding or Left("constant", f"Column {name!r} has the same value in all rows and is left out."), notes
    kind, notes = (wanted, []) if wanted is not None else recognize(name, column)
    if wanted is not None:
        check_parsed(name, column, wanted)
    if wanted == "ordered" and not column.ordered and column.words is not None:
        raise RefusedColumn(
            f"Column {name!r} was declared as ordered, but the order of its categories is not known. Give them in "
            f"ascending order, for example column_kinds={{{name!r}: {sorted(column.words)[:3]}}}."
        )
    if kind in ("number", "date", "duration"):
        coding, notes = fit_number(name, column, kind)
    elif kind == "text":
        coding = fit_text(name, as_words(column))
    elif kind in ("category", "ordered"):
        coding, more = fit_levels(name, column, kind)
        notes += more
    else:
        note = f"Column {name!r} looks like an id and is left out. To use it, set its kind with column_kinds."
        coding = Left(kind, note)
    if coding is None:
        why = "has the same value in all rows"
        if kind == "text":
            why = "has no words by which its texts differ"
        elif kind == "category" and len(as_words(column).words or ()) > 1:
            why = "has a different category in every row"
        coding = Left("constant", f"Column {name!r} {why} and is left out.")
    return coding, notes


def _shortened(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
