"""Anchors that do not depend on the order of samples and views, and graphs between samples and anchors.

Views are put side by side as their principal coordinates: those of Σ_v X_v X_vᵀ / ‖X_v‖², columns centred, so that all
views count equally. They do not depend on the order of the views. Sorted by the first of them, the samples are in an
order of their own, and k-means with a seed starts from the same samples wherever these are in the table.

| name | symbol | shape |
|---|---|---|
| views | X_v | m matrices, n_samples x n_features_v |
| anchors | - | m matrices, n_anchors x n_features_v |

Cost: O(n D p) for p coordinates of D columns, O(n r D) for the distances to r anchors in blocks of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from latefusion.arrays import kmeans_plus_plus_rows, orient_columns, row_blocks, top_eigenpairs
from latefusion.assignment.kmeans import gather_members, kmeans
from latefusion.similarities.adaptive import Neighbors, adaptive_weights
from latefusion.similarities.centered_rows import CenteredRows
from latefusion.types import Array

# Coordinates in which anchors are chosen.
ANCHOR_COORDINATES = 50
# Anchors are centres of this many samples each, at least of this many in all, evenly spaced in their own order.
SAMPLES_PER_ANCHOR = 20
FEWEST_SAMPLES = 2000
# A few rounds of k-means spread the anchors.
ROUNDS = 5
# Weights below this are rounding errors of equal distances.
ROUNDING = 1e-12
# Distances in a block of rows.
BLOCK_ENTRIES = 2**20


def centered(view: Array) -> CenteredRows:
    """A view with centred columns, as an operator: sparse views stay sparse."""
    means = np.asarray(view.mean(axis=0, dtype=np.float64)).ravel()
    return CenteredRows(view, means, np.ones(view.shape[0]))


def squared_norm(view: CenteredRows) -> float:
    """‖X‖² of a view with centred columns."""
    if scipy.sparse.issparse(view.rows):
        squares = float((view.rows.data.astype(np.float64) ** 2).sum())
        return max(0.0, squares - float(view.shape[0] * (view.mean @ view.mean)))
    step = max(1, BLOCK_ENTRIES // max(1, view.shape[1]))
    return float(sum(np.sum(view[rows] ** 2) for rows in row_blocks(view.shape[0], step)))


def principal_coordinates(views: Sequence[CenteredRows], n_coordinates: int) -> NDArray[Any]:
    """Leading principal coordinates of all views side by side, every view scaled to unit norm.

    Parameters
    ----------
    views : sequence of CenteredRows of shape (n_samples, n_features_v)
    n_coordinates : int
        Fewer if there are fewer samples or columns.

    Returns
    -------
    ndarray of shape (n_samples, n_coordinates or less)
    """
    norms = [squared_norm(view) for view in views]
    factors = [1.0 / np.sqrt(norm) if norm > 0 else 0.0 for norm in norms]
    stops = np.cumsum([view.shape[1] for view in views]).tolist()
    spans = [slice(stop - view.shape[1], stop) for stop, view in zip(stops, views, strict=True)]
    n_samples, n_columns = views[0].shape[0], stops[-1]

    def forward(right: NDArray[Any]) -> NDArray[Any]:
        parts = zip(views, factors, spans, strict=True)
        return np.asarray(sum(factor * (view @ right[span]) for view, factor, span in parts))

    def backward(left: NDArray[Any]) -> NDArray[Any]:
        pairs = zip(views, factors, strict=True)
        return np.concatenate([factor * view.rmatmat(left) for view, factor in pairs])

    n_coordinates = min(n_coordinates, n_samples, n_columns)
    if n_samples <= n_columns:
        gram = _operator(n_samples, lambda left: forward(backward(left)))
        values, vectors = top_eigenpairs(gram, n_coordinates)
        return orient_columns(vectors * np.sqrt(np.maximum(values, 0.0)))
    gram = _operator(n_columns, lambda right: backward(forward(right)))
    return orient_columns(forward(top_eigenpairs(gram, n_coordinates)[1]))


def _operator(size: int, product: Any) -> LinearOperator:
    def one(vector: NDArray[Any]) -> NDArray[Any]:
        single: NDArray[Any] = product(vector.reshape(-1, 1)).ravel()
        return single

    return LinearOperator((size, size), matvec=one, matmat=product, dtype=np.float64)


def order_free_labels(
    views: Sequence[CenteredRows], n_groups: int, *, n_init: int, generator: np.random.RandomState
) -> NDArray[np.intp]:
    """K-means on the principal coordinates of all views, with starts that do not depend on the order of the samples.

    Parameters
    ----------
    views : sequence of CenteredRows of shape (n_samples, n_features_v)
    n_groups : int
        At most ``n_samples``.
    n_init : int
        Number of starts.
    generator : RandomState

    Returns
    -------
    ndarray of shape (n_samples,)
        Numbers of groups; with fewer different samples than groups some groups are empty.
    """
    coordinates = principal_coordinates(views, n_groups)
    own_order = np.argsort(coordinates[:, 0], kind="stable")
    centers = kmeans(coordinates[own_order], n_groups, n_init=n_init, generator=generator, xp=np)
    half_norms = np.sum(centers**2, axis=1) / 2
    labels: NDArray[np.intp] = np.argmin(half_norms - coordinates @ centers.T, axis=1)
    return labels


def order_free_anchors(
    views: Sequence[Array], n_anchors: int, *, generator: np.random.RandomState
) -> list[NDArray[Any]]:
    """Centres of small groups of samples, the same groups in every view.

    Parameters
    ----------
    views : sequence of ndarray or csr_array of shape (n_samples, n_features_v)
    n_anchors : int
        At most ``n_samples``.
    generator : RandomState
        For the seeds of k-means.

    Returns
    -------
    list of ndarray of shape (n_anchors, n_features_v)
    """
    coordinates = principal_coordinates([centered(view) for view in views], ANCHOR_COORDINATES)
    own_order = np.argsort(coordinates[:, 0], kind="stable")
    n_samples = len(coordinates)
    size = min(n_samples, max(SAMPLES_PER_ANCHOR * n_anchors, FEWEST_SAMPLES))
    chosen = own_order[np.arange(size) * n_samples // size]
    rows = coordinates[chosen]
    seeds = kmeans_plus_plus_rows(rows, n_anchors, n_starts=1, generator=generator, xp=np)[0]
    centers = rows[seeds][None]
    for _ in range(ROUNDS):
        members = gather_members(rows, centers, np)
        occupied = members.sizes[..., None] > 0
        centers = np.where(occupied, members.sums / np.maximum(members.sizes, 1)[..., None], centers)
    half_norms = np.sum(centers[0] ** 2, axis=1) / 2
    groups = np.argmin(half_norms - rows @ centers[0].T, axis=1)
    return [_group_means(view, chosen, groups, seeds) for view in views]


def _group_means(
    view: Array, chosen: NDArray[np.intp], groups: NDArray[np.intp], seeds: NDArray[np.intp]
) -> NDArray[Any]:
    # An empty group keeps its seed.
    sizes = np.bincount(groups, minlength=len(seeds))
    empty = np.flatnonzero(sizes == 0)
    rows = np.concatenate([np.arange(len(chosen)), seeds[empty]])
    owners = np.concatenate([groups, empty])
    shares = 1.0 / np.maximum(sizes, 1)[owners]
    member = scipy.sparse.csr_array((shares, (owners, rows)), shape=(len(seeds), len(chosen)))
    means = member @ view[chosen].astype(np.float64)
    return np.asarray(means.toarray() if scipy.sparse.issparse(means) else means)


def anchor_graph(view: Array, anchors: NDArray[Any], n_neighbors: int) -> scipy.sparse.csr_array:
    """The adaptive-neighbour graph between samples and anchors: rows sum to one.

    Parameters
    ----------
    view : ndarray or csr_array of shape (n_samples, n_features)
    anchors : ndarray of shape (n_anchors, n_features)
    n_neighbors : int
        Anchors of a sample, below ``n_anchors``.

    Returns
    -------
    csr_array of shape (n_samples, n_anchors)
        Zeros are not stored.
    """
    n_samples, n_anchors = view.shape[0], len(anchors)
    shift = anchors.mean(axis=0)
    moved = anchors - shift
    half_norms = np.sum(moved**2, axis=1) / 2
    width = n_neighbors + 1
    parts = []
    for rows in row_blocks(n_samples, max(1, BLOCK_ENTRIES // max(n_anchors, view.shape[1]))):
        block = view[rows]
        block = (block.toarray() if scipy.sparse.issparse(block) else block).astype(np.float64) - shift
        rough = half_norms - block @ moved.T
        nearest = np.argpartition(rough, width - 1, axis=1)[:, :width]
        squared = _squared_distances(block, moved, nearest)
        order = np.argsort(squared, axis=1, kind="stable")
        near = Neighbors(np.take_along_axis(nearest, order, axis=1), np.take_along_axis(squared, order, axis=1))
        parts.append(_sparse_rows(near, n_anchors))
    return scipy.sparse.vstack(parts, format="csr")


def _squared_distances(rows: NDArray[Any], anchors: NDArray[Any], nearest: NDArray[np.intp]) -> NDArray[Any]:
    # From differences: exact, also for a sample that is an anchor.
    squared = np.empty(nearest.shape)
    for column, chosen in enumerate(nearest.T):
        difference = rows - anchors[chosen]
        squared[:, column] = np.einsum("ij,ij->i", difference, difference)
    return squared


def _sparse_rows(near: Neighbors, n_anchors: int) -> scipy.sparse.csr_array:
    weights, width = adaptive_weights(near), near.indices.shape[1]
    weights[weights < ROUNDING] = 0.0
    starts = np.arange(0, weights.size + 1, width)
    graph = scipy.sparse.csr_array((weights.ravel(), near.indices.ravel(), starts), shape=(len(weights), n_anchors))
    graph.sort_indices()
    graph.eliminate_zeros()
    return graph
