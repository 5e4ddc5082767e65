"""Samples in two dimensions, for maps in figures and in reports."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from latefusion.arrays import namespace, orient_columns, unit_rows

# Methods, and their names on axes.
METHODS = {"tsne": "t-SNE", "pca": "PCA", "umap": "UMAP"}
# t-SNE and UMAP need more neighbors than fewer samples have.
LEAST_SAMPLES = 5
# Of the approximation of t-SNE: twice as fast as 0.5, with the same neighbours (trustworthiness equal to 0.001).
ANGLE = 0.8


def embed(rows: Any, method: str = "tsne", *, max_iter: int = 1000, random_state: Any = 0) -> NDArray[np.float64]:
    """Positions of samples in two dimensions; samples are close if their rows have similar directions.

    The directions of rows with two components are points of a circle, so the rows themselves are used.

    Parameters
    ----------
    rows : array of shape (n_samples, n_components)
    method : {"tsne", "pca", "umap"}, default="tsne"
        "umap" needs umap-learn. PCA is used for fewer than five samples and for rows with one column.
    max_iter : int, default=1000
        Iterations of t-SNE.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    ndarray of shape (n_samples, 2)
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {list(METHODS)}, got {method!r}.")
    rows = np.asarray(rows, dtype=np.float64)
    if rows.shape[1] != 2:
        rows = unit_rows(rows, xp=namespace(rows))
    if method == "pca" or len(rows) < LEAST_SAMPLES or rows.shape[1] < 2:
        return _principal(rows)
    if method == "umap":
        return _umap(rows, random_state)
    # With several threads the order of sums varies, and t-SNE amplifies rounding errors to another map.
    with threadpool_limits(1):
        options = {"perplexity": min(30.0, (len(rows) - 1) / 3), "max_iter": max_iter, "random_state": random_state}
        return np.asarray(
            TSNE(2, init="pca", angle=ANGLE, **options).fit_transform(_break_ties(rows)), dtype=np.float64
        )


def _principal(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coordinates along the two directions of largest variance. Works without variance, where PCA divides by zero."""
    centered = rows - rows.mean(axis=0)
    _, vectors = np.linalg.eigh(centered.T @ centered)
    found = centered @ orient_columns(vectors[:, ::-1][:, :2])
    return np.pad(found, ((0, 0), (0, 2 - found.shape[1])))


def _break_ties(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add tiny noise, because t-SNE divides by the variance, which is zero if all rows are equal."""
    return rows + 1e-6 * np.random.default_rng(0).standard_normal(rows.shape)


def _umap(rows: NDArray[np.float64], random_state: Any) -> NDArray[np.float64]:
    try:
        from umap import UMAP
    except ImportError as error:
        raise ImportError("method='umap' needs UMAP: pip install umap-learn, or use method='tsne'.") from error
    found = UMAP(n_neighbors=min(15, len(rows) - 1), random_state=random_state, n_jobs=1).fit_transform(rows)
    return np.asarray(found, dtype=np.float64)
