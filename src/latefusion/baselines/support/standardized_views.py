"""Standardised views, which may be operators, and clusterings to start from that do not depend on the order of samples.

A standardised view X̃ (n x d) has columns with mean zero and sample standard deviation one (divisor n - 1); a constant
column becomes zero. A dense view is copied. A sparse view X stays sparse: X̃ = X S - 1 (μᵀS) is an operator, which only
has products.

The start of an alternating method is a k-means clustering of the principal scores of all views side by side, each view
divided by its norm. K-means++ draws samples by their position, so the samples are sorted first, by the length of
their scores: a permutation of the samples permutes the clustering, and the order of the views has no effect. Samples of
equal length that differ, as in views with few different values, keep their order.

Cost: O(n D q) per product with q vectors, D columns in all; memory of one copy of the dense views.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from latefusion.arrays import namespace, rounding_threshold, row_blocks, top_eigenpairs
from latefusion.assignment.kmeans import kmeans
from latefusion.similarities.centered_rows import CenteredRows, centered_lengths
from latefusion.types import Array

# A column whose deviation is below this share of its largest magnitude is constant up to rounding.
CONSTANT = 1e-14
# Entries of a block of distances or of rows.
BLOCK_ENTRIES = 2**22


def standardize_columns(view: Array) -> Array:
    """Columns with mean zero and sample standard deviation one; a constant column becomes zero.

    Parameters
    ----------
    view : ndarray or sparse matrix of shape (n_samples, n_features)

    Returns
    -------
    ndarray or CenteredRows of shape (n_samples, n_features)
        In double precision. An operator if the view is sparse.
    """
    degrees = max(view.shape[0] - 1, 1)
    if scipy.sparse.issparse(view):
        rows = scipy.sparse.csr_array(view, dtype=np.float64)
        mean = np.asarray(rows.sum(axis=0)).ravel() / rows.shape[0]
        columns = scipy.sparse.csc_array(rows)
        entries = np.diff(columns.indptr)
        deviations = columns.data - np.repeat(mean, entries)
        squares = np.bincount(np.repeat(np.arange(len(mean)), entries), deviations**2, len(mean))
        squares += (rows.shape[0] - entries) * mean**2
        largest = np.asarray(abs(columns).max(axis=0).toarray()).ravel()
        scale = _inverse_deviations(np.sqrt(squares / degrees), largest)
        return CenteredRows((rows @ scipy.sparse.diags_array(scale)).tocsr(), mean * scale, np.ones(rows.shape[0]))
    standardized = np.array(view, dtype=np.float64, order="C")
    largest = np.maximum(standardized.max(axis=0), -standardized.min(axis=0))
    standardized -= standardized.mean(axis=0)
    deviations = np.sqrt(np.einsum("ij,ij->j", standardized, standardized) / degrees)
    standardized *= _inverse_deviations(deviations, largest)
    return standardized


def _inverse_deviations(deviations: NDArray[Any], largest: NDArray[Any]) -> NDArray[Any]:
    varies = deviations > CONSTANT * largest
    inverse: NDArray[Any] = varies / np.where(varies, deviations, 1.0)
    return inverse


def squared_norm(view: Array) -> float:
    """Sum of the squared entries of a dense view or of an operator."""
    if isinstance(view, np.ndarray):
        return float(np.vdot(view, view))
    return float(np.sum(centered_lengths(view.rows, view.mean) ** 2))


def cluster_sums(view: Array, indicator: scipy.sparse.csr_array) -> NDArray[Any]:
    """Sums of the rows of a view over clusters, X̃ᵀY.

    Parameters
    ----------
    view : ndarray or CenteredRows of shape (n_samples, n_features)
    indicator : csr_array of shape (n_samples, n_clusters)
        Y, from `one_hot`.

    Returns
    -------
    ndarray of shape (n_features, n_clusters)
    """
    if isinstance(view, np.ndarray):
        sums: NDArray[Any] = (indicator.T @ view).T
    else:
        sums = view.T @ indicator.toarray()
    return sums


def one_hot(labels: NDArray[np.intp], n_clusters: int) -> scipy.sparse.csr_array:
    """Indicator matrix of labels; a row with the label -1 is empty.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
    n_clusters : int

    Returns
    -------
    csr_array of shape (n_samples, n_clusters)
    """
    labelled = labels >= 0
    starts = np.concatenate([[0], np.cumsum(labelled)])
    return scipy.sparse.csr_array(
        (np.ones(starts[-1]), labels[labelled], starts), shape=(len(labels), n_clusters), dtype=np.float64
    )


class _ColumnProducts(LinearOperator):
    """X̃ᵀX̃ of all views side by side, each divided by its norm, by products with vectors."""

    def __init__(self, views: Sequence[Array], scales: Sequence[float]) -> None:
        self.views, self.scales = views, scales
        widths = [view.shape[1] for view in views]
        self.columns = [slice(end - width, end) for width, end in zip(widths, np.cumsum(widths).tolist(), strict=True)]
        super().__init__(np.dtype(np.float64), (sum(widths), sum(widths)))

    def scores(self, vectors: NDArray[Any]) -> NDArray[Any]:
        """Products of the views with vectors, shape (n_samples, n_vectors)."""
        total: NDArray[Any] = np.zeros((self.views[0].shape[0], vectors.shape[1]))
        for view, scale, own in zip(self.views, self.scales, self.columns, strict=True):
            total += view @ (scale * vectors[own])
        return total

    def _matmat(self, vectors: NDArray[Any]) -> NDArray[Any]:
        # In blocks, so that a product with all unit vectors takes no copy of the views.
        width = max(1, BLOCK_ENTRIES // self.views[0].shape[0])
        return np.concatenate([self._block(vectors[:, own]) for own in row_blocks(vectors.shape[1], width)], axis=1)

    def _block(self, vectors: NDArray[Any]) -> NDArray[Any]:
        scores = self.scores(vectors)
        pairs = zip(self.views, self.scales, strict=True)
        return np.concatenate([scale * (view.T @ scores) for view, scale in pairs])

    def _matvec(self, vector: NDArray[Any]) -> NDArray[Any]:
        return self._matmat(vector.reshape(-1, 1)).reshape(-1)


def principal_scores(views: Sequence[Array], n_components: int) -> NDArray[Any]:
    """Scores of the samples on the leading principal directions of all views side by side.

    Parameters
    ----------
    views : sequence of ndarray or CenteredRows of shape (n_samples, n_features_p)
        Columns with mean zero. Every view is divided by its norm.
    n_components : int

    Returns
    -------
    ndarray of shape (n_samples, n_components)
        Columns beyond the rank of the views are zero. Only inner products of rows have a meaning.
    """
    norms = [squared_norm(view) for view in views]
    scales = [(views[0].shape[0] / norm) ** 0.5 if norm > 0 else 0.0 for norm in norms]
    products = _ColumnProducts(views, scales)
    values, vectors = top_eigenpairs(products, min(n_components, products.shape[0]))
    present = values > rounding_threshold(np.finfo(np.float64).eps, values[0])
    scores = np.zeros((views[0].shape[0], n_components))
    scores[:, : np.count_nonzero(present)] = products.scores(vectors[:, present])
    return scores


def sort_rows(rows: Array) -> NDArray[np.intp]:
    """Positions of the rows in the order of their distance to the mean: an order that permutations do not change.

    Parameters
    ----------
    rows : ndarray or sparse matrix of shape (n_samples, n_features)

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    mean = np.asarray(rows.mean(axis=0)).ravel()
    return np.argsort(centered_lengths(rows, mean), kind="stable")


