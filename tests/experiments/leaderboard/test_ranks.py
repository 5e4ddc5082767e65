import itertools

import numpy as np
import pytest
from scipy import stats

from latefusion.experiments.leaderboard.ranks import (
    critical_difference,
    friedman_test,
    holm,
    mean_ranks,
    pairwise_groups,
    pvalues_against,
    rank_groups,
    set_ranks,
    tallies,
    wilcoxon_pvalue,
)

NAN = np.nan
SCORES = np.array([[0.9, 0.8, 0.7], [0.5, 0.5, 0.6], [0.4, NAN, NAN], [NAN, NAN, NAN]])


def test_ranks_by_hand():
    expected = [[1, 2, 3], [2.5, 2.5, 1], [1, 2.5, 2.5], [2, 2, 2]]
    assert set_ranks(SCORES).tolist() == expected
    assert mean_ranks(SCORES).tolist() == [6.5 / 4, 9 / 4, 8.5 / 4]


def test_ranks_do_not_change_with_the_scale_and_add_up():
    scores = np.random.default_rng(0).random((7, 5)).round(1)
    assert (set_ranks(scores) == set_ranks(10 * scores - 3)).all()
    assert (set_ranks(scores).sum(axis=1) == 15).all()


@pytest.mark.parametrize("digits", [1, 8])
def test_friedman_is_that_of_scipy_with_and_without_ties(digits):
    scores = np.random.default_rng(1).random((12, 4)).round(digits)
    expected = stats.friedmanchisquare(*scores.T)
    assert friedman_test(scores) == pytest.approx((expected.statistic, expected.pvalue))


def test_friedman_of_equal_methods():
    assert friedman_test(np.ones((5, 3))) == (0.0, 1.0)


def test_critical_differences_are_those_of_the_table():
    """Demšar (2006), table 5(a), 5 %: q is 1.960 for 2 methods, 2.569 for 4, 3.164 for 10."""
    for n_methods, quantile in ((2, 1.960), (4, 2.569), (10, 3.164)):
        expected = quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * 14))
        assert critical_difference(14, n_methods) == pytest.approx(expected, rel=5e-4)


def test_wilcoxon_is_that_of_scipy_without_ties():
    generator = np.random.default_rng(2)
    for n_sets in (3, 8, 20):
        one, other = generator.random((2, n_sets))
        assert wilcoxon_pvalue(one, other) == pytest.approx(stats.wilcoxon(one, other, method="exact").pvalue)
        assert wilcoxon_pvalue(one, other) == wilcoxon_pvalue(other, one)


def test_wilcoxon_is_exact_with_ties():
    """The share of all signs with a rank sum at least as far from the mean."""
    differences = np.array([0.25, 0.25, -0.25, 0.5, 0.0, 0.75, 0.5])
    ranks = stats.rankdata(np.abs(differences[differences != 0]))
    sums = [np.dot(signs, ranks) for signs in itertools.product((-1, 1), repeat=len(ranks))]
    observed = np.dot(np.sign(differences[differences != 0]), ranks)
    expected = np.mean(np.abs(sums) >= abs(observed))
    assert wilcoxon_pvalue(differences, np.zeros(7)) == pytest.approx(expected)


def test_wilcoxon_counts_failures_as_the_largest_loss():
    better = np.array([0.5, 0.6, 0.7, 0.1, 0.2, 0.3])
    failing = np.array([NAN, NAN, 0.6, 0.0, 0.1, 0.2])
    assert wilcoxon_pvalue(better, failing) == pytest.approx(2 / 2**6)
    assert wilcoxon_pvalue(np.full(4, NAN), np.full(4, NAN)) == 1.0
    equal_where_both_fail = np.array([0.5, NAN, NAN])
    assert wilcoxon_pvalue(equal_where_both_fail, np.array([0.4, NAN, NAN])) == 1.0  # one pair is left


def test_holm_by_hand():
    assert holm(np.array([0.01, 0.04, 0.03, 0.5])).tolist() == pytest.approx([0.04, 0.09, 0.09, 0.5])
    assert holm(np.array([0.4, 0.6])).tolist() == [0.8, 0.8]
    assert holm(np.array([])).tolist() == []


def test_p_values_against_one_method():
    scores = np.random.default_rng(3).random((9, 4))
    found = pvalues_against(scores, 2)
    assert np.isnan(found[2])
    raw = [wilcoxon_pvalue(scores[:, 2], scores[:, column]) for column in (0, 1, 3)]
    assert found[[0, 1, 3]].tolist() == holm(np.array(raw)).tolist()


def test_groups_of_ranks_by_hand():
    ranks = np.array([1.0, 5.0, 2.0, 3.5, 1.5])
    assert rank_groups(ranks, 1.0) == [[0, 4, 2]]
    assert rank_groups(ranks, 1.5) == [[0, 4, 2], [2, 3], [3, 1]]
    assert rank_groups(ranks, 0.1) == []
    assert rank_groups(ranks, 10.0) == [[0, 4, 2, 3, 1]]


def test_pairwise_groups_separate_what_the_tests_separate():
    generator = np.random.default_rng(4)
    level = generator.random((30, 1))
    scores = np.hstack([level + 2, level, level + generator.normal(0, 0.1, (30, 1))])
    assert sorted(map(sorted, pairwise_groups(scores))) == [[1, 2]]
    assert pairwise_groups(np.ones((5, 3))) == [[0, 1, 2]]


def test_tallies_by_hand():
    found = tallies(SCORES)
    assert found[0][1] == (2, 2, 0)
    assert found[1][0] == (0, 2, 2)
    assert found[0][2] == (2, 1, 1)
    for a, b in itertools.product(range(3), repeat=2):
        assert (found[a][b].wins, found[a][b].ties) == (found[b][a].losses, found[b][a].ties)
        assert sum(found[a][b]) == len(SCORES)
