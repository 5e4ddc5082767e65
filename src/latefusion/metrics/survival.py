r"""Survival of groups: Kaplan–Meier estimates and the log-rank test, with a permutation p-value.

At an event time :math:`\tau` with :math:`d` events among :math:`n` samples at risk, :math:`n_j` of them in group j, the
log-rank test compares the events of every group with the hypergeometric mean :math:`d\,n_j/n`. The differences are
summed over event times, with the covariance

.. math:: V_{jl} = \sum_\tau \frac{d (n-d)}{n^2 (n-1)}\, n_j\,(n\,\delta_{jl} - n_l).

The statistic is :math:`x^\top V^+ x`. Its :math:`\chi^2` distribution holds for large groups only. The permutation
p-value holds for groups of any size, if groups have the same censoring.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, norm

from latefusion.metrics.permutations import Relabelings, relabel
from latefusion.types import Array

# Eigenvalues of the covariance below this share of the largest are rounding errors.
RANK_TOLERANCE = 1e-10
# Estimates that are below one half by rounding errors only are one half.
ROUNDING = 1e-12


class KaplanMeier(NamedTuple):
    """A survival curve: a step function that changes at its times.

    Attributes
    ----------
    times : ndarray of shape (n_times,)
        0, then all different times of events and censorings, ascending.
    survival : ndarray of shape (n_times,)
        Estimated probability of no event until after each time.
    lower, upper : ndarray of shape (n_times,)
        Pointwise confidence interval by the log-log transformation of Greenwood's variance; NaN where the estimate
        is 0.
    at_risk, events, censored : ndarray of int of shape (n_times,)
        Samples under observation just before each time, and what happened at it.
    """

    times: NDArray[np.float64]
    survival: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    at_risk: NDArray[np.int64]
    events: NDArray[np.int64]
    censored: NDArray[np.int64]

    @property
    def median(self) -> float:
        """The first time at which the estimate is at most one half; infinite if it never is."""
        below = np.flatnonzero(self.survival <= 0.5 + ROUNDING)
        return float(self.times[below[0]]) if len(below) else np.inf

    def survival_at(self, times: Array) -> NDArray[np.float64]:
        """The estimate at any times; NaN after the last observation unless the estimate is 0 there.

        Parameters
        ----------
        times : array-like of shape (n_points,)

        Returns
        -------
        ndarray of shape (n_points,)
        """
        wanted = np.asarray(times, dtype=np.float64)
        found = self.survival[np.searchsorted(self.times, wanted, side="right") - 1]
        return np.where((wanted > self.times[-1]) & (found > 0), np.nan, found)

    def at_risk_at(self, times: Array) -> NDArray[np.int64]:
        """Numbers of samples under observation just before any times.

        Parameters
        ----------
        times : array-like of shape (n_points,)

        Returns
        -------
        ndarray of int of shape (n_points,)
        """
        later = np.searchsorted(self.times, np.asarray(times, dtype=np.float64), side="left")
        return np.append(self.at_risk, 0)[later]


def kaplan_meier(time: Array, event: Array, *, level: float = 0.95) -> KaplanMeier:
    """Estimate a survival curve from times of events and censorings.

    Parameters
    ----------
    time : array-like of shape (n_samples,)
        Times of observation, not negative.
    event : array-like of shape (n_samples,)
        1 or True for an event at the end of the time, 0 or False for a censored time.
    level : float, default=0.95
        Of the confidence intervals.

    Returns
    -------
    KaplanMeier

    Examples
    --------
    >>> from latefusion.metrics import kaplan_meier
    >>> curve = kaplan_meier([3, 5, 5, 8], [1, 1, 0, 1])
    >>> curve.times, curve.at_risk, curve.survival
    (array([0., 3., 5., 8.]), array([4, 4, 3, 1]), array([1.  , 0.75, 0.5 , 0.  ]))
    """
    times, happened = check_survival(time, event)
    distinct, place = np.unique(np.append(times, 0.0), return_inverse=True)
    place = place[:-1]
    events = np.bincount(place, happened, minlength=len(distinct)).astype(np.int64)
    all_ended = np.bincount(place, minlength=len(distinct))
    at_risk = all_ended[::-1].cumsum()[::-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        survival = np.cumprod(1 - events / np.maximum(at_risk, 1))
        survival = np.where(at_risk == events, 0.0, survival) if len(times) else survival
        greenwood = np.cumsum(np.where(events > 0, events / (at_risk * (at_risk - events)), 0.0))
        log_survival = np.log(survival)
        half = norm.ppf(0.5 + level / 2) * np.sqrt(greenwood) / log_survival
        bounds = [np.exp(log_survival * np.exp(sign * half)) for sign in (-1, 1)]
    lower, upper = (np.where(survival == 1, 1.0, np.where(survival > 0, bound, np.nan)) for bound in bounds)
    return KaplanMeier(
        distinct, survival, lower, upper, at_risk.astype(np.int64), events, (all_ended - events).astype(np.int64)
    )


def check_survival(time: Array, event: Array) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Times and events as arrays; an error for times and events that are not valid.

    Parameters
    ----------
    time, event : array-like of shape (n_samples,)

    Returns
    -------
    time : ndarray of float of shape (n_samples,)
    event : ndarray of bool of shape (n_samples,)
    """
    times, happened = np.asarray(time, dtype=np.float64).ravel(), np.asarray(event).ravel()
    if len(times) != len(happened):
        raise ValueError(f"time has {len(times)} values and event has {len(happened)}. Give one of each per sample.")
    bad = np.flatnonzero(~np.isfinite(times) | (times < 0))
    if len(bad):
        raise ValueError(
            f"Times must be finite and not negative; got {times[bad[0]]:g} in row {bad[0]}. Correct or remove it."
        )
    odd = [one for one in np.unique(happened).tolist() if one not in (0, 1)]
    if odd:
        raise ValueError(f"Events must be 0 or 1 (False or True); got {odd[0]!r}. Recode them.")
    return times, happened.astype(bool)


