"""The report of an evaluation: tables in all formats, figures, and one page in Markdown and HTML that holds them."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from latefusion.atomic_files import atomic_write
from latefusion.experiments.evaluation import (
    SCORE_TABLES,
    by_dataset,
    comparison_kind,
    dataset_table,
    differences,
    long_table,
    overview_table,
    score_tables,
    time_tables,
    unfinished_table,
)
from latefusion.experiments.printed import paper_dataset, paper_datasets
from latefusion.experiments.sources import Source
from latefusion.experiments.summary import Summary
from latefusion.tables import RENDERERS, Entry, Table, escape_markdown

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; margin: 1.5rem 0 .5rem; font-size: 13px; display: block; overflow-x: auto }
caption { text-align: left; font-weight: 600; padding-bottom: .4rem }
th, td { padding: .2rem .7rem; text-align: right; white-space: nowrap; border-bottom: 1px solid #ddd }
.words { text-align: left } td.words:not(:first-child) { white-space: normal }
.note { font-size: 13px; color: #555 } img { max-width: 100% }
"""


class Heading(NamedTuple):
    """A heading of the report."""

    text: str


class Picture(NamedTuple):
    """A picture of the report: its file, relative to the report, and its caption."""

    path: str
    caption: str


Block = Heading | Picture | Table | str


def write_report(
    folder: Path,
    summaries: Sequence[Summary],
    *,
    code: str,
    effort: str,
    refused: Mapping[str, str] = {},
    pictures: Sequence[Picture] = (),
    formats: Sequence[str] = tuple(RENDERERS),
) -> Path:
    """Write all tables and the report.

    Parameters
    ----------
    folder : Path
        Tables go to its subfolder ``tables``.
    summaries : sequence of Summary
    code : str
        Version of the code that computed them.
    effort : str
        Description of what was run.
    refused : mapping of str to str, default={}
        Data sets that were not used, and why.
    pictures : sequence of Picture, default=()
    formats : sequence of str, default=("text", "markdown", "latex", "csv", "html")
        Formats of the tables.

    Returns
    -------
    Path
        The report in Markdown; the HTML version is in the same folder.
    """
    tables = evaluation_tables(summaries)
    for name, table in tables.items():
        for style in formats:
            write_text(folder / "tables" / f"{name}.{RENDERERS[style][0]}", table.render(style))
    write_text(folder / "results.csv", tables["results"].render("csv"))
    blocks = report_blocks(summaries, tables, code, effort, refused, pictures)
    write_text(folder / "report.html", to_html(blocks))
    return write_text(folder / "report.md", to_markdown(blocks))


def evaluation_tables(summaries: Sequence[Summary]) -> dict[str, Table]:
    """All tables by name: over all data sets, one per data set, scores and times of the paper, differences, failures.

    Data sets without any result appear in the last one only.
    """
    begun = [group for group in by_dataset(summaries) if any(one.n_missing < one.n_cells for one in group)]
    found = [one for group in begun for one in group]
    return {
        "overview-label-free": overview_table(found, "label-free"),
        "overview-oracle": overview_table(found, "oracle"),
        **{f"data-{group[0].source.name}": dataset_table(group) for group in begun},
        **score_tables(found),
        **time_tables(found),
        "differences": differences(found),
        "unfinished": unfinished_table(summaries),
        "results": long_table(found),
    }


