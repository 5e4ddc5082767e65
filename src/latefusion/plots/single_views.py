"""Maps of single views, coloured by the clusters of the consensus."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from latefusion.plots.canvas import LONGEST_NAME, middle_cut, require_pyplot, shown_samples
from latefusion.plots.consensus import ConsensusDisplay
from latefusion.plots.embedding import METHODS, embed

# Fewer than in a map of the consensus, because there is one map per view.
MOST_POINTS = 2000
MOST_COLUMNS = 3


class ViewMapsDisplay:
    """One map per view of its observed samples, coloured by the clusters of the consensus.

    Parameters
    ----------
    maps : mapping of str to ConsensusDisplay
        By name of the view.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes of shape (n_views,)
    figure_ : matplotlib Figure
    """

    def __init__(self, maps: Any) -> None:
        self.maps = dict(maps)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, method: str = "tsne", axes: Any = None, random_state: Any = 0, **kwargs: Any
    ) -> Self:
        """Draw the base partitions of every view of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with ``labels_``, ``view_names_`` and a method ``view_partitions``
        method : {"tsne", "pca", "umap"}, default="tsne"
        axes : sequence of matplotlib Axes, default=None
            One per view.
        random_state : int, RandomState or None, default=0
            Start of t-SNE and UMAP.
        **kwargs : keyword arguments
            Passed to `matplotlib.axes.Axes.scatter`.

        Returns
        -------
        ViewMapsDisplay
        """
        maps, labels = {}, np.asarray(estimator.labels_)
        confidence = getattr(estimator, "confidence_", None)
        for name, rows, observed in zip(
            estimator.view_names_, estimator.view_partitions(), np.asarray(estimator.observed_).T, strict=True
        ):
            if rows is None:
                continue
            have = np.flatnonzero(observed)
            shown = have[shown_samples(len(have), MOST_POINTS)]
            maps[str(name)] = ConsensusDisplay(
                embed(rows[shown], method, random_state=random_state),
                labels[shown],
                confidence=None if confidence is None else np.asarray(confidence)[shown],
                method=METHODS[method],
                clusters=labels,
            )
        if not maps:
            raise ValueError(f"{type(estimator).__name__} has no base partitions, so single views cannot be drawn.")
        return cls(maps).plot(axes=axes, **kwargs)

    def plot(self, axes: Any = None, **kwargs: Any) -> Self:
        """Draw.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, default=None
            One per view; a new figure when None.
        **kwargs : keyword arguments
            Passed to `matplotlib.axes.Axes.scatter`.

        Returns
        -------
        ViewMapsDisplay
        """
        self.axes_ = np.ravel(_new_axes(len(self.maps)) if axes is None else axes)
        if len(self.axes_) < len(self.maps):
            raise ValueError(f"There are {len(self.axes_)} axes for {len(self.maps)} views. Give one per view.")
        for position, ((name, one), ax) in enumerate(zip(self.maps.items(), self.axes_, strict=False)):
            one.plot(ax=ax, **kwargs)
            ax.set_title(middle_cut(name, LONGEST_NAME))
            if position < len(self.maps) - 1 and ax.get_legend() is not None:
                ax.get_legend().remove()  # one for all
        self.figure_ = self.axes_[0].figure
        return self


def _new_axes(n_views: int) -> Any:
    columns = min(n_views, MOST_COLUMNS)
    rows = -(-n_views // columns)
    figure, axes = require_pyplot().subplots(
        rows, columns, figsize=(3.6 * columns + 0.8, 3.4 * rows), squeeze=False, layout="constrained"
    )
    for unused in axes.ravel()[n_views:]:
        figure.delaxes(unused)
    return axes.ravel()[:n_views]
