"""Content of the section about an update: clusters before and now, what moved, and drift."""

from __future__ import annotations

from typing import NamedTuple

from latefusion.estimators.updates import Update
from latefusion.interpretation.gather import ModelData
from latefusion.report.tables import ShownTable, shown_table


class UpdateSection(NamedTuple):
    """What the page shows of an update.

    Attributes
    ----------
    head : str
        Numbers of samples and clusters.
    table : ShownTable
        All clusters of both models.
    notes : list of str
        What moved, appeared and vanished, and the drift.
    """

    head: str
    table: ShownTable
    notes: list[str]


def update_section(update: Update | None, data: ModelData) -> UpdateSection | None:
    """Collect what changed.

    Parameters
    ----------
    update : Update or None
        The result of ``update`` of an earlier model; it contains the model of the report.
    data : ModelData

    Returns
    -------
    UpdateSection or None
    """
    if update is None:
        return None
    if not isinstance(update, Update):
        raise TypeError(f"update must be the result of model.update(X), got {type(update).__name__}.")
    if update.model is not data.model:
        raise ValueError("update contains another model than that of the report. Give update.model as the model.")
    return UpdateSection(update.head, shown_table(update.clusters, "Clusters before and now"), update.notes)
