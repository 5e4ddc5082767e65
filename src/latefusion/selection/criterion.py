"""The score of a clustering without labels, by which candidates are compared.

It is the mean of three informations between 0 and 1:

- of the cluster of a sample about the clusters of its nearest neighbors in all views together,
- of the cluster of a sample about the clusters of its nearest neighbors in each view, averaged over views,
- of the clustering about the clusterings of the single views, averaged over views.

The first two measure whether clusters are connected in the data, the third whether the consensus represents all views.
Views count by how well their own clusterings agree with those of the other views.

Views differ in how much information any clustering can have about them: a table of a few categories has large groups of
equal rows, measurements in many columns have none. So the informations in single views are relative to what the
clusterings of that view alone attain.

A mean over views is also high for a clustering that follows one view closely and ignores all others. So every score has
a breadth, the effective number of views whose neighborhoods the clustering explains: (Σ_v x_v)² / Σ_v x_v² with x_v the
second information in view v. `docs/SELECTION.md` has the experiments behind these choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
import scipy.stats
from numpy.typing import NDArray
from sklearn.metrics.pairwise import euclidean_distances

from latefusion.metrics.information import (
    adjusted_information,
    label_tables,
    shared_information,
    table_informations,
)
from latefusion.partitions.sources import join_coordinates, known_samples
from latefusion.similarities.graph import NeighborSearch

# Nearest neighbors of a sample: in all views together, and some more in single views, which are noisier.
JOINT_NEIGHBORS = 5
VIEW_NEIGHBORS = 10
# Parts of the samples that give the standard error of a score.
N_FOLDS = 5
# Least trust in a view, as a share of the largest.
LEAST_TRUST = 0.05
# Least information that a view is taken to attain on its own, as a share of the largest.
LEAST_ATTAINED = 0.2


def view_neighbors(searches: Sequence[NeighborSearch], mask: NDArray[np.bool_] | None = None) -> list[NDArray[np.intp]]:
    """Nearest neighbors in every view by exact distances.

    Parameters
    ----------
    searches : sequence of NeighborSearch
        One per view, of the samples that have it.
    mask : ndarray of bool of shape (n_samples, n_views), default=None
        Which views samples have, if any are missing.

    Returns
    -------
    list of ndarray of shape (n_samples, n_neighbors)
        -1 stands for no neighbor.
    """
    observed = [None] * len(searches) if mask is None else list(mask.T)
    return [_neighbors(one, VIEW_NEIGHBORS, own) for one, own in zip(searches, observed, strict=True)]


def joint_neighbors(
    searches: Sequence[NeighborSearch],
    shares: NDArray[Any],
    mask: NDArray[np.bool_] | None = None,
    joint: Sequence[NeighborSearch] = (),
) -> list[NDArray[np.intp]]:
    """Nearest neighbors in all views together by exact distances.

    Parameters
    ----------
    searches : sequence of NeighborSearch
        One per view, of the samples that have it.
    shares : ndarray of shape (n_views,)
        How much every view counts in the joint distance, which is the mean of squared distances after bringing their
        mean to one.
    mask : ndarray of bool of shape (n_samples, n_views), default=None
        Which views samples have, if any are missing. Two samples are compared by the views that both have.
    joint : sequence of NeighborSearch, default=()
        Of all samples that have any view, in all views together, if it has been computed: one, or one per imputation of
        missing rows.

    Returns
    -------
    list of ndarray of shape (n_samples, n_neighbors)
        One, or one per imputation. -1 stands for no neighbor.
    """
    if mask is not None and not joint:
        return [_shared_neighbors(searches, shares, mask)]
    joint = joint or [NeighborSearch(join_coordinates([one.transformed for one in searches], shares)[0])]
    return [_neighbors(one, JOINT_NEIGHBORS, known_samples(mask)) for one in joint]


def _neighbors(search: NeighborSearch, n_neighbors: int, observed: NDArray[np.bool_] | None) -> NDArray[np.intp]:
    """Neighbors of the observed samples among each other, as positions among all."""
    own = search.others(n_neighbors)
    if observed is None:
        return own
    samples = np.flatnonzero(observed)
    neighbors = np.full((len(observed), own.shape[1]), -1)
    neighbors[samples] = samples[own]
    return neighbors


def _shared_neighbors(
    searches: Sequence[NeighborSearch], shares: NDArray[Any], mask: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Neighbors by the mean distance over the views that two samples share."""
    n_samples = len(mask)
    joint, weights = np.zeros((n_samples, n_samples)), np.zeros((n_samples, n_samples))
    for search, share, observed in zip(searches, shares, mask.T, strict=True):
        squared = euclidean_distances(search.transformed, squared=True).astype(np.float64, copy=False)
        mean = squared.mean()
        if mean > 0:
            joint[np.ix_(observed, observed)] += squared * (share / mean)
            weights[np.ix_(observed, observed)] += share
    joint = np.where(weights > 0, joint / np.where(weights > 0, weights, 1.0), np.inf)
    np.fill_diagonal(joint, np.inf)
    n_neighbors = min(JOINT_NEIGHBORS, n_samples - 1)
    nearest = np.argpartition(joint, n_neighbors - 1, axis=1)[:, :n_neighbors]
    np.fill_diagonal(weights, 0.0)
    shared = np.take_along_axis(weights, nearest, axis=1) > 0
    return np.where(shared, nearest, -1)


