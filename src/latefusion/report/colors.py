"""Columns by which the samples of the maps can be coloured: annotation, outcomes, and features of the views."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from latefusion.arrays import to_numpy
from latefusion.encoding.codings import LevelCoding, NumberCoding
from latefusion.interpretation.annotation import column_unit
from latefusion.interpretation.effects import Effects, Place
from latefusion.interpretation.gather import ModelData, ViewData, shorten
from latefusion.interpretation.outcome_table import OutcomeColumn, OutcomeTable
from latefusion.interpretation.shown_values import Unit, unit_of

# Features that are offered if the user names none, and columns of annotation and of outcomes.
MOST_FEATURES, MOST_KNOWN = 20, 40
# Categories with a colour of their own; less frequent ones share grey.
MOST_LEVELS = 40
OTHER = "other"
# Shares of the values below and above the ends of the colour scale.
LOW, HIGH = 0.02, 0.98
ANNOTATION, OUTCOME, MEMBERSHIPS = "annotation", "outcome", "memberships"
# Levels of a column of events.
EVENTS = ("no event", "event")


class ColorColumn(NamedTuple):
    """Values of all samples that can be shown by colour.

    Attributes
    ----------
    group : str
        "annotation", "outcome", "memberships", or the view.
    name : str
    kind : {"number", "date", "duration", "category"}
    values : ndarray of shape (n_samples,)
        Numbers (NaN if missing), or positions of categories (-1 if missing).
    levels : tuple of str
        The categories.
    unit : Unit
        How numbers are written.
    """

    group: str
    name: str
    kind: str
    values: NDArray[Any]
    levels: tuple[str, ...] = ()
    unit: Unit = Unit()

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends of the scale of numbers: between them are 96 % of the values."""
        known = self.values[np.isfinite(self.values)]
        if not len(known):
            return 0.0, 0.0
        low, high = (float(one) for one in np.quantile(known, (LOW, HIGH)))
        return (low, high) if low < high else (float(known.min()), float(known.max()))

    @property
    def end_texts(self) -> tuple[str, str]:
        """The ends in the unit of the user; with a sign if there are values beyond them."""
        (low, high), known = self.ends, self.values[np.isfinite(self.values)]
        below, above = bool((known < low).any()), bool((known > high).any())
        return "\u2264\u00a0" * below + self.unit(low), "\u2265\u00a0" * above + self.unit(high)


def color_columns(
    data: ModelData,
    effects: Sequence[Effects],
    top: Sequence[Place],
    known: Sequence[ColorColumn] = (),
    color_by: Sequence[str] | None = None,
) -> list[ColorColumn]:
    """The columns that the user chose, and the others that are known; else known ones and the largest effects.

    Parameters
    ----------
    data : ModelData
        With the features that describe the views.
    effects : sequence of Effects
    top : sequence of Place
        Features with the largest effects.
    known : sequence of ColorColumn, default=()
        Of `known_columns`.
    color_by : sequence of str, default=None
        Names of columns, or "view: column".

    Returns
    -------
    list of ColorColumn
    """
    if color_by is not None:
        chosen = chosen_columns(data, color_by, known)
        names = {(one.group, one.name) for one in chosen}
        return [*chosen, *(one for one in known if (one.group, one.name) not in names)]
    views = {view.name: view for view in data.views}
    found: dict[tuple[str, str], ColorColumn] = {}
    for place in top:
        one = effects[place.view]
        view = views[one.view]
        column = _column_of_feature(view, one, place.feature)
        if column is not None and len(found) < MOST_FEATURES:
            found.setdefault((view.name, column.name), column)
    order = {name: position for position, name in enumerate(views)}
    return [*known, *sorted(found.values(), key=lambda column: order[column.group])]


def known_columns(
    annotation: Sequence[OutcomeColumn] = (), outcome: OutcomeTable | None = None, membership: Any = None
) -> list[ColorColumn]:
    """Columns of annotation, and of a table of outcomes, and the membership in the own cluster.

    Parameters
    ----------
    annotation : sequence of OutcomeColumn, default=()
    outcome : OutcomeTable, default=None
    membership : ndarray of shape (n_samples,), default=None

    Returns
    -------
    list of ColorColumn
    """
    tested = [] if outcome is None else list(outcome.columns)
    survival = None if outcome is None else outcome.survival
    if survival is not None:
        events = np.where(np.isnan(survival.time), -1, survival.event)
        tested = [
            OutcomeColumn(survival.time_name, "number", survival.time),
            OutcomeColumn(survival.event_name, "category", events, EVENTS),
            *tested,
        ]
    certainty = [] if membership is None else [OutcomeColumn("membership", "number", membership)]
    groups = {ANNOTATION: annotation, OUTCOME: tested, MEMBERSHIPS: certainty}
    return [_of_known(group, one) for group, columns in groups.items() for one in columns[:MOST_KNOWN]]


