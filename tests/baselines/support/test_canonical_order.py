"""The order of samples and views is that of their values."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from latefusion.baselines.support.canonical_order import canonical_order


def drawn(seed):
    generator = np.random.default_rng(seed)
    return [generator.standard_normal((40, width)) for width in (5, 3, 5)]


def in_order(views):
    samples, order = canonical_order(views)
    return [views[position][samples] for position in order]


def test_every_order_of_the_input_is_brought_to_the_same_bits(seed):
    views = drawn(seed)
    reference = in_order(views)
    generator = np.random.default_rng(seed + 10)
    for _ in range(10):
        rows, order = generator.permutation(40), generator.permutation(3)
        for before, after in zip(reference, in_order([views[p][rows] for p in order]), strict=True):
            np.testing.assert_array_equal(after, before)


def test_samples_and_views_are_permuted_and_narrow_views_come_first(seed):
    samples, order = canonical_order(drawn(seed))
    assert sorted(samples) == list(range(40))
    assert sorted(order) == [0, 1, 2]
    assert order[0] == 1


def test_standardised_views_of_equal_width_are_told_apart(seed):
    views = [(view - view.mean(axis=0)) / view.std(axis=0) for view in drawn(seed)]
    assert np.linalg.norm(views[0]) == pytest.approx(np.linalg.norm(views[2]))
    swapped = in_order([views[2], views[1], views[0]])
    for before, after in zip(in_order(views), swapped, strict=True):
        np.testing.assert_array_equal(after, before)


def test_samples_that_coincide_are_neighbours_in_the_order(seed):
    views = [np.repeat(view[:10], 4, axis=0) for view in drawn(seed)]
    samples, _ = canonical_order(views)
    assert np.all(np.ptp(samples.reshape(10, 4) // 4, axis=1) == 0)


def test_the_unit_of_a_view_does_not_matter_and_constant_views_are_allowed(seed):
    views = drawn(seed)
    samples, _ = canonical_order(views)
    np.testing.assert_array_equal(canonical_order([1024 * views[0], *views[1:]])[0], samples)
    np.testing.assert_array_equal(canonical_order([np.zeros((40, 2)), *views])[0], samples)
    np.testing.assert_array_equal(canonical_order([np.zeros((40, 2))])[0], np.arange(40))


def test_sparse_views_have_the_order_of_dense_ones(seed):
    views = drawn(seed)
    sparse = [scipy.sparse.csr_array(view) for view in views]
    for before, after in zip(canonical_order(views), canonical_order(sparse), strict=True):
        np.testing.assert_array_equal(after, before)
