"""Blocks dealt out to threads."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from latefusion.arrays import map_rows, row_blocks, share_blocks, threads
from latefusion.arrays.threads import one_product_thread, one_thread, product_threads


def blas_threads():
    return max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")


@pytest.mark.parametrize("limit", [1, 2])
@pytest.mark.parametrize("n_blocks", [1, 2, 7])
def test_every_block_is_treated_once(limit, n_blocks):
    with threadpool_limits(limit, user_api="blas"):
        found = share_blocks(list, row_blocks(3 * n_blocks, 3))
    assert len(found) == min(limit, n_blocks)
    starts = sorted(block.start for part in found for block in part)
    assert starts == [3 * position for position in range(n_blocks)]


def test_products_run_in_one_thread_inside_and_as_before_outside():
    with threadpool_limits(2, user_api="blas"):
        inside = share_blocks(lambda _: blas_threads(), row_blocks(4, 1))
        assert inside == [1, 1]
        assert product_threads() == 2
        with one_product_thread():
            assert product_threads() == 1
        assert product_threads() == 2


def test_loops_and_products_run_in_one_thread_inside_and_as_before_outside():
    def numbers():
        return {one["user_api"]: one["num_threads"] for one in threadpool_info()}

    with threadpool_limits(2):
        before = numbers()
        assert before["openmp"] == 2
        with one_thread():
            assert {*numbers().values()} == {1}
        assert numbers() == before


def test_a_device_gets_all_blocks_in_one_thread():
    with threadpool_limits(2, user_api="blas"):
        found = share_blocks(lambda own: (len(own), threading.get_ident()), row_blocks(4, 1), on_device=True)
    assert found == [(4, threading.get_ident())]


def test_an_error_in_a_thread_is_raised_and_limits_are_lifted():
    def fail(own):
        raise ArithmeticError(str(own[0].start))

    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(ArithmeticError, match="0"):
            share_blocks(fail, row_blocks(4, 1))
        assert product_threads() == 2


@pytest.mark.parametrize("n_rows", [0, 1, 10, 25])
def test_a_function_of_rows_sees_every_row_once(monkeypatch, n_rows):
    monkeypatch.setattr(threads, "MAPPED_ROWS", 4)
    left, right = np.arange(3.0 * n_rows).reshape(n_rows, 3), np.arange(n_rows)
    with threadpool_limits(2, user_api="blas"):
        sums = map_rows(lambda one, other: one.sum(axis=1) + other, left, right)
        pairs = map_rows(lambda one: one[:, :2].astype(np.float32), left)
    np.testing.assert_array_equal(sums, left.sum(axis=1) + right)
    assert pairs.shape == (n_rows, 2)
    assert pairs.dtype == np.float32


def test_few_rows_are_treated_in_one_thread():
    with threadpool_limits(2, user_api="blas"):
        with threads.threads_for(threads.FEW_ROWS):
            assert product_threads() == 1
        with threads.threads_for(threads.FEW_ROWS + 1):
            assert product_threads() == 2
        assert product_threads() == 2


def test_heavy_work_gets_the_threads_that_few_rows_leave_idle():
    blocks = list(row_blocks(40, 10))
    with threadpool_limits(2, user_api="blas"):
        assert len(share_blocks(list, blocks)) == 2
        with one_thread():
            assert len(share_blocks(list, blocks)) == 1
            assert len(share_blocks(list, blocks, is_heavy=True)) == 2
            with one_thread():
                assert len(share_blocks(list, blocks, is_heavy=True)) == 2
            # Threads that share the work already do not share it once more.
            inside = share_blocks(lambda parts: len(share_blocks(list, parts, is_heavy=True)), blocks, is_heavy=True)
            assert inside == [1, 1]
        assert len(share_blocks(list, blocks, is_heavy=True)) == 2
    with threadpool_limits(1, user_api="blas"), one_thread():  # what a user has set holds
        assert len(share_blocks(list, blocks, is_heavy=True)) == 1
