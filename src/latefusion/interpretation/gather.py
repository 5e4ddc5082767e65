"""From a fitted model and its views to plain data that the rest of the report works on."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from latefusion.arrays import is_device_array, to_numpy
from latefusion.encoding.columns import Column
from latefusion.encoding.table_encoding import TableEncoding
from latefusion.estimators import ConsensusClustering
from latefusion.interpretation.features import Described
from latefusion.outputs.labels import can_predict, recognized_labels
from latefusion.summaries import computed_calibration
from latefusion.types import Array, Views
from latefusion.validation import column_groups
from latefusion.validation.views import is_finite


@dataclass(frozen=True)
class ViewData:
    """One view.

    Attributes
    ----------
    name : str
    kind : {"features", "table", "similarities", "labels"}
    array : array of shape (n_samples, n_features), or None
        Features, coordinates of a table, or similarities; None for labels.
    columns : list of str
        Names of the features; "column 0", "column 1", ... where they have none.
    observed : ndarray of bool of shape (n_samples,)
        Samples for which the view is not missing.
    labels : ndarray of shape (n_samples,) or None
        Clusters found in this view alone, as positions in `label_names`; -1 where a sample has none.
    label_names : list of str
        Names of these clusters; for features, those of the most similar clusters of the consensus.
    rows : ndarray of shape (n_samples, n_components) or None
        Base partitions of the view, from which its map is drawn.
    table : TableEncoding or None
        For a table: how its columns became coordinates.
    table_columns : mapping of str to Column
        For a table: its columns as given.
    with_gaps : array or None
        `array` with NaN in place of imputed values; None if no value was imputed.
    """

    name: str
    kind: Literal["features", "table", "similarities", "labels"]
    array: Array
    columns: list[str]
    observed: NDArray[np.bool_]
    labels: NDArray[np.intp] | None = None
    label_names: Sequence[str] = ()
    rows: NDArray[Any] | None = None
    table: TableEncoding | None = None
    table_columns: Mapping[str, Column] = field(default_factory=dict)
    with_gaps: Array = None

    @property
    def values(self) -> Array:
        """The features, NaN where a value is missing."""
        return self.array if self.with_gaps is None else self.with_gaps

    @property
    def width(self) -> int:
        """Number of features, or of clusters for labels."""
        return len(self.label_names if self.kind == "labels" else self.columns)


@dataclass(frozen=True)
class ModelData:
    """A fitted model and its views, as NumPy arrays.

    Attributes
    ----------
    model : fitted estimator
    labels : ndarray of shape (n_samples,)
        Clusters, numbered from 0 without gaps.
    clusters : list of str
        Names of the clusters: the values of the model's labels.
    confidence, novelty : ndarray of shape (n_samples,) or None
    consensus : ndarray of shape (n_samples, n_components) or None
    ids : list of str or None
        Identifiers of the samples; None where rows have none.
    views : list of ViewData
    target : ndarray of shape (n_samples,) or None
        Known classes, for scores.
    target_name : str
        What the classes are called; empty if they have no name.
    membership : ndarray of shape (n_samples,) or None
        In the own cluster; None if memberships have not been calibrated.
    """

    model: Any
    labels: NDArray[np.intp]
    clusters: list[str]
    confidence: NDArray[np.float64] | None
    novelty: NDArray[np.float64] | None
    consensus: NDArray[Any] | None
    ids: list[str] | None
    views: list[ViewData]
    target: NDArray[Any] | None = None
    target_name: str = ""
    membership: NDArray[np.float64] | None = None

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.labels)

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of samples in every cluster."""
        return np.bincount(self.labels, minlength=len(self.clusters))

    @property
    def observed(self) -> NDArray[np.bool_]:
        """Which view is observed for which sample, of shape (n_samples, n_views)."""
        return np.stack([view.observed for view in self.views], axis=1)

    def described_by(self, features: Mapping[str, Described]) -> ModelData:
        """The same with features that replace the columns of some views, by name; labels stay."""
        views = [
            view if view.kind == "labels" or view.name not in features else _replaced(view, features[view.name])
            for view in self.views
        ]
        return replace(self, views=views)

    def name_of(self, sample: Any) -> str:
        """Identifier of a sample; its row number where rows have no identifiers."""
        return str(sample) if self.ids is None else self.ids[sample]