def view_trust(view_labels: Sequence[Sequence[NDArray[np.intp]]], presence: NDArray[np.float64]) -> NDArray[np.float64]:
    """How well the clusterings of every view agree with those of the other views.

    Parameters
    ----------
    view_labels : sequence of sequence of ndarray of shape (n_samples,)
        Clusterings of every view on its own; -1 if the view is missing.
    presence : ndarray of shape (n_views,)
        How much every view counts for the others.

    Returns
    -------
    ndarray of shape (n_views,)
        The adjusted mutual information of the best pair of clusterings, averaged over the other views, and at least 5 %
        of its largest value. Ones if no views agree.
    """
    n_views = len(view_labels)
    agreement = np.zeros((n_views, n_views))
    for first, second in combinations(range(n_views), 2):
        pairs = [_agreement(one, other) for one in view_labels[first] for other in view_labels[second]]
        agreement[first, second] = agreement[second, first] = max(pairs)
    others = presence.sum() - presence
    trust: NDArray[np.float64] = agreement @ presence / np.where(others > 0, others, 1.0)
    largest = np.max(trust[presence > 0], initial=0.0)
    return np.maximum(trust, LEAST_TRUST * largest) if largest > 0 else np.ones(n_views)


def _agreement(first: NDArray[np.intp], second: NDArray[np.intp]) -> float:
    """Adjusted mutual information of two clusterings on the samples that both label; at least zero."""
    both = (first >= 0) & (second >= 0)
    return max(0.0, adjusted_information(first[both], second[both])) if np.any(both) else 0.0


