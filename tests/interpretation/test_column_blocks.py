import numpy as np
import pytest
import scipy.sparse as sp

from latefusion.interpretation.column_blocks import column_blocks

N_GROUPS = 3


@pytest.fixture
def view():
    rng = np.random.default_rng(0)
    array = rng.integers(-2, 3, (40, 7)).astype(float)
    array[rng.random(array.shape) < 0.1] = np.nan
    return array, rng.integers(-1, N_GROUPS, 40)


def forms(array):
    return {"dense": array, "csr": sp.csr_array(array), "float32": array.astype(np.float32)}


def counts_and_sums(array, groups):
    blocks = list(column_blocks(array, groups, N_GROUPS))
    return (
        np.concatenate([block.counts for block in blocks]),
        np.concatenate([block.sums(block.values) for block in blocks]),
        len(blocks),
    )


@pytest.mark.parametrize("form", ["dense", "csr", "float32"])
@pytest.mark.parametrize("entries", [1, 90, 2**22])
def test_values_are_counted_and_summed_per_column_and_group(view, form, entries, monkeypatch):
    array, groups = view
    monkeypatch.setattr("latefusion.interpretation.column_blocks.BLOCK_ENTRIES", entries)
    counts, sums, n_blocks = counts_and_sums(forms(array)[form], groups)
    for group in range(N_GROUPS):
        np.testing.assert_array_equal(counts[:, group], (~np.isnan(array[groups == group])).sum(axis=0))
        np.testing.assert_array_equal(sums[:, group], np.nansum(array[groups == group], axis=0))
    assert (n_blocks == 1) == (entries == 2**22)


def test_sparse_views_store_no_zeros(view):
    array, groups = view
    explicit = sp.csr_array(np.where(array == 0, 7.0, array))
    explicit.data[explicit.data == 7] = 0.0
    for one in (sp.csr_array(array), explicit):
        (block,) = column_blocks(one, groups, N_GROUPS)
        assert (block.values != 0).all()
        for group in range(N_GROUPS):
            np.testing.assert_array_equal(block.zeros[:, group], (array[groups == group] == 0).sum(axis=0))
    (dense,) = column_blocks(array, groups, N_GROUPS)
    assert (dense.zeros == 0).all()


def test_repeated_entries_of_a_sparse_view_are_one_value():
    twice = sp.csr_array((np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    (block,) = column_blocks(twice, np.array([0, 1]), 2)
    np.testing.assert_array_equal(block.values, [3.0, 5.0])


def test_blocks_do_not_store_more_values_than_their_size(monkeypatch):
    monkeypatch.setattr("latefusion.interpretation.column_blocks.BLOCK_ENTRIES", 50)
    array = sp.random_array((100, 30), density=0.1, rng=np.random.default_rng(0), format="csr")
    blocks = list(column_blocks(array, np.zeros(100, dtype=int), 1))
    assert max(len(block.values) for block in blocks) <= 50
    assert sum(len(block.values) for block in blocks) == array.nnz
