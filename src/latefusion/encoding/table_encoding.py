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

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from latefusion.encoding.columns import (
    ISO,
    PARSED_SHARE,
    SECONDS_PER_DAY,
    Column,
    Parsed,
    parse_dates,
    parse_durations,
    parse_numbers,
    written_as,
)
from latefusion.encoding.text_coding import TextCoding, fit_text

KINDS = ("number", "category", "ordered", "date", "duration", "text", "drop")
# A column is left out if fewer than this share of its values are known.
LEAST_KNOWN = 0.05
# A note says so if at least this share of the different categories of a column are numbers or dates.
NEARLY = 0.5
# Categories that fewer samples have are one category, "other", and so are those beyond the most frequent ones.
LEAST_COUNT = 2
MOST_LEVELS = 200
OTHER = "(other)"
# Words are names, or texts, if more than this share of the rows have one that no other row has.
NAMES_SHARE = 0.5
# Mean number of words of a text; fewer different phrases than this are categories.
TEXT_WORDS = 3.0
MOST_PHRASES = 50
YEAR = 365.2425
# Least variance of the season, which is at most one: dates within about two days of the year have no season.
LEAST_SEASON = 1e-3
# Columns of one kind in a summary.
SHOWN = 6
# Parts of a date, with the length of the period in days.
PERIODS = {"season": YEAR, "time of day": 1.0}
ID_NAME = re.compile(r"(^|[_\W])(id|ids|uuid|guid|index|idx|key|row|rownames?|nr|no)$|^unnamed: ?\d+$", re.IGNORECASE)


class Coding(Protocol):
    """From the values of one column to coordinates."""

    name: str

    @property
    def kind(self) -> str:
        """Kind of the column."""
        ...

    @property
    def width(self) -> int:
        """Number of coordinates."""
        ...

    def __call__(self, column: Column) -> NDArray[np.float64]:
        """Coordinates, shape (n_samples, width); NaN where the value is missing or was not known in `fit`."""
        ...


@dataclass(frozen=True)
class NumberCoding:
    """Numbers, durations and dates: functions of the value, standardized.

    Attributes
    ----------
    name : str
    kind : {"number", "duration", "date"}
    how : str
        Unit of numbers or format of dates, for columns of words; empty for columns of numbers and timestamps.
    decimal : str
        Decimal sign of numbers, for columns of words.
    parts : tuple of str
        "value", or the parts of a date: "trend", "season", "time of day".
    means, scales : ndarray of shape (width,)
    """

    name: str
    kind: str
    how: str
    decimal: str
    parts: tuple[str, ...]
    means: NDArray[np.float64]
    scales: NDArray[np.float64]

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return len(self.means)

    def __call__(self, column: Column) -> NDArray[np.float64]:
        """Standardized coordinates."""
        return (_time_parts(self.numbers(column), self.parts) - self.means) * self.scales

    def numbers(self, column: Column) -> NDArray[np.float64]:
        """The values: numbers in their unit, seconds, or days since 1970."""
        return _numbers(column, self.kind, self.how, self.decimal)


@dataclass(frozen=True)
class LevelCoding:
    """Categories, ordered or not.

    Attributes
    ----------
    name : str
    kind : {"category", "ordered"}
    levels : tuple of str
        Names of the categories; "(other)" stands for all rare ones.
    coordinates : ndarray of shape (n_levels, width)
    """

    name: str
    kind: str
    levels: tuple[str, ...]
    coordinates: NDArray[np.float64]

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return int(self.coordinates.shape[1])

    def __call__(self, column: Column) -> NDArray[np.float64]:
        """Coordinates of the categories."""
        table = np.vstack([self.coordinates, np.full((1, self.width), np.nan)])
        return table[self.positions(column)]

    def positions(self, column: Column) -> NDArray[np.intp]:
        """Position of the category of every sample, -1 if it is missing or unknown."""
        words = as_words(column)
        known = {_normal(level): position for position, level in enumerate(self.levels)}
        other = known.get(_normal(OTHER), -1)
        of_words = np.array([known.get(_normal(word), other) for word in words.words or ()], dtype=np.intp)
        return words.lookup(of_words, -1)


