"""The samples in the consensus space, coloured by cluster."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from latefusion.plots.canvas import Display, cluster_colors, cluster_legend, shown_samples
from latefusion.plots.embedding import METHODS, embed

# With more samples t-SNE takes over a minute; an evenly spaced subset shows the same structure.
MOST_POINTS = 5000


class ConsensusDisplay(Display):
    """Map of the consensus partition in two dimensions; options go to `matplotlib.axes.Axes.scatter`.

    Parameters
    ----------
    positions : array of shape (n_samples, 2)
    labels : array of shape (n_samples,)
    confidence : array of shape (n_samples,), default=None
        Samples with low confidence are drawn paler.
    method : str, default=""
        How the positions were found, for the axis labels.
    clusters : sequence, default=None
        All clusters, for the assignment of colours; by default those in ``labels``.

    Attributes
    ----------
    points_ : matplotlib PathCollection
    """

    framed: ClassVar[bool] = True

    def __init__(
        self, positions: Any, labels: Any, *, confidence: Any = None, method: str = "", clusters: Any = None
    ) -> None:
        self.positions = np.asarray(positions)
        self.labels = np.asarray(labels)
        self.confidence = None if confidence is None else np.asarray(confidence)
        self.method = method
        self.clusters = np.unique(self.labels if clusters is None else clusters)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, method: str = "tsne", ax: Any = None, random_state: Any = 0, **kwargs: Any
    ) -> Self:
        """Draw the consensus of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with ``consensus_`` and ``labels_``
        method : {"tsne", "pca", "umap"}, default="tsne"
        ax : matplotlib Axes, default=None
        random_state : int, RandomState or None, default=0
            Start of t-SNE and UMAP.
        **kwargs : keyword arguments
            Passed to `matplotlib.axes.Axes.scatter`.

        Returns
        -------
        ConsensusDisplay
        """
        shown = shown_samples(len(estimator.labels_), MOST_POINTS)
        confidence = getattr(estimator, "confidence_", None)
        display = cls(
            embed(np.asarray(estimator.consensus_)[shown], method, random_state=random_state),
            estimator.labels_[shown],
            confidence=None if confidence is None else confidence[shown],
            method=METHODS[method],
            clusters=estimator.labels_,
        )
        return display.plot(ax=ax, **kwargs)

    def _draw(self, ax: Any, options: dict[str, Any]) -> None:
        colors = cluster_colors(len(self.clusters))
        shades = colors[np.searchsorted(self.clusters, self.labels)]
        if self.confidence is not None:
            shades[:, 3] = 0.25 + 0.7 * np.clip(self.confidence, 0, 1)
        # One call for all points, in the order of the samples, so that no cluster covers another.
        self.points_ = ax.scatter(*self.positions.T, **({"s": 9, "linewidths": 0, "color": shades} | options))
        cluster_legend(ax, self.clusters, colors)
        ax.set(xlabel=f"{self.method} 1".strip(), ylabel=f"{self.method} 2".strip(), xticks=[], yticks=[])
