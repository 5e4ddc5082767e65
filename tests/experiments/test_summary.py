import numpy as np
import pytest
from scipy.stats import wilcoxon

from latefusion.experiments.protocol import METRICS
from latefusion.experiments.store import Outcome
from latefusion.experiments.summary import best_and_equals, signed_rank_pvalue, summarize


def test_one_line_per_method_with_both_protocols(small_summaries):
    assert [one.method for one in small_summaries] == ["A-MKKM", "SB-KKM", "RMKKM", "LF-MVC-GAM", "LF-MVC-LAM"]
    for one in small_summaries:
        assert all(len(one.label_free[metric]) == 5 for metric in METRICS)
        assert all(len(one.oracle[metric].sample) == 6 for metric in METRICS)
        assert one.seconds > 0
        assert (one.n_missing, sum(one.reasons.values())) == (0, 0)


def test_seeds_in_cells_of_their_own_stand_in_order(small_cells, small_outcomes):
    mine = [cell for cell in small_cells if cell.method == "RMKKM" and cell.protocol == "label-free"]
    (one,) = summarize(mine, small_outcomes)
    expected = [small_outcomes[cell].points[0].scores["accuracy"][0] for cell in mine]
    np.testing.assert_array_equal(one.label_free["accuracy"], expected)
    assert [cell.seeds for cell in mine] == [(seed,) for seed in range(5)]


def test_what_failed_or_is_missing_is_counted(small_cells, small_outcomes):
    mine = [cell for cell in small_cells if cell.method == "RMKKM"]
    outcomes = {cell: small_outcomes[cell] for cell in mine[:-1]}
    outcomes[mine[-2]] = Outcome(9.0, [], "took more than 9 s")
    (one,) = summarize(mine, outcomes)
    assert one.reasons == {"took more than 9 s": 1}
    assert one.n_missing == 1
    assert one.oracle
    (nothing,) = summarize(mine, {})
    assert (nothing.oracle, nothing.label_free, nothing.seconds) == ({}, {}, None)


def marks_of(**samples):
    arrays = {name: np.array(sample) for name, sample in samples.items()}
    return best_and_equals(arrays, {name: sample.mean() for name, sample in arrays.items()})


def test_the_best_and_what_is_not_worse_are_marked():
    generator = np.random.default_rng(0)
    best = generator.normal(0.8, 0.02, size=20)
    marks = marks_of(best=best, twin=best, near=best - generator.normal(0.0001, 0.02, size=20), far=best - 0.05)
    assert marks.pop("near", "equal") == "equal"
    assert sorted(marks.items()) == [("best", "best"), ("twin", "equal")]
    assert marks_of() == {}


def test_a_constant_gap_over_five_seeds_is_significant_and_over_four_is_not():
    """The least that the test can see: 2^-5 is below 5 %, 2^-4 is not."""
    assert "low" not in marks_of(high=[0.9] * 5, low=[0.8] * 5)
    assert marks_of(high=[0.9] * 4, low=[0.8] * 4)["low"] == "equal"


@pytest.mark.parametrize("offset", [0.0, 0.1])
def test_marks_do_not_depend_on_the_level(offset):
    generator = np.random.default_rng(1)
    samples = {name: generator.uniform(size=10) for name in "abc"}
    assert marks_of(**samples) == marks_of(**{name: sample + offset for name, sample in samples.items()})


@pytest.mark.parametrize("n_pairs", [5, 8, 50])
def test_the_probability_is_that_of_the_exact_test(n_pairs):
    generator = np.random.default_rng(n_pairs)
    differences = generator.normal(0.3, size=n_pairs)
    expected = wilcoxon(differences, alternative="greater", method="exact").pvalue
    assert signed_rank_pvalue(differences) == pytest.approx(expected)
    with_zeros = np.append(differences, [0.0, 0.0])
    assert signed_rank_pvalue(with_zeros) == pytest.approx(expected)


def test_the_probability_with_ties_counts_all_signs():
    differences = np.array([1.0, 1.0, -1.0, 2.0, 2.0, 3.0])
    ranks = np.array([2, 2, 2, 4.5, 4.5, 6])
    signs = np.array(np.meshgrid(*[[0, 1]] * 6)).reshape(6, -1)
    assert signed_rank_pvalue(differences) == pytest.approx(np.mean(ranks @ signs >= ranks[differences > 0].sum()))
    assert signed_rank_pvalue(np.zeros(4)) == 1.0
