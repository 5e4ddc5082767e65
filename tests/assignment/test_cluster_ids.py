"""Rules whose clusters have ids of their own."""

import numpy as np
import pytest

from latefusion.assignment import ASSIGNMENTS
from latefusion.assignment.cluster_ids import RuleWithIds, ids_of_rule, number_of_ids


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_labels_are_ids_and_scores_are_in_their_order(name):
    rows = np.random.default_rng(0).standard_normal((60, 3))
    _, rule = ASSIGNMENTS[name](rows, 3, n_init=2, random_state=0)
    ids = np.array([4, 0, 2])
    named = RuleWithIds(rule, ids, 5)
    np.testing.assert_array_equal(named.predict(rows), ids[rule.predict(rows)])
    np.testing.assert_array_equal(named.confidence(rows), rule.confidence(rows))
    assert ids_of_rule(named, 3).tolist() == [0, 2, 4]
    np.testing.assert_array_equal(np.array([0, 2, 4])[named.scores(rows).argmax(axis=1)], named.predict(rows))


def test_a_rule_without_ids_has_numbers():
    assert ids_of_rule(object(), 3).tolist() == [0, 1, 2]
    assert number_of_ids(object(), 3) == 3
    assert number_of_ids(RuleWithIds(object(), np.array([0, 7]), 9), 2) == 9


def test_array_libraries(xp):
    rule = ASSIGNMENTS["kmeans"](np.eye(3), 3, n_init=1, random_state=0)[1]
    rule = type(rule)(xp.asarray(rule.centers))
    named = RuleWithIds(rule, np.array([4, 0, 2]), 5)
    labels, scores = named.predict(xp.asarray(np.eye(3))), named.scores(xp.asarray(np.eye(3)))
    assert sorted(int(one) for one in labels) == [0, 2, 4]
    assert [(0, 2, 4)[int(one)] for one in xp.argmax(scores, axis=1)] == [int(one) for one in labels]
