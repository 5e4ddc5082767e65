"""Interfaces of similarities: a matrix or factor of the training samples, and features of new samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from latefusion.types import Array

ReadRows = Callable[[NDArray[np.intp]], Array]
"""From positions of training samples to their rows in a view."""


class SimilarityExtension(Protocol):
    """Relates new samples to the training samples of one view."""

    def features(self, view: Array, diagonal: NDArray[Any] | None = None) -> Any:
        """Features φ(x): their product with a projection gives partition rows, shape (n_new, n_features)."""
        ...

    def closeness(self, view: Array, features: Any = None) -> NDArray[Any]:
        """Values that rank neighborhoods, dense, shape (n_new, n_columns).

        ``features`` are those of the view, if they have been computed. The extension of a similarity that is not a
        dense array also has a method ``with_columns(view, samples)``, which returns the extension whose columns are
        these samples of the training view.
        """
        ...


class Similarity(Protocol):
    """A way to compare the samples of one view: `KernelSimilarity`, `GraphSimilarity`, or any other such object."""

    def similarity(self, view: Array, n_clusters: int) -> tuple[Any, SimilarityExtension]:
        """Similarity of the training samples (dense, sparse, or a `Factor`) and its extension to new samples."""
        ...


@dataclass(frozen=True, eq=False)
class FeatureFitter:
    """Fits a feature map from a few rows of a view and its column means.

    The rows are drawn before the view is read, so that one pass over a chunked view collects all of them.

    Attributes
    ----------
    rows : ndarray of int
        Positions of the rows that `fit` reads.
    fit : callable
        Takes `ReadRows`, which returns the rows at some of these positions, and the column means of all rows in double
        precision. Returns the feature map as an extension to new samples.
    """

    rows: NDArray[np.intp]
    fit: Callable[[ReadRows, Array], Any]
