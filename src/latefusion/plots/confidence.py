"""Confidence of the samples of every cluster."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from latefusion.plots.canvas import Display, cluster_colors


class ConfidenceDisplay(Display):
    """Box plots of the confidence per cluster: boxes show quartiles, whiskers the middle 90 %.

    Options go to `matplotlib.axes.Axes.boxplot`.

    Parameters
    ----------
    confidence : array of shape (n_samples,)
        From 0, between two clusters, to 1.
    labels : array of shape (n_samples,)

    Attributes
    ----------
    boxes_ : dict of lists of matplotlib artists
        As `matplotlib.axes.Axes.boxplot` returns them.
    """

    def __init__(self, confidence: Any, labels: Any) -> None:
        self.confidence = np.asarray(confidence, dtype=np.float64)
        self.labels = np.asarray(labels)

    @classmethod
    def _of(cls, estimator: Any) -> Self:
        return cls(estimator.confidence_, estimator.labels_)

    def _draw(self, ax: Any, options: dict[str, Any]) -> None:
        clusters, sizes = np.unique(self.labels, return_counts=True)
        groups = [self.confidence[self.labels == one] for one in clusters]
        rows = np.arange(len(clusters))[::-1]
        style = {"whis": (5, 95), "widths": 0.6, "patch_artist": True, "showfliers": False} | options
        self.boxes_ = ax.boxplot(groups, positions=rows, orientation="horizontal", **style)
        for box, median, color in zip(
            self.boxes_["boxes"], self.boxes_["medians"], cluster_colors(len(clusters)), strict=True
        ):
            if hasattr(box, "set_facecolor"):
                box.set_facecolor(color)
            median.set(color="black", linewidth=2)
        ax.set_yticks(rows, [f"{one} ({size})" for one, size in zip(clusters, sizes, strict=True)])
        ax.set_xlim(0, 1)
        ax.set(xlabel="confidence: 0 between two clusters, 1 at the centre of one", ylabel="cluster (samples)")