class RefusedColumn(ValueError):
    """A column that cannot have the kind that the user gave, with the row of a value that prevents it."""

    def __init__(self, message: str, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row


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
            column = _dates_as_words(column) if coding.kind == "date" else column
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
        coding, notes = _fit_levels(name, column, "ordered", tuple(map(str, wanted)))
        return coding or Left("constant", f"Column {name!r} has the same value in all rows and is left out."), notes
    kind, notes = (wanted, []) if wanted is not None else recognize(name, column)
    if wanted is not None:
        _check_parsed(name, column, wanted)
    if wanted == "ordered" and not column.ordered and column.words is not None:
        raise RefusedColumn(
            f"Column {name!r} was declared as ordered, but the order of its categories is not known. Give them in "
            f"ascending order, for example column_kinds={{{name!r}: {sorted(column.words)[:3]}}}."
        )
    if kind in ("number", "date", "duration"):
        coding, notes = _fit_number(name, column, kind)
    elif kind == "text":
        coding = fit_text(name, as_words(column))
    elif kind in ("category", "ordered"):
        coding, more = _fit_levels(name, column, kind)
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


def recognize(name: str, column: Column) -> tuple[str, list[str]]:
    """The kind of a column, and notes.

    Parameters
    ----------
    name : str
    column : Column
        With at least two known values.

    Returns
    -------
    kind : str
        One of `KINDS`, or "id".
    notes : list of str
        What it would be without some of its values.
    """
    if column.words is None:
        by_type = {"M": "date", "m": "duration"}.get(column.values.dtype.kind, "number")
        return ("id" if by_type == "number" and _counts_rows(name, column.values) else by_type), []
    if column.categories:
        return "ordered" if column.ordered else "category", []
    words = column.words
    candidates = {
        "number": parse_numbers(words, assumed=column.decimal),
        "date": parse_dates(words),
        "duration": parse_durations(words),
    }
    for kind, parsed in candidates.items():
        if parsed.share >= PARSED_SHARE:
            if kind == "number" and not parsed.how and _counts_rows(name, column.lookup(parsed.values)):
                return "id", []
            return kind, []
    counts = column.counts()
    n_words = np.average([len(word.split()) for word in words], weights=np.maximum(counts, 1))
    times: dict[str, int] = {}
    for word, count in zip(words, counts.tolist(), strict=True):
        times[_normal(word)] = times.get(_normal(word), 0) + count
    are_names = sum(count == 1 for count in times.values()) > NAMES_SHARE * counts.sum()
    if n_words >= TEXT_WORDS and (are_names or len(times) > MOST_PHRASES):
        return "text", []
    return ("id", []) if are_names else ("category", _nearly(name, column, candidates))


def _nearly(name: str, column: Column, candidates: Mapping[str, Parsed]) -> list[str]:
    """A note on categories most of which are numbers, dates or durations."""
    kind = max(candidates, key=lambda one: candidates[one].share)
    parsed = candidates[kind]
    if parsed.share < NEARLY:
        return []
    assert column.words is not None
    other = column.words[int(np.argmax(np.isnan(parsed.values)))]
    return [
        f"Column {name!r} is taken as category: {parsed.share:.0%} of its different values are {kind}s, but "
        f"{other!r:.40} is not. Correct such values if it should be a column of {kind}s."
    ]


def as_words(column: Column) -> Column:
    """Any column as a column of words."""
    if column.words is not None:
        return column
    values, missing = column.values, column.missing
    unique, codes = np.unique(values[~missing], return_inverse=True)
    written = [written_as(one.item() if values.dtype.kind == "f" else one) for one in unique]
    found = np.full(len(values), -1, dtype=np.intp)
    found[~missing] = codes
    return Column(found, tuple(written))


def _notes_on_words(name: str, kind: str, column: Column, parsed: Parsed) -> list[str]:
    """Notes on words that could not be parsed, or in two ways."""
    notes = []
    if parsed.ambiguous:
        sign = "," if "," in parsed.ambiguous else "."
        taken = "is taken as the decimal sign" if sign == parsed.decimal else "is taken to separate thousands"
        other = "." if parsed.decimal == "," else ","
        notes.append(
            f"Column {name!r} has numbers such as {parsed.ambiguous!r:.40}, in which {sign!r} may be a decimal sign or "
            f"separate thousands. It {taken}. If this is wrong, read the file with decimal={other!r}, or write the "
            f"numbers without separators of thousands."
        )
    bad = np.flatnonzero(np.isnan(parsed.values))
    n_rows = int(column.counts()[bad].sum())
    if n_rows:
        assert column.words is not None
        notes.append(
            f"Column {name!r} contains {kind}s, but also {len(bad)} other word{'s' * (len(bad) > 1)}, such as "
            f"{column.words[bad[0]]!r:.40}, in {n_rows} row{'s' * (n_rows > 1)}. They are taken as missing."
        )
    return notes


def _check_parsed(name: str, column: Column, kind: str) -> None:
    """Raise an error for a column of words that cannot be what the user said."""
    column = _dates_as_words(column) if kind == "date" else column
    if kind not in ("number", "date", "duration") or column.words is None:
        return
    parsed = _parse(column, kind, digits=True)
    if parsed.share < PARSED_SHARE:
        bad = int(np.argmax(np.isnan(parsed.values)))
        raise RefusedColumn(
            f"Column {name!r} was declared as {kind}, but {column.words[bad]!r:.40} is not a {kind}, and only "
            f"{parsed.share:.0%} of its different values are. Correct the values, or declare another kind.",
            int(np.argmax(column.values == bad)),
        )


def _counts_rows(name: str, values: NDArray[np.float64]) -> bool:
    """Whether numbers are ids: whole, all different, and named as ids or counting the rows."""
    known = values[~np.isnan(values)]
    if len(known) < 3 or not np.all(known == np.round(known)) or len(np.unique(known)) < len(known):
        return False
    counts = known.min() in (0, 1) and np.all(np.abs(np.diff(known)) == 1) and len(known) > 10
    return bool(ID_NAME.search(name)) or bool(counts)


def _numbers(column: Column, kind: str, how: str, decimal: str) -> NDArray[np.float64]:
    """The values of a column as numbers, seconds or days."""
    if kind == "date":
        column = _dates_as_words(column)
    if column.words is not None:
        return column.lookup(_parse(column, kind, how, decimal).values)
    if column.values.dtype.kind not in "mM":
        return np.asarray(column.values, dtype=np.float64)
    unit = np.timedelta64(1, "s")
    since = column.values if column.values.dtype.kind == "m" else column.values - np.datetime64(0, "s")
    seconds = np.where(column.missing, np.nan, since / unit)
    return seconds / SECONDS_PER_DAY if kind == "date" else seconds


def _dates_as_words(column: Column) -> Column:
    """A column of dates, with numbers such as 1987 and 19871231 as words; timestamps stay."""
    return as_words(column) if column.values.dtype.kind == "f" else column


def _parse(
    column: Column, kind: str, how: str | None = None, decimal: str | None = None, *, digits: bool = False
) -> Parsed:
    """The words of a column as numbers, seconds or days, in the given way or in the one that suits them."""
    assert column.words is not None
    if kind == "duration":
        return parse_durations(column.words)
    if kind == "date":
        return parse_dates(column.words, ISO if how == "" else how, digits=digits)
    return parse_numbers(column.words, how, decimal or None, assumed=column.decimal)


def _fit_number(name: str, column: Column, kind: str) -> tuple[NumberCoding | None, list[str]]:
    column = _dates_as_words(column) if kind == "date" else column
    if column.words is None:
        how, decimal, notes, values = "", "", [], _numbers(column, kind, "", "")
    else:
        parsed = _parse(column, kind, digits=True)
        how, decimal, notes = parsed.how, parsed.decimal, _notes_on_words(name, kind, column, parsed)
        values = column.lookup(parsed.values)
    known = values[~np.isnan(values)]
    if len(known) and not np.all(np.isfinite(known)):
        raise RefusedColumn(
            f"Column {name!r} contains infinite values. Replace them, or leave them empty.",
            int(np.argmax(np.isinf(values))),
        )
    if len(known) < 2 or known.min() == known.max():
        return None, notes
    parts = ("value",) if kind != "date" else _parts_of(known)
    coordinates = _time_parts(known, parts)
    means, deviations = coordinates.mean(axis=0), coordinates.std(axis=0)
    # Every part has the same share of a variance of one; sine and cosine of one period share theirs.
    owners = np.repeat(np.arange(len(parts)), [1 if part in ("value", "trend") else 2 for part in parts])
    variances = np.bincount(owners, deviations**2)
    scales = 1 / np.sqrt(np.maximum(variances[owners], np.finfo(float).tiny) * len(parts))
    return NumberCoding(name, kind, how, decimal, parts, means, scales), notes


def _parts_of(days: NDArray[np.float64]) -> tuple[str, ...]:
    """The parts of dates that vary: the trend, the season if they span a year, the time of day if there is one."""
    parts = ["trend"]
    if np.ptp(days) >= YEAR and _time_parts(days, ["season"]).var(axis=0).sum() >= LEAST_SEASON:
        parts.append("season")
    if np.any(days % 1.0 != 0):
        parts.append("time of day")
    return tuple(parts)


def _time_parts(values: NDArray[np.float64], parts: Sequence[str]) -> NDArray[np.float64]:
    found = []
    for part in parts:
        if part in PERIODS:
            angle = 2 * np.pi * values / PERIODS[part]
            found += [np.sin(angle), np.cos(angle)]
        else:
            found.append(values)
    return np.stack(found, axis=1)


def _fit_levels(
    name: str, column: Column, kind: str, order: tuple[str, ...] | None = None
) -> tuple[LevelCoding | None, list[str]]:
    words = as_words(column)
    assert words.words is not None
    counts: dict[str, int] = {}
    spellings: dict[str, dict[str, int]] = {}
    for word, count in zip(words.words, words.counts().tolist(), strict=True):
        if count:
            counts[_normal(word)] = counts.get(_normal(word), 0) + count
            spellings.setdefault(_normal(word), {})[word] = count
    shown = {key: max(own, key=lambda word: own[word]) for key, own in spellings.items()}
    notes = _merged(name, spellings)
    if kind == "ordered":
        levels = list(map(_normal, order or words.words))
        unknown = [shown[key] for key in counts if key not in levels]
        if unknown:
            notes.append(
                f"Column {name!r} has values that are not among its ordered categories, such as {unknown[0]!r}. They "
                f"are taken as missing."
            )
        if len(unknown) == len(counts):
            raise RefusedColumn(
                f"Column {name!r} was declared as ordered, but none of its values is among the categories "
                f"{', '.join(order or words.words)}; it has {unknown[0]!r:.40}. Check the spelling of the categories.",
                int(np.argmax(words.values >= 0)),
            )
        sizes = np.array([counts.get(level, 0) for level in levels], dtype=np.float64)
        names = [shown.get(level, level) for level in levels] if order is None else list(order)
        ranks = np.arange(len(levels), dtype=np.float64)
        mean = np.average(ranks, weights=sizes) if sizes.sum() else 0.0
        variance = np.average((ranks - mean) ** 2, weights=sizes) if sizes.sum() else 0.0
        if variance == 0:
            return None, notes
        return LevelCoding(name, kind, tuple(names), ((ranks - mean) / np.sqrt(variance))[:, None]), notes
    # By frequency: the order does not depend on how categories are called.
    common = sorted(counts, key=lambda key: -counts[key])
    kept = [key for key in common[:MOST_LEVELS] if counts[key] >= LEAST_COUNT]
    rest = sum(counts.values()) - sum(counts[key] for key in kept)
    names = [shown[key] for key in kept] + [OTHER] * (rest > 0)
    sizes = np.array([counts[key] for key in kept] + [rest] * (rest > 0), dtype=np.float64)
    shares = sizes / max(1.0, sizes.sum())
    if len(names) < 2:
        return None, notes
    return LevelCoding(name, kind, tuple(names), np.eye(len(names)) / np.sqrt(1 - np.sum(shares**2))), notes


def _merged(name: str, spellings: Mapping[str, Mapping[str, int]]) -> list[str]:
    several = [list(own) for own in spellings.values() if len(own) > 1]
    if not several:
        return []
    return [
        f"Column {name!r} has categories that differ only by case or blanks, such as {several[0][0]!r} and "
        f"{several[0][1]!r}. They are taken as the same."
    ]


def _shortened(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _normal(word: str) -> str:
    """A category without differences of case and blanks."""
    return " ".join(word.split()).casefold()
