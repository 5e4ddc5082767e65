"""What a terminal gets and a file does not: colours, and a line that says that work goes on."""

from __future__ import annotations

import contextlib
import os
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


def is_terminal(stream: TextIO) -> bool:
    """Whether a person looks at a stream, on a terminal that can do more than print."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def colored(text: str, style: str, stream: TextIO) -> str:
    """Text in a style of `CODES`, if it goes to a terminal and colours are not unwanted (``NO_COLOR``)."""
    if not is_terminal(stream) or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{CODES[style]}m{text}\x1b[0m"


@contextlib.contextmanager
def progress(what: str, *, quiet: bool = False) -> Iterator[None]:
    """Say on the terminal what is going on and for how long, from two seconds on; nothing remains of it.

    Parameters
    ----------
    what : str
    quiet : bool, default=False
        Whether to say nothing.
    """
    if quiet or not is_terminal(sys.stderr):
        yield
        return
    done = threading.Event()
    reporter = threading.Thread(target=_report, args=(what, done), daemon=True)
    reporter.start()
    try:
        yield
    finally:
        done.set()
        reporter.join()


def _report(what: str, done: threading.Event) -> None:
    start = time.monotonic()
    if done.wait(PATIENCE_SECONDS):
        return
    while True:
        print(f"{CLEAR_LINE}{what} … {time.monotonic() - start:.0f} s", end="", file=sys.stderr, flush=True)
        if done.wait(REFRESH_SECONDS):
            break
    print(CLEAR_LINE, end="", file=sys.stderr, flush=True)
