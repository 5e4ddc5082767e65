"""The values printed in the paper, and which files of a data folder stand for its data sets.

``paper/values.csv`` holds every number of the paper's result tables: the table and its label, data set, method, metric,
value (scores in per cent), its standard deviation where one is given, and the words as printed; a dash, for a method
that ran out of memory, has no value. Names are ours throughout: the paper also writes CSRC for CRSC, MKAM for LKAM, LFA
for LF-MVC, and "Ours" for LF-MVC-LAM. ``paper/datasets.csv`` holds its data sets and how close a file comes to each.
``paper/explanations.csv`` holds why a value of ours differs, where we know.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from typing import NamedTuple

NOT_IN_PAPER = "not in the paper"


class PrintedValue(NamedTuple):
    """One number of the paper.

    Attributes
    ----------
    table : {"kernel", "graph", "large", "swmc", "graph time", "large time"}
    label : str
        The label of the table in the paper's source.
    dataset, method : str
    metric : {"accuracy", "nmi", "purity", "seconds", "speedup"}
    value : float or None
        Scores in per cent; None where the paper prints a dash.
    spread : float or None
        Standard deviation, where printed.
    printed : str
    """

    table: str
    label: str
    dataset: str
    method: str
    metric: str
    value: float | None
    spread: float | None
    printed: str


class PaperDataset(NamedTuple):
    """One data set of the paper and the file that comes nearest to it.

    Attributes
    ----------
    dataset : str
        The paper's name.
    samples, views, classes : int
        As the paper counts them.
    file : str
        Name of the file without ending; empty where none is known.
    comparison : str
        "same kernels", "same samples, own kernels", "recomputed features" or "relative"; only the first is a
        reproduction.
    use : tuple of str
        The views that the paper uses, where the file has more.
    note : str
    """

    dataset: str
    samples: int
    views: int
    classes: int
    file: str
    comparison: str
    use: tuple[str, ...]
    note: str


@cache
def printed_values() -> tuple[PrintedValue, ...]:
    """Every number of the paper's result tables, in their order."""
    return tuple(
        PrintedValue(
            row["table"],
            row["label"],
            row["dataset"],
            row["method"],
            row["metric"],
            _number(row["value"]),
            _number(row["spread"]),
            row["printed"],
        )
        for row in _read("values.csv")
    )


@cache
def paper_datasets() -> tuple[PaperDataset, ...]:
    """The data sets of the paper, in its order."""
    return tuple(
        PaperDataset(
            row["dataset"],
            int(row["samples"]),
            int(row["views"]),
            int(row["classes"]),
            row["file"],
            row["comparison"],
            tuple(row["use"].split()),
            row["note"],
        )
        for row in _read("datasets.csv")
    )


def paper_row(name: str) -> PaperDataset | None:
    """The paper's data set that a file or data set of this name stands for, if any."""
    return next((row for row in paper_datasets() if name in (row.file, row.dataset)), None)


def printed_value(table: str, dataset: str, method: str, metric: str) -> PrintedValue | None:
    """One number of the paper; None where it prints nothing."""
    return _index().get((table, dataset, method, metric))


def printed_tables(dataset: str) -> list[str]:
    """The tables of scores that hold a data set."""
    found = {one.table: None for one in printed_values() if one.dataset == dataset and one.metric == "accuracy"}
    return list(found)


def printed_methods(table: str) -> list[str]:
    """The methods of a table, in its order."""
    return list(dict.fromkeys(one.method for one in printed_values() if one.table == table))


@cache
def explanations() -> dict[tuple[str, str], str]:
    """Known reasons why our value differs from the printed one, by data set and method."""
    return {(row["dataset"], row["method"]): row["reason"] for row in _read("explanations.csv")}


@cache
def _index() -> dict[tuple[str, str, str, str], PrintedValue]:
    return {(one.table, one.dataset, one.method, one.metric): one for one in printed_values()}


def _read(name: str) -> list[dict[str, str]]:
    text = resources.files("latefusion.experiments").joinpath("paper", name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _number(text: str) -> float | None:
    return float(text) if text else None
