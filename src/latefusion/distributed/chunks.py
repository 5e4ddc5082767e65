"""Views chunked by rows: brought into line, guarded, and cut into pieces that are each worked on in one task.

A piece holds the same rows of all views. What only one piece needs of the graph of the views, as the reading of its
chunks, is put into the task that works on the piece: so chunks are not sent from one worker to another, and none of
them waits in memory. What pieces share, where the chunks of views begin in different rows, stays a task of its own.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
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

# Neighbouring chunks are put together while all views have no more entries than this in them.
LEAST_ENTRIES = 2**20
# Where workers tell the scheduler what they are at.
PLACES = "latefusion-places"

Nodes = dict[Any, Any]


class ChunkError(RuntimeError):
    """A chunk of a view that could not be read, computed, or worked on.

    Attributes
    ----------
    view : str or None
        Name of the view; None where a task works on all views.
    chunk : int or None
        Number of the chunk, as the view is chunked; of the piece, where a task works on all views.
    """

    def __init__(self, message: str, view: str | None = None, chunk: int | None = None) -> None:
        super().__init__(message, view, chunk)
        self.view = view
        self.chunk = chunk

    def __str__(self) -> str:
        return str(self.args[0])


def tell_place(view: str | None, chunk: int | None) -> None:
    """Tell the scheduler what this worker is at: should it be killed, this is all that is left to say.

    Parameters
    ----------
    view : str or None
        None once all chunks of a piece are there.
    chunk : int or None
    """
    cluster = sys.modules.get("distributed")
    if cluster is None:
        return
    try:
        worker = cluster.get_worker()
    except ValueError:  # the threads of this process
        return
    worker.log_event(PLACES, {"worker": worker.address, "view": view, "chunk": chunk})


def alone(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function that works in one thread, its own: tasks are what runs at the same time."""
    tell_place(None, None)
    with one_thread():
        return function(*args)


@dataclass(frozen=True)
class Guarded:
    """A function of a graph, whose errors name the view and the chunk."""

    function: Callable[..., Any]
    view: str
    chunk: int
    first: int
    last: int

    def __call__(self, *args: Any, **options: Any) -> Any:
        """What the function returns."""
        tell_place(self.view, self.chunk)
        try:
            return self.function(*args, **options)
        except ChunkError:
            raise
        except Exception as error:
            raise ChunkError(
                f"View {self.view!r}, chunk {self.chunk} (rows {self.first} to {self.last}) cannot be read or "
                f"computed: {type(error).__name__}: {error}",
                self.view,
                self.chunk,
            ) from error


@dataclass(frozen=True)
class ChunkedViews:
    """Several views as Dask arrays of the same rows.

    Attributes
    ----------
    names : tuple of str
    arrays : tuple of dask.array.Array of shape (n_samples, n_features)
        Of known chunks, all columns in one of them.
    columns : mapping of str to list
        Column names of the views that are data frames.
    scheduler : str or None
        Address of the scheduler that computes; None for the one of this process.
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
        """Float type that holds all views."""
        return np.result_type(*[array.dtype for array in self.arrays])

    @cached_property
    def piece_rows(self) -> tuple[int, ...]:
        """Number of rows of every piece: the chunks of the view that has fewest, small ones put together."""
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

    def device_name(self, key: str) -> tuple[str, str | None, int | None]:
        """Where a task of a pass works: in words, the view (None for all of them), and the number of chunk or piece."""
        number = re.search(r"', (\d+)", key)
        for name, array in zip(self.names, self.arrays, strict=True):
            if number and guarded_name(array, name) in key:
                return f"view {name!r}, chunk {number[1]}", name, int(number[1])
        if not number or "latefusion-" not in key:
            return f"a chunk of the views {', '.join(map(repr, self.names))}", None, None
        piece = int(number[1])
        first, last = int(self.starts[piece]), int(self.starts[piece + 1]) - 1
        held = [
            f"{name!r} chunks {'-'.join(map(str, self._chunks_with(view, first, last)))}"
            for view, name in enumerate(self.names)
        ]
        view = self.names[0] if self.n_views == 1 else None
        return f"piece {piece} (rows {first} to {last}: {', '.join(held)})", view, piece

    def chunk_in_words(self, name: str, chunk: int) -> str:
        """A chunk of a view, with its rows."""
        stops = np.cumsum(self.arrays[self.names.index(name)].chunks[0])
        first = int(stops[chunk - 1]) if chunk else 0
        return f"view {name!r}, chunk {chunk} (rows {first} to {int(stops[chunk]) - 1})"

    def _chunks_with(self, view: int, *rows: int) -> list[int]:
        """The chunks of a view that rows are in."""
        return sorted({int(np.searchsorted(np.cumsum(self.arrays[view].chunks[0]), row, side="right")) for row in rows})

    def tasks(self, function: Callable[..., Any], plan: Any, name: str, *indices: int) -> Nodes:
        """A graph in which one task per piece works on the blocks of all views.

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
        nodes = {**self._graph.shared, plan_key: DataNode(plan_key, plan)}
        for piece, (start, own) in enumerate(zip(self.starts[:-1].tolist(), self._graph.own, strict=True)):
            blocks = [TaskRef((array, piece, 0)) for array in self._graph.array_names]
            task = Task((name, piece, *indices), alone, function, TaskRef(plan_key), start, *blocks)
            nodes[task.key] = GraphNode.fuse(*own, task) if own else task
        return nodes

    @cached_property
    def _graph(self) -> _PieceGraph:
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
        for key, piece in owners.items():
            if piece >= 0 and isinstance(nodes[key], (Task, Alias)):
                own[piece].append(nodes[key])
        inside = {node.key for part in own for node in part}
        shared = {key: nodes[key] for key in owners if key not in inside}
        return _PieceGraph([array.name for array in arrays], own, shared)


