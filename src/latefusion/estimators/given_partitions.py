"""Partitions that are given to `ConsensusClustering`: from what the user has to columns of cluster indicators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, ValuesView
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from latefusion.similarities.given import GivenMap
from latefusion.types import Views
from latefusion.validation import columns_of, is_frame, match_rows
from latefusion.validation.opening import named_views
from latefusion.validation.sample_ids import index_of, shown


class PartitionLabels(NamedTuple):
    """Labels of one partition.

    Attributes
    ----------
    name : str
    assigned : ndarray of bool of shape (n_samples,)
        Samples with a cluster in the partition.
    labels : ndarray of shape (n_samples,) or None
        Number of the cluster, for memberships that of the largest one, -1 for unassigned samples; None for an
        embedding.
    names : list of str
        Of the clusters.
    """

    name: str
    assigned: NDArray[np.bool_]
    labels: NDArray[np.intp] | None
    names: list[str]


@dataclass(frozen=True)
class PartitionSchema:
    """How partitions of new samples are read.

    Attributes
    ----------
    maps : tuple of GivenMap
        One per partition.
    clusterers : tuple of str
        Names of the partitions that were given as fitted clusterers.
    fingerprint : str
        A digest of some rows of the training partitions.
    """

    maps: tuple[GivenMap, ...]
    clusterers: tuple[str, ...]
    fingerprint: str


def read_partitions(X: Any, names: Sequence[str] | None = None) -> tuple[dict[str, Any], NDArray[Any] | None]:
    """Partitions by name, in the order of ``names`` if given, rows matched by sample id, and the ids.

    Partitions among ``names`` that X does not contain are None.
    """
    ids = X.sample_ids if isinstance(X, Views) else None
    if is_frame(X):
        X = {str(column): X[column] for column in columns_of(X)}
    elif isinstance(X, Views):
        X = dict(X.items())
    elif isinstance(X, np.ndarray) and X.ndim == 2:
        X = list(X.T)
    elif not isinstance(X, (Mapping, list, tuple, ValuesView)):
        got = f"shape {X.shape}" if hasattr(X, "shape") else type(X).__name__
        raise ValueError(
            f"X must be a list or a dict of partitions, or an array with one labeling per column; got {got}."
        )
    if names is not None and not isinstance(X, Mapping) and len(X) == len(names):
        X = dict(zip(names, X, strict=True))
    named = named_views(X)
    if names is not None:
        strange = [name for name in named if name not in names]
        if strange or not named:
            raise ValueError(
                f"The consensus was fitted on the partitions {list(names)}; got {list(named)}. Give some or all."
            )
        named = {name: named[name] for name in names if name in named}
    aligned = named
    if ids is None:  # otherwise the rows are matched already
        matched = match_rows(named, missing=True)  # a sample that is absent from a partition is unassigned there
        aligned = {name: one.reindex(matched.index) for name, one in named.items()} if matched.rows else named
        ids = matched.ids
    found = {name: _plain(one) for name, one in aligned.items()}
    return found if names is None else {name: found.get(name) for name in names}, ids


def partition_columns(
    partitions: Sequence[Any], maps: Sequence[GivenMap], names: Sequence[str], ids: NDArray[Any] | None
) -> Views:
    """The columns that describe every partition, for samples that are in at least one of them; None is unassigned."""
    known = [None if one is None else given.columns(one) for given, one in zip(maps, partitions, strict=True)]
    lengths = {str(name): one.shape[0] for name, one in zip(names, known, strict=True) if one is not None}
    if len(set(lengths.values())) > 1:
        raise ValueError(
            f"All partitions must contain the same samples, but their lengths differ: {lengths}. Mark missing "
            f"samples as unassigned."
        )
    n_samples = next(iter(lengths.values()))
    columns = [
        csr_array((n_samples, len(given.weights))) if one is None else one
        for given, one in zip(maps, known, strict=True)
    ]
    views = Views(columns, names, sample_ids=ids)
    unassigned = np.flatnonzero(~assigned_samples(views).any(axis=1))
    if len(unassigned):
        first = shown(unassigned[0] if ids is None else ids[unassigned[0]])
        raise ValueError(
            f"{len(unassigned)} samples are unassigned in every partition; the first is sample {first}. Remove "
            f"them, or add a partition in which they are assigned."
        )
    return views


def assigned_samples(views: Views) -> NDArray[np.bool_]:
    """Which samples are assigned in which partitions, from the columns of the partitions."""
    return np.stack([np.diff(columns.indptr) > 0 for columns in views.arrays], axis=1)


def labels_of_columns(views: Views, maps: Sequence[GivenMap]) -> list[PartitionLabels]:
    """Labels of every partition, from its columns.

    Parameters
    ----------
    views : Views
        As `partition_columns` returns them.
    maps : sequence of GivenMap

    Returns
    -------
    list of PartitionLabels
    """
    found = []
    for (name, columns), given in zip(views.items(), maps, strict=True):
        assigned = np.diff(columns.indptr) > 0
        labels: NDArray[np.intp] | None = None
        names: list[str] = []
        if given.kind != "embedding":
            # The last column of memberships is zero for unassigned samples.
            shares = columns if given.coding is not None else columns[:, :-1]
            labels = np.where(assigned, np.asarray(shares.argmax(axis=1)).ravel(), -1)
            values = range(shares.shape[1]) if given.coding is None else given.coding.values.tolist()
            names = [str(value) for value in values]
        found.append(PartitionLabels(name, assigned, labels, names))
    return found


def is_clusterer(one: Any) -> bool:
    """Whether a partition was given as a clusterer."""
    return hasattr(one, "fit") and not hasattr(one, "shape")


def labels_of(one: Any, name: str) -> Any:
    """A partition as it is, or the labels of a fitted clusterer."""
    if not is_clusterer(one):
        return one
    if not hasattr(one, "labels_"):
        raise ValueError(
            f"Partition {name!r} is a {type(one).__name__} without labels_. Fit it first, or pass its labels."
        )
    return one.labels_


def _plain(one: Any) -> Any:
    """A data frame or series as an array; everything else as it is."""
    if not is_frame(one):
        return np.asarray(one) if index_of(one) is not None else one
    columns = columns_of(one)
    return np.asarray(one[columns[0]]) if len(columns) == 1 else one.to_numpy()
