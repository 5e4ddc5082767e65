"""Content of the section about an outcome: survival curves, numbers at risk, tests."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from latefusion.interpretation.gather import ModelData
from latefusion.interpretation.outcome_tests import Clustering, SurvivalCurves
from latefusion.interpretation.outcomes import Outcome, survival_table
from latefusion.metrics import KaplanMeier
from latefusion.report.tables import ShownTable, shown_table
from latefusion.report.terms import OUTCOME_TERMS
from latefusion.report.widgets import Style, Tick, cluster_styles

# Of the chart of survival, in SVG units.
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 320, 76, 54, 16, 24
# Most steps of the time axis, and lines of the dash patterns that tell repeated colours apart.
TIME_STEPS = 7
DASHES = ("", "7 3", "2 3", "9 3 2 3")
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
NICE = (1.0, 2.0, 2.5, 5.0, 10.0)
SURVIVAL_TITLE = "Survival"
# Of more curves, only some are coloured: those of the clusters that differ most from the others.
MOST_CURVES, MOST_COLOURED = 12, 6


class Curve(NamedTuple):
    """Survival of one cluster.

    Attributes
    ----------
    cluster : int
        Position of the cluster in the report.
    name : str
    style : Style
    dash : str
    path, censored : str
        The curve, and ticks where samples are censored, as paths of SVG.
    at_risk : list of int
        One number per tick of the time axis.
    is_coloured : bool
        Whether it stands out before the reader selects clusters: curves of many clusters hide each other.
    """

    cluster: int
    name: str
    style: Style
    dash: str
    path: str
    censored: str
    at_risk: list[int]
    is_coloured: bool = True


class SurvivalChart(NamedTuple):
    """Kaplan\u2013Meier curves in SVG units.

    Attributes
    ----------
    curves : list of Curve
    x_ticks, y_ticks : list of Tick
    x_name : str
    p : float
        Of the log-rank test; NaN without one.
    """

    curves: list[Curve]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    x_name: str
    p: float
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


class OutcomeSection(NamedTuple):
    """What the page shows of an outcome.

    Attributes
    ----------
    chart : SurvivalChart or None
    tables : list of ShownTable
    notes : tuple of str
    """

    chart: SurvivalChart | None
    tables: list[ShownTable]
    notes: tuple[str, ...]


def outcome_section(found: Outcome | None, data: ModelData) -> OutcomeSection | None:
    """Draw the curves and collect the tables.

    Parameters
    ----------
    found : Outcome or None
    data : ModelData

    Returns
    -------
    OutcomeSection or None
    """
    if found is None:
        return None
    if not isinstance(found, Outcome):
        raise TypeError(f"outcome must be the result of latefusion.outcome(model, table), got {type(found).__name__}.")
    _check_clusters(found.clustering, data)
    chart = None if found.survival is None else survival_chart(found.survival, data)
    tables = [shown_table(table, title) for title, table in found.parts()]
    if found.survival is not None:
        # Without the names of the columns, which are on the axis.
        tables[0] = shown_table(survival_table(found.survival), SURVIVAL_TITLE)
    tables = [one._replace(notes=tuple(map(_in_words, one.notes))) for one in tables]
    return OutcomeSection(chart, tables, found.notes)


def _check_clusters(compared: Clustering, data: ModelData) -> None:
    """Raise an error if an outcome is about other clusters than those of the report."""
    same = "Compute it with latefusion.outcome(model, table) for the same model and samples."
    unknown = [one for one in compared.clusters if str(one) not in data.clusters]
    if unknown:
        raise ValueError(
            f"outcome has the cluster {unknown[0]!r}, but the clusters of the model are {', '.join(data.clusters)}. "
            f"{same}"
        )
    if len(compared.codes) != data.n_samples:
        raise ValueError(
            f"outcome is about {len(compared.codes)} samples, but the report is about {data.n_samples}. {same}"
        )
    position = np.array([data.clusters.index(str(one)) for one in compared.clusters], dtype=np.intp)
    n_other = np.count_nonzero(compared.assigned & (position[compared.codes] != data.labels))
    if n_other:
        raise ValueError(
            f"outcome is about another clustering: {n_other} of {data.n_samples} samples are in another cluster than "
            f"in the model. {same}"
        )


def _in_words(note: str) -> str:
    """A note about tables of Python for readers of the page, which has other tables."""
    note = re.sub(r" in `(clusters|comparison)`\.", " (not shown).", note)
    return re.sub(rf"\b({'|'.join(OUTCOME_TERMS)})\b", lambda name: name[0].replace("_", " "), note)


def survival_chart(survival: SurvivalCurves, data: ModelData) -> SurvivalChart | None:
    """Place the curves of all clusters.

    Parameters
    ----------
    survival : SurvivalCurves
    data : ModelData

    Returns
    -------
    SurvivalChart or None
        None if no cluster has a curve.
    """
    if not survival.curves:
        return None
    last = max(float(curve.times[-1]) for curve in survival.curves.values()) or 1.0
    times = time_ticks(last)
    styles = cluster_styles(len(data.clusters), data.clusters)
    coloured = _clearest(survival)

    def across(time: Any) -> Any:
        return LEFT + time / last * (WIDTH - LEFT - RIGHT)

    def down(share: Any) -> Any:
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)

    curves = []
    for name, curve in survival.curves.items():
        cluster = data.clusters.index(str(name))
        turn = cluster // 10 % len(DASHES)
        at_risk = curve.at_risk_at(times).tolist()
        paths = _paths(curve, across, down)
        curves.append(Curve(cluster, str(name), styles[cluster], DASHES[turn], *paths, at_risk, name in coloured))
    curves.sort(key=lambda one: one.cluster)
    x_ticks = [Tick(float(across(time)), f"{time:g}") for time in times]
    y_ticks = [Tick(float(down(share)), f"{share:.0%}") for share in SHARES]
    return SurvivalChart(curves, x_ticks, y_ticks, survival.time_name, survival.p)


def _clearest(survival: SurvivalCurves) -> set[Any]:
    """The clusters that differ most from all others, if there are too many to tell their curves apart."""
    names = list(survival.curves)
    if len(names) <= MOST_CURVES:
        return set(names)
    p = np.ones(len(names)) if survival.test is None else np.nan_to_num(survival.test.group_p_values, nan=1.0)
    return {names[one] for one in np.argsort(p, kind="stable")[:MOST_COLOURED]}


def _paths(curve: KaplanMeier, across: Any, down: Any) -> tuple[str, str]:
    """The curve, and its ticks, in steps of half a unit: more points are not visible."""
    x, y = (np.round(2 * one) / 2 for one in (across(curve.times), down(curve.survival)))
    keep = np.r_[True, np.diff(y) != 0]
    keep[-1] = True
    steps = "".join(f"H{a:g}V{b:g}" for a, b in zip(x[keep], y[keep], strict=True))
    ended = curve.censored > 0
    ticks = dict.fromkeys(zip(x[ended].tolist(), y[ended].tolist(), strict=True))
    return f"M{across(0.0):g} {down(1.0):g}{steps}", "".join(f"M{a:g} {b - 4:g}v8" for a, b in ticks)


def time_ticks(last: float) -> list[float]:
    """Round times from 0 to the last one.

    Parameters
    ----------
    last : float
        Greater than 0.

    Returns
    -------
    list of float

    Examples
    --------
    >>> from latefusion.report.outcome import time_ticks
    >>> time_ticks(3650)
    [0.0, 1000.0, 2000.0, 3000.0]
    """
    power = 10.0 ** np.floor(np.log10(last / TIME_STEPS))
    step = next(one * power for one in NICE if one * power * TIME_STEPS >= last * (1 - 1e-9))
    return [float(one) for one in np.arange(int(last / step + 1e-9) + 1) * step]
