"""The quantities of the paper's theory: the empirical error, its generalization bound, and the bounds on the objective.

Our names and the paper's symbols: ``partitions`` are H_p (n × k), ``rotations`` W_p (k × k), ``weights`` β,
``consensus`` F (n × k), for m views and k clusters. B = Σ_p β_p H_p W_p, and the representation of sample i is
h(x_i) = Σ_p β_p W_pᵀ h_p(x_i) + λ M_iᵀ, the i-th row of B + λM.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import to_numpy
from latefusion.metrics.scores import encode_labels
from latefusion.types import Array


class ObjectiveGap(NamedTuple):
    """The three nested quantities of the paper's Theorem 1: residual <= surrogate <= bound.

    Attributes
    ----------
    residual : float
        ① Tr(BBᵀ) − Tr(FᵀBBᵀF), the kernel k-means loss of F on the kernel BBᵀ.
    surrogate : float
        ② Tr(BBᵀ) − Tr²(FᵀB)/k.
    bound : float
        ③ m²k − Tr²(FᵀB)/k: minimizing it over F is maximizing the alignment Tr(FᵀB).
    """

    residual: float
    surrogate: float
    bound: float


def objective_gap(
    partitions: Sequence[Array], rotations: Sequence[Array], weights: Array, consensus: Array
) -> ObjectiveGap:
    """Gap between the alignment objective and the kernel k-means loss that it bounds.

    Parameters
    ----------
    partitions : sequence of m arrays of shape (n_samples, n_clusters)
        Base partitions H_p.
    rotations : sequence of m arrays of shape (n_clusters, n_clusters)
        Rotations W_p.
    weights : array-like of shape (m,)
        View weights β.
    consensus : array of shape (n_samples, n_clusters)
        Consensus F with orthonormal columns. A partial isometry, which a rank deficient B gives, is welcome too.

    Returns
    -------
    ObjectiveGap

    Notes
    -----
    ① <= ② is Lemma 1 of the paper, Tr²(P) <= k Tr(PᵀP) with P = FᵀB, and holds for every input. ② <= ③ is Lemma 2,
    Tr(BBᵀ) <= m²k, and needs orthogonal W_p, 0 <= β_p <= 1 and ‖H_p‖_F <= √k. Orthonormal base partitions have that
    norm exactly. The weighted partitions of the local method, D_p H_p / n with neighbor counts below n, are not
    orthonormal, but their norm is smaller and ③ still bounds; without the factor 1/n it need not. With ‖β‖₂ = 1 the
    lemma is loose: Tr(BBᵀ) <= (Σ_p β_p √k)² <= mk.

    ① vanishes where the columns of F span those of B. So its minimum over F is 0, and F = polar(B) attains it
    (Lemma 3); the consensus of the full method is polar(B + λM), and ① then measures how far M has pulled it from B.

    Only n × k and k × k matrices are formed; the cost is O(mnk²).
    """
    held = _check_gap_input(partitions, rotations, weights, consensus)
    # Theorem 1, with F the consensus and B = Σ_p β_p H_p W_p
    F = held.consensus
    k = F.shape[1]
    B = np.zeros_like(F)
    for weight, partition, rotation in zip(held.weights, held.partitions, held.rotations, strict=True):
        B += weight * (partition @ rotation)
    P = F.T @ B
    total = float(np.sum(B * B))
    alignment = float(np.trace(P)) ** 2 / k
    # ① is ‖B − F FᵀB‖² because FFᵀ is a projection; the difference of traces would lose all digits near its minimum.
    residual = float(np.sum((B - F @ P) ** 2))
    return ObjectiveGap(residual, total - alignment, len(held.partitions) ** 2 * k - alignment)


def empirical_error(representations: Array, labels: Array | None = None, *, centers: Array | None = None) -> float:
    """Compute the error of the paper's generalization theorem, 1 − (1/n) Σ_i max_v <h(x_i), c_v>.

    Parameters
    ----------
    representations : array of shape (n_samples, n_components)
        Rows h(x_i).
    labels : array-like of shape (n_samples,), default=None
        Clusters of these samples; the center c_v is the mean of h over cluster v, as in the proof of the paper's range
        theorem.
    centers : array of shape (n_clusters, n_components), default=None
        Centers found elsewhere, in place of ``labels``: use :func:`cluster_means` of the training samples to evaluate
        new ones.

    Returns
    -------
    float

    Notes
    -----
    The paper states that every term is in [1 − 4m, 1 + 4m]. Its proof takes λM for a combination of the base
    partitions with weights 1/√m. What it needs is ‖h(x_i)‖ <= 2√m. Rows of orthonormal partitions have at most unit
    length, so ‖h(x_i)‖ <= Σ_p β_p + λ <= √m + λ: the range is certain for λ <= √m, and it is
    [1 − (√m + λ)², 1 + (√m + λ)²] in general.

    The rows of an orthonormal n × k matrix have a mean square of k/n, so the error of a good clustering is close to 1
    unless the representations are scaled up; compare errors on one scale only.

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion.metrics import empirical_error
    >>> empirical_error(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.5]]), [0, 0, 1])
    0.25
    """
    if (labels is None) == (centers is None):
        raise ValueError(
            "Give either labels (the centers are then the cluster means) or centers (of the training samples), and not "
            "both."
        )
    rows = _check_matrix(representations, "representations")
    centroids = cluster_means(rows, labels) if centers is None else _check_matrix(centers, "centers")
    if centroids.shape[1] != rows.shape[1]:
        raise ValueError(
            f"centers have {centroids.shape[1]} columns but representations have {rows.shape[1]}: both must live in "
            f"the same space."
        )
    return float(1 - (rows @ centroids.T).max(axis=1).mean())


def cluster_means(representations: Array, labels: Array) -> NDArray[Any]:
    """Mean representation of every cluster.

    Parameters
    ----------
    representations : array of shape (n_samples, n_components)
        Rows h(x_i).
    labels : array-like of shape (n_samples,)
        Clusters of the samples.

    Returns
    -------
    ndarray of shape (n_clusters, n_components)
        One row per cluster, in the sorted order of the labels.
    """
    rows = _check_matrix(representations, "representations")
    values, codes = encode_labels(labels)
    if len(codes) != len(rows):
        raise ValueError(f"There are {len(rows)} representations but {len(codes)} labels: give one label per row.")
    sums = np.zeros((len(values), rows.shape[1]), dtype=rows.dtype)
    np.add.at(sums, codes, rows)
    means: NDArray[Any] = sums / np.bincount(codes)[:, np.newaxis]
    return means


def generalization_bound(n_samples: int, n_views: int, n_clusters: int, *, delta: float = 0.05) -> float:
    """Bound on expected minus empirical error, with probability at least 1 − δ over the sample.

    With n samples, m views and k clusters it is √(π/2) k/√n + 8m √(log(1/δ) / (2n)), so it shrinks as 1/√n.

    Parameters
    ----------
    n_samples : int
        Number of training samples n.
    n_views : int
        Number of views m.
    n_clusters : int
        Number of clusters k.
    delta : float, default=0.05
        Probability with which the bound may fail, between 0 and 1.

    Returns
    -------
    float

    Notes
    -----
    This is the formula as printed in the paper's theorem. Three points limit its use. The error must be in
    [1 − 4m, 1 + 4m] (see :func:`empirical_error`: certain for λ <= √m). The last step of the proof takes the products
    <h(x), c_v> that multiply the Gaussian variables to be at most 1. And the appendix arrives at twice the Rademacher
    complexity, which its own inequalities bound by 2 √(π/2) k/√n, while the printed first term has no factor 2. Read
    the value as a rate rather than as a certificate.

    Examples
    --------
    >>> from latefusion.metrics import generalization_bound
    >>> round(generalization_bound(10_000, n_views=3, n_clusters=10), 4)
    0.4191
    """
    for name, value in (("n_samples", n_samples), ("n_views", n_views), ("n_clusters", n_clusters)):
        if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
            raise ValueError(f"{name}={value!r} should be an integer of at least 1.")
    if not 0 < delta < 1:
        raise ValueError(f"delta must be a probability between 0 and 1 (exclusive); got {delta!r}.")
    complexity = math.sqrt(math.pi / 2) * n_clusters / math.sqrt(n_samples)
    return complexity + 8 * n_views * math.sqrt(math.log(1 / delta) / (2 * n_samples))


class _GapInput(NamedTuple):
    partitions: list[NDArray[Any]]
    rotations: list[NDArray[Any]]
    weights: NDArray[Any]
    consensus: NDArray[Any]


def _check_gap_input(
    partitions: Sequence[Array], rotations: Sequence[Array], weights: Array, consensus: Array
) -> _GapInput:
    held = _GapInput(
        [_check_matrix(partition, f"partitions[{view}]") for view, partition in enumerate(partitions)],
        [_check_matrix(rotation, f"rotations[{view}]") for view, rotation in enumerate(rotations)],
        np.asarray(to_numpy(weights), dtype=float),
        _check_matrix(consensus, "consensus"),
    )
    n_views = len(held.partitions)
    if len(held.rotations) != n_views or held.weights.shape != (n_views,):
        raise ValueError(
            f"There are {n_views} partitions, {len(held.rotations)} rotations and weights of shape "
            f"{held.weights.shape}: every view needs one of each."
        )
    n_clusters = held.consensus.shape[1]
    for view, (partition, rotation) in enumerate(zip(held.partitions, held.rotations, strict=True)):
        if partition.shape != held.consensus.shape or rotation.shape != (n_clusters, n_clusters):
            raise ValueError(
                f"View {view} has a partition of shape {partition.shape} and a rotation of shape {rotation.shape}, but "
                f"the consensus of shape {held.consensus.shape} needs {held.consensus.shape} and "
                f"{(n_clusters, n_clusters)}."
            )
    gram = held.consensus.T @ held.consensus
    error = float(np.abs(gram @ gram - gram).max())
    if error > math.sqrt(np.finfo(held.consensus.dtype).eps):
        raise ValueError(
            f"The columns of consensus are not orthonormal (FᵀF misses a projection by {error:.2g}): orthonormalize it "
            f"first, for instance with latefusion.arrays.polar; rows scaled to unit length are no longer orthonormal."
        )
    return held


def _check_matrix(matrix: Array, name: str) -> NDArray[Any]:
    array = to_numpy(matrix)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name} has shape {array.shape}, but must be a two-dimensional array that is not empty.")
    array = array.astype(np.result_type(array.dtype, np.float32), copy=False)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has NaN or infinite values: remove or impute these rows first.")
    return array
