"""Tables straight from the result files of the benchmarks, so that no figure is typed by hand.

```{results} peers.json
:columns: method; seconds; ACC
:where: kind=peer
```
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
WORDS = {"method", "problem", "note", "data"}  # the other columns are numbers and stand at the right


class ResultTable(SphinxDirective):
    """One row per entry of a result file, the wanted columns, a dash where there is nothing."""

    required_arguments = 1
    option_spec = {"columns": directives.unchanged, "where": directives.unchanged}  # noqa: RUF012 (the API's name)

    def run(self) -> list[nodes.Node]:
        """Build the table, and have the page built anew when the file changes."""
        path = RESULTS / self.arguments[0]
        self.env.note_dependency(str(path))
        content = json.loads(path.read_text(encoding="utf-8"))
        rows = content["rows"] if isinstance(content, dict) else content
        if "where" in self.options:
            key, _, value = self.options["where"].partition("=")
            rows = [row for row in rows if str(row.get(key)) == value]
        if not rows:
            raise self.error(f"no rows in {path.name} for {self.options}")
        wanted = self.options.get("columns", "method; ACC; NMI; seconds")
        columns = [column.strip() for column in wanted.split(";")]
        found: list[nodes.Node] = [table(columns, rows)]
        if isinstance(content, dict) and "machine" in content:
            found.append(nodes.paragraph("", "", nodes.emphasis("", f"Machine: {content['machine']}.")))
        return found


def table(columns: list[str], rows: list[dict[str, Any]]) -> nodes.table:
    """The nodes of a table."""
    group = nodes.tgroup(cols=len(columns))
    group += [nodes.colspec(colwidth=1) for _ in columns]
    head, body = nodes.thead(), nodes.tbody()
    head += row_of([(column, column) for column in columns])
    body += [row_of([(column, show(row.get(column))) for column in columns]) for row in rows]
    group += [head, body]
    wrapped = nodes.table()
    wrapped += group
    return wrapped


def row_of(cells: list[tuple[str, str]]) -> nodes.row:
    """One line of a table."""
    row = nodes.row()
    for column, text in cells:
        side = "text-left" if column in WORDS else "text-right"
        row += nodes.entry("", nodes.paragraph("", text), classes=[side])
    return row


def show(value: Any) -> str:
    """A number with the digits that mean something, anything else as it is."""
    if isinstance(value, float):
        if 0 < abs(value) < 0.001:
            return f"{value:.1g}"
        return f"{value:.3f}" if value <= 1 else f"{value:.2f}" if value < 100 else f"{value:.0f}"
    return "–" if value is None else str(value)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("results", ResultTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
