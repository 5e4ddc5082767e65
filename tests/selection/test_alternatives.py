"""Near ties: clusterings that score as high as the chosen one and put samples into other clusters."""

import numpy as np
import pytest

from latefusion.metrics import match_labels
from latefusion.selection.alternatives import (
    MOST_ALTERNATIVES,
    alternatives_to,
    near_ties,
    score_difference,
    tie_note,
)
from latefusion.selection.criterion import Score
from latefusion.selection.table import Candidate

N = 100
RNG = np.random.default_rng(0)
LABELS = np.repeat(np.arange(4, dtype=np.int32), N // 4)
ROWS = np.arange(N)
NAMES = ["genes", "<proteins>"]


def candidate(value, labels=LABELS, half_width=0.0, similarity="both", view=None):
    """The difference to a candidate without width has this half width as its standard error."""
    score = Score(value, value + half_width * np.array([-1.0, 1.0]), 2.0)
    return Candidate(4, similarity, "equal", 1.0, None, "kmeans", score, np.asarray(labels, dtype=np.int32), view)


def with_moved(number, seed=0):
    """The labels, some of them changed."""
    labels = LABELS.copy()
    rows = np.random.default_rng(seed).permutation(N)[:number]
    labels[rows] = (labels[rows] + 1) % 4
    return labels


CHOSEN = candidate(0.5)


@pytest.mark.parametrize(("value", "is_tie"), [(0.5, True), (0.41, True), (0.39, False), (0.7, True)])
def test_scores_may_be_lower_by_the_standard_error(value, is_tie):
    one = candidate(value, with_moved(40), half_width=0.1)
    assert score_difference(CHOSEN, one) == pytest.approx((value - 0.5, 0.1))
    assert (near_ties(CHOSEN, [CHOSEN, one]) == [one]) == is_tie


def test_the_standard_error_is_paired():
    """Scores that rise and fall together differ by a constant, however much each varies."""
    wide = candidate(0.5, half_width=0.3)
    assert near_ties(wide, [candidate(0.49, with_moved(40), half_width=0.3)]) == []


@pytest.mark.parametrize(("number", "differs"), [(0, False), (5, False), (6, True)])
def test_clusterings_that_differ_on_few_samples_are_the_same(number, differs):
    assert len(near_ties(CHOSEN, [candidate(0.5, with_moved(number))])) == differs


def test_three_samples_of_a_few_are_few():
    chosen = candidate(0.5, [0] * 6 + [1] * 6)
    few, more = candidate(0.5, [0] * 3 + [1] * 9), candidate(0.5, [0] * 2 + [1] * 10)
    assert near_ties(chosen, [few]) == []
    assert near_ties(chosen, [more]) == [more]


def test_names_of_clusters_do_not_matter():
    assert near_ties(CHOSEN, [candidate(0.5, 3 - LABELS)]) == []


def test_of_nearly_equal_alternatives_the_best_is_kept_and_the_best_come_first():
    labels = with_moved(40)
    almost = labels.copy()
    almost[:2] = (almost[:2] + 1) % 4
    worse, best = candidate(0.48, almost, 0.1), candidate(0.49, labels, 0.1)
    other = candidate(0.51, with_moved(60, seed=1), 0.1)
    assert near_ties(CHOSEN, [worse, best, other]) == [other, best]


def test_only_a_few_are_listed():
    many = [candidate(0.5, RNG.integers(4, size=N)) for _ in range(2 * MOST_ALTERNATIVES)]
    assert len(near_ties(CHOSEN, many)) == MOST_ALTERNATIVES


def test_labels_have_the_names_of_the_chosen_clusters_and_moved_rows_are_those_that_differ():
    rows = 7 + 3 * ROWS
    (one,) = alternatives_to(CHOSEN, [candidate(0.48, 3 - with_moved(20), 0.1, view=1)], rows, NAMES)
    np.testing.assert_array_equal(one.labels, with_moved(20))
    np.testing.assert_array_equal(one.samples, rows)
    np.testing.assert_array_equal(one.moved, rows[one.labels != LABELS])
    assert (len(one.moved), one.share) == (20, 0.2)
    assert (one.score, one.difference, one.standard_error) == pytest.approx((0.48, -0.02, 0.1))
    assert one.view == "<proteins>"


def test_the_order_of_samples_permutes_what_moves():
    order = RNG.permutation(N)
    labels = with_moved(30)
    (one,) = alternatives_to(CHOSEN, [candidate(0.5, labels)], ROWS, NAMES)
    shuffled = candidate(0.5, LABELS[order])
    (other,) = alternatives_to(shuffled, [candidate(0.5, labels[order])], ROWS, NAMES)
    np.testing.assert_array_equal(np.sort(order[other.moved]), one.moved)
    np.testing.assert_array_equal(other.labels, one.labels[order])


def test_names_of_clusters_permute_labels_and_not_what_moves():
    labels, names = with_moved(30), np.array([2, 0, 3, 1])
    (one,) = alternatives_to(CHOSEN, [candidate(0.5, labels)], ROWS, NAMES)
    (other,) = alternatives_to(candidate(0.5, names[LABELS]), [candidate(0.5, labels)], ROWS, NAMES)
    np.testing.assert_array_equal(other.moved, one.moved)
    np.testing.assert_array_equal(other.labels, names[one.labels])
    np.testing.assert_array_equal(match_labels(one.labels, other.labels), one.labels)


def test_an_alternative_is_a_sentence():
    fused, alone = (
        alternatives_to(CHOSEN, [candidate(0.48, with_moved(20), 0.1, "graph", view)], ROWS, NAMES)[0]
        for view in (None, 0)
    )
    assert str(fused) == (
        "With similarity 'graph', views weighted equally, regularization=1: 20 of 100 samples (20%) move to another "
        "cluster; the score differs by -0.020 ± 0.100."
    )
    assert str(alone).startswith("With view 'genes' alone, similarity 'graph': 20 of 100")


def test_a_note_counts_alternatives_and_names_the_nearest():
    near, far = candidate(0.5, with_moved(20)), candidate(0.5, with_moved(60, seed=1))
    found = alternatives_to(CHOSEN, [far, near], ROWS, NAMES)
    assert tie_note(found).startswith(
        "2 other clusterings score as high within the standard error; the nearest moves 20%"
    )
    assert tie_note(found[:1]).startswith("1 other clustering scores as high within the standard error; it moves ")
