r"""Hazard ratio of two groups: Cox regression with one binary covariate, ties by Efron's method.

With d events at a time, the term l = 0, …, d - 1 of this time has the denominator
:math:`a_l + b_l e^\beta` with :math:`a_l = n_0 - \tfrac{l}{d} d_0` and :math:`b_l = n_1 - \tfrac{l}{d} d_1`, where n
counts the samples at risk and d the events, outside (0) and inside (1) of the group. The log-likelihood

.. math:: \ell(\beta) = \beta D_1 - \sum_{\tau, l} \log(a_l + b_l e^\beta)

is concave. It has no finite maximum if, for example, the group has no event.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import chi2, norm

from latefusion.metrics.survival import check_survival
from latefusion.types import Array

# Beyond these the likelihood is that of the limit, in double precision.
LARGEST_LOG_RATIO = 40.0


class HazardRatio(NamedTuple):
    """Hazard inside a group divided by the hazard outside, with a confidence interval.

    Attributes
    ----------
    ratio : float
        0 or infinite if the likelihood has no finite maximum; NaN if the group is never at risk together with others.
    lower, upper : float
        Wald interval of the log ratio; if the ratio is 0 or infinite, the finite end is that of the profile likelihood.
    """

    ratio: float
    lower: float
    upper: float

    def __str__(self) -> str:
        return "–" if np.isnan(self.ratio) else f"{self.ratio:.3g} ({self.lower:.3g}–{self.upper:.3g})"


def hazard_ratio(time: Array, event: Array, inside: Array, *, level: float = 0.95) -> HazardRatio:
    """Hazard of the samples inside a group divided by that of all other samples.

    Parameters
    ----------
    time, event : array-like of shape (n_samples,)
        As in `kaplan_meier`.
    inside : array-like of bool of shape (n_samples,)
    level : float, default=0.95
        Of the confidence interval.

    Returns
    -------
    HazardRatio

    Examples
    --------
    >>> from latefusion.metrics import hazard_ratio
    >>> print(hazard_ratio([1, 2, 3, 4, 5, 6], [1, 1, 1, 1, 0, 1], [1, 0, 1, 0, 1, 0]))
    1.32 (0.181–9.53)
    >>> print(hazard_ratio([1, 2, 3, 4], [1, 1, 0, 0], [0, 0, 1, 1]))
    0 (0–1.11)
    """
    times, happened = check_survival(time, event)
    outside_terms, inside_terms, n_inside = _terms(times, happened, np.asarray(inside).ravel().astype(bool))
    # Slopes of the log-likelihood at both ends; a concave function rises to an end whose slope does not turn.
    first = n_inside - int(np.count_nonzero(outside_terms == 0))
    last = n_inside - int(np.count_nonzero(inside_terms > 0))
    if first <= 0 <= last:
        return HazardRatio(np.nan, np.nan, np.nan)
    if first <= 0 or last >= 0:
        return _at_the_end(outside_terms, inside_terms, n_inside, level, at_zero=first <= 0)
    log_ratio = _root(lambda one: n_inside - float(_shares(outside_terms, inside_terms, one).sum()))
    shares = _shares(outside_terms, inside_terms, log_ratio)
    half = float(norm.ppf(0.5 + level / 2) / np.sqrt(np.sum(shares * (1 - shares))))
    found = np.exp([log_ratio, log_ratio - half, log_ratio + half])
    return HazardRatio(*map(float, found))


def _terms(
    time: NDArray[np.float64], event: NDArray[np.bool_], inside: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """The terms a and b of all times with an event, and the number of events inside."""
    distinct = np.unique(time[event])
    found = []
    for members in (~inside, inside):
        at_risk = members.sum() - np.searchsorted(np.sort(time[members]), distinct, side="left")
        events = np.bincount(np.searchsorted(distinct, time[event & members]), minlength=len(distinct))
        found.append((at_risk, events))
    n_events = found[0][1] + found[1][1]
    place = np.repeat(np.arange(len(distinct)), n_events)
    shares = (np.arange(len(place)) - np.repeat(np.cumsum(n_events) - n_events, n_events)) / n_events[place]
    outer, inner = (at_risk[place] - shares * events[place] for at_risk, events in found)
    return outer, inner, int(found[1][1].sum())


def _shares(outer: NDArray[np.float64], inner: NDArray[np.float64], log_ratio: float) -> NDArray[np.float64]:
    """Probability of every term that the event is inside: b e^β / (a + b e^β)."""
    with np.errstate(divide="ignore"):
        shares: NDArray[np.float64] = expit(log_ratio + np.log(inner) - np.log(outer))
    return shares


def _at_the_end(
    outer: NDArray[np.float64], inner: NDArray[np.float64], n_inside: int, level: float, *, at_zero: bool
) -> HazardRatio:
    """A ratio of 0 or infinity, with the other end of the interval from the profile likelihood."""
    allowed = float(chi2.ppf(level, 1)) / 2
    end = -LARGEST_LOG_RATIO if at_zero else LARGEST_LOG_RATIO
    largest = _log_likelihood(outer, inner, n_inside, end)

    def excess(log_ratio: float) -> float:
        return largest - _log_likelihood(outer, inner, n_inside, log_ratio) - allowed

    other = np.nan if excess(-end) < 0 else float(np.exp(_root(excess)))
    if at_zero:
        return HazardRatio(0.0, 0.0, np.inf if np.isnan(other) else other)
    return HazardRatio(np.inf, 0.0 if np.isnan(other) else other, np.inf)


def _log_likelihood(outer: NDArray[np.float64], inner: NDArray[np.float64], n_inside: int, log_ratio: float) -> float:
    with np.errstate(divide="ignore"):
        terms = np.logaddexp(np.log(outer), log_ratio + np.log(inner))
    return n_inside * log_ratio - float(terms.sum())


def _root(function: Callable[[float], float]) -> float:
    return float(brentq(function, -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO, xtol=1e-13))
