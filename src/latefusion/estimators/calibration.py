"""Calibration of memberships: how often samples keep their cluster when the clustering is repeated on other samples.

The samples are divided into random halves. Each half is clustered with the parameters of the model, from the encoding
of the views to the labels, and labels the other half. The clusters of the half are matched with those of the model on
the half itself. The samples of the other half keep their cluster or not. The numbers of a membership are fitted to this
(`latefusion.assignment.membership`).

Everything is repeated, since all of it depends on the samples: the choices of the search, the similarities, and the
starts of the label assignment.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import take_columns, take_rows
from latefusion.assignment import Membership, fit_membership
from latefusion.metrics import CalibrationCurve, calibration_curve, matched_pairs
from latefusion.progress import progress_range, report_progress
from latefusion.types import Array, Views

# Samples that are divided, unless that leaves too few for every cluster.
MOST_SAMPLES = 6000
SAMPLES_PER_CLUSTER = 20

# From the views of some samples, a seed and their rows to labels of these samples, and a function that labels others.
Cluster = Callable[[Views, int, NDArray[np.intp]], tuple[NDArray[Any], Callable[[Views, list[Any]], NDArray[Any]]]]


@dataclass(frozen=True, repr=False)
class Calibration:
    """How memberships were calibrated.

    Attributes
    ----------
    membership : Membership
        From scores to memberships.
    curve : CalibrationCurve
        Memberships of own clusters, and the share of the comparisons in which samples kept their cluster.
    n_clusterings : int
        Number of clusterings of halves of the samples.
    n_samples : int
        Number of samples that were divided into halves.
    """

    membership: Membership
    curve: CalibrationCurve
    n_clusterings: int
    n_samples: int

    @property
    def kept(self) -> float:
        """The share of the comparisons in which samples kept their cluster."""
        return float(self.curve.counts @ self.curve.observed / self.curve.counts.sum())

    def __repr__(self) -> str:
        return (
            f"Calibration of memberships: samples kept their cluster in {self.kept:.0%} of "
            f"{int(self.curve.counts.sum())} comparisons, in {self.n_clusterings} clusterings of halves of "
            f"{self.n_samples} samples. Mean difference of membership and this share: {self.curve.error:.3f}."
        )


def count_kept(
    views: Views,
    labels: NDArray[np.intp],
    n_clusters: int,
    cluster: Cluster,
    kernels: NDArray[np.bool_],
    n_divisions: int,
    seed: int = 0,
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Repeat a clustering on halves of the samples, and count for how many of them samples keep their cluster.

    Parameters
    ----------
    views : Views
        Checked, each sample with at least one view.
    labels : ndarray of shape (n_samples,)
        Clusters of the model.
    n_clusters : int
    cluster : callable
        From the views of some samples, a seed and their rows to their labels, and to a function that labels others from
        their views and self-similarities.
    kernels : ndarray of bool of shape (n_views,)
        Which views are kernels of the samples.
    n_divisions : int
        Number of random divisions into halves. Each gives two clusterings.
    seed : int, default=0

    Returns
    -------
    kept, compared : ndarray of shape (n_samples,)
        For how many clusterings a sample kept its cluster, and for how many it was compared.
    """
    generator = np.random.default_rng(seed)
    n_samples = len(labels)
    kept, compared = np.zeros(n_samples, dtype=np.intp), np.zeros(n_samples, dtype=np.intp)
    most = max(MOST_SAMPLES, SAMPLES_PER_CLUSTER * n_clusters)
    chosen = np.arange(n_samples) if n_samples <= most else np.sort(generator.choice(n_samples, most, replace=False))
    for division in range(n_divisions):
        order = generator.permutation(chosen)
        halves = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
        for position, (seen, unseen) in enumerate((halves, halves[::-1])):
            done = 2 * division + position
            report_progress(f"clustering again, {done + 1} of {2 * n_divisions}", done / (2 * n_divisions))
            with progress_range(done / (2 * n_divisions), (done + 1) / (2 * n_divisions)):
                own, label = _clustered(cluster, _part(views, kernels, seen, seen), n_clusters, done, seen)
            diagonals = [
                array[unseen, unseen] if is_kernel else None
                for array, is_kernel in zip(views.arrays, kernels, strict=True)
            ]
            found = label(_part(views, kernels, unseen, seen), diagonals)
            names = _matched(labels[seen], own, n_clusters)
            kept[unseen] += names[found] == labels[unseen]
            compared[unseen] += 1
    return kept, compared


def calibrate(
    scores: NDArray[Any],
    kept: NDArray[np.intp],
    compared: NDArray[np.intp],
    weights: NDArray[Any] | None,
    n_halves: int,
) -> Calibration:
    """The memberships that repeated clusterings support.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_clusters)
    kept, compared : ndarray of shape (n_samples,)
        Of `count_kept`.
    weights : ndarray of shape (n_samples,) or None
        How much is known about every sample, from 0 to 1; None for 1.
    n_halves : int
        Number of clusterings.

    Returns
    -------
    Calibration
    """
    membership = fit_membership(scores, kept, compared, weights)
    own = membership(scores, weights).max(axis=1)
    return Calibration(membership, calibration_curve(own, kept, compared), n_halves, int(np.count_nonzero(compared)))


def _clustered(cluster: Cluster, views: Views, n_clusters: int, seed: int, rows: NDArray[np.intp]) -> Any:
    try:
        _check_sizes(views, n_clusters)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of the model itself were given by `fit`
            return cluster(views, seed, rows)
    except ValueError as error:
        raise ValueError(
            f"Memberships need clusterings of halves of the samples, and {len(views)} samples cannot be clustered: "
            f"{error} Use `confidence_`, which needs none, or more samples."
        ) from error


def _check_sizes(views: Views, n_clusters: int) -> None:
    """Raise an error for a view with fewer samples than clusters, which a fit would refuse."""
    for name, count in zip(views.names, views.observed.sum(axis=0).tolist(), strict=True):
        if count < n_clusters:
            raise ValueError(f"view {name!r} has only {count} of them, fewer than the {n_clusters} clusters.")


def _part(views: Views, kernels: NDArray[np.bool_], rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Views:
    """Some samples; of kernels, also some columns."""
    arrays: list[Array] = []
    for array, is_kernel in zip(views.arrays, kernels, strict=True):
        part = take_rows(array, rows)
        arrays.append(take_columns(part, columns) if is_kernel else part)
    return Views(arrays, views.names, None if views.mask is None else views.mask[rows])


def _matched(labels: NDArray[np.intp], own: NDArray[np.intp], n_clusters: int) -> NDArray[np.intp]:
    """For every cluster of a clustering the cluster of the model with which it is matched, one to one."""
    table = np.zeros((n_clusters, n_clusters), dtype=np.intp)
    np.add.at(table, (own, labels), 1)
    return matched_pairs(table)[1]
