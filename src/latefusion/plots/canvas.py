"""Base class of the displays, axes, colours and legends."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

# Ten colours that colour-blind readers can tell apart, also in print (Petroff, 2021), ordered by contrast.
PALETTE = (
    "#3f90da",
    "#ffa90e",
    "#bd1f01",
    "#94a4a2",
    "#832db6",
    "#a96b59",
    "#e76300",
    "#b9ac70",
    "#717581",
    "#92dadd",
)
MOST_LEGEND_ENTRIES = 20
# Longer names of views would leave too little space for the plot.
LONGEST_NAME = 28


class Display:
    """A plot: the constructor takes data, `plot` draws, `from_estimator` does both.

    Subclasses define which data of an estimator is shown (`_of`) and how it is drawn (`_draw`).

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    # Whether the top and right frame lines are drawn.
    framed: ClassVar[bool] = False

    ax_: Any
    figure_: Any

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the plot of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            With the attributes that the display shows.
        ax : matplotlib Axes, default=None
            A new figure when None.
        **kwargs : keyword arguments
            Passed to `plot`.

        Returns
        -------
        Display
        """
        return cls._of(estimator).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            A new figure when None.
        **kwargs : keyword arguments
            Passed to the matplotlib function that the class names.

        Returns
        -------
        Display
        """
        ax = get_axes(ax)
        self._draw(ax, kwargs)
        if not self.framed:
            strip(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def _of(cls, estimator: Any) -> Self:
        raise NotImplementedError

    def _draw(self, ax: Any, options: dict[str, Any]) -> None:
        raise NotImplementedError


def get_axes(ax: Any) -> Any:
    """The given axes, or those of a new figure."""
    return ax if ax is not None else require_pyplot().subplots(layout="constrained")[1]


def require_pyplot() -> Any:
    """Matplotlib's pyplot, imported only when something is drawn."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("Plots need matplotlib: pip install 'latefusion[plot]'.") from error
    return pyplot


def cluster_colors(n_clusters: int) -> Any:
    """One RGBA row per cluster: the palette, or evenly spaced hues for more than ten clusters."""
    from matplotlib import colormaps, colors

    if n_clusters <= len(PALETTE):
        return colors.to_rgba_array(PALETTE[:n_clusters])
    return colormaps["turbo"](np.linspace(0.03, 0.97, n_clusters))


def strip(ax: Any) -> None:
    """Remove the top and right frame lines."""
    ax.spines[["top", "right"]].set_visible(False)


def legend_above(ax: Any, handles: Any, *, n_columns: int = 3) -> None:
    """Draw a legend above the axes, so that it hides no data."""
    ax.legend(handles=handles, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=n_columns)


def cluster_legend(ax: Any, clusters: Any, colors: Any) -> None:
    """Draw a legend of the clusters next to the axes, unless there are too many to tell apart."""
    if len(clusters) > MOST_LEGEND_ENTRIES:
        return
    handles = [ax.scatter([], [], s=30, color=[one], label=str(c)) for c, one in zip(clusters, colors, strict=True)]
    ax.legend(handles=handles, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), title="cluster")


def middle_cut(text: str, longest: int) -> str:
    """A long name shortened in the middle, because names often differ at one end only."""
    if len(text) <= longest:
        return text
    head = longest // 2
    return f"{text[:head]}…{text[len(text) - (longest - head - 1) :]}"


def shown_samples(n_samples: int, most: int) -> NDArray[np.intp]:
    """Positions of at most ``most`` samples, evenly spaced."""
    return np.linspace(0, n_samples - 1, min(n_samples, most)).astype(np.intp)
