"""The values printed in the paper, and the files of a data folder that correspond to its data sets.

``paper/values.csv`` holds every number of the paper's result tables: the table and its label, data set, method, metric,
value (scores in per cent), its standard deviation where one is given, and the text as printed; a dash, for a method
that ran out of memory, has no value. Names are ours throughout: the paper also writes CSRC for CRSC, MKAM for LKAM, LFA
for LF-MVC, and "Ours" for LF-MVC-LAM. ``paper/explanations.csv`` holds known reasons why our values differ. The paper's
data sets, and how closely a file matches each, are in the catalogue of `latefusion.datasets`.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from latefusion.datasets import known_datasets
from latefusion.datasets.catalogue import DatasetCopy, DatasetEntry

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


def paper_datasets() -> tuple[DatasetEntry, ...]:
    """The data sets of the paper, in the order of the catalogue."""
    return tuple(entry for entry in known_datasets() if entry.paper)


def paper_dataset(name: str) -> tuple[DatasetEntry, DatasetCopy] | None:
    """The paper's data set that a file (named without ending) or data set of this name corresponds to, and the copy."""
    copies = [(entry, copy) for entry in paper_datasets() for copy in entry.copies]
    by_file = [one for one in copies if name == Path(one[1].file).stem]
    by_name = [one for one in copies if name in (one[0].name, one[0].paper)]
    return next(iter([*by_file, *by_name]), None)


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
