"""Golden values come from lifelines; the file names its version and functions."""

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2, kstest

from latefusion.metrics import kaplan_meier, logrank_test
from latefusion.metrics.survival import risk_table

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "survival_lifelines.json").read_text())["cases"]
cases = pytest.mark.parametrize("case", GOLDEN.values(), ids=GOLDEN.keys())


@pytest.fixture
def patients():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, 60)
    time, censoring = np.ceil(rng.exponential(8.0, 60)), np.ceil(rng.exponential(15.0, 60))
    return np.minimum(time, censoring), time <= censoring, groups


@cases
def test_log_rank_is_that_of_lifelines(case):
    found = logrank_test(case["time"], case["event"], case["groups"], n_permutations=1)
    np.testing.assert_allclose(
        [found.statistic, found.p_asymptotic], [case["statistic"], case["p"]], rtol=0, atol=1e-10
    )


@cases
def test_curve_is_that_of_lifelines(case):
    found = kaplan_meier(case["time"], case["event"])
    for own, name in ((found.times, "times"), (found.at_risk, "at_risk"), (found.events, "events")):
        np.testing.assert_array_equal(own, case[f"km_{name}"])
    np.testing.assert_array_equal(found.censored, case["km_censored"])
    np.testing.assert_allclose(found.survival, case["km_survival"], rtol=0, atol=1e-12)
    inner = found.survival > 0
    for own, name in ((found.lower, "lower"), (found.upper, "upper")):
        np.testing.assert_allclose(own[inner], np.array(case[f"km_{name}"])[inner], rtol=0, atol=1e-12)
    assert np.isnan(found.lower[~inner]).all()
    assert found.median == (np.inf if case["median"] is None else case["median"])


# Kaplan–Meier.


def test_without_censoring_the_curve_is_one_minus_the_empirical_distribution():
    time = np.array([3.0, 1.0, 4.0, 1.0, 5.0])
    curve = kaplan_meier(time, np.ones(5))
    points = np.array([0.0, 0.5, 1.0, 2.0, 3.0, 4.5, 5.0, 9.0])
    np.testing.assert_allclose(curve.survival_at(points), [(time > point).mean() for point in points], atol=1e-15)


def test_numbers_at_risk_count_the_samples_that_are_observed_until_a_time(patients):
    time, event, _ = patients
    points = np.array([0.0, 0.5, 1.0, 7.0, 7.5, time.max(), time.max() + 1])
    assert kaplan_meier(time, event).at_risk_at(points).tolist() == [(time >= point).sum() for point in points]


def test_all_samples_end_once(patients):
    time, event, _ = patients
    curve = kaplan_meier(time, event)
    np.testing.assert_array_equal(curve.at_risk[:-1] - (curve.events + curve.censored)[:-1], curve.at_risk[1:])
    assert (curve.events.sum(), curve.censored.sum()) == (event.sum(), (~event).sum())


def test_curve_falls_within_its_interval(patients):
    time, event, _ = patients
    curve = kaplan_meier(time, event)
    inner = curve.survival > 0
    assert (np.diff(curve.survival) <= 0).all()
    assert (curve.lower[inner] <= curve.survival[inner]).all()
    assert (curve.survival[inner] <= curve.upper[inner]).all()
    assert curve.upper[inner].max() <= 1


def test_a_curve_ends_with_its_last_observation_unless_it_is_zero():
    assert np.isnan(kaplan_meier([1.0, 2.0], [1, 0]).survival_at([2.5])[0])
    assert kaplan_meier([1.0, 2.0], [1, 1]).survival_at([2.5])[0] == 0


def test_without_events_the_curve_is_one_and_the_median_is_infinite():
    curve = kaplan_meier([1.0, 2.0, 2.0], [0, 0, 0])
    assert curve.survival.tolist() == [1.0, 1.0, 1.0]
    assert (curve.lower == 1).all()
    assert curve.median == np.inf


def test_events_at_time_zero_are_counted():
    curve = kaplan_meier([0.0, 0.0, 3.0, 4.0], [1, 0, 1, 0])
    assert curve.times.tolist() == [0.0, 3.0, 4.0]
    np.testing.assert_allclose(curve.survival, [3 / 4, 3 / 8, 3 / 8])


# Log-rank.


def test_log_rank_does_not_depend_on_names_order_or_the_scale_of_time(patients):
    time, event, groups = patients
    first = logrank_test(time, event, groups, n_permutations=1)
    order = np.random.default_rng(1).permutation(len(time))
    names = np.array(["z", "a", "m"])[groups]
    for other in (
        logrank_test(time[order], event[order], groups[order], n_permutations=1),
        logrank_test(time, event, names, n_permutations=1),
        logrank_test(np.log1p(time) ** 3, event, groups, n_permutations=1),
    ):
        np.testing.assert_allclose(other.statistic, first.statistic, rtol=1e-10)
    assert logrank_test(time, event, names, n_permutations=1).observed.tolist() == first.observed[[1, 2, 0]].tolist()


