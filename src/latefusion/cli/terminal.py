"""What a terminal gets and a file does not: colours, and a line that says that work goes on."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from typing import TextIO

from latefusion.steps import listening

CODES = {"bold": "1", "red": "31", "yellow": "33"}
# Work that is done before this time needs no line.
PATIENCE_SECONDS = 2.0
REFRESH_SECONDS = 0.5
CLEAR_LINE = "\r\x1b[K"
BAR_WIDTH = 20
BLOCK_WIDTH = 4


def is_terminal(stream: TextIO) -> bool:
    """Whether a person looks at a stream, on a terminal that can do more than print."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def colored(text: str, style: str, stream: TextIO) -> str:
    """Text in a style of `CODES`, if it goes to a terminal and colours are not unwanted (``NO_COLOR``)."""
    if not is_terminal(stream) or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{CODES[style]}m{text}\x1b[0m"


class Work:
    """What is going on, as a line: a bar, and the time that has gone.

    The bar shows how much is done, as far as steps are counted or the work itself says so (`latefusion.steps`).
    Otherwise a block moves to and fro in it.

    Parameters
    ----------
    what : str
    n_steps : int, default=None
        None where it is one step.
    """

    def __init__(self, what: str, n_steps: int | None = None) -> None:
        self.what = what
        self.n_steps = n_steps
        self.step = ""
        self._begun = 0
        self._share: float | None = None  # of the step that is going on
        self._start = time.monotonic()

    def begin(self, step: str) -> None:
        """Name a step that begins now; the one before it is done."""
        self._begun += 1
        self._share = None
        self.step = step

    def hear(self, step: str, share: float) -> None:
        """How far the step that is going on is."""
        self._share = share
        if self.n_steps is None:
            self.step = step

    def line(self) -> str:
        """The line as it is now."""
        gone = time.monotonic() - self._start
        if self.n_steps is not None:
            done = max(0, min(self._begun - 1, self.n_steps))
            share = min(1.0, (done + (self._share or 0.0)) / self.n_steps)
            words = [f"{done}/{self.n_steps}", self.step]
        elif self._share is not None:
            share, words = self._share, [f"{self._share:.0%}", self.step]
        else:
            return f"{self.what} [{_moving_bar(gone)}] … {gone:.0f} s"
        return " ".join([self.what, f"[{_bar(share)}]", *filter(None, words), "…", f"{gone:.0f} s"])


def _bar(share: float) -> str:
    filled = round(BAR_WIDTH * share)
    return "#" * filled + "-" * (BAR_WIDTH - filled)


def _moving_bar(seconds: float) -> str:
    room = BAR_WIDTH - BLOCK_WIDTH
    position = int(seconds / REFRESH_SECONDS) % (2 * room)
    position = min(position, 2 * room - position)
    return "-" * position + "#" * BLOCK_WIDTH + "-" * (room - position)


@contextlib.contextmanager
def progress(what: str, *, n_steps: int | None = None, quiet: bool = False) -> Iterator[Work]:
    """Show on the terminal what is going on and how far it is, from two seconds on; nothing remains of it.

    Parameters
    ----------
    what : str
    n_steps : int, default=None
        How often ``begin`` of what is yielded will be called, where the work has steps.
    quiet : bool, default=False
        Whether to say nothing.
    """
    work = Work(what, n_steps)
    if quiet or not is_terminal(sys.stderr):
        yield work
        return
    done = threading.Event()
    reporter = threading.Thread(target=_report, args=(work, done), daemon=True)
    reporter.start()
    try:
        with listening(work.hear):
            yield work
    finally:
        done.set()
        reporter.join()


def _report(work: Work, done: threading.Event) -> None:
    if done.wait(PATIENCE_SECONDS):
        return
    while True:
        line = work.line()[: shutil.get_terminal_size().columns - 1]  # a line that wraps could not be taken back
        print(f"{CLEAR_LINE}{line}", end="", file=sys.stderr, flush=True)
        if done.wait(REFRESH_SECONDS):
            break
    print(CLEAR_LINE, end="", file=sys.stderr, flush=True)
