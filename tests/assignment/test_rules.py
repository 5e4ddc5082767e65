"""Label assignment: planted clusters, rotations of the embedding, degenerate rows, and the kept rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from latefusion.assignment import (
    ASSIGNMENTS,
    LargestVote,
    NearestCenter,
    RotatedAxes,
    assign_by_kmeans,
    assign_by_linkage,
    assign_by_rotation,
)
from latefusion.assignment.rules import _fill_empty
from tests.properties import examples

RULES = sorted(ASSIGNMENTS)
seeds = st.integers(0, 2**32 - 1)


def planted(k, sizes=(12, 20, 7, 15, 9), noise=0.05, seed=0):
    """Rows near k orthogonal directions, of random length: an embedding as a graph of k components has it."""
    generator = np.random.default_rng(seed)
    target = generator.permutation(np.repeat(np.arange(k), [sizes[j % len(sizes)] for j in range(k)]))
    directions = np.linalg.qr(generator.standard_normal((k, k)))[0]
    rows = directions[target] + noise * generator.standard_normal((len(target), k))
    return rows * generator.uniform(0.5, 2.0, size=(len(target), 1)), target


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("k", [1, 2, 3, 8])
def test_planted_clusters_are_recovered(name, k):
    rows, target = planted(k)
    labels, _ = ASSIGNMENTS[name](rows, k, random_state=0)
    assert adjusted_rand_score(target, labels) == 1.0
    assert set(labels) == set(range(k))


@pytest.mark.parametrize("name", ["kmeans", "rotation"])
def test_clusters_that_span_one_direction_less_are_recovered(name):
    """Centered kernels put three clusters on a triangle in the plane; the third column is zero."""
    angles = np.repeat(2 * np.pi * np.arange(3) / 3, 20)
    rows = np.c_[np.cos(angles), np.sin(angles), np.zeros(60)]
    rows[:, :2] += 0.05 * np.random.default_rng(0).standard_normal((60, 2))
    labels, _ = ASSIGNMENTS[name](rows, 3, random_state=0)
    assert adjusted_rand_score(np.repeat(np.arange(3), 20), labels) == 1.0


@pytest.mark.parametrize("name", RULES)
@examples(15)
@given(seed=seeds, n=st.integers(2, 40), k=st.integers(1, 6))
def test_the_rule_gives_its_own_rows_their_labels(name, seed, n, k):
    k = min(n, k)
    rows = np.random.default_rng(seed).standard_normal((n, k))
    labels, rule = ASSIGNMENTS[name](rows, k, n_init=2, random_state=0)
    np.testing.assert_array_equal(rule.predict(rows), labels)
    np.testing.assert_array_equal(rule.predict(rows * 3.7), labels)
    confidence = rule.confidence(rows)
    assert confidence.shape == (n,)
    assert np.all((confidence >= 0) & (confidence <= 1))
    if k == 1:
        assert np.all(confidence == 1.0)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("noise", [0.05, 0.3])
def test_a_rotation_of_the_embedding_renames_labels_at_most(name, noise, seed):
    rows, _ = planted(4, noise=noise, seed=seed)
    rotation = np.linalg.qr(np.random.default_rng(seed + 10).standard_normal((4, 4)))[0]
    labels, _ = ASSIGNMENTS[name](rows, 4, n_init=20, random_state=0)
    turned, _ = ASSIGNMENTS[name](rows @ rotation, 4, n_init=20, random_state=0)
    assert adjusted_rand_score(labels, turned) == 1.0


@pytest.mark.parametrize("name", RULES)
def test_the_order_of_samples_renames_labels_at_most(name):
    rows, _ = planted(4, noise=0.2)
    order = np.random.default_rng(1).permutation(len(rows))
    labels, _ = ASSIGNMENTS[name](rows, 4, n_init=20, random_state=0)
    moved, _ = ASSIGNMENTS[name](rows[order], 4, n_init=20, random_state=0)
    assert adjusted_rand_score(labels[order], moved) == 1.0


@pytest.mark.parametrize("name", RULES)
def test_one_seed_gives_one_result(name):
    rows = np.random.default_rng(0).standard_normal((40, 4))
    one, other = (ASSIGNMENTS[name](rows, 4, random_state=np.random.RandomState(5))[0] for _ in range(2))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", RULES)
def test_as_many_clusters_as_samples(name):
    labels, rule = ASSIGNMENTS[name](
        np.linalg.qr(np.random.default_rng(0).standard_normal((7, 7)))[0], 7, random_state=0
    )
    assert sorted(labels) == list(range(7))
    assert rule.confidence(np.eye(7)).shape == (7,)


@pytest.mark.parametrize("name", RULES)
def test_zero_rows_get_some_label_and_no_nan(name):
    rows, target = planted(3)
    rows[::10] = 0.0
    labels, rule = ASSIGNMENTS[name](rows, 3, random_state=0)
    assert set(labels) <= {0, 1, 2}
    assert np.isfinite(rule.confidence(rows)).all()
    kept = rows.any(axis=1)
    assert adjusted_rand_score(target[kept], labels[kept]) == 1.0
    np.testing.assert_array_equal(rule.predict(np.zeros((2, 3))) < 3, True)
    # A row without direction fits no axis better than another.
    if isinstance(rule, RotatedAxes):
        np.testing.assert_array_equal(rule.confidence(np.zeros((2, 3))), 0.0)


@pytest.mark.parametrize("name", ["rotation", "cluster_qr"])
def test_fewer_directions_than_clusters_leave_clusters_empty(name):
    rows = np.repeat(np.eye(4)[:2], 5, axis=0)
    labels, rule = ASSIGNMENTS[name](rows, 4, random_state=0)
    assert adjusted_rand_score(np.repeat([0, 1], 5), labels) == 1.0
    assert np.isfinite(rule.confidence(rows)).all()


def test_average_linkage_of_repeated_rows():
    """More rows than centers are compared, but fewer different ones; warnings are errors here."""
    directions = np.repeat(np.eye(3), [100, 90, 80], axis=0)
    labels, _ = assign_by_linkage(directions, 3)
    assert adjusted_rand_score(labels, np.argmax(directions, axis=1)) == 1.0


def test_kmeans_warns_about_fewer_clusters():
    with pytest.warns(ConvergenceWarning, match="distinct clusters"):
        labels, _ = assign_by_kmeans(np.repeat(np.eye(4)[:2], 5, axis=0), 4, random_state=0)
    assert adjusted_rand_score(np.repeat([0, 1], 5), labels) == 1.0


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_single_precision_finds_the_same(name, dtype):
    rows, target = planted(3)
    labels, rule = ASSIGNMENTS[name](rows.astype(dtype), 3, random_state=0)
    assert adjusted_rand_score(target, labels) == 1.0
    np.testing.assert_array_equal(rule.predict(rows), labels)


def test_kmeans_is_scikit_learns_on_unit_rows():
    rows, _ = planted(4, noise=0.4)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    reference = KMeans(4, n_init=10, random_state=0).fit(unit)
    labels, rule = assign_by_kmeans(rows, 4, n_init=10, random_state=0)
    np.testing.assert_array_equal(labels, reference.labels_)
    np.testing.assert_allclose(rule.centers, reference.cluster_centers_, atol=1e-12)


def test_the_number_of_threads_changes_no_bit():
    rows = np.random.default_rng(0).standard_normal((4000, 7))
    found = []
    for limit in (1, 2):
        with threadpool_limits(limit):
            found.append(assign_by_kmeans(rows, 9, random_state=0)[1].centers)
    assert np.array_equal(*found)


def test_rotation_is_a_fixed_point_of_both_steps():
    """Neither other labels nor another rotation raise Tr(Yᵀ F R)."""
    rows, _ = planted(4, noise=0.4)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    labels, rule = assign_by_rotation(rows, 4, random_state=0)
    np.testing.assert_allclose(rule.rotation.T @ rule.rotation, np.eye(4), atol=1e-12)
    value = np.trace(np.eye(4)[labels].T @ unit @ rule.rotation)
    assert value == pytest.approx((unit @ rule.rotation).max(axis=1).sum())
    generator = np.random.default_rng(0)
    for _ in range(200):
        other = np.linalg.qr(rule.rotation + generator.choice([0.01, 1.0]) * generator.standard_normal((4, 4)))[0]
        other *= np.sign(np.sum(other * rule.rotation, axis=0))
        assert np.trace(np.eye(4)[labels].T @ unit @ other) <= value + 1e-9


def test_confidence_has_its_meaning():
    rule = NearestCenter(np.array([[1.0, 0.0], [0.0, 1.0]]))
    np.testing.assert_allclose(rule.confidence(np.array([[1.0, 0.0], [1.0, 1.0], [-1.0, -1.0]])), [1, 0, 0], atol=1e-7)
    axes = RotatedAxes(np.eye(2))
    np.testing.assert_allclose(axes.confidence(np.array([[2.0, 0.0], [1.0, 1.0], [2.0, 1.0]])), [1, 0, 0.5], atol=1e-12)
    np.testing.assert_array_equal(axes.predict(np.array([[-3.0, 1.0]])), [1])


def test_an_empty_cluster_gets_the_furthest_sample_that_another_cluster_can_spare():
    """Sample 3 is alone in cluster 1, and sample 1 in cluster 2 once it is there."""
    labels = np.array([0, 0, 0, 1])
    coordinates = np.zeros((4, 4))
    coordinates[:, 2] = [0.1, 0.3, 0.2, 0.9]
    coordinates[:, 3] = [0.1, 0.5, 0.4, 0.2]
    _fill_empty(labels, coordinates)
    assert labels.tolist() == [0, 2, 3, 1]


def test_one_start_of_the_rotation_needs_no_luck():
    """The first start is made of rows that point furthest apart; only further ones are drawn."""
    rows = np.random.default_rng(0).standard_normal((80, 6))
    labels = [assign_by_rotation(rows, 6, n_init=1, random_state=seed)[0] for seed in range(4)]
    for other in labels[1:]:
        np.testing.assert_array_equal(other, labels[0])


def test_votes_are_confident_relative_to_the_clearest_sample_of_the_cluster():
    votes = np.array([[5.0, 1.0, -2.0], [3.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, -3.0, 7.0], [2.0, 2.0, -9.0]])
    rule = LargestVote.of(votes)
    np.testing.assert_array_equal(rule.predict(votes), [0, 0, 2, 2, 0])
    np.testing.assert_allclose(rule.confidence(votes), [1.0, 0.5, 0.125, 1.0, 0.0])
    np.testing.assert_allclose(rule.confidence(10 * votes[:1]), 1.0)
    np.testing.assert_allclose(LargestVote.of(votes[:, :1]).confidence(votes[:, :1]), 1.0)


@pytest.mark.parametrize("name", RULES)
@examples(15)
@given(seed=seeds, n=st.integers(2, 40), k=st.integers(1, 6))
def test_the_label_is_the_first_largest_score(name, seed, n, k):
    k = min(n, k)
    generator = np.random.default_rng(seed)
    rows = np.concatenate([np.round(generator.standard_normal((n, k)), 1), np.zeros((1, k))])
    _, rule = ASSIGNMENTS[name](rows, k, n_init=2, random_state=0)
    scores = rule.scores(rows)
    assert scores.shape == (n + 1, k)
    np.testing.assert_array_equal(np.argmax(scores, axis=1), rule.predict(rows))


def test_scores_of_centers_are_distances_to_the_nearest_one_of_the_cluster():
    rows, centers = np.eye(2), np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    np.testing.assert_allclose(NearestCenter(centers).scores(rows), [[0, -2, -0.8], [-2, 0, -0.4]], atol=1e-15)
    of_two = NearestCenter(centers, np.array([0, 1, 1])).scores(rows)
    np.testing.assert_allclose(of_two, [[0, -0.8], [-2, 0]], atol=1e-15)


def test_tied_votes_are_for_the_first():
    votes = np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 2.0]])
    rule = LargestVote.of(votes)
    np.testing.assert_array_equal(np.argmax(rule.scores(votes), axis=1), rule.predict(votes))
