"""Colours and progress are for people who look at a terminal."""

import io
import re
import time
from types import SimpleNamespace

import pytest

from latefusion.cli import terminal
from latefusion.cli.terminal import Work, colored, is_terminal, progress
from latefusion.steps import say


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


def test_colours_only_where_they_are_wanted(screen, monkeypatch):
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


def test_steps_fill_a_bar():
    work = Work("comparing", 4)
    assert work.line() == "comparing [--------------------] 0/4 … 0 s"
    for done, step in enumerate(["a", "b", "c", "d"]):
        work.begin(step)
        assert f"{done}/4 {step} …" in work.line()
        assert work.line().count("#") == round(terminal.BAR_WIDTH * done / 4)
    work.begin("one too many")
    assert work.line().count("#") == terminal.BAR_WIDTH


def test_work_inside_a_step_moves_the_bar_on():
    work = Work("comparing", 4)
    work.begin("a")
    work.begin("b")
    work.hear("its own affair", 0.6)
    assert work.line() == "comparing [########------------] 1/4 b … 0 s"
    work.begin("c")
    assert work.line() == "comparing [##########----------] 2/4 c … 0 s"


def test_work_that_says_how_far_it_is_fills_a_bar(screen, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with progress("clustering"):
        say("labels", 0.25)
        deadline = time.monotonic() + 5
        while "labels" not in screen.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "clustering [#####---------------] 25% labels … 0 s" in screen.getvalue()


def test_without_knowing_how_far_a_block_moves_to_and_fro(monkeypatch):
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
