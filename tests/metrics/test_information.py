"""Information between clusterings and among neighbors: bounds, symmetries, scikit-learn's numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, mutual_info_score

from latefusion.metrics import neighbor_information, shared_information
from latefusion.metrics.information import (
    adjusted_information,
    label_tables,
    neighbor_tables,
    table_informations,
    table_rand_indices,
)
from tests.properties import examples

SEEDS = st.integers(0, 2**32 - 1)


def random_case(seed):
    rng = np.random.default_rng(seed)
    n, k, width = rng.integers(2, 40), rng.integers(2, 6), rng.integers(1, 5)
    return rng, k, rng.integers(k, size=n), rng.integers(k, size=n), rng.integers(n, size=(n, width))


@given(SEEDS)
@examples(50)
def test_between_zero_and_one(seed):
    _, k, labels, others, neighbors = random_case(seed)
    for value in (
        shared_information(labels, others, k),
        shared_information(labels, labels, k),
        neighbor_information(labels, neighbors, k),
        neighbor_information(labels, np.arange(len(labels))[:, None], k),
    ):
        assert 0 <= value <= 1


@given(SEEDS)
@examples(50)
def test_names_of_clusters_do_not_matter(seed):
    rng, k, labels, others, neighbors = random_case(seed)
    names = rng.permutation(k)
    assert shared_information(names[labels], others, k) == pytest.approx(shared_information(labels, others, k))
    assert neighbor_information(names[labels], neighbors, k) == pytest.approx(
        neighbor_information(labels, neighbors, k)
    )


@given(SEEDS)
@examples(50)
def test_order_of_samples_does_not_matter(seed):
    rng, k, labels, others, neighbors = random_case(seed)
    order = rng.permutation(len(labels))
    moved = np.argsort(order)[neighbors[order]]
    assert shared_information(labels[order], others[order], k) == pytest.approx(shared_information(labels, others, k))
    assert neighbor_information(labels[order], moved, k) == pytest.approx(neighbor_information(labels, neighbors, k))


@given(SEEDS)
@examples(50)
def test_shared_information_is_the_mutual_information_over_log_k(seed):
    _, k, labels, others, _ = random_case(seed)
    expected = mutual_info_score(labels, others) / np.log(k)
    assert shared_information(labels, others, k) == pytest.approx(expected, abs=1e-12)
    assert shared_information(others, labels, k) == pytest.approx(expected, abs=1e-12)


@given(SEEDS)
@examples(50)
def test_neighbor_information_is_that_of_all_pairs_in_both_directions(seed):
    _, k, labels, _, neighbors = random_case(seed)
    own, theirs = np.repeat(labels, neighbors.shape[1]), labels[neighbors.ravel()]
    expected = mutual_info_score(np.r_[own, theirs], np.r_[theirs, own]) / np.log(k)
    assert neighbor_information(labels, neighbors, k) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("k", range(2, 20))
def test_both_ends_are_exact_bounds(k):
    labels = np.repeat(np.arange(k), k)
    assert 1 - 1e-12 <= shared_information(labels, labels[::-1], k) <= 1
    assert 0 <= shared_information(labels, np.tile(np.arange(k), k), k) <= 1e-12


def test_best_and_worst():
    labels = np.repeat(np.arange(4), 5)
    assert shared_information(labels, 3 - labels, 4) == pytest.approx(1)
    assert shared_information(labels, np.tile(np.arange(5), 4) % 4, 4) < 0.2
    cycle = 5 * labels[:, None] + (np.arange(20)[:, None] % 5 + [1, 2]) % 5  # neighbors inside the cluster
    assert neighbor_information(labels, cycle, 4) == pytest.approx(1)
    assert neighbor_information(np.zeros(20, dtype=int), cycle, 4) == 0


def test_one_cluster_has_no_information():
    labels = np.zeros(5, dtype=int)
    assert shared_information(labels, labels, 1) == 0
    assert neighbor_information(labels, np.ones((5, 2), dtype=int), 1) == 0


def test_negative_neighbors_are_passed_over():
    labels = np.array([0, 0, 1, 1, 1])
    neighbors = np.array([[1, -1], [0, -1], [3, 4], [2, -1], [-1, -1]])
    pairs = np.array([[0, 1], [1, 0], [2, 3], [2, 4], [3, 2]])
    expected = mutual_info_score(labels[pairs].ravel(), labels[pairs[:, ::-1]].ravel()) / np.log(2)
    assert neighbor_information(labels, neighbors, 2) == pytest.approx(expected)
    assert neighbor_information(labels, np.full((5, 2), -1), 2) == 0


@given(SEEDS)
@examples(50)
def test_several_tables_are_those_of_their_pairs(seed):
    rng, k, labels, others, _ = random_case(seed)
    owners = rng.integers(3, size=len(labels))
    tables = label_tables(labels, others, k, owners, 3)
    assert tables.shape == (3, k, k)
    np.testing.assert_array_equal(tables.sum(axis=0), label_tables(labels, others, k)[0])
    for table, own in zip(tables, owners == np.arange(3)[:, None], strict=True):
        np.testing.assert_array_equal(table, label_tables(labels[own], others[own], k)[0])


@given(SEEDS)
@examples(50)
def test_tables_of_neighbors_are_symmetric(seed):
    _, k, labels, _, neighbors = random_case(seed)
    (table,) = neighbor_tables(labels, neighbors, k)
    np.testing.assert_array_equal(table, table.T)
    assert table.sum() == 2 * neighbors.size


@given(SEEDS)
@examples(100)
def test_adjusted_information_is_scikit_learns(seed):
    rng, _, labels, others, _ = random_case(seed)
    mixed = np.where(rng.random(len(labels)) < 0.5, labels, others)
    for first, second in ((labels, others), (labels, mixed), (labels, 3 * labels + 7), (0 * labels, others)):
        expected = adjusted_mutual_info_score(first, second)
        assert adjusted_information(first, second) == pytest.approx(expected, abs=1e-9)
        assert adjusted_information(second, first) == pytest.approx(expected, abs=1e-9)


@given(SEEDS)
@examples(100)
def test_rand_indices_are_scikit_learns(seed):
    rng, k, labels, others, _ = random_case(seed)
    mixed = np.where(rng.random(len(labels)) < 0.5, labels, others)
    pairs = [(labels, others), (labels, mixed), (labels, labels), (0 * labels, others), (0 * labels, 0 * labels)]
    found = table_rand_indices(np.concatenate([label_tables(*pair, k) for pair in pairs]))
    np.testing.assert_allclose(found, [adjusted_rand_score(*pair) for pair in pairs], atol=1e-12)


def test_adjusted_information_of_many_samples(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(12, size=3000)
    noisy = np.where(rng.random(3000) < 0.3, rng.integers(12, size=3000), labels)
    assert adjusted_information(labels, noisy) == pytest.approx(adjusted_mutual_info_score(labels, noisy), abs=1e-10)
    assert adjusted_information(labels, labels) == pytest.approx(1.0)
    assert abs(adjusted_information(labels, rng.integers(12, size=3000))) < 0.01


def test_empty_tables_have_no_information():
    np.testing.assert_array_equal(table_informations(np.zeros((2, 3, 3), dtype=np.intp)), 0.0)
