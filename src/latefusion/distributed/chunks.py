"""Views chunked by rows, divided into pieces that one task each works on.

A piece holds the same rows of all views. Tasks that only one piece needs, such as reading its chunks, are fused with
the task that works on the piece. So chunks are not sent between workers, and none of them waits in memory. Tasks that
several pieces need, because the chunks of two views begin in different rows, stay separate.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.core import flatten
from dask.highlevelgraph import HighLevelGraph
from dask.task_spec import Alias, DataNode, GraphNode, Task, TaskRef
from dask.tokenize import tokenize
from numpy.typing import NDArray

from latefusion.arrays.threads import one_thread

# Consecutive chunks form one piece as long as all views together have at most this many entries in it.
LEAST_ENTRIES = 2**20
# Topic under which workers report their position to the scheduler.
POSITIONS = "latefusion-positions"

Nodes = dict[Any, Any]


class ChunkError(RuntimeError):
    """A chunk of a view could not be read or computed.

    Attributes
    ----------
    view : str or None
        Name of the view; None if the task works on all views.
    chunk : int or None
        Number of the chunk of the view; of the piece, if the task works on all views.
    """

    def __init__(self, message: str, view: str | None = None, chunk: int | None = None) -> None:
        super().__init__(message, view, chunk)
        self.view = view
        self.chunk = chunk

    def __str__(self) -> str:
        return str(self.args[0])


def report_position(view: str | None, chunk: int | None) -> None:
    """Report to the scheduler which chunk this worker reads, for the error message in case it is killed.

    Parameters
    ----------
    view : str or None
        None once all chunks of a piece were read.
    chunk : int or None
    """
    cluster = sys.modules.get("distributed")
    if cluster is not None:
        with suppress(ValueError):  # the threads of this process are no worker
            worker = cluster.get_worker()
            worker.log_event(POSITIONS, {"worker": worker.address, "view": view, "chunk": chunk})


def in_one_thread(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function with one thread for linear algebra, since several tasks run at the same time."""
    report_position(None, None)
    with one_thread():
        return function(*args)


def call_guarded(
    function: Callable[..., Any], view: str, chunk: int, first: int, last: int | None, /, *args: Any, **options: Any
) -> Any:
    """Call a function of a task graph; errors name the view, the chunk and its rows, if the last row is known."""
    report_position(view, chunk)
    try:
        return function(*args, **options)
    except ChunkError:
        raise
    except Exception as error:
        rows = "" if last is None else f" (rows {first} to {last})"
        message = f"View {view!r}, chunk {chunk}{rows} cannot be read or computed: {type(error).__name__}: {error}"
        raise ChunkError(message, view, chunk) from error


def row_edges(array: da.Array) -> NDArray[np.intp]:
    """First row of every chunk, and the number of rows."""
    return np.concatenate([[0], np.cumsum(array.chunks[0])])


