"""What commands that write a report tell it: names of classes, columns for colours, the code that reads an outcome."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from latefusion.cli.inputs import in_words_of_the_command_line, known_classes
from latefusion.cli.labels import Known
from latefusion.datasets.optional import require
from latefusion.interpretation.gather import ModelData
from latefusion.report.colors import ANNOTATION, OUTCOME, chosen_columns
from latefusion.report.reproduce import frame_code
from latefusion.types import MultiViewDataset


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


def with_outcome(loading: str, options: argparse.Namespace) -> str:
    """Python code that reads the files, and also the table of ``--outcome``."""
    if options.outcome is None:
        return loading
    return "\n".join([loading, "import pandas", f"clinic = {frame_code(options.outcome)}"])
