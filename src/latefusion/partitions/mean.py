"""M, the leading eigenvectors of the mean similarity of all views; nothing of size n x n is formed for it.

The mean similarity of factors Φ_p and graphs S_q is (Σ Φ_p Φ_pᵀ + Σ S_q) / m. Of graphs alone it is a sparse matrix, of
factors alone it is the factor [Φ_1 | … | Φ_m] / √m, and of both it is an operator that Lanczos multiplies vectors with.
If a view is a dense kernel, the mean is dense, and is summed view by view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.partitions.imputation import Fill
from latefusion.partitions.operators import MeanSimilarity, SideBySide, leading_eigenvectors, leading_projection
from latefusion.partitions.partitions import Block, Mean, Partitions
from latefusion.types import Array


class RunningMean:
    """Mean of matrices that are added one by one; dense if one of them is.

    Parameters
    ----------
    n_terms : int

    Attributes
    ----------
    value : ndarray or sparse matrix of shape (n_samples, n_samples) or None
        None if no matrix was added.
    """

    def __init__(self, n_terms: int) -> None:
        self.n_terms = n_terms
        self.value: Any = None

    def add(self, matrix: Any) -> None:
        """Add one of the matrices."""
        term = matrix * matrix.dtype.type(1.0 / self.n_terms)  # SciPy divides single precision into double
        if self.value is None:
            self.value = term
        elif scipy.sparse.issparse(self.value) or scipy.sparse.issparse(term):
            self.value = self.value + term
            if not scipy.sparse.issparse(self.value):
                self.value = np.asarray(self.value)
        else:
            self.value = self.value + term if self.value.dtype != term.dtype else np.add(self.value, term, self.value)


def mean_partition(
    graphs: Sequence[Any], factors: Sequence[Any], mean: NDArray[Any] | None, n_clusters: int, precision: Any
) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """Leading eigenvectors of the mean similarity, and the share of every view in their extension to new samples.

    Parameters
    ----------
    graphs : sequence of sparse matrices of shape (n_samples, n_samples), or None
        Used for views without a factor, if the mean has not been formed.
    factors : sequence of arrays, sparse matrices or operators of shape (n_samples, width_p), or None
    mean : ndarray of shape (n_samples, n_samples) or None
        The mean, if it has been formed.
    n_clusters : int
    precision : dtype

    Returns
    -------
    average : ndarray of shape (n_samples, n_clusters)
        M.
    shares : list of ndarray of shape (width_p or n_samples, n_clusters)
        N_p.
    """
    features = [one for one in factors if one is not None]
    others = [one for one, factor in zip(graphs, factors, strict=True) if factor is None]
    if mean is None and not others:
        stack = SideBySide(features)
        whole = scipy.sparse.hstack(features, format="csr") if all(map(scipy.sparse.issparse, features)) else stack
        projection = leading_projection(whole, n_clusters, precision)
        return (whole @ projection).astype(precision), stack.split(projection)
    if mean is not None:
        similarity: Any = mean
    elif features:
        similarity = MeanSimilarity(features, others)
    else:
        similarity = sum(graph * graph.dtype.type(1 / len(others)) for graph in others)
    average, extended = leading_eigenvectors(similarity, n_clusters)
    extended = extended * extended.dtype.type(1 / len(factors))
    return average.astype(precision), [extended if one is None else one.T @ extended for one in factors]


def partitions_with_mean(
    blocks: Sequence[Block],
    vectors: Sequence[Array],
    average: Array,
    shares: Sequence[Array],
    *,
    mask: NDArray[np.bool_] | None = None,
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
