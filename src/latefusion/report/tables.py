"""Tables of results as the page shows them."""

from __future__ import annotations

from typing import NamedTuple

from latefusion.results import ResultTable


class ShownTable(NamedTuple):
    """A table as text.

    Attributes
    ----------
    title : str
    head : list of str
    rows : list of list of str
    is_number : list of bool
        Columns that are aligned to the right.
    notes : tuple of str
    n_more : int
        Rows that are not shown.
    """

    title: str
    head: list[str]
    rows: list[list[str]]
    is_number: list[bool]
    notes: tuple[str, ...]
    n_more: int


def shown_table(table: ResultTable, title: str = "", *, texts_are_numbers: bool = False) -> ShownTable:
    """The first rows of a table as text.

    Parameters
    ----------
    table : ResultTable
    title : str, default=""
    texts_are_numbers : bool, default=False
        Whether all columns but the first contain numbers, some of them as text.

    Returns
    -------
    ShownTable
    """
    head, rows = table.shown_cells()
    kinds = [values.dtype.kind in "biuf" for values in table.columns.values()]
    if texts_are_numbers:
        kinds = [False] + [True] * (len(head) - 1)
    return ShownTable(title, head, rows, kinds, table.notes, len(table) - len(rows))
