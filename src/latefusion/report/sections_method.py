"""Content of the sections about the method: views, baselines, choices, convergence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.experiments.comparison import SCORES, ComparisonRow
from latefusion.interpretation.gather import ModelData
from latefusion.interpretation.importance import Explanation
from latefusion.report.baselines import Baselines
from latefusion.report.number_path import NumberTree
from latefusion.report.widgets import LineChart, line_chart

# Candidates and numbers of clusters that are listed.
MOST_CANDIDATES = 12
MOST_NUMBERS = 5


class ViewRow(NamedTuple):
    """One view; None where the model has no such value.

    Attributes
    ----------
    name, kind : str
    width : int
    weight : float
    interval : tuple of float or None
    agreement : float or None
    verdict : ViewVerdict or None
    """

    name: str
    kind: str
    width: int
    weight: float
    interval: tuple[float, float] | None
    agreement: float | None
    verdict: Any


class ViewsSection(NamedTuple):
    """Weights of the views and agreement between them.

    Attributes
    ----------
    rows : list of ViewRow
    notes : tuple of str
    names : list of str
    agreement : list of list of float
        Both as `agreement_table` returns them.
    """

    rows: list[ViewRow]
    notes: tuple[str, ...]
    names: list[str]
    agreement: list[list[float]]


def views_section(
    data: ModelData, explanation: Explanation, names: list[str], table: NDArray[np.float64]
) -> ViewsSection | None:
    """Collect weights, agreement, and results without each view.

    Parameters
    ----------
    data : ModelData
    explanation : Explanation
    names : list of str
    table : ndarray of shape (n_names, n_names)

    Returns
    -------
    ViewsSection or None
        None for models without a weight per view.
    """
    model, intervals = data.model, explanation.intervals
    weights: Any = getattr(model, "view_weights_", None)
    agreement: Any = getattr(model, "agreement_", None)
    if np.shape(weights) != (len(data.views),):
        return None
    kinds = getattr(model, "view_kinds_", {})
    rows = [
        ViewRow(
            view.name,
            kinds.get(view.name, view.kind),
            view.width,
            float(weights[position]),
            None if intervals is None else (float(intervals.lower[position]), float(intervals.upper[position])),
            None if agreement is None else float(agreement[position]),
            None if explanation.verdicts is None else explanation.verdicts[position],
        )
        for position, view in enumerate(data.views)
    ]
    return ViewsSection(rows, explanation.notes, names, table.tolist())


class BaselinesSection(NamedTuple):
    """Baselines and the model, as the last row.

    Attributes
    ----------
    scores : dict of str to str
        Names of the scores that are shown, by key.
    rows : list of ComparisonRow
    sizes : list of int or None
        Numbers of clusters.
    timed : bool
    n_samples : int
    """

    scores: dict[str, str]
    rows: list[ComparisonRow]
    sizes: list[int | None]
    timed: bool
    n_samples: int


def baselines_section(baselines: Baselines | None) -> BaselinesSection | None:
    """Choose the columns that have values.

    Parameters
    ----------
    baselines : Baselines or None

    Returns
    -------
    BaselinesSection or None
    """
    if baselines is None:
        return None
    rows = baselines.rows
    return BaselinesSection(
        {key: name for key, name in SCORES.items() if any(key in row.scores for row in rows)},
        rows,
        [None if row.labels is None else len(np.unique(row.labels)) for row in rows],
        any(np.isfinite(row.seconds) for row in rows),
        baselines.n_samples,
    )


class Choices(NamedTuple):
    """What the model has selected.

    Attributes
    ----------
    number : NumberSelection or None
    numbers : list
        Evidence for the chosen number of clusters and those with the highest scores.
    chart : LineChart or None
        Stability for all numbers of clusters.
    selection : Selection or None
    candidates : list of dict
        Those with the highest scores.
    has_components : bool
        Whether candidates differ in how missing views are imputed.
    alternatives : sequence of Alternative
        Other clusterings that score as high within the standard error.
    tree : NumberTree or None
        Clusters for other numbers of clusters.
    """

    number: Any
    numbers: Sequence[Any]
    chart: LineChart | None
    selection: Any
    candidates: Sequence[Any]
    has_components: bool
    alternatives: Sequence[Any]
    tree: NumberTree | None = None


def choices(data: ModelData, tree: NumberTree | None = None) -> Choices | None:
    """Collect what the model selected, and the alternatives with the highest scores.

    Parameters
    ----------
    data : ModelData
    tree : NumberTree, default=None

    Returns
    -------
    Choices or None
        None for models that select nothing.
    """
    number: Any = getattr(data.model, "number_selection_", None)
    selection: Any = getattr(data.model, "selection_", None)
    if number is None and selection is None:
        return None
    numbers = []
    if number is not None:  # the chosen one first: for weak structure its score is not the highest
        numbers = sorted(number.evidence, key=lambda one: (one.n_clusters != number.n_clusters, -one.score))
    candidates = sorted(selection or (), key=lambda row: -row["score"])[:MOST_CANDIDATES]
    has_components = any(row.get("n_shared_components") is not None for row in candidates)
    chart = None
    if len(numbers) > 1:
        series = [
            ("stability", [one.stability for one in number.evidence]),
            ("stability of data of the same shape without clusters", [one.stability for one in number.null]),
        ]
        chart = line_chart(
            [one.n_clusters for one in number.evidence],
            series,
            label="Stability for every number of clusters",
            x_name="number of clusters",
            marked=number.n_clusters,
        )
    alternatives: Any = getattr(data.model, "alternatives_", ())
    return Choices(number, numbers[:MOST_NUMBERS], chart, selection, candidates, has_components, alternatives, tree)


class Convergence(NamedTuple):
    """How the iterations ended.

    Attributes
    ----------
    converged : bool
    n_iter : int
    objective : float
        The last value.
    chart : LineChart or None
        None for a single iteration.
    """

    converged: bool
    n_iter: int
    objective: float
    chart: LineChart | None


def convergence(data: ModelData) -> Convergence | None:
    """Collect the values of the objective.

    Parameters
    ----------
    data : ModelData

    Returns
    -------
    Convergence or None
        None for models without an objective.
    """
    values = np.asarray(getattr(data.model, "objective_", []), dtype=float)
    if len(values) == 0 or not np.isfinite(values).all():
        return None
    chart = None
    if len(values) > 1:
        label = f"Objective over {len(values)} iterations, from {values[0]:.4g} to {values[-1]:.4g}"
        steps = range(1, len(values) + 1)
        chart = line_chart(steps, [("objective", values.tolist())], label=label, x_name="iteration")
    return Convergence(getattr(data.model, "converged_", True), data.model.n_iter_, float(values[-1]), chart)
