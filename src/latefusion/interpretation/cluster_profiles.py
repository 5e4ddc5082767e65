"""Profiles of clusters: every feature of every view, compared between each cluster and all other samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from latefusion.arrays import to_numpy
from latefusion.datasets.modalities import is_mudata
from latefusion.interpretation.effects import Effects, view_effects
from latefusion.interpretation.features import Described, read_features
from latefusion.interpretation.gather import ModelData, gather, shorten
from latefusion.interpretation.halves import label_half
from latefusion.results import ResultTable, shown_value
from latefusion.tables import format_table

# Columns that are printed, with the column whose values are shown.
PRINTED = {
    "cluster": "cluster",
    "view": "view",
    "feature": "feature",
    "effect": "effect",
    "auc": "auc",
    "p_adjusted": "p_adjusted",
    "inside": "shown_inside",
    "outside": "shown_outside",
}
# Smaller p-values are not told apart when they are printed.
LEAST_P = 1e-300
NOTE = (
    "The p-values are too small, because the clusters were found with the same features. Use honest=True for valid "
    "p-values."
)


class Profiles(ResultTable):
    """A table with one row per cluster and feature, as `latefusion.profiles` returns it.

    It has the columns ``cluster``, ``view``, ``feature``, ``kind``, ``effect``, ``auc``, ``p``, ``p_adjusted``,
    ``inside``, ``outside``, ``shown_inside`` and ``shown_outside``. It prints the largest effects of every cluster.
    """

    def top(self, n: int = 5) -> Profiles:
        """The features with the largest effects of every cluster.

        Parameters
        ----------
        n : int, default=5
            Number of features per cluster.

        Returns
        -------
        Profiles
        """
        if n < 1:
            raise ValueError(f"The number of features per cluster must be at least 1, got {n}.")
        found: Profiles = self[self._ranks() < n]
        return found

    def of(self, cluster: Any) -> Profiles:
        """The features of one cluster.

        Parameters
        ----------
        cluster : object
            One of the values of the column ``cluster``.

        Returns
        -------
        Profiles
        """
        clusters = self["cluster"]
        if cluster not in clusters.tolist():
            known = shorten([str(one) for one in np.unique(clusters).tolist()], 10)
            raise ValueError(f"Unknown cluster {cluster!r}. The clusters are {known}.")
        found: Profiles = self[clusters == cluster]
        return found

    def to_text(self) -> str:
        """All rows as text, without notes.

        Returns
        -------
        str
        """
        return format_table(*self._cells(len(self)))

    def _ranks(self) -> NDArray[np.intp]:
        """Position of every row among those of its cluster."""
        order = np.argsort(self["cluster"], kind="stable")
        _, starts, counts = np.unique(self["cluster"][order], return_index=True, return_counts=True)
        ranks = np.empty(len(self), dtype=np.intp)
        ranks[order] = np.arange(len(self)) - np.repeat(starts, counts)
        return ranks

    def _cells(self, most: int) -> tuple[list[str], list[list[str]]]:
        ranks, n_clusters = self._ranks(), len(np.unique(self["cluster"]))
        per_cluster = len(self) if len(self) <= most else max(1, most // max(1, n_clusters))
        rows = np.flatnonzero(ranks < per_cluster)[:most]
        columns = [[self._shown(name, self[source][row]) for name, source in PRINTED.items()] for row in rows]
        return list(PRINTED), columns

    def _shown(self, name: str, value: Any) -> str:
        if name == "effect":
            return f"{value:+.2f}"
        if name == "auc":
            return f"{value:.3f}"
        if name == "p_adjusted":
            return f"{value:.2g}" if value >= LEAST_P else f"< {LEAST_P:g}"
        return shown_value(value)


def profiles(model: Any, X: Any, *, features: Any = None, honest: bool = False, random_state: Any = None) -> Profiles:
    """Compare every feature of every view between each cluster and all other samples.

    Parameters
    ----------
    model : fitted estimator
        All estimators and comparison methods, also from a file.
    X : as in the ``fit`` of the model
        If it is what the model was fitted on, the clusters are ``labels_``. For other samples they are predicted;
        comparison methods cannot do that.
    features : MuData, or mapping of str to AnnData, data frame or `Features`, default=None
        By name of the view: features that are compared in place of its columns, such as genes if principal components
        were clustered. Counts of RNA and proteins are normalised. By default, the features of X if it is a MuData
        object.
    honest : bool, default=False
        Whether to compute valid p-values by splitting the samples: a copy of the model is fitted on one half, with the
        same number of clusters. It labels the other half, for the features of every view without this view, and the
        features are compared between these labels. Needs several views without precomputed kernels, and a model that
        can predict.
    random_state : int, RandomState or None, default=None
        For the halves of ``honest=True``.

    Returns
    -------
    Profiles
        One row per cluster and feature, by cluster and size of the effect, with the columns

        - ``cluster``: a value of ``labels_``
        - ``view``, ``feature``: for tables, a feature is a column, "column: category" or "column: “word”"; for
          views of labels, a label
        - ``kind``: "number", "date", "duration", "category", "ordered", "word" or "label"
        - ``effect``: mean inside the cluster minus mean outside, in standard deviations
        - ``auc``: probability that a sample of the cluster has a larger value than one outside; ties count half
        - ``p``: two-sided, of the Mann-Whitney test for numbers, dates and durations, and of Fisher's exact test for
          categories, words and labels
        - ``p_adjusted``: for all tests of the table, by Benjamini and Hochberg
        - ``inside``, ``outside``: means; for numbers and dates of tables, medians; for categories, words and labels,
          shares. Dates are days since 1970, durations are seconds
        - ``shown_inside``, ``shown_outside``: the same as text, in the units of the user

    See Also
    --------
    latefusion.interpretation.features_of : The largest effects of one cluster, without tests.

    Notes
    -----
    **P-values.** Samples are in a cluster because of their features. A test of the same features therefore gives
    p-values that are too small, also if there are no clusters: of Gaussian noise in two views of five features, cut
    into three clusters, more than half have p < 0.05. New samples that are labelled by the same features have the same
    problem. ``honest=True`` avoids it: neither the clusters nor the labels depend on the tested values. The p-values of
    features that are independent of the other views are then uniform. Effects are those between the labels by the other
    views, so they are usually smaller. Effects and AUC are descriptions in both cases. A note below the table says
    which kind of p-values it has.

    Samples without a view, and missing values, are left out of each comparison. Sparse views stay sparse: the zeros of
    a column are one tie.

    Examples
    --------
    >>> import pandas as pd
    >>> import latefusion as lf
    >>> table = pd.DataFrame({"region": ["north", "south"] * 20, "spend": ["$10", "$500"] * 20, "age": range(20, 60)})
    >>> model = lf.GlobalAlignmentClustering(2, random_state=0).fit({"customers": table})
    >>> found = lf.profiles(model, {"customers": table})
    >>> found.of(model.labels_[0])["feature"].tolist()
    ['spend', 'region: north', 'region: south', 'age']
    >>> row = found.of(model.labels_[0])[0]
    >>> row["shown_inside"], row["shown_outside"], row["auc"]
    ('$10', '$500', 0.0)
    """
    data = gather(model, X, single_views=False, new=True)
    labels, notes = {view.name: data.labels for view in data.views}, [NOTE]
    if honest:
        labels, notes = label_half(data, X, random_state)
    data = data.described_by(_features(features, X, data))
    if len(np.unique(data.labels)) < 2:
        raise ValueError(
            "Profiles compare each cluster with all other samples, but all samples are in one cluster. Give samples of "
            "several clusters."
        )
    present = [view for view in data.views if view.observed.any()]
    described = {view.name: view_effects(view, labels[view.name], len(data.clusters)) for view in present}
    found = [one for one in described.values() if one is not None]
    absent = [name for name, one in described.items() if one is None]
    if not found:
        raise ValueError(
            f"No view has features that could be compared: {shorten(absent, 5)} contain similarities or embeddings. "
            f"Give a table of features per view with features={{{absent[0]!r}: table}}."
        )
    notes += [f"View {name!r} has no features and is left out." for name in absent]
    notes += [f"View {view.name!r} is missing for all samples." for view in data.views if not view.observed.any()]
    return profile_table(found, np.unique(to_numpy(model.labels_)), [*notes, *_untested(found, data)])


def _features(given: Any, X: Any, data: ModelData) -> dict[str, Described]:
    """Features that replace the columns of views; a MuData object may have more than the model."""
    if given is None:
        given = X if is_mudata(X) else {}
    described, names = read_features(given, data.n_samples, data.ids), [view.name for view in data.views]
    unknown = [] if is_mudata(given) else [name for name in described if name not in names]
    if unknown:
        raise ValueError(
            f"features has a table for {unknown[0]!r}, which is not a view of the model. Its views are "
            f"{shorten(names, 10)}."
        )
    return described


def profile_table(found: Sequence[Effects], clusters: NDArray[Any], notes: Sequence[str] = ()) -> Profiles:
    """One row per cluster and feature that could be compared.

    Parameters
    ----------
    found : sequence of Effects
        With tests, at least one.
    clusters : ndarray of shape (n_clusters,)
        Sorted.
    notes : sequence of str, default=()

    Returns
    -------
    Profiles
    """
    parts = [_columns(one, clusters) for one in found]
    columns = {name: np.concatenate([one[name] for one in parts]) for name in parts[0]}
    order = np.lexsort([-np.abs(columns["effect"]), columns["cluster"]])
    columns = {name: values[order] for name, values in columns.items()}
    adjusted = false_discovery_control(columns["p"]) if len(order) else columns["p"]
    names = list(columns)
    columns["p_adjusted"] = adjusted
    names.insert(names.index("p") + 1, "p_adjusted")
    return Profiles({name: columns[name] for name in names}, notes)


def _columns(effects: Effects, clusters: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """The rows of one view."""
    assert effects.tests is not None
    at, feature = np.nonzero(~np.isnan(effects.tests.p))
    inside, outside = effects.inside[at, feature], effects.outside[at, feature]
    units = [effects.units[one] for one in feature]
    return {
        "cluster": clusters[at],
        "view": np.full(len(at), effects.view, dtype=object),
        "feature": np.array(effects.names, dtype=object)[feature],
        "kind": np.array(effects.kinds, dtype=object)[feature],
        "effect": effects.effect[at, feature],
        "auc": effects.tests.auc[at, feature],
        "p": effects.tests.p[at, feature],
        "inside": inside,
        "outside": outside,
        "shown_inside": _texts(units, inside),
        "shown_outside": _texts(units, outside),
    }


def _texts(units: Sequence[Any], values: NDArray[np.float64]) -> NDArray[Any]:
    texts = np.empty(len(values), dtype=object)
    texts[:] = [unit(value) for unit, value in zip(units, values.tolist(), strict=True)]
    return texts


def _untested(found: Sequence[Effects], data: ModelData) -> list[str]:
    """A note for clusters without any row, and one for single comparisons that are left out."""
    tested = np.concatenate([~np.isnan(one.tests.p) for one in found if one.tests is not None], axis=1)
    empty = [name for name, own in zip(data.clusters, tested, strict=True) if not own.any()]
    notes = [f"No sample with features is in: cluster {shorten(empty, 5)}."] if empty else []
    left = ~tested[tested.any(axis=1)]
    if left.any():
        names = [name for one in found if one.tests is not None for name in one.names]
        shown = shorten([names[at] for at in np.flatnonzero(left.any(axis=0))], 3)
        counted = "1 comparison" if left.sum() == 1 else f"{left.sum()} comparisons"
        notes.append(
            f"{counted} of a cluster and a feature {'is' if left.sum() == 1 else 'are'} left out, because no sample "
            f"inside, or none outside, has a value ({shown})."
        )
    return notes