def relative_weights(shares: NDArray[Any], attained: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights of informations in views that are relative to attained ones.

    Parameters
    ----------
    shares : ndarray of shape (n_views,)
        How much every view counts; they sum to one.
    attained : ndarray of shape (n_views,)
        Information that a clustering of every view alone has in that view.

    Returns
    -------
    ndarray of shape (n_views,)
        Inversely proportional to the attained informations. A clustering that attains as much in every view has the
        same weighted mean of informations as with the shares as weights.
    """
    largest = np.max(attained[shares > 0], initial=0.0)
    if largest <= 0:
        return shares
    attained = np.maximum(attained, LEAST_ATTAINED * largest)
    weights: NDArray[np.float64] = shares * (shares @ attained) / attained
    return weights


class Score(NamedTuple):
    """Score of a clustering: of all samples, of parts of them, and its breadth."""

    value: float
    parts: NDArray[np.float64]
    breadth: float

    @property
    def standard_error(self) -> float:
        """Standard error of the value."""
        return standard_error(self.parts)

    def per_entropy(self, labels: NDArray[np.intp], n_clusters: int) -> Score:
        """The same, with informations divided by the geometric mean of log k and the entropy of the labels.

        Informations are shares of log k, which clusters of unequal size cannot reach. Among labels of the same
        consensus this is the fairer comparison; among different ones it prefers a few outliers as clusters.
        """
        entropy = scipy.stats.entropy(np.bincount(labels)) / np.log(n_clusters) if n_clusters > 1 else 0.0
        factor = 1.0 / np.sqrt(entropy) if entropy > 0 else 1.0
        return Score(factor * self.value, factor * self.parts, self.breadth)


def standard_error(parts: NDArray[Any]) -> float:
    """Standard error of the mean of some values; zero for a single one."""
    return float(np.std(parts, ddof=1) / np.sqrt(len(parts))) if len(parts) > 1 else 0.0


@dataclass(frozen=True)
class Criterion:
    """The score of clusterings of some samples.

    Attributes
    ----------
    joint_neighbors : list of ndarray of shape (n_samples, n_neighbors)
        As the function of this name returns them.
    view_neighbors : list of ndarray of shape (n_samples, n_neighbors)
    view_labels : list of list of ndarray of shape (n_samples,)
        Clusterings of every view on its own; -1 if the view is missing.
    shares : ndarray of shape (n_views,)
        How much every view counts; they sum to one.
    presence : ndarray of shape (n_views,)
        How much every view counts in the breadth: as in the shares, but without trust.
    known : ndarray of bool of shape (n_samples,) or None
        Which samples have any view; None for all.
    """

    joint_neighbors: Sequence[NDArray[np.intp]]
    view_neighbors: Sequence[NDArray[np.intp]]
    view_labels: Sequence[Sequence[NDArray[np.intp]]]
    shares: NDArray[Any]
    presence: NDArray[Any]
    known: NDArray[np.bool_] | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Without what was derived from these: it is larger, and can be computed again.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def score(self, labels: NDArray[np.intp], n_clusters: int) -> Score:
        """Mean of the three informations, and breadth."""
        joint, near, shared = self.informations(labels, n_clusters)
        values = (joint + self.neighbor_weights @ near + self.label_weights @ shared) / 3
        explained = self.presence * near[:, -1]
        squares = float(np.sum(explained**2))
        breadth = float(np.sum(explained)) ** 2 / squares if squares > 0 else 0.0
        return Score(float(values[-1]), values[:-1], breadth)

    def informations(self, labels: NDArray[np.intp], n_clusters: int) -> tuple[NDArray[np.float64], ...]:
        """The three informations of parts of the samples and, last, of all.

        Parameters
        ----------
        labels : ndarray of shape (n_samples,)
        n_clusters : int

        Returns
        -------
        joint : ndarray of shape (n_parts + 1,)
            About neighbors in all views together.
        near, shared : ndarray of shape (n_views, n_parts + 1)
            About neighbors in each view, and about the clusterings of each view.
        """
        k, n_clusterings = n_clusters, [len(several) for several in self.view_labels]
        graphs, first, second = self._pairs_of_neighbors
        n_graphs = len(self.joint_neighbors) + len(self.view_neighbors)
        pairs = label_tables(labels[first], labels[second], k, graphs, n_graphs * self._n_parts)
        clusterings, samples, own = self._pairs_of_labels
        tables = label_tables(labels[samples], own, k, clusterings, sum(n_clusterings) * self._n_parts)
        tables = np.concatenate([pairs + pairs.transpose(0, 2, 1), tables]).reshape(-1, self._n_parts, k, k)
        tables = np.concatenate([tables, tables.sum(axis=1, keepdims=True)], axis=1)
        found = table_informations(tables.reshape(-1, k, k)).reshape(len(tables), -1)
        shared = np.split(found[n_graphs:], np.cumsum(n_clusterings)[:-1])
        joint, near = np.split(found[:n_graphs], [len(self.joint_neighbors)])
        return np.mean(joint, axis=0), near, np.array([np.mean(several, axis=0) for several in shared])

    @cached_property
    def graphs(self) -> list[tuple[float, Any]]:
        """Weight and symmetric adjacency matrix of every graph of neighbors; the entries of a matrix sum to one."""
        joint = [(1.0 / len(self.joint_neighbors), one) for one in self.joint_neighbors]
        views = zip(self.neighbor_weights.tolist(), self.view_neighbors, strict=True)
        return [(weight, _adjacency(neighbors)) for weight, neighbors in [*joint, *views]]

    @cached_property
    def _pairs_of_neighbors(self) -> tuple[NDArray[np.intp], ...]:
        """The table of every pair of neighbors, one per graph and part, and both samples."""
        found = []
        for graph, neighbors in enumerate([*self.joint_neighbors, *self.view_neighbors]):
            first, column = np.nonzero((neighbors >= 0) & (self._parts >= 0)[:, None])
            found.append((graph * self._n_parts + self._parts[first], first, neighbors[first, column]))
        return tuple(map(np.concatenate, zip(*found, strict=True)))

    @cached_property
    def _pairs_of_labels(self) -> tuple[NDArray[np.intp], ...]:
        """The table of every label in a single view, one per clustering and part, the sample, and the label."""
        found = []
        for clustering, own in enumerate(own for several in self.view_labels for own in several):
            samples = np.flatnonzero((own >= 0) & (self._parts >= 0))
            found.append((clustering * self._n_parts + self._parts[samples], samples, own[samples]))
        return tuple(map(np.concatenate, zip(*found, strict=True)))

    @cached_property
    def _parts(self) -> NDArray[np.intp]:
        """The part of every sample; -1 for samples without any view."""
        samples = self.samples
        parts = np.full(len(self.view_labels[0][0]), -1)
        # Shuffled, since an ordered data set could fill a part with one cluster.
        parts[np.random.default_rng(0).permutation(samples)] = np.arange(len(samples)) % self._n_parts
        return parts

    @property
    def _n_parts(self) -> int:
        """Number of parts: of two samples or more, if there are so many."""
        return max(1, min(N_FOLDS, len(self.samples) // 2))

    @property
    def samples(self) -> NDArray[np.intp]:
        """Samples that have any view."""
        return np.arange(len(self.view_labels[0][0])) if self.known is None else np.flatnonzero(self.known)

    @cached_property
    def neighbor_weights(self) -> NDArray[np.float64]:
        """Weights of the informations about neighbors in single views."""
        return relative_weights(self.shares, self._attained()[0])

    @cached_property
    def label_weights(self) -> NDArray[np.float64]:
        """Weights of the informations about the clusterings of single views."""
        return relative_weights(self.shares, self._attained()[1])

    def _attained(self) -> NDArray[np.float64]:
        """Largest informations of the clusterings of every view in that view, shape (2, n_views)."""
        n_clusters = 1 + max(int(own.max()) for several in self.view_labels for own in several)
        attained = np.zeros((2, len(self.view_labels)))
        for view, several in enumerate(self.view_labels):
            for own in several:
                near = self.informations(np.maximum(own, 0), n_clusters)[1][view, -1]
                known = own[(own >= 0) & (self._parts >= 0)]
                itself = shared_information(known, known, n_clusters)
                attained[:, view] = np.maximum(attained[:, view], [near, itself])
        return attained


def _adjacency(neighbors: NDArray[np.intp]) -> Any:
    known = neighbors >= 0
    rows, columns = np.nonzero(known)[0], neighbors[known]
    entries = np.full(len(rows), 0.5 / max(1, len(rows)))
    adjacency = scipy.sparse.csr_array((entries, (rows, columns)), shape=(len(neighbors), len(neighbors)))
    return (adjacency + adjacency.T).tocsr()
