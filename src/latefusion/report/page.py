"""One self-contained page: sections, data, style and script in one file that needs no network."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from string import Template
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from latefusion.report import about_method, about_samples
from latefusion.report.content import ReportContent
from latefusion.report.findings import Findings, ViewFindings
from latefusion.report.maps import SMALL_TSNE_ITERATIONS, SMALL_TSNE_SAMPLES, Map, draw_map, pack, quantize
from latefusion.report.markup import escape, join, json_block
from latefusion.report.pieces import cluster_styles

# What a page can draw smoothly, and a file can hold: samples in the large map, samples in each small one, dots in all
# small ones together, labels of all views together.
MOST_SAMPLES = 100_000
MOST_VIEW_SAMPLES = 20_000
MOST_VIEW_POINTS = 600_000
MOST_LABELS = 5_000_000
# More views than this have their maps by PCA: t-SNE takes seconds for each.
MOST_TSNE_VIEWS = 8
# Identifiers longer than this lose their middle.
LONGEST_ID = 64
TEMPLATES = files("latefusion.report") / "templates"


class Drawing(NamedTuple):
    """What the maps show, and how they were made.

    Attributes
    ----------
    data : dict
        For the script, ready for JSON.
    method, view_method : str
        How the large map and the small ones were made, in a sentence.
    n_samples : int
        Samples in the large map.
    n_view_samples : int
        Samples in each of the small ones.
    """

    data: dict[str, Any]
    method: str
    view_method: str
    n_samples: int
    n_view_samples: int


def draw(findings: Findings, embedding: str = "auto") -> Drawing | None:
    """Compute all maps.

    Parameters
    ----------
    findings : Findings
    embedding : {"auto", "tsne", "pca"}, default="auto"
        How the large map is made.

    Returns
    -------
    Drawing or None
        None where the model has no consensus to draw.
    """
    if findings.consensus is None:
        return None
    n_views = len(findings.views)
    shown = _subset(findings.n_samples, min(MOST_SAMPLES, MOST_LABELS // n_views))
    small = _subset(len(shown), min(MOST_VIEW_SAMPLES, MOST_VIEW_POINTS // n_views))
    large = draw_map(findings.consensus[shown], embedding)
    small_embedding = embedding if n_views <= MOST_TSNE_VIEWS else "pca"
    views, methods = zip(
        *(_view_data(findings, view, shown, small, large, small_embedding) for view in findings.views), strict=True
    )
    shades = [1 + max(view["paint"], default=0) for view in views if view["paint"] is not None]
    colors, shapes = cluster_styles(max([len(findings.clusters), *shades]))
    whole = len(shown) == findings.n_samples
    data = {
        "n": len(shown),
        "clusters": findings.clusters,
        "colors": colors,
        "shapes": shapes,
        "ids": None if findings.ids is None else [shorten_id(findings.ids[one]) for one in shown],
        "rows": None if whole else pack(shown.astype(np.uint32)),
        "labels": pack(findings.labels[shown].astype(np.uint16)),
        "confidence": None if findings.confidence is None else pack(_bytes(findings.confidence[shown])),
        "positions": pack(quantize(large.positions)),
        "small": None if len(small) == len(shown) else pack(small.astype(np.uint32)),
        "views": list(views),
    }
    return Drawing(data, large.method, next(filter(None, methods), ""), len(shown), len(small))


def _view_data(
    findings: Findings,
    view: ViewFindings,
    shown: NDArray[np.intp],
    small: NDArray[np.intp],
    large: Map,
    embedding: str,
) -> tuple[dict[str, Any], str]:
    """What the map of one view shows, and how it was made; labels have no map of their own and take the large one."""
    own = None
    if view.own is not None:
        # 0 stands for "knows nothing", clusters follow.
        own = pack((view.own[shown] + 1).astype(np.uint8 if len(view.own_names) < 255 else np.uint16))
    positions, method = large.positions[small], ""
    if view.rows is not None:
        effort = {"most": SMALL_TSNE_SAMPLES, "max_iter": SMALL_TSNE_ITERATIONS}
        positions, method = draw_map(view.rows[shown[small]], embedding, **effort)
    data = {
        "name": view.name,
        "own": own,
        "wide": len(view.own_names) >= 255,
        "names": view.own_names,
        "paint": paint(view, findings.labels, len(findings.clusters)) if view.kind == "labels" else None,
        "positions": pack(quantize(positions)),
        "seen": None if view.observed.all() else pack(view.observed[shown[small]].astype(np.uint8)),
    }
    return data, method


def paint(view: ViewFindings, labels: NDArray[np.intp], n_clusters: int) -> list[int] | None:
    """For every cluster of a labelling the cluster whose colour it takes; those beyond take further colours."""
    if view.own is None:
        return None
    known = view.own >= 0
    table = np.zeros((len(view.own_names), n_clusters))
    np.add.at(table, (view.own[known], labels[known]), 1)
    colors = np.full(len(table), -1)
    rows, columns = linear_sum_assignment(-table)
    colors[rows] = columns
    rest = np.flatnonzero(colors < 0)
    colors[rest] = n_clusters + np.arange(len(rest))
    return [int(one) for one in colors]


def _subset(n_samples: int, most: int) -> NDArray[np.intp]:
    if n_samples <= most:
        return np.arange(n_samples)
    return np.sort(np.random.default_rng(0).choice(n_samples, most, replace=False))


def _bytes(shares: NDArray[np.float64]) -> NDArray[np.uint8]:
    return np.round(255 * np.clip(shares, 0, 1)).astype(np.uint8)


def shorten_id(name: str) -> str:
    """An identifier without its middle, where it is very long."""
    half = (LONGEST_ID - 1) // 2
    return name if len(name) <= LONGEST_ID else f"{name[:half]}…{name[-half:]}"


def render(content: ReportContent, drawing: Drawing | None) -> str:
    """The page as text.

    Parameters
    ----------
    content : ReportContent
    drawing : Drawing or None
        None leaves the maps out.

    Returns
    -------
    str
    """
    maps = None if drawing is None else about_samples.map_section(content, *drawing[1:])
    body = [
        about_samples.headline(content),
        about_samples.warning_list(content),
        maps,
        about_samples.clusters_section(content),
        about_method.views_section(content),
        about_method.lines_section(content),
        about_method.choices_section(content),
        about_method.convergence_section(content),
        about_samples.holes_section(content),
        about_method.reproduce_section(content),
    ]
    style, script = (TEMPLATES.joinpath(name).read_text(encoding="utf-8") for name in ("style.css", "script.js"))
    # Only this very script may run, and nothing may be fetched, whatever else were to end up on the page.
    fingerprint = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = Template(TEMPLATES.joinpath("page.html").read_text(encoding="utf-8"))
    return page.substitute(
        title=escape(content.title),
        method=escape(type(content.findings.model).__name__),
        fingerprint=fingerprint,
        style=style,
        script=script,
        body=join(body),
        data=json_block(None if drawing is None else drawing.data),
    )
