"""Passes over chunked views: small sums over all rows, and lazy arrays with one row per sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from dask.task_spec import List, Task, TaskRef
from dask.tokenize import tokenize
from numpy.typing import NDArray

from latefusion.arrays import available_memory
from latefusion.distributed.chunks import POSITIONS, ChunkedViews, ChunkError
from latefusion.types import Array

# Number of results that one task merges.
FAN_IN = 8
# Rows are kept in memory between passes if they need at most this share of it.
KEPT_SHARE = 0.25
# Names of errors that Dask raises when it cannot reach the scheduler.
LOST = ("CommClosedError", "FutureCancelledError", "FuturesCancelledError", "ClosedClientError")


RowMap = Callable[[Sequence[Array], NDArray[np.intp]], NDArray[Any]]
"""From rows of all views, and the numbers of their samples, to rows of something else."""


def sum_up(
    views: ChunkedViews, function: Callable[..., Any], plan: Any, merge: Callable[[Sequence[Any]], Any], name: str
) -> Any:
    """Compute a small result of all rows in one pass.

    Parameters
    ----------
    views : ChunkedViews
    function : callable
        ``function(plan, start, *blocks)`` of a piece.
    plan : object
        Passed to the function for every piece.
    merge : callable
        From the results of consecutive pieces to the result of all of them.
    name : str
        Name of the pass, for task graphs and errors.

    Returns
    -------
    object
        The merged result of all pieces.
    """
    key = _key(views, name, plan)
    nodes = views.tasks(function, plan, key)
    results: list[Any] = [(key, piece) for piece in range(len(views.piece_rows))]
    while key not in nodes:
        groups = [results[start : start + FAN_IN] for start in range(0, len(results), FAN_IN)]
        results = [(f"{key}-merge", len(groups), position) for position in range(len(groups))]
        for merged, group in zip(results if len(groups) > 1 else [key], groups, strict=True):
            nodes[merged] = Task(merged, merge, List(*map(TaskRef, group)))
    graph = HighLevelGraph.from_collections(key, nodes, dependencies=())
    return run(Delayed(key, graph), views, name)


def lazy_rows(views: ChunkedViews, rows: RowMap, name: str, *, width: int | None, dtype: Any) -> da.Array:
    """The rows that a map returns for the rows of all views, as a lazy array.

    Parameters
    ----------
    views : ChunkedViews
    rows : RowMap
    name : str
    width : int or None
        Number of columns; None for one number per sample.
    dtype : dtype

    Returns
    -------
    dask.array.Array of shape (n_samples, width) or (n_samples,)
    """
    key = _key(views, name, (rows, dtype))
    nodes = views.tasks(_map_piece, (rows, dtype), key, *([] if width is None else [0]))
    graph = HighLevelGraph.from_collections(key, nodes, dependencies=())
    chunks = (views.piece_rows,) if width is None else (views.piece_rows, (width,))
    return da.Array(graph, key, chunks, meta=np.empty((0,) * len(chunks), dtype=dtype))


def _map_piece(plan: tuple[RowMap, Any], start: int, *blocks: Array) -> NDArray[Any]:
    rows, dtype = plan
    return rows(blocks, np.arange(start, start + blocks[0].shape[0])).astype(dtype, copy=False)


def _key(views: ChunkedViews, name: str, plan: Any) -> str:
    return f"latefusion-{name}-{tokenize(name, plan, views.names, [array.name for array in views.arrays])}"


def keep(views: ChunkedViews, name: str) -> ChunkedViews:
    """Compute all rows and keep them in the memory of the workers; they stay lazy if that memory is too small."""
    if sum(array.nbytes for array in views.arrays) > KEPT_SHARE * memory_of_workers():
        return views
    with _explained(views, name):
        return replace(views, arrays=dask.persist(*views.arrays))


def memory_of_workers() -> float:
    """Memory limit of all workers of the active client in bytes, or the free memory of this machine."""
    client = active_client()
    if client is not None:
        limits = [worker["memory_limit"] for worker in client.scheduler_info(n_workers=-1)["workers"].values()]
        if limits and all(limits):
            return float(sum(limits))
    return float(available_memory() or 0)


def active_client() -> Any:
    """The active client of Dask; None if there is none."""
    if dask.config.get("scheduler", None) in ("threads", "threading", "sync", "synchronous", "single-threaded"):
        return None
    try:
        from distributed import get_client

        return get_client()
    except (ModuleNotFoundError, ValueError):  # the cluster is not installed, or there is no client
        return None


def scheduler_address() -> str | None:
    """Address of the scheduler of the active client; None if there is none."""
    client = active_client()
    return None if client is None or client.scheduler is None else str(client.scheduler.address)


def find_scheduler() -> str | None:
    """Address of the scheduler; an error if the configuration requires a cluster and there is no client."""
    wanted, address = dask.config.get("scheduler", None), scheduler_address()
    if wanted in ("distributed", "dask.distributed") and address is None:
        raise RuntimeError(
            f"The Dask configuration has scheduler={wanted!r}, but there is no client. Create one with "
            f"dask.distributed.Client(...), or remove the setting to use the threads of this machine."
        )
    return address


def run(result: Any, views: ChunkedViews, name: str) -> Any:
    """Compute a small result on the active client, or with the default scheduler."""
    with _explained(views, name):
        if views.scheduler is not None and views.scheduler != scheduler_address():
            # Dask would continue with the threads of this process.
            raise CancelledError(f"the client for {views.scheduler} was closed")
        return dask.compute(result)[0]


@contextmanager
def _explained(views: ChunkedViews, name: str) -> Iterator[None]:
    """Turn errors of Dask about workers and connections into errors about chunks, with advice."""
    try:
        yield
    except ChunkError:
        raise
    except Exception as error:
        names = {one.__name__ for one in type(error).__mro__}
        if "KilledWorker" in names:
            raise _killed(error, views, name) from error
        if isinstance(error, CancelledError) or names & {*LOST}:
            raise ConnectionError(
                f"The connection to the Dask scheduler was lost in the pass {name!r} ({type(error).__name__}: "
                f"{error}). The estimator is unchanged. Connect a client and fit again."
            ) from error
        raise


def _killed(error: Any, views: ChunkedViews, name: str) -> ChunkError:
    task = str(error.task)
    place, view, chunk = views.describe_task(task)
    last = _last_position(error)
    if last["view"] in views.names:
        # Dask blames all tasks of the worker, also those that had not started.
        place, view, chunk = views.describe_chunk(last["view"], last["chunk"])
    return ChunkError(
        f"In the pass {name!r}, several workers were killed at {place}, most likely for lack of memory. Use smaller "
        f"chunks, fewer threads per worker or workers with more memory. ({type(error).__name__}: {task})",
        view,
        chunk,
    )


def _last_position(error: Any) -> dict[str, Any]:
    """The view and chunk that the killed worker reported last; None where it reported nothing."""
    client, worker = active_client(), getattr(error.last_worker, "address", None)
    events = [] if client is None else [event for _, event in client.get_events(POSITIONS) if event["worker"] == worker]
    return events[-1] if events else {"view": None, "chunk": None}
