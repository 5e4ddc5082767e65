"""Run cells in parallel processes with limits of time and memory, and report every result as soon as it is computed.

Workers are processes that evaluate one cell after the other. If a worker dies, or is killed because it takes too long,
its cell gets that reason with the results that it has sent until then, and the worker is replaced. Only the calling
process writes results, so that killing it loses only the cells that are running; the workers end with it.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from threadpoolctl import threadpool_limits

from latefusion.arrays.threads import product_threads
from latefusion.experiments.protocol import Cell, evaluate
from latefusion.experiments.store import Outcome
from latefusion.progress import report_progress

MIB = 2**20
# First words of the reasons of cells that exceeded a limit.
TOOK_TOO_LONG, OUT_OF_MEMORY = "took more than", "out of memory"


class Sized(Protocol):
    """A data set, of which only the name and the size matter here."""

    @property
    def name(self) -> str:
        """Name, for messages."""

    @property
    def n_samples(self) -> int:
        """Number of samples."""


class Task(Protocol):
    """A cell of any experiment: one method on one data set."""

    @property
    def source(self) -> Sized:
        """The data set."""

    @property
    def method(self) -> str:
        """Name of the method."""


AnyCell = TypeVar("AnyCell", bound=Task)


class Limits(NamedTuple):
    """Limits of one cell.

    Attributes
    ----------
    seconds : float or None
    memory : int or None
        MiB in addition to the memory of Python and its libraries; enforced on Linux only.
    """

    seconds: float | None = None
    memory: int | None = None


def cheapest_first(cells: Sequence[Cell]) -> list[Cell]:
    """Cells in an order that gives an interrupted run as many complete results as possible.

    Parameters
    ----------
    cells : sequence of Cell

    Returns
    -------
    list of Cell
        Cells of one method, protocol and data set stay together; the cheapest groups come first.
    """
    sizes = Counter(map(_group, cells))
    return sorted(cells, key=lambda cell: sizes[_group(cell)] * cost(cell))


def cost(cell: Task) -> float:
    """Rough relative cost of a cell: the square of its number of samples."""
    return float(cell.source.n_samples) ** 2


def _group(cell: Cell) -> tuple[str, str, str]:
    return cell.source.name, cell.method, cell.protocol


def run_cells(
    cells: Sequence[AnyCell],
    record: Callable[[AnyCell, Outcome], None],
    *,
    jobs: int = 1,
    limits: Limits | None = None,
    work: Callable[[AnyCell], Iterable[Any]] | None = None,
    skip: Callable[[AnyCell], bool] | None = None,
    threads: int | None = None,
    fresh: bool = False,
) -> None:
    """Evaluate cells in parallel; reports the share of the cost that is done.

    Parameters
    ----------
    cells : sequence of cells
    record : callable
        Called in this process with every cell and its outcome.
    jobs : int, default=1
        Number of processes.
    limits : Limits, default=None
        No limits when None.
    work : callable, default=None
        Function that runs a cell and returns or yields its results, which can be imported by its name; `evaluate` when
        None. What it has yielded before a limit is kept.
    skip : callable, default=None
        Called before a cell would begin; whether to leave it out.
    threads : int, default=None
        Threads of numerical libraries per process; the cores are divided among the processes when None.
    fresh : bool, default=False
        Whether every cell has a new process, so that no cell starts with memory of an earlier one.
    """
    chosen: Callable[[Any], Iterable[Any]] = work or evaluate
    limits, context = limits or Limits(), _context(chosen)
    threads = threads or max(1, (os.cpu_count() or 1) // jobs)
    queue = _Queue(cells, skip)
    workers: list[_Worker] = []
    try:
        while queue.n_due() or any(worker.cell is not None for worker in workers):
            busy = sum(worker.cell is not None for worker in workers)
            while len(workers) < min(jobs, busy + queue.n_due()):
                workers.append(_Worker(context, chosen, limits, threads))
            for worker in workers:
                if worker.cell is None and worker.ready and queue.n_due():
                    worker.begin(queue.take())
            for cell, outcome in _ended_cells(workers, fresh):
                record(cell, outcome)
                queue.count(cell)
    finally:
        for worker in workers:
            worker.kill()


class _Queue(Generic[AnyCell]):
    """Cells that wait, and the progress of all."""

    def __init__(self, cells: Sequence[AnyCell], skip: Callable[[AnyCell], bool] | None) -> None:
        self.waiting, self.done = list(reversed(cells)), list[AnyCell]()
        self.skip = skip
        self.n_cells, self.total = len(cells), sum(map(cost, cells))
        report_progress(f"0 of {self.n_cells} cells", 0.0)

    def n_due(self) -> int:
        """Number of waiting cells, at most; the next one is not to be left out."""
        while self.waiting and self.skip is not None and self.skip(self.waiting[-1]):
            self.count(self.take(), " (left out)")
        return len(self.waiting)

    def take(self) -> AnyCell:
        """The next cell, which is removed."""
        return self.waiting.pop()

    def count(self, cell: AnyCell, note: str = "") -> None:
        """Report that a cell is done."""
        self.done.append(cell)
        message = f"{len(self.done)} of {self.n_cells} cells, {cell.source.name}, {cell.method}{note}"
        report_progress(message, sum(map(cost, self.done)) / self.total)


def _ended_cells(workers: list[_Worker], fresh: bool) -> Iterator[tuple[Any, Outcome]]:
    """Wait for messages or the next deadline; the cells that ended. Workers that are gone are removed."""
    deadlines = [worker.deadline for worker in workers if worker.deadline is not None]
    patience = max(0.0, min(deadlines) - time.monotonic()) if deadlines else None
    wait([worker.connection for worker in workers], patience)
    for worker in list(workers):
        cell = worker.cell
        outcome = worker.poll()
        if outcome is not None and fresh and not worker.gone:
            worker.kill()
        if worker.gone:
            workers.remove(worker)
            if cell is None:
                raise OSError(f"A worker process ended before its first cell: {worker.last_words()}.")
        if outcome is not None and cell is not None:
            yield cell, outcome


class _Worker:
    """A process and its current cell."""

    def __init__(self, context: Any, work: Callable[..., Any], limits: Limits, threads: int) -> None:
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other, work, limits.memory, threads), daemon=True)
        self.process.start()
        other.close()
        self.limits = limits
        self.ready = self.gone = False
        self.cell: Any = None
        self.parts: list[Any] = []
        self.deadline: float | None = None

    def begin(self, cell: Any) -> None:
        """Send a cell to the process."""
        self.cell, self.parts = cell, []
        self.started = time.monotonic()
        self.deadline = None if self.limits.seconds is None else self.started + self.limits.seconds
        self.connection.send(cell)

    def poll(self) -> Outcome | None:
        """The outcome of its cell, if it is finished."""
        if self.connection.poll():
            try:
                message = self.connection.recv()
            except (EOFError, OSError):
                self.kill()
                return self._ended(f"crashed ({self.last_words()})")
            if not self.ready:
                self.ready = True
                return None
            is_last, content = message
            if is_last:
                return self._ended(content)
            self.parts.append(content)
            return None
        if self.deadline is not None and time.monotonic() >= self.deadline:
            self.kill()
            return self._ended(f"{TOOK_TOO_LONG} {self.limits.seconds:g} s")
        return None

    def kill(self) -> None:
        """Kill the process and its children."""
        self.gone = True
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except (AttributeError, ProcessLookupError, PermissionError):
            self.process.kill()
        self.process.join()
        self.connection.close()

    def last_words(self) -> str:
        """How the process ended."""
        code = self.process.exitcode
        return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"

    def _ended(self, reason: str) -> Outcome:
        self.cell = self.deadline = None
        return Outcome(time.monotonic() - getattr(self, "started", time.monotonic()), self.parts, reason)


def _context(work: Callable[..., Any]) -> Any:
    """Context of new processes, with the library already imported if the system supports that."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([work.__module__, "sklearn.cluster", "latefusion.experiments.protocol"])
    return context


def _serve(connection: Connection, work: Callable[[Any], Any], memory: int | None, threads: int) -> None:
    if hasattr(os, "setsid"):
        os.setsid()  # a process group, which can be killed as a whole
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _limit_memory(memory)
    with threadpool_limits(min(threads, product_threads())):  # at most as many as the environment allows
        connection.send("ready")
        while True:
            try:
                cell = connection.recv()
            except EOFError:
                return
            connection.send((True, _reason(work, cell, connection)))


def _reason(work: Callable[[Any], Iterable[Any]], cell: Any, connection: Connection) -> str:
    """Send the results of a cell as they come; return why it failed, if it did."""
    try:
        for part in work(cell):
            connection.send((False, part))
    except MemoryError as error:
        return " ".join([f"{OUT_OF_MEMORY}:", str(error).split(". ")[0]]).rstrip(": ")
    except Exception as error:  # noqa: BLE001 (any error of a method becomes the reason of its cell)
        return f"{type(error).__name__}: {error}"
    return ""


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _limit_memory(memory: int | None) -> None:
    if memory is None or sys.platform != "linux":
        return
    resource: Any = importlib.import_module("resource")
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + memory * MIB,) * 2)
