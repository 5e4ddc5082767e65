"""Numbers in text: decimal commas, separators of thousands, and the usual markers of missing values."""

from __future__ import annotations

import importlib
import itertools
import re
from typing import Any

import numpy as np

Column = Any

EXPONENT = r"(?:[eE][+-]?\d+)?"
DECIMAL_COMMA = re.compile(rf"[+-]?\d*,\d+{EXPONENT}")
# By decimal sign: numbers with separators of thousands.
THOUSANDS = {
    ".": re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:,\d{{3}})+(?:\.\d*)?{EXPONENT}"),
    ",": re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:\.\d{{3}})+(?:,\d*)?{EXPONENT}"),
}
# Missing values among numbers, compared without case. pandas already reads some of them as missing in every column.
GAPS = frozenset(("", "-", "--", "?", ".", "na", "n/a", "n.a.", "nan", "null", "none", "#n/a", "<na>", "missing"))


def parses(value: str) -> bool:
    """Whether a text is a number, also one with a decimal comma."""
    return _is_float(value) or bool(DECIMAL_COMMA.fullmatch(value))


def is_gap(value: str) -> bool:
    """Whether a text stands for a missing value in a column of numbers."""
    return value.strip().lower() in GAPS


def as_numbers(column: Column, decimal: str = ".") -> Column | None:
    """A column of text as numbers, if all its values are numbers or stand for missing values.

    Parameters
    ----------
    column : Series
        Of text, or of text and numbers.
    decimal : {".", ","}, default="."
        The decimal separator; the other sign may separate thousands.

    Returns
    -------
    Series of float or None
        None if the column contains anything else.

    Examples
    --------
    >>> import pandas
    >>> from latefusion.datasets.text_values import as_numbers
    >>> as_numbers(pandas.Series(["1,234.5", "?", "7"])).tolist()
    [1234.5, nan, 7.0]
    >>> as_numbers(pandas.Series(["7", "seven"])) is None
    True
    """
    # Most columns of words are recognized by their first value.
    texts = (str(value) for value in column.dropna())
    first = next(itertools.filterfalse(is_gap, texts), None)
    if first is not None and _number(first, decimal) is None:
        return None
    pandas: Any = importlib.import_module("pandas")  # the column is one of pandas
    codes, distinct = pandas.factorize(column)
    numbers = np.full(len(distinct) + 1, np.nan)  # the last is for code -1, a missing value
    for position, value in enumerate(distinct):
        number = _number(str(value), decimal)
        if number is None:
            return None
        numbers[position] = number
    return pandas.Series(numbers[codes], index=column.index, name=column.name)


def _number(text: str, decimal: str) -> float | None:
    """The value of a text, NaN for a missing one, None if it is not a number."""
    text = text.strip()
    if text.lower() in GAPS:
        return float("nan")
    if THOUSANDS[decimal].fullmatch(text):
        text = text.replace("," if decimal == "." else ".", "")
    elif decimal == "," and "." in text:
        return None
    text = text.replace(",", ".") if decimal == "," else text
    return float(text) if _is_float(text) else None


def _is_float(text: str) -> bool:
    """Whether Python reads a text as a number; underscores are for source code, 2020_1 is a name."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
