"""`write_leaderboard`: from the results of all methods to one HTML file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from latefusion.atomic_files import atomic_write
from latefusion.experiments.leaderboard import Leaderboard
from latefusion.experiments.leaderboard.results import FAMILIES, SCORES
from latefusion.experiments.summary import LEVEL
from latefusion.outputs.targets import REPORT, Target, check_targets
from latefusion.report.html import LEADERBOARD, render, require_jinja2
from latefusion.report.leaderboard.boards import METRICS, Board, anchors, gather_boards
from latefusion.report.leaderboard.commands import run_command
from latefusion.report.leaderboard.details import method_sections, set_sections, unranked
from latefusion.report.leaderboard.diagram import draw_diagram
from latefusion.report.leaderboard.ranking import SIZES, matrix, ranking, script_data
from latefusion.report.leaderboard.scatter import draw_scatter
from latefusion.report.leaderboard.terms import FIGURES, ORACLE, TERMS
from latefusion.report.leaderboard.verdict import judge


def write_leaderboard(
    path: str | os.PathLike[str], results: Leaderboard, *, docs: str | None = None, force: bool = False
) -> Path:
    """Write the leaderboard as one HTML file that opens offline in any browser.

    Needs Jinja2: ``pip install 'latefusion[report]'``.

    Parameters
    ----------
    path : str or path-like
        File to write, which ends in ``.html`` or ``.htm``. An older page is replaced when the new one is complete.
    results : Leaderboard
        From `latefusion.experiments.leaderboard.read_leaderboard`.
    docs : str, default=None
        Address of the documentation, ending in "/", absolute or relative to the page. Methods then have a link to their
        page.
    force : bool, default=False
        Whether to replace an existing file that is not a page of this package, too.

    Returns
    -------
    Path
        The file that was written.

    Raises
    ------
    ValueError
        If there is no result, or the path has another suffix or is a file of another kind.
    ImportError
        Without Jinja2.
    """
    require_jinja2()
    path = Path(path)
    check_targets([Target(path, REPORT)], force=force)
    boards = gather_boards(results)
    if not boards:
        raise ValueError("The results have no cell with a score. Run `latefusion leaderboard` first.")
    page = render(LEADERBOARD, **_content(results, boards), docs=docs)
    with atomic_write(path) as stream:
        stream.write(page.encode("utf-8"))
    return path


def _content(results: Leaderboard, boards: Sequence[Board]) -> dict[str, Any]:
    """The variables of the templates."""
    names = [one.name for one in results.methods]
    places = [(board.name, one.name) for board in boards for one in board.all_sets]
    return {
        "title": "Multi-view clustering without labels",
        "results": results,
        "boards": [_board_content(board) for board in boards],
        "sets": set_sections(boards),
        "methods": method_sections(boards),
        "set_ids": dict(zip(places, anchors("set", (name for _, name in places)), strict=True)),
        "method_ids": dict(zip(names, anchors("method", names), strict=True)),
        "data": script_data(boards),
        "command": partial(run_command, results.limits),
        "families": FAMILIES,
        "metrics": METRICS,
        "sizes": SIZES,
        "level": LEVEL,
        "words": TERMS,
        "figures": FIGURES,
        "oracle_note": ORACLE,
    }


def _board_content(board: Board) -> dict[str, Any]:
    return {
        "board": board,
        "rows": ranking(board, SCORES[0]),
        "matrix": matrix(board, SCORES[0]),
        "unranked": unranked(board),
        **{
            name: {metric: draw(board, metric) for metric in SCORES}
            for name, draw in (("verdicts", judge), ("diagrams", draw_diagram), ("scatters", draw_scatter))
        },
    }
