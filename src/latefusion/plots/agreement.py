"""Agreement of the views with each other and with the consensus."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from latefusion.metrics import encode_labels, pairwise_agreement
from latefusion.plots.canvas import LONGEST_NAME, Display, middle_cut

# With more names, the numbers would be too small to read.
MOST_WRITTEN = 12


class ViewAgreementDisplay(Display):
    """Adjusted Rand index between the clusters of single views and those of the consensus.

    Options go to `matplotlib.axes.Axes.imshow`.

    Parameters
    ----------
    table : array of shape (n_names, n_names)
        NaN where two views have no samples in common.
    names : sequence of str

    Attributes
    ----------
    image_ : matplotlib AxesImage
    """

    framed: ClassVar[bool] = True

    def __init__(self, table: Any, names: Any) -> None:
        self.table = np.asarray(table, dtype=np.float64)
        self.names = [str(name) for name in names]

    @classmethod
    def _of(cls, estimator: Any) -> Self:
        labels = {str(name): own for name, own in zip(estimator.view_names_, estimator.view_labels().T, strict=True)}
        labels = {name: own for name, own in labels.items() if (own >= 0).any()}
        labels["consensus"] = encode_labels(estimator.labels_)[1]
        return cls(pairwise_agreement(list(labels.values())), labels)

    def _draw(self, ax: Any, options: dict[str, Any]) -> None:
        style = {"cmap": "cividis", "vmin": 0.0, "vmax": 1.0} | options
        self.image_ = ax.imshow(self.table, **style)
        positions = np.arange(len(self.names))
        names = [middle_cut(name, LONGEST_NAME) for name in self.names]
        ax.set_xticks(positions, names, rotation=45, ha="right", rotation_mode="anchor")
        ax.set_yticks(positions, names)
        if len(self.names) <= MOST_WRITTEN:
            for row, column in np.argwhere(np.isfinite(self.table)):
                value = self.table[row, column]
                color = "black" if self.image_.norm(value) > 0.5 else "white"
                ax.text(column, row, f"{value:.2f}", ha="center", va="center", color=color)
        ax.figure.colorbar(self.image_, ax=ax, label="adjusted Rand index")
