"""Similarities of samples in the consensus. Clear clusters appear as blocks along the diagonal."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from latefusion.arrays import namespace, unit_rows
from latefusion.metrics import encode_labels
from latefusion.plots.canvas import Display, shown_samples

# More could not be told apart on a screen.
MOST_SAMPLES = 600


class BlockAffinityDisplay(Display):
    """Cosines between the consensus rows of samples, F Fᵀ with rows of unit length, in the order of the clusters.

    Options go to `matplotlib.axes.Axes.imshow`.

    Parameters
    ----------
    consensus : array of shape (n_samples, n_clusters)
    labels : array of shape (n_samples,)

    Attributes
    ----------
    order : ndarray of shape (n_shown,)
        Samples from top to bottom: by cluster, the most typical samples first. At most 600, evenly spaced.
    affinity : ndarray of shape (n_shown, n_shown)
    image_ : matplotlib AxesImage
    """

    framed: ClassVar[bool] = True

    def __init__(self, consensus: Any, labels: Any) -> None:
        consensus, self.labels = np.asarray(consensus, dtype=np.float64), np.asarray(labels)
        rows = unit_rows(consensus, xp=namespace(consensus))
        self.clusters, codes = encode_labels(self.labels)
        centers = np.stack([rows[codes == code].mean(axis=0) for code in range(len(self.clusters))])
        typical = np.einsum("nk,nk->n", rows, centers[codes])
        self.order = np.lexsort((-typical, codes))[shown_samples(len(rows), MOST_SAMPLES)]
        self.affinity = rows[self.order] @ rows[self.order].T

    @classmethod
    def _of(cls, estimator: Any) -> Self:
        return cls(estimator.consensus_, estimator.labels_)

    def _draw(self, ax: Any, options: dict[str, Any]) -> None:
        style = {"cmap": "cividis", "vmin": 0.0, "vmax": 1.0, "interpolation": "nearest"} | options
        self.image_ = ax.imshow(self.affinity, **style)
        shown = self.labels[self.order]
        ends = np.searchsorted(shown, self.clusters, side="right")
        starts = np.searchsorted(shown, self.clusters, side="left")
        for end in ends[:-1]:
            ax.axhline(end - 0.5, color="white", linewidth=0.8)
            ax.axvline(end - 0.5, color="white", linewidth=0.8)
        present = ends > starts  # the smallest clusters may have no sample among those shown
        positions = ((starts + ends - 1) / 2)[present]
        names = [str(name) for name in self.clusters[present]]
        ax.set_xticks(positions, names)
        ax.set_yticks(positions, names)
        ax.tick_params(length=0)
        ax.set(xlabel="samples by cluster", ylabel="samples by cluster")
        ax.figure.colorbar(self.image_, ax=ax, label="similarity in the consensus")
