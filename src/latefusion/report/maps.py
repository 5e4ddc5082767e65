"""Two-dimensional maps of the samples, in the compact form in which the page holds them."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.neighbors import NearestNeighbors

from latefusion.arrays import namespace, unit_rows
from latefusion.interpretation.gather import ModelData, ViewData
from latefusion.plots.canvas import middle_cut
from latefusion.plots.embedding import embed
from latefusion.progress import progress_steps
from latefusion.report.colors import ColorColumn
from latefusion.report.widgets import cluster_styles

METHODS = ("auto", "tsne", "pca")
# Samples that t-SNE embeds itself, in the main map and in those of single views, and its iterations; all other samples
# are interpolated between the nearest of these.
TSNE_SAMPLES, TSNE_ITERATIONS = 2000, 500
SMALL_TSNE_SAMPLES, SMALL_TSNE_ITERATIONS = 600, 350
INTERPOLATION_NEIGHBORS = 5
# Limits that keep the page small and quick to draw: samples in the main map, samples in each map of a view, points in
# all maps of views together, labels of all views together.
MOST_SAMPLES = 100_000
MOST_VIEW_SAMPLES = 20_000
MOST_VIEW_POINTS = 600_000
MOST_LABELS = 5_000_000
# Values of all columns that samples can be coloured by.
MOST_COLOR_VALUES = 600_000
# With more views, their maps are made by PCA: t-SNE takes seconds for each.
MOST_TSNE_VIEWS = 8
# Longer identifiers are cut in the middle.
LONGEST_ID = 64
# Novelty is stored in hundredths, up to this value.
MOST_NOVELTY = 655.0
LARGEST = 2**16 - 1
TSNE_NOTE = "Samples that are close in the map are similar; distances between separate groups have no meaning."


class Map(NamedTuple):
    """Positions of samples.

    Attributes
    ----------
    positions : ndarray of shape (n_samples, 2)
    method : str
        How they were computed, as a sentence.
    """

    positions: NDArray[np.float64]
    method: str


class Drawing(NamedTuple):
    """All maps of a report.

    Attributes
    ----------
    data : dict
        For the script, ready for JSON.
    method, view_method : str
        How the main map and the maps of single views were computed; empty where views share the main map.
    n_samples, n_view_samples : int
        Samples in the main map, and in each map of a view.
    columns : sequence of ColorColumn
        What the samples can be coloured by, besides their clusters.
    """

    data: dict[str, Any]
    method: str
    view_method: str
    n_samples: int
    n_view_samples: int
    columns: Sequence[ColorColumn] = ()

    @property
    def groups(self) -> list[tuple[str, list[tuple[int, str]]]]:
        """Positions and names of the columns, by group."""
        found: dict[str, list[tuple[int, str]]] = {}
        for position, column in enumerate(self.columns):
            found.setdefault(column.group, []).append((position, column.name))
        return list(found.items())


def draw(data: ModelData, embedding: str = "auto", columns: Sequence[ColorColumn] = ()) -> Drawing | None:
    """Compute all maps.

    Parameters
    ----------
    data : ModelData
    embedding : {"auto", "tsne", "pca"}, default="auto"
        Method of the main map.
    columns : sequence of ColorColumn, default=()
        What the samples can be coloured by; the first of them, if there are many samples.

    Returns
    -------
    Drawing or None
        None for models without a consensus.
    """
    if data.consensus is None:
        return None
    n_views = len(data.views)
    shown = _subset(data.n_samples, min(MOST_SAMPLES, MOST_LABELS // n_views))
    small = _subset(len(shown), min(MOST_VIEW_SAMPLES, MOST_VIEW_POINTS // n_views))
    small_embedding = embedding if n_views <= MOST_TSNE_VIEWS else "pca"
    drawn = []
    with progress_steps(1 + n_views) as begin_step:
        begin_step("map of the samples")
        main = draw_map(data.consensus[shown], embedding)
        for view in data.views:
            begin_step(f"map of {view.name}")
            drawn.append(_view_data(data, view, shown, small, main, small_embedding))
    views, methods = zip(*drawn, strict=True)
    columns = columns[: max(1, MOST_COLOR_VALUES // len(shown))]
    colored = [_column_data(column, data, shown) for column in columns]
    n_colors = [1 + max(one["paint"], default=0) for one in (*views, *colored) if one["paint"] is not None]
    styles = cluster_styles(max([len(data.clusters), *n_colors]), data.clusters)
    sent = {
        "n": len(shown),
        "clusters": data.clusters,
        "colors": [style.color for style in styles],
        "shapes": [style.shape for style in styles],
        "ids": None if data.ids is None else [middle_cut(data.ids[one], LONGEST_ID) for one in shown],
        "rows": None if len(shown) == data.n_samples else pack(shown.astype(np.uint32)),
        "labels": pack(data.labels[shown].astype(np.uint16)),
        "confidence": _scaled(data.confidence, shown, 255, 1.0, np.uint8),
        "novelty": _scaled(data.novelty, shown, 100, MOST_NOVELTY, np.uint16),
        "positions": pack(quantize(main.positions)),
        "small": None if len(small) == len(shown) else pack(small.astype(np.uint32)),
        "views": list(views),
        "columns": colored,
    }
    return Drawing(sent, main.method, next(filter(None, methods), ""), len(shown), len(small), columns)


def _view_data(
    data: ModelData, view: ViewData, shown: NDArray[np.intp], small: NDArray[np.intp], main: Map, embedding: str
) -> tuple[dict[str, Any], str]:
    """The map of one view, and how it was computed; views that are labels share the main map."""
    own = None
    if view.labels is not None:
        # 0 means no cluster; clusters follow.
        own = pack((view.labels[shown] + 1).astype(np.uint8 if len(view.label_names) < 255 else np.uint16))
    positions, method = main.positions[small], ""
    if view.rows is not None:
        effort = {"most": SMALL_TSNE_SAMPLES, "max_iter": SMALL_TSNE_ITERATIONS}
        positions, method = draw_map(view.rows[shown[small]], embedding, **effort)
    sent: dict[str, Any] = {
        "name": view.name,
        "own": own,
        "wide": len(view.label_names) >= 255,
        "names": list(view.label_names),
        "paint": None,
        "positions": pack(quantize(positions)),
        "seen": None if view.observed.all() else pack(view.observed[shown[small]].astype(np.uint8)),
    }
    if view.labels is not None and view.kind == "labels":
        sent["paint"] = matching_colors(view.labels, len(view.label_names), data)
    return sent, method


def _column_data(column: ColorColumn, data: ModelData, shown: NDArray[np.intp]) -> dict[str, Any]:
    """A column that samples can be coloured by."""
    sent = {"group": column.group, "name": column.name, "kind": column.kind, "paint": None}
    if column.kind == "category":
        # 0 means no value.
        return sent | {
            "values": pack((column.values[shown] + 1).astype(np.uint8)),
            "levels": list(column.levels),
            "paint": matching_colors(column.values, len(column.levels), data),
        }
    values = np.where(np.isfinite(column.values), column.values, np.nan)
    return sent | {
        "values": pack(values[shown].astype(np.float32)),
        "unit": column.unit.how,
        "low": column.ends[0],
        "high": column.ends[1],
        "ends": list(column.end_texts),
    }


def matching_colors(values: NDArray[np.intp], n_values: int, data: ModelData) -> list[int]:
    """For every label or category the consensus cluster whose colour it takes; additional ones take additional colours.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        Positions of labels or categories, -1 if missing.
    n_values : int
    data : ModelData

    Returns
    -------
    list of int
        One colour per label or category.
    """
    known, n_clusters = values >= 0, len(data.clusters)
    table = np.zeros((n_values, n_clusters))
    np.add.at(table, (values[known], data.labels[known]), 1)
    colors = np.full(len(table), -1)
    rows, columns = linear_sum_assignment(-table)
    colors[rows] = columns
    rest = np.flatnonzero(colors < 0)
    colors[rest] = n_clusters + np.arange(len(rest))
    return [int(one) for one in colors]


def draw_map(
    rows: NDArray[Any], method: str = "auto", *, most: int = TSNE_SAMPLES, max_iter: int = TSNE_ITERATIONS
) -> Map:
    """Embed samples in two dimensions, by the directions of their rows (`latefusion.plots.embedding`).

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_components)
    method : {"auto", "tsne", "pca"}, default="auto"
        "auto" is t-SNE for rows with more than two columns.
    most : int, default=2000
        Samples that t-SNE embeds itself.
    max_iter : int, default=500
        Iterations of t-SNE.

    Returns
    -------
    Map
    """
    if method not in METHODS:
        raise ValueError(f"embedding must be one of {list(METHODS)}, got {method!r}.")
    rows = np.asarray(rows, dtype=np.float64)
    n_samples, width = rows.shape
    if method == "pca" or n_samples < 5 or (method == "auto" and width <= 2):
        how = (
            "Both components of the partition, as they are"
            if width == 2
            else "PCA: the two directions with the largest variance"
        )
        return Map(embed(rows, "pca"), f"{how}.")
    if n_samples <= most:
        return Map(embed(rows, max_iter=max_iter), f"t-SNE. {TSNE_NOTE}")
    chosen = np.sort(np.random.default_rng(0).choice(n_samples, most, replace=False))
    directions = unit_rows(rows, xp=namespace(rows))
    positions = _interpolate(directions, directions[chosen], embed(rows[chosen], max_iter=max_iter))
    return Map(positions, f"t-SNE of {most} random samples; the other samples are interpolated. {TSNE_NOTE}")


def _interpolate(
    rows: NDArray[np.float64], anchors: NDArray[np.float64], positions: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Means of the positions of the nearest anchors, weighted by inverse squared distances."""
    finder = NearestNeighbors(n_neighbors=min(INTERPOLATION_NEIGHBORS, len(anchors))).fit(anchors)
    distances, neighbors = finder.kneighbors(rows)
    weights = 1 / (distances + 1e-3 * distances[:, -1:] + 1e-12) ** 2
    weights /= weights.sum(axis=1, keepdims=True)
    return np.einsum("nj,njd->nd", weights, positions[neighbors])


def _subset(n_samples: int, most: int) -> NDArray[np.intp]:
    if n_samples <= most:
        return np.arange(n_samples)
    return np.sort(np.random.default_rng(0).choice(n_samples, most, replace=False))


def _scaled(values: Any, shown: NDArray[np.intp], factor: float, most: float, dtype: Any) -> str | None:
    return None if values is None else pack(np.round(factor * np.clip(values[shown], 0, most)).astype(dtype))


def quantize(positions: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Positions as integers that fill the range of 16 bits in both directions."""
    low = positions.min(axis=0)
    extent = positions.max(axis=0) - low
    scaled = (positions - low) / np.where(extent > 0, extent, 1.0)
    return np.round(np.where(extent > 0, scaled, 0.5) * LARGEST).astype(np.uint16)


def pack(values: NDArray[Any]) -> str:
    """An array of integers as base64 of its little-endian bytes."""
    return base64.b64encode(np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<")).tobytes()).decode()
