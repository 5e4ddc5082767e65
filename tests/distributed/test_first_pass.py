"""The first pass: statistics of all rows, and the rows that were asked for, whatever the chunks."""

import dask.array as da
import numpy as np
import pytest
import scipy.sparse

from latefusion.distributed.chunks import ChunkedViews
from latefusion.distributed.first_pass import check_observed, first_pass

RNG = np.random.default_rng(0)
LEFT = RNG.standard_normal((900, 5)) * np.arange(1, 6) + 100
RIGHT = RNG.poisson(0.3, (900, 40)).astype(np.float32)


def cut(*arrays, chunks=200):
    names = tuple("abc"[: len(arrays)])
    return ChunkedViews(names, tuple(da.from_array(one, chunks=(chunks, -1), asarray=False) for one in arrays))


@pytest.mark.parametrize("chunks", [900, 200, 7])
@pytest.mark.parametrize("sparse", [False, True])
def test_statistics_and_rows_are_those_of_the_whole(chunks, sparse):
    right = scipy.sparse.csr_array(RIGHT) if sparse else RIGHT
    wanted = [np.array([3, 500, 899]), np.array([0, 500])]
    found = first_pass(cut(LEFT, right, chunks=chunks), [wanted, wanted[:1]], np.array([7, 8]))
    assert found.observed.n_samples == 900
    assert not found.observed.has_missing
    assert found.wanted[0].tolist() == [0, 3, 500, 899]
    for view, array in enumerate((LEFT, RIGHT)):
        np.testing.assert_allclose(found.statistics[view].means, array.mean(axis=0, dtype=np.float64), rtol=1e-12)
        np.testing.assert_allclose(found.statistics[view].variances, array.var(axis=0, dtype=np.float64), rtol=1e-9)
        np.testing.assert_array_equal(found.statistics[view].n_nonzero, np.count_nonzero(array, axis=0))
        for rows, numbers in (
            (found.read(np.array([899, 3]), view), [899, 3]),
            (found.drawn_rows[view], [7, 8]),
        ):
            rows = rows.toarray() if scipy.sparse.issparse(rows) else rows
            np.testing.assert_array_equal(rows, array[numbers])


@pytest.mark.parametrize("chunks", [900, 200, 7])
@pytest.mark.parametrize("sparse", [False, True])
def test_missing_rows_are_left_out_of_all_statistics(chunks, sparse):
    """Rows are collected by their position among observed rows, which an earlier pass has counted."""
    right = np.where(RIGHT, RIGHT, 1.0).astype(np.float64)
    seen = RNG.random((900, 2)) < 0.6
    seen[:30] = [True, False]  # whole chunks without the view
    seen[~seen.any(axis=1)] = True
    holes = [np.where(own[:, None], view, np.nan) for view, own in zip((LEFT, right), seen.T, strict=True)]
    if sparse:
        holes = [scipy.sparse.csr_array(view) for view in holes]
    views = cut(*holes, chunks=chunks)
    counts = first_pass(views, [[], []], np.arange(0)).observed
    assert counts.has_missing
    np.testing.assert_array_equal(counts.together, seen.T.astype(int) @ seen)
    assert counts.n_empty == 0
    positions = np.array([0, 17, 300])
    found = first_pass(views, [[positions]] * 2, np.array([0, 20, 500]), counts=counts)
    for view, (array, own) in enumerate(zip((LEFT, right), seen.T, strict=True)):
        np.testing.assert_allclose(found.statistics[view].means, array[own].mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(found.statistics[view].variances, array[own].var(axis=0), rtol=1e-9)
        rows, drawn = found.read(positions, view), found.drawn_rows[view]
        rows, drawn = (one.toarray() if sparse else one for one in (rows, drawn))
        np.testing.assert_array_equal(rows, array[own][positions])
        np.testing.assert_array_equal(np.isnan(drawn).all(axis=1), ~own[[0, 20, 500]])


def test_missing_views_that_cannot_be_handled_are_errors_as_in_memory():
    left, right = LEFT[:60].copy(), LEFT[:60].copy()
    left[:30], right[30:] = np.nan, np.nan
    with pytest.raises(ValueError, match=r"2 groups that share no sample.*\{'a': 30\}; \{'b': 30\}"):
        check_observed("ab", first_pass(cut(left, right, chunks=7), [[], []], np.arange(0)).observed, 2)
    left[20:50], right[:] = np.nan, LEFT[:60]
    with pytest.raises(ValueError, match=r"View 'a' has 10 of 60 samples.*n_clusters=11"):
        check_observed("ab", first_pass(cut(left, right, chunks=7), [[], []], np.arange(0)).observed, 11)
    right[5:9] = np.nan
    with pytest.raises(ValueError, match="All views are missing for 4 samples: sample 5, 6, 7 and 1 more"):
        check_observed("ab", first_pass(cut(left, right, chunks=7), [[], []], np.arange(0)).observed, 2)
    left[:] = np.nan
    with pytest.raises(ValueError, match="View 'a' is missing for all 60 samples"):
        check_observed("ab", first_pass(cut(left, LEFT[:60], chunks=7), [[], []], np.arange(0)).observed, 2)


def test_sums_of_single_precision_are_in_double_precision():
    array = (10_000 + RNG.standard_normal((20_000, 2))).astype(np.float32)
    found = first_pass(cut(array, chunks=3000), [[]], np.arange(0))
    np.testing.assert_allclose(found.statistics[0].means, array.mean(axis=0, dtype=np.float64), rtol=1e-13)
    np.testing.assert_allclose(found.statistics[0].variances, array.var(axis=0, dtype=np.float64), rtol=1e-6)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_value_that_is_not_finite_is_named_by_view_chunk_and_row(value, sparse):
    bad = RIGHT.copy()
    bad[412, 7] = value
    bad = scipy.sparse.csr_array(bad) if sparse else bad
    with pytest.raises(ValueError, match=r"View 'b' has values that are NaN or infinite in 1 rows from 412 .* chunk 4"):
        first_pass(cut(LEFT, bad, chunks=100), [[], []], np.arange(0))


def test_a_view_that_is_constant_is_refused_and_one_that_varies_between_chunks_is_not():
    with pytest.raises(ValueError, match="View 'b' is constant"):
        first_pass(cut(LEFT, np.ones((900, 3)), chunks=100), [[], []], np.arange(0))
    steps = np.repeat(np.arange(9.0), 100)[:, None]
    assert first_pass(cut(steps, chunks=100), [[]], np.arange(0)).statistics[0].n_rows == 900


def test_values_too_large_to_be_summed_up_are_refused():
    with pytest.raises(ValueError, match="View 'a' has values in rows 0 to 99 whose sum is too large"):
        first_pass(cut(np.full((100, 2), 1e308)), [[]], np.arange(0))
