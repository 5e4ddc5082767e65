"""Hard labels: every cluster is used, at the lowest cost."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from latefusion.baselines.support.hard_labels import assign_rows


def test_every_cluster_is_used(seed):
    scores = np.random.default_rng(seed).standard_normal((12, 5))
    scores[:, 1] -= 10.0
    scores[:, 3] -= 20.0
    labels = assign_rows(scores)
    assert set(labels) == set(range(5))


def test_labels_are_the_best_of_all_that_use_every_cluster(seed):
    scores = np.random.default_rng(seed).standard_normal((6, 3))
    scores[:, 2] -= 4.0
    value = scores[np.arange(6), assign_rows(scores)].sum()
    feasible = (np.array(one) for one in itertools.product(range(3), repeat=6) if len(set(one)) == 3)
    assert value == pytest.approx(max(scores[np.arange(6), one].sum() for one in feasible))


def test_labels_before_are_kept_when_filling_clusters_would_cost_more():
    # Cluster 1 is filled first and takes the sample that cluster 2 could have had at no loss; cluster 2 then pays 9.
    scores = np.array([[9.0, 0.0, 0.0], [9.0, 8.0, 9.0 - 1e-9], [9.0, 7.5, 0.0], [9.0, 0.0, 0.0]])
    rows, better, worse = np.arange(4), np.array([0, 2, 1, 0]), np.array([2, 0, 1, 0])
    greedy = assign_rows(scores)
    assert scores[rows, worse].sum() < scores[rows, greedy].sum() < scores[rows, better].sum()
    np.testing.assert_array_equal(assign_rows(scores, better), better)
    np.testing.assert_array_equal(assign_rows(scores, worse), greedy)
