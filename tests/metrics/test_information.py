"""Information between clusterings and among neighbors: bounds, symmetries, scikit-learn's numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from latefusion.metrics import neighbor_information, shared_information
from latefusion.metrics.information import label_tables, neighbor_tables, table_informations
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
def test_tables_of_parts_add_up(seed):
    rng, k, labels, others, neighbors = random_case(seed)
    parts = rng.integers(3, size=len(labels))
    for tables, second in ((label_tables, others), (neighbor_tables, neighbors)):
        of_parts = tables(labels, second, k, parts, 3)
        assert of_parts.shape == (3, k, k)
        np.testing.assert_array_equal(of_parts.sum(axis=0), tables(labels, second, k)[0])


@given(SEEDS)
@examples(50)
def test_table_of_a_part_is_that_of_its_samples(seed):
    rng, k, labels, others, neighbors = random_case(seed)
    parts = rng.integers(-1, 2, size=len(labels))
    own = parts == 1
    np.testing.assert_array_equal(
        label_tables(labels, others, k, parts, 2)[1], label_tables(labels[own], others[own], k)[0]
    )
    found = neighbor_tables(labels, neighbors, k, parts, 2)[1]
    np.testing.assert_array_equal(found, neighbor_tables(labels, np.where(own[:, None], neighbors, -1), k)[0])
    np.testing.assert_array_equal(found, found.T)


def test_empty_tables_have_no_information():
    np.testing.assert_array_equal(table_informations(np.zeros((2, 3, 3), dtype=np.intp)), 0.0)
