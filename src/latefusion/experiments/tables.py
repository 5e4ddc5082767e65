"""Plain-text tables."""

from __future__ import annotations

from collections.abc import Sequence


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lines with aligned columns: the first to the left, the others to the right.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequences of str
        As many cells per row as the header has.

    Returns
    -------
    str

    Examples
    --------
    >>> from latefusion.experiments import format_table
    >>> print(format_table(["method", "ACC"], [["concat-kmeans", "0.77"], ["A-MKKM", "0.8"]]))
    method          ACC
    -------------  ----
    concat-kmeans  0.77
    A-MKKM          0.8
    """
    lines = [list(header), *[list(row) for row in rows]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]

    def align(cells: Sequence[str]) -> str:
        first = cells[0].ljust(widths[0])
        rest = [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
        return "  ".join([first, *rest]).rstrip()

    return "\n".join([align(lines[0]), align(["-" * width for width in widths]), *[align(line) for line in lines[1:]]])
