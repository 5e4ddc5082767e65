"""Kinds of columns: numbers, categories, dates, durations, text and ids, recognized from their values."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from latefusion.encoding.columns import (
    PARSED_SHARE,
    Column,
    Parsed,
    normal_word,
    parse_dates,
    parse_durations,
    parse_numbers,
)

KINDS = ("number", "category", "ordered", "date", "duration", "text", "drop")
# A note says so if at least this share of the different categories of a column are numbers or dates.
NEARLY = 0.5
# Words are names, or texts, if more than this share of the rows have one that no other row has.
NAMES_SHARE = 0.5
# Mean number of words of a text; fewer different phrases than this are categories.
TEXT_WORDS = 3.0
MOST_PHRASES = 50
ID_NAME = re.compile(r"(^|[_\W])(id|ids|uuid|guid|index|idx|key|row|rownames?|nr|no)$|^unnamed: ?\d+$", re.IGNORECASE)


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
        times[normal_word(word)] = times.get(normal_word(word), 0) + count
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


def _counts_rows(name: str, values: NDArray[np.float64]) -> bool:
    """Whether numbers are ids: whole, all different, and named as ids or counting the rows."""
    known = values[~np.isnan(values)]
    if len(known) < 3 or not np.all(known == np.round(known)) or len(np.unique(known)) < len(known):
        return False
    counts = known.min() in (0, 1) and np.all(np.abs(np.diff(known)) == 1) and len(known) > 10
    return bool(ID_NAME.search(name)) or bool(counts)