def report_blocks(
    summaries: Sequence[Summary],
    tables: Mapping[str, Table],
    code: str,
    effort: str,
    refused: Mapping[str, str],
    pictures: Sequence[Picture],
) -> list[Block]:
    """The content of the report, in order."""
    sources = list(dict.fromkeys(one.source for one in summaries))
    blocks: list[Block] = [
        Heading("Evaluation of late fusion multi-view clustering"),
        f"latefusion {code}. {effort}",
        "Oracle is the paper's protocol: parameters and restarts are chosen with the true classes, score by score, so "
        "it is an upper bound that needs the classes. Label-free is what a user gets: default "
        "parameters, or the method's own choice. Only a comparison with the same kernels is a reproduction; the others "
        "show how methods rank on related data. NMI is divided by the larger entropy, as the authors of the paper do.",
        Heading("Data sets"),
        sources_table(sources),
        *_missing(sources, refused),
    ]
    layout = [table for name, table in tables.items() if name.startswith(tuple(SCORE_TABLES))]
    for title, shown in (
        ("Over all data sets", _named(tables, "overview") if len(sources) > 1 else []),
        ("Differences from the paper", _named(tables, "differences") or ["All accuracies are within the tolerance."]),
        ("Cells without result", _named(tables, "unfinished") or ["None: every cell was run and has a result."]),
        ("The paper's tables", layout),
        ("Every method, data set by data set", _named(tables, "data-")),
        ("Figures", pictures),
    ):
        blocks += [Heading(title), *shown] if shown else []
    return blocks


def _named(tables: Mapping[str, Table], beginning: str) -> list[Block]:
    return [table for name, table in tables.items() if name.startswith(beginning) and table.rows]


def sources_table(sources: Sequence[Source]) -> Table:
    """The data sets, and their relation to those of the paper."""
    rows = []
    for source in sources:
        known = paper_dataset(source.name)
        words = [source.title, source.name, str(source.n_samples), str(source.n_views), str(source.n_clusters)]
        words += [comparison_kind(source.name), "" if known is None else known[1].note]
        rows.append([Entry(word) for word in words])
    header = ["data set", "file or name", "samples", "views", "classes", "comparison", "note"]
    return Table("Data sets of this evaluation", header, rows, [])


def missing_datasets(sources: Sequence[Source]) -> str:
    """The data sets of the paper that were not found, and how to add them."""
    present = {source.title for source in sources}
    absent = [entry for entry in paper_datasets() if entry.paper not in present]
    if not absent:
        return ""
    named = ", ".join(f"{entry.paper} ({' or '.join(copy.file for copy in entry.copies)})" for entry in absent)
    return (
        f"Data sets of the paper that were not evaluated: {named}. Put such files into a folder and name it with "
        f"--data or LATEFUSION_DATA; the command 'latefusion info --datasets' lists their sources."
    )


def _missing(sources: Sequence[Source], refused: Mapping[str, str]) -> list[Block]:
    words = missing_datasets(sources)
    return [one for one in [words, *[f"Not used: {name}, {reason}" for name, reason in refused.items()]] if one]


def to_markdown(blocks: Sequence[Block]) -> str:
    """The report in Markdown."""
    parts = []
    for position, block in enumerate(blocks):
        if isinstance(block, Heading):
            parts.append(f"{'##' if position else '#'} {escape_markdown(block.text)}\n")
        elif isinstance(block, Picture):
            parts.append(f"![{escape_markdown(block.caption)}]({block.path})\n\n{escape_markdown(block.caption)}\n")
        else:
            parts.append(block.render("markdown") if isinstance(block, Table) else f"{escape_markdown(block)}\n")
    return "\n".join(parts)


def to_html(blocks: Sequence[Block]) -> str:
    """The report as one HTML page."""
    parts = []
    for position, block in enumerate(blocks):
        if isinstance(block, Heading):
            level = "h2" if position else "h1"
            parts.append(f"<{level}>{html.escape(block.text)}</{level}>")
        elif isinstance(block, Picture):
            words = html.escape(block.caption)
            parts.append(f"<p><img src='{html.escape(block.path)}' alt='{words}'></p>\n<p class='note'>{words}</p>")
        else:
            parts.append(block.render("html") if isinstance(block, Table) else f"<p>{html.escape(block)}</p>")
    title = next((html.escape(block.text) for block in blocks if isinstance(block, Heading)), "")
    body = "\n".join(parts)
    return (
        f"<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><title>{title}</title>\n<style>{STYLE}</style>"
        f"</head>\n<body>\n{body}\n</body></html>\n"
    )


def write_text(path: Path, text: str) -> Path:
    """Write a file as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as stream:
        stream.write(text.encode("utf-8"))
    return path
