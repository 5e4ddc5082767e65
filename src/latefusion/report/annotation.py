"""Content of the section about known annotation: clusters against classes, numbers and dates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latefusion.experiments.comparison import SCORES
from latefusion.interpretation.annotation import Annotation, classes_of_clusters, numbers_of_clusters
from latefusion.interpretation.gather import ModelData
from latefusion.interpretation.outcome_table import OutcomeColumn
from latefusion.report.tables import ShownTable, shown_table

# Classes with a column of their own; the rarer ones share one. Columns of annotation with a table.
MOST_CLASSES, MOST_COLUMNS = 20, 12


class ClassRow(NamedTuple):
    """Samples of one cluster by class.

    Attributes
    ----------
    cluster : int
        Position of the cluster in the report.
    counts : list of int
    shares : list of float
        Of the samples of the cluster that have a class.
    common : str
        The most common class; empty if no sample has a class.
    """

    cluster: int
    counts: list[int]
    shares: list[float]
    common: str


class ClassSection(NamedTuple):
    """Clusters against the categories of a column.

    Attributes
    ----------
    name : str
    classes : list of str
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
    classes, counts = list(found.classes), found.counts
    if len(classes) > MOST_CLASSES:
        order = np.argsort(-counts.sum(axis=0), kind="stable")
        kept, rare = np.sort(order[: MOST_CLASSES - 1]), order[MOST_CLASSES - 1 :]
        counts = np.column_stack([counts[:, kept], counts[:, rare].sum(axis=1)])
        classes = [*(classes[one] for one in kept), f"{len(rare)} other classes"]
    rows = []
    for name, own, full in zip(found.clusters, counts, found.counts, strict=True):
        common = found.classes[int(full.argmax())] if full.any() else ""
        shares = (own / max(1, own.sum())).tolist()
        rows.append(ClassRow(data.clusters.index(name), own.tolist(), shares, common))
    scores = [(SCORES[name], value) for name, value in found.scores.items() if name in SCORES]
    return ClassSection(column.name, classes, rows, scores, found.notes)