class LogRank(NamedTuple):
    """The result of a log-rank test.

    Attributes
    ----------
    statistic : float
        NaN if no group can differ from another.
    degrees_of_freedom : int
    p_asymptotic : float
        From the chi-squared distribution.
    p_value : float
        By permutation of the groups.
    exact : bool
        Whether all permutations were made.
    groups : ndarray of shape (n_groups,)
        Sorted.
    observed, expected : ndarray of shape (n_groups,)
        Events of every group, and their mean if groups do not differ.
    group_p_values : ndarray of shape (n_groups,)
        Of every group against all others, by the same permutations.
    """

    statistic: float
    degrees_of_freedom: int
    p_asymptotic: float
    p_value: float
    exact: bool
    groups: NDArray[Any]
    observed: NDArray[np.int64]
    expected: NDArray[np.float64]
    group_p_values: NDArray[np.float64]


def logrank_test(
    time: Array,
    event: Array,
    groups: Array,
    *,
    n_permutations: int = 9999,
    random_state: int = 0,
    relabelings: Relabelings | None = None,
) -> LogRank:
    """Test whether groups have the same survival.

    Parameters
    ----------
    time, event : array-like of shape (n_samples,)
        As in `kaplan_meier`.
    groups : array-like of shape (n_samples,)
        The group of every sample, such as its cluster.
    n_permutations : int, default=9999
        Random permutations; all permutations are made if there are not more than this.
    random_state : int, default=0
    relabelings : Relabelings, default=None
        Permutations that were made before, of the positions of the groups in their sorted order.

    Returns
    -------
    LogRank

    Notes
    -----
    With n samples, k groups and B permutations the test takes O(B n k²) operations.

    Examples
    --------
    >>> from latefusion.metrics import logrank_test
    >>> found = logrank_test([1, 2, 3, 4, 5, 6], [1, 1, 1, 1, 0, 1], [0, 0, 0, 1, 1, 1])
    >>> round(found.statistic, 3), round(found.p_asymptotic, 3), found.p_value, found.exact
    (5.052, 0.025, 0.1, True)
    """
    times, happened = check_survival(time, event)
    names, codes = np.unique(np.asarray(groups).ravel(), return_inverse=True)
    if len(codes) != len(times):
        raise ValueError(f"groups has {len(codes)} values for {len(times)} samples. Give one per sample.")
    table = risk_table(times, happened, len(names))
    statistics, degrees = table.statistics(codes[None, :])
    statistics[0, 0] = statistics[0, 0] if degrees else np.nan
    relabelings = relabel(codes, n_permutations, random_state) if relabelings is None else relabelings
    cost = len(names) * max(1, -(-4 * len(table.weights) // max(1, len(times))))
    p_values = relabelings.p_values(statistics[0], lambda block: table.statistics(block)[0], cost)
    observed = np.bincount(codes, happened, minlength=len(names)).astype(np.int64)
    excess = np.bincount(codes, table.residuals, minlength=len(names))
    return LogRank(
        statistic=float(statistics[0, 0]),
        degrees_of_freedom=degrees,
        p_asymptotic=float(chi2.sf(statistics[0, 0], degrees)) if degrees else np.nan,
        p_value=float(p_values[0]),
        exact=relabelings.exact,
        groups=names,
        observed=observed,
        expected=np.asarray(observed - excess, dtype=np.float64),
        group_p_values=p_values[1:],
    )


class RiskTable(NamedTuple):
    """What the log-rank statistic needs of times and events; it does not depend on the groups.

    Attributes
    ----------
    order : ndarray of shape (n_samples,)
        Samples by descending time.
    stops : ndarray of shape (n_event_times,)
        For every event time, how many samples of this order are at risk.
    weights : ndarray of shape (n_event_times,)
        d (n - d) / (n² (n - 1)); event times without variance are left out.
    residuals : ndarray of shape (n_samples,)
        Event minus cumulative hazard: their sum over a group is its observed minus its expected events.
    n_groups : int
    """

    order: NDArray[np.intp]
    stops: NDArray[np.intp]
    weights: NDArray[np.float64]
    residuals: NDArray[np.float64]
    n_groups: int

    def statistics(self, codes: NDArray[np.integer]) -> tuple[NDArray[np.float64], int]:
        """The statistic of all groups, and those of every group against the others.

        Parameters
        ----------
        codes : ndarray of shape (n_labelings, n_samples)

        Returns
        -------
        statistics : ndarray of shape (n_labelings, 1 + n_groups)
            NaN for a group without variance.
        degrees_of_freedom : int
            Rank of the covariance for the first labeling.
        """
        excess, covariance = self._moments(codes)
        values, vectors = np.linalg.eigh(covariance)
        kept = values > RANK_TOLERANCE * np.maximum(values[:, -1:], np.finfo(float).tiny)
        projected = np.einsum("bij,bi->bj", vectors, excess[:, :-1])
        joint = np.sum(np.where(kept, projected**2 / np.where(kept, values, 1.0), 0.0), axis=1)
        diagonal = np.diagonal(covariance, axis1=1, axis2=2)
        variances = np.concatenate([diagonal, covariance.sum(axis=(1, 2))[:, None]], axis=1)
        varies = variances > RANK_TOLERANCE * np.maximum(variances.max(axis=1, keepdims=True), np.finfo(float).tiny)
        single = np.where(varies, excess**2 / np.where(varies, variances, 1.0), np.nan)
        return np.concatenate([joint[:, None], single], axis=1), int(kept[0].sum())

    def _moments(self, codes: NDArray[np.integer]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Observed minus expected events of all groups, and the covariance of all but the last."""
        sorted_codes, residuals = codes[:, self.order], self.residuals[self.order]
        n_at_risk, roots = self.stops.astype(np.float64), np.sqrt(self.weights)
        shape = (len(codes), self.n_groups - 1, len(self.stops))
        excess, at_risk = np.zeros((len(codes), self.n_groups)), np.empty(shape)
        for group in range(self.n_groups - 1):
            inside = sorted_codes == group
            excess[:, group] = inside @ residuals
            at_risk[:, group] = np.cumsum(inside, axis=1, dtype=np.int32)[:, self.stops - 1]
        excess[:, -1] = -excess[:, :-1].sum(axis=1)
        diagonal = at_risk @ (self.weights * n_at_risk)
        at_risk *= roots
        covariance = -at_risk @ np.swapaxes(at_risk, 1, 2)
        positions = np.arange(self.n_groups - 1)
        covariance[:, positions, positions] += diagonal
        return excess, covariance


def risk_table(time: NDArray[np.float64], event: NDArray[np.bool_], n_groups: int) -> RiskTable:
    """Prepare the log-rank statistic.

    Parameters
    ----------
    time : ndarray of shape (n_samples,)
    event : ndarray of bool of shape (n_samples,)
    n_groups : int
        At least two.

    Returns
    -------
    RiskTable
    """
    if n_groups < 2:
        raise ValueError(f"A log-rank test compares at least two groups; got {n_groups}.")
    ascending = np.sort(time)
    distinct, n_events = np.unique(time[event], return_counts=True)
    n_at_risk = len(time) - np.searchsorted(ascending, distinct, side="left")
    hazard = np.concatenate([[0.0], np.cumsum(n_events / n_at_risk)])
    residuals = event - hazard[np.searchsorted(distinct, time, side="right")]
    varies = n_at_risk > n_events
    n, d = n_at_risk[varies].astype(np.float64), n_events[varies]
    weights = d * (n - d) / (n**2 * (n - 1))
    return RiskTable(np.argsort(-time, kind="stable"), n_at_risk[varies], weights, residuals, n_groups)
