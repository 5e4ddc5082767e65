"""Colors and progress lines on a terminal."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from typing import TextIO

from latefusion.progress import progress_listener

CODES = {"bold": "1", "red": "31", "yellow": "33"}
# Seconds before the progress line is shown.
PATIENCE_SECONDS = 2.0
REFRESH_SECONDS = 0.5
# Seconds before the remaining time is estimated.
ESTIMATE_SECONDS = 10.0
CLEAR_LINE = "\r\x1b[K"
BAR_WIDTH = 20
BLOCK_WIDTH = 4


def is_terminal(stream: TextIO) -> bool:
    """Whether a stream is a terminal that supports colors and moving the cursor."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def colored(text: str, style: str, stream: TextIO) -> str:
    """Text in a style of `CODES`, if the stream is a terminal and ``NO_COLOR`` is not set."""
    if not is_terminal(stream) or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{CODES[style]}m{text}\x1b[0m"


class Work:
    """A progress line: a bar, the last report (`latefusion.progress`), and times.

    Before the first report, a block moves back and forth in the bar.

    Parameters
    ----------
    what : str
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self._message = ""
        self._fraction: float | None = None
        self._start = time.monotonic()

    def update(self, message: str, fraction: float) -> None:
        """Update the line with a report."""
        self._message, self._fraction = message, fraction

    def line(self) -> str:
        """The current line."""
        passed = time.monotonic() - self._start
        fraction = self._fraction
        if fraction is None:
            return f"{self.what} [{_moving_bar(passed)}] … {duration(passed)}"
        words = [self.what, f"[{_bar(fraction)}]", f"{fraction:.0%}", self._message, "…", duration(passed)]
        line = " ".join(filter(None, words))
        if passed < ESTIMATE_SECONDS or fraction == 0:
            return line
        return f"{line}, about {duration(passed * (1 - fraction) / fraction)} left"


def duration(seconds: float) -> str:
    """A duration, such as 12 s, 3 min or 2.5 h."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _bar(share: float) -> str:
    filled = round(BAR_WIDTH * share)
    return "#" * filled + "-" * (BAR_WIDTH - filled)


def _moving_bar(seconds: float) -> str:
    room = BAR_WIDTH - BLOCK_WIDTH
    position = int(seconds / REFRESH_SECONDS) % (2 * room)
    position = min(position, 2 * room - position)
    return "-" * position + "#" * BLOCK_WIDTH + "-" * (room - position)


@contextlib.contextmanager
def progress(what: str, *, quiet: bool = False) -> Iterator[None]:
    """Show the progress of a block as one line on the terminal, from two seconds on; the line is removed at the end.

    Parameters
    ----------
    what : str
        Name of the work.
    quiet : bool, default=False
        Whether to show nothing. Nothing is shown if the standard error is not a terminal.
    """
    if quiet or not is_terminal(sys.stderr):
        yield
        return
    work = Work(what)
    done = threading.Event()
    reporter = threading.Thread(target=_report, args=(work, done), daemon=True)
    reporter.start()
    try:
        with progress_listener(work.update):
            yield
    finally:
        done.set()
        reporter.join()


def _report(work: Work, done: threading.Event) -> None:
    if done.wait(PATIENCE_SECONDS):
        return
    while True:
        line = work.line()[: shutil.get_terminal_size().columns - 1]  # a wrapped line cannot be erased
        print(f"{CLEAR_LINE}{line}", end="", file=sys.stderr, flush=True)
        if done.wait(REFRESH_SECONDS):
            break
    print(CLEAR_LINE, end="", file=sys.stderr, flush=True)
