"""M, the leading eigenvectors of the mean similarity of all views.

The mean similarity of factors Φ_p and graphs S_q is (Σ Φ_p Φ_pᵀ + Σ S_q) / m. Of graphs alone it is a sparse matrix, of
factors alone it is the factor [Φ_1 | … | Φ_m] / √m, and of both it is an operator that Lanczos multiplies vectors with.
If a view is a dense kernel, the mean is dense, and is summed view by view.

If views are missing, S_p is the similarity of the n_p samples that have view p. With E_p the matrix that puts their
rows among all n (zero rows for the others), the mean similarity is

    D^{-1/2} (Σ_p E_p S_p E_pᵀ / m) D^{-1/2},    D the share of views that a sample has.

It compares two samples by the views that both have, and samples with few views have the same weight. Factors remain
factors, and graphs remain sparse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from latefusion.partitions.imputation import Fill
from latefusion.partitions.partitions import Block, Mean, Partitions
from latefusion.partitions.spectra import leading_eigenpairs, leading_projection, operator, symmetric_operator
from latefusion.types import Array

Mask = NDArray[np.bool_]


def add_to_mean(mean: NDArray[Any] | None, matrix: Any, n_terms: int) -> NDArray[Any]:
    """Add one of several matrices, dense or sparse, to their dense mean, which is overwritten.

    Parameters
    ----------
    mean : ndarray of shape (n_samples, n_samples) or None
        None if no matrix was added.
    matrix : ndarray or sparse matrix of shape (n_samples, n_samples)
    n_terms : int

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
    """
    term = matrix * matrix.dtype.type(1.0 / n_terms)  # SciPy divides single precision into double
    if mean is None:
        return np.asarray(term)
    if scipy.sparse.issparse(term) or mean.dtype != term.dtype:
        return np.asarray(mean + term)
    mean += term
    return mean


def mean_partition(
    graphs: Sequence[Any],
    features: Sequence[Any],
    mean: NDArray[Any] | None,
    n_clusters: int,
    precision: Any,
    mask: Mask | None = None,
) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """Leading eigenvectors of the mean similarity, and the share of every view in their extension to new samples.

    Parameters
    ----------
    graphs : sequence of sparse matrices of shape (n_p, n_p), or None
        Used for views without a factor, if the mean has not been formed.
    features : sequence of arrays, sparse matrices or operators of shape (n_p, width_p), or None
        Φ_p of views with a factor.
    mean : ndarray of shape (n_samples, n_samples) or None
        The mean, if it has been formed.
    n_clusters : int
    precision : dtype
    mask : ndarray of bool of shape (n_samples, n_views), default=None
        Which samples have which views; all by default.

    Returns
    -------
    average : ndarray of shape (n_samples, n_clusters)
        M.
    shares : list of ndarray of shape (width_p or n_p, n_clusters)
        N_p.
    """
    n_views = len(features)
    if mask is not None:
        graphs = [None if one is None else scatter_similarity(one, mask, view) for view, one in enumerate(graphs)]
        features = [None if one is None else scatter_features(one, mask, view) for view, one in enumerate(features)]
    factors, others = ([one for one in some if one is not None] for some in (features, graphs))
    if mean is None and not others:
        whole = put_side_by_side(factors)
        projection = leading_projection(whole, n_clusters, precision)
        edges = np.cumsum([one.shape[1] for one in factors])
        return (whole @ projection).astype(precision), np.split(projection, edges[:-1])
    similarity: Any = mean
    if mean is None and factors:
        similarity = mean_operator(factors, others)
    elif mean is None:
        similarity = sum(graph * graph.dtype.type(1 / n_views) for graph in others)
    _, average, extended = leading_eigenpairs(similarity, n_clusters)
    extended = extended * extended.dtype.type(1 / n_views)
    if mask is None:
        return average.astype(precision), [extended if one is None else one.T @ extended for one in features]
    weighted = inverse_roots(mask)[:, None] * extended
    shares = [weighted[seen] if one is None else one.T @ extended for one, seen in zip(features, mask.T, strict=True)]
    return average.astype(precision), shares


def inverse_roots(mask: Mask) -> NDArray[np.float64]:
    """The diagonal of D^{-1/2}."""
    roots: NDArray[np.float64] = np.sqrt(mask.shape[1] / mask.sum(axis=1))
    return roots


def scatter_similarity(similarity: Any, mask: Mask | None, view: int) -> Any:
    """D^{-1/2} E_p S_p E_pᵀ D^{-1/2} of a dense or sparse similarity; the similarity itself if the mask is None."""
    if mask is None:
        return similarity
    samples, factors = np.flatnonzero(mask[:, view]), inverse_roots(mask)
    shape = (len(mask), len(mask))
    if scipy.sparse.issparse(similarity):
        entries = similarity.tocoo()
        rows, columns = samples[entries.row], samples[entries.col]
        values = entries.data * (factors[rows] * factors[columns]).astype(entries.dtype)
        return scipy.sparse.csr_array((values, (rows, columns)), shape=shape)
    everywhere = np.zeros(shape, dtype=similarity.dtype)
    everywhere[np.ix_(samples, samples)] = similarity * (factors[samples, None] * factors[samples])
    return everywhere


def scatter_features(features: Any, mask: Mask, view: int) -> LinearOperator:
    """The same of a factor: D^{-1/2} E_p Φ_p, by its products."""
    samples = np.flatnonzero(mask[:, view])
    factors = inverse_roots(mask)[samples, None]

    def multiply(right: NDArray[Any]) -> NDArray[Any]:
        rows = np.zeros((len(mask), right.shape[1]))
        rows[samples] = factors * (features @ right)
        return rows

    return operator((len(mask), features.shape[1]), multiply, lambda left: features.T @ (factors * left[samples]))


def put_side_by_side(features: Sequence[Any]) -> Any:
    """Several factors as one, [Φ_1 | … | Φ_m]: a sparse matrix if all of them are, otherwise by its products."""
    if all(map(scipy.sparse.issparse, features)):
        return scipy.sparse.hstack(features, format="csr")
    edges = np.cumsum([one.shape[1] for one in features])

    def multiply(right: NDArray[Any]) -> Any:
        return sum(one @ part for one, part in zip(features, np.split(right, edges[:-1]), strict=True))

    def transposed(left: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([one.T @ left for one in features])

    return operator((features[0].shape[0], int(edges[-1])), multiply, transposed)


def mean_operator(factors: Sequence[Any], graphs: Sequence[Any]) -> LinearOperator:
    """The mean of similarities, (Σ Φ_p Φ_pᵀ + Σ S_q) / m, by its products."""

    def multiply(right: NDArray[Any]) -> Any:
        total = sum(one @ (one.T @ right) for one in factors) + sum(graph @ right for graph in graphs)
        return total / (len(factors) + len(graphs))

    return symmetric_operator(factors[0].shape[0], multiply)


def partitions_with_mean(
    blocks: Sequence[Block],
    vectors: Sequence[Array],
    average: Array,
    shares: Sequence[Array],
    *,
    mask: Mask | None = None,
    counts: Sequence[Any] | None = None,
) -> Partitions:
    """Base partitions and the M of their mean similarity, to which every view has a share.

    Parameters
    ----------
    blocks : sequence of Block
        Of H_p.
    vectors : sequence of arrays of shape (n_samples, n_clusters)
        H_p.
    average : array of shape (n_samples, n_clusters)
        M.
    shares : sequence of arrays of shape (n_features, n_clusters)
        N_p. They add up to a sum of similarities, so that their columns are rescaled for samples with few views.
    mask, counts
        As in `Partitions`.

    Returns
    -------
    Partitions
    """
    n_views, n_clusters = len(blocks), average.shape[1]
    of_mean = tuple(replace(block, projection=share) for block, share in zip(blocks, shares, strict=True))
    return Partitions(
        tuple(blocks),
        tuple(vectors),
        mask=mask,
        fill=Fill(np.repeat([False, True], n_views * n_clusters)),
        mean=Mean(average, of_mean, np.tile(np.eye(n_clusters), (n_views, 1))),
        counts=None if counts is None else tuple(counts),
    )
