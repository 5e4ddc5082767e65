"""Base partitions of factors and graphs side by side, by products with vectors: nothing of size n x n is formed.

The mean similarity of factors Φ_p and graphs S_q is (Σ Φ_p Φ_pᵀ + Σ S_q) / m. Of graphs alone it is a sparse matrix, of
factors alone it is the factor [Φ_1 | … | Φ_m] / √m, and of both it is an operator that Lanczos multiplies vectors with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.arrays import top_eigenpairs
from latefusion.partitions.operators import (
    MeanSimilarity,
    SideBySide,
    feature_matrix,
    inverse_values,
    leading_projection,
)
from latefusion.similarities.factor import Factor


class Leading(NamedTuple):
    """Leading eigenvectors of a similarity, and one over their eigenvalues; null directions are zero in both."""

    vectors: NDArray[Any]
    inverse_values: NDArray[Any]


class OperatorPartitions(NamedTuple):
    """Base partitions of all views, that of their mean, and what turns features of new samples into rows of both."""

    partitions: list[NDArray[Any]]
    average: NDArray[Any]
    projections: list[NDArray[Any]]


def leading_eigenvectors(matrix: Any, n_clusters: int) -> Leading:
    """Leading eigenvectors of a dense or sparse similarity, or of an operator."""
    values, vectors = top_eigenpairs(matrix, n_clusters)
    # Below a share of the largest, an eigenvalue is rounding error, and dividing by it would extend noise.
    inverse = inverse_values(values, values.dtype).astype(vectors.dtype)
    return Leading(vectors * (inverse > 0), inverse)


def operator_partitions(
    similarities: Sequence[Any],
    solved: Sequence[Leading | None],
    precisions: Sequence[Any],
    n_clusters: int,
    *,
    mean: NDArray[Any] | None = None,
) -> OperatorPartitions:
    """Base partitions of factors of any kind and of sparse graphs.

    Parameters
    ----------
    similarities : sequence of Factor or sparse matrix of shape (n_samples, n_samples)
    solved : sequence of Leading or None
        The leading eigenvectors of every graph; None for a factor.
    precisions : sequence of dtype
        Float type of every view, and of its partition.
    n_clusters : int
    mean : ndarray of shape (n_samples, n_samples), default=None
        The mean similarity where it has been formed, since some view is a dense kernel. Such a view needs no similarity
        of its own here, as long as it is solved.

    Returns
    -------
    OperatorPartitions
    """
    factors = [feature_matrix(one) if isinstance(one, Factor) else None for one in similarities]
    partitions, own = [], []
    for features, leading, precision in zip(factors, solved, precisions, strict=True):
        if leading is not None:
            partitions.append(leading.vectors)
            own.append(leading.vectors * leading.inverse_values)
        else:
            own.append(leading_projection(features, n_clusters, precision))
            partitions.append((features @ own[-1]).astype(precision))
    if len(partitions) == 1:  # the mean of one similarity is that similarity
        projection = np.concatenate([own[0], own[0]], axis=1).astype(precisions[0])
        return OperatorPartitions(partitions, partitions[0].copy(), [projection])
    average, shares = mean_partition(similarities, factors, mean, n_clusters, np.result_type(*precisions))
    projections = [
        np.concatenate(pair, axis=1).astype(precision) for *pair, precision in zip(own, shares, precisions, strict=True)
    ]
    return OperatorPartitions(partitions, average, projections)


def mean_partition(
    similarities: Sequence[Any], factors: Sequence[Any], mean: NDArray[Any] | None, n_clusters: int, precision: Any
) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """Leading eigenvectors of the mean similarity, and every view's share in what extends them to new samples.

    Parameters
    ----------
    similarities : sequence of sparse matrices of shape (n_samples, n_samples)
        Looked at where a view has no factor, and the mean has not been formed.
    factors : sequence of arrays, sparse matrices or operators of shape (n_samples, width_p), or None
    mean : ndarray of shape (n_samples, n_samples) or None
    n_clusters : int
    precision : dtype

    Returns
    -------
    average : ndarray of shape (n_samples, n_clusters)
    shares : list of ndarray of shape (width_p or n_samples, n_clusters)
    """
    features = [one for one in factors if one is not None]
    graphs = [one for one, factor in zip(similarities, factors, strict=True) if factor is None]
    if mean is not None:
        leading = leading_eigenvectors(mean, n_clusters)
    elif not graphs:
        stack = SideBySide(features)
        whole = scipy.sparse.hstack(features, format="csr") if all(map(scipy.sparse.issparse, features)) else stack
        projection = leading_projection(whole, n_clusters, precision)
        return (whole @ projection).astype(precision), stack.split(projection)
    elif features:
        leading = leading_eigenvectors(MeanSimilarity(features, graphs), n_clusters)
    else:
        leading = leading_eigenvectors(sum(graph * graph.dtype.type(1 / len(graphs)) for graph in graphs), n_clusters)
    extended = leading.vectors * (leading.inverse_values / len(similarities))
    shares = [extended if factor is None else factor.T @ extended for factor in factors]
    return leading.vectors.astype(precision), shares
