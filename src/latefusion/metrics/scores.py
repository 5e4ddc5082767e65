"""Scores of a clustering against known classes, independent of the names of the clusters.

Labels may be integers, floats, booleans or strings, and classes and clusters need not have names of the same type.
All scores are functions of the contingency table N, where N_cv is the number of samples of class c in cluster v:

* accuracy: (1/n) max over one-to-one matchings π of Σ_v N_{π(v),v};
* purity: (1/n) Σ_v max_c N_cv, which is never below the accuracy;
* normalized mutual information: I(classes; clusters) divided by a mean of the two entropies;
* adjusted Rand index: agreement on pairs of samples, corrected for chance.
"""

from __future__ import annotations

import math
import numbers
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from latefusion.arrays import to_numpy
from latefusion.types import Array

AverageMethod = Literal["arithmetic", "geometric", "min", "max"]


def contingency(y_true: Array, y_pred: Array) -> NDArray[np.int64]:
    """Count the samples of every class in every cluster.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Known classes.
    y_pred : array-like of shape (n_samples,)
        Cluster labels.

    Returns
    -------
    ndarray of shape (n_classes, n_clusters)
        Rows and columns in the sorted order of the class and cluster labels.

    Examples
    --------
    >>> from latefusion.metrics import contingency
    >>> contingency(["cat", "cat", "dog"], [1, 0, 0])
    array([[1, 1],
           [1, 0]])
    """
    classes, in_class, clusters, in_cluster = _encode_pair(y_true, y_pred, ("y_true", "y_pred"))
    return _count(in_class, in_cluster, (len(classes), len(clusters)))


def clustering_accuracy(y_true: Array, y_pred: Array) -> float:
    """Fraction of samples that are right under the best one-to-one matching of clusters to classes.

    The matching is found exactly (Hungarian method). With more clusters than classes the surplus clusters match nothing
    and all of their samples count as wrong; with fewer clusters some classes are never hit.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Known classes.
    y_pred : array-like of shape (n_samples,)
        Cluster labels.

    Returns
    -------
    float
        Between 0 (excluded) and 1.

    Examples
    --------
    >>> from latefusion.metrics import clustering_accuracy
    >>> clustering_accuracy(["cat", "cat", "dog", "dog"], [1, 1, 0, 1])
    0.75
    """
    counts = contingency(y_true, y_pred)
    return float(counts[matched_pairs(counts)].sum() / counts.sum())


