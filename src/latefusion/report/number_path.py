"""Clusters for other numbers of clusters, for models that chose their number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from latefusion.plots.cluster_tree import LEAST_NUMBERED, TreeLayout, tree_layout
from latefusion.report.widgets import Style, Tick, cluster_styles
from latefusion.selection import PathCluster

# Numbers below and above that of the model.
FEWER, MORE = 5, 2
# Of the drawing, in SVG units: height without the axis, width of a bar, distance of two bars, margins.
HEIGHT, BAR, STEP, MARGIN, AXIS = 260, 26, 92, 8, 40


class TreeBox(NamedTuple):
    """A cluster in the drawing, in SVG units.

    Attributes
    ----------
    x, y, width, height : float
    style : Style
    text : str
        Its id; empty where there is no room.
    chosen : bool
        Whether it belongs to the number of the model.
    hint : str
    """

    x: float
    y: float
    width: float
    height: float
    style: Style
    text: str
    chosen: bool
    hint: str


class TreeDrawing(NamedTuple):
    """The clusters for every number of clusters as columns of bars, with bands between them.

    Attributes
    ----------
    width, height : float
    boxes : list of TreeBox
    bands : list of (str, str)
        Path and colour.
    ticks : list of (Tick, bool)
        Numbers of clusters, and whether it is that of the model.
    """

    width: float
    height: float
    boxes: list[TreeBox]
    bands: list[tuple[str, str]]
    ticks: list[tuple[Tick, bool]]


class TreeRow(NamedTuple):
    """A cluster where it appears first.

    Attributes
    ----------
    depth : int
        Number of clusters above it in the tree.
    first : PathCluster
    size : int or None
        Number of samples for the number of the model; None if the cluster does not exist there.
    """

    depth: int
    first: PathCluster
    size: int | None


class NumberTree(NamedTuple):
    """How clusters split as their number increases.

    Attributes
    ----------
    n_clusters : int
        The number of the model, whose clusters have the ids of the report.
    rows : sequence of TreeRow
        Below every cluster those that come from it.
    note : str
        Why it could not be computed; empty otherwise.
    drawing : TreeDrawing or None
    """

    n_clusters: int
    rows: Sequence[TreeRow] = ()
    note: str = ""
    drawing: TreeDrawing | None = None


def number_tree(model: Any) -> NumberTree | None:
    """Cluster the samples with a few more and fewer clusters than the model.

    Parameters
    ----------
    model : fitted estimator

    Returns
    -------
    NumberTree or None
        None for models that did not choose their number of clusters.
    """
    if getattr(model, "number_selection_", None) is None:
        return None
    own = int(model.n_clusters_)
    try:
        path = model.n_clusters_path(range(max(2, own - FEWER), own + MORE + 1))
    except ValueError as error:  # the model comes from a file, or a view has few samples
        return NumberTree(own, note=str(error))
    sizes = {one.cluster: one.size for one in path.clusters if one.n_clusters == own}
    rows = [TreeRow(depth, one, sizes.get(one.cluster)) for depth, one in path.tree()]
    return NumberTree(own, rows, drawing=tree_drawing(path.numbers, tree_layout(path.labels), own))


def tree_drawing(numbers: Sequence[int], layout: TreeLayout, n_clusters: int) -> TreeDrawing:
    """Draw clusters as bars that are as high as the clusters are large.

    Parameters
    ----------
    numbers : sequence of int
        Numbers of clusters.
    layout : TreeLayout
    n_clusters : int
        The number of the model.

    Returns
    -------
    TreeDrawing
    """
    styles = cluster_styles(1 + max(bar.cluster for bar in layout.bars))
    scale = (HEIGHT - 2 * MARGIN) / (layout.high - layout.low)

    def across(place: int) -> float:
        return MARGIN + STEP * place

    def down(share: float) -> float:
        return MARGIN + (layout.high - share) * scale

    boxes = []
    for place, cluster, low, share in layout.bars:
        number = numbers[place]
        text = str(cluster) if share >= LEAST_NUMBERED else ""
        hint = f"cluster {cluster} of {number}: {share:.1%} of the samples"
        corner = (across(place), down(low + share), BAR, share * scale)
        boxes.append(TreeBox(*corner, styles[cluster], text, number == n_clusters, hint))
    bands = []
    for band in layout.bands:
        start, end = across(band.place - 1) + BAR, across(band.place)
        middle = (start + end) / 2
        left, right = down(band.left), down(band.right)
        top_left, top_right = down(band.left + band.share), down(band.right + band.share)
        path = (
            f"M{start:.1f} {top_left:.1f}C{middle:.1f} {top_left:.1f} {middle:.1f} {top_right:.1f} {end:.1f} "
            f"{top_right:.1f}V{right:.1f}C{middle:.1f} {right:.1f} {middle:.1f} {left:.1f} {start:.1f} {left:.1f}Z"
        )
        bands.append((path, styles[band.cluster].color))
    ticks = [(Tick(across(place) + BAR / 2, str(number)), number == n_clusters) for place, number in enumerate(numbers)]
    return TreeDrawing(across(len(numbers) - 1) + BAR + MARGIN, HEIGHT + AXIS, boxes, bands, ticks)
