"""Axes and colours that all displays share."""

from __future__ import annotations

from typing import Any

import numpy as np

# Ten colours that stay apart for colour-blind readers and in print (Petroff, 2021), ordered by contrast.
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
    """One RGBA row per cluster: the palette where it suffices, evenly spaced hues beyond."""
    from matplotlib import colormaps, colors

    if n_clusters <= len(PALETTE):
        return colors.to_rgba_array(PALETTE[:n_clusters])
    return colormaps["turbo"](np.linspace(0.03, 0.97, n_clusters))


def strip(ax: Any) -> None:
    """Take away the frame lines that carry no information."""
    ax.spines[["top", "right"]].set_visible(False)
