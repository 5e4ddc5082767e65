from itertools import permutations

import numpy as np
import pytest

from latefusion.metrics.permutations import relabel


def test_few_orders_are_all_made_once():
    codes = np.array([0, 0, 1, 2, 2])
    found = relabel(codes, 100, seed=0)
    assert found.exact
    assert sorted(map(tuple, found.stored.tolist())) == sorted(set(permutations(codes.tolist())))


@pytest.mark.parametrize(("most", "exact"), [(29, False), (30, True)])
def test_orders_are_all_made_if_there_are_not_more_than_asked_for(most, exact):
    found = relabel(np.array([0, 0, 1, 2, 2]), most, seed=0)
    assert (found.exact, found.n_relabelings) == (exact, most)


def test_random_orders_keep_cluster_sizes_and_differ():
    codes = np.random.default_rng(0).integers(0, 3, 40)
    found = relabel(codes, 50, seed=1)
    assert not found.exact
    np.testing.assert_array_equal(np.sort(found.stored, axis=1), np.tile(np.sort(codes), (50, 1)))
    assert len(np.unique(found.stored, axis=0)) == 50


def test_a_seed_permutes_all_clusterings_in_the_same_way():
    codes = np.random.default_rng(0).integers(0, 5, 40)
    merged = codes // 2
    np.testing.assert_array_equal(relabel(codes, 20, seed=3).stored // 2, relabel(merged, 20, seed=3).stored)
    assert (relabel(codes, 20, seed=4).stored != relabel(codes, 20, seed=3).stored).any()


def test_random_p_values_count_the_observed_order_and_are_never_zero():
    codes = np.arange(12)
    found = relabel(codes, 99, seed=0)
    weights = np.arange(12.0)
    p = found.p_values(np.array([weights @ codes, np.nan]), lambda block: np.stack([block @ weights] * 2, axis=1), 1)
    assert p[0] == 1 / 100  # no other order has so large a sum of products
    assert np.isnan(p[1])


def test_p_values_do_not_depend_on_the_size_of_the_blocks(monkeypatch):
    codes = np.random.default_rng(0).integers(0, 3, 30)
    weights = np.random.default_rng(1).standard_normal(30)
    found = relabel(codes, 200, seed=0)

    def statistic(block):
        return (block @ weights)[:, None]

    whole = found.p_values(statistic(codes[None, :])[0], statistic, 1)
    monkeypatch.setattr("latefusion.metrics.permutations.BLOCK_ENTRIES", 100)
    assert found.p_values(statistic(codes[None, :])[0], statistic, 1) == whole


def test_equality_up_to_rounding_is_equality():
    found = relabel(np.array([0, 0, 1, 1]), 10, seed=0)
    p = found.p_values(np.array([1.0 + 1e-12]), lambda block: np.ones((len(block), 1)), 1)
    assert p[0] == 1.0


def test_orders_that_are_not_stored_are_drawn_again_in_any_blocks(monkeypatch):
    codes = np.random.default_rng(0).integers(0, 4, 25)
    stored = relabel(codes, 40, seed=2).stored
    monkeypatch.setattr("latefusion.metrics.permutations.LARGEST_STORED", 10)
    drawn = relabel(codes, 40, seed=2)
    assert len(drawn.stored) == 0
    for n_rows in (1, 7, 40, 100):
        np.testing.assert_array_equal(np.concatenate(list(drawn.blocks(n_rows))), stored)


def test_no_samples_have_one_order():
    found = relabel(np.array([], dtype=np.intp), 9, seed=0)
    assert (found.exact, found.n_relabelings, found.stored.shape) == (True, 1, (1, 0))
