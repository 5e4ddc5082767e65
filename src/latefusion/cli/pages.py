"""What commands that write a report tell it: names of classes, columns for colours, the code that reads the files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from latefusion.cli.hints import hint_file
from latefusion.cli.inputs import in_words_of_the_command_line, known_classes, table_arguments
from latefusion.cli.labels import Known, label_file, tables_with
from latefusion.cli.standard_input import SIGN, reproducible
from latefusion.datasets.optional import require
from latefusion.datasets.options import table_options
from latefusion.interpretation.gather import ModelData
from latefusion.report.colors import ANNOTATION, OUTCOME, chosen_columns
from latefusion.report.reproduce import frame_code, loading_code
from latefusion.types import MultiViewDataset

# Columns without sample ids: their values are in the order of the samples.
UNMATCHED = ".to_dict('list')"


def named_classes(data: MultiViewDataset, known: Known) -> Any:
    """The known classes; those of ``--labels`` have the name of their column."""
    classes = known_classes(data)
    if classes is None or known.name is None:
        return classes
    pandas: Any = require("pandas", Path())
    return pandas.Series(classes, name=known.name)


def check_colors(options: argparse.Namespace, data: ModelData, known: Known, clinic: Any) -> None:
    """Raise the errors of ``--color-by`` before long computations."""
    annotation = [one.name for one in known.columns.columns]
    if known.name is not None:
        annotation.append(known.name)
    tables = {OUTCOME: [] if clinic is None else list(map(str, clinic.columns)), ANNOTATION: annotation}
    others = {own for group, names in tables.items() for name in names for own in (name, f"{group}: {name}")}
    with in_words_of_the_command_line():
        chosen_columns(data, [name for name in options.color_by or () if name not in others])


def reading_code(options: argparse.Namespace, known: Known | None = None, **given: Any) -> str:
    """Python code that reads the files and the tables of ``--labels`` and ``--outcome`` as the command does.

    Parameters
    ----------
    options : Namespace
    known : Known, default=None
    **given : object
        Further arguments of `loading_code`.

    Returns
    -------
    str
        It defines ``views`` and ``target``, and ``annotation`` and ``clinic`` where there are such.
    """
    labels, hints, outcome = (getattr(options, name, None) for name in ("labels", "hints", "outcome"))
    drop = [hints] if hints is not None and hint_file(hints) is None else []
    lines = []
    if known is None or known.annotation is None:
        given["label_column" if label_file(labels) is None else "label_file"] = labels
    else:
        drop += [labels] if label_file(labels) is None else []
        lines += _annotation_code(options, known)
    if outcome is not None:
        lines += ["import pandas", f"clinic = {frame_code(outcome)}"]
    return "\n".join(
        [loading_code(reproducible(options.files), **table_arguments(options), **given, drop=drop), *lines]
    )


def _annotation_code(options: argparse.Namespace, known: Known) -> list[str]:
    """Python code that reads what ``--labels`` says about some samples, or a line for the reader to complete."""
    file, by_id = label_file(options.labels), hasattr(known.annotation, "index")
    if file is not None:
        table = frame_code(file, options.id if by_id else None)
        return ["import pandas", f"annotation = {table}{'' if by_id else UNMATCHED}"]
    if options.transpose or any(str(one) == SIGN for one in options.files):
        return ["annotation = ...  # Load the annotation here."]
    reading = table_options(label_column=None, **table_arguments(options))
    tables = tables_with(options.labels, options.files, reading)
    labeled = {path: one for path, one in tables.items() if one.labels is not None}
    if not by_id:
        return ["import pandas", f"annotation = {frame_code(next(iter(labeled)))}[[{options.labels!r}]]{UNMATCHED}"]
    parts = [f"{frame_code(path, one.id_name or 0)}[[{options.labels!r}]]" for path, one in labeled.items()]
    return ["import pandas", *_joined(parts)]


def _joined(parts: list[str]) -> list[str]:
    """Code of an annotation from the same column of several tables: the first known class of every sample."""
    if len(parts) == 1:
        return [f"annotation = {parts[0]}"]
    return [
        f"annotation = pandas.concat([{', '.join(parts)}]).dropna()",
        "annotation = annotation[~annotation.index.duplicated()]",
    ]
