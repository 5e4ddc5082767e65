"""Columns of tables, out of any data frame library: numbers, times, or words by number.

Whatever is learnt about a column of words is learnt from its different words, so that a column of a million cells costs
one pass.
"""

from __future__ import annotations

import datetime
import decimal
import math
import numbers
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Words that mean that a value is missing, in lower case.
MISSING_WORDS = frozenset({"", "na", "n/a", "#n/a", "nan", "nat", "null", "-", "--", "?", "."})
# If at least this share of the different words of a column are numbers or dates, the others are missing values.
PARSED_SHARE = 0.8
# Different words that are looked at before a column is parsed completely.
FIRST_WORDS = 100
SECONDS_PER_DAY = 86_400.0
# Attribute of pandas data frames from text files: the decimal sign of the file.
DECIMAL = "decimal"

_NUMBER = r"[+-]?(?:\d[\d.,'\u00a0\u202f ]*|[.,]\d+)(?:[eE][+-]?\d+)?"
# Only currencies stand before a number: A12 is a word.
_CURRENCY = r"[^\w\s.,+-]{0,2}|US\$|USD|EUR|GBP|CHF|JPY|CNY|INR|Rs\.?"
_WITH_UNIT = re.compile(rf"(?P<before>{_CURRENCY})\s*(?P<number>{_NUMBER})\s*(?P<after>[^\d\s][^\d]{{0,7}})?")
# Blanks and apostrophes separate thousands, whatever the decimal sign is.
_SPACING = str.maketrans("", "", "'\u00a0\u202f ")
# By decimal sign: numbers in which the other sign may separate thousands, also as in 1,00,000.
_WRITTEN = {
    decimal: re.compile(
        rf"[+-]?(?:\d+|[1-9]\d{{0,2}}(?:{other}\d{{2,3}})*{other}\d{{3}})?(?:{re.escape(decimal)}\d*)?(?:[eE][+-]?\d+)?"
    )
    for decimal, other in ((".", ","), (",", r"\."))
}
_CLOCK = re.compile(r"(?P<hours>\d{1,3}):(?P<minutes>[0-5]\d)(?::(?P<seconds>[0-5]\d(?:\.\d+)?))?")
# With slashes the month comes first where both readings are possible, as in pandas; with other signs the day does.
_MONTH_FIRST = ("%Y/%m/%d", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y")
_DAY_FIRST = ("%Y{0}%m{0}%d", "%d{0}%m{0}%Y", "%m{0}%d{0}%Y", "%d{0}%m{0}%y", "%m{0}%d{0}%y")
_NAMED_MONTHS = (
    "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y", "%d-%b-%y", "%d. %B %Y", "%b %Y", "%B %Y",
)  # fmt: skip
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p", " %H:%M:%S.%f")
ISO = "ISO 8601"
# Dates written as numbers, if the user says that they are dates: 1987, 198712, and by ISO 8601 19871231.
YEARS = "%Y"
_DIGITS = (ISO, YEARS, "%Y%m")


class Column(NamedTuple):
    """The values of one column.

    Attributes
    ----------
    values : ndarray of shape (n_samples,)
        Numbers (NaN if missing), ``datetime64``, ``timedelta64``, or the numbers of words (-1 if missing).
    words : tuple of str or None
        The different words, for a column of words.
    ordered : bool
        Whether the words are categories in ascending order.
    categories : bool
        Whether the words are known to be categories, by the type of the column.
    decimal : {"", ".", ","}
        The decimal sign of the file, if it is known.
    """

    values: NDArray[Any]
    words: tuple[str, ...] | None = None
    ordered: bool = False
    categories: bool = False
    decimal: str = ""

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which values are missing."""
        if self.words is not None:
            return np.asarray(self.values < 0)
        return np.asarray(np.isnat(self.values) if self.values.dtype.kind in "mM" else np.isnan(self.values))

    def lookup(self, of_words: NDArray[Any], fill: Any = np.nan) -> NDArray[Any]:
        """One entry per sample, from one entry per word; `fill` where the value is missing."""
        last = np.full((1, *of_words.shape[1:]), fill, dtype=np.result_type(of_words.dtype, np.min_scalar_type(fill)))
        found: NDArray[Any] = np.concatenate([of_words, last])[self.values]  # -1 is the last entry
        return found

    def take(self, rows: NDArray[Any]) -> Column:
        """The values of some samples."""
        return self._replace(values=self.values[rows])

    def hidden(self, rows: NDArray[np.bool_]) -> Column:
        """The column with the values of some samples missing."""
        missing: Any = -1 if self.words is not None else np.nan
        if self.values.dtype.kind in "mM":
            missing = np.array("NaT", dtype=self.values.dtype)
        return self._replace(values=np.where(rows, missing, self.values))

    def without(self, marker: Any) -> Column:
        """The column with a number or word that marks missing values taken as missing."""
        if marker is None or marker != marker:
            return self
        if self.words is not None:
            if (word := written_as(marker)) not in self.words:
                return self
            at = self.words.index(word)
            values = np.where(self.values == at, -1, self.values - (self.values > at))
            return self._replace(values=values, words=self.words[:at] + self.words[at + 1 :])
        if self.values.dtype.kind in "mM" or isinstance(marker, str):
            return self
        return self._replace(values=np.where(self.values == marker, np.nan, self.values))

    def counts(self) -> NDArray[np.intp]:
        """How often every word occurs."""
        assert self.words is not None
        return np.bincount(self.values[self.values >= 0], minlength=len(self.words))


class NotAValue(ValueError):
    """A list or another object that is not a single value, with its row."""

    def __init__(self, row: int, value: Any) -> None:
        super().__init__(f"{type(value).__name__} in row {row}: {value!r:.60}")
        self.row = row
        self.value = value


def column_of(values: Iterable[Any]) -> Column:
    """A column of Python objects: numbers, dates, durations or words, with None and NaN for missing values.

    Parameters
    ----------
    values : iterable of objects
        Of several types, they are words.

    Returns
    -------
    Column

    Raises
    ------
    NotAValue
        For a list, a dict or another object that is not a single value.

    Examples
    --------
    >>> from latefusion.encoding.columns import column_of
    >>> column_of(["b", None, "a", "b"])
    Column(values=array([ 0, -1,  1,  0]), words=('b', 'a'), ordered=False, categories=False, decimal='')
    """
    objects = list(values)
    kinds = {_kind_of(type(one)) for one in objects} - {"missing"}
    kinds -= {"number"} if any(kind == "number" for kind in kinds) and all(map(_is_missing, objects)) else set()
    if "" in kinds:
        row = next(row for row, one in enumerate(objects) if _kind_of(type(one)) == "")
        raise NotAValue(row, objects[row])
    if kinds <= {"number"}:
        return Column(np.array([np.nan if _is_missing(one) else float(one) for one in objects], dtype=np.float64))
    if kinds == {"date"}:
        return Column(np.array([_timestamp(one) for one in objects], dtype="datetime64[us]"))
    if kinds == {"duration"}:
        nothing = np.timedelta64("NaT", "us")
        return Column(np.array([nothing if _is_missing(one) else np.timedelta64(one, "us") for one in objects]))
    return _word_column(objects)


def _word_column(objects: Sequence[Any]) -> Column:
    number_of: dict[Any, int] = {}
    numbered = np.fromiter((number_of.setdefault(one, len(number_of)) for one in objects), np.intp, len(objects))
    # Objects that are written in the same way, such as 1 and "1", are one word.
    words: dict[str, int] = {}
    code_of = np.full(len(number_of), -1, dtype=np.intp)
    for one, position in number_of.items():
        word = "" if _is_missing(one) else written_as(one)
        if word.casefold() not in MISSING_WORDS:
            code_of[position] = words.setdefault(word, len(words))
    return Column(code_of[numbered], tuple(words))


def written_as(one: Any) -> str:
    """A value as a word: whole numbers without decimals, blanks reduced to one."""
    if isinstance(one, float) and one.is_integer():
        return str(int(one))
    return " ".join(str(one).split())


def as_words(column: Column) -> Column:
    """Any column as a column of words.

    Parameters
    ----------
    column : Column

    Returns
    -------
    Column
    """
    if column.words is not None:
        return column
    values, missing = column.values, column.missing
    unique, codes = np.unique(values[~missing], return_inverse=True)
    written = [written_as(one.item() if values.dtype.kind == "f" else one) for one in unique]
    found = np.full(len(values), -1, dtype=np.intp)
    found[~missing] = codes
    return Column(found, tuple(written))


def normal_word(word: str) -> str:
    """A word without differences of case and blanks, by which categories are compared."""
    return " ".join(word.split()).casefold()


def _is_missing(one: Any) -> bool:
    if one is None or isinstance(one, (str, datetime.timedelta)):
        return one is None or one != one
    return (
        bool(one != one)
        if isinstance(one, (numbers.Number, np.generic))
        else type(one).__name__ in ("NAType", "NaTType")
    )


def _kind_of(kind: type) -> str:
    if kind is type(None) or kind.__name__ in ("NAType", "NaTType"):
        return "missing"
    if issubclass(kind, (str, np.str_, bytes)):
        return "word"
    if issubclass(kind, (bool, np.bool_, numbers.Real, decimal.Decimal)):
        return "number"
    if issubclass(kind, (datetime.date, np.datetime64)):
        return "date"
    if issubclass(kind, (datetime.timedelta, np.timedelta64)):
        return "duration"
    return "word" if issubclass(kind, datetime.time) else ""


def _timestamp(one: Any) -> np.datetime64:
    if _is_missing(one):
        return np.datetime64("NaT", "us")
    if isinstance(one, datetime.datetime) and one.tzinfo is not None:
        one = one.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(one, "us")


class Parsed(NamedTuple):
    """Words as numbers.

    Attributes
    ----------
    values : ndarray of shape (n_words,)
        NaN for words that are not numbers.
    how : str
        How words are parsed: the unit of numbers, or the format of dates.
    decimal : str
        The decimal sign of numbers.
    ambiguous : str
        A word that would be another number with the other decimal sign, if nothing shows which one is meant.
    """

    values: NDArray[np.float64]
    how: str
    decimal: str = ""
    ambiguous: str = ""

    @property
    def share(self) -> float:
        """Share of the words that could be parsed."""
        return float(np.mean(~np.isnan(self.values))) if len(self.values) else 0.0


def parse_numbers(
    words: Sequence[str], unit: str | None = None, decimal: str | None = None, assumed: str = ""
) -> Parsed:
    """Numbers with a unit, a currency or a percent sign, with separators of thousands and decimal points or commas.

    Parameters
    ----------
    words : sequence of str
    unit, decimal : str, default=None
        As in an earlier result. By default the most frequent unit, and the decimal sign that most words show: 7,5 and
        1.200,00 can only be read with a decimal comma. Words with other units or signs are not numbers.
    assumed : {"", ".", ","}, default=""
        The decimal sign if no word shows it, such as that of the file; a point if it is not known.

    Returns
    -------
    Parsed

    Examples
    --------
    >>> from latefusion.encoding.columns import parse_numbers
    >>> parse_numbers(["$1,200.50", "$80"])
    Parsed(values=array([1200.5,   80. ]), how='$', decimal='.', ambiguous='')
    >>> parse_numbers(["1,200 %", "7,5 %", "many"])
    Parsed(values=array([1.2, 7.5, nan]), how='%', decimal=',', ambiguous='')
    """
    matches = [_WITH_UNIT.fullmatch(word) for word in words]
    units = [_unit(match) if match else "" for match in matches]
    if unit is None:
        given = Counter(one for one in units if one)
        unit = max(sorted(given), key=given.__getitem__, default="")
    texts = [
        match["number"].translate(_SPACING) if match and own in ("", unit) else ""
        for match, own in zip(matches, units, strict=True)
    ]
    ambiguous = ""
    if decimal is None:
        signs = Counter(map(_decimal_sign, texts))
        if signs["."] == signs[","] == 0 and not assumed and signs["?"]:
            ambiguous = next(word for word, text in zip(words, texts, strict=True) if _decimal_sign(text) == "?")
            ambiguous = "" if "," in ambiguous and _groups_thousands(texts) else ambiguous
        decimal = (assumed or ".") if signs["."] == signs[","] else max(".,", key=signs.__getitem__)
    return Parsed(np.array([_number(text, decimal) for text in texts], dtype=np.float64), unit, decimal, ambiguous)


def _unit(match: re.Match[str]) -> str:
    return (match["before"] or "").strip() + (match["after"] or "").strip()


def _decimal_sign(text: str) -> str:
    """The only decimal sign with which a text is a number; "?" if there are two, empty if it does not matter."""
    if "," not in text and "." not in text:
        return ""
    possible = [decimal for decimal, written in _WRITTEN.items() if written.fullmatch(text)]
    return "?" if len(possible) > 1 else "".join(possible)


def _groups_thousands(texts: Sequence[str]) -> bool:
    """Whether numbers have a sign from 1000 on: 502 and 1,995, but not 1995."""
    lengths = {len(text) for text in texts if text.isdecimal()}
    return bool(lengths) and max(lengths) <= 3


def _number(text: str, decimal: str) -> float:
    if not _WRITTEN[decimal].fullmatch(text):
        return math.nan
    plain = text.replace(",", "") if decimal == "." else text.replace(".", "").replace(",", ".")
    try:
        return float(plain)
    except ValueError:
        return math.nan


def number_in(word: str) -> str:
    """The digits and signs of a number with a unit or currency, such as 1.200,50 of "1.200,50 €"; empty for others."""
    match = _WITH_UNIT.fullmatch(word)
    return match["number"].translate(_SPACING) if match else ""


def parse_durations(words: Sequence[str]) -> Parsed:
    """Times of the form 12:30 or 12:30:15 as seconds."""
    found = [_CLOCK.fullmatch(word) for word in words]
    seconds = [
        math.nan if one is None else 3600 * int(one["hours"]) + 60 * int(one["minutes"]) + float(one["seconds"] or 0)
        for one in found
    ]
    return Parsed(np.array(seconds, dtype=np.float64), "s")


def parse_dates(words: Sequence[str], how: str | None = None, *, digits: bool = False) -> Parsed:
    """Dates and times as days since 1970.

    Parameters
    ----------
    words : sequence of str
    how : str, default=None
        The format, "ISO 8601" or as `datetime.strptime` takes it; by default the one that reads most words.
    digits : bool, default=False
        Whether numbers may be dates: years, 198712 and 19871231.

    Returns
    -------
    Parsed

    Examples
    --------
    >>> from latefusion.encoding.columns import parse_dates
    >>> parse_dates(["01.02.1970", "28.02.1970"])
    Parsed(values=array([31., 58.]), how='%d.%m.%Y', decimal='', ambiguous='')
    """
    if how is None:
        first = [word for word in words if re.search(r"\d", word)][:FIRST_WORDS]
        forms = [*_formats(first), *(_DIGITS if digits else ())]
        shares = {form: _parse_with(first, form).share for form in forms}
        how = max(shares, key=lambda form: shares[form], default=ISO)
    return _parse_with(words, how)


def _parse_with(words: Sequence[str], how: str) -> Parsed:
    read: Callable[[str], datetime.datetime]
    read = datetime.datetime.fromisoformat if how == ISO else lambda word: datetime.datetime.strptime(word, how)
    return Parsed(np.array([_days(word, read) for word in words], dtype=np.float64), how)


def _days(word: str, read: Callable[[str], datetime.datetime]) -> float:
    try:
        found = read(word)
        found = found if found.tzinfo is None else found.astimezone(datetime.UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return math.nan
    return (found - datetime.datetime(1970, 1, 1)).total_seconds() / SECONDS_PER_DAY


def _formats(words: Sequence[str]) -> list[str]:
    """Formats that words with these signs may have; numbers alone are not dates."""
    signs = [sign for sign in "-/." if any(sign in word for word in words)]
    if not signs and not any(re.search(r"[A-Za-z]{3}", word) for word in words):
        return []
    clocks = _CLOCKS if any(":" in word for word in words) else ("",)
    dates = [order.format(sign) for sign in signs for order in (_MONTH_FIRST if sign == "/" else _DAY_FIRST)] + list(
        _NAMED_MONTHS
    )
    return [ISO, *(date + clock for clock in clocks for date in dates)]
