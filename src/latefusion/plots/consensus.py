"""The samples in the consensus space, coloured by cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

from latefusion.arrays import namespace, unit_rows
from latefusion.plots.canvas import cluster_colors, get_axes

# t-SNE needs a minute beyond this many samples; an evenly spaced subset shows the same picture.
MOST_POINTS = 5000
MOST_LEGEND_ENTRIES = 20


class ConsensusDisplay:
    """Map of the consensus partition in two dimensions.

    Parameters
    ----------
    positions : array of shape (n_samples, 2)
    labels : array of shape (n_samples,)
    confidence : array of shape (n_samples,), default=None
        Unsure samples are drawn paler.
    method : str, default=""
        How the positions were found, for the axis labels.

    Attributes
    ----------
    points_ : matplotlib PathCollection
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(self, positions: Any, labels: Any, *, confidence: Any = None, method: str = "") -> None:
        self.positions = np.asarray(positions)
        self.labels = np.asarray(labels)
        self.confidence = None if confidence is None else np.asarray(confidence)
        self.method = method

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, method: str = "tsne", ax: Any = None, random_state: Any = 0, **kwargs: Any
    ) -> Any:
        """Draw the consensus of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with ``consensus_`` and ``labels_``
        method : {"tsne", "pca"}, default="tsne"
        ax : matplotlib Axes, default=None
        random_state : int, RandomState or None, default=0
            Start of t-SNE.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.scatter`.

        Returns
        -------
        ConsensusDisplay
        """
        n_samples = len(estimator.labels_)
        shown = np.linspace(0, n_samples - 1, min(n_samples, MOST_POINTS)).astype(np.intp)
        consensus = np.asarray(estimator.consensus_)[shown]
        rows = unit_rows(consensus, xp=namespace(consensus))
        confidence = getattr(estimator, "confidence_", None)
        display = cls(
            _reduce(rows, method, random_state),
            estimator.labels_[shown],
            confidence=None if confidence is None else confidence[shown],
            method={"tsne": "t-SNE", "pca": "PCA"}[method],
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            A new figure when None.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.scatter`.

        Returns
        -------
        self
        """
        ax = get_axes(ax)
        clusters, members = np.unique(self.labels, return_inverse=True)
        colors = cluster_colors(len(clusters))
        shades = colors[members]
        if self.confidence is not None:
            shades[:, 3] = 0.25 + 0.7 * np.clip(self.confidence, 0, 1)
        # One call for all points: drawn in order of the samples, no cluster covers another.
        self.points_ = ax.scatter(*self.positions.T, **({"s": 9, "linewidths": 0, "color": shades} | kwargs))
        if len(clusters) <= MOST_LEGEND_ENTRIES:
            handles = [
                ax.scatter([], [], s=30, color=[color], label=str(c)) for c, color in zip(clusters, colors, strict=True)
            ]
            ax.legend(handles=handles, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), title="cluster")
        ax.set(xlabel=f"{self.method} 1".strip(), ylabel=f"{self.method} 2".strip(), xticks=[], yticks=[])
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _reduce(rows: Any, method: str, random_state: Any) -> Any:
    if method == "pca" or rows.shape[1] < 2 or len(rows) < 5:
        width = min(2, *rows.shape)
        positions = PCA(width, random_state=random_state).fit_transform(rows)
        return np.pad(positions, ((0, 0), (0, 2 - width)))
    if method == "tsne":
        perplexity = min(30.0, (len(rows) - 1) / 3)
        return TSNE(2, perplexity=perplexity, init="random", random_state=random_state).fit_transform(rows)
    raise ValueError(f"method must be 'tsne' or 'pca', got {method!r}.")
