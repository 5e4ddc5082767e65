"""Colors and progress are for people who look at a terminal."""

import io
import re
import time
from types import SimpleNamespace

import pytest

from latefusion.cli import terminal
from latefusion.cli.terminal import Work, colored, duration, is_terminal, progress
from latefusion.progress import progress_steps, report_progress


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def screen(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(terminal, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(terminal, "REFRESH_SECONDS", 0.01)
    screen = Screen()
    # Not sys.stderr itself, which pytest exchanges between this and the test.
    monkeypatch.setattr(terminal, "sys", SimpleNamespace(stderr=screen))
    return screen


def test_colors_only_where_they_are_wanted(screen, monkeypatch):
    assert colored("x", "red", screen) == "\x1b[31mx\x1b[0m"
    assert colored("x", "red", io.StringIO()) == "x"
    monkeypatch.setenv("NO_COLOR", "1")
    assert colored("x", "red", screen) == "x"
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert colored("x", "red", screen) == "x"
    assert not is_terminal(screen)


def test_long_work_is_reported_and_leaves_no_trace(screen):
    with progress("thinking"):
        deadline = time.monotonic() + 5
        while "… 0 s" not in screen.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert re.search(r"thinking \[-*####-*\] … 0 s", screen.getvalue())
    assert screen.getvalue().endswith(terminal.CLEAR_LINE)
    written = screen.getvalue()
    time.sleep(0.05)
    assert screen.getvalue() == written


def test_reports_fill_a_bar(screen, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with progress("clustering"), progress_steps(2) as begin_step:
        begin_step("first")
        report_progress("labels", 0.5)
        deadline = time.monotonic() + 5
        while "labels" not in screen.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "clustering [#####---------------] 25% first: labels … 0 s" in screen.getvalue()


def test_the_bar_is_the_fraction(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    work = Work("comparing")
    for done in range(5):
        work.update("x", done / 4)
        assert work.line().count("#") == terminal.BAR_WIDTH * done / 4
        assert f"] {25 * done}% x … 0 s" in work.line()


def test_the_time_left_is_in_proportion(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    work = Work("comparing")
    work.update("x", 0.25)
    now[0] = terminal.ESTIMATE_SECONDS - 1
    assert "left" not in work.line()
    now[0] = 60.0
    assert work.line().endswith("x … 60 s, about 3 min left")
    work.update("x", 0.0)
    assert work.line().endswith("x … 60 s")  # no fraction, no estimate


def test_durations():
    assert [duration(seconds) for seconds in (12.3, 600, 9000)] == ["12 s", "10 min", "2.5 h"]


def test_before_the_first_report_a_block_moves_to_and_fro(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    work, seen = Work("reading"), []
    for tick in range(40):
        now[0] = tick * terminal.REFRESH_SECONDS
        bar = work.line().split("[")[1].split("]")[0]
        assert len(bar) == terminal.BAR_WIDTH
        assert bar.strip("-") == "#" * terminal.BLOCK_WIDTH
        seen.append(bar.index("#"))
    assert seen == [*range(16), *range(16, 0, -1), *range(8)]


def test_a_line_never_wraps(screen, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    with progress("w" * 100):
        deadline = time.monotonic() + 5
        while "www" not in screen.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    lines = screen.getvalue().split(terminal.CLEAR_LINE)
    assert max(map(len, lines)) == 29


def test_short_work_and_quiet_work_are_not(screen, monkeypatch):
    with progress("thinking", quiet=True):
        time.sleep(0.1)
    monkeypatch.setattr(terminal, "PATIENCE_SECONDS", 5.0)
    with progress("thinking"):
        pass
    assert screen.getvalue() == ""
    plain = io.StringIO()
    monkeypatch.setattr(terminal, "sys", SimpleNamespace(stderr=plain))
    monkeypatch.setattr(terminal, "PATIENCE_SECONDS", 0.0)
    with progress("thinking"):
        time.sleep(0.05)
    assert plain.getvalue() == ""


def test_errors_pass_through_and_end_the_report(screen):
    with pytest.raises(KeyboardInterrupt), progress("thinking"):
        raise KeyboardInterrupt
    written = screen.getvalue()
    time.sleep(0.1)
    assert screen.getvalue() == written
