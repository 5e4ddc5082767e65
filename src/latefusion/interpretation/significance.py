"""Tests of one feature between a cluster and all other samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc, gammaln

from latefusion.interpretation.column_blocks import ColumnBlock

Floats = NDArray[np.float64]

# Terms of a tail are summed until the next one is smaller than this share of their sum.
LEAST_TERM = 1e-17


class Comparison(NamedTuple):
    """Results of tests, one per feature and cluster.

    Attributes
    ----------
    auc : ndarray of shape (n_features, n_clusters)
        Probability that a sample of the cluster has a larger value than one outside; equal values count half.
    p : ndarray of shape (n_features, n_clusters)
        Two-sided. NaN where no sample inside or outside has a value.
    """

    auc: Floats
    p: Floats


def rank_test(block: ColumnBlock) -> Comparison:
    """Compare every group with all other samples by ranks (Mann-Whitney).

    With the rank sum R of the n samples inside and the N - n outside, U = R - n(n + 1)/2 and AUC = U/(n(N - n)). Ties
    get their mean rank. The p-value is that of the normal distribution with the continuity correction,

        z = (|U - n(N - n)/2| - 1/2)/σ,   σ² = n(N - n)/12 · (N + 1 - Σ(t³ - t)/(N(N - 1))),

    with one term for every t equal values. Only stored values are sorted: zeros that are not stored are one tie.

    Parameters
    ----------
    block : ColumnBlock

    Returns
    -------
    Comparison
    """
    rank_sums, ties = _rank_sums(block)
    inside = block.counts
    total = inside.sum(axis=1, keepdims=True)
    outside = total - inside
    with np.errstate(divide="ignore", invalid="ignore"):
        larger = rank_sums - inside * (inside + 1) / 2
        variance = inside * outside / 12 * (total + 1 - ties[:, None] / (total * (total - 1)))
        distance = np.abs(larger - inside * outside / 2) - 0.5
        z = np.where(variance > 0, np.maximum(distance, 0) / np.sqrt(variance), 0.0)
        compared = (inside > 0) & (outside > 0)
        auc = np.where(compared, larger / (inside * outside), np.nan)
    return Comparison(auc, np.where(compared, erfc(z / np.sqrt(2)), np.nan))


def _rank_sums(block: ColumnBlock) -> tuple[Floats, Floats]:
    """Rank sums of all groups, and Σ(t³ - t) over ties, for every column."""
    values, starts = block.values, block.starts
    order = np.empty(len(values), dtype=np.intp)
    for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        np.add(np.argsort(values[first:last]), first, out=order[first:last])
    values, groups = values[order], block.groups[order]
    is_first = np.ones(len(values), dtype=bool)
    is_first[1:] = values[1:] != values[:-1]
    is_first[starts[:-1][starts[:-1] < len(values)]] = True
    ties = np.flatnonzero(is_first)
    lengths, columns = np.diff(ties, append=len(values)), block.columns[ties]
    n_zeros = block.zeros.sum(axis=1)
    # All zeros come after the negative values and before the positive ones.
    ranks = ties - starts[columns] + (lengths + 1) / 2 + np.where(values[ties] > 0, n_zeros[columns], 0.0)
    is_negative = values[ties] < 0
    below = np.bincount(columns[is_negative], lengths[is_negative], minlength=len(n_zeros))
    keys = block.columns * block.n_groups + groups
    stored: Floats = np.bincount(keys, np.repeat(ranks, lengths), minlength=block.zeros.size).astype(np.float64)
    sums: Floats = stored.reshape(block.zeros.shape) + block.zeros * (below + (n_zeros + 1) / 2)[:, None]
    cubes = np.bincount(columns, lengths**3.0 - lengths, minlength=len(n_zeros))
    return sums, np.asarray(cubes + n_zeros**3 - n_zeros)


def share_test(inside: Floats, sizes: Floats, total: Floats, n_samples: Floats) -> Comparison:
    """Compare shares: the exact test of Fisher, two-sided by doubling the smaller tail.

    If ``total`` of ``n_samples`` samples have a category, the number of them in a cluster of ``sizes`` samples is
    hypergeometric, X, if categories and clusters are independent. For x samples inside,

        p = min(1, 2 min(P(X ≤ x), P(X ≥ x))),   AUC = 1/2 + (share inside - share outside)/2.

    Parameters
    ----------
    inside : ndarray
        Samples in the cluster that have the category.
    sizes : ndarray
        Samples in the cluster.
    total : ndarray
        Samples that have the category.
    n_samples : ndarray
        All samples. Arrays are broadcast.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion.interpretation.significance import share_test
    >>> auc, p = share_test(np.array([2.0]), np.array([5.0]), np.array([2.0]), np.array([1000.0]))
    >>> auc.round(2).tolist(), p.round(9).tolist()
    ([0.7], [4.004e-05])
    """
    inside, sizes, total, n_samples = (
        np.asarray(one, dtype=np.float64) for one in np.broadcast_arrays(inside, sizes, total, n_samples)
    )
    # Below the mean, the smaller tail is the upper one of the samples without the category.
    few = inside * n_samples < sizes * total
    tail = _upper_tail(np.where(few, sizes - inside, inside), sizes, np.where(few, n_samples - total, total), n_samples)
    outside = n_samples - sizes
    compared = (sizes > 0) & (outside > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = inside / sizes - (total - inside) / outside
    auc = np.where(compared, 0.5 + difference / 2, np.nan)
    return Comparison(auc, np.where(compared, np.minimum(1.0, 2 * tail), np.nan))


def _upper_tail(x: Floats, sizes: Floats, total: Floats, n_samples: Floats) -> Floats:
    """P(X ≥ x) of the hypergeometric distribution, summed from x on until it exceeds one half."""
    parts = [np.ravel(one) for one in (x, sizes, total, n_samples)]
    term = np.exp(
        _log_binomial(parts[2], parts[0])
        + _log_binomial(parts[3] - parts[2], parts[1] - parts[0])
        - _log_binomial(parts[3], parts[1])
    )
    found, left = term.copy(), np.arange(len(term))
    while len(left):
        successes, draws, marked, everything = parts
        failures = everything - marked - draws + successes
        term = term * (marked - successes) * (draws - successes) / ((successes + 1) * (failures + 1))
        found[left] += term
        more = (term > LEAST_TERM * found[left]) & (found[left] < 0.5)
        left, term = left[more], term[more]
        parts = [successes[more] + 1, draws[more], marked[more], everything[more]]
    return found.reshape(np.shape(x))


def _log_binomial(n: Floats, k: Floats) -> Floats:
    """Logarithm of the binomial coefficient."""
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
