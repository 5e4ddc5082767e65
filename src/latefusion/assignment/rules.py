"""From an embedding to labels, by a rule that can be stored and applied to new rows.

All assignments here use directions only: rows are divided by their norm first, as in the authors' code. A rule is an
object with ``predict(rows)`` (labels), ``confidence(rows)`` (how much nearer the chosen cluster is than the second one,
between 0 and 1), and ``scores(rows)`` (one number per cluster, of which the largest belongs to the label). On its
training rows, ``predict`` returns the labels of the assignment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_random_state

from latefusion.arrays import beside, draw_rows, is_device_array, map_rows, namespace, one_thread, unit_rows
from latefusion.assignment.kmeans import kmeans
from latefusion.assignment.linear import LinearDiscriminant, fit_mixture
from latefusion.assignment.small_kmeans import many_centers, small_kmeans
from latefusion.types import Array

# Up to this many samples all starts of k-means use all samples.
SMALL_SAMPLES = 5000
# Average linkage joins at most this many centers, or this many per cluster.
LINKED_CENTERS = 200
LINKED_CENTERS_PER_CLUSTER = 10
# Samples per center that are used to find the centers, if there are more than a few thousand.
SAMPLES_PER_LINKED = 20


class AssignmentRule(Protocol):
    """Interface of all rules."""

    def predict(self, embedding: Array) -> Array:
        """Labels of the rows."""
        ...

    def confidence(self, embedding: Array) -> Array:
        """Confidence of the rows, from 0 (two clusters fit equally well) to 1 (only one fits)."""
        ...

    def scores(self, embedding: Array) -> Array:
        """How well every cluster fits the rows, shape (n_samples, n_clusters); `predict` is the first largest."""
        ...


@dataclass(frozen=True)
class NearestCenter:
    """The label of the nearest of some centers of directions.

    Attributes
    ----------
    centers : array of shape (n_centers, n_components)
    clusters : ndarray of shape (n_centers,) or None
        The cluster of every center; None if every center is a cluster of its own.
    """

    centers: Array
    clusters: NDArray[np.intp] | None = None

    def predict(self, embedding: Array) -> Array:
        """Labels of the rows."""
        return map_rows(self._predict, embedding)

    def confidence(self, embedding: Array) -> Array:
        """One minus the ratio of the distances to the nearest cluster and to the second nearest one."""
        return map_rows(self._confidence, embedding)

    def scores(self, embedding: Array) -> Array:
        """Squared distances to the clusters, with a minus."""
        return map_rows(lambda rows: -self._squared_distances(rows), embedding)

    def _predict(self, embedding: Array) -> Array:
        return namespace(embedding).argmin(self._squared_distances(embedding), axis=1)

    def _confidence(self, embedding: Array) -> Array:
        xp = namespace(embedding)
        squared = self._squared_distances(embedding)
        if squared.shape[1] == 1:
            return xp.ones_like(embedding[:, 0])
        ordered = np.partition(squared, 1, axis=1) if isinstance(squared, np.ndarray) else xp.sort(squared, axis=1)
        nearest = xp.sqrt(ordered[:, :2])
        return 1.0 - nearest[:, 0] / xp.where(nearest[:, 1] > 0, nearest[:, 1], xp.ones_like(nearest[:, 1]))

    def _squared_distances(self, embedding: Array) -> Array:
        """Squared distances to the clusters, which are those to their nearest centers."""
        xp = namespace(embedding)
        rows = _unit(embedding)
        norms, centers = xp.sum(rows**2, axis=1)[:, None], beside(self.centers, rows)
        squared = norms - 2 * rows @ centers.T + xp.sum(centers**2, axis=1)
        squared = xp.clip(squared, min=0.0)
        if self.clusters is None:
            return squared
        return np.stack([squared[:, self.clusters == one].min(axis=1) for one in np.unique(self.clusters)], axis=1)


@dataclass(frozen=True)
class RotatedAxes:
    """The label of the largest coordinate after a rotation, in which every cluster is a coordinate axis.

    Attributes
    ----------
    rotation : ndarray of shape (n_components, n_clusters)
    """

    rotation: Array

    def predict(self, embedding: Array) -> Array:
        """Labels of the rows."""
        return np.argmax(self._coordinates(embedding), axis=1)

    def confidence(self, embedding: Array) -> Array:
        """Difference of the two largest coordinates, relative to the largest."""
        if self.rotation.shape[1] == 1:
            return np.ones(len(embedding))
        largest = -np.partition(-self._coordinates(embedding), 1, axis=1)[:, :2]
        first, second = largest[:, 0], np.maximum(largest[:, 1], 0.0)
        safe = np.where(first > 0, first, 1.0)
        return np.where(first > 0, (first - second) / safe, 0.0)

    def scores(self, embedding: Array) -> Array:
        """Coordinates after the rotation."""
        return self._coordinates(embedding)

    def _coordinates(self, embedding: Array) -> Array:
        return _unit(embedding) @ self.rotation


@dataclass(frozen=True)
class LargestVote:
    """The label of the largest coordinate, where rows are votes for every cluster.

    Attributes
    ----------
    margins : ndarray of shape (n_clusters,)
        Largest difference between the first and the second vote in the training samples of every cluster.
    """

    margins: Array

    @classmethod
    def of(cls, votes: NDArray[Any]) -> LargestVote:
        """The rule for training votes of shape (n_samples, n_clusters)."""
        margins = np.zeros(votes.shape[1])
        np.maximum.at(margins, np.argmax(votes, axis=1), _margins(votes))
        return cls(margins)

    def predict(self, embedding: Array) -> Array:
        """Labels of the rows."""
        return np.argmax(embedding, axis=1)

    def confidence(self, embedding: Array) -> Array:
        """Difference between the two largest votes relative to the largest one in the cluster, at most 1."""
        if len(self.margins) == 1:
            return np.ones(len(embedding))
        largest = self.margins[self.predict(embedding)]
        return np.minimum(_margins(embedding) / np.where(largest > 0, largest, 1.0), 1.0)

    def scores(self, embedding: Array) -> Array:
        """The votes."""
        return embedding


def _margins(votes: NDArray[Any]) -> NDArray[Any]:
    if votes.shape[1] == 1:
        return np.zeros(len(votes))
    ordered = np.partition(votes, -2, axis=1)
    return ordered[:, -1] - ordered[:, -2]


def assign_by_kmeans(
    embedding: NDArray[Any], n_clusters: int, *, n_init: int = 10, random_state: Any = None
) -> tuple[NDArray[np.intp], NearestCenter]:
    """K-means on the rows divided by their norm; the best of several starts.

    Parameters
    ----------
    embedding : ndarray of shape (n_samples, n_components)
    n_clusters : int
    n_init : int, default=10
        Number of starts.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    labels : ndarray of shape (n_samples,)
    rule : NearestCenter
    """
    rows = _unit(embedding)
    if len(rows) <= SMALL_SAMPLES and not is_device_array(rows):
        with one_thread():  # the same sums for any number of threads, and no synchronization on a busy machine
            centers = small_kmeans(rows, n_clusters, n_init=n_init, random_state=random_state)
    else:
        generator = check_random_state(random_state)
        centers = kmeans(rows, n_clusters, n_init=n_init, generator=generator, xp=namespace(rows))
    rule = NearestCenter(centers)
    return rule.predict(embedding), rule


def assign_by_rotation(
    embedding: NDArray[Any], n_clusters: int, *, n_init: int = 10, random_state: Any = None, max_iter: int = 200
) -> tuple[NDArray[np.intp], RotatedAxes]:
    """Spectral rotation: the rotation R and the one-hot Y nearest to each other, max Tr(Yᵀ F R).

    Parameters
    ----------
    embedding : ndarray of shape (n_samples, n_components)
    n_clusters : int
    n_init : int, default=10
        Number of starts: the rows of the embedding that point furthest apart, then random rotations.
    random_state : int, RandomState or None, default=None
    max_iter : int, default=200

    Returns
    -------
    labels : ndarray of shape (n_samples,)
    rule : RotatedAxes

    Notes
    -----
    Alternates y_i = argmax_j (f_i R)_j, where an empty cluster takes the sample with the largest coordinate on its
    axis, and R = polar(Fᵀ Y). Both steps raise the objective. Of all starts that fill the most clusters the best is
    kept.
    """
    rows = _unit(embedding)
    generator = check_random_state(random_state)
    best: tuple[tuple[int, float], NDArray[np.intp], NDArray[Any]] | None = None
    for start in range(n_init):
        if start == 0:
            rotation = _pivot_rotation(rows, n_clusters)
        else:
            normal = generator.standard_normal((rows.shape[1], n_clusters))
            rotation = _nearest_isometry(normal.astype(rows.dtype))[0]
        labels, rotation, fit = _rotate(rows, rotation, max_iter)
        merit = (len(np.unique(labels)), fit)
        if best is None or merit > best[0]:
            best = (merit, labels, rotation)
    assert best is not None
    return best[1], RotatedAxes(best[2])


def assign_by_pivoted_qr(
    embedding: NDArray[Any], n_clusters: int, *, n_init: int = 1, random_state: Any = None
) -> tuple[NDArray[np.intp], RotatedAxes]:
    """Pivoted QR: k rows that point furthest apart become the axes. No start, no iteration, no randomness.

    Meant for embeddings with one direction per cluster, such as those of graphs; k clusters of a centered kernel span
    k - 1 directions, and there k-means or rotation do better.

    Parameters
    ----------
    embedding : ndarray of shape (n_samples, n_components)
    n_clusters : int
    n_init, random_state : ignored
        Accepted so that all rules are called alike.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
    rule : RotatedAxes

    References
    ----------
    Damle, Minden, Ying: Simple, direct and efficient multi-way spectral clustering. Information and Inference, 2019.
    """
    # The pivots are found on the embedding itself: long rows are the typical members of a cluster. The sign of a
    # coordinate counts: with centered kernels opposite directions are different clusters.
    rule = RotatedAxes(_pivot_rotation(embedding, n_clusters))
    return rule.predict(embedding), rule


def assign_by_linkage(
    embedding: NDArray[Any], n_clusters: int, *, n_init: int = 1, random_state: Any = None
) -> tuple[NDArray[np.intp], NearestCenter]:
    """Average linkage of directions. With many samples, of the centers of many small clusters of them.

    Finds small clusters beside large ones better than k-means does.

    Parameters
    ----------
    embedding : ndarray of shape (n_samples, n_components)
    n_clusters : int
    n_init : ignored
        Accepted so that all assignments are called alike.
    random_state : int, RandomState or None, default=None
        For the small clusters.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
    rule : NearestCenter
    """
    centers, generator = _unit(embedding), check_random_state(random_state)
    n_centers = max(LINKED_CENTERS, LINKED_CENTERS_PER_CLUSTER * n_clusters)
    if len(centers) > n_centers:
        rows = centers[draw_rows(len(centers), max(SMALL_SAMPLES, SAMPLES_PER_LINKED * n_centers), generator)]
        with one_thread():
            centers = many_centers(rows, n_centers, random_state=generator)
    rule = NearestCenter(centers, _cut(linkage(centers, "average"), n_clusters))
    return rule.predict(embedding), rule


def _cut(tree: NDArray[np.float64], n_clusters: int) -> NDArray[np.intp]:
    """The clusters of a tree of merges, before the last of them: parts that the first merges connect."""
    n_leaves = len(tree) + 1
    merged = tree[: max(0, n_leaves - n_clusters), :2].astype(np.intp)
    parents = n_leaves + np.repeat(np.arange(len(merged)), 2)
    size = n_leaves + len(merged)
    edges = coo_array((np.ones(2 * len(merged)), (merged.ravel(), parents)), shape=(size, size))
    return np.asarray(connected_components(edges, directed=False)[1][:n_leaves], dtype=np.intp)


def assign_by_mixture(
    embedding: NDArray[Any], n_clusters: int, *, n_init: int = 10, random_state: Any = None
) -> tuple[NDArray[np.intp], LinearDiscriminant]:
    """A mixture of Gaussians with a common covariance on directions, started at the clusters of k-means.

    Parameters
    ----------
    embedding : ndarray of shape (n_samples, n_components)
    n_clusters : int
    n_init : int, default=10
        Number of starts of k-means.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    labels : ndarray of shape (n_samples,)
    rule : LinearDiscriminant
    """
    labels, _ = assign_by_kmeans(embedding, n_clusters, n_init=n_init, random_state=random_state)
    rule = fit_mixture(embedding, labels, n_clusters)
    return rule.predict(embedding), rule


ASSIGNMENTS: dict[str, Callable[..., tuple[Array, AssignmentRule]]] = {
    "kmeans": assign_by_kmeans,
    "rotation": assign_by_rotation,
    "cluster_qr": assign_by_pivoted_qr,
    "average": assign_by_linkage,
    "mixture": assign_by_mixture,
}


def _rotate(rows: NDArray[Any], rotation: NDArray[Any], max_iter: int) -> tuple[NDArray[np.intp], NDArray[Any], float]:
    previous = -np.inf
    fit = 0.0
    for _ in range(max_iter):
        labels = np.argmax(rows @ rotation, axis=1)
        _fill_empty(labels, rows @ rotation)
        sums = np.zeros((rotation.shape[1], rows.shape[1]), dtype=rows.dtype)
        np.add.at(sums, labels, rows)
        rotation, fit = _nearest_isometry(sums.T)
        if fit <= previous * (1 + 1e-10):
            break
        previous = fit
    return np.argmax(rows @ rotation, axis=1), rotation, fit


def _fill_empty(labels: NDArray[np.intp], coordinates: NDArray[Any]) -> None:
    """Assign the sample with the largest coordinate on its axis to an empty cluster, unless another would be empty."""
    sizes = np.bincount(labels, minlength=coordinates.shape[1])
    for cluster in np.flatnonzero(sizes == 0):
        for sample in np.argsort(-coordinates[:, cluster], kind="stable"):
            if sizes[labels[sample]] > 1:
                sizes[labels[sample]] -= 1
                sizes[cluster] += 1
                labels[sample] = cluster
                break


def _pivot_rotation(rows: NDArray[Any], n_clusters: int) -> NDArray[Any]:
    _, _, pivots = scipy.linalg.qr(rows.T, mode="economic", pivoting=True)
    return _nearest_isometry(rows[pivots[:n_clusters]].T)[0]


def _nearest_isometry(matrix: NDArray[Any]) -> tuple[NDArray[Any], float]:
    """The matrix with orthonormal columns of the largest inner product with a matrix, and that product."""
    left, values, right = scipy.linalg.svd(matrix, full_matrices=False)
    return left @ right, float(values.sum())


def _unit(embedding: Array) -> Array:
    return map_rows(lambda part: unit_rows(part, xp=namespace(part)), embedding)
