"""Cluster profiles: features that differ most between a cluster and all other samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from latefusion.arrays import row_blocks, to_numpy
from latefusion.encoding.codings import LevelCoding, NumberCoding
from latefusion.encoding.columns import YEARS
from latefusion.interpretation.features import Described
from latefusion.interpretation.gather import ModelData, ViewData, gather

BLOCK_ENTRIES = 2**22
# Features per cluster, in total and per view (fewer if there are many clusters), and the smallest effect that is shown
# ("small" in the terms of Cohen).
MOST_TRAITS = 15
MANY_CLUSTERS, FEWER_TRAITS = 12, 9
MOST_PER_VIEW = 5
LEAST_PER_VIEW = 2
LEAST_EFFECT = 0.2
# Smallest variance of an indicator that a difference of shares is divided by.
LEAST_VARIANCE = 0.01
# Units that stand before a number.
CURRENCIES = ("$", "€", "£", "¥", "₹", "US$")


class Trait(NamedTuple):
    """A feature by which a cluster differs from all other samples.

    Attributes
    ----------
    view : str
    feature : str
    effect : float
        For features: mean in the cluster minus mean outside, in standard deviations. For labels: share of the cluster
        that has the label.
    inside, outside : float
        Means, or shares, in the cluster and outside of it; for numbers of tables, medians.
    is_share : bool
        Whether the feature is a label and the effect a share.
    shown : tuple of str
        For tables: `inside` and `outside` as text, in the units of the user.
    """

    view: str
    feature: str
    effect: float
    inside: float
    outside: float
    is_share: bool = False
    shown: tuple[str, ...] = ()

    @property
    def hint(self) -> str:
        """The values in the cluster and outside, as a sentence."""
        inside, outside = self.shown or (f"{self.inside:.4g}", f"{self.outside:.4g}")
        return f"{inside} in the cluster, {outside} outside"

    def __str__(self) -> str:
        return f"{self.feature} ({self.view}): {self.hint}"


def features_of(model: Any, X: Any, cluster: Any, *, most: int = 10) -> list[Trait]:
    """The features by which one cluster differs most from all other samples.

    Parameters
    ----------
    model : fitted estimator
    X : as in the ``fit`` of the model
        The views that it was fitted on.
    cluster : object
        One of the values of ``labels_``.
    most : int, default=10
        Number of features at most.

    Returns
    -------
    list of Trait
        Largest effect first. In the units of the user where the view is a table: medians of numbers and dates, shares
        of categories, shares of texts with a word.

    Examples
    --------
    >>> import pandas as pd
    >>> import latefusion as lf
    >>> from latefusion.interpretation import features_of
    >>> table = pd.DataFrame({"region": ["north", "south"] * 20, "spend": ["$10", "$500"] * 20, "age": range(20, 60)})
    >>> model = lf.GlobalAlignmentClustering(2, random_state=0).fit({"customers": table})
    >>> print(features_of(model, {"customers": table}, model.labels_[0])[0])
    region: north (customers): 100% in the cluster, 0% outside
    """
    data = gather(model, X, single_views=False)
    if str(cluster) not in data.clusters:
        raise ValueError(f"Unknown cluster {cluster!r}. The clusters are {', '.join(data.clusters)}.")
    traits = cluster_traits(data, most_per_view=most)[data.clusters.index(str(cluster))]
    return sorted(traits, key=lambda one: -abs(one.effect))[:most]


def cluster_traits(
    data: ModelData, described: Mapping[str, Described] | None = None, most_per_view: int | None = None
) -> list[list[Trait]]:
    """For every cluster the features with the largest effects, view by view.

    Parameters
    ----------
    data : ModelData
    described : mapping of str to Described, default=None
        Features that replace the columns of a view, by its name.
    most_per_view : int, default=None
        Number of features of every view; by default so many that a page can show them.

    Returns
    -------
    list of list of Trait
        One list per cluster, in the order of the views, largest effect first.
    """
    n_clusters = len(data.clusters)
    in_all = MOST_TRAITS if n_clusters <= MANY_CLUSTERS else FEWER_TRAITS
    most = most_per_view or max(LEAST_PER_VIEW, min(MOST_PER_VIEW, in_all // len(data.views)))
    traits: list[list[Trait]] = [[] for _ in range(n_clusters)]
    for view in data.views:
        if described is not None and view.name in described and view.kind != "labels":
            table = described[view.name]
            view = replace(view, kind="features", array=table.values, columns=table.names, observed=table.observed)
        if view.kind == "labels" and view.labels is not None:
            found = _label_traits(view, data.labels, n_clusters, most)
        elif view.kind == "table":
            found = table_traits(view, data.labels, n_clusters, most)
        elif view.kind == "features":
            found = _feature_traits(view, data.labels, n_clusters, most)
        else:
            continue
        for own, more in zip(traits, found, strict=True):
            own.extend(more)
    return traits


def _feature_traits(view: ViewData, labels: NDArray[np.intp], n_clusters: int, most: int) -> list[list[Trait]]:
    effects, inside, outside = effect_sizes(view, labels, n_clusters)
    found = []
    for cluster in range(n_clusters):
        order = np.argsort(-np.abs(effects[cluster]), kind="stable")[:most]
        found.append(
            [
                Trait(
                    view.name,
                    view.columns[one],
                    float(effects[cluster, one]),
                    float(inside[cluster, one]),
                    float(outside[cluster, one]),
                )
                for one in order
                if abs(effects[cluster, one]) >= LEAST_EFFECT
            ]
        )
    return found


def table_traits(view: ViewData, labels: NDArray[np.intp], n_clusters: int, most: int) -> list[list[Trait]]:
    """The columns, categories and words of a table with the largest effects, for every cluster.

    Parameters
    ----------
    view : ViewData
        A table, with its columns as given.
    labels : ndarray of shape (n_samples,)
    n_clusters : int
    most : int
        Traits per cluster.

    Returns
    -------
    list of list of Trait
        The effect of a category or word is the difference of its shares, in standard deviations of its indicator.
    """
    assert view.table is not None
    traits: list[list[Trait]] = [[] for _ in range(n_clusters)]
    for coding in view.table.codings:
        column = view.table_columns.get(coding.name)
        if column is None:
            continue
        column = column.hidden(~view.observed)
        if isinstance(coding, NumberCoding):
            found = _number_traits(view.name, coding, coding.numbers(column), labels, n_clusters)
        elif isinstance(coding, LevelCoding):
            positions = coding.positions(column)
            known = np.flatnonzero(positions >= 0)
            members = csr_array(
                (np.ones(len(known)), (known, positions[known])), shape=(len(positions), len(coding.levels))
            )
            names = [f"{coding.name}: {level}" for level in coding.levels]
            found = _share_traits(view.name, names, members, positions >= 0, labels, n_clusters)
        else:
            texts = coding.counts(column) > 0
            given = column.values >= 0
            members = texts[np.maximum(column.values, 0)].astype(np.float64).multiply(given[:, None]).tocsr()
            names = [f"{coding.name}: \u201c{term}\u201d" for term in coding.terms]
            found = _share_traits(view.name, names, members, given, labels, n_clusters)
        for own, more in zip(traits, found, strict=True):
            own.extend(more)
    return [
        sorted((one for one in own if abs(one.effect) >= LEAST_EFFECT), key=lambda one: -abs(one.effect))[:most]
        for own in traits
    ]


def _number_traits(
    view: str, coding: NumberCoding, values: NDArray[np.float64], labels: NDArray[np.intp], n_clusters: int
) -> list[list[Trait]]:
    known = ~np.isnan(values)
    found: list[list[Trait]] = []
    for cluster in range(n_clusters):
        inside, outside = values[known & (labels == cluster)], values[known & (labels != cluster)]
        if not len(inside) or not len(outside):
            found.append([])
            continue
        variance = (inside.var() * len(inside) + outside.var() * len(outside)) / (len(inside) + len(outside))
        effect = float((inside.mean() - outside.mean()) / np.sqrt(variance)) if variance > 0 else 0.0
        middle = float(np.median(inside)), float(np.median(outside))
        days = coding.kind == "date" and "time of day" not in coding.parts
        shown = tuple(shown_value(np.floor(one) if days else one, coding.kind, coding.how) for one in middle)
        found.append([Trait(view, coding.name, effect, *middle, shown=shown)])
    return found


def _share_traits(
    view: str,
    names: list[str],
    members: csr_array,
    known: NDArray[np.bool_],
    labels: NDArray[np.intp],
    n_clusters: int,
) -> list[list[Trait]]:
    """Traits of indicators, such as categories: their shares in the clusters and outside."""
    rows = np.flatnonzero(known)
    groups = csr_array((np.ones(len(rows)), (labels[rows], rows)), shape=(n_clusters, len(labels)))
    counts, sizes = (groups @ members).toarray(), np.asarray(groups.sum(axis=1)).reshape(-1, 1)
    inside = counts / np.maximum(sizes, 1)
    outside = (counts.sum(axis=0) - counts) / np.maximum(sizes.sum() - sizes, 1)
    variances = (sizes * inside * (1 - inside) + (sizes.sum() - sizes) * outside * (1 - outside)) / max(
        1.0, float(sizes.sum())
    )
    # A share of one half has the standard deviation 1/2; indicators that are nearly constant are not divided by less.
    effects = (inside - outside) / np.sqrt(np.maximum(variances, LEAST_VARIANCE))
    found = []
    for cluster in range(n_clusters):
        order = np.argsort(-np.abs(effects[cluster]), kind="stable")[:MOST_PER_VIEW]
        found.append(
            [
                Trait(
                    view,
                    names[one],
                    float(effects[cluster, one]),
                    float(inside[cluster, one]),
                    float(outside[cluster, one]),
                    shown=(f"{inside[cluster, one]:.0%}", f"{outside[cluster, one]:.0%}"),
                )
                for one in order
            ]
        )
    return found


def shown_value(value: float, kind: str, unit: str = "") -> str:
    """A number, a date or a duration as text, in the unit of the user.

    Parameters
    ----------
    value : float
        Days since 1970 for dates, seconds for durations.
    kind : {"number", "date", "duration"}
    unit : str, default=""
        Of numbers; of dates, their format: years are shown without month and day.

    Returns
    -------
    str

    Examples
    --------
    >>> from latefusion.interpretation.profiles import shown_value
    >>> shown_value(1200.5, "number", "$"), shown_value(7.25, "number", "%"), shown_value(31.5, "date")
    ('$1,200', '7.25 %', '1970-02-01 12:00')
    """
    if kind == "date" and unit == YEARS:
        return str(np.datetime64(0, "D") + np.timedelta64(round(value), "D"))[:4]
    if kind == "date":
        moment = np.datetime64(0, "s") + np.timedelta64(round(value * 86_400), "s")
        text = str(moment.astype("datetime64[m]")).replace("T", " ")
        return text.removesuffix(" 00:00")
    if kind == "duration":
        seconds = round(abs(value))
        days, rest = divmod(seconds, 86_400)
        clock = f"{rest // 3600:02d}:{rest % 3600 // 60:02d}:{rest % 60:02d}"
        return "-" * (value < 0) + (f"{days} days {clock}" if days else clock)
    digits = 0 if abs(value) >= 1000 or value == round(value) else max(0, 3 - len(str(int(abs(value)))))
    number = f"{value:,.{digits}f}" if abs(value) >= 0.01 or value == 0 else f"{value:.3g}"
    if not unit:
        return number
    return f"{unit}{number}" if unit in CURRENCIES else f"{number} {unit}"


def effect_sizes(
    view: ViewData, labels: NDArray[np.intp], n_clusters: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Standardised mean differences of every feature between every cluster and all other samples.

    Parameters
    ----------
    view : ViewData
    labels : ndarray of shape (n_samples,)
    n_clusters : int

    Returns
    -------
    effects, inside, outside : ndarray of shape (n_clusters, n_features)
        (inside - outside) / s with s² the mean of the variances inside and outside, weighed by samples; 0 where a
        feature is constant on both sides.
    """
    counts, sums, squares, center = _moments(view, labels, n_clusters)
    own = np.maximum(counts, 1.0)[:, None]
    others = np.maximum(counts.sum() - counts, 1.0)[:, None]
    inside, outside = sums / own, (sums.sum(axis=0) - sums) / others
    within = squares - own * inside**2 + (squares.sum(axis=0) - squares) - others * outside**2
    spread = np.sqrt(np.maximum(within, 0.0) / max(counts.sum(), 1.0))
    scale = np.sqrt(squares.sum(axis=0) / max(counts.sum(), 1.0))
    known = (spread > 1e-9 * np.maximum(scale, np.abs(center))) & (counts > 0)[:, None]
    effects = np.where(known, (inside - outside) / np.where(known, spread, 1.0), 0.0)
    return effects, inside + center, outside + center


