"""Known annotation of the samples, such as cell types or stages, beside the clusters. It is never used in a fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.encoding.columns import as_words, column_of
from latefusion.interpretation.class_table import ClassTable, class_table, number_or_word
from latefusion.interpretation.gather import ModelData
from latefusion.interpretation.outcome_samples import TABLE
from latefusion.interpretation.outcome_table import OutcomeColumn, read_outcomes
from latefusion.interpretation.shown_values import Unit
from latefusion.results import ResultTable

# Name of known classes.
CLASSES = "known class"


class Annotation(NamedTuple):
    """Columns of annotation in the order of the samples.

    Attributes
    ----------
    columns : tuple of OutcomeColumn
        Numbers, dates, durations and categories.
    notes : tuple of str
        What was recognized, and what cannot be used.
    """

    columns: tuple[OutcomeColumn, ...] = ()
    notes: tuple[str, ...] = ()


def read_annotation(given: Any, data: ModelData) -> Annotation:
    """Read annotation, and the known classes of the samples as its first column.

    Parameters
    ----------
    given : data frame, mapping of str to array, series, array of shape (n_samples,), or None
        As in `latefusion.outcome`: frames and series with sample ids are matched by them, in any order.
    data : ModelData

    Returns
    -------
    Annotation
    """
    classes = () if data.target is None else (category_column(data.target_name or CLASSES, data.target.tolist()),)
    if given is None:
        return Annotation(classes)
    found = annotation_columns(given, data.ids, data.n_samples)
    return found._replace(columns=(*classes, *found.columns))


def annotation_columns(given: Any, ids: Any, n_samples: int) -> Annotation:
    """Read annotation of some samples.

    Parameters
    ----------
    given : as in `read_annotation`
    ids : sequence of shape (n_samples,) or None
    n_samples : int

    Returns
    -------
    Annotation
    """
    try:
        found = read_outcomes(given, ids, np.ones(n_samples, dtype=bool), survival=False)
    except ValueError as error:
        raise ValueError(_renamed(str(error))) from error
    notes = [_renamed(note) for note in found.notes]
    return Annotation(tuple(one for one in found.columns if one.known.any()), tuple(notes))


def _renamed(message: str) -> str:
    """A message about the table of outcomes in the words of annotation."""
    renamed = message.replace(TABLE, "The annotation").replace("outcome table", "annotation")
    renamed = renamed.replace("Left out of all tests: ", "Without annotation: ")
    renamed = renamed.replace("has no column that can be tested", "has no column that can be shown")
    return renamed.replace("is not tested. To test it, give columns=", "is left out. To show it, use it as ").replace(
        "is not tested", "is left out"
    )


def category_column(name: str, values: Sequence[Any]) -> OutcomeColumn:
    """A column of categories, whatever the values are; numbers are in their order, before words.

    Parameters
    ----------
    name : str
    values : sequence of object
        None and NaN are missing.

    Returns
    -------
    OutcomeColumn
    """
    column = as_words(column_of(values))
    words = column.words or ()
    levels = tuple(sorted(words, key=number_or_word))
    return OutcomeColumn(name, "category", column.lookup(np.array([levels.index(one) for one in words]), -1), levels)


def words_of(column: OutcomeColumn) -> NDArray[Any]:
    """The categories of a column, None where they are missing.

    Parameters
    ----------
    column : OutcomeColumn

    Returns
    -------
    ndarray of object of shape (n_samples,)
    """
    return np.array([*column.levels, None], dtype=object)[column.values]


def classes_of_clusters(column: OutcomeColumn, data: ModelData) -> ClassTable:
    """Clusters against the categories of a column, with scores.

    Parameters
    ----------
    column : OutcomeColumn
        With at least one value.
    data : ModelData

    Returns
    -------
    ClassTable
        All clusters of the data, in their order.
    """
    found = class_table(data.labels, words_of(column))
    names = tuple(data.clusters[one] for one in found.clusters)
    return ClassTable(names, found.classes, found.counts, found.scores, found.notes)


def column_unit(column: OutcomeColumn) -> Unit:
    """How the numbers, dates or durations of a column are written.

    Parameters
    ----------
    column : OutcomeColumn

    Returns
    -------
    Unit
        For dates without a time of day, that of whole days.
    """
    known = column.values[column.known]
    return Unit(column.kind, column.unit, column.kind == "date" and bool(np.all(known == np.floor(known))))


def numbers_of_clusters(column: OutcomeColumn, data: ModelData) -> ResultTable:
    """Median and quartiles of numbers, dates or durations in every cluster, as text in the unit of the user.

    Parameters
    ----------
    column : OutcomeColumn
    data : ModelData

    Returns
    -------
    ResultTable
        One row per cluster; a dash where no sample has a value.
    """
    columns: dict[str, list[Any]] = {"cluster": data.clusters, "values": [], "lower quartile": [], "median": []}
    columns["upper quartile"] = []
    unit = column_unit(column)
    for cluster in range(len(data.clusters)):
        own = column.values[(data.labels == cluster) & column.known]
        columns["values"].append(len(own))
        for name, share in (("lower quartile", 0.25), ("median", 0.5), ("upper quartile", 0.75)):
            columns[name].append(unit(float(np.quantile(own, share))) if len(own) else "\u2013")
    return ResultTable(columns)