def cluster_rows(
    rows: NDArray[Any], n_clusters: int, *, n_init: int, generator: np.random.RandomState
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """K-means whose result is permuted alike when the rows are permuted.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_features)
    n_clusters : int
    n_init : int
        Number of k-means++ starts.
    generator : RandomState

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        Clusters may be empty if there are fewer different rows.
    centers : ndarray of shape (n_clusters, n_features)
    """
    centers = kmeans(rows[sort_rows(rows)], n_clusters, n_init=n_init, generator=generator, xp=namespace(rows))
    return nearest_centers(rows, centers), centers


def kmeans_labels(
    views: Sequence[Array], n_clusters: int, *, n_init: int, generator: np.random.RandomState
) -> NDArray[np.intp]:
    """Labels by k-means of the principal scores of all views side by side; no effect of the order of samples."""
    return cluster_rows(principal_scores(views, n_clusters), n_clusters, n_init=n_init, generator=generator)[0]


def nearest_centers(rows: NDArray[Any], centers: NDArray[Any]) -> NDArray[np.intp]:
    """The nearest center of every row; the first of equally near ones."""
    half_norms = np.einsum("ij,ij->i", centers, centers) / 2
    block = max(1, BLOCK_ENTRIES // len(centers))
    parts = [np.argmax(rows[part] @ centers.T - half_norms, axis=1) for part in row_blocks(len(rows), block)]
    return np.concatenate(parts)
