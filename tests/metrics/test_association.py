import math
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import contingency, fisher_exact, kruskal, kstest, mannwhitneyu

from latefusion.metrics import benjamini_hochberg, category_test, rank_test
from latefusion.metrics.permutations import relabel


@pytest.fixture
def groups():
    return np.random.default_rng(0).integers(0, 3, 45)


@pytest.fixture
def values():
    return np.random.default_rng(1).integers(0, 12, 45).astype(float)


# Categories.


def table_as_samples(table):
    table = np.asarray(table)
    rows, columns = np.indices(table.shape)
    return np.repeat(rows.ravel(), table.ravel()), np.repeat(columns.ravel(), table.ravel())


@pytest.mark.parametrize("table", [[[3, 1], [1, 4]], [[5, 0], [1, 2]], [[2, 2], [2, 2]], [[0, 4], [3, 1]]])
def test_two_by_two_is_fishers_test(table):
    codes, categories = table_as_samples(table)
    found = category_test(codes, categories)
    assert found.exact
    np.testing.assert_allclose(found.p_value, fisher_exact(table).pvalue)


@pytest.mark.parametrize("table", [[[2, 0, 1], [0, 2, 1]], [[3, 1], [1, 2]], [[1, 2], [2, 1], [2, 0]]])
def test_enumeration_equals_the_sum_of_probabilities_of_rarer_tables(table):
    codes, categories = table_as_samples(table)

    def probability(order):
        """Multivariate hypergeometric: given its margins, a table has probability ∏ 1 / n_ij! up to a constant."""
        counts = np.zeros(np.shape(table), dtype=int)
        np.add.at(counts, (np.array(order), categories), 1)
        return 1 / np.prod([math.factorial(count) for count in counts.ravel()])

    own = probability(codes)
    expected = np.mean([probability(order) <= own * (1 + 1e-9) for order in permutations(codes.tolist())])
    found = category_test(codes, categories)
    assert found.exact
    np.testing.assert_allclose(found.p_value, expected)


def test_random_permutations_approach_the_exact_test():
    """The exact test enumerates 12!/(4!)³ = 34 650 orders."""
    codes, categories = table_as_samples([[3, 1, 0], [1, 2, 1], [0, 1, 3]])
    exact = category_test(codes, categories, n_permutations=40_000)
    random = category_test(codes, categories, n_permutations=20_000)
    assert (exact.exact, random.exact) == (True, False)
    assert abs(exact.p_value - random.p_value) < 4 * np.sqrt(exact.p_value / 20_000)


def test_statistic_and_odds_are_those_of_scipy(groups):
    categories = np.random.default_rng(2).integers(0, 4, 45)
    found = category_test(groups, categories, n_permutations=1)
    np.testing.assert_allclose(found.statistic, contingency.chi2_contingency(found.counts, correction=False).statistic)
    own = found.counts[1, 2]
    outside = np.array(
        [
            [own, found.counts[1].sum() - own],
            [found.counts[:, 2].sum() - own, 45 - found.counts[1].sum() - found.counts[:, 2].sum() + own],
        ]
    )
    np.testing.assert_allclose(found.odds_ratios[1, 2], fisher_exact(outside).statistic)
    np.testing.assert_allclose(found.over_p_values[1, 2], fisher_exact(outside, alternative="greater").pvalue)


def test_effect_is_one_for_equal_partitions_and_small_without_association(groups):
    assert category_test(groups, (groups + 1) % 3, n_permutations=1).effect == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    random = [category_test(groups, rng.permutation(groups), n_permutations=1).effect for _ in range(50)]
    assert np.mean(random) < 0.1


def test_names_of_categories_do_not_matter(groups):
    categories = np.random.default_rng(2).integers(0, 4, 45)
    first, second = (category_test(groups, one, n_permutations=199) for one in (categories, 3 - categories))
    assert first.p_value == second.p_value
    np.testing.assert_allclose(first.effect, second.effect)


def test_one_category_has_no_test(groups):
    found = category_test(groups, np.zeros(45, dtype=int))
    assert np.isnan([found.statistic, found.p_value, found.effect]).all()


# Numbers.


def test_statistic_is_kruskal_wallis_with_ties(groups, values):
    found = rank_test(groups, values, n_permutations=1)
    expected = kruskal(*(values[groups == one] for one in range(3))).statistic
    np.testing.assert_allclose([found.statistic, found.effect], [expected, expected / 44])


def test_area_is_that_of_mann_whitney(groups, values):
    found = rank_test(groups, values, n_permutations=1)
    for one in range(3):
        inside, outside = values[groups == one], values[groups != one]
        expected = mannwhitneyu(inside, outside).statistic / (len(inside) * len(outside))
        np.testing.assert_allclose(found.areas[one], expected)


def test_tiny_samples_equal_the_exact_mann_whitney_test():
    values = np.array([1.1, 2.3, 0.4, 5.6, 7.1, 6.2, 3.3])
    codes = np.array([0, 0, 0, 1, 1, 1, 1])
    found = rank_test(codes, values)
    expected = mannwhitneyu(values[:3], values[3:], method="exact").pvalue
    assert found.exact
    np.testing.assert_allclose([found.p_value, *found.area_p_values], [expected] * 3)


def test_monotone_transforms_do_not_matter(groups, values):
    first, second = (rank_test(groups, one, n_permutations=99) for one in (values, np.exp(values)))
    np.testing.assert_allclose(first.statistic, second.statistic)
    assert first.p_value == second.p_value


def test_permutation_p_is_uniform_without_association():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], [20, 4, 3])
    found = [
        rank_test(codes, rng.standard_normal(27), n_permutations=99, random_state=seed).p_value for seed in range(200)
    ]
    assert kstest(found, "uniform").pvalue > 0.01


def test_constant_numbers_have_no_test(groups):
    found = rank_test(groups, np.full(45, 3.0))
    assert np.isnan([found.statistic, found.p_value, *found.areas]).all()


def test_relabelings_can_be_shared(groups, values):
    shared = relabel(groups, 199, 5)
    assert (
        rank_test(groups, values, relabelings=shared)[2]
        == rank_test(groups, values, n_permutations=199, random_state=5)[2]
    )


@pytest.mark.parametrize("codes", [[0.0, 1.0, 2.0], [-1, 0, 1], ["a", "b", "c"]])
def test_codes_that_are_not_numbers_from_zero_are_refused(codes):
    with pytest.raises(ValueError, match="codes must be integers from 0"):
        rank_test(codes, [1.0, 2.0, 3.0])


# False discovery rate.


def test_adjusted_values_bound_the_share_of_false_discoveries():
    """The definition: the largest set of the r smallest p with p ≤ q r / m is what lies below q."""
    p = np.random.default_rng(0).random(30) ** 2
    adjusted = benjamini_hochberg(p)
    for level in (0.01, 0.05, 0.2, 0.5):
        ordered = np.sort(p)
        passing = np.flatnonzero(ordered <= level * np.arange(1, 31) / 30)
        n_found = passing[-1] + 1 if len(passing) else 0
        assert (adjusted <= level).sum() == n_found


def test_missing_tests_are_not_counted():
    found = benjamini_hochberg([0.01, np.nan, 0.04])
    np.testing.assert_allclose(found[[0, 2]], benjamini_hochberg([0.01, 0.04]))
    assert np.isnan(found[1])
    assert benjamini_hochberg([]).tolist() == []
