"""Pieces of chunked views: every row once, in one task, with errors that say where."""

import pickle

import dask
import dask.array as da
import numpy as np
import pytest

from latefusion.distributed import chunks as room
from latefusion.distributed.chunks import ChunkedViews, ChunkError


def pieces_of(views, monkeypatch=None):
    nodes = views.tasks(lambda plan, start, *blocks: (plan, start, blocks), "plan", "test")
    keys = [("test", piece) for piece in range(len(views.piece_rows))]
    return dask.get(nodes, keys), nodes


@pytest.mark.parametrize("sizes", [(7, 7), (7, 10), (50, 3), ((20, 0, 30), (1, 49)), (1, 25)])
def test_pieces_hold_the_same_rows_of_all_views_in_their_order(sizes, monkeypatch):
    monkeypatch.setattr(room, "LEAST_ENTRIES", 30)
    left, right = np.arange(100.0).reshape(50, 2), np.arange(150.0).reshape(50, 3)
    views = ChunkedViews(
        ("a", "b"), tuple(da.from_array(one, chunks=(size, -1)) for one, size in zip((left, right), sizes, strict=True))
    )
    found, _ = pieces_of(views)
    assert [len(blocks[0]) for _, _, blocks in found] == list(views.piece_rows)
    assert [start for _, start, _ in found] == views.starts[:-1].tolist()
    np.testing.assert_array_equal(np.concatenate([blocks[0] for _, _, blocks in found]), left)
    np.testing.assert_array_equal(np.concatenate([blocks[1] for _, _, blocks in found]), right)


def test_small_chunks_are_put_together_and_large_ones_left_as_they_are(monkeypatch):
    monkeypatch.setattr(room, "LEAST_ENTRIES", 100)
    assert ChunkedViews(("a",), (da.zeros((200, 10), chunks=(1, 10)),)).piece_rows == (10,) * 20
    assert ChunkedViews(("a",), (da.zeros((200, 10), chunks=(80, 10)),)).piece_rows == (80, 80, 40)


def test_reading_and_working_on_a_piece_is_one_task():
    """Nothing of the size of a chunk goes from one task to another where chunks are in line."""
    views = ChunkedViews(("a", "b"), tuple(da.random.normal(size=(1000, 5), chunks=(500, 5)) + 1 for _ in range(2)))
    _, nodes = pieces_of(views)
    assert len(nodes) == len(views.piece_rows) + 1  # and the plan


def test_the_graph_grows_with_the_chunks_and_not_with_the_rows():
    sizes = []
    for n_rows in (10**6, 10**9):
        arrays = tuple(da.zeros((n_rows, 8), chunks=(n_rows // 50, 8)) for _ in range(3))
        nodes = ChunkedViews(("a", "b", "c"), arrays).tasks(print, None, "test")
        sizes.append(len(nodes))
        assert len(nodes) <= 3 * 50 + 1
    assert sizes[0] == sizes[1]


def test_an_error_names_view_and_chunk_also_where_chunks_are_cut_anew():
    def fail(block, block_info=None):
        if block_info and block_info[0]["chunk-location"][0] == 2:
            raise OSError("disk on fire")
        return block

    good = da.zeros((4000, 4), chunks=(1500, 4))
    bad = da.zeros((4000, 4), chunks=(1000, 4)).map_blocks(fail, dtype=float)
    with pytest.raises(ChunkError, match=r"View 'bad', chunk 2 \(rows 2000 to 2999\).*OSError: disk on fire") as caught:
        pieces_of(ChunkedViews(("good", "bad"), (good, bad)))
    assert (caught.value.view, caught.value.chunk) == ("bad", 2)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.view, again.chunk) == (str(caught.value), "bad", 2)


def test_a_guarded_array_is_the_same_array():
    array = da.random.default_rng(0).normal(size=(100, 3), chunks=(30, 3)).rechunk((45, 3))
    guarded = room.guard(array, "a")
    assert guarded.chunks == array.chunks
    np.testing.assert_array_equal(guarded.compute(), array.compute())


def test_a_view_given_twice_has_the_same_rows_in_every_piece(monkeypatch):
    monkeypatch.setattr(room, "LEAST_ENTRIES", 30)
    array = da.random.default_rng(0).normal(size=(100, 3), chunks=(50, 3))
    found, _ = pieces_of(ChunkedViews(("a", "b"), (array, array)))
    assert [len(left) for _, _, (left, _) in found] == [50, 50]
    for _, _, (left, right) in found:
        np.testing.assert_array_equal(left, right)


def test_keys_of_tasks_tell_where_they_work():
    """Also of those that read for several pieces, in the chunks of the view."""
    arrays = (da.zeros((4000, 4), chunks=(1500, 4)), da.zeros((4000, 4), chunks=(1000, 4)) + 1)
    views = ChunkedViews(("a", "b"), arrays)
    places = {views.describe_task(str(key)) for key in views.tasks(print, None, "latefusion-test")}
    assert ("view 'b', chunk 1", "b", 1) in places
    assert ("piece 2 (rows 3000 to 3999: 'a' chunks 2, 'b' chunks 3)", None, 2) in places
    assert ("piece 1 (rows 1500 to 2999: 'a' chunks 1, 'b' chunks 1-2)", None, 1) in places
