"""Tables in plain text, Markdown, LaTeX, CSV and HTML."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from latefusion.spreadsheet_safety import plain_cell

# Characters with a meaning in LaTeX, and the signs that our tables use.
LATEX_SIGNS = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"–": "--", "±": r"$\pm$", "×": r"$\times$", "λ": r"$\lambda$", "τ": r"$\tau$"}
)

# A cell that starts like a number, or that is empty or a dash.
NUMBER = re.compile(r"\s*([-+.\d–]|$)")


class Entry(NamedTuple):
    """One cell of a table.

    Attributes
    ----------
    text : str
    mark : {"", "equal", "best"}, default=""
        Whether it is the best value, or not significantly worse.
    """

    text: str
    mark: str = ""


@dataclass(frozen=True)
class Table:
    """A table that can be rendered in several formats.

    Attributes
    ----------
    title : str
    header : list of str
    rows : list of list of Entry
        As many entries per row as the header has.
    notes : list of str
    """

    title: str
    header: list[str]
    rows: list[list[Entry]]
    notes: list[str]

    def render(self, style: str) -> str:
        """The table as text.

        Parameters
        ----------
        style : {"text", "markdown", "latex", "csv", "html"}

        Returns
        -------
        str
        """
        return RENDERERS[style][1](self)


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Text with aligned columns: words to the left, numbers to the right.

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
    >>> from latefusion.tables import format_table
    >>> print(format_table(["method", "ACC"], [["concat-kmeans", "0.77"], ["A-MKKM", "0.8"]]))
    method          ACC
    -------------  ----
    concat-kmeans  0.77
    A-MKKM          0.8
    """
    lines = [list(header), *[list(row) for row in rows]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    signs = [">" if numbers else "<" for numbers in _number_columns(header, rows)]

    def align(cells: Sequence[str]) -> str:
        places = zip(cells, signs, widths, strict=True)
        return "  ".join(f"{cell:{sign}{width}}" for cell, sign, width in places).rstrip()

    return "\n".join([align(lines[0]), align(["-" * width for width in widths]), *[align(line) for line in lines[1:]]])


def _number_columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[bool]:
    """Which columns hold only numbers, dashes and empty cells; never the first, which holds names."""
    return [column > 0 and all(NUMBER.match(row[column]) for row in rows) for column in range(len(header))]


def _text(table: Table) -> str:
    signs = {"": "  ", "equal": "* ", "best": "**"}
    rows = [[row[0].text, *[entry.text + signs[entry.mark] for entry in row[1:]]] for row in table.rows]
    header = [table.header[0], *[name + "  " for name in table.header[1:]]]
    return "\n".join([table.title, "", format_table(header, rows), "", *table.notes]).rstrip() + "\n"


def _markdown(table: Table) -> str:
    marked = {"": "{}", "equal": "**{}**", "best": "**<u>{}</u>**"}

    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cells)} |"

    texts = [[entry.text for entry in row] for row in table.rows]
    rules = ["---:" if numbers else "---" for numbers in _number_columns(table.header, texts)]
    rows = [[marked[entry.mark].format(escape_markdown(entry.text)) for entry in row] for row in table.rows]
    lines = [line(cells) for cells in [[escape_markdown(name) for name in table.header], rules, *rows]]
    notes = [f"{escape_markdown(note)}\n" for note in table.notes]
    return "\n".join([f"### {escape_markdown(table.title)}", "", *lines, "", *notes]).rstrip() + "\n"


def _latex(table: Table) -> str:
    marked = {"": "{}", "equal": r"\textbf{{{}}}", "best": r"\underline{{\textbf{{{}}}}}"}
    rows = [[marked[entry.mark].format(escape_latex(entry.text)) for entry in row] for row in table.rows]
    lines = [" & ".join(cells) + r" \\" for cells in rows]
    header = " & ".join(escape_latex(name) for name in table.header) + r" \\"
    notes = [r"\\ \footnotesize " + escape_latex(note) for note in table.notes]
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape_latex(table.title)}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}",
            r"\toprule",
            header,
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            *notes,
            r"\end{table}",
            "",
        ]
    )


def _csv(table: Table) -> str:
    """All texts, and an additional column of marks where there are any; without title and notes."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    marked = [any(row[column].mark for row in table.rows) for column in range(len(table.header))]
    named = [Entry(name, f"{name} mark") for name in table.header]
    for line in [named, *table.rows]:
        writer.writerow(
            [plain_cell(word) for entry, both in zip(line, marked, strict=True) for word in entry[: 1 + both]]
        )
    return stream.getvalue()


def _html(table: Table) -> str:
    marked = {"": "{}", "equal": "<b>{}</b>", "best": "<b><u>{}</u></b>"}
    texts = [[entry.text for entry in row] for row in table.rows]
    kinds = ["" if numbers else " class='words'" for numbers in _number_columns(table.header, texts)]
    header = "".join(f"<th{kind}>{html.escape(name)}</th>" for kind, name in zip(kinds, table.header, strict=True))
    rows = [
        "".join(
            f"<td{kind}>{marked[entry.mark].format(html.escape(entry.text))}</td>"
            for kind, entry in zip(kinds, row, strict=True)
        )
        for row in table.rows
    ]
    notes = "".join(f"<p class='note'>{html.escape(note)}</p>\n" for note in table.notes)
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    caption = f"<caption>{html.escape(table.title)}</caption>\n" if table.title else ""
    return f"<table>\n{caption}<thead><tr>{header}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n{notes}"


def escape_markdown(text: str) -> str:
    """Escape the characters that have a meaning in Markdown."""
    for sign in "\\`*_|[]<>":
        text = text.replace(sign, f"\\{sign}")
    return text


def escape_latex(text: str) -> str:
    """Escape the characters that have a meaning in LaTeX."""
    return text.translate(LATEX_SIGNS)


# Suffix of the file, and the function that renders it.
RENDERERS: dict[str, tuple[str, Callable[[Table], str]]] = {
    "text": ("txt", _text),
    "markdown": ("md", _markdown),
    "latex": ("tex", _latex),
    "csv": ("csv", _csv),
    "html": ("html", _html),
}
