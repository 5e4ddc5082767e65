"""Linear discriminants: labels from scores that are linear in the rows of an embedding and in their directions.

Nearest centers describe round clusters of equal size. A linear discriminant with a covariance that all clusters share,
and with the sizes of clusters as prior probabilities, describes long and unequal ones as well, and can reproduce
clusterings that were not made by k-means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.covariance import ledoit_wolf

from latefusion.arrays import beside, is_device_array, map_rows, namespace, smallest_values, unit_rows
from latefusion.types import Array

# Change of the posterior probabilities at which the mixture has converged, and the cap on its iterations.
MIXTURE_TOLERANCE = 1e-3
MIXTURE_STEPS = 30
# Added to the covariance of the mixture, relative to its mean variance.
MIXTURE_RIDGE = 1e-3
# Least variance of a column within clusters, whose scale is one; without it, clusters of one sample each have none.
RIDGE = 1e-6


@dataclass(frozen=True)
class LinearDiscriminant:
    """The cluster with the largest score s = (f / ‖f‖) A + f B + c of an embedding row f.

    Scores are logarithms of posterior probabilities up to a constant.

    Attributes
    ----------
    directions : ndarray of shape (n_components, n_clusters)
        A.
    rows : ndarray of shape (n_components, n_clusters)
        B.
    intercept : ndarray of shape (n_clusters,)
        c; -inf for an empty cluster.
    """

    directions: NDArray[Any]
    rows: NDArray[Any]
    intercept: NDArray[Any]

    def predict(self, embedding: Array) -> Array:
        """Labels of the rows."""
        return map_rows(lambda rows: namespace(rows).argmax(self._scores(rows), axis=1), embedding)

    def scores(self, embedding: Array) -> Array:
        """Logarithms of posterior probabilities up to a constant; -inf for an empty cluster."""
        return map_rows(self._scores, embedding)

    def confidence(self, embedding: Array) -> Array:
        """Difference of the two largest posterior probabilities."""
        return map_rows(self._confidence, embedding)

    def _confidence(self, embedding: Array) -> Array:
        xp = namespace(embedding)
        if len(self.intercept) == 1:
            return xp.ones_like(embedding[:, 0])
        scores = self._scores(embedding)
        if is_device_array(scores):
            exponentials = xp.exp(scores - xp.max(scores, axis=1, keepdims=True))
            largest = -smallest_values(-exponentials / xp.sum(exponentials, axis=1, keepdims=True), 2)
        else:
            largest = -np.partition(-softmax(scores, axis=1), 1, axis=1)[:, :2]
        return xp.astype(largest[:, 0] - largest[:, 1], embedding.dtype)

    def _scores(self, embedding: Array) -> Array:
        xp = namespace(embedding)
        rows = xp.astype(embedding, xp.float64, copy=False)
        directions, own, intercept = (beside(one, rows) for one in (self.directions, self.rows, self.intercept))
        return unit_rows(rows, xp=xp) @ directions + rows @ own + intercept


def fit_linear_discriminant(embedding: NDArray[Any], labels: NDArray[np.intp], n_clusters: int) -> LinearDiscriminant:
    """The linear discriminant of given clusters, on rows beside their directions.

    Parameters
    ----------
    embedding : ndarray of shape (n_samples, n_components)
    labels : ndarray of shape (n_samples,)
    n_clusters : int

    Returns
    -------
    LinearDiscriminant

    Notes
    -----
    The covariance within clusters is shrunk by the formula of Ledoit and Wolf, after every column has been divided by
    its deviation within clusters.
    """
    rows = np.asarray(embedding, dtype=np.float64)
    n_components = rows.shape[1]
    features = np.hstack([unit_rows(rows, xp=np), rows])
    weights = np.eye(n_clusters)[labels]
    scale = np.sqrt(np.mean((features - weights @ _means(features, weights)) ** 2, axis=0))
    # A column that is constant within clusters has a deviation of zero, or of rounding errors of the embedding.
    rounding = np.finfo(np.result_type(embedding.dtype, np.float32)).eps
    scale = np.maximum(scale, np.sqrt(rounding * np.mean(features**2, axis=0)))
    scale[scale == 0] = 1.0
    features = features / scale
    # The intercepts of all clusters share a term that is huge for columns that hardly vary, as the leading eigenvector
    # of a graph. Without it, differences between clusters are not rounding errors.
    center = features.mean(axis=0)
    features -= center
    means = _means(features, weights)
    covariance, _ = ledoit_wolf(features - weights @ means, assume_centered=True)
    covariance += RIDGE * np.eye(len(covariance))
    coefficients, intercept = _discriminant(means, covariance, weights.sum(axis=0))
    intercept = intercept - center @ coefficients
    coefficients = coefficients / scale[:, None]
    return LinearDiscriminant(coefficients[:n_components], coefficients[n_components:], intercept)


def fit_mixture(embedding: NDArray[Any], labels: NDArray[np.intp], n_clusters: int) -> LinearDiscriminant:
    """A mixture of Gaussians with a common covariance on the directions of rows, by expectation maximization.

    Parameters
    ----------
    embedding : ndarray of shape (n_samples, n_components)
    labels : ndarray of shape (n_samples,)
        Clusters to start from.
    n_clusters : int

    Returns
    -------
    LinearDiscriminant
        The posterior probabilities of the mixture.
    """
    units = unit_rows(np.asarray(embedding, dtype=np.float64), xp=np)
    n_samples, n_components = units.shape
    total = units.T @ units / n_samples
    posteriors = np.eye(n_clusters)[labels]
    for _ in range(MIXTURE_STEPS):
        sizes, means = posteriors.sum(axis=0), _means(units, posteriors)
        covariance = total - (means.T * sizes) @ means / n_samples
        ridge = MIXTURE_RIDGE * np.trace(covariance) / n_components + np.finfo(np.float64).eps
        coefficients, intercept = _discriminant(means, covariance + ridge * np.eye(n_components), sizes)
        previous, posteriors = posteriors, softmax(units @ coefficients + intercept, axis=1)
        if np.max(np.abs(posteriors - previous)) < MIXTURE_TOLERANCE:
            break
    return LinearDiscriminant(coefficients, np.zeros_like(coefficients), intercept)


def _means(features: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
    """Weighted means of the clusters; zero for an empty one."""
    sizes = weights.sum(axis=0)
    means: NDArray[Any] = weights.T @ features / np.where(sizes > 0, sizes, 1.0)[:, None]
    return means


def _discriminant(
    means: NDArray[Any], covariance: NDArray[Any], sizes: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Coefficients and intercepts of log posteriors: Σ⁻¹μ and -μᵀΣ⁻¹μ / 2 + log π."""
    coefficients = np.linalg.lstsq(covariance, means.T, rcond=None)[0]
    with np.errstate(divide="ignore"):
        priors = np.log(sizes / sizes.sum())
    return coefficients, priors - 0.5 * np.sum(means * coefficients.T, axis=1)
