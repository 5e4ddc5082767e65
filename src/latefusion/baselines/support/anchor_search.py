"""Anchors of a view, the nearest anchors of its samples, and the affinity with them.

Anchors are centres of random samples. With many samples and anchors the search is approximate: anchors are clustered
into about √p groups; a sample goes to the nearest group centre, then to the nearest anchor c of that group, and its
neighbours are sought among c and the anchors that are nearest to c.

==========  ========================================
here        shape
==========  ========================================
rows        n_samples x n_features, dense or sparse
anchors     n_anchors x n_features
indices     n_samples x n_neighbors
distances   n_samples x n_neighbors
==========  ========================================

The exact search costs O(n p d) for p anchors, the approximate one O(n √p d + n q d) for q neighbours.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.arrays import require_memory, row_blocks, unit_rows
from latefusion.baselines.support.lloyd import centers_of_rows, nearest_centers
from latefusion.baselines.support.shifted_rows import without_shift
from latefusion.types import Array

Metric = Literal["euclidean", "cosine"]

# Anchors are centres of this many samples each, after so many rounds of k-means.
SAMPLES_PER_ANCHOR = 10
ROUNDS = 5
# Candidates per neighbour in the approximate search.
CANDIDATES = 10
# Up to this many pairs of samples and anchors are compared, all of them.
EXACT_PAIRS = 2**23
# Entries of a block of distances.
BLOCK_ENTRIES = 2**21


class AnchorGroups(NamedTuple):
    """A clustering of anchors.

    Attributes
    ----------
    labels : ndarray of shape (n_anchors,)
    centers : ndarray of shape (n_groups, n_features)
        Every group has an anchor.
    """

    labels: NDArray[np.intp]
    centers: NDArray[Any]


class NearestAnchors(NamedTuple):
    """The nearest anchors of every sample.

    Attributes
    ----------
    indices : ndarray of shape (n_samples, n_neighbors)
    squared : ndarray of shape (n_samples, n_neighbors)
        Squared distances, ascending.
    """

    indices: NDArray[np.intp]
    squared: NDArray[Any]


def draw_anchors(rows: Array, n_anchors: int, generator: np.random.RandomState, *, unit: bool = False) -> NDArray[Any]:
    """Centres of random rows after a few rounds of k-means; the rows themselves if there are no more than anchors.

    Parameters
    ----------
    rows : ndarray or csr_array of shape (n_samples, n_features)
    n_anchors : int
    generator : RandomState
    unit : bool, default=False
        Whether centres are divided by their norm.

    Returns
    -------
    ndarray of shape (min(n_anchors, n_samples), n_features)
    """
    n_samples = rows.shape[0]
    size = min(SAMPLES_PER_ANCHOR * n_anchors, n_samples)
    subset = rows if size == n_samples else rows[np.sort(generator.choice(n_samples, size, replace=False))]
    require_memory(
        2 * min(n_anchors, n_samples) * rows.shape[1] * 8,
        f"Anchors as {min(n_anchors, n_samples)} x {rows.shape[1]} numbers, twice,",
        "Use a smaller n_anchors, or views with fewer columns.",
    )
    if n_anchors >= n_samples:
        return _dense(subset)
    start = np.sort(generator.choice(size, n_anchors, replace=False))
    centers, _ = centers_of_rows(without_shift(subset), start, ROUNDS)
    return unit_rows(centers, xp=np) if unit else centers


def group_anchors(anchors: NDArray[Any], generator: np.random.RandomState) -> AnchorGroups:
    """Cluster p anchors into ⌊√p⌋ groups by a few rounds of k-means."""
    n_groups = max(1, int(np.sqrt(len(anchors))))
    start = np.sort(generator.choice(len(anchors), n_groups, replace=False))
    centers, found = centers_of_rows(without_shift(anchors), start, ROUNDS)
    return AnchorGroups(found.labels, centers)


def nearest_anchors(
    rows: Array, anchors: NDArray[Any], n_neighbors: int, generator: np.random.RandomState
) -> NearestAnchors:
    """The nearest anchors of every sample, by the approximate search if there are many pairs.

    Parameters
    ----------
    rows : ndarray or csr_array of shape (n_samples, n_features)
    anchors : ndarray of shape (n_anchors, n_features)
    n_neighbors : int
        At most the number of anchors.
    generator : RandomState
        For the groups of the approximate search.

    Returns
    -------
    NearestAnchors
    """
    if not scipy.sparse.issparse(rows):
        # Distances do not change, and their rounding errors are smaller.
        middle = anchors.mean(axis=0)
        rows, anchors = rows - middle, anchors - middle
    if rows.shape[0] * len(anchors) <= EXACT_PAIRS:
        return search_all(rows, anchors, n_neighbors)
    return search_groups(rows, anchors, group_anchors(anchors, generator), n_neighbors)


def search_all(rows: Array, anchors: NDArray[Any], n_neighbors: int) -> NearestAnchors:
    """Compare every sample with every anchor."""
    found = _empty(rows.shape[0], n_neighbors)
    norms = without_shift(rows).squared_norms()
    lengths = np.einsum("ij,ij->i", anchors, anchors)
    for block in row_blocks(rows.shape[0], max(1, BLOCK_ENTRIES // len(anchors))):
        squared = norms[block, None] + lengths - 2.0 * (rows[block] @ anchors.T)
        found.indices[block], found.squared[block] = _smallest(squared, n_neighbors)
    return found


def search_groups(rows: Array, anchors: NDArray[Any], groups: AnchorGroups, n_neighbors: int) -> NearestAnchors:
    """Compare every sample with the group centres, the anchors of a group, and the neighbours of one of these.

    Parameters
    ----------
    rows : ndarray or csr_array of shape (n_samples, n_features)
    anchors : ndarray of shape (n_anchors, n_features)
    groups : AnchorGroups
    n_neighbors : int
        At most the number of anchors.

    Returns
    -------
    NearestAnchors
    """
    shifted = without_shift(rows)
    norms = shifted.squared_norms()
    lengths = np.einsum("ij,ij->i", anchors, anchors)
    nearest = np.empty(len(norms), dtype=np.intp)
    group_of = nearest_centers(shifted, norms, groups.centers).labels
    for group, samples in enumerate(_members(group_of, len(groups.centers))):
        own = np.flatnonzero(groups.labels == group)
        if samples.size:
            nearest[samples] = own[nearest_centers(without_shift(rows[samples]), norms[samples], anchors[own]).labels]
    n_candidates = min(CANDIDATES * n_neighbors + 1, len(anchors))
    candidates = search_all(anchors, anchors, n_candidates).indices
    found = _empty(len(norms), n_neighbors)
    for anchor, samples in enumerate(_members(nearest, len(anchors))):
        if samples.size:
            near = candidates[anchor]
            squared = norms[samples, None] + lengths[near] - 2.0 * (rows[samples] @ anchors[near].T)
            positions, found.squared[samples] = _smallest(squared, n_neighbors)
            found.indices[samples] = near[positions]
    return found


def anchor_affinity(near: NearestAnchors, n_anchors: int, metric: Metric = "euclidean") -> scipy.sparse.csr_array:
    """Affinity of every sample with its nearest anchors, b / (‖b‖ + ε) with the rounding error ε of numbers near one.

    Parameters
    ----------
    near : NearestAnchors
        For the cosine metric those of rows and anchors of unit length.
    n_anchors : int
    metric : {"euclidean", "cosine"}, default="euclidean"
        exp(-d² / 2σ²) with the mean σ of all these distances, or the cosine, zero where it is negative.

    Returns
    -------
    csr_array of shape (n_samples, n_anchors)
        Entries are at least ε.
    """
    epsilon = float(np.finfo(np.float64).eps)
    if metric == "cosine":
        weights = np.maximum(1.0 - 0.5 * near.squared, 0.0)
    else:
        sigma = float(np.sqrt(near.squared).mean()) or 1.0
        weights = np.exp(-near.squared / (2.0 * sigma**2))
    # A sample far away from all its anchors keeps a shorter row, so that the view counts less for it.
    lengths = np.sqrt(np.einsum("ij,ij->i", weights, weights))[:, None]
    weights = np.maximum(weights / (lengths + epsilon), epsilon)
    starts = np.arange(0, weights.size + 1, weights.shape[1])
    return scipy.sparse.csr_array((weights.ravel(), near.indices.ravel(), starts), shape=(len(weights), n_anchors))


def _smallest(squared: NDArray[Any], size: int) -> tuple[NDArray[np.intp], NDArray[Any]]:
    if size < squared.shape[1]:
        kept = np.argpartition(squared, size - 1, axis=1)[:, :size]
    else:
        kept = np.broadcast_to(np.arange(size), squared.shape)
    values = np.take_along_axis(squared, kept, axis=1)
    order = np.argsort(values, axis=1, kind="stable")
    return np.take_along_axis(kept, order, axis=1), np.maximum(np.take_along_axis(values, order, axis=1), 0.0)


def _members(labels: NDArray[np.intp], n_labels: int) -> list[NDArray[np.intp]]:
    """Positions of every label."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.cumsum(np.bincount(labels, minlength=n_labels))[:-1])


def _empty(n_samples: int, n_neighbors: int) -> NearestAnchors:
    return NearestAnchors(np.empty((n_samples, n_neighbors), dtype=np.intp), np.empty((n_samples, n_neighbors)))


def _dense(rows: Array) -> NDArray[Any]:
    return np.asarray(rows.toarray() if scipy.sparse.issparse(rows) else rows)
