"""Results as a table that prints itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.tables import Entry, Table, format_table

# Rows that are printed; the others are counted.
SHOWN_ROWS = 20
SHOWN_ROWS_HTML = 60


class ResultTable:
    """A table of results: named columns of equal length, and notes.

    In a terminal it prints as text, in a notebook as an HTML table. Iteration gives the rows as dictionaries.

    Parameters
    ----------
    columns : mapping of str to array of shape (n_rows,)
    notes : sequence of str, default=()
        Sentences below the table.
    formats : mapping of str to callable, default=None
        How the values of a column are printed; by default numbers have four digits.

    Attributes
    ----------
    columns : dict of str to ndarray of shape (n_rows,)
    notes : tuple of str

    Examples
    --------
    >>> from latefusion.results import ResultTable
    >>> table = ResultTable({"cluster": [0, 1], "effect": [1.25, -0.5]}, notes=["Two clusters."])
    >>> table
    cluster  effect
    -------  ------
    0          1.25
    1          -0.5
    <BLANKLINE>
    Two clusters.
    >>> table["effect"].tolist(), table[0], len(table[table["effect"] > 0])
    ([1.25, -0.5], {'cluster': 0, 'effect': 1.25}, 1)
    """

    def __init__(
        self,
        columns: Mapping[str, Sequence[Any] | NDArray[Any]],
        notes: Sequence[str] = (),
        formats: Mapping[str, Callable[[Any], str]] | None = None,
    ) -> None:
        self.columns = {name: _column(values) for name, values in columns.items()}
        lengths = {len(values) for values in self.columns.values()}
        if len(lengths) > 1:
            raise ValueError(f"The columns of a table must have equal lengths, got {sorted(lengths)}.")
        self.notes = tuple(notes)
        self._formats = dict(formats or {})

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[row] for row in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        """A column by name, a row by number, or some rows by a slice, a mask or an array of numbers."""
        if isinstance(key, str):
            if key not in self.columns:
                raise KeyError(f"Unknown column {key!r}. The columns are {', '.join(self.columns)}.")
            return self.columns[key]
        if isinstance(key, (int, np.integer)):
            if not -len(self) <= key < len(self):
                raise IndexError(f"Row {key} of a table with {len(self)} rows.")
            return {name: _plain(values[key]) for name, values in self.columns.items()}
        return type(self)({name: values[key] for name, values in self.columns.items()}, self.notes, self._formats)

    def __repr__(self) -> str:
        header, rows = self._cells(SHOWN_ROWS)
        rest = len(self) - len(rows)
        text = format_table(header, rows) + (f"\n… and {rest} more rows" if rest else "")
        return "\n".join([text, "", *self.notes]) if self.notes else text

    def _repr_html_(self) -> str:
        header, rows = self._cells(SHOWN_ROWS_HTML)
        rest = len(self) - len(rows)
        notes = [f"… and {rest} more rows"] * (rest > 0) + list(self.notes)
        return Table("", header, [[Entry(cell) for cell in row] for row in rows], notes).render("html")

    def records(self) -> list[dict[str, Any]]:
        """The rows as dictionaries of plain Python values, for example for JSON.

        Returns
        -------
        list of dict
        """
        return list(self)

    def to_frame(self) -> Any:
        """The table as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("A data frame needs pandas: pip install pandas, or use `columns`.") from error
        return pd.DataFrame(self.columns)

    def shown_cells(self, most: int = SHOWN_ROWS_HTML) -> tuple[list[str], list[list[str]]]:
        """Header and the first rows as text, as they are printed.

        Parameters
        ----------
        most : int, default=SHOWN_ROWS_HTML
            Number of rows at most.

        Returns
        -------
        header : list of str
        rows : list of list of str
        """
        return self._cells(most)

    def _cells(self, most: int) -> tuple[list[str], list[list[str]]]:
        """Header and the first rows as text."""
        shown = {name: self._formats.get(name, shown_value) for name in self.columns}
        rows = [[shown[name](value) for name, value in self[row].items()] for row in range(min(most, len(self)))]
        return list(self.columns), rows


def shown_value(value: Any) -> str:
    """A value as text: numbers with four digits, a dash for what is missing.

    Parameters
    ----------
    value : object

    Returns
    -------
    str

    Examples
    --------
    >>> from latefusion.results import shown_value
    >>> [shown_value(one) for one in (0.123456, 1e-12, 3, None, float("nan"), "age")]
    ['0.1235', '1e-12', '3', '–', '–', 'age']
    """
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _column(values: Any) -> NDArray[Any]:
    """One dimension; objects where values are of several types."""
    if isinstance(values, np.ndarray):
        return values
    values = list(values)
    if len({type(value) for value in values}) > 1 or any(value is None for value in values):
        numbers = all(isinstance(value, (int, float, np.number)) and not isinstance(value, bool) for value in values)
        if not numbers:
            column = np.empty(len(values), dtype=object)
            column[:] = values
            return column
    return np.array(values)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