def test_permutation_p_does_not_depend_on_the_names_of_groups_beyond_the_draw(patients):
    time, event, groups = patients
    first = logrank_test(time, event, groups, random_state=3)
    second = logrank_test(time, event, (groups + 1) % 3, random_state=4)
    assert abs(first.p_value - second.p_value) < 4 * np.sqrt(2 * first.p_value * (1 - first.p_value) / 9999)


def test_expected_events_add_up_to_the_observed_ones(patients):
    time, event, groups = patients
    found = logrank_test(time, event, groups, n_permutations=1)
    assert found.observed.sum() == event.sum()
    np.testing.assert_allclose(found.expected.sum(), event.sum())


def textbook_statistic(time, event, groups):
    """(O - E)² / V of two groups, summed over the event times one by one."""
    excess = variance = 0.0
    for moment in np.unique(time[event]):
        at_risk = time >= moment
        n, inside = at_risk.sum(), (at_risk & (groups == 1)).sum()
        d, own = (event & (time == moment)).sum(), (event & (time == moment) & (groups == 1)).sum()
        excess += own - d * inside / n
        variance += d * (inside / n) * (1 - inside / n) * (n - d) / (n - 1) if n > 1 else 0.0
    return excess**2 / variance if variance > 0 else 0.0


def test_two_groups_equal_the_textbook_and_each_other(patients):
    time, event, groups = patients
    table = risk_table(time, event, 3)
    found, _ = table.statistics(groups[None, :])
    for group in range(3):
        np.testing.assert_allclose(found[0, 1 + group], textbook_statistic(time, event, groups == group))
    two = logrank_test(time, event, groups == 1, n_permutations=1)
    np.testing.assert_allclose(two.statistic, found[0, 2])


def test_tiny_samples_equal_the_enumeration_of_all_permutations():
    time = np.array([2.0, 3.0, 3.0, 5.0, 6.0, 8.0, 9.0])
    event = np.array([1, 1, 0, 1, 1, 0, 1], dtype=bool)
    groups = np.array([1, 1, 1, 0, 0, 0, 0])
    observed = textbook_statistic(time, event, groups)
    all_values = [textbook_statistic(time, event, np.array(one)) for one in permutations(groups.tolist())]
    found = logrank_test(time, event, groups)
    assert found.exact
    np.testing.assert_allclose(found.p_value, np.mean(np.array(all_values) >= observed - 1e-9))
    np.testing.assert_allclose(found.group_p_values, [found.p_value] * 2)


def test_permutation_p_is_uniform_if_groups_do_not_differ():
    rng = np.random.default_rng(0)
    found = []
    for seed in range(150):
        time, event = rng.exponential(1.0, 24), rng.random(24) < 0.7
        groups = np.repeat([0, 1, 2], [16, 5, 3])
        found.append(logrank_test(time, event, groups, n_permutations=99, random_state=seed).p_value)
    assert kstest(found, "uniform").pvalue > 0.01
    assert 0.01 < np.mean(np.array(found) <= 0.05) < 0.1


def test_the_asymptotic_p_of_small_groups_is_too_small():
    """Why permutation p-values are reported: with five groups of 2 among 40, 5 % become more than 15 %."""
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(6), [30, 2, 2, 2, 2, 2])
    values = []
    for _ in range(400):
        time = rng.exponential(1.0, 40)
        statistics, degrees = risk_table(time, np.ones(40, dtype=bool), 6).statistics(groups[None, :])
        values.append(chi2.sf(statistics[0, 0], degrees))
    assert np.mean(np.array(values) <= 0.05) > 0.15


def test_a_group_that_is_never_at_risk_does_not_count():
    """Its only member is censored before the first event, so there is no covariance to invert."""
    time, event = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([0, 1, 1, 1, 1])
    with_group = logrank_test(time, event, [2, 0, 1, 0, 1], n_permutations=1)
    without = logrank_test(time[1:], event[1:], [0, 1, 0, 1], n_permutations=1)
    np.testing.assert_allclose(with_group.statistic, without.statistic)
    assert with_group.degrees_of_freedom == without.degrees_of_freedom == 1
    assert np.isnan(with_group.group_p_values[2])


def test_without_events_there_is_no_statistic():
    found = logrank_test([1.0, 2.0, 3.0, 4.0], [0, 0, 0, 0], [0, 0, 1, 1])
    assert found.degrees_of_freedom == 0
    assert np.isnan([found.statistic, found.p_asymptotic, found.p_value]).all()


@pytest.mark.parametrize(
    ("time", "event", "groups", "message"),
    [
        ([1.0, -2.0], [1, 0], [0, 1], "finite and not negative; got -2 in row 1"),
        ([1.0, np.nan], [1, 0], [0, 1], "got nan in row 1"),
        ([1.0, 2.0], [1, 2], [0, 1], "Events must be 0 or 1 .* got 2"),
        ([1.0, 2.0], [1], [0, 1], "time has 2 values and event has 1"),
        ([1.0, 2.0], [1, 0], [0], "groups has 1 values for 2 samples"),
        ([1.0, 2.0], [1, 0], [0, 0], "at least two groups; got 1"),
    ],
)
def test_invalid_input_is_named(time, event, groups, message):
    with pytest.raises(ValueError, match=message):
        logrank_test(time, event, groups)
