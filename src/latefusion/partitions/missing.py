"""Views that are missing for some samples: similarities among all samples, and imputed rows of base partitions.

With S_p the similarity of the n_p samples that have view p, and E_p the matrix that puts their rows among all n (zero
rows for the others), the base partition is H_p = (n_p / n)^{1/2} E_p V_p. Fewer rows of orthonormal columns have larger
entries; the factor corrects for this, so that a view of few samples gains no weight. The mean similarity is

    D^{-1/2} (Σ_p E_p S_p E_pᵀ / m) D^{-1/2},    D the share of views that a sample has.

It compares two samples by the views that both have, and samples with few views have the same weight. Factors remain
factors, and graphs remain sparse.

Missing rows of H_p stay zero or are imputed, see `latefusion.partitions.imputation`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from latefusion.arrays import top_eigenpairs
from latefusion.partitions.imputation import Fill, fit_factor_model, sum_patterns
from latefusion.partitions.operators import inverse_values
from latefusion.partitions.partitions import Mean, Partitions

Mask = NDArray[np.bool_]


def scatter_rows(rows: NDArray[Any], observed: Mask) -> NDArray[Any]:
    """Rows of some samples among those of all; the others are zero."""
    everywhere = np.zeros((len(observed), *rows.shape[1:]), dtype=rows.dtype)
    everywhere[observed] = rows
    return everywhere


def scatter_similarity(similarity: Any, observed: Mask | None, factors: NDArray[np.float64] | None) -> Any:
    """E_p S_p E_pᵀ with rows and columns times factors.

    Parameters
    ----------
    similarity : ndarray or sparse matrix of shape (n_observed, n_observed)
    observed : ndarray of bool of shape (n_samples,) or None
        None if the view is not missing for any sample: then the similarity is returned unchanged.
    factors : ndarray of shape (n_samples,) or None
        D^{-1/2}.

    Returns
    -------
    ndarray or csr_array of shape (n_samples, n_samples)
    """
    if observed is None or factors is None:
        return similarity
    samples, n_samples = np.flatnonzero(observed), len(observed)
    if scipy.sparse.issparse(similarity):
        entries = similarity.tocoo()
        rows, columns = samples[entries.row], samples[entries.col]
        values = entries.data * (factors[rows] * factors[columns]).astype(entries.dtype)
        return scipy.sparse.csr_array((values, (rows, columns)), shape=(n_samples, n_samples))
    everywhere = np.zeros((n_samples, n_samples), dtype=similarity.dtype)
    everywhere[np.ix_(samples, samples)] = similarity * (factors[samples, None] * factors[samples])
    return everywhere


class ScatteredRows(LinearOperator):
    """The same of a factor: E_p Φ_p with rows times factors.

    Parameters
    ----------
    features : array, sparse matrix or operator of shape (n_observed, width)
    observed : ndarray of bool of shape (n_samples,)
    factors : ndarray of shape (n_samples,)
    """

    def __init__(self, features: Any, observed: Mask, factors: NDArray[np.float64]) -> None:
        self.features = features
        self.samples = np.flatnonzero(observed)
        self.factors = factors[self.samples, None]
        super().__init__(np.dtype(np.float64), (len(observed), features.shape[1]))

    def _matmat(self, right: NDArray[Any]) -> NDArray[Any]:
        rows = np.zeros((self.shape[0], right.shape[1]))
        rows[self.samples] = self.factors * (self.features @ right)
        return rows

    def _rmatvec(self, left: NDArray[Any]) -> Any:
        return self._rmatmat(left.reshape(-1, 1)).reshape(-1)  # SciPy before 1.16 does not do so by itself

    def _rmatmat(self, left: NDArray[Any]) -> Any:
        return self.features.T @ (self.factors * left[self.samples])


def impute_partitions(partitions: Partitions) -> Partitions:
    """Impute missing rows of base partitions, those of training samples and those of new samples.

    Parameters
    ----------
    partitions : Partitions
        With zeros for missing views of training samples; then M is not needed.

    Returns
    -------
    Partitions
        If training samples have missing views, M consists of the leading directions of all imputed H_p together.
    """
    rows, n_views = np.concatenate(partitions.vectors, axis=1), len(partitions.blocks)
    mask, n_clusters = partitions.mask, rows.shape[1] // n_views
    owners = np.repeat(np.arange(n_views), n_clusters)
    everything = np.ones((len(rows), n_views), dtype=bool)
    model = fit_factor_model(sum_patterns(rows, everything if mask is None else mask, owners), owners, n_clusters)
    if mask is None:
        assert partitions.mean is not None
        assert partitions.fill is not None
        of_mean = np.repeat([block.view for block in partitions.mean.blocks], n_clusters)
        return replace(partitions, fill=replace(partitions.fill, model=model.joined(of_mean)))
    rows = model.impute(rows, mask)
    exact = rows.astype(np.float64)
    values, vectors = top_eigenpairs(exact.T @ exact, n_clusters)
    mixing = vectors * np.sqrt(inverse_values(values, partitions.dtype))
    average = (rows @ mixing).astype(partitions.dtype)
    return replace(
        partitions,
        vectors=tuple(np.split(rows, n_views, axis=1)),
        mean=Mean(average, partitions.blocks, mixing),
        fill=Fill(np.zeros(2 * len(owners), dtype=bool), model.joined(owners, model.loadings)),
    )
