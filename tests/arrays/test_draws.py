"""Rows drawn at random: different, ascending, repeatable, and without an array of all rows."""

import tracemalloc

import numpy as np
import pytest

from latefusion.arrays import draw_rows


@pytest.mark.parametrize("n_rows", [50, 2**22 + 1, 10**12])
def test_rows_differ_ascend_and_come_again(n_rows):
    drawn = draw_rows(n_rows, 20, np.random.RandomState(0))
    assert len(drawn) == 20
    assert (np.diff(drawn) > 0).all()
    assert drawn[0] >= 0
    assert drawn[-1] < n_rows
    np.testing.assert_array_equal(drawn, draw_rows(n_rows, 20, np.random.RandomState(0)))


def test_asking_for_more_rows_than_there_are_gives_all():
    np.testing.assert_array_equal(draw_rows(4, 9, np.random.RandomState(0)), np.arange(4))


def test_a_draw_from_very_many_rows_needs_little_memory():
    tracemalloc.start()
    draw_rows(10**9, 10_000, np.random.RandomState(0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24
