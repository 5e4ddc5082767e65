"""Progress reporting for long computations.

Computations report a message and the fraction that is done. The listener of the surrounding block receives the reports;
without a listener they are ignored. Each thread has its own listener.

>>> from latefusion.progress import progress_listener, progress_range, report_progress
>>> with progress_listener(lambda message, fraction: print(f"{fraction:.0%} {message}")):
...     report_progress("reading", 0.0)
...     with progress_range(0.2, 1.0):  # the rest of the work
...         report_progress("clustering", 0.5)
0% reading
60% clustering
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

# Called with a message and the fraction of the work that is done.
Listener = Callable[[str, float], None]


class _Range(NamedTuple):
    """A listener, and the part of its range for the current reports."""

    listener: Listener
    start: float = 0.0
    stop: float = 1.0
    heading: str = ""

    def report(self, message: str, fraction: float) -> None:
        self.listener(f"{self.heading}{message}", self.start + fraction * (self.stop - self.start))

    def part(self, start: float, stop: float, heading: str = "") -> _Range:
        width = self.stop - self.start
        return _Range(self.listener, self.start + start * width, self.start + stop * width, self.heading + heading)


_current: ContextVar[_Range | None] = ContextVar("current", default=None)


@contextmanager
def _as_current(value: _Range | None) -> Iterator[None]:
    token = _current.set(value)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def progress_listener(listener: Listener) -> Iterator[None]:
    """Call a function with the message and the fraction of every report in this block."""
    with _as_current(_Range(listener)):
        yield


@contextmanager
def progress_range(start: float, stop: float) -> Iterator[None]:
    """Map fractions from 0 to 1 that are reported in this block to fractions from ``start`` to ``stop``."""
    whole = _current.get()
    with _as_current(None if whole is None else whole.part(start, stop)):
        yield


@contextmanager
def progress_steps(n_steps: int) -> Iterator[Callable[[str], None]]:
    """Divide this block into equal steps; call the yielded function with the name of each step when it begins.

    Reports within a step cover its part of the range, and their messages follow the name of the step.
    """
    whole, n_begun = _current.get(), 0

    def begin_step(name: str) -> None:
        nonlocal n_begun
        if whole is not None:
            start = min(n_begun, n_steps) / n_steps
            _current.set(whole.part(start, min(1.0, start + 1 / n_steps), f"{name}: "))
            whole.report(name, start)
        n_begun += 1

    with _as_current(whole):
        yield begin_step


def report_progress(message: str, fraction: float) -> None:
    """Report the current step, and the fraction of the work that is done."""
    current = _current.get()
    if current is not None:
        current.report(message, fraction)
