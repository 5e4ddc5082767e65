"""Rows far apart: all clusters are hit, every library draws the same, and duplicates do no harm."""

import array_api_compat.numpy as xnp
import numpy as np

from latefusion.arrays import kmeans_plus_plus_rows, to_numpy

CENTERS = 100 * np.eye(6)
TARGET = np.repeat(np.arange(6), 50)
ROWS = CENTERS[TARGET] + np.random.default_rng(0).standard_normal((300, 6))


def draw(rows, n_rows, xp=xnp, seed=0, n_starts=5):
    return to_numpy(
        kmeans_plus_plus_rows(rows, n_rows, n_starts=n_starts, generator=np.random.RandomState(seed), xp=xp)
    )


def test_every_draw_hits_every_cluster_far_apart(xp, seed):
    chosen = draw(xp.asarray(ROWS), 6, xp, seed)
    assert chosen.shape == (5, 6)
    assert all(len(set(TARGET[one])) == 6 for one in chosen)
    np.testing.assert_array_equal(chosen, draw(ROWS, 6, seed=seed))


def test_draws_differ():
    assert len({tuple(one) for one in draw(ROWS, 6)}) == 5


def test_more_rows_than_there_are_different_ones():
    chosen = draw(np.repeat(np.eye(2), 3, axis=0), 5)
    assert chosen.min() >= 0
    assert chosen.max() < 6
