"""Effects of the most telling features in all clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.interpretation.effects import Effects, Place, strongest_features
from latefusion.interpretation.traits import LEAST_EFFECT

# Rows, and at least this many per cluster if there are many clusters.
MOST_ROWS = 30
# Effects of this size have the full colour; larger ones the same.
FULL_EFFECT = 2.0


class HeatCell(NamedTuple):
    """The effect of one feature in one cluster.

    Attributes
    ----------
    effect : float
        NaN if there is no value inside or outside of the cluster.
    strength : float
        Of the colour, from 0 to 1.
    hint : str
        Values in the cluster and outside.
    """

    effect: float
    strength: float
    hint: str


class HeatRow(NamedTuple):
    """One feature: its view, name, and one cell per cluster."""

    view: str
    feature: str
    cells: list[HeatCell]


def top_features(effects: Sequence[Effects], n_clusters: int, most: int = MOST_ROWS) -> list[Place]:
    """The features with the largest effects, as many of every cluster as of any other.

    Parameters
    ----------
    effects : sequence of Effects
    n_clusters : int
    most : int, default=MOST_ROWS
        Number of features at most; one per cluster if there are more clusters.

    Returns
    -------
    list of Place
        By the cluster with the largest effect. Of two features with opposite effects, such as the two categories of a
        column, only one is listed.
    """
    most = max(most, n_clusters)
    ranked = [strongest_features(effects, cluster, most, LEAST_EFFECT) for cluster in range(n_clusters)]
    chosen: list[Place] = []
    for rank in range(most):
        for own in ranked:
            if rank < len(own) and len(chosen) < most and not any(_repeats(effects, own[rank], one) for one in chosen):
                chosen.append(own[rank])

    def order(place: Place) -> tuple[int, float]:
        effect = np.nan_to_num(effects[place.view].effect[:, place.feature], nan=-np.inf)
        return int(effect.argmax()), -float(effect.max())

    return sorted(chosen, key=order)


def _repeats(effects: Sequence[Effects], one: Place, other: Place) -> bool:
    """Whether two features are the same, or one is the opposite of the other."""
    if one.view != other.view:
        return False
    table: NDArray[np.float64] = effects[one.view].effect
    return one.feature == other.feature or np.allclose(table[:, one.feature], -table[:, other.feature], equal_nan=True)


def heatmap(effects: Sequence[Effects], places: Sequence[Place]) -> list[HeatRow]:
    """Effects of some features in all clusters, with the values in the words of the user.

    Parameters
    ----------
    effects : sequence of Effects
    places : sequence of Place

    Returns
    -------
    list of HeatRow
    """
    rows = []
    for view, feature in places:
        one = effects[view]
        unit = one.units[feature]
        cells = []
        for effect, inside, outside in zip(
            *(values[:, feature].tolist() for values in (one.effect, one.inside, one.outside)), strict=True
        ):
            known = effect == effect
            hint = f"{unit(inside)} in the cluster, {unit(outside)} outside" if known else "no values"
            cells.append(HeatCell(effect, min(1.0, abs(effect) / FULL_EFFECT) if known else 0.0, hint))
        rows.append(HeatRow(one.view, one.names[feature], cells))
    return rows
