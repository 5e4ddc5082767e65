"""Scores: golden numbers, invariances, limits and refusals."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.cluster import contingency_matrix

from latefusion.metrics import (
    adjusted_rand,
    clustering_accuracy,
    clustering_scores,
    contingency,
    encode_labels,
    match_labels,
    normalized_mutual_info,
    purity_score,
)
from tests.properties import examples

AVERAGES = ("arithmetic", "geometric", "min", "max")
SCORES = (clustering_accuracy, purity_score, normalized_mutual_info, adjusted_rand)


@st.composite
def label_pairs(draw, max_groups=5):
    size = draw(st.integers(1, 40))
    vector = st.lists(st.integers(0, max_groups - 1), min_size=size, max_size=size)
    return np.array(draw(vector)), np.array(draw(vector))


def brute_force_accuracy(y_true, y_pred):
    table = contingency_matrix(y_true, y_pred)
    side = max(table.shape)
    square = np.zeros((side, side), dtype=int)
    square[: table.shape[0], : table.shape[1]] = table
    return max(square[np.arange(side), list(order)].sum() for order in permutations(range(side))) / len(y_true)


@pytest.mark.parametrize("prefix", ["l1", "l2", "l3"])
def test_scores_reproduce_the_authors_numbers(golden, prefix):
    y_true, stored = golden("problem_synth")["y"], golden("lfmvc_gam_fixed_synth")
    scores = clustering_scores(y_true, stored[f"{prefix}_labels"])
    ours = [scores["accuracy"], scores["nmi_max"], scores["purity"]]
    np.testing.assert_allclose(ours, stored[f"{prefix}_metrics"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("prefix", ["l1", "l2", "l3"])
def test_scores_reproduce_the_authors_numbers_on_ten_classes(golden, prefix):
    y_true, stored = golden("problem_digits")["y"], golden("lfmvc_gam_fixed_digits")
    scores = clustering_scores(y_true, stored[f"{prefix}_labels"])
    ours = [scores["accuracy"], scores["nmi_max"], scores["purity"]]
    np.testing.assert_allclose(ours, stored[f"{prefix}_metrics"], rtol=0, atol=1e-12)


@examples(60)
@given(label_pairs())
def test_contingency_counts_every_sample_once(pair):
    np.testing.assert_array_equal(contingency(*pair), contingency_matrix(*pair))


@examples(60)
@given(label_pairs(max_groups=4))
def test_accuracy_is_the_best_of_all_matchings(pair):
    assert clustering_accuracy(*pair) == pytest.approx(brute_force_accuracy(*pair), abs=1e-15)


@examples(60)
@given(label_pairs(), st.permutations(range(5)), st.permutations("vwxyz"))
def test_renaming_changes_nothing(pair, numbers, letters):
    y_true, y_pred = pair
    renamed = clustering_scores(np.array(letters)[y_true], np.array(numbers)[y_pred])
    assert renamed == pytest.approx(clustering_scores(y_true, y_pred), abs=1e-12)


@examples(60)
@given(label_pairs(), st.randoms(use_true_random=False))
def test_order_of_the_samples_changes_nothing(pair, random):
    order = list(range(len(pair[0])))
    random.shuffle(order)
    shuffled = clustering_scores(pair[0][order], pair[1][order])
    assert shuffled == pytest.approx(clustering_scores(*pair), abs=1e-12)


@examples(60)
@given(label_pairs())
def test_accuracy_information_and_rand_are_symmetric(pair):
    forward, backward = clustering_scores(*pair), clustering_scores(*pair[::-1])
    for name in ("accuracy", "nmi", "nmi_max", "ari"):
        assert forward[name] == pytest.approx(backward[name], abs=1e-12)


def test_purity_is_not_symmetric():
    assert purity_score([0, 0, 1, 1], [0, 1, 2, 3]) == 1.0
    assert purity_score([0, 1, 2, 3], [0, 0, 1, 1]) == 0.5


@examples(60)
@given(label_pairs())
def test_scores_stay_in_their_range_and_purity_is_not_below_accuracy(pair):
    scores = clustering_scores(*pair)
    assert 0 < scores["accuracy"] <= scores["purity"] <= 1
    assert 0 <= scores["nmi_max"] <= scores["nmi"] <= 1
    assert -0.5 <= scores["ari"] <= 1


@examples(60)
@given(label_pairs())
def test_the_four_means_are_ordered(pair):
    values = {name: normalized_mutual_info(*pair, average_method=name) for name in AVERAGES}
    order = [values[name] for name in ("max", "arithmetic", "geometric", "min")]
    assert all(low <= high + 1e-12 for low, high in pairwise(order))


@examples(60)
@given(label_pairs(), st.permutations(range(5)))
def test_the_same_grouping_scores_one(pair, names):
    y_true = pair[0]
    scores = clustering_scores(y_true, np.array(names)[y_true])
    assert scores == pytest.approx(dict.fromkeys(scores, 1.0), abs=1e-12)


def test_scores_of_a_worked_example():
    # Two classes of three; one sample of the second class has gone to the first cluster.
    y_true, y_pred = list("aaabbb"), [7, 7, 7, 7, 9, 9]
    assert contingency(y_true, y_pred).tolist() == [[3, 0], [1, 2]]
    classes, clusters = np.log(2), np.log(3) - np.log(4) / 3
    shared = classes + clusters - (np.log(2) / 2 + np.log(6) / 6 + np.log(3) / 3)
    scores = clustering_scores(y_true, y_pred)
    assert scores["accuracy"] == scores["purity"] == pytest.approx(5 / 6)
    assert scores["nmi_max"] == pytest.approx(shared / max(classes, clusters))
    assert scores["nmi"] == pytest.approx(2 * shared / (classes + clusters))
    assert scores["ari"] == pytest.approx(12 / 37)


@pytest.mark.parametrize("average_method", AVERAGES)
def test_trivial_labelings_follow_scikit_learn(average_method):
    one, two = [0, 0, 0, 0], [0, 0, 1, 1]
    assert normalized_mutual_info(one, one, average_method=average_method) == 1.0
    assert normalized_mutual_info(one, two, average_method=average_method) == 0.0
    assert normalized_mutual_info(two, one, average_method=average_method) == 0.0


def test_more_and_fewer_clusters_than_classes():
    assert clustering_accuracy([0, 0, 1, 1], [0, 1, 2, 2]) == 0.75
    assert clustering_accuracy([0, 1, 2, 2], [0, 0, 1, 1]) == 0.75


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "a", "b"],
        np.array(["a", "a", "b"], dtype=object),
        pd.Series(["a", "a", "b"], dtype="category"),
        pd.Series(["a", "a", "b"], dtype="string"),
        np.array([0.5, 0.5, 2.0]),
        [True, True, False],
        pd.Series([4, 4, -1], dtype="Int64"),
        (np.int64(3), np.int64(3), 1),
    ],
    ids=["list", "object", "category", "string", "float", "bool", "nullable", "tuple"],
)
def test_any_type_of_label(labels):
    assert clustering_scores([1, 1, 0], labels) == pytest.approx(dict.fromkeys(clustering_scores([0], [0]), 1.0))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, "1", 2], "y_pred contains both numbers and strings, for example 1 and '1'"),
        (np.array([1, "b", 2], dtype=object), "y_pred contains both numbers and strings"),
        ([0, None, 1], r"y_pred has missing labels at 1 position\(s\) \(1\)"),
        (["a", float("nan"), "b"], "y_pred has missing labels"),
        ([0.0, np.nan, 1.0], "y_pred has missing labels"),
        (np.array([0.0, np.nan, np.inf]), r"y_pred has NaN or infinite labels at 2 position\(s\) \(1, 2\)"),
        (pd.Series([0, None, 1], dtype="Int64"), "y_pred has (missing|NaN or infinite) labels"),
        (pd.Series(["a", pd.NA, "b"], dtype="string"), "y_pred has missing labels"),
        ([0, 1], "y_true has 3 labels but y_pred has 2"),
        ([], "y_pred is empty"),
        ([[0], [1], [0]], r"y_pred must be one-dimensional.*got shape \(3, 1\).*ravel"),
        (np.zeros((3, 2)), r"y_pred must be one-dimensional.*got shape \(3, 2\).*argmax"),
        (0, r"y_pred must be one-dimensional.*got shape \(\)"),
        (np.array([1j, 0, 0]), "y_pred must contain numbers or strings; got type complex128"),
        ([{"a": 1}, {"a": 1}, {"b": 1}], "y_pred must contain numbers or strings; got {'a': 1} of type dict"),
    ],
)
@pytest.mark.parametrize("score", [*SCORES, contingency, clustering_scores], ids=lambda score: score.__name__)
def test_bad_labels_are_refused_with_a_reason(score, labels, message):
    with pytest.raises(ValueError, match=message):
        score([0, 1, 1], labels)


def test_an_unknown_mean_is_refused():
    with pytest.raises(ValueError, match="average_method"):
        normalized_mutual_info([0, 1], [0, 1], average_method="harmonic")


@examples(60)
@given(label_pairs())
def test_matched_labels_keep_the_grouping_and_agree_with_the_accuracy(pair):
    reference, labels = pair
    matched = match_labels(reference, labels)
    assert adjusted_rand(matched, labels) == 1.0
    assert np.mean(matched == reference) == pytest.approx(clustering_accuracy(reference, labels), abs=1e-15)


def test_clusters_without_a_partner_get_names_of_their_own():
    labels = [0, 0, 1, 2, 3, 3]
    assert match_labels(["unmatched_0"] * 3 + ["b"] * 3, labels).tolist() == [
        "unmatched_0",
        "unmatched_0",
        "unmatched_1",
        "unmatched_2",
        "b",
        "b",
    ]
    assert match_labels(np.array([9, 9, 9, 5, 5, 5], dtype=np.uint8), labels).tolist() == [9, 9, 10, 11, 5, 5]
    assert match_labels([True, True, False, False], [1, 1, 0, 2]).tolist()[:2] == [1, 1]
    assert len(set(match_labels([True, True, False, False], [1, 1, 0, 2]).tolist())) == 3


def test_labels_are_not_changed():
    y_true, y_pred = np.array([2, 0, 1]), np.array(["b", "a", "a"])
    clustering_scores(y_true, y_pred)
    match_labels(y_true, y_pred)
    assert y_true.tolist() == [2, 0, 1]
    assert y_pred.tolist() == ["b", "a", "a"]


def test_a_single_value_that_is_no_label_is_named():
    with pytest.raises(ValueError, match=r"y_pred must contain numbers or strings; got \(1, 2\) of type tuple"):
        clustering_accuracy(["a", "b", "a"], pd.Series(["x", (1, 2), "y"], dtype=object))


@pytest.mark.parametrize(
    "labels", [["dog", "cat", "dog"], [7, -1, 7, 3], np.array([0.5, 0.25]), np.array([True, False])]
)
def test_codes_are_positions_in_the_sorted_labels(labels):
    values, codes = encode_labels(labels)
    assert values.tolist() == sorted(set(np.asarray(labels).tolist()))
    np.testing.assert_array_equal(values[codes], labels)