def chosen_columns(data: ModelData, color_by: Sequence[str], known: Sequence[ColorColumn] = ()) -> list[ColorColumn]:
    """The columns that the user named.

    Parameters
    ----------
    data : ModelData
    color_by : sequence of str
        Names of columns, or "view: column"; "annotation: column" and "outcome: column" for those that are known.
    known : sequence of ColorColumn, default=()

    Returns
    -------
    list of ColorColumn
    """
    if isinstance(color_by, str):
        raise ValueError(f"color_by must be a list of names of columns; got {color_by!r}. Write [{color_by!r}].")
    offered: list[tuple[str, str, ViewData | ColorColumn]] = [(one.group, one.name, one) for one in known]
    offered += [(view.name, own, view) for view in data.views for own in dict.fromkeys(_names(view))]
    found = []
    for name in map(str, color_by):
        matches = [one for one in offered if name in (one[1], f"{one[0]}: {one[1]}")]
        if not matches:
            names = shorten([own for _, own, _ in offered], 5)
            raise ValueError(f"color_by contains {name!r}, which is not a column. There are columns such as {names}.")
        if len(matches) > 1:
            listed = shorten([repr(f"{group}: {own}") for group, own, _ in matches], 5)
            raise ValueError(
                f"color_by contains {name!r}, which is the name of several columns. Write one of {listed}."
            )
        ((_, own, source),) = matches
        column = source if isinstance(source, ColorColumn) else _column(source, own)
        if column is None:
            raise ValueError(
                f"color_by contains {name!r}, a column of text. Choose a column of numbers, dates or categories."
            )
        found.append(column)
    return found


def _names(view: ViewData) -> list[str]:
    return view.columns if view.kind in ("features", "table") else []


def _of_known(group: str, column: OutcomeColumn) -> ColorColumn:
    unit = Unit() if column.kind == "category" else column_unit(column)
    return _with_few_levels(ColorColumn(group, column.name, column.kind, column.values, tuple(column.levels), unit))


def _column_of_feature(view: ViewData, effects: Effects, feature: int) -> ColorColumn | None:
    """The column that a feature belongs to: a category belongs to a column of categories."""
    if view.kind == "features":
        return _numbers(view, feature)
    return next((_column(view, name) for name in _owners(view, effects.names[feature])), None)


def _owners(view: ViewData, feature: str) -> Iterator[str]:
    return (name for name in _names(view) if feature == name or feature.startswith(f"{name}: "))


def _column(view: ViewData, name: str) -> ColorColumn | None:
    """Values of a column; None for text."""
    if view.table is None or view.kind == "features":
        return _numbers(view, view.columns.index(name))
    coding = next(one for one in view.table.codings if one.name == name)
    column = view.table_columns[name].hidden(~view.observed)
    if isinstance(coding, NumberCoding):
        return ColorColumn(view.name, name, coding.kind, coding.numbers(column), unit=unit_of(coding))
    if isinstance(coding, LevelCoding):
        positions = coding.positions(column)
        return _with_few_levels(ColorColumn(view.name, name, "category", positions, tuple(coding.levels)))
    return None


def _numbers(view: ViewData, position: int) -> ColorColumn:
    """A column of a view of numbers."""
    values = view.values[:, [position]]
    dense = values.toarray() if issparse(values) else to_numpy(values)
    numbers = np.where(view.observed, np.asarray(dense, dtype=np.float64).ravel(), np.nan)
    return ColorColumn(view.name, view.columns[position], "number", numbers)


def _with_few_levels(column: ColorColumn) -> ColorColumn:
    """The column with its rare categories as one, if it has more categories than there are colours."""
    if len(column.levels) <= MOST_LEVELS:
        return column
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.levels))
    kept = np.sort(np.argsort(-counts, kind="stable")[: MOST_LEVELS - 1])
    position = np.full(len(column.levels) + 1, len(kept))
    position[kept], position[-1] = np.arange(len(kept)), -1  # the last entry is for missing values
    levels = (*(column.levels[one] for one in kept), f"{OTHER} ({len(column.levels) - len(kept)} categories)")
    return column._replace(values=position[column.values], levels=levels)
