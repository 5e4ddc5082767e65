"""The clusters of two fitted models, or of two sets of labels, matched by their common samples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from latefusion.arrays import to_numpy
from latefusion.metrics import ClusterMatch, encode_labels, match_clusters
from latefusion.validation.sample_ids import ids_of, shown, shown_list, spelling_difference


class Labeled(NamedTuple):
    """Labels of samples.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
    ids : ndarray of shape (n_samples,) or None
        None if samples have no ids but row numbers.
    """

    labels: NDArray[Any]
    ids: NDArray[Any] | None


def match(first: Any, second: Any) -> ClusterMatch:
    """Match the clusters of two clusterings by their common samples.

    Parameters
    ----------
    first, second : fitted model or labels of shape (n_samples,)
        Models of any class, on any views. Labels are an array, or a series of pandas with the sample ids as its index.
        Samples are matched by id. If neither has ids, both must contain the same samples in the same order.

    Returns
    -------
    ClusterMatch
        Prints itself. ``names`` has the id of every cluster of the second clustering from now on, ``rename(labels)``
        applies it, ``table`` counts the samples of all pairs of clusters, and ``agreement`` is the adjusted Rand index.

    See Also
    --------
    LateFusionClustering.update : A new fit that keeps the ids of clusters.

    Notes
    -----
    A cluster keeps its id if it has more than half of the common samples of an old cluster, or if more than half of its
    common samples come from it. Among these pairs clusters are matched one to one so that as many samples as possible
    keep their id. Other clusters get new ids. A cluster is split if two or more clusters have more than half of their
    samples from it, and clusters are merged if another one has more than half of the samples of each.

    Examples
    --------
    >>> import latefusion as lf
    >>> lf.match(["low", "low", "low", "high", "high"], ["A", "A", "A", "B", "C"])
    5 common samples, 2 and 3 clusters: adjusted Rand index 0.783
    <BLANKLINE>
    cluster      change    second  samples  samples_second  common
    -----------  --------  ------  -------  --------------  ------
    high         split     B             2               1       1
    low          kept      A             3               3       3
    unmatched_0  appeared  C             0               1       0
    <BLANKLINE>
    first  high  low  unmatched_0
    -----  ----  ---  -----------
    high      1    0            1
    low       0    3            0
    <BLANKLINE>
    Cluster high split into high (1 sample), unmatched_0 (1 sample).
    Appeared: unmatched_0 (1 sample).
    """
    one, other = _labeled(first, "first"), _labeled(second, "second")
    rows, columns = _common(one, other)
    return match_clusters(one.labels[rows], other.labels[columns], first=one.labels, second=other.labels)


def rows_of_ids(ids: NDArray[Any] | None, known: NDArray[Any] | None) -> NDArray[np.intp]:
    """The rows of samples among known ones, -1 for those that are not among them; all are new without ids."""
    if ids is None or known is None:
        return np.full(0 if ids is None else len(ids), -1, dtype=np.intp)
    row_of = {one: row for row, one in enumerate(known.tolist())}
    return np.array([row_of.get(one, -1) for one in ids.tolist()], dtype=np.intp)


def _labeled(given: Any, name: str) -> Labeled:
    """Labels and ids of a model or of labels."""
    if hasattr(given, "fit") and not hasattr(given, "shape"):
        check_is_fitted(given)
        if not hasattr(given, "labels_"):
            raise ValueError(f"{name} is a {type(given).__name__} without labels_. Give a clustering.")
        return Labeled(to_numpy(given.labels_), getattr(given, "sample_ids_", None))
    ids = ids_of(given)
    if ids is not None and not ids.is_unique:
        raise ValueError(
            f"{name} contains the sample id {shown(ids[ids.duplicated()][0])} more than once. Sample ids must be "
            f"unique. Remove the repeated rows or change their ids."
        )
    values, codes = encode_labels(given.to_numpy() if hasattr(given, "to_numpy") else given, name)
    return Labeled(values[codes], None if ids is None else np.asarray(ids))


def _common(one: Labeled, other: Labeled) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows of the common samples in both clusterings."""
    lengths = f"first has {len(one.labels)} samples and second has {len(other.labels)}"
    if one.ids is None and other.ids is None:
        if len(one.labels) != len(other.labels):
            raise ValueError(
                f"{lengths}, and they have no ids to match them. Give series of pandas with the sample ids as index, "
                f"or models that were fitted on tables with ids."
            )
        return np.arange(len(one.labels)), np.arange(len(one.labels))
    if one.ids is None or other.ids is None:
        without, has = ("first", "second") if one.ids is None else ("second", "first")
        raise ValueError(
            f"{has} has sample ids and {without} has none, so samples cannot be matched. Give {without} as a series of "
            f"pandas with the sample ids as index."
        )
    rows = rows_of_ids(other.ids, one.ids)
    if not (rows >= 0).any():
        raise ValueError(
            f"The clusterings have no sample in common: first has the samples {shown_list(one.ids.tolist())}, second "
            f"has {shown_list(other.ids.tolist())}. {spelling_of(one.ids, other.ids)}"
        )
    return rows[rows >= 0], np.flatnonzero(rows >= 0)


def spelling_of(ids: NDArray[Any], others: NDArray[Any]) -> str:
    """How ids of the same samples are written differently; if they are not, what to do."""
    difference = spelling_difference("first", ids.tolist(), "second", others.tolist())
    return difference.replace("in view ", "in ") or "Give clusterings with common samples."
