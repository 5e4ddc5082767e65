"""From a fitted model and its views to what a report speaks about, whatever kind of model it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from latefusion.arrays import to_numpy
from latefusion.estimators import ConsensusClustering
from latefusion.types import Array, Views
from latefusion.validation import column_groups


@dataclass(frozen=True)
class ViewFindings:
    """One view as the report shows it.

    Attributes
    ----------
    name : str
    kind : {"features", "kernel", "labels"}
    array : array of shape (n_samples, n_features), or None
        Features, or the kernel; None for labels.
    columns : list of str
        Names of the features; "column 0", "column 1", ... where they have none.
    observed : ndarray of bool of shape (n_samples,)
        Samples that are in the view.
    own : ndarray of shape (n_samples,) or None
        What the view alone says: number of the cluster of every sample, -1 where it knows none.
    own_names : list of str
        Names of these clusters; for features, the clusters of the consensus that they are most like.
    rows : ndarray of shape (n_samples, n_components) or None
        Base partitions of the view, from which its map is drawn.
    """

    name: str
    kind: str
    array: Array
    columns: list[str]
    observed: NDArray[np.bool_]
    own: NDArray[np.intp] | None
    own_names: list[str]
    rows: NDArray[Any] | None = None

    @property
    def width(self) -> int:
        """Number of features, or of clusters for labels."""
        if self.kind == "labels":
            return len(self.own_names)
        return len(self.columns)


@dataclass(frozen=True)
class Findings:
    """Everything that was found, as NumPy arrays.

    Attributes
    ----------
    model : fitted estimator
    labels : ndarray of shape (n_samples,)
        Number of the cluster, from 0 up without gaps.
    clusters : list of str
        Names of the clusters as the model's labels have them.
    confidence : ndarray of shape (n_samples,) or None
    consensus : ndarray of shape (n_samples, n_components) or None
    ids : list of str or None
        Identifiers of the samples; None where rows have none.
    views : list of ViewFindings
    target : ndarray of shape (n_samples,) or None
        Known classes, for scores.
    """

    model: Any
    labels: NDArray[np.intp]
    clusters: list[str]
    confidence: NDArray[np.float64] | None
    consensus: NDArray[Any] | None
    ids: list[str] | None
    views: list[ViewFindings]
    target: NDArray[Any] | None = None

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
        """Which sample is in which view, of shape (n_samples, n_views)."""
        return np.stack([view.observed for view in self.views], axis=1)


def gather(model: Any, X: Any, *, sample_ids: Any = None, target: Any = None) -> Findings:
    """Read a fitted model and the views that it was fitted on.

    Parameters
    ----------
    model : fitted estimator
    X : as in the ``fit`` of the model
    sample_ids : sequence of shape (n_samples,), default=None
        By default those of the views, where they have any.
    target : array of shape (n_samples,), default=None

    Returns
    -------
    Findings
    """
    check_is_fitted(model)
    labels = to_numpy(model.labels_)
    values, codes = np.unique(labels, return_inverse=True)
    clusters = [str(value) for value in values.tolist()]
    if isinstance(model, ConsensusClustering):
        views, found_ids = _labelings(model, X, codes)
    else:
        checked = model.new_views(X)
        found_ids = checked.sample_ids
        _check_length(len(checked), len(codes), "X")
        views = _feature_views(model, checked, clusters)
    ids = found_ids if sample_ids is None else list(sample_ids)
    if ids is not None:
        _check_length(len(ids), len(codes), "sample_ids")
    if target is not None:
        target = np.asarray(target)
        _check_length(len(target), len(codes), "target")
    confidence, consensus = (
        None if getattr(model, name, None) is None else to_numpy(getattr(model, name))
        for name in ("confidence_", "consensus_")
    )
    names = None if ids is None else [str(one) for one in ids]
    return Findings(model, codes, clusters, confidence, consensus, names, views, target)


def _check_length(found: int, expected: int, what: str) -> None:
    if found != expected:
        raise ValueError(
            f"{what} has {found} samples, but the model was fitted on {expected}: give what it was fitted on."
        )


def _feature_views(model: Any, views: Views, clusters: list[str]) -> list[ViewFindings]:
    columns = _column_names(model, views)
    codings = model.input_schema_.codings
    partitions, labels_alone = model.view_partitions(), model.view_labels()
    found = []
    for position, (name, array) in enumerate(views.items()):
        observed = np.ones(len(views), dtype=bool) if views.mask is None else views.mask[:, position]
        if name in codings:
            coded = to_numpy(array).ravel().astype(np.intp)
            names = [str(value) for value in codings[name].values.tolist()]
            found.append(ViewFindings(name, "labels", None, [], observed & (coded >= 0), coded, names))
            continue
        rows = partitions[position]
        own = labels_alone[:, position] if (labels_alone[:, position] >= 0).any() else None
        kernel = model.view_inputs_[position] == "precomputed"
        found.append(
            ViewFindings(
                name,
                "kernel" if kernel else "features",
                array,
                columns[name],
                observed,
                own,
                clusters,
                rows,
            )
        )
    return found


def _column_names(model: Any, views: Views) -> dict[str, list[str]]:
    """Names of the features of every view, from data frames; numbers where they have none."""
    numbers = {
        name: [f"column {place}" for place in range(width)]
        for name, width in zip(views.names, views.widths, strict=True)
    }
    known: dict[str, Any] = dict(model.input_schema_.columns)
    if not known and hasattr(model, "feature_names_in_"):
        table = list(model.feature_names_in_)
        groups = column_groups(model.views, len(table), table)
        known = {name: [table[place] for place in group] for name, group in groups.items()}
    return {name: [str(one) for one in known.get(name, numbers[name])] for name in views.names}


def _labelings(
    model: ConsensusClustering, X: Any, labels: NDArray[np.intp]
) -> tuple[list[ViewFindings], NDArray[Any] | None]:
    """The partitions that a consensus was made of."""
    opinions, ids = model.opinions(X)
    for one in opinions:
        _check_length(len(one.assigned), len(labels), f"partition {one.name!r}")
    return [ViewFindings(one.name, "labels", None, [], one.assigned, one.labels, one.names) for one in opinions], ids


def complete_samples(findings: Findings, most: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Samples that are in every view, at most so many of them, in order."""
    complete = np.flatnonzero(findings.observed.all(axis=1))
    return complete if len(complete) <= most else np.sort(generator.choice(complete, most, replace=False))


def shorten(names: Sequence[str], most: int) -> str:
    """Names in a row, the first few of many."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
