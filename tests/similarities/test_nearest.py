"""Nearest neighbours among each other are those of a plain search, whatever road was taken."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from latefusion.arrays import one_thread, to_numpy
from latefusion.similarities import nearest
from latefusion.similarities.nearest import nearest_anchors, nearest_neighbors, shifted_squares, smallest_entries
from tests.properties import examples

KINDS = {
    "narrow": lambda rows: rows[:, :3],
    "wide": lambda rows: rows,
    "float32": lambda rows: rows.astype(np.float32),
    "sparse": lambda rows: sp.csr_array(np.where(rows > 0.5, rows, 0.0)),
}


def plain_distances(rows):
    return np.linalg.norm(rows[:, None, :] - rows[None, :, :], axis=2)


@pytest.mark.parametrize("kind", KINDS)
def test_neighbors_are_the_nearest(kind):
    samples = KINDS[kind](np.random.default_rng(0).standard_normal((90, nearest.MANY_COLUMNS + 20)))
    distances, neighbors = nearest_neighbors(samples, 12)
    dense = samples.toarray() if sp.issparse(samples) else samples.astype(np.float64)
    expected = np.sort(plain_distances(dense), axis=1)[:, :12]
    tolerance = 1e-3 if kind == "float32" else 1e-6  # a root of rounding errors, where samples meet themselves
    np.testing.assert_allclose(distances, expected, atol=tolerance)
    np.testing.assert_allclose(plain_distances(dense)[np.arange(90)[:, None], neighbors], expected, atol=tolerance)


def test_wide_samples_are_their_own_nearest():
    samples = np.random.default_rng(1).standard_normal((300, nearest.MANY_COLUMNS)) + 1e3
    distances, neighbors = nearest_neighbors(samples, 5)
    np.testing.assert_array_equal(neighbors[:, 0], np.arange(300))
    np.testing.assert_array_equal(distances[:, 0], 0.0)


def test_one_product_or_a_search_by_scikit_learn(monkeypatch):
    samples = np.random.default_rng(2).standard_normal((400, nearest.MANY_COLUMNS))
    distances, neighbors = nearest_neighbors(samples, 9)
    with one_thread():
        again = nearest_neighbors(samples, 9)
    np.testing.assert_array_equal(neighbors, again[1])
    monkeypatch.setattr(nearest, "DISTANCES", 100)
    searched = nearest_neighbors(samples, 9)
    np.testing.assert_array_equal(neighbors, searched[1])
    np.testing.assert_allclose(distances, searched[0], atol=1e-6)


@examples(60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 6),
    n_columns=st.integers(1, 300),
    share=st.floats(0, 1),
    coarse=st.booleans(),
)
def test_smallest_entries_are_those_of_a_stable_sort(seed, n_rows, n_columns, share, coarse):
    generator = np.random.default_rng(seed)
    matrix = generator.integers(0, 4, (n_rows, n_columns)) if coarse else generator.standard_normal((n_rows, n_columns))
    n_entries = 1 + int(share * (n_columns - 1))
    entries, columns = smallest_entries(matrix.astype(float), n_entries)
    order = np.argsort(matrix, axis=1, kind="stable")[:, :n_entries]
    np.testing.assert_array_equal(columns, order)
    np.testing.assert_array_equal(entries, np.take_along_axis(matrix, order, axis=1))


@examples(60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_anchors=st.integers(2, 200),
    width=st.integers(1, 6),
    dtype=st.sampled_from(["float32", "float64"]),
    scale=st.sampled_from([1e-30, 1.0, 1e30]),
)
def test_nearest_anchors_are_those_of_a_plain_search(seed, n_anchors, width, dtype, scale):
    rng = np.random.default_rng(seed)
    rows, anchors = ((scale * rng.standard_normal((size, width))).astype(dtype) for size in (30, n_anchors))
    n_neighbors = min(6, n_anchors)
    squares, positions = nearest_anchors(rows, anchors, n_neighbors)
    exact = np.sum((rows[:, None].astype(np.float64) - anchors) ** 2, axis=2)
    tolerance = (1e-5 if dtype == "float32" else 1e-13) * exact.max()
    np.testing.assert_allclose(squares, np.sort(exact, axis=1)[:, :n_neighbors], atol=tolerance, rtol=0)
    np.testing.assert_allclose(np.take_along_axis(exact, positions, axis=1), squares, atol=tolerance, rtol=0)
    assert np.all(np.diff(squares, axis=1) >= 0)


def test_a_row_far_beyond_the_anchors_does_not_overflow():
    rows = np.array([[1e25, 0.0], [0.0, 1.0]], dtype=np.float32)
    squares, positions = nearest_anchors(rows, np.eye(2, dtype=np.float32), 2)
    assert np.isfinite(squares).all()
    np.testing.assert_array_equal(positions[1], [1, 0])


def test_shifted_squares_rank_anchors_by_their_distance(xp, seed):
    rng = np.random.default_rng(seed)
    rows, anchors = rng.standard_normal((20, 4)), rng.standard_normal((7, 4))
    found = to_numpy(shifted_squares(xp.asarray(rows), xp.asarray(anchors)))
    expected = np.sum((rows[:, None] - anchors) ** 2, axis=2) - np.sum(rows**2, axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, atol=1e-12)
