"""Run cells in parallel processes with limits of time and memory, and report every result as soon as it is computed.

Workers are processes that evaluate one cell after the other. If a worker dies, or is killed because it takes too long,
its cell gets that reason, and the worker is replaced. Only the calling process writes results, so that killing it loses
only the cells that are running; the workers end with it.
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
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

from latefusion.arrays.threads import product_threads
from latefusion.experiments.protocol import Cell, Point, evaluate
from latefusion.experiments.store import Outcome
from latefusion.progress import report_progress

MIB = 2**20


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


def cost(cell: Cell) -> float:
    """Rough relative cost of a cell: the square of its number of samples."""
    return float(cell.source.n_samples) ** 2


def _group(cell: Cell) -> tuple[str, str, str]:
    return cell.source.name, cell.method, cell.protocol


def run_cells(
    cells: Sequence[Cell],
    record: Callable[[Cell, Outcome], None],
    *,
    jobs: int = 1,
    limits: Limits | None = None,
    work: Callable[[Cell], list[Point]] | None = None,
) -> None:
    """Evaluate cells in parallel; reports the share of the cost that is done.

    Parameters
    ----------
    cells : sequence of Cell
    record : callable
        Called in this process with every cell and its outcome.
    jobs : int, default=1
        Number of processes.
    limits : Limits, default=None
        No limits when None.
    work : callable, default=None
        Function that runs a cell, which can be imported by its name; `evaluate` when None.
    """
    work, limits = work or evaluate, limits or Limits()
    context = _context(work)
    waiting = list(reversed(cells))
    done, total = list[Cell](), sum(map(cost, cells))
    report_progress(f"0 of {len(cells)} cells", 0.0)
    workers: list[_Worker] = []
    threads = max(1, (os.cpu_count() or 1) // jobs)
    try:
        while waiting or any(worker.cell is not None for worker in workers):
            busy = sum(worker.cell is not None for worker in workers)
            while len(workers) < min(jobs, busy + len(waiting)):
                workers.append(_Worker(context, work, limits, threads))
            idle = [worker for worker in workers if worker.cell is None and worker.ready]
            for worker in idle:
                if waiting:
                    worker.begin(waiting.pop())
            deadlines = [worker.deadline for worker in workers if worker.deadline is not None]
            patience = max(0.0, min(deadlines) - time.monotonic()) if deadlines else None
            wait([worker.connection for worker in workers], patience)
            for worker in list(workers):
                cell = worker.cell
                outcome = worker.poll()
                if outcome is not None and cell is not None:
                    record(cell, outcome)
                    done.append(cell)
                    message = f"{len(done)} of {len(cells)} cells, {cell.source.name}, {cell.method}"
                    report_progress(message, sum(map(cost, done)) / total)
                if worker.gone:
                    workers.remove(worker)
                    if cell is None:
                        raise OSError(f"A worker process ended before its first cell: {worker.last_words()}.")
    finally:
        for worker in workers:
            worker.kill()


class _Worker:
    """A process and its current cell."""

    def __init__(self, context: Any, work: Callable[..., Any], limits: Limits, threads: int) -> None:
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other, work, limits.memory, threads), daemon=True)
        self.process.start()
        other.close()
        self.limits = limits
        self.ready = self.gone = False
        self.cell: Cell | None = None
        self.deadline: float | None = None

    def begin(self, cell: Cell) -> None:
        """Send a cell to the process."""
        self.cell = cell
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
                return self._failed(f"crashed ({self.last_words()})")
            if not self.ready:
                self.ready = True
                return None
            points, reason = message
            return self._ended(Outcome(time.monotonic() - self.started, points, reason))
        if self.deadline is not None and time.monotonic() >= self.deadline:
            self.kill()
            return self._failed(f"took more than {self.limits.seconds:g} s")
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

    def _failed(self, reason: str) -> Outcome:
        return self._ended(Outcome(time.monotonic() - getattr(self, "started", time.monotonic()), [], reason))

    def _ended(self, outcome: Outcome) -> Outcome:
        self.cell = self.deadline = None
        return outcome


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
            connection.send(_outcome(work, cell))


def _outcome(work: Callable[[Any], Any], cell: Any) -> tuple[list[Point], str]:
    try:
        return work(cell), ""
    except MemoryError as error:
        return [], " ".join(["out of memory:", str(error).split(". ")[0]]).rstrip(": ")
    except Exception as error:  # noqa: BLE001 (any error of a method becomes the reason of its cell)
        return [], f"{type(error).__name__}: {error}"


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
