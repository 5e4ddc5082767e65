"""The consensus of partitions, without an estimator."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from latefusion.estimators.given_partitions import partition_columns
from latefusion.estimators.partition_fusion import (
    FusionOptions,
    count_groups,
    fuse_partitions,
    partition_agreement,
)
from latefusion.metrics import adjusted_rand
from latefusion.similarities import GivenPartition

OPTIONS = FusionOptions(
    None, None, regularization=1.0, max_iter=100, tol=1e-6, assign_labels="kmeans", n_init=5, random_state=0
)


def noisy(labels, share, rng):
    changed = rng.random(len(labels)) < share
    return np.where(changed, rng.integers(labels.max() + 1, size=len(labels)), labels)


def given(partitions):
    maps = [GivenPartition(unassigned=[]).fit_map(one, str(name)) for name, one in enumerate(partitions)]
    return partition_columns(partitions, maps, list(map(str, range(len(partitions)))), None), maps


@pytest.fixture
def truth(seed):
    return np.random.default_rng(seed).integers(4, size=300)


@pytest.fixture
def partitions(truth, seed):
    rng = np.random.default_rng(seed + 1)
    return [noisy(truth, 0.3, rng) for _ in range(5)]


def test_the_consensus_is_nearer_to_the_truth_than_any_partition(truth, partitions):
    views, maps = given(partitions)
    found = fuse_partitions(views, maps, OPTIONS)
    assert found.n_clusters == 4
    assert adjusted_rand(truth, found.labels) > max(adjusted_rand(truth, one) for one in partitions)
    np.testing.assert_array_equal(found.fitted.rule.predict(found.fitted.rows(views)), found.labels)
    np.testing.assert_allclose(np.sum(found.weights**2), 1.0)


@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 1.0, 1.0, 0.5, 3.0])])
def test_a_partition_that_is_constant_here_is_left_out(partitions, weights):
    """As in a half of the samples that has one of its clusters only: nothing but its weight and its votes is zero."""
    rare = np.r_[1, np.zeros(299, dtype=int)]
    views, maps = given([*partitions, rare])
    part = views[1:]
    refitted = [GivenPartition(unassigned=[]).fit_map(one[1:], "x") for one in partitions]
    constant = replace(maps[-1], weights=np.zeros((2, 1)))
    options = replace(OPTIONS, weights=weights)
    found = fuse_partitions(part, [*refitted, constant], options)
    without = fuse_partitions(
        given([one[1:] for one in partitions])[0],
        refitted,
        options.only(range(5)),
    )
    np.testing.assert_array_equal(found.labels, without.labels)
    np.testing.assert_allclose(found.votes, without.votes, atol=1e-12)
    np.testing.assert_allclose(found.weights, [*without.weights, 0.0])
    # A sample in the cluster that was not seen is labeled by the other partitions.
    alone = fuse_partitions(part, [*refitted, constant], options).fitted.rows(views[:1])
    others = without.fitted.rows(given(partitions)[0][:1])
    np.testing.assert_allclose(alone, others, atol=1e-12)


def test_the_scale_of_given_weights_does_not_matter(partitions):
    views, maps = given(partitions)
    first, second = (
        fuse_partitions(views, maps, replace(OPTIONS, weights=factor * np.array([1.0, 2.0, 3.0, 4.0, 5.0])))
        for factor in (1.0, 64.0)
    )
    np.testing.assert_allclose(first.votes, second.votes)


def test_groups_are_the_different_rows(partitions):
    views, maps = given(partitions[:2])
    columns = np.hstack([one.toarray() for one in views.arrays])
    expected = len(np.unique(np.column_stack(partitions[:2]), axis=0))
    assert count_groups(csr_array(columns), maps) == expected
    with pytest.raises(ValueError, match=f"distinguish only {expected} groups"):
        fuse_partitions(views, maps, replace(OPTIONS, numbers=(expected + 1,)))


def test_agreement_is_one_for_the_same_clustering_and_small_for_noise(truth, seed):
    noise = np.random.default_rng(seed + 7).integers(4, size=300)
    views, maps = given([truth, noise])
    same, other = partition_agreement(views, maps, truth, 4)
    assert same == pytest.approx(1.0)
    assert other < 0.1
