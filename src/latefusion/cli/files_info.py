"""`latefusion info FILE ...`: contents of tables, other data files, and models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from latefusion.cli.inputs import check_cells, translated
from latefusion.datasets.collection import load_paths
from latefusion.datasets.files import check_file, load
from latefusion.datasets.formats import MODEL, identify
from latefusion.datasets.options import TableOptions
from latefusion.datasets.overview import Column, TableOverview, describe_table, shared_samples
from latefusion.datasets.tables import Source, has_sheets, is_table, sources_in
from latefusion.outputs.model_files import describe as describe_model
from latefusion.tables import format_table

# Largest number of columns in a table.
SHOWN_COLUMNS = 15
# Columns with gaps, and ids, that are shown as examples.
SHOWN_EXAMPLES = 5


def describe_files(files: Sequence[Path], options: TableOptions) -> dict[str, Any]:
    """Contents of every file; for several data files also the overlap of their samples, and errors of joining them.

    Parameters
    ----------
    files : sequence of Path
    options : TableOptions

    Returns
    -------
    dict
        ``files``, one dict each; and ``together`` if there are data files.
    """
    found: list[dict[str, Any]] = []
    tables: list[TableOverview] = []
    for file, reading in _expanded(files, options):
        if _is_model(file):
            found.append({"file": str(file), **describe_model(file)._asdict()})
        elif is_table(file):
            check_file(file)
            tables.append(describe_table(file, reading))
            found.append(_table_record(tables[-1]))
        else:
            found.append({"file": str(file), **_views_record(file)})
    data = [file for file in files if not _is_model(file)]
    answer: dict[str, Any] = {"files": found}
    if data:
        answer["together"] = {"overlap": shared_samples(tables), **_read_together(data, options)}
    return answer


def files_text(answer: Mapping[str, Any]) -> str:
    """The contents as text."""
    blocks = []
    for one in answer["files"]:
        blocks.append(_model_text(one) if "model" in one else _views_text(one) if "views" in one else _table_text(one))
    together = answer.get("together")
    if together is not None:
        overlap = together["overlap"]
        if overlap is not None:
            rows = [[file, *map(str, counts.values())] for file, counts in overlap["files"].items()]
            head = f"{overlap['n_samples']} samples in all, {overlap['in_all']} of them in every file"
            blocks.append(f"{head}\n{format_table(['file', 'samples', 'only here', 'not here'], rows)}")
        if together["problem"] is not None:
            blocks.append(f"These files cannot be clustered: {together['problem']}")
    return "\n\n".join(blocks)


def _expanded(files: Sequence[Path], options: TableOptions) -> list[Source]:
    """The files, folders replaced by their tables and workbooks by their sheets."""
    found = []
    for file in files:
        if file.is_dir() or has_sheets(file):
            labels, views = sources_in(file, options)
            found += [*views.values(), *([] if labels is None else [labels])]
        else:
            found.append(Source(file, options))
    return found


def _is_model(file: Path) -> bool:
    if not file.is_file():
        return False  # the readers report the error
    found = identify(file)
    return found is not None and found.what == MODEL


def _read_together(files: Sequence[Path], options: TableOptions) -> dict[str, Any]:
    """The error of reading the files as one data set, or None."""
    try:
        check_cells(load_paths(files, options), files, options)
    except ValueError as error:
        return {"problem": translated(str(error))}
    return {"problem": None}


def _table_record(table: TableOverview) -> dict[str, Any]:
    record = table._asdict()
    del record["ids"]
    return {
        **record,
        "n_ids": len(table.ids),
        "kinds": dict(Counter(column.kind for column in table.columns)),
        "missing": sum(column.missing for column in table.columns),
        "columns": [column._asdict() for column in table.columns],
    }


def _views_record(file: Path) -> dict[str, Any]:
    data = load(file, TableOptions())
    views = [
        {
            "view": name,
            "columns": int(array.shape[1]),
            "type": str(array.dtype),
            "form": "sparse" if hasattr(array, "tocsr") else "dense",
            "samples": int(observed.sum()),
        }
        for name, array, observed in zip(data.views.names, data.views.arrays, data.views.observed.T, strict=True)
    ]
    return {
        "name": data.name,
        "n_samples": len(data.views),
        "kind": data.kind,
        "class_sizes": None if data.target is None else np.unique(data.target, return_counts=True)[1].tolist(),
        "views": views,
    }


def _views_text(answer: Mapping[str, Any]) -> str:
    sizes, views = answer["class_sizes"], answer["views"]
    return "\n".join(
        [
            f"{answer['name']}: {answer['n_samples']} samples, {len(views)} view{'s' * (len(views) > 1)} "
            f"({answer['kind']})",
            "no labels" if sizes is None else f"{len(sizes)} classes of {min(sizes)} to {max(sizes)} samples",
            "",
            format_table(list(views[0]), [[str(value) for value in view.values()] for view in views]),
        ]
    )


def _model_text(answer: Mapping[str, Any]) -> str:
    widths = {name: "?" if width is None else str(width) for name, width in answer["views"].items()}
    rows = {
        "model": answer["model"],
        "views": ", ".join(f"{_shown(name)} ({width} columns)" for name, width in widths.items()) or "unknown",
        "clusters": answer["n_clusters"],
        "samples": answer["n_samples"],
        "written": f"{answer['written']} (UTC)",
        "versions": ", ".join(f"{name} {version}" for name, version in answer["versions"].items()),
        "file format": f"version {answer['format_version']}",
    }
    return _facts(f"{answer['file']}: a model of latefusion", rows)


def _table_text(answer: Mapping[str, Any]) -> str:
    columns = [Column(**one) for one in answer["columns"]]
    kinds = ", ".join(f"{kind}: {count}" for kind, count in answer["kinds"].items()) or "none"
    rows = {
        "written as": _written(answer["written"]),
        "ids": _ids(answer),
        "classes": "none" if answer["label_column"] is None else f"column {answer['label_column']!r}",
        "columns": kinds,
        "gaps": _gaps(columns, answer["n_rows"]),
    }
    if answer["transposed"]:
        rows["transposed"] = "columns are samples; the ids below are names of features"
    shown = columns[:SHOWN_COLUMNS]
    table = format_table(
        ["column", "kind", "missing", "distinct"],
        [[_shown(one.name), one.kind, str(one.missing), str(one.distinct)] for one in shown],
    )
    rest = len(columns) - len(shown)
    head = f"{answer['file']}: {_count(answer['n_rows'], 'row')}, {_count(answer['n_columns'], 'column')}"
    return _facts(head, rows) + (f"\n\n{table}" if shown else "") + (f"\n… and {rest} more" if rest else "")


def _facts(head: str, rows: Mapping[str, Any]) -> str:
    return "\n".join([head, *(f"  {name:12}{'unknown' if value is None else value}" for name, value in rows.items())])


def _written(how: Mapping[str, Any]) -> str:
    if how["format"] != "text":
        return str(how["format"])
    words = [f"text, separated by {how['separator']}", f"decimal {how['decimal']!r}", how["encoding"]]
    words.append("no line of names" if how["line_of_names"] is None else f"names in line {how['line_of_names']}")
    words += [f"compressed with {how['compression']}"] * bool(how["compression"])
    return ", ".join(words)


def _ids(answer: Mapping[str, Any]) -> str:
    if answer["id_column"] is None:
        return f"{answer['id_reason']}; another column can be named with --id"
    repeated = answer["duplicate_ids"]
    named = f"column {answer['id_column']!r} " if answer["id_column"] else ""
    words = [f"{named}({answer['id_reason']})", _count(answer["n_ids"], "id")]
    if repeated:
        shown = ", ".join(f"{_shown(one)} ({times} times)" for one, times in list(repeated.items())[:SHOWN_EXAMPLES])
        words.append(f"{len(repeated)} of them more than once: {shown}")
    words += [f"{_count(answer['missing_ids'], 'row')} without an id"] * bool(answer["missing_ids"])
    return ", ".join(words)


def _gaps(columns: Sequence[Column], n_rows: int) -> str:
    gappy = sorted((one for one in columns if one.missing), key=lambda one: -one.missing)
    if not gappy:
        return "none"
    missing = sum(one.missing for one in gappy)
    worst = ", ".join(f"{_shown(one.name)} {one.missing}" for one in gappy[:SHOWN_EXAMPLES])
    share = missing / max(1, n_rows * len(columns))
    return f"{_count(missing, 'cell')} ({share:.1%}), in {len(gappy)} of {len(columns)} columns; most: {worst}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"


def _shown(name: str) -> str:
    """A name without control characters."""
    return name if name.isprintable() and name else repr(name)
