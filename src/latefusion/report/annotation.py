"""Content of the section about known annotation: clusters against classes, numbers and dates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from latefusion.experiments.comparison import SCORES
from latefusion.interpretation.annotation import Annotation, classes_of_clusters, numbers_of_clusters
from latefusion.interpretation.gather import ModelData
from latefusion.interpretation.outcome_table import OutcomeColumn
from latefusion.report.tables import ShownTable, shown_table

# Classes with a column of their own; of more classes every cluster has a list of its most common ones, this long.
# Columns of annotation with a table.
MOST_CLASSES, MOST_LISTED, MOST_COLUMNS = 20, 3, 12


class ClassRow(NamedTuple):
    """Samples of one cluster by class.

    Attributes
    ----------
    cluster : int
        Position of the cluster in the report.
    size : int
        Samples of the cluster that have a class.
    counts : list of int
        One per class of the section.
    common : list of (str, int)
        The most common classes, and their samples.
    """

    cluster: int
    size: int
    counts: list[int]
    common: list[tuple[str, int]]

    @property
    def shares(self) -> list[float]:
        """Of the samples of the cluster that have a class."""
        return [count / max(1, self.size) for count in self.counts]

    @property
    def n_rest(self) -> int:
        """Samples of classes that are not among the most common ones."""
        return self.size - sum(count for _, count in self.common)


class ClassSection(NamedTuple):
    """Clusters against the categories of a column.

    Attributes
    ----------
    name : str
    classes : list of str
        Columns, in the order of the clusters that they are matched with; empty if there are too many.
    rows : list of ClassRow
    scores : list of (str, float)
        Agreement of clusters and classes.
    notes : tuple of str
    """

    name: str
    classes: list[str]
    rows: list[ClassRow]
    scores: list[tuple[str, float]]
    notes: tuple[str, ...]


class AnnotationSection(NamedTuple):
    """What the page shows of annotation.

    Attributes
    ----------
    classes : list of ClassSection
    numbers : list of ShownTable
        Numbers and dates by cluster.
    notes : tuple of str
    n_more : int
        Columns without a table.
    """

    classes: list[ClassSection]
    numbers: list[ShownTable]
    notes: tuple[str, ...]
    n_more: int


def annotation_section(found: Annotation, data: ModelData) -> AnnotationSection | None:
    """Compare the clusters with every column.

    Parameters
    ----------
    found : Annotation
    data : ModelData

    Returns
    -------
    AnnotationSection or None
        None without annotation.
    """
    shown = found.columns[:MOST_COLUMNS]
    if not found.columns and not found.notes:
        return None
    classes = [_class_section(one, data) for one in shown if one.kind == "category"]
    numbers = [
        shown_table(numbers_of_clusters(one, data), one.name, texts_are_numbers=True)
        for one in shown
        if one.kind != "category"
    ]
    return AnnotationSection(classes, numbers, found.notes, len(found.columns) - len(shown))


def _class_section(column: OutcomeColumn, data: ModelData) -> ClassSection:
    found = classes_of_clusters(column, data)
    # Matched classes first, in the order of their clusters: agreement is on the diagonal.
    matched = linear_sum_assignment(found.counts, maximize=True)[1].tolist()
    order = [*matched, *(one for one in range(len(found.classes)) if one not in matched)]
    order = order if len(order) <= MOST_CLASSES else []
    rows = []
    for name, counts in zip(found.clusters, found.counts, strict=True):
        ranked = [one for one in np.argsort(-counts, kind="stable")[:MOST_LISTED].tolist() if counts[one]]
        common = [(found.classes[one], int(counts[one])) for one in ranked]
        rows.append(ClassRow(data.clusters.index(name), int(counts.sum()), counts[order].tolist(), common))
    scores = [(SCORES[name], value) for name, value in found.scores.items() if name in SCORES]
    return ClassSection(column.name, [found.classes[one] for one in order], rows, scores, found.notes)
