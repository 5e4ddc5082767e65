"""The first pass: statistics of all rows, and the rows that were asked for, whatever the chunks."""

import dask.array as da
import numpy as np
import pytest
import scipy.sparse

from latefusion.distributed.chunks import ChunkedViews
from latefusion.distributed.survey import check_presence, survey

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
    found = survey(cut(LEFT, right, chunks=chunks), [wanted, wanted[:1]], np.array([7, 8]), spreads=True)
    assert found.presence.n_samples == 900
    assert not found.presence.has_holes
    assert found.wanted[0].tolist() == [0, 3, 500, 899]
    for view, array in enumerate((LEFT, RIGHT)):
        np.testing.assert_allclose(found.views[view].mean, array.mean(axis=0, dtype=np.float64), rtol=1e-12)
        np.testing.assert_allclose(found.views[view].scatter / 900, array.var(axis=0, dtype=np.float64), rtol=1e-9)
        np.testing.assert_array_equal(found.views[view].present, np.count_nonzero(array, axis=0))
        for rows, numbers in (
            (found.take(view, np.array([899, 3])), [899, 3]),
            (found.draw(view, np.array([8, 7])), [8, 7]),
        ):
            rows = rows.toarray() if scipy.sparse.issparse(rows) else rows
            np.testing.assert_array_equal(rows, array[numbers])


@pytest.mark.parametrize("chunks", [900, 200, 7])
@pytest.mark.parametrize("sparse", [False, True])
def test_of_samples_that_lack_a_view_nothing_is_summed_up(chunks, sparse):
    """Rows are wanted by their position among those that there are, which the first look tells."""
    right = np.where(RIGHT, RIGHT, 1.0).astype(np.float64)
    seen = RNG.random((900, 2)) < 0.6
    seen[:30] = [True, False]  # whole chunks without the view
    seen[~seen.any(axis=1)] = True
    holes = [np.where(own[:, None], view, np.nan) for view, own in zip((LEFT, right), seen.T, strict=True)]
    if sparse:
        holes = [scipy.sparse.csr_array(view) for view in holes]
    views = cut(*holes, chunks=chunks)
    presence = survey(views, [[], []], np.arange(0)).presence
    assert presence.has_holes
    np.testing.assert_array_equal(presence.together, seen.T.astype(int) @ seen)
    assert presence.n_nowhere == 0
    positions = np.array([0, 17, 300])
    found = survey(views, [[positions]] * 2, np.array([0, 20, 500]), presence=presence, spreads=True)
    for view, (array, own) in enumerate(zip((LEFT, right), seen.T, strict=True)):
        np.testing.assert_allclose(found.views[view].mean, array[own].mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(found.views[view].scatter / own.sum(), array[own].var(axis=0), rtol=1e-9)
        rows, drawn = found.take(view, positions), found.draw(view, np.array([0, 20, 500]))
        rows, drawn = (one.toarray() if sparse else one for one in (rows, drawn))
        np.testing.assert_array_equal(rows, array[own][positions])
        np.testing.assert_array_equal(np.isnan(drawn).all(axis=1), ~own[[0, 20, 500]])


def test_holes_that_cannot_be_fused_are_refused_as_in_memory():
    left, right = LEFT[:60].copy(), LEFT[:60].copy()
    left[:30], right[30:] = np.nan, np.nan
    with pytest.raises(ValueError, match=r"2 groups that no sample has in common: \[\['a'\], \['b'\]\]"):
        check_presence("ab", survey(cut(left, right, chunks=7), [[], []], np.arange(0)).presence, 2)
    left[20:50], right[:] = np.nan, LEFT[:60]
    with pytest.raises(ValueError, match=r"View 'a' has 10 of 60 samples.*n_clusters=11"):
        check_presence("ab", survey(cut(left, right, chunks=7), [[], []], np.arange(0)).presence, 11)
    right[5:9] = np.nan
    with pytest.raises(ValueError, match="All views are missing for 4 samples: sample 5, 6, 7 and 1 more"):
        check_presence("ab", survey(cut(left, right, chunks=7), [[], []], np.arange(0)).presence, 2)
    left[:] = np.nan
    with pytest.raises(ValueError, match="View 'a' is missing for all 60 samples"):
        check_presence("ab", survey(cut(left, LEFT[:60], chunks=7), [[], []], np.arange(0)).presence, 2)


def test_sums_of_single_precision_are_in_double_precision():
    array = (10_000 + RNG.standard_normal((20_000, 2))).astype(np.float32)
    found = survey(cut(array, chunks=3000), [[]], np.arange(0), spreads=True)
    np.testing.assert_allclose(found.views[0].mean, array.mean(axis=0, dtype=np.float64), rtol=1e-13)
    np.testing.assert_allclose(found.views[0].scatter / 20_000, array.var(axis=0, dtype=np.float64), rtol=1e-6)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_value_that_is_not_finite_is_named_by_view_chunk_and_row(value, sparse):
    bad = RIGHT.copy()
    bad[412, 7] = value
    bad = scipy.sparse.csr_array(bad) if sparse else bad
    with pytest.raises(ValueError, match=r"View 'b' has 1 values that are NaN or infinite in rows 412 .* chunk 4"):
        survey(cut(LEFT, bad, chunks=100), [[], []], np.arange(0))


def test_a_view_that_is_constant_is_refused_and_one_that_varies_between_chunks_is_not():
    with pytest.raises(ValueError, match="View 'b' is constant"):
        survey(cut(LEFT, np.ones((900, 3)), chunks=100), [[], []], np.arange(0))
    steps = np.repeat(np.arange(9.0), 100)[:, None]
    assert survey(cut(steps, chunks=100), [[]], np.arange(0)).views[0].varies


def test_values_too_large_to_be_summed_up_are_refused():
    with pytest.raises(ValueError, match="View 'a' has values in rows 0 to 99 that are too large"):
        survey(cut(np.full((100, 2), 1e308)), [[]], np.arange(0))
