"""Agreement of labels with partitions: the adjusted Rand index, its derivative, and steps that raise it."""

import numpy as np
import pytest
from scipy.sparse import csr_array, hstack
from sklearn.metrics import adjusted_rand_score

from latefusion.similarities.given import GivenPartition
from latefusion.solvers.label_agreement import ComparedPartition, refine_labels


def compared(view, kind="labels", weight=1.0):
    """A partition for comparison, and its columns."""
    given = GivenPartition(kind).fit_map(view)
    columns = given.columns(view)
    products = (columns.T @ columns).toarray()
    factor = given.co_membership(given.assigned @ products @ given.assigned)
    return ComparedPartition.of(factor, given.assigned, products, weight), columns


def agreement(view, labels, kind="labels"):
    one, columns = compared(view, kind)
    return one.agreement(columns.T @ np.eye(labels.max() + 1)[labels])


@pytest.fixture
def labels(seed):
    return np.random.default_rng(seed).integers(4, size=200)


@pytest.fixture
def noisy(labels, seed):
    """Labels of three further clusters, of which half are random."""
    rng = np.random.default_rng(seed + 1)
    return np.where(rng.random(200) < 0.5, rng.integers(7, size=200), labels)


def test_agreement_is_the_adjusted_rand_index_with_pairs_of_equal_samples(labels, noisy):
    together, clustered = noisy[:, None] == noisy, labels[:, None] == labels
    expected = together.mean() * clustered.sum()
    index = (np.sum(together & clustered) - expected) / ((together.sum() + clustered.sum()) / 2 - expected)
    assert agreement(noisy, labels) == pytest.approx(index)
    assert agreement(noisy, labels) == pytest.approx(adjusted_rand_score(noisy, labels), abs=0.03)
    assert agreement(labels, labels) == pytest.approx(1.0)


def test_unassigned_samples_take_no_part(labels, noisy):
    hidden = np.where(np.arange(200) < 60, -1, noisy)
    assert agreement(hidden, labels) == pytest.approx(agreement(noisy[60:], labels[60:]))


def test_memberships_and_embeddings_of_clusters_are_those_clusters(noisy):
    target = np.arange(200) // 50
    assert agreement(np.eye(7)[noisy], target, "memberships") == pytest.approx(agreement(noisy, target))
    balanced = np.random.default_rng(0).permutation(np.arange(200) % 5)
    rotated = np.eye(5)[balanced] @ np.random.default_rng(1).standard_normal((5, 5))
    assert agreement(rotated, target, "embedding") == pytest.approx(agreement(balanced, target))


@pytest.mark.parametrize("kind", ["labels", "memberships", "embedding"])
def test_votes_are_half_the_derivative(labels, noisy, kind, seed):
    rng = np.random.default_rng(seed + 2)
    views = {"labels": noisy, "memberships": rng.dirichlet(np.ones(5), 200), "embedding": rng.standard_normal((200, 3))}
    one, columns = compared(views[kind], kind, weight=0.3)
    indicators = np.eye(4)[labels]
    change = rng.standard_normal(indicators.shape)
    ahead, behind = (one.agreement(columns.T @ (indicators + step * change)) for step in (1e-5, -1e-5))
    derivative = 2 * np.sum((columns @ one.votes(columns.T @ indicators)) * change)
    assert derivative == pytest.approx(0.3 * (ahead - behind) / 2e-5, rel=1e-5)


def ensemble(labels, seed, share=0.4):
    rng = np.random.default_rng(seed + 3)
    views = [np.where(rng.random(200) < share, rng.integers(4, size=200), labels) for _ in range(5)]
    found = [compared(view, weight=0.2) for view in views]
    return [one for one, _ in found], hstack([columns for _, columns in found], format="csr")


def test_refinement_ends_where_no_step_raises_the_agreement(labels, seed):
    partitions, columns = ensemble(labels, seed)
    start = np.random.default_rng(seed).integers(4, size=200)
    refined = refine_labels(columns, partitions, start, 4)
    found = np.argmax(columns @ refined.votes, axis=1)
    assert refined.n_found == len(np.unique(found)) == 4
    again = refine_labels(columns, partitions, found, 4)
    assert again.score <= refined.score + 1e-12

    def score(one):
        tables = np.split(columns.T @ np.eye(4)[one], 5)
        return sum(p.weight * p.agreement(table) for p, table in zip(partitions, tables, strict=True))

    assert refined.score == pytest.approx(score(found))
    assert refined.score >= score(start)


def test_equal_partitions_are_a_fixed_point(labels):
    one, columns = compared(labels)
    refined = refine_labels(columns, [one], labels, 4)
    np.testing.assert_array_equal(np.argmax(columns @ refined.votes, axis=1), labels)
    assert refined.score == pytest.approx(1.0)


def test_a_cluster_that_votes_would_empty_is_kept_by_means():
    """A small group differs from a large one in one of three partitions: votes move it there, nearest means do not."""
    coarse = np.repeat([0, 1, 2, 3], [103, 100, 100, 100])
    fine = np.repeat([0, 3, 1, 2, 3], [100, 3, 100, 100, 100])
    start = np.repeat([0, 4, 1, 2, 3], [100, 3, 100, 100, 100])
    found = [compared(one, weight=1 / 3) for one in (coarse, coarse, fine)]
    columns = csr_array(hstack([columns for _, columns in found]))
    voted = sum(own @ one.votes(own.T @ np.eye(5)[start]) for one, own in found)
    assert 4 not in np.argmax(voted, axis=1)
    refined = refine_labels(columns, [one for one, _ in found], start, 5)
    assert refined.n_found == 5
    np.testing.assert_array_equal(np.argmax(columns @ refined.votes, axis=1), start)
