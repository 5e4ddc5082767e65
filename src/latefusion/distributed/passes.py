"""Passes over chunked views: sums over all rows that end in something small, and arrays of rows that stay lazy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import Any, NoReturn

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from dask.task_spec import List, Task, TaskRef
from dask.tokenize import tokenize

from latefusion.arrays import available_memory
from latefusion.distributed.chunks import PLACES, ChunkedViews, ChunkError, Nodes

# Results that are put together in one task.
FAN_IN = 8
# Rows are kept in memory between passes if they need no more than this share of it.
KEPT_SHARE = 0.25
# Names of errors of Dask that say that the scheduler is out of reach.
LOST = ("CommClosedError", "FutureCancelledError", "FuturesCancelledError", "ClosedClientError")


def sum_up(
    views: ChunkedViews, function: Callable[..., Any], plan: Any, merge: Callable[[Sequence[Any]], Any], name: str
) -> Any:
    """One pass over all pieces that ends in something small.

    Parameters
    ----------
    views : ChunkedViews
    function : callable
        ``function(plan, start, *blocks)`` of a piece.
    plan : object
        What all pieces need to know.
    merge : callable
        Takes results of neighbouring pieces, in their order, and returns that of all of them.
    name : str
        Of the pass, for graphs and errors.

    Returns
    -------
    object
        What `merge` makes of all pieces.
    """
    token = tokenize(name, plan, views.names, [array.name for array in views.arrays])
    key = f"latefusion-{name}-{token}"
    nodes = views.tasks(function, plan, key)
    keys: list[Any] = [(key, piece) for piece in range(len(views.piece_rows))]
    nodes[key], _ = _merged(nodes, keys, merge, key)
    graph = HighLevelGraph.from_collections(key, nodes, dependencies=())
    return run(Delayed(key, graph), views, name)


def _merged(nodes: Nodes, keys: list[Any], merge: Callable[[Sequence[Any]], Any], name: str) -> tuple[Task, int]:
    """The last of tasks that put results together, a few at a time; the others go into the graph."""
    level = 0
    while len(keys) > FAN_IN:
        level += 1
        groups = [keys[start : start + FAN_IN] for start in range(0, len(keys), FAN_IN)]
        keys = [(f"{name}-merge", level, position) for position in range(len(groups))]
        for key, group in zip(keys, groups, strict=True):
            nodes[key] = Task(key, merge, List(*map(TaskRef, group)))
    return Task(name, merge, List(*map(TaskRef, keys))), level


def lazy_rows(
    views: ChunkedViews, function: Callable[..., Any], plan: Any, name: str, *, width: int | None, dtype: Any
) -> da.Array:
    """An array with one row, or one number, for every row of the views, computed when it is asked for.

    Parameters
    ----------
    views : ChunkedViews
    function, plan : as in `sum_up`
        The result has as many rows as the piece.
    name : str
    width : int or None
        Number of columns; None for numbers.
    dtype : dtype

    Returns
    -------
    dask.array.Array of shape (n_samples, width) or (n_samples,)
    """
    key = f"latefusion-{name}-{tokenize(name, plan, views.names, [array.name for array in views.arrays])}"
    nodes = views.tasks(function, plan, key, *([] if width is None else [0]))
    graph = HighLevelGraph.from_collections(key, nodes, dependencies=())
    chunks = (views.piece_rows,) if width is None else (views.piece_rows, (width,))
    return da.Array(graph, key, chunks, meta=np.empty((0,) * len(chunks), dtype=dtype))


def keep(rows: da.Array, views: ChunkedViews, name: str) -> da.Array | None:
    """The rows in the memory of the workers, so that more passes over them read nothing; None if it is too small."""
    if rows.nbytes > KEPT_SHARE * memory_of_workers():
        return None
    with _explained(views, name):
        (kept,) = dask.persist(rows)
    return kept


def memory_of_workers() -> float:
    """Bytes that all workers of the active client may use, or that this machine has left."""
    client = active_client()
    if client is not None:
        limits = [worker["memory_limit"] for worker in client.scheduler_info(n_workers=-1)["workers"].values()]
        if limits and all(limits):
            return float(sum(limits))
    return float(available_memory() or 0)


def active_client() -> Any:
    """The client of Dask that computations go to; None without one."""
    if dask.config.get("scheduler", None) in ("threads", "threading", "sync", "synchronous", "single-threaded"):
        return None
    try:
        from distributed import get_client
    except ModuleNotFoundError:
        return None
    try:
        return get_client()
    except ValueError:
        return None


def scheduler_address() -> str | None:
    """Where computations go to: the scheduler of the active client; None without one."""
    client = active_client()
    return None if client is None or client.scheduler is None else str(client.scheduler.address)


def find_scheduler() -> str | None:
    """Address of the scheduler; an error where a cluster was asked for and there is none."""
    wanted, address = dask.config.get("scheduler", None), scheduler_address()
    if wanted in ("distributed", "dask.distributed") and address is None:
        raise RuntimeError(
            f"The configuration asks for scheduler={wanted!r}, but there is no client: create one with "
            f"dask.distributed.Client(...), or leave the setting out to work with the threads of this machine."
        )
    return address


def run(result: Any, views: ChunkedViews, name: str) -> Any:
    """Compute something small on the active client, or with the default scheduler."""
    with _explained(views, name):
        if views.scheduler is not None and views.scheduler != scheduler_address():
            # Dask would go on with the threads of this process.
            raise CancelledError(f"there is no client for {views.scheduler} any more")
        return dask.compute(result)[0]


class _explained:
    """Inside, errors of Dask about workers and connections become errors about chunks and what to do."""

    def __init__(self, views: ChunkedViews, name: str) -> None:
        self.views = views
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if kind is None or isinstance(error, ChunkError):
            return
        names = {one.__name__ for one in kind.__mro__}
        if "KilledWorker" in names:
            self._killed(error)
        if isinstance(error, CancelledError) or names & {*LOST}:
            raise ConnectionError(
                f"The connection to the Dask scheduler was lost in the pass {self.name!r} ({kind.__name__}: {error}). "
                f"Nothing of this fit is kept: connect a client and fit again."
            ) from error

    def _killed(self, error: Any) -> NoReturn:
        task = str(error.task)
        place, view, chunk = self.views.device_name(task)
        told = _last_told(error)
        if told["view"] in self.views.names:
            # All tasks that the worker had are said to have failed, also those that only waited.
            view, chunk = told["view"], told["chunk"]
            place = self.views.chunk_in_words(view, chunk)
        raise ChunkError(
            f"In the pass {self.name!r}, workers died again and again at {place}, most likely for lack of memory. Use "
            f"smaller chunks, fewer threads per worker or workers with more memory. ({type(error).__name__}: {task})",
            view,
            chunk,
        ) from error


def _last_told(error: Any) -> dict[str, Any]:
    """What the last worker that a task killed was at, as far as it could tell."""
    client, worker = active_client(), getattr(error.last_worker, "address", None)
    told = [] if client is None else [event for _, event in client.get_events(PLACES) if event["worker"] == worker]
    return told[-1] if told else {"view": None, "chunk": None}
