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

CODES = {"bold": "1", "red": "31", "yellow": "33"}
# Work that is done before this time needs no line.
PATIENCE_SECONDS = 2.0
REFRESH_SECONDS = 0.5
CLEAR_LINE = "\r\x1b[K"
BAR_WIDTH = 20


def is_terminal(stream: TextIO) -> bool:
    """Whether a person looks at a stream, on a terminal that can do more than print."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def colored(text: str, style: str, stream: TextIO) -> str:
    """Text in a style of `CODES`, if it goes to a terminal and colours are not unwanted (``NO_COLOR``)."""
    if not is_terminal(stream) or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{CODES[style]}m{text}\x1b[0m"


class Work:
    """What is going on, as a line: a bar where the number of steps is known, and the time that has gone.

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
        self._start = time.monotonic()

    def begin(self, step: str) -> None:
        """Name a step that begins now; the one before it is done."""
        self._begun += 1
        self.step = step

    def line(self) -> str:
        """The line as it is now."""
        words = f"{time.monotonic() - self._start:.0f} s"
        if self.n_steps is None or not self._begun:
            return f"{self.what} … {words}"
        done = min(self._begun - 1, self.n_steps)
        filled = round(BAR_WIDTH * done / self.n_steps)
        bar = "#" * filled + "-" * (BAR_WIDTH - filled)
        return f"{self.what} [{bar}] {done}/{self.n_steps} {self.step} … {words}"


@contextlib.contextmanager
def progress(what: str, *, n_steps: int | None = None, quiet: bool = False) -> Iterator[Work]:
    """Say on the terminal what is going on and for how long, from two seconds on; nothing remains of it.

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
