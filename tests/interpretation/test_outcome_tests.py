"""Tests of one clustering: which test a column gets, and what missing values and clusters do."""

import numpy as np
import pytest
from scipy.stats import fisher_exact, kruskal

from latefusion.interpretation.outcome_table import OutcomeColumn, OutcomeTable, SurvivalTimes
from latefusion.interpretation.outcome_tests import OutcomeTester, clustering_of, run_tests
from latefusion.metrics import hazard_ratio, kaplan_meier, logrank_test

RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 3, 60)
TIME, EVENT = RNG.exponential(5.0, 60), RNG.random(60) < 0.7


def compared(labels=LABELS, n_permutations=199):
    return OutcomeTester(clustering_of(labels), n_permutations, seed=0)


@pytest.mark.parametrize(
    ("labels", "clusters", "assigned"),
    [
        ([2, 0, -1, 2], (0, 2), [True, True, False, True]),
        (["b", None, "a"], ("a", "b"), [True, False, True]),
        ([1.0, np.nan, 3.0], (1, 3), [True, False, True]),
        (np.array([None, None]), (), [False, False]),
    ],
)
def test_samples_without_a_cluster_are_recognized(labels, clusters, assigned):
    found = clustering_of(labels)
    assert found.clusters == clusters
    assert found.assigned.tolist() == assigned


def test_labels_of_two_dimensions_are_refused():
    with pytest.raises(ValueError, match=r"one value per sample; got an array of shape \(3, 2\)"):
        clustering_of(np.zeros((3, 2)))


def test_survival_is_that_of_the_metrics_without_samples_whose_time_is_missing():
    time = np.where(np.arange(60) < 5, np.nan, TIME)
    curves, test, findings = compared().survival(SurvivalTimes(time, EVENT, "time", "event"))
    expected = logrank_test(TIME[5:], EVENT[5:], LABELS[5:], n_permutations=199)
    assert (test.statistic, test.p, test.n_samples) == (expected.statistic, expected.p_value, 55)
    assert curves.p == expected.p_value
    for code, one in enumerate(findings):
        inside = LABELS[5:] == code
        assert (one.effect, one.lower, one.upper) == tuple(hazard_ratio(TIME[5:], EVENT[5:], inside))
        own = kaplan_meier(TIME[5:][inside], EVENT[5:][inside])
        np.testing.assert_array_equal(curves.curves[code].survival, own.survival)
        assert one.inside == ("not reached" if np.isinf(own.median) else f"{own.median:.4g}")


def test_survival_of_one_cluster_has_a_curve_and_no_test():
    time = np.where(LABELS == 1, TIME, np.nan)
    curves, test, findings = compared().survival(SurvivalTimes(time, EVENT, "time", "event"))
    assert list(curves.curves) == [1]
    assert curves.test is None
    assert np.isnan([curves.p, test.p]).all()
    assert findings == []


def test_categories_of_two_by_two_get_fishers_test():
    sex = np.random.default_rng(1).integers(0, 2, 60)
    column = OutcomeColumn("sex", "category", sex, ("f", "m"))
    test, findings = compared((LABELS > 0).astype(int)).column(column)
    table = [
        [np.sum((LABELS > 0) == group) - np.sum(sex[(LABELS > 0) == group]), np.sum(sex[(LABELS > 0) == group])]
        for group in (0, 1)
    ]
    assert test.test == "Fisher"
    np.testing.assert_allclose(test.p, fisher_exact(table).pvalue)
    assert [(one.cluster, one.value) for one in findings] == [(0, "f"), (0, "m"), (1, "f"), (1, "m")]
    assert findings[0].inside == f"{table[0][0] / sum(table[0]):.0%}"
    np.testing.assert_allclose(findings[0].effect, fisher_exact(table).statistic)


def test_numbers_are_compared_by_ranks_in_their_unit():
    values = np.where(np.arange(60) < 4, np.nan, np.random.default_rng(2).integers(20, 80, 60) + 0.0)
    test, findings = compared().column(OutcomeColumn("dose", "number", values, unit="mg"))
    known = values[4:]
    expected = kruskal(*(known[LABELS[4:] == one] for one in range(3))).statistic
    np.testing.assert_allclose(test.statistic, expected)
    assert (test.test, test.measure, test.n_samples) == ("Kruskal–Wallis", "epsilon²", 56)
    median = np.median(known[LABELS[4:] == 0])
    assert findings[0].inside == f"{median:.1f} mg" == "48.5 mg"


def test_dates_are_shown_as_dates():
    days = np.where(LABELS == 0, 31.0, 60.0)
    test, findings = compared().column(OutcomeColumn("visit", "date", days))
    assert test.p == 1 / 200
    assert (findings[0].inside, findings[0].outside) == ("1970-02-01", "1970-03-02")
    assert findings[0].effect == 0.0  # no date of the cluster is later than one of the others


def test_a_column_with_one_value_among_the_samples_of_another_clustering_has_no_p():
    values = np.where(LABELS == 2, 1, 0)
    others = np.where(LABELS == 2, -1, LABELS)
    test, findings = compared(others).column(OutcomeColumn("site", "category", values, ("a", "b")))
    assert np.isnan(test.p)
    assert findings == []
    assert np.isnan(compared(others).column(OutcomeColumn("age", "number", values.astype(float)))[0].p)


@pytest.mark.parametrize("kept", [0, 1])
@pytest.mark.parametrize(("kind", "test"), [("number", "Kruskal–Wallis"), ("category", "Fisher–Freeman–Halton")])
def test_columns_that_are_known_in_fewer_than_two_clusters_have_no_p(kept, kind, test):
    """As for a view without any of the samples in the table."""
    known = (LABELS == 2) & bool(kept)
    values = np.where(known, np.arange(60) % 2, -1 if kind == "category" else np.nan)
    found, findings = compared().column(OutcomeColumn("x", kind, values, ("a", "b")))
    assert (found.test, found.n_samples, findings) == (test, kept * np.sum(LABELS == 2), [])
    assert np.isnan([found.p, found.statistic, found.effect]).all()


def test_survival_that_is_known_for_no_sample_has_no_curve():
    curves, test, findings = compared().survival(SurvivalTimes(np.full(60, np.nan), EVENT, "time", "event"))
    assert (curves.curves, curves.test, test.n_samples, findings) == ({}, None, 0, [])


def test_all_columns_are_tested_in_order_survival_first():
    columns = (OutcomeColumn("age", "number", TIME), OutcomeColumn("sex", "category", LABELS % 2, ("f", "m")))
    table = OutcomeTable(SurvivalTimes(TIME, EVENT, "t", "e"), columns, np.ones(60, dtype=bool), ())
    curves, tests, findings = run_tests(compared(), table)
    assert [test.column for test in tests] == ["survival", "age", "sex"]
    assert curves.time_name == "t"
    assert {one.column for one in findings} == {"survival", "age", "sex"}


def test_the_order_of_columns_does_not_change_p_values():
    """Permutations depend on the seed and the samples of a column only."""
    columns = [OutcomeColumn("a", "number", TIME), OutcomeColumn("b", "number", np.where(EVENT, TIME, np.nan))]
    one, two = compared(), compared()
    first = [one.column(column)[0].p for column in columns]
    second = [two.column(column)[0].p for column in columns[::-1]]
    assert first == second[::-1]
