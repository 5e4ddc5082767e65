"""Codings of single columns of a table: from values to coordinates whose variances sum to one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from latefusion.encoding.columns import (
    ISO,
    PARSED_SHARE,
    SECONDS_PER_DAY,
    Column,
    Parsed,
    as_words,
    normal_word,
    parse_dates,
    parse_durations,
    parse_numbers,
)

# Categories that fewer samples have are one category, "other", and so are those beyond the most frequent ones.
LEAST_COUNT = 2
MOST_LEVELS = 200
OTHER = "(other)"
YEAR = 365.2425
# Least variance of the season, which is at most one: dates within about two days of the year have no season.
LEAST_SEASON = 1e-3
# Parts of a date, with the length of the period in days.
PERIODS = {"season": YEAR, "time of day": 1.0}


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
        known = {normal_word(level): position for position, level in enumerate(self.levels)}
        other = known.get(normal_word(OTHER), -1)
        of_words = np.array([known.get(normal_word(word), other) for word in words.words or ()], dtype=np.intp)
        return words.lookup(of_words, -1)


class RefusedColumn(ValueError):
    """A column that cannot have the kind that the user gave, with the row of a value that prevents it."""

    def __init__(self, message: str, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row


def fit_number(name: str, column: Column, kind: str) -> tuple[NumberCoding | None, list[str]]:
    """The coding of a column of numbers, durations or dates, and notes.

    Parameters
    ----------
    name : str
    column : Column
    kind : {"number", "duration", "date"}

    Returns
    -------
    coding : NumberCoding or None
        None if all values are equal.
    notes : list of str
    """
    column = dates_as_words(column) if kind == "date" else column
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


def _numbers(column: Column, kind: str, how: str, decimal: str) -> NDArray[np.float64]:
    """The values of a column as numbers, seconds or days."""
    if kind == "date":
        column = dates_as_words(column)
    if column.words is not None:
        return column.lookup(_parse(column, kind, how, decimal).values)
    if column.values.dtype.kind not in "mM":
        return np.asarray(column.values, dtype=np.float64)
    unit = np.timedelta64(1, "s")
    since = column.values if column.values.dtype.kind == "m" else column.values - np.datetime64(0, "s")
    seconds = np.where(column.missing, np.nan, since / unit)
    return seconds / SECONDS_PER_DAY if kind == "date" else seconds


def dates_as_words(column: Column) -> Column:
    """A column of dates, with numbers such as 1987 and 19871231 as words; timestamps stay.

    Parameters
    ----------
    column : Column

    Returns
    -------
    Column
    """
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


def check_parsed(name: str, column: Column, kind: str) -> None:
    """Raise an error for a column of words that cannot be what the user said.

    Parameters
    ----------
    name : str
    column : Column
    kind : str
        As declared.
    """
    column = dates_as_words(column) if kind == "date" else column
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


def fit_levels(
    name: str, column: Column, kind: str, order: tuple[str, ...] | None = None
) -> tuple[LevelCoding | None, list[str]]:
    """The coding of a column of categories, and notes.

    Parameters
    ----------
    name : str
    column : Column
    kind : {"category", "ordered"}
    order : tuple of str, default=None
        Ordered categories, ascending; by default in the order of the words of the column.

    Returns
    -------
    coding : LevelCoding or None
        None if all values are equal.
    notes : list of str
    """
    words = as_words(column)
    assert words.words is not None
    counts: dict[str, int] = {}
    spellings: dict[str, dict[str, int]] = {}
    for word, count in zip(words.words, words.counts().tolist(), strict=True):
        if count:
            counts[normal_word(word)] = counts.get(normal_word(word), 0) + count
            spellings.setdefault(normal_word(word), {})[word] = count
    shown = {key: max(own, key=lambda word: own[word]) for key, own in spellings.items()}
    notes = _merged(name, spellings)
    if kind == "ordered":
        levels = {normal_word(level): level for level in order or words.words}
        if order is None:
            levels |= {key: word for key, word in shown.items() if key in levels}
        notes += _notes_on_order(name, words, [shown[key] for key in counts if key not in levels], levels)
        coordinates = _ranks(np.array([counts.get(key, 0) for key in levels], dtype=np.float64))
        names = list(levels.values())
    else:
        # By frequency: the order does not depend on how categories are called.
        common = sorted(counts, key=lambda key: -counts[key])
        kept = [key for key in common[:MOST_LEVELS] if counts[key] >= LEAST_COUNT]
        rest = sum(counts.values()) - sum(counts[key] for key in kept)
        names = [shown[key] for key in kept] + [OTHER] * (rest > 0)
        coordinates = _indicators(np.array([counts[key] for key in kept] + [rest] * (rest > 0), dtype=np.float64))
    return None if coordinates is None else LevelCoding(name, kind, tuple(names), coordinates), notes


def _ranks(sizes: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Standardized ranks of ordered categories; None if only one of them has samples."""
    if np.count_nonzero(sizes) < 2:
        return None
    ranks = np.arange(len(sizes), dtype=np.float64)
    ranks -= np.average(ranks, weights=sizes)
    standardized: NDArray[np.float64] = ranks / np.sqrt(np.average(ranks**2, weights=sizes))
    return standardized[:, None]


def _indicators(sizes: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Indicators of categories, scaled to a total variance of one; None for a single category."""
    if len(sizes) < 2:
        return None
    shares = sizes / sizes.sum()
    return np.asarray(np.eye(len(sizes)) / np.sqrt(1 - np.sum(shares**2)))


def _notes_on_order(name: str, words: Column, unknown: Sequence[str], levels: Mapping[str, str]) -> list[str]:
    """A note on values that are not among the ordered categories, and an error if none is."""
    if not unknown:
        return []
    if not set(levels) & {normal_word(word) for word in words.words or ()}:
        raise RefusedColumn(
            f"Column {name!r} was declared as ordered, but none of its values is among the categories "
            f"{', '.join(levels.values())}; it has {unknown[0]!r:.40}. Check the spelling of the categories.",
            int(np.argmax(words.values >= 0)),
        )
    return [
        f"Column {name!r} has values that are not among its ordered categories, such as {unknown[0]!r}. They are taken "
        f"as missing."
    ]


def _merged(name: str, spellings: Mapping[str, Mapping[str, int]]) -> list[str]:
    several = [list(own) for own in spellings.values() if len(own) > 1]
    if not several:
        return []
    return [
        f"Column {name!r} has categories that differ only by case or blanks, such as {several[0][0]!r} and "
        f"{several[0][1]!r}. They are taken as the same."
    ]
