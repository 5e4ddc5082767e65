"""Association of clusters with categories and with numbers: permutation tests and effect sizes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import false_discovery_control, fisher_exact, hypergeom, rankdata

from latefusion.metrics.permutations import Relabelings, relabel
from latefusion.types import Array


class CategoryTest(NamedTuple):
    """Association of clusters with categories.

    Attributes
    ----------
    counts : ndarray of shape (n_clusters, n_categories)
    statistic : float
        Pearson's chi-squared; NaN if there is only one cluster or category.
    effect : float
        Cramér's V with the correction for bias: 0 without association, 1 if clusters are categories.
    p_value : float
        Fisher–Freeman–Halton test: the probability, given the sizes of clusters and categories, of a table that is at
        most as probable as this one.
    exact : bool
        Whether the p-value is exact; otherwise it comes from random permutations.
    odds_ratios : ndarray of shape (n_clusters, n_categories)
        Odds of the category in the cluster divided by the odds outside; infinite or NaN where a count is 0.
    over_p_values : ndarray of shape (n_clusters, n_categories)
        Hypergeometric probability of at least as many samples of the category in the cluster.
    """

    counts: NDArray[np.int64]
    statistic: float
    effect: float
    p_value: float
    exact: bool
    odds_ratios: NDArray[np.float64]
    over_p_values: NDArray[np.float64]


class RankTest(NamedTuple):
    """Association of clusters with numbers.

    Attributes
    ----------
    statistic : float
        Kruskal–Wallis H with the correction for ties; NaN if all numbers are equal or there is one cluster only.
    effect : float
        Epsilon squared, H / (n - 1): the share of the variance of the ranks that the clusters explain.
    p_value : float
        By permutation.
    exact : bool
        Whether all permutations were made.
    areas : ndarray of shape (n_clusters,)
        Probability that a number inside the cluster is larger than one outside (AUC): 0.5 if they do not differ.
    area_p_values : ndarray of shape (n_clusters,)
        Of every cluster against all others (two-sided), by the same permutations.
    """

    statistic: float
    effect: float
    p_value: float
    exact: bool
    areas: NDArray[np.float64]
    area_p_values: NDArray[np.float64]


def category_test(
    codes: Array,
    categories: Array,
    *,
    n_permutations: int = 9999,
    random_state: int = 0,
    relabelings: Relabelings | None = None,
) -> CategoryTest:
    """Test whether clusters and categories are independent.

    Parameters
    ----------
    codes, categories : array-like of int of shape (n_samples,)
        Numbers of clusters and categories, from 0.
    n_permutations : int, default=9999
    random_state : int, default=0
    relabelings : Relabelings, default=None
        Permutations of ``codes`` that were made before.

    Returns
    -------
    CategoryTest

    Examples
    --------
    >>> from latefusion.metrics import category_test
    >>> found = category_test([0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1])
    >>> found.counts.tolist(), round(found.p_value, 3), found.exact
    ([[3, 0], [0, 3]], 0.1, True)
    """
    groups, levels = _numbers(codes, "codes"), _numbers(categories, "categories")
    shape = (int(groups.max(initial=0)) + 1, int(levels.max(initial=0)) + 1)
    counts = _tables(groups[None, :], levels, shape)[0]
    odds, over = _enrichment(counts)
    sizes = [int(np.count_nonzero(counts.sum(axis=axis))) for axis in (1, 0)]
    if min(sizes) < 2:
        return CategoryTest(counts, np.nan, np.nan, np.nan, True, odds, over)
    chi_squared = _chi_squared(counts)
    if shape == (2, 2):
        exact, p_value = True, float(fisher_exact(counts).pvalue)
    else:
        relabelings = relabel(groups, n_permutations, random_state) if relabelings is None else relabelings
        factorials = gammaln(np.arange(len(groups) + 1) + 1.0)

        def rarity(block: NDArray[np.integer]) -> NDArray[np.float64]:
            """Minus the log-probability of the table, up to a constant."""
            sums: NDArray[np.float64] = np.sum(factorials[_tables(block, levels, shape)], axis=(1, 2))
            return sums[:, None]

        (p_value,), exact = relabelings.p_values(rarity(groups[None, :])[0], rarity, 4), relabelings.exact
    effect = _cramers_v(chi_squared, len(groups), *sizes)
    return CategoryTest(counts, chi_squared, effect, float(p_value), exact, odds, over)


def rank_test(
    codes: Array,
    values: Array,
    *,
    n_permutations: int = 9999,
    random_state: int = 0,
    relabelings: Relabelings | None = None,
) -> RankTest:
    """Test whether the numbers of all clusters have the same distribution.

    Parameters
    ----------
    codes : array-like of int of shape (n_samples,)
        Numbers of clusters, from 0.
    values : array-like of shape (n_samples,)
    n_permutations : int, default=9999
    random_state : int, default=0
    relabelings : Relabelings, default=None
        Permutations of ``codes`` that were made before.

    Returns
    -------
    RankTest

    Examples
    --------
    >>> from latefusion.metrics import rank_test
    >>> found = rank_test([0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6])
    >>> found.areas, round(found.effect, 3), found.p_value
    (array([0., 1.]), 0.771, 0.1)
    """
    groups, numbers = _numbers(codes, "codes"), np.asarray(values, dtype=np.float64).ravel()
    sizes = np.bincount(groups).astype(np.float64)
    ranks = rankdata(numbers) - (len(numbers) + 1) / 2  # centred: equal distributions have sums of 0
    variance = float(ranks @ ranks) / max(1, len(numbers) - 1)
    if variance == 0 or np.count_nonzero(sizes) < 2:
        nothing = np.full(len(sizes), np.nan)
        return RankTest(np.nan, np.nan, np.nan, True, nothing, nothing)

    def statistics(block: NDArray[np.integer]) -> NDArray[np.float64]:
        sums = _sums(block, ranks, len(sizes))
        joint = np.sum(sums**2 / np.maximum(sizes, 1), axis=1) / variance
        return np.concatenate([joint[:, None], np.abs(sums)], axis=1)

    observed = statistics(groups[None, :])[0]
    relabelings = relabel(groups, n_permutations, random_state) if relabelings is None else relabelings
    p_values = relabelings.p_values(observed, statistics, 4)
    with np.errstate(divide="ignore", invalid="ignore"):
        areas = 0.5 + np.bincount(groups, ranks) / (sizes * (len(numbers) - sizes))
    effect = float(observed[0]) / (len(numbers) - 1)
    return RankTest(float(observed[0]), effect, float(p_values[0]), relabelings.exact, areas, p_values[1:])


def benjamini_hochberg(p_values: Array) -> NDArray[np.float64]:
    """Adjust p-values so that a threshold on them bounds the false discovery rate.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        NaN for tests that could not be made; they are not counted.

    Returns
    -------
    ndarray of shape (n_tests,)

    Examples
    --------
    >>> from latefusion.metrics import benjamini_hochberg
    >>> benjamini_hochberg([0.01, 0.04, 0.03, 0.5]).round(4)
    array([0.04  , 0.0533, 0.0533, 0.5   ])
    """
    given = np.asarray(p_values, dtype=np.float64).ravel()
    found, known = np.full(len(given), np.nan), ~np.isnan(given)
    if known.any():
        found[known] = false_discovery_control(given[known])
    return found


def _numbers(codes: Array, name: str) -> NDArray[np.intp]:
    found = np.asarray(codes).ravel()
    if found.dtype.kind not in "iu" or (len(found) and found.min() < 0):
        raise ValueError(f"{name} must be integers from 0; got {found[:3].tolist()}. Use numpy.unique to number them.")
    return found.astype(np.intp)


def _tables(codes: NDArray[np.integer], levels: NDArray[np.intp], shape: tuple[int, int]) -> NDArray[np.int64]:
    """Contingency tables of several clusterings, shape (n_labelings, n_clusters, n_categories)."""
    cells = codes * np.intp(shape[1]) + levels
    cells += (np.arange(len(codes)) * (shape[0] * shape[1]))[:, None]
    return np.bincount(cells.ravel(), minlength=len(codes) * shape[0] * shape[1]).reshape(-1, *shape)


def _sums(codes: NDArray[np.integer], values: NDArray[np.float64], n_clusters: int) -> NDArray[np.float64]:
    """Sums of the values of every cluster, shape (n_labelings, n_clusters)."""
    return np.stack([(codes == cluster) @ values for cluster in range(n_clusters)], axis=1)


def _chi_squared(counts: NDArray[np.int64]) -> float:
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    return float(np.sum((counts - expected) ** 2 / np.where(expected > 0, expected, 1.0)))


def _cramers_v(chi_squared: float, n_samples: int, n_rows: int, n_columns: int) -> float:
    """Cramér's V with Bergsma's correction."""
    bias = [size - (size - 1) ** 2 / (n_samples - 1) for size in (n_rows, n_columns)]
    mean_square = max(0.0, chi_squared / n_samples - (n_rows - 1) * (n_columns - 1) / (n_samples - 1))
    return float(np.sqrt(mean_square / (min(bias) - 1))) if min(bias) > 1 else np.nan


def _enrichment(counts: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Odds ratios and hypergeometric p-values of all cells."""
    rows, columns, total = counts.sum(axis=1)[:, None], counts.sum(axis=0)[None, :], counts.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = counts * (total - rows - columns + counts) / ((rows - counts) * (columns - counts))
    return odds, hypergeom.sf(counts - 1, total, columns, rows)