@dataclass(frozen=True)
class ChunkedViews:
    """Several views as Dask arrays of the same rows.

    Attributes
    ----------
    names : tuple of str
    arrays : tuple of dask.array.Array of shape (n_samples, n_features)
        With known chunk sizes and all columns in one chunk.
    columns : mapping of str to list
        Column names of the views that are data frames.
    scheduler : str or None
        Address of the scheduler; None for the threads of this process.
    """

    names: tuple[str, ...]
    arrays: tuple[da.Array, ...]
    columns: Mapping[str, list[Any]] = field(default_factory=dict)
    scheduler: str | None = None

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.arrays[0].shape[0])

    @property
    def n_views(self) -> int:
        """Number of views."""
        return len(self.arrays)

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of columns of every view."""
        return tuple(int(array.shape[1]) for array in self.arrays)

    @property
    def dtype(self) -> Any:
        """Float type of all views together."""
        return np.result_type(*[array.dtype for array in self.arrays])

    @cached_property
    def piece_rows(self) -> tuple[int, ...]:
        """Number of rows of every piece: the chunks of the view with the fewest chunks, small ones joined."""
        fewest = min((array.chunks[0] for array in self.arrays), key=len)
        pieces: list[int] = []
        for rows in fewest:
            if pieces and (pieces[-1] + rows) * sum(self.widths) <= LEAST_ENTRIES:
                pieces[-1] += rows
            elif rows:
                pieces.append(int(rows))
        return tuple(pieces)

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """First row of every piece, and the number of rows."""
        return np.concatenate([[0], np.cumsum(self.piece_rows)])

    def describe_task(self, key: str) -> tuple[str, str | None, int | None]:
        """Position of a task: in words, the view (None for all views), and the number of the chunk or piece."""
        number = re.search(r"', (\d+)", key)
        for name, array in zip(self.names, self.arrays, strict=True):
            if number and guarded_name(array, name) in key:
                return f"view {name!r}, chunk {number[1]}", name, int(number[1])
        if not number or "latefusion-" not in key:
            return f"a chunk of the views {', '.join(map(repr, self.names))}", None, None
        piece = int(number[1])
        first, last = int(self.starts[piece]), int(self.starts[piece + 1]) - 1
        held = []
        for name, array in zip(self.names, self.arrays, strict=True):
            numbers = np.unique(np.searchsorted(row_edges(array), [first, last], side="right") - 1)
            held.append(f"{name!r} chunks {'-'.join(map(str, numbers))}")
        view = self.names[0] if self.n_views == 1 else None
        return f"piece {piece} (rows {first} to {last}: {', '.join(held)})", view, piece

    def describe_chunk(self, name: str, chunk: int) -> tuple[str, str, int]:
        """The same for a chunk of a view."""
        first, stop = row_edges(self.arrays[self.names.index(name)])[chunk : chunk + 2]
        return f"view {name!r}, chunk {chunk} (rows {first} to {stop - 1})", name, chunk

    def tasks(self, function: Callable[..., Any], plan: Any, name: str, *indices: int) -> Nodes:
        """A task graph with one task per piece, which works on the rows of all views.

        Parameters
        ----------
        function : callable
            ``function(plan, start, *blocks)`` with the number of the first row and the rows of every view.
        plan : object
            Sent to every worker once.
        name : str
            The task of piece i has the key (name, i, *indices).
        *indices : int

        Returns
        -------
        dict
        """
        plan_key = f"{name}-plan"
        names, own_tasks, shared = self._graph
        nodes = {**shared, plan_key: DataNode(plan_key, plan)}
        for piece, (start, own) in enumerate(zip(self.starts[:-1].tolist(), own_tasks, strict=True)):
            blocks = [TaskRef((array_name, piece, 0)) for array_name in names]
            task = Task((name, piece, *indices), in_one_thread, function, TaskRef(plan_key), start, *blocks)
            nodes[task.key] = GraphNode.fuse(*own, task) if own else task
        return nodes

    @cached_property
    def _graph(self) -> tuple[list[str], list[list[Any]], Nodes]:
        """Names of the views as arrays of pieces; the tasks that only one piece needs; shared tasks and data."""
        arrays = []
        for name, array in zip(self.names, self.arrays, strict=True):
            guarded = guard(array, name)
            arrays.append(guarded if guarded.chunks[0] == self.piece_rows else guarded.rechunk({0: self.piece_rows}))
        nodes: Nodes = {}
        for array in arrays:
            nodes.update(optimized_nodes(array))
        owners: dict[Any, int] = {}
        for piece in range(len(self.piece_rows)):
            for key in reachable(nodes, [(array.name, piece, 0) for array in arrays]):
                owners[key] = piece if owners.get(key, piece) == piece else -1
        own: list[list[Any]] = [[] for _ in self.piece_rows]
        shared: Nodes = {}
        for key, piece in owners.items():
            if piece >= 0 and isinstance(nodes[key], (Task, Alias)):
                own[piece].append(nodes[key])
            else:
                shared[key] = nodes[key]
        return [array.name for array in arrays], own, shared


def guard(array: da.Array, view: str) -> da.Array:
    """The same array with a task graph whose errors name the view and the chunk.

    Parameters
    ----------
    array : dask.array.Array
        With all columns in one chunk.
    view : str

    Returns
    -------
    dask.array.Array
    """
    nodes = optimized_nodes(array)
    prefix = guarded_name(array, view)
    names = {key: _renamed(key, prefix) for key, node in nodes.items() if isinstance(node, (Task, Alias))}
    guarded: Nodes = {}
    for chunk, (first, stop) in enumerate(pairwise(row_edges(array).tolist())):
        block = (array.name, chunk, 0)
        for key in reachable(nodes, [block], known=guarded):
            guarded[key] = nodes[key]
            if key in names:
                guarded[key] = copy = nodes[key].substitute(names, key=names[key])
                if type(copy) is Task:  # containers such as lists are subclasses of Task
                    copy.func = partial(call_guarded, copy.func, view, chunk, first, max(first, stop - 1))
        guarded[(prefix, chunk, 0)] = Alias((prefix, chunk, 0), names.get(block, block))
    graph = {node.key if key in names else key: node for key, node in guarded.items()}
    layer = HighLevelGraph.from_collections(prefix, graph, dependencies=())
    return da.Array(layer, prefix, array.chunks, meta=array._meta)


def guarded_name(array: da.Array, view: str) -> str:
    """The prefix of the task keys of a guarded view."""
    return f"view-{tokenize(array.name, view)}"


def optimized_nodes(array: da.Array) -> Nodes:
    """The optimized task graph of an array, including data that workers already hold in memory."""
    nodes: Nodes = dict(dask.optimize(array)[0].__dask_graph__())
    needed = {key for node in nodes.values() for key in getattr(node, "dependencies", ())}
    absent = (needed | {*flatten(array.__dask_keys__())}) - nodes.keys()
    if absent:
        whole = dict(array.__dask_graph__())
        nodes.update({key: whole[key] for key in absent})
    return nodes


def _renamed(key: Any, prefix: str) -> Any:
    """A new key, so that Dask does not confuse guarded and unguarded tasks."""
    return (f"{prefix}-{key[0]}", *key[1:]) if isinstance(key, tuple) else f"{prefix}-{key}"


def reachable(nodes: Mapping[Any, Any], keys: Sequence[Any], known: Mapping[Any, Any] | None = None) -> Iterator[Any]:
    """The keys of some nodes and of all nodes that they depend on, without known nodes and their dependencies."""
    seen: set[Any] = set()
    waiting = list(keys)
    while waiting:
        key = waiting.pop()
        if key in seen or (known is not None and key in known):
            continue
        seen.add(key)
        yield key
        waiting.extend(getattr(nodes[key], "dependencies", ()))
