"""Distribution of row blocks over threads, each with single-threaded matrix products.

A BLAS library splits every product among all threads. For blocks that fit into the cache, synchronization costs more
than the split saves, and between the products all threads but one are idle. So the blocks are distributed over threads
instead, and the library uses one thread for each of them.
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

# Rows per block: with some dozens of columns they fit into the cache.
MAPPED_ROWS = 2**13
# Up to this many rows all products are small.
FEW_ROWS = 5000

Result = TypeVar("Result")

# Threads that are idle inside `one_thread`; one in threads that are started inside, which run in parallel already.
_idle_threads: ContextVar[int] = ContextVar("idle threads", default=1)


def share_blocks(
    work: Callable[[Sequence[slice]], Result],
    blocks: Iterable[slice],
    *,
    on_device: bool = False,
    is_heavy: bool = False,
) -> list[Result]:
    """Distribute blocks of rows over threads.

    Parameters
    ----------
    work : callable
        Processes some of the blocks and returns a result.
    blocks : iterable of slice
    on_device : bool, default=False
        Whether the rows are on a device, which is used by one thread.
    is_heavy : bool, default=False
        Whether to use threads even for few rows, see `threads_for`.

    Returns
    -------
    list
        The result of every thread. The number of threads is that of the BLAS library, so that limits set by the user
        apply.
    """
    dealt = list(blocks)
    allowed = max(product_threads(), _idle_threads.get() if is_heavy else 1)
    n_threads = 1 if on_device else min(len(dealt), allowed)
    if n_threads <= 1:
        return [work(dealt)]
    with one_product_thread(), ThreadPoolExecutor(n_threads) as threads:
        return list(threads.map(work, [dealt[first::n_threads] for first in range(n_threads)]))


def map_rows(function: Callable[..., Array], *arrays: Array) -> Array:
    """Apply a function that works row by row to blocks of rows in threads.

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
    """Context in which the BLAS library uses one thread."""
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit


@contextmanager
def one_thread() -> Iterator[None]:
    """Context in which the BLAS library and OpenMP use one thread.

    The limit of OpenMP applies to the calling thread only, so other threads are not affected.
    """
    idle = _idle_threads.set(max(_idle_threads.get(), product_threads()))
    try:
        with one_product_thread(), _controller().limit(limits=1, user_api="openmp"):
            yield
    finally:
        _idle_threads.reset(idle)


def threads_for(n_rows: int) -> AbstractContextManager[Any]:
    """Context in which numerical libraries use one thread if there are few rows, and their own number otherwise.

    A few thousand rows are clustered by thousands of small products and searches. One thread is faster for these. On a
    busy machine, threads that wait for each other take many times as long.
    """
    return one_thread() if n_rows <= FEW_ROWS else nullcontext()


def product_threads() -> int:
    """Threads that a matrix product would use now."""
    return max([one["num_threads"] for one in _controller().info() if one["user_api"] == "blas"], default=1)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
