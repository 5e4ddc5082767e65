"""What every similarity provides: a matrix or factor for the training samples, and features for new samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from latefusion.types import Array


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


@dataclass(frozen=True)
class LinearFeatures:
    """The extension of a similarity whose features are the coordinates themselves."""

    def features(self, view: Array, diagonal: NDArray[Any] | None = None) -> Array:
        """The coordinates."""
        return view

    def closeness(self, view: Array, features: Array = None) -> Array:
        """Not available: the training samples are not kept."""
        raise TypeError("A consensus of labelings has no neighborhoods.")
