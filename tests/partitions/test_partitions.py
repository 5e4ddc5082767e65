"""The container of partitions: one matrix B of all of them side by side."""

import numpy as np
import pytest

from latefusion.datasets import make_views
from latefusion.encoding.coordinates import Unchanged
from latefusion.partitions import partitions as room
from latefusion.partitions.operators import leading_eigenvectors
from latefusion.similarities import KernelPartition

VIEWS = make_views(50, 3, n_views=3, n_features=4, random_state=0).views.arrays


@pytest.fixture
def partitions():
    blocks, vectors = [], []
    for view, (array, n_columns) in enumerate(zip(VIEWS, (3, 2, 4), strict=True)):
        matrix, extension = KernelPartition().similarity(array, 3)
        own, projection = leading_eigenvectors(matrix, n_columns)
        blocks.append(room.Block(view, "kernel", Unchanged(), extension, projection))
        vectors.append(own)
    return room.Partitions(tuple(blocks), tuple(vectors), tuple(np.ones(one.shape[1]) for one in vectors))


def test_products_and_root_are_those_of_all_columns(partitions, monkeypatch):
    monkeypatch.setattr(room, "PRODUCT_ROWS", 7)
    basis = np.hstack(partitions.vectors)
    np.testing.assert_array_equal(partitions.basis(), basis)
    np.testing.assert_allclose(partitions.products, basis.T @ basis, atol=1e-12)
    np.testing.assert_allclose(partitions.root.T @ partitions.root, basis.T @ basis, atol=1e-12)
    coefficients = np.random.default_rng(0).standard_normal((9, 2))
    np.testing.assert_allclose(partitions.times(coefficients), basis @ coefficients)


def test_blocks_extend_to_the_rows_of_training_samples(partitions, monkeypatch):
    monkeypatch.setattr(room, "BLOCK_ENTRIES", 50 * 7)
    for block, vectors, view in zip(partitions.blocks, partitions.vectors, VIEWS, strict=True):
        np.testing.assert_allclose(block.rows(view), vectors, atol=1e-9)


@pytest.mark.parametrize("known", [False, True])
def test_some_of_the_blocks(partitions, known):
    if known:
        assert partitions.products.shape == (9, 9)
    some = partitions.restricted([partitions.keys[2], partitions.keys[0]])
    basis = np.hstack([partitions.vectors[2], partitions.vectors[0]])
    assert some.columns == [slice(0, 4), slice(4, 7)]
    assert ("products" in vars(some)) == known
    np.testing.assert_allclose(some.products, basis.T @ basis, atol=1e-12)
    both = some.joined(partitions.restricted([partitions.keys[1]]))
    assert both.keys == [partitions.keys[2], partitions.keys[0], partitions.keys[1]]
    assert both.position(partitions.keys[1]) == 2
    assert both.n_samples == 50
