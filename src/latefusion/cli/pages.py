"""What commands that write a report tell it: names of classes, columns for colours, the code that reads an outcome."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from latefusion.cli.inputs import in_words_of_the_command_line, known_classes, label_options
from latefusion.datasets.optional import require
from latefusion.datasets.options import table_options
from latefusion.datasets.tables import label_name, read_frame
from latefusion.interpretation.gather import ModelData
from latefusion.report.colors import ANNOTATION, OUTCOME, chosen_columns
from latefusion.report.reproduce import frame_code
from latefusion.types import MultiViewDataset


def named_classes(data: MultiViewDataset, options: argparse.Namespace) -> Any:
    """The known classes; those of ``--labels`` have the name of their column."""
    classes = known_classes(data)
    if classes is None or options.labels is None:
        return classes
    pandas: Any = require("pandas", Path())
    return pandas.Series(classes, name=label_heading(options))


def label_heading(options: argparse.Namespace) -> str:
    """The column that ``--labels`` names, or the one with the classes in its file."""
    file = label_options(options.labels).get("label_file")
    if file is None:
        return str(options.labels)
    given = table_options(options.id, None, options.separator, options.decimal, False)
    frame, _ = read_frame(Path(file), given)
    found = label_name(frame, given)
    return str(frame.columns[-1] if found is None else found)


def check_colors(options: argparse.Namespace, data: ModelData, dataset: MultiViewDataset, clinic: Any) -> None:
    """Raise the errors of ``--color-by`` before long computations."""
    known = {OUTCOME: [] if clinic is None else list(map(str, clinic.columns)), ANNOTATION: []}
    if dataset.target is not None and options.labels is not None:
        known[ANNOTATION] = [label_heading(options)]
    others = {own for group, names in known.items() for name in names for own in (name, f"{group}: {name}")}
    with in_words_of_the_command_line():
        chosen_columns(data, [name for name in options.color_by or () if name not in others])


def with_outcome(loading: str, options: argparse.Namespace) -> str:
    """Python code that reads the files, and also the table of ``--outcome``."""
    if options.outcome is None:
        return loading
    return "\n".join([loading, "import pandas", f"clinic = {frame_code(options.outcome)}"])