def _moments(
    view: ViewData, labels: NDArray[np.intp], n_clusters: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Per cluster the number of samples, sums and sums of squares of the centred features, and what was subtracted.

    Features are read in blocks of rows; sparse features stay sparse.
    """
    array = view.array
    n_samples, width = array.shape
    sparse = issparse(array)
    blocks = [slice(0, n_samples)] if sparse else list(row_blocks(n_samples, max(1, BLOCK_ENTRIES // width)))
    center = np.zeros(width)
    if not sparse:
        # Close to the mean, so that sums of squares keep their precision.
        first = to_numpy(array[: min(n_samples, 1000)]).astype(np.float64)
        center = first[view.observed[: len(first)]].mean(axis=0) if view.observed[: len(first)].any() else center
    sums, squares = np.zeros((n_clusters, width)), np.zeros((n_clusters, width))
    for rows in blocks:
        observed = np.flatnonzero(view.observed[rows])
        members = csr_array(
            (np.ones(len(observed)), (labels[rows][observed], observed)), shape=(n_clusters, len(labels[rows]))
        )
        if sparse:
            sums += (members @ array).toarray()
            squares += (members @ array.power(2)).toarray()
        else:
            block = to_numpy(array[rows]).astype(np.float64) - center
            sums += members @ block
            squares += members @ block**2
    counts = np.bincount(labels[view.observed], minlength=n_clusters).astype(np.float64)
    return counts, sums, squares, center


def _label_traits(view: ViewData, labels: NDArray[np.intp], n_clusters: int, most: int) -> list[list[Trait]]:
    """The most common labels of every cluster."""
    assert view.labels is not None
    known = view.labels >= 0
    table = np.zeros((n_clusters, len(view.label_names)))
    np.add.at(table, (labels[known], view.labels[known]), 1)
    inside = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    rest = table.sum(axis=0) - table
    outside = rest / np.maximum(rest.sum(axis=1, keepdims=True), 1)
    return [
        [
            Trait(view.name, view.label_names[one], float(shares[one]), float(shares[one]), float(others[one]), True)
            for one in np.argsort(-shares, kind="stable")[:most]
            if shares[one] >= LEAST_EFFECT
        ]
        for shares, others in zip(inside, outside, strict=True)
    ]
