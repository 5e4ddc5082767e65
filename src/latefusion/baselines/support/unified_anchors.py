"""Anchors in one space that all views share, and one anchor graph: what SMVSC, FPMVS-CAG and OMSC have in common.

    min  Σ_v α_v² ‖X̃_v - Z (W_v A)ᵀ‖² + penalty(Z)
    subject to W_vᵀW_v = I, AᵀA = I, rows of Z on the probability simplex, α >= 0, Σ_v α_v = 1

========  =======  ==============================================================
here      papers   shape
========  =======  ==============================================================
views     X̃_v      m standardised views, n_samples x n_features_v
maps      W_v      m matrices, n_features_v x d
anchors   A        d x r
graph     Zᵀ       n_samples x r (the papers have r x n_samples)
weights   α        m, on the simplex
products  X̃_vᵀZ    m matrices, n_features_v x r: all that W, A and α need to know
========  =======  ==============================================================

A round costs O(n r D) for D columns in all: two products of every view with a matrix of r columns. Memory is that of
the views and a few matrices of n x r numbers.

Polar factors. Columns of X̃_v have mean zero and rows of Z sum to one, so X̃_vᵀZ 1 = 0: for r <= d the matrices whose
polar factors W_v and A are have a null vector. There the polar factor is not unique. A completion adds the same number
to all entries of a row of X̃_v W_v A, which does not move its projection on the simplex, and leaves the residuals as
they are. So the factors here are partial isometries, and residuals are those of any completion (`anchor_products`).

With r = d <= d_v the anchors A have no effect: any orthogonal A is absorbed by the maps, and polar(X̃_vᵀZAᵀ) A =
polar(X̃_vᵀZ). The method then fits orthonormal prototypes to every view on its own. With r > d, AᵀA = I cannot hold;
rows of A are orthonormal instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from latefusion.arrays import polar, require_memory
from latefusion.baselines.support.simplex import project_rows_to_simplex
from latefusion.baselines.support.simplex_regression import regress_on_simplex
from latefusion.baselines.support.standardized_views import (
    cluster_rows,
    cluster_sums,
    one_hot,
    principal_scores,
    squared_norm,
)
from latefusion.types import Array

Updates = Literal["published", "exact"]
# Residuals below this share of the norm of a view count as that much, so that no weight is infinite.
SMALLEST_RESIDUAL = 1e-12
# A method with a fixed number of rounds has settled if its last relative change of the objective is below this.
SETTLED = 1e-3
# Added to the diagonal of a Hessian without full rank, relative to its largest entry.
RIDGE = 1e-10


class Start(NamedTuple):
    """Where the alternation starts.

    Attributes
    ----------
    graph : ndarray of shape (n_samples, n_anchors)
        Z. Rows of zeros have no effect on the first anchors.
    anchors : ndarray of shape (n_components, n_anchors)
        A.
    maps : list of ndarray of shape (n_features_p, n_components), default=None
        W_v of the first round; by default they are computed from Z and A.
    """

    graph: NDArray[Any]
    anchors: NDArray[Any]
    maps: list[NDArray[Any]] | None = None


class AnchorModel(NamedTuple):
    """All variables after a round.

    Attributes
    ----------
    maps : list of ndarray of shape (n_features_p, n_components)
        W_v.
    anchors : ndarray of shape (n_components, n_anchors)
        A.
    graph : ndarray of shape (n_samples, n_anchors)
        Z, rows on the simplex.
    weights : ndarray of shape (n_views,)
        α of the residuals, for the next round.
    squared_residuals : ndarray of shape (n_views,)
        ‖X̃_v - Z (W_v A)ᵀ‖².
    """

    maps: list[NDArray[Any]]
    anchors: NDArray[Any]
    graph: NDArray[Any]
    weights: NDArray[Any]
    squared_residuals: NDArray[Any]


class Pull(NamedTuple):
    """A penalty λ ‖Z - T‖² on the graph.

    Attributes
    ----------
    strength : float
        λ.
    target : ndarray of shape (n_samples, n_anchors), default=None
        T; zero by default.
    """

    strength: float
    target: NDArray[Any] | None = None


def published_start(views: Sequence[Array], n_anchors: int, n_components: int) -> Start:
    """The start of the authors: the first r samples are the anchors, and the first d columns the common space."""
    n_samples = views[0].shape[0]
    maps = [np.eye(view.shape[1], n_components) for view in views]
    return Start(np.eye(n_samples, n_anchors), np.zeros((n_components, n_anchors)), maps)


def kmeans_start(
    views: Sequence[Array], n_anchors: int, n_components: int, *, n_init: int, generator: np.random.RandomState
) -> Start:
    """Anchors from k-means of the principal scores of all views side by side; no effect of the order of samples.

    Parameters
    ----------
    views : sequence of ndarray or CenteredRows of shape (n_samples, n_features_p)
    n_anchors, n_components : int
    n_init : int
        Number of k-means++ starts.
    generator : RandomState

    Returns
    -------
    Start
        Z is one-hot, and A the polar factor of the sums of the leading scores over the clusters. With n_anchors =
        n_components A is the identity, which loses nothing.
    """
    n_samples = views[0].shape[0]
    require_memory(
        4 * n_samples * n_anchors * 8,
        f"The anchor graph of {n_samples} samples and {n_anchors} anchors, {n_samples} x {n_anchors} numbers in 4 "
        f"copies,",
        "Use a smaller n_anchors or fewer samples.",
    )
    scores = principal_scores(views, max(n_anchors, n_components))
    labels, _ = cluster_rows(scores, n_anchors, n_init=n_init, generator=generator)
    indicator = one_hot(labels, n_anchors)
    anchors = np.eye(n_anchors)
    if n_anchors != n_components:
        anchors = polar(cluster_sums(scores[:, :n_components], indicator), xp=np).isometry
    return Start(indicator.toarray(), anchors)


def anchor_rounds(
    views: Sequence[Array],
    start: Start,
    update_graph: Callable[[list[NDArray[Any]], NDArray[Any], NDArray[Any]], NDArray[Any]],
    update_weights: Callable[[NDArray[Any]], NDArray[Any]],
) -> Iterator[AnchorModel]:
    """Rounds of the alternation, without end: maps, anchors, graph, weights.

    Parameters
    ----------
    views : sequence of ndarray or CenteredRows of shape (n_samples, n_features_p)
    start : Start
    update_graph : callable
        Takes the maps, the anchors and the weights, and returns Z.
    update_weights : callable
        Takes the squared residuals and returns α.

    Yields
    ------
    AnchorModel
    """
    norms = np.array([squared_norm(view) for view in views])
    weights = np.full(len(views), 1.0 / len(views))
    products: list[NDArray[Any]] = [view.T @ start.graph for view in views]
    anchors, maps = start.anchors, start.maps
    while True:
        if maps is None:
            maps = [polar(product @ anchors.T, xp=np).isometry for product in products]
        anchors = polar(_shared_products(products, maps, weights), xp=np).isometry
        graph = update_graph(maps, anchors, weights)
        products = [view.T @ graph for view in views]
        residuals = _squared_residuals(norms, products, maps, anchors, graph)
        weights = update_weights(residuals)
        yield AnchorModel(maps, anchors, graph, weights, residuals)
        maps = None


def _shared_products(
    products: Sequence[NDArray[Any]], maps: Sequence[NDArray[Any]], weights: NDArray[Any]
) -> NDArray[Any]:
    # Σ_v α_v² W_vᵀ X̃_vᵀ Z, whose polar factor is the best A
    triples = zip(products, maps, weights, strict=True)
    total: NDArray[Any] = np.sum([weight**2 * (own.T @ product) for product, own, weight in triples], axis=0)
    return total


def anchor_products(own_map: NDArray[Any], anchors: NDArray[Any]) -> NDArray[Any]:
    """Inner products (W A)ᵀ(W A) of the anchors in a view, where partial isometries count as completed ones.

    Parameters
    ----------
    own_map : ndarray of shape (n_features, n_components)
        W.
    anchors : ndarray of shape (n_components, n_anchors)
        A.

    Returns
    -------
    ndarray of shape (n_anchors, n_anchors)
        The identity where both W and A can have orthonormal columns.
    """
    n_features, n_components = own_map.shape
    if n_features < n_components:
        inside = own_map @ anchors
        products: NDArray[Any] = inside.T @ inside
    elif anchors.shape[1] > n_components:
        products = anchors.T @ anchors
    else:
        products = np.eye(anchors.shape[1])
    return products


def _squared_residuals(
    norms: NDArray[Any],
    products: Sequence[NDArray[Any]],
    maps: Sequence[NDArray[Any]],
    anchors: NDArray[Any],
    graph: NDArray[Any],
) -> NDArray[Any]:
    # ‖X̃‖² - 2 <W A, X̃ᵀZ> + <(W A)ᵀ(W A), ZᵀZ>: no array of the size of a view
    overlaps = graph.T @ graph
    fitted = [
        np.vdot(anchor_products(own, anchors), overlaps) - 2.0 * np.vdot(own @ anchors, product)
        for own, product in zip(maps, products, strict=True)
    ]
    residuals: NDArray[Any] = np.maximum(norms + fitted, SMALLEST_RESIDUAL * np.maximum(norms, 1.0))
    return residuals


def fit_graph(
    views: Sequence[Array],
    maps: Sequence[NDArray[Any]],
    anchors: NDArray[Any],
    weights: NDArray[Any],
    pull: Pull,
    *,
    updates: Updates = "published",
) -> NDArray[Any]:
    """Rows of Z, by projection on the simplex or as solutions of their quadratic programmes.

    Parameters
    ----------
    views : sequence of ndarray or CenteredRows of shape (n_samples, n_features_p)
    maps : sequence of ndarray of shape (n_features_p, n_components)
    anchors : ndarray of shape (n_components, n_anchors)
    weights : ndarray of shape (n_views,)
        α.
    pull : Pull
    updates : {"published", "exact"}, default="published"
        "published" projects (Σ_v X̃_v W_v A + m λ T) / (Σ_v α_v² + λ): the weights are missing in the sum, and m is one
        factor too many. "exact" minimises Σ_v α_v² ‖X̃_v - Z (W_v A)ᵀ‖² + λ ‖Z - T‖².

    Returns
    -------
    ndarray of shape (n_samples, n_anchors)
    """
    squares = weights**2
    factors = squares if updates == "exact" else np.ones(len(views))
    targets = np.zeros((views[0].shape[0], anchors.shape[1]))
    for view, own, factor in zip(views, maps, factors, strict=True):
        targets += view @ (factor * (own @ anchors))
    if pull.target is not None:
        targets += pull.strength * (1 if updates == "exact" else len(views)) * pull.target
    curvature = float(squares.sum() + pull.strength)
    if updates == "published":
        return project_rows_to_simplex(targets / curvature)
    hessian = pull.strength * np.eye(anchors.shape[1])
    for own, square in zip(maps, squares, strict=True):
        hessian += square * anchor_products(own, anchors)
    if np.array_equal(hessian, np.diag(np.diag(hessian))) and np.ptp(np.diag(hessian)) <= RIDGE * curvature:
        return project_rows_to_simplex(targets / curvature)
    if pull.strength < RIDGE * np.diag(hessian).max():
        hessian += RIDGE * np.diag(hessian).max() * np.eye(len(hessian))
    return regress_on_simplex(hessian, targets)


def inverse_squared_residuals(squared_residuals: NDArray[Any]) -> NDArray[Any]:
    """The weights α that minimise Σ_v α_v² r_v² on the simplex, 1 / r_v² scaled to sum one."""
    inverse = squared_residuals.min() / squared_residuals
    weights: NDArray[Any] = inverse / inverse.sum()
    return weights


def has_settled(objective: Sequence[float]) -> bool:
    """Whether the objective of a method with a fixed number of rounds hardly changed in the last one."""
    return len(objective) > 1 and abs(objective[-2] - objective[-1]) <= SETTLED * abs(objective[-2])


def left_singular_vectors(matrix: NDArray[Any], n_vectors: int | None = None) -> NDArray[Any]:
    """Leading left singular vectors, without those of singular values that are rounding errors.

    Parameters
    ----------
    matrix : ndarray of shape (n_samples, n_columns)
    n_vectors : int, default=None
        At most that many; by default all.

    Returns
    -------
    ndarray of shape (n_samples, rank or n_vectors)
    """
    left, values, _ = scipy.linalg.svd(matrix, full_matrices=False, check_finite=False)
    rank = int(np.count_nonzero(values > np.finfo(np.float64).eps * max(matrix.shape) * values[0]))
    vectors: NDArray[Any] = left[:, : rank if n_vectors is None else min(rank, n_vectors)]
    return vectors


def count_anchors(n_anchors: int | str, n_clusters: int, n_samples: int) -> int:
    """The number of anchors of a parameter such as 50 or "2k", at most one per sample.

    Parameters
    ----------
    n_anchors : int or {"k", "2k", "3k"}
    n_clusters : int
    n_samples : int

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If there are fewer anchors than clusters.
    """
    number = (int(n_anchors.removesuffix("k") or 1) * n_clusters) if isinstance(n_anchors, str) else int(n_anchors)
    if number < n_clusters:
        raise ValueError(
            f"n_anchors={n_anchors} must be at least n_clusters={n_clusters}, since every cluster needs an anchor. "
            f"Raise n_anchors, or use n_anchors='k'."
        )
    return min(number, n_samples)