def _replaced(view: ViewData, table: Described) -> ViewData:
    return replace(
        view, kind="features", array=table.values, with_gaps=None, columns=table.names, observed=table.observed
    )


def gather(
    model: Any,
    X: Any,
    *,
    sample_ids: Any = None,
    target: Any = None,
    single_views: bool = True,
    new: bool = False,
    as_given: bool = True,
) -> ModelData:
    """Read a fitted model and the views that it was fitted on, or other samples.

    Parameters
    ----------
    model : fitted estimator
    X : as in the ``fit`` of the model
    sample_ids : sequence of shape (n_samples,), default=None
        By default those of the views, where they have any.
    target : array of shape (n_samples,), default=None
        The name of a series is shown.
    single_views : bool, default=True
        Whether to cluster every view alone, which takes time.
    new : bool, default=False
        Whether X may contain other samples, whose labels the model predicts. They have no confidence and novelty.
    as_given : bool, default=True
        Whether to read missing values and the columns of tables as they were given, too. Profiles need them.

    Returns
    -------
    ModelData
    """
    check_is_fitted(model)
    are_fitted = True
    values, labels = np.unique(to_numpy(model.labels_), return_inverse=True)
    clusters = [str(value) for value in values.tolist()]
    checked, with_gaps = _read_views(model, X) if as_given else (model.new_views(X), None)
    if new:
        found, are_fitted = recognized_labels(model, checked)
        labels = np.searchsorted(values, found)
    _check_length(len(checked), len(labels), "X")
    absent = [] if new else [name for name, own in zip(checked.names, checked.observed.T, strict=True) if not own.any()]
    if absent:
        raise ValueError(
            f"X does not have the view {absent[0]!r}, which the model was fitted on. Give all views, or new=True if X "
            f"contains other samples."
        )
    ids: Any = checked.sample_ids
    if isinstance(model, ConsensusClustering):
        opinions, ids = model.partition_labels(X)
        views = [ViewData(one.name, "labels", None, [], one.assigned, one.labels, one.names) for one in opinions]
    else:
        tables = model.table_columns(X) if as_given else {}
        views = _views(model, checked, clusters, single_views, tables, with_gaps)
    if sample_ids is not None:
        ids = list(sample_ids)
        _check_length(len(ids), len(labels), "sample_ids")
    target_name = str(getattr(target, "name", None) or "")
    if target is not None:
        target = np.asarray(target)
        _check_length(len(target), len(labels), "target")
    confidence, novelty, consensus = (
        None if not are_fitted or getattr(model, name, None) is None else to_numpy(getattr(model, name))
        for name in ("confidence_", "novelty_", "consensus_")
    )
    names = None if ids is None else [str(one) for one in ids]
    has_memberships = are_fitted and computed_calibration(model) is not None
    membership = to_numpy(model.memberships_).max(axis=1) if has_memberships else None
    samples = (labels, clusters, confidence, novelty, consensus, names)
    return ModelData(model, *samples, views, target, target_name, membership)