def matched_pairs(counts: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pairs of rows and columns, one to one, with the largest sum of counts (Hungarian method).

    Parameters
    ----------
    counts : ndarray of shape (n_groups, n_clusters)
        Such as a contingency table.

    Returns
    -------
    rows, columns : ndarray of shape (min(n_groups, n_clusters),)
        Rows in ascending order, and the column of each.
    """
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return rows, columns


def purity_score(y_true: Array, y_pred: Array) -> float:
    """Fraction of samples that belong to the most frequent class of their cluster.

    Purity never falls when a cluster is split, so it reaches 1 with one cluster per sample: compare it only between
    clusterings with the same number of clusters.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Known classes.
    y_pred : array-like of shape (n_samples,)
        Cluster labels.

    Returns
    -------
    float
        Between 0 (excluded) and 1.

    Examples
    --------
    >>> from latefusion.metrics import purity_score
    >>> purity_score([0, 0, 1, 1], [0, 1, 2, 3])
    1.0
    """
    counts = contingency(y_true, y_pred)
    return float(counts.max(axis=0).sum() / counts.sum())


def normalized_mutual_info(y_true: Array, y_pred: Array, *, average_method: AverageMethod = "arithmetic") -> float:
    """Mutual information of classes and clusters, divided by a mean of their entropies.

    Two labelings that both put everything into one group agree completely and score 1; when only one of them does, the
    score is 0. These are scikit-learn's conventions for 0/0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Known classes.
    y_pred : array-like of shape (n_samples,)
        Cluster labels.
    average_method : {"arithmetic", "geometric", "min", "max"}, default="arithmetic"
        The mean of the two entropies. The tables of the late fusion paper were made with "max", which gives the lowest
        of the four values; scikit-learn's default is "arithmetic".

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from latefusion.metrics import normalized_mutual_info
    >>> round(normalized_mutual_info([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.8
    >>> round(normalized_mutual_info([0, 0, 1, 1], [0, 0, 1, 2], average_method="max"), 4)
    0.6667
    """
    _, in_class, _, in_cluster = _encode_pair(y_true, y_pred, ("y_true", "y_pred"))
    return _normalized_mutual_info(in_class, in_cluster, average_method)


def adjusted_rand(y_true: Array, y_pred: Array) -> float:
    """Compute the adjusted Rand index: agreement on pairs of samples, 0 on average for random labels.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Known classes.
    y_pred : array-like of shape (n_samples,)
        Cluster labels.

    Returns
    -------
    float
        Between -0.5 and 1.

    Examples
    --------
    >>> from latefusion.metrics import adjusted_rand
    >>> adjusted_rand([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    _, in_class, _, in_cluster = _encode_pair(y_true, y_pred, ("y_true", "y_pred"))
    return float(adjusted_rand_score(in_class, in_cluster))


def clustering_scores(y_true: Array, y_pred: Array) -> dict[str, float]:
    """All scores of a clustering at once.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Known classes.
    y_pred : array-like of shape (n_samples,)
        Cluster labels.

    Returns
    -------
    dict of str to float
        ``accuracy`` (:func:`clustering_accuracy`), ``nmi`` (:func:`normalized_mutual_info`, arithmetic mean as in
        scikit-learn), ``nmi_max`` (the same divided by the larger entropy, as in the paper's tables), ``purity``
        (:func:`purity_score`) and ``ari`` (:func:`adjusted_rand`).

    Examples
    --------
    >>> from latefusion.metrics import clustering_scores
    >>> {name: round(value, 3) for name, value in clustering_scores([0, 0, 1, 1], [0, 0, 1, 2]).items()}
    {'accuracy': 0.75, 'nmi': 0.8, 'nmi_max': 0.667, 'purity': 1.0, 'ari': 0.571}
    """
    # Checked once here; the functions below accept integer codes without another check.
    _, in_class, _, in_cluster = _encode_pair(y_true, y_pred, ("y_true", "y_pred"))
    return {
        "accuracy": clustering_accuracy(in_class, in_cluster),
        "nmi": _normalized_mutual_info(in_class, in_cluster, "arithmetic"),
        "nmi_max": _normalized_mutual_info(in_class, in_cluster, "max"),
        "purity": purity_score(in_class, in_cluster),
        "ari": float(adjusted_rand_score(in_class, in_cluster)),
    }


def match_labels(reference: Array, labels: Array) -> NDArray[Any]:
    """Rename the clusters in ``labels`` so that they agree with ``reference`` on as many samples as possible.

    Clusters are matched one to one to the groups of the reference, as in :func:`clustering_accuracy`, and take their
    names; two clusterings then get the same colors in a plot. Clusters without a partner (there are more of them than
    groups in the reference) get names the reference does not use: the next integers, or ``unmatched_0``,
    ``unmatched_1``, ... among strings.

    Parameters
    ----------
    reference : array-like of shape (n_samples,)
        Labels to agree with.
    labels : array-like of shape (n_samples,)
        Labels to rename.

    Returns
    -------
    ndarray of shape (n_samples,)
        The grouping of ``labels`` under the names of ``reference``.

    Examples
    --------
    >>> from latefusion.metrics import match_labels
    >>> match_labels([0, 0, 1, 1, 1], [5, 5, 3, 3, 4])
    array([0, 0, 1, 1, 2])
    """
    groups, in_group, clusters, in_cluster = _encode_pair(reference, labels, ("reference", "labels"))
    counts = _count(in_group, in_cluster, (len(groups), len(clusters)))
    matched_groups, matched_clusters = matched_pairs(counts)
    known = groups.tolist()
    renamed = unused_names(known, len(clusters) - len(matched_clusters))
    partner = dict(zip(matched_clusters.tolist(), matched_groups.tolist(), strict=True))
    names = [known[partner[cluster]] if cluster in partner else renamed.pop(0) for cluster in range(len(clusters))]
    return np.asarray(names)[in_cluster]


def encode_labels(labels: Array, name: str = "labels") -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Check labels, and number them in sorted order.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Numbers or strings, not both, none of them missing.
    name : str, default="labels"
        What to call the labels in an error message.

    Returns
    -------
    values : ndarray of shape (n_groups,)
        The distinct labels, sorted.
    codes : ndarray of shape (n_samples,)
        For every sample the position of its label in ``values``.

    Examples
    --------
    >>> from latefusion.metrics import encode_labels
    >>> values, codes = encode_labels(["dog", "cat", "dog"])
    >>> values.tolist(), codes.tolist()
    (['cat', 'dog'], [1, 0, 1])
    """
    # Without dtype=object NumPy would quietly turn the list [1, "a"] into strings.
    array = to_numpy(labels) if hasattr(labels, "dtype") else np.asarray(labels, dtype=object)
    if array.ndim != 1:
        raise ValueError(
            f"{name} must be one-dimensional, one label per sample; got shape {array.shape}. Use ravel() on a column, "
            f"argmax(axis=1) on an indicator matrix."
        )
    if array.size == 0:
        raise ValueError(f"{name} is empty. Give the label of at least one sample.")
    if array.dtype.kind == "O":
        array = _homogeneous(array, name)
    if array.dtype.kind not in "biufUST":
        raise ValueError(f"{name} must contain numbers or strings; got type {array.dtype}.")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise _missing(name, np.flatnonzero(~np.isfinite(array)), "NaN or infinite")
    values, codes = np.unique(array, return_inverse=True)
    return values, codes


def _homogeneous(array: NDArray[np.object_], name: str) -> NDArray[Any]:
    kinds = np.array([_kind(value) for value in array])
    if (kinds == "missing").any():
        raise _missing(name, np.flatnonzero(kinds == "missing"), "missing")
    if (kinds == "other").any():
        value = array[np.flatnonzero(kinds == "other")[0]]
        raise ValueError(
            f"{name} must contain numbers or strings; got {value!r} of type {type(value).__name__}. Convert "
            f"the labels first, for example with str."
        )
    if len(set(kinds)) > 1:
        number, text = (array[np.flatnonzero(kinds == kind)[0]] for kind in ("number", "string"))
        raise ValueError(
            f"{name} contains both numbers and strings, for example {number!r} and {text!r}, so it is ambiguous "
            f"whether 1 and '1' are the same label. Convert all labels to one type."
        )
    return np.asarray(array.tolist())


def _kind(value: object) -> str:
    # pandas has its own objects for missing values, which cannot be compared
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return "missing"
    if isinstance(value, str):
        return "string"
    if isinstance(value, numbers.Real | np.bool_):
        return "missing" if math.isnan(value) else "number"
    return "other"


def _missing(name: str, where: NDArray[np.intp], what: str) -> ValueError:
    shown = ", ".join(str(position) for position in where[:5]) + (", ..." if len(where) > 5 else "")
    return ValueError(
        f"{name} has {what} labels at {len(where)} position(s) ({shown}), but every sample needs one. Remove these "
        f"samples from both label vectors."
    )


def _encode_pair(
    first: Array, second: Array, names: tuple[str, str]
) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[Any], NDArray[np.intp]]:
    first_values, first_codes = encode_labels(first, names[0])
    second_values, second_codes = encode_labels(second, names[1])
    if len(first_codes) != len(second_codes):
        raise ValueError(
            f"{names[0]} has {len(first_codes)} labels but {names[1]} has {len(second_codes)}. Both must contain the "
            f"same samples in the same order."
        )
    return first_values, first_codes, second_values, second_codes


def _count(rows: NDArray[np.intp], columns: NDArray[np.intp], shape: tuple[int, int]) -> NDArray[np.int64]:
    flat = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1])
    return flat.reshape(shape).astype(np.int64, copy=False)


def _normalized_mutual_info(in_class: Array, in_cluster: Array, average_method: AverageMethod) -> float:
    score = normalized_mutual_info_score(in_class, in_cluster, average_method=average_method)
    # The quotient of two rounded entropies can exceed 1 by an ulp.
    return float(min(score, 1.0))


def unused_names(known: list[Any], count: int) -> list[Any]:
    """New names of clusters beside known ones: the next integers, or ``unmatched_0``, ``unmatched_1``, ... for text."""
    if isinstance(known[0], str | bytes):
        candidates = (f"unmatched_{number}" for number in range(count + len(known)))
        return [name for name in candidates if name not in known][:count]
    start = math.floor(max(known)) + 1
    return list(range(start, start + count))
