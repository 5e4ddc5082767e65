"""Comparison of several methods over several data sets: ranks, tests, and methods that do not differ.

Scores are an array of shape (n_sets, n_methods), larger is better, and NaN where a method has no result. A method
without a result on a set has the worst rank there; methods with equal scores share the mean of their ranks.

References
----------
Demšar: Statistical comparisons of classifiers over multiple data sets. Journal of Machine Learning Research, 2006.
Benavoli, Corani, Mangili: Should we really use post-hoc tests based on mean-ranks? Journal of Machine Learning
Research, 2016.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from latefusion.experiments.summary import LEVEL, signed_rank_pvalue

# Scores are between -1 and 1.
LARGEST_DIFFERENCE = 2.0


class Friedman(NamedTuple):
    """The Friedman test of equal ranks.

    Attributes
    ----------
    statistic : float
        Corrected for ties.
    pvalue : float
        From the chi-square distribution.
    """

    statistic: float
    pvalue: float


class Tally(NamedTuple):
    """Data sets on which a method is better than another, equal, or worse.

    Attributes
    ----------
    wins, ties, losses : int
    """

    wins: int
    ties: int
    losses: int


def set_ranks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks of the methods on every data set, 1 for the best.

    Parameters
    ----------
    scores : ndarray of shape (n_sets, n_methods)

    Returns
    -------
    ndarray of shape (n_sets, n_methods)
    """
    ranks: NDArray[np.float64] = stats.rankdata(-_filled(scores), axis=1)
    return ranks


def mean_ranks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean rank of every method over the data sets.

    Parameters
    ----------
    scores : ndarray of shape (n_sets, n_methods)

    Returns
    -------
    ndarray of shape (n_methods,)
    """
    ranks: NDArray[np.float64] = set_ranks(scores).mean(axis=0)
    return ranks


def friedman_test(scores: NDArray[np.float64]) -> Friedman:
    """Test whether all methods have the same mean rank.

    Parameters
    ----------
    scores : ndarray of shape (n_sets, n_methods)

    Returns
    -------
    Friedman
        Statistic 0 and p-value 1 if all ranks are tied.
    """
    ranks = set_ranks(scores)
    n_methods = ranks.shape[1]
    deviations = ranks - (n_methods + 1) / 2
    spread = np.sum(deviations**2)
    if spread == 0:
        return Friedman(0.0, 1.0)
    statistic = float((n_methods - 1) * np.sum(deviations.sum(axis=0) ** 2) / spread)
    return Friedman(statistic, float(stats.chi2.sf(statistic, n_methods - 1)))


def critical_difference(n_sets: int, n_methods: int, level: float = LEVEL) -> float:
    """Difference of two mean ranks that is significant by the Nemenyi test.

    Parameters
    ----------
    n_sets, n_methods : int
    level : float, default=LEVEL

    Returns
    -------
    float
    """
    quantile = stats.studentized_range.isf(level, n_methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))


def wilcoxon_pvalue(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Two-sided Wilcoxon signed-rank test of two methods over the data sets.

    Parameters
    ----------
    one, other : ndarray of shape (n_sets,)
        A missing score is worse than every score, by the largest difference; two of them are equal.

    Returns
    -------
    float
        Exact. Sets with equal scores are left out; 1 if none is left.
    """
    failures = np.isnan(other).astype(float) - np.isnan(one)
    differences = np.where(np.isnan(one) | np.isnan(other), LARGEST_DIFFERENCE * failures, one - other)
    better, worse = signed_rank_pvalue(differences), signed_rank_pvalue(-differences)
    return min(1.0, 2 * min(better, worse))


def holm(pvalues: NDArray[np.float64]) -> NDArray[np.float64]:
    """P-values corrected for several tests by the method of Holm.

    Parameters
    ----------
    pvalues : ndarray of shape (n_tests,)

    Returns
    -------
    ndarray of shape (n_tests,)
    """
    order = np.argsort(pvalues, kind="stable")
    factors = np.arange(len(pvalues), 0, -1)
    corrected = np.empty(len(pvalues))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(factors * np.asarray(pvalues)[order]))
    return corrected


def pvalues_against(scores: NDArray[np.float64], method: int) -> NDArray[np.float64]:
    """Wilcoxon signed-rank tests of all methods against one, corrected by the method of Holm.

    Parameters
    ----------
    scores : ndarray of shape (n_sets, n_methods)
    method : int
        Column.

    Returns
    -------
    ndarray of shape (n_methods,)
        NaN for the method itself.
    """
    others = [column for column in range(scores.shape[1]) if column != method]
    found = np.full(scores.shape[1], np.nan)
    found[others] = holm(np.array([wilcoxon_pvalue(scores[:, method], scores[:, column]) for column in others]))
    return found


def rank_groups(ranks: NDArray[np.float64], difference: float) -> list[list[int]]:
    """Largest groups of methods whose mean ranks differ by at most the critical difference.

    Parameters
    ----------
    ranks : ndarray of shape (n_methods,)
        Mean ranks.
    difference : float

    Returns
    -------
    list of list of int
        Methods by their position, best first. Groups of one method are left out.
    """
    order = [int(method) for method in np.argsort(ranks, kind="stable")]
    return _maximal(order, [[bool(abs(ranks[a] - ranks[b]) <= difference) for b in order] for a in order])


def pairwise_groups(scores: NDArray[np.float64], level: float = LEVEL) -> list[list[int]]:
    """Largest groups of neighbours in the order of mean ranks of which no two differ by Wilcoxon tests of all pairs.

    Parameters
    ----------
    scores : ndarray of shape (n_sets, n_methods)
    level : float, default=LEVEL

    Returns
    -------
    list of list of int
        As `rank_groups`. The tests are corrected by the method of Holm.
    """
    order = [int(method) for method in np.argsort(mean_ranks(scores), kind="stable")]
    rows, columns = np.triu_indices(len(order), k=1)
    pairs = [wilcoxon_pvalue(scores[:, order[a]], scores[:, order[b]]) for a, b in zip(rows, columns, strict=True)]
    alike = np.eye(len(order), dtype=bool)
    alike[rows, columns] = alike[columns, rows] = holm(np.array(pairs)) >= level
    return _maximal(order, alike.tolist())


def tallies(scores: NDArray[np.float64]) -> list[list[Tally]]:
    """Wins, ties and losses of every pair of methods.

    Parameters
    ----------
    scores : ndarray of shape (n_sets, n_methods)

    Returns
    -------
    list of list of Tally
        Of the method of the row against that of the column.
    """
    filled = _filled(scores)
    wins = (filled[:, :, None] > filled[:, None, :]).sum(axis=0)
    ties = (filled[:, :, None] == filled[:, None, :]).sum(axis=0)
    methods = range(filled.shape[1])
    return [[Tally(int(wins[a, b]), int(ties[a, b]), int(wins[b, a])) for b in methods] for a in methods]


def _filled(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isnan(scores), -np.inf, scores)


def _maximal(order: Sequence[int], alike: Sequence[Sequence[bool]]) -> list[list[int]]:
    """Runs of an order in which all are alike and which no other run contains; at least two members."""
    found: list[list[int]] = []
    reached = 0
    for first in range(len(order)):
        last = first
        while last + 1 < len(order) and all(alike[last + 1][member] for member in range(first, last + 1)):
            last += 1
        if last > first and last + 1 > reached:
            found.append(list(order[first : last + 1]))
            reached = last + 1
    return found
