import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from latefusion.interpretation.column_blocks import column_blocks
from latefusion.interpretation.significance import rank_test, share_test


def compared(array, groups, n_groups=3):
    (block,) = column_blocks(array, groups, n_groups)
    return rank_test(block)


@pytest.fixture
def counts():
    """Counts with many zeros, negative values and missing ones."""
    rng = np.random.default_rng(1)
    array = rng.poisson(0.7, (150, 8)) * rng.choice([-1.0, 1.0, 1.0], (150, 8))
    array[:, 0] = rng.standard_normal(150)
    array[:, 1] = rng.integers(0, 2, 150)
    array[rng.random(array.shape) < 0.1] = np.nan
    return array, rng.integers(0, 3, 150)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_ranks_agree_with_scipy(counts, form):
    array, groups = counts
    auc, p = compared(form(array), groups)
    for group in range(3):
        inside, outside = array[groups == group], array[groups != group]
        expected = stats.mannwhitneyu(inside, outside, method="asymptotic", nan_policy="omit")
        pairs = (~np.isnan(inside)).sum(axis=0) * (~np.isnan(outside)).sum(axis=0)
        np.testing.assert_allclose(p[:, group], expected.pvalue, atol=1e-10, rtol=1e-10)
        np.testing.assert_allclose(auc[:, group], expected.statistic / pairs, atol=1e-12)


def test_auc_is_the_share_of_pairs_in_order(counts):
    array, groups = counts
    auc, _ = compared(array, groups)
    for column in range(array.shape[1]):
        inside, outside = (array[mask, column] for mask in (groups == 1, groups != 1))
        inside, outside = inside[~np.isnan(inside)], outside[~np.isnan(outside)]
        larger = (inside[:, None] > outside).mean() + (inside[:, None] == outside).mean() / 2
        assert auc[column, 1] == pytest.approx(larger, abs=1e-12)


def test_only_the_order_of_values_matters(counts):
    array, groups = counts
    auc, p = compared(array, groups)
    for transformed in (np.exp(array), array**3, np.arctan(array) + 100):
        np.testing.assert_allclose(compared(transformed, groups), (auc, p), atol=1e-12)
    mirrored = compared(-array, groups)
    np.testing.assert_allclose(mirrored.auc, 1 - auc, atol=1e-12)
    np.testing.assert_allclose(mirrored.p, p, rtol=1e-10)


def test_equal_values_are_no_evidence():
    auc, p = compared(np.full((20, 1), 3.0), np.arange(20) % 2, 2)
    assert (auc == 0.5).all()
    assert (p == 1).all()
    auc, p = compared(sp.csr_array((20, 2)), np.arange(20) % 2, 2)
    assert (auc == 0.5).all()
    assert (p == 1).all()


def test_groups_without_values_are_not_tested():
    array = np.arange(6.0)[:, None]
    auc, p = compared(array, np.array([0, 0, 0, 1, 1, 1]))
    assert np.isnan(auc[0]).tolist() == [False, False, True]
    assert np.isnan(p[0]).tolist() == [False, False, True]
    assert np.isnan(compared(array, np.zeros(6, dtype=int)).p).all()  # nothing is outside of the first group


def test_shares_agree_with_the_hypergeometric_distribution():
    rng = np.random.default_rng(0)
    n_samples = rng.integers(2, 300, 500)
    sizes, total = rng.integers(1, n_samples), rng.integers(0, n_samples + 1)
    inside = rng.integers(np.maximum(0, sizes + total - n_samples), np.minimum(sizes, total) + 1)
    distribution = stats.hypergeom(n_samples, total, sizes)
    expected = np.minimum(1, 2 * np.minimum(distribution.cdf(inside), distribution.sf(inside - 1)))
    found = share_test(inside, sizes, total, n_samples)
    np.testing.assert_allclose(found.p, expected, rtol=1e-9, atol=1e-300)


def test_shares_are_tested_alike_for_a_category_and_its_opposite():
    inside, sizes, total, n_samples = np.array([3.0, 9, 0]), np.array([10.0, 10, 10]), np.array([7.0, 9, 30]), 40.0
    found = share_test(inside, sizes, total, n_samples)
    opposite = share_test(sizes - inside, sizes, n_samples - total, n_samples)
    np.testing.assert_allclose(found.p, opposite.p, rtol=1e-12)
    np.testing.assert_allclose(found.auc, 1 - opposite.auc)


def test_auc_of_a_share_is_that_of_its_indicator():
    rng = np.random.default_rng(0)
    indicator, groups = rng.integers(0, 2, 60).astype(float), np.arange(60) % 3
    sizes, inside = np.bincount(groups), np.bincount(groups, indicator)
    found = share_test(inside, sizes, np.array(indicator.sum()), np.array(60))
    np.testing.assert_allclose(found.auc, compared(indicator[:, None], groups).auc[0], atol=1e-12)


def test_rare_words_are_not_overrated():
    """The normal approximation would give 1e-89."""
    found = share_test(np.array([2.0]), np.array([5.0]), np.array([2.0]), np.array([1000.0]))
    assert found.p[0] == pytest.approx(2 * (5 * 4) / (1000 * 999))


def test_very_small_p_values_are_not_negative_and_not_nan():
    found = share_test(np.array([50_000.0]), np.array([50_000.0]), np.array([50_000.0]), np.array([100_000.0]))
    assert 0 <= found.p[0] < 1e-300
