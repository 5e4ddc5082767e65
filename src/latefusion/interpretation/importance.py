"""Which views matter and which could be removed; known classes are not used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from latefusion.arrays import take_rows, to_numpy
from latefusion.encoding import column_statistics, fit_preparation
from latefusion.interpretation.gather import ModelData, ViewData
from latefusion.metrics import pairwise_agreement, subspace_agreement
from latefusion.selection.dependence import MOST_SAMPLES, unrelated_views, view_dependence
from latefusion.summaries import two_digits

# Two views are redundant if both their clusters (adjusted Rand index) and their partitions agree at least this much.
REDUNDANT = 0.98
# Below this adjusted Rand index, a view and the consensus have almost nothing in common.
UNRELATED = 0.05


@dataclass(frozen=True)
class Explanation:
    """Results that need additional fits, for models that support them.

    Attributes
    ----------
    verdicts : list of ViewVerdict or PartitionVerdict, or None
        What `leave_one_view_out` of the model returns.
    intervals : WeightIntervals or None
        What `weight_intervals` of the model returns.
    notes : tuple of str
        Why one of them could not be computed.
    """

    verdicts: Any = None
    intervals: Any = None
    notes: tuple[str, ...] = ()


def explain_views(model: Any, *, intervals: bool = True) -> Explanation:
    """Leave out one view at a time, and compute intervals of the view weights.

    Parameters
    ----------
    model : fitted estimator
    intervals : bool, default=True
        Whether to compute intervals.

    Returns
    -------
    Explanation
        Empty for models without these methods, and for a single view.
    """
    found: dict[str, Any] = {}
    notes = []
    for name in ("leave_one_view_out", *(["weight_intervals"] if intervals else [])):
        if model.n_views_ > 1 and hasattr(model, name):
            try:
                found[name] = getattr(model, name)()
            except ValueError as error:  # for example, too few samples without the view
                notes.append(str(error))
    return Explanation(found.get("leave_one_view_out"), found.get("weight_intervals"), tuple(notes))


def verdict_columns(verdicts: Sequence[Any]) -> dict[str, Any]:
    """The verdicts of `leave_one_view_out` as columns of a table of views.

    Parameters
    ----------
    verdicts : sequence of ViewVerdict or PartitionVerdict

    Returns
    -------
    dict of str to list
        What is known about leaving out every view, and the advice.
    """
    names = {"agreement": "with others", "changed": "changed", "gain": "stability"}
    known = {
        shown: [getattr(one, name) for one in verdicts] for name, shown in names.items() if hasattr(verdicts[0], name)
    }
    return {**known, "advice": [one.advice for one in verdicts]}


def agreement_table(data: ModelData) -> tuple[list[str], NDArray[np.float64]]:
    """Adjusted Rand indices between the clusters of single views, and of the consensus.

    Parameters
    ----------
    data : ModelData

    Returns
    -------
    names : list of str
        Views that have clusters of their own, then "consensus".
    table : ndarray of shape (n_names, n_names)
        NaN where two views have fewer than two samples in common.
    """
    known = [(view.name, view.labels) for view in data.views if view.labels is not None]
    table = pairwise_agreement([*(labels for _, labels in known), data.labels])
    return [*(name for name, _ in known), "consensus"], table


def find_unrelated(data: ModelData) -> list[str]:
    """Views that are statistically unrelated to all others.

    Parameters
    ----------
    data : ModelData

    Returns
    -------
    list of str
        Those that the model has found; for models that do not look for them, those of a test of all views if all of
        them are features.
    """
    found: list[str] | None = getattr(data.model, "unrelated_views_", None)
    if found is not None:
        return found
    if len(data.views) < 3 or any(view.kind not in ("features", "table") for view in data.views):
        return []
    samples = np.flatnonzero(data.observed.any(axis=1))
    samples = np.sort(np.random.default_rng(0).permutation(samples)[:MOST_SAMPLES])
    mask = data.observed[samples]
    dependence = view_dependence(
        [_coordinates(view, samples[own]) for view, own in zip(data.views, mask.T, strict=True)], mask
    )
    return [view.name for view, one in zip(data.views, unrelated_views(dependence), strict=True) if one]


def _coordinates(view: ViewData, samples: NDArray[np.intp]) -> Any:
    """Scaled features of some samples."""
    rows = take_rows(view.array, samples)
    rows = rows if issparse(rows) else to_numpy(rows)
    return rows if view.kind == "table" or not len(samples) else fit_preparation(column_statistics(rows))(rows)


@dataclass(frozen=True)
class Importance:
    """Views that matter, and views that could be removed.

    Attributes
    ----------
    important : list of str
        Views that matter.
    removable : dict of str to str
        Views that could be removed, each with the reason.
    effect : str
        What happens without an important view.
    """

    important: list[str]
    removable: dict[str, str]
    effect: str = "the clusters are less stable"


def view_importance(
    data: ModelData, explanation: Explanation, names: Sequence[str], table: NDArray[np.float64]
) -> Importance:
    """Find views that matter and views that could be removed.

    Parameters
    ----------
    data : ModelData
    explanation : Explanation
    names : sequence of str
    table : ndarray of shape (n_names, n_names)
        Both as `agreement_table` returns them.

    Returns
    -------
    Importance
    """
    known = [view for view in data.views if view.labels is not None]
    important: list[str] = []
    removable = dict.fromkeys(find_unrelated(data), "it is statistically unrelated to all other views")
    for verdict in explanation.verdicts or ():
        if verdict.advice == "keep" and verdict.view not in removable:
            important.append(verdict.view)
        elif verdict.advice == "remove":
            removable.setdefault(verdict.view, verdict.reason)
    for position, name in enumerate(names[:-1]):
        if len(names) > 2 and table[position, -1] < UNRELATED and name not in important:
            shared = f"adjusted Rand index {two_digits(table[position, -1])}"
            removable.setdefault(name, f"its own clusters have almost nothing in common with the consensus ({shared})")
        for other in range(position):
            if (
                table[position, other] >= REDUNDANT
                and names[other] not in removable
                and _same_partitions(known[position], known[other])
            ):
                removable.setdefault(name, f"it is redundant with {names[other]}")
    effects = {verdict.effect for verdict in explanation.verdicts or ()}
    return Importance(important, removable, *effects)


def _same_partitions(first: ViewData, second: ViewData) -> bool:
    """Whether two views agree beyond their clusters: equal clusters alone may come from independent measurements."""
    if first.rows is None or second.rows is None:
        return first.kind == second.kind
    both = first.observed & second.observed
    bases = [np.linalg.qr(rows[both])[0] for rows in (first.rows, second.rows)]
    return subspace_agreement(*bases) >= REDUNDANT