@dataclass(frozen=True)
class _PieceGraph:
    """The graph of all views: what only one piece needs, and what several do or what is data."""

    array_names: list[str]
    own: list[list[Any]]
    shared: Nodes


def guard(array: da.Array, view: str) -> da.Array:
    """The same array by a graph whose errors name the view and the chunk.

    Parameters
    ----------
    array : dask.array.Array
    view : str

    Returns
    -------
    dask.array.Array
    """
    nodes = optimized_nodes(array)
    prefix = guarded_name(array, view)
    names = {key: _renamed(key, prefix) for key, node in nodes.items() if isinstance(node, (Task, Alias))}
    guarded: Nodes = {}
    edges = np.concatenate([[0], np.cumsum(array.chunks[0])]).tolist()
    for chunk, (first, stop) in enumerate(pairwise(edges)):
        for column in range(array.numblocks[1]):
            block = (array.name, chunk, column)
            for key in reachable(nodes, [block], known=guarded):
                node = nodes[key]
                if key not in names:
                    guarded[key] = node
                    continue
                copy = node.substitute(names, key=names[key])
                if type(copy) is Task:  # lists and other containers are kinds of tasks, too
                    copy.func = Guarded(copy.func, view, chunk, first, max(first, stop - 1))
                guarded[key] = copy
            guarded[(prefix, chunk, column)] = Alias((prefix, chunk, column), names.get(block, block))
    graph = {node.key if key in names else key: node for key, node in guarded.items()}
    layer = HighLevelGraph.from_collections(prefix, graph, dependencies=())
    return da.Array(layer, prefix, array.chunks, meta=array._meta)


def guarded_name(array: da.Array, view: str) -> str:
    """How the keys of a guarded view begin."""
    return f"view-{tokenize(array.name, view)}"


def optimized_nodes(array: da.Array) -> Nodes:
    """The graph of an array as Dask optimizes it, with what it leaves out because it is in the memory of workers."""
    nodes: Nodes = dict(dask.optimize(array)[0].__dask_graph__())
    needed = {key for node in nodes.values() for key in getattr(node, "dependencies", ())}
    absent = (needed | {*flatten(array.__dask_keys__())}) - nodes.keys()
    if absent:
        whole = dict(array.__dask_graph__())
        nodes.update({key: whole[key] for key in absent})
    return nodes


def _renamed(key: Any, prefix: str) -> Any:
    """Another key, so that nobody takes a task that is not guarded for one that is."""
    return (f"{prefix}-{key[0]}", *key[1:]) if isinstance(key, tuple) else f"{prefix}-{key}"


def reachable(nodes: Mapping[Any, Any], keys: Sequence[Any], known: Mapping[Any, Any] | None = None) -> Iterator[Any]:
    """The keys that some nodes of a graph depend on, these included; not those that are known, and what they need."""
    seen: set[Any] = set()
    waiting = list(keys)
    while waiting:
        key = waiting.pop()
        if key in seen or (known is not None and key in known):
            continue
        seen.add(key)
        yield key
        waiting.extend(getattr(nodes[key], "dependencies", ()))
