"""Agreement, confidence and labels with missing views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.metrics import subspace_agreement
from latefusion.partitions.sources import known_samples

Assign = Callable[..., Any]


def observed_agreement(
    partition: NDArray[Any], consensus: NDArray[Any], mask: NDArray[np.bool_] | None, view: int
) -> float:
    """Agreement of a base partition with the consensus, on the samples that have the view.

    Parameters
    ----------
    partition, consensus : ndarray of shape (n_samples, n_clusters)
    mask : ndarray of bool of shape (n_samples, n_views) or None
        None if all samples have all views.
    view : int

    Returns
    -------
    float
    """
    if mask is None or mask[:, view].all():
        return subspace_agreement(partition, consensus)
    observed = mask[:, view]
    return subspace_agreement(np.linalg.qr(partition[observed])[0], np.linalg.qr(consensus[observed])[0])


def weigh_confidence(confidence: NDArray[Any], weights: NDArray[Any], mask: NDArray[np.bool_] | None) -> NDArray[Any]:
    """Confidence times the root of the share of the squared view weights that a sample's views have.

    The distances of a sample to the clusters do not measure how much is known about the sample.

    Parameters
    ----------
    confidence : ndarray of shape (n_samples,)
    weights : ndarray of shape (n_views,)
    mask : ndarray of bool of shape (n_samples, n_views) or None
        None if all samples have all views.

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    if mask is None:
        return confidence
    weighed: NDArray[Any] = confidence * np.sqrt(mask @ weights**2 / np.sum(weights**2))
    return weighed


def assign_known(assign: Assign, rows: NDArray[Any], mask: NDArray[np.bool_] | None, *args: Any, **options: Any) -> Any:
    """Labels and their rule from the samples that have any view; the rule gives labels to the others.

    Rows of samples without any view coincide. They would be a cluster of their own, or attract a center.

    Parameters
    ----------
    assign : callable
        From rows to labels and a rule for other rows.
    rows : ndarray of shape (n_samples, n_clusters)
    mask : ndarray of bool of shape (n_samples, n_views) or None
        None if all samples have all views.
    *args, **options
        Of `assign`.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
    rule : object
    """
    known = known_samples(mask)
    if known is None:
        return assign(rows, *args, **options)
    own, rule = assign(rows[known], *args, **options)
    labels = np.asarray(rule.predict(rows))
    labels[known] = own
    return labels, rule
