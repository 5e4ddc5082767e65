"""Words in the cells of tables that a spreadsheet may open."""

from __future__ import annotations

from typing import Any

# What begins with one of these, a spreadsheet takes for a formula and carries out.
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


def plain_cell(value: Any) -> Any:
    """The value of a cell, with an apostrophe before words that a spreadsheet would carry out as a formula.

    Parameters
    ----------
    value : object

    Returns
    -------
    object
        The same object, unless it is such a word. Numbers stay what they are, also where they are written as words.

    Examples
    --------
    >>> from latefusion.spreadsheet_safety import plain_cell
    >>> [plain_cell(value) for value in ("=1+1", "-2.5", "patient 7", 3)]
    ["'=1+1", '-2.5', 'patient 7', 3]
    """
    if not isinstance(value, str) or not value.startswith(FORMULA_SIGNS):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value
