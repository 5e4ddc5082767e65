"""Passes: sums in any number of steps, lazy rows, and what is said when Dask gives up."""

from concurrent.futures import CancelledError

import dask
import dask.array as da
import numpy as np
import pytest

from latefusion.distributed import passes as room
from latefusion.distributed.chunks import ChunkedViews, ChunkError


def views_of(n_rows=1000, size=20):
    array = np.random.default_rng(0).standard_normal((n_rows, 50))
    return array, ChunkedViews(("a",), (da.from_array(array, chunks=(size, -1)),))


@pytest.mark.parametrize("size", [20, 100, 1000])
def test_a_sum_over_pieces_is_the_sum_over_rows_in_their_order(size, monkeypatch):
    monkeypatch.setattr("latefusion.distributed.chunks.LEAST_ENTRIES", 1)
    array, views = views_of(size=size)
    found = room.sum_up(views, lambda plan, start, block: block * plan, 2.0, np.concatenate, "test")
    np.testing.assert_array_equal(found, 2 * array)


def test_lazy_rows_are_computed_when_asked_for():
    array, views = views_of()
    seen = []

    def double(blocks, numbers):
        seen.append(numbers[0])
        return 2.0 * blocks[0][:, :3]

    lazy = room.lazy_rows(views, double, "test", width=3, dtype=float)
    assert lazy.shape == (1000, 3)
    assert not seen
    np.testing.assert_array_equal(lazy[10:30].compute(), 2 * array[10:30, :3])
    assert seen == [0]  # the other pieces were not needed
    np.testing.assert_array_equal(lazy.compute(), 2 * array[:, :3])


def test_rows_are_kept_only_where_there_is_room(monkeypatch):
    array, views = views_of()
    (rows,) = views.arrays
    monkeypatch.setattr(room, "memory_of_workers", lambda: 8 * rows.nbytes)
    (kept,) = room.keep(views, "test").arrays
    assert all(isinstance(one, np.ndarray) for one in dict(kept.__dask_graph__()).values())
    np.testing.assert_array_equal(kept.compute(), array)
    monkeypatch.setattr(room, "memory_of_workers", lambda: 2 * rows.nbytes)
    assert room.keep(views, "test") is views


def test_without_a_client_the_memory_is_that_of_this_machine():
    assert room.memory_of_workers() > 2**20
    assert room.active_client() is None


@pytest.mark.parametrize("name", ["distributed", "dask.distributed"])
def test_a_client_that_was_asked_for_and_is_not_there_is_missed_before_any_work(name):
    with dask.config.set(scheduler=name), pytest.raises(RuntimeError, match="there is no client"):
        room.find_scheduler()


class KilledWorker(Exception):
    """As Dask's, by its name."""

    def __init__(self, task):
        super().__init__(task)
        self.task, self.last_worker = task, None


def failing(error):
    def fail(plan, start, *blocks):
        raise error

    return fail


def test_a_task_that_kills_workers_is_named_by_its_rows():
    _, views = views_of()
    error = KilledWorker("('latefusion-test-1234', 3)")
    first, last = views.starts[3], views.starts[4] - 1
    with pytest.raises(ChunkError, match=rf"piece 3 \(rows {first} to {last}: 'a' chunks 12-15\).*memory") as caught:
        room.sum_up(views, failing(error), None, list, "test")
    assert (caught.value.view, caught.value.chunk) == ("a", 3)


def test_a_lost_connection_is_named():
    _, views = views_of()
    with pytest.raises(ConnectionError, match=r"lost in the pass 'test'.*fit again"):
        room.sum_up(views, failing(CancelledError("scheduler")), None, list, "test")


def test_other_errors_are_left_alone():
    _, views = views_of()
    with pytest.raises(ZeroDivisionError):
        room.sum_up(views, failing(ZeroDivisionError()), None, list, "test")
