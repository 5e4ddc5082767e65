"""Long work says how far it is, to whoever listens; nobody has to.

with listening(lambda step, share: print(f"{share:.0%} {step}")):
model.fit(views)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

# Called with what begins now, and the share of the work that is done.
Listener = Callable[[str, float], None]


class _Part(NamedTuple):
    """A listener, and the part of its work that is going on."""

    listener: Listener
    start: float = 0.0
    stop: float = 1.0

    def share(self, own: float) -> float:
        return self.start + own * (self.stop - self.start)


_current: ContextVar[_Part | None] = ContextVar("current", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Hear how far the work in this block is."""
    token = _current.set(_Part(listener))
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def within(start: float, stop: float) -> Iterator[None]:
    """What is said in this block is about a part of the work: all of it is from ``start`` to ``stop``."""
    whole = _current.get()
    token = _current.set(None if whole is None else _Part(whole.listener, whole.share(start), whole.share(stop)))
    try:
        yield
    finally:
        _current.reset(token)


def say(step: str, share: float) -> None:
    """Say what begins now, and the share of the work that is done."""
    part = _current.get()
    if part is not None:
        part.listener(step, part.share(share))
