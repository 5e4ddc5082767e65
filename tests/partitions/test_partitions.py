"""Partitions side by side: products, parts, and rows of new samples."""

from dataclasses import replace

import numpy as np
import pytest

from latefusion.arrays import to_numpy
from latefusion.encoding.coordinates import Unchanged
from latefusion.partitions import partitions as module
from latefusion.partitions.partitions import Block, PartitionKey, Partitions
from latefusion.similarities.factor import FactorExtension

RNG = np.random.default_rng(0)
WIDTHS = (3, 1, 2)


@pytest.fixture
def partitions():
    blocks = tuple(
        Block(view, "any", Unchanged(), FactorExtension(Unchanged()), RNG.standard_normal((4, width)))
        for view, width in enumerate(WIDTHS)
    )
    vectors = tuple(RNG.standard_normal((9, width)) for width in WIDTHS)
    return Partitions(blocks, vectors, tuple(np.ones(width) for width in WIDTHS))


def test_columns_follow_each_other(partitions):
    assert [(own.start, own.stop) for own in partitions.columns] == [(0, 3), (3, 4), (4, 6)]
    assert [partitions.position(key) for key in partitions.keys] == [0, 1, 2]
    assert partitions.n_samples == 9


def test_products_are_those_of_the_basis_whatever_the_blocks(partitions, monkeypatch):
    monkeypatch.setattr(module, "PRODUCT_ROWS", 2)
    basis = partitions.basis()
    np.testing.assert_allclose(partitions.products, basis.T @ basis, atol=1e-12)


def test_times_is_the_product_with_the_basis(partitions):
    matrix = RNG.standard_normal((6, 2))
    np.testing.assert_allclose(partitions.times(matrix), partitions.basis() @ matrix, atol=1e-12)


def test_parts_keep_their_rows_and_products(partitions):
    whole = partitions.products
    part = partitions.restricted([PartitionKey(2, "any"), PartitionKey(0, "any")])
    assert [key.view for key in part.keys] == [2, 0]
    np.testing.assert_array_equal(part.products, whole[np.ix_([4, 5, 0, 1, 2], [4, 5, 0, 1, 2])])
    np.testing.assert_array_equal(part.basis(), partitions.basis()[:, [4, 5, 0, 1, 2]])


def test_joining_parts_gives_the_whole(partitions):
    keys = partitions.keys
    joined = partitions.restricted(keys[:1]).joined(partitions.restricted(keys[1:]))
    assert joined.keys == keys
    np.testing.assert_array_equal(joined.basis(), partitions.basis())


def test_rows_of_new_samples_do_not_depend_on_blocks(partitions, monkeypatch):
    block, view = partitions.blocks[0], RNG.standard_normal((7, 4))
    whole = block.rows(view)
    np.testing.assert_allclose(whole, view @ block.projection, atol=1e-12)
    monkeypatch.setattr(module, "BLOCK_ENTRIES", 8)
    np.testing.assert_allclose(block.rows(view), whole, atol=1e-12)


def test_products_are_the_same_in_every_array_library(partitions, xp, monkeypatch):
    monkeypatch.setattr(module, "DEVICE_PRODUCT_ROWS", 4)
    there = replace(partitions, vectors=tuple(xp.asarray(one) for one in partitions.vectors))
    assert type(there.products) is np.ndarray
    np.testing.assert_allclose(there.products, partitions.products, atol=1e-12)
    matrix = RNG.standard_normal((6, 2))
    found = there.times(matrix)
    assert type(found) is type(there.vectors[0])
    np.testing.assert_allclose(to_numpy(found), partitions.times(matrix), atol=1e-12)
    assert there.dtype == there.vectors[0].dtype
