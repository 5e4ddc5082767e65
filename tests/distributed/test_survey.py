"""The first pass: statistics of all rows, and the rows that were asked for, whatever the chunks."""

import dask.array as da
import numpy as np
import pytest
import scipy.sparse

from latefusion.distributed.chunks import ChunkedViews
from latefusion.distributed.survey import survey

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
    found = survey(cut(LEFT, right, chunks=chunks), wanted, spreads=True)
    assert found.n_samples == 900
    for view, array in enumerate((LEFT, RIGHT)):
        np.testing.assert_allclose(found.views[view].mean, array.mean(axis=0, dtype=np.float64), rtol=1e-12)
        np.testing.assert_allclose(found.views[view].scatter / 900, array.var(axis=0, dtype=np.float64), rtol=1e-9)
        np.testing.assert_array_equal(found.views[view].present, np.count_nonzero(array, axis=0))
        rows = found.take(view, np.array([899, 3]))
        rows = rows.toarray() if scipy.sparse.issparse(rows) else rows
        np.testing.assert_array_equal(rows, array[[899, 3]])


def test_sums_of_single_precision_are_in_double_precision():
    array = (10_000 + RNG.standard_normal((20_000, 2))).astype(np.float32)
    found = survey(cut(array, chunks=3000), [], spreads=True)
    np.testing.assert_allclose(found.views[0].mean, array.mean(axis=0, dtype=np.float64), rtol=1e-13)
    np.testing.assert_allclose(found.views[0].scatter / 20_000, array.var(axis=0, dtype=np.float64), rtol=1e-6)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_value_that_is_not_finite_is_named_by_view_chunk_and_row(value, sparse):
    bad = RIGHT.copy()
    bad[412, 7] = value
    bad = scipy.sparse.csr_array(bad) if sparse else bad
    with pytest.raises(ValueError, match=r"View 'b' has 1 values that are NaN or infinite in rows 412 .* chunk 4"):
        survey(cut(LEFT, bad, chunks=100), [])


def test_a_view_that_is_constant_is_refused_and_one_that_varies_between_chunks_is_not():
    with pytest.raises(ValueError, match="View 'b' is constant"):
        survey(cut(LEFT, np.ones((900, 3)), chunks=100), [])
    steps = np.repeat(np.arange(9.0), 100)[:, None]
    assert survey(cut(steps, chunks=100), []).views[0].varies


def test_values_too_large_to_be_summed_up_are_refused():
    with pytest.raises(ValueError, match="View 'a' has values in rows 0 to 99 that are too large"):
        survey(cut(np.full((100, 2), 1e308)), [])
