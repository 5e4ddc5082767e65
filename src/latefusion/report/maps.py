"""Maps in two dimensions, and the compact form in which they travel to the page."""

from __future__ import annotations

import base64
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from latefusion.arrays import namespace, unit_rows
from latefusion.plots.embedding import embed

METHODS = ("auto", "tsne", "pca")
# Samples that t-SNE arranges itself, in a large map and in a small one, and its iterations; all other samples are put
# between the nearest of these.
TSNE_SAMPLES, TSNE_ITERATIONS = 2000, 1000
SMALL_TSNE_SAMPLES, SMALL_TSNE_ITERATIONS = 600, 500
# Neighbours between which a sample is placed.
PLACING_NEIGHBORS = 5
LARGEST = 2**16 - 1


class Map(NamedTuple):
    """Positions of samples, and how they were found.

    Attributes
    ----------
    positions : ndarray of shape (n_samples, 2)
    method : str
        A sentence for the reader.
    """

    positions: NDArray[np.float64]
    method: str


def draw_map(
    rows: NDArray[Any], method: str = "auto", *, most: int = TSNE_SAMPLES, max_iter: int = TSNE_ITERATIONS
) -> Map:
    """Positions in two dimensions of samples that are near each other when their rows point the same way.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_components)
    method : {"auto", "tsne", "pca"}, default="auto"
        "auto" is t-SNE wherever rows have more than two columns.
    most : int, default=2000
        Samples that t-SNE arranges itself.
    max_iter : int, default=1000
        Its iterations.

    Returns
    -------
    Map
    """
    if method not in METHODS:
        raise ValueError(f"embedding must be one of {list(METHODS)}, got {method!r}.")
    rows = unit_rows(np.asarray(rows, dtype=np.float64), xp=namespace(np.empty(0)))
    n_samples, width = rows.shape
    if method == "pca" or n_samples < 5 or (method == "auto" and width <= 2):
        circle = " Rows of two numbers, brought to one length, lie on a circle." if width == 2 else ""
        return Map(embed(rows, "pca"), f"PCA: the two directions in which samples differ most.{circle}")
    if n_samples <= most:
        return Map(
            embed(rows, max_iter=max_iter),
            "t-SNE: neighbours stay neighbours; distances between far groups mean nothing.",
        )
    chosen = np.sort(np.random.default_rng(0).choice(n_samples, most, replace=False))
    placed = _place(rows, rows[chosen], embed(rows[chosen], max_iter=max_iter))
    return Map(
        placed,
        f"t-SNE of {most} random samples, the others placed between the nearest of these: neighbours stay neighbours; "
        "distances between far groups mean nothing.",
    )


def _place(
    rows: NDArray[np.float64], anchors: NDArray[np.float64], positions: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Every sample between the nearest anchors, the nearer the more."""
    finder = NearestNeighbors(n_neighbors=min(PLACING_NEIGHBORS, len(anchors))).fit(anchors)
    distances, neighbors = finder.kneighbors(rows)
    weights = 1 / (distances + 1e-3 * distances[:, -1:] + 1e-12) ** 2
    weights /= weights.sum(axis=1, keepdims=True)
    return np.einsum("nj,njd->nd", weights, positions[neighbors])


def quantize(positions: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Positions as whole numbers that fill the range of 16 bits in both directions."""
    low = positions.min(axis=0)
    extent = positions.max(axis=0) - low
    scaled = (positions - low) / np.where(extent > 0, extent, 1.0)
    return np.round(np.where(extent > 0, scaled, 0.5) * LARGEST).astype(np.uint16)


def pack(values: NDArray[Any]) -> str:
    """An array of whole numbers as base64 of its bytes, little end first."""
    return base64.b64encode(np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<")).tobytes()).decode()
