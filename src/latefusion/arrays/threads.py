"""Row blocks shared among threads, each of which multiplies on its own.

A BLAS library splits every product among all threads. For blocks that fit into the cache, meeting again after each of
them costs more than the split saves, and between the products all threads but one are idle. So the blocks are dealt out
to the threads instead, and the library runs in one thread for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from latefusion.arrays.namespace import is_device_array, row_blocks
from latefusion.types import Array

# Rows that are treated at a time: with some dozens of columns they stay in the cache.
MAPPED_ROWS = 2**13
# Up to this many rows all products are small.
FEW_ROWS = 5000

Result = TypeVar("Result")

# Threads that `one_thread` leaves idle; none in threads that are started inside, which share the machine already.
_idle_threads: ContextVar[int] = ContextVar("idle threads", default=1)


def share_blocks(
    work: Callable[[Sequence[slice]], Result],
    blocks: Iterable[slice],
    *,
    on_device: bool = False,
    is_heavy: bool = False,
) -> list[Result]:
    """Deal out blocks of rows to threads.

    Parameters
    ----------
    work : callable
        Treats some of the blocks and returns what it found in them.
    blocks : iterable of slice
    on_device : bool, default=False
        Whether the rows lie on a device, which is busy with one block.
    is_heavy : bool, default=False
        Whether the work is worth threads where the rows are few, see `threads_for`.

    Returns
    -------
    list
        What every thread found. As many threads are used as the BLAS library would use here, so the limits that a user
        or a caller has set hold.
    """
    dealt = list(blocks)
    allowed = max(product_threads(), _idle_threads.get() if is_heavy else 1)
    n_threads = 1 if on_device else min(len(dealt), allowed)
    if n_threads <= 1:
        return [work(dealt)]
    with one_product_thread(), ThreadPoolExecutor(n_threads) as threads:
        return list(threads.map(work, [dealt[first::n_threads] for first in range(n_threads)]))


def map_rows(function: Callable[..., Array], *arrays: Array) -> Array:
    """What a function that treats every row for itself makes of all rows.

    Parameters
    ----------
    function : callable
        Takes rows of every array and returns an array with as many rows.
    *arrays : arrays with the same number of rows

    Returns
    -------
    array
    """
    n_rows = arrays[0].shape[0]
    if n_rows <= MAPPED_ROWS or is_device_array(arrays[0]):
        return function(*arrays)
    blocks = list(row_blocks(n_rows, MAPPED_ROWS))
    first = function(*(array[blocks[0]] for array in arrays))
    found = np.empty((n_rows, *first.shape[1:]), dtype=first.dtype)
    found[blocks[0]] = first

    def fill(ranges: Sequence[slice]) -> None:
        for rows in ranges:
            found[rows] = function(*(array[rows] for array in arrays))

    share_blocks(fill, blocks[1:])
    return found


def one_product_thread() -> AbstractContextManager[Any]:
    """Inside, the BLAS library does its work in the thread that calls it."""
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, neither the BLAS library nor loops of OpenMP use other threads than the one that calls them.

    The number of threads of OpenMP is one for every thread that calls, so nobody else is held up.
    """
    idle = _idle_threads.set(max(_idle_threads.get(), product_threads()))
    try:
        with one_product_thread(), _controller().limit(limits=1, user_api="openmp"):
            yield
    finally:
        _idle_threads.reset(idle)


def threads_for(n_rows: int) -> AbstractContextManager[Any]:
    """Inside, numerical libraries use one thread if there are few rows, and as many as they like otherwise.

    A few thousand rows are clustered by thousands of small products and searches. One thread is quicker there, and
    where other programs keep the machine busy, threads that wait for each other take many times as long.
    """
    return one_thread() if n_rows <= FEW_ROWS else nullcontext()


def product_threads() -> int:
    """Threads that a matrix product would use now."""
    return max([one["num_threads"] for one in _controller().info() if one["user_api"] == "blas"], default=1)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