def gather_new(model: Any, X: Any, *, sample_ids: Any = None, target: Any = None) -> ModelData:
    """Read a fitted model and other samples than those of `fit`, with what the model predicts for them.

    Parameters
    ----------
    model : fitted estimator
    X : as in `gather`
    sample_ids, target : as in `gather`

    Returns
    -------
    ModelData
        Of the clusters that have samples. Confidence, novelty and consensus are None for methods that do not predict,
        memberships if they have not been calibrated.
    """
    data = gather(model, X, sample_ids=sample_ids, target=target, single_views=False, new=True)
    present, labels = np.unique(data.labels, return_inverse=True)
    found = replace(data, labels=labels, clusters=[data.clusters[one] for one in present])
    if not can_predict(model):
        return replace(found, confidence=None, novelty=None, consensus=None)
    views = model.new_views(X)
    _, confidence, novelty = map(to_numpy, model.predict_views(views))
    has_memberships = computed_calibration(model) is not None
    membership = to_numpy(model.views_memberships(views)).max(axis=1) if has_memberships else None
    consensus = to_numpy(model.transform(X))
    return replace(found, confidence=confidence, novelty=novelty, membership=membership, consensus=consensus)


def _read_views(model: Any, X: Any) -> tuple[Views, Views | None]:
    """The views with imputed values, and with NaN in their place; None if no value is missing."""
    if isinstance(model, ConsensusClustering):
        return model.new_views(X), None
    views = model.new_views(X, keep_gaps=True)
    if all(is_device_array(one) or is_finite(one) for one in views.arrays):
        return views, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # were given for the first reading
        return model.new_views(X), views


def _check_length(found: int, expected: int, what: str) -> None:
    if found != expected:
        raise ValueError(
            f"{what} has {found} samples, but the model was fitted on {expected}: give what it was fitted on."
        )


def _views(
    model: Any,
    views: Views,
    clusters: list[str],
    single_views: bool,
    tables: Mapping[str, Mapping[str, Column]],
    with_gaps: Views | None,
) -> list[ViewData]:
    columns = _column_names(model, views)
    rows: Any = model.view_partitions() if single_views else [None] * views.n_views
    labels: Any = model.view_labels().T if single_views else [None] * views.n_views
    found = []
    for position, (schema, array) in enumerate(zip(model.input_schema_.views, views.arrays, strict=True)):
        name, observed = schema.name, views.observed[:, position]
        if schema.labels is not None:
            coded = to_numpy(array).ravel().astype(np.intp)
            names = [str(value) for value in schema.labels.values.tolist()]
            found.append(ViewData(name, "labels", None, [], observed & (coded >= 0), coded, names))
            continue
        own = labels[position] if single_views and (labels[position] >= 0).any() else None
        kind: Any = "similarities" if schema.kind == "precomputed" else schema.kind
        found.append(
            ViewData(
                name,
                kind,
                array,
                columns[name],
                observed,
                own,
                clusters,
                rows[position],
                schema.table,
                tables.get(name, {}),
                None if with_gaps is None else with_gaps.arrays[position],
            )
        )
    return found


def _column_names(model: Any, views: Views) -> dict[str, list[str]]:
    """Names of the features of every view, from data frames; numbers where they have none."""
    numbers = {
        name: [f"column {position}" for position in range(width)]
        for name, width in zip(views.names, views.widths, strict=True)
    }
    known: dict[str, Any] = {
        view.name: view.columns if view.table is None else [coding.name for coding in view.table.codings]
        for view in model.input_schema_.views
        if view.columns is not None and (view.transformer is None or len(view.columns) == view.n_coordinates)
    }
    if not known and hasattr(model, "feature_names_in_"):
        table = list(model.feature_names_in_)
        groups = column_groups(None if model.views == "auto" else model.views, len(table), table)
        known = {name: [table[position] for position in group] for name, group in groups.items()}
    return {name: [str(one) for one in known.get(name, numbers[name])] for name in views.names}


def complete_samples(data: ModelData, most: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """At most so many of the samples without missing views, in order."""
    complete = np.flatnonzero(data.observed.all(axis=1))
    return complete if len(complete) <= most else np.sort(generator.choice(complete, most, replace=False))


def shorten(names: Sequence[str], most: int) -> str:
    """Names separated by commas, at most the first few of them."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
