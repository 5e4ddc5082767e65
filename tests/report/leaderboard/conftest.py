"""A result file with several boards, families and failures, its boards, and its page."""

from __future__ import annotations

import pytest

from latefusion.report.leaderboard import write_leaderboard
from latefusion.report.leaderboard.boards import gather_boards
from tests.report.leaderboard.drawn import drawn_results


@pytest.fixture(scope="session")
def results():
    return drawn_results(missing=5)


@pytest.fixture(scope="session")
def boards(results):
    return gather_boards(results)


@pytest.fixture(scope="session")
def complete(boards):
    return boards[0]


@pytest.fixture(scope="session")
def page(results, tmp_path_factory):
    """The text of the page."""
    return write_leaderboard(tmp_path_factory.mktemp("page") / "board.html", results).read_text(encoding="utf-8")
