"""Golden values come from lifelines; the file names its version and functions."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import chi2

from latefusion.metrics import hazard_ratio

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "survival_lifelines.json").read_text())["cases"]


@pytest.mark.parametrize("case", GOLDEN.values(), ids=GOLDEN.keys())
def test_hazard_ratios_are_those_of_lifelines(case):
    groups = np.array(case["groups"])
    assert case["hazard_ratios"]
    for group, expected in case["hazard_ratios"].items():
        found = hazard_ratio(case["time"], case["event"], groups == int(group))
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def efron(time, event, inside, log_ratio):
    """Efron's log-likelihood, time by time."""
    risk = np.exp(log_ratio * inside)
    total = 0.0
    for moment in np.unique(time[event]):
        now = event & (time == moment)
        total += log_ratio * inside[now].sum()
        for order in range(now.sum()):
            total -= np.log(risk[time >= moment].sum() - order / now.sum() * risk[now].sum())
    return total


@pytest.fixture
def tied():
    rng = np.random.default_rng(2)
    return np.ceil(rng.exponential(4.0, 30)), rng.random(30) < 0.8, rng.random(30) < 0.4


def test_ratio_maximizes_the_likelihood_with_ties(tied):
    best = minimize_scalar(lambda one: -efron(*tied, one), bounds=(-5, 5), method="bounded", options={"xatol": 1e-10})
    np.testing.assert_allclose(hazard_ratio(*tied).ratio, np.exp(best.x), rtol=1e-6)


def test_the_other_group_has_the_inverse_ratio(tied):
    time, event, inside = tied
    found, other = hazard_ratio(time, event, inside), hazard_ratio(time, event, ~inside)
    np.testing.assert_allclose([1 / other.ratio, 1 / other.upper, 1 / other.lower], found, rtol=1e-9)


def test_monotone_times_give_the_same_ratio(tied):
    time, event, inside = tied
    np.testing.assert_allclose(hazard_ratio(np.sqrt(time), event, inside), hazard_ratio(time, event, inside))


@pytest.mark.parametrize("swap", [False, True])
def test_a_group_without_events_has_an_interval_from_the_profile_likelihood(swap):
    time = np.array([1.0, 2.0, 3.0, 4.0, 4.0, 6.0])
    event, inside = np.array([1, 1, 0, 1, 0, 0], dtype=bool), np.array([0, 0, 1, 0, 1, 1], dtype=bool)
    found = hazard_ratio(time, event, ~inside if swap else inside)
    assert found.ratio == (np.inf if swap else 0.0)
    assert (np.isinf(found.upper), found.lower == 0.0) == (swap, not swap)
    finite = -np.log(found.lower) if swap else np.log(found.upper)
    loss = efron(time, event, inside, -40.0) - efron(time, event, inside, finite)
    np.testing.assert_allclose(2 * loss, chi2.ppf(0.95, 1), rtol=1e-8)


def test_groups_that_are_never_at_risk_together_have_no_ratio():
    found = hazard_ratio([1.0, 2.0, 8.0, 9.0], [0, 0, 1, 1], [1, 1, 0, 0])
    assert np.isnan(found).all()
    assert str(found) == "–"
    assert np.isnan(hazard_ratio([1.0, 2.0], [0, 0], [1, 0])).all()


def test_one_sample_has_a_ratio_or_an_open_interval():
    last = hazard_ratio([1.0, 2.0, 3.0, 4.0], [1, 1, 1, 1], [0, 0, 0, 1])
    assert last.ratio == 0
    first = hazard_ratio([1.0, 2.0, 3.0, 4.0], [1, 1, 1, 1], [1, 0, 0, 0])
    assert first.ratio == np.inf
    assert 0 < first.lower < np.inf


def test_a_higher_level_gives_a_wider_interval(tied):
    narrow, wide = hazard_ratio(*tied, level=0.8), hazard_ratio(*tied, level=0.99)
    assert wide.lower < narrow.lower < narrow.ratio == wide.ratio < narrow.upper < wide.upper
