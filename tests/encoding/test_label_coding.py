"""Labels of any type are numbers in the end, unassigned samples are none, and what is no label is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from latefusion.encoding.label_coding import LabelCoding, is_label_view, unassigned_samples

NUMBERS = [3, 1, 1, 7, 3]
EXPECTED = [1, 0, 0, 2, 1]
FORMS = {
    "list": NUMBERS,
    "array": np.array(NUMBERS),
    "unsigned": np.array(NUMBERS, dtype=np.uint8),
    "floats": np.array(NUMBERS, dtype=float),
    "column": np.array(NUMBERS)[:, None],
    "objects": np.array(NUMBERS, dtype=object),
    "series": pd.Series(NUMBERS),
    "nullable": pd.Series(NUMBERS, dtype="Int64"),
    "categorical": pd.Categorical(NUMBERS),
    "polars": pl.Series(NUMBERS),
    "strings": [f"c{one}" for one in NUMBERS],
    "string array": np.array([f"c{one}" for one in NUMBERS]),
    "string series": pd.Series([f"c{one}" for one in NUMBERS]),
    "string categories": pd.Series([f"c{one}" for one in NUMBERS], dtype="category"),
    "polars strings": pl.Series([f"c{one}" for one in NUMBERS]),
}


@pytest.mark.parametrize("form", FORMS)
def test_all_types_give_the_same_codes(form):
    labels = FORMS[form]
    np.testing.assert_array_equal(LabelCoding.of(labels, "v").codes(labels, "v"), EXPECTED)


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1, -1, 0],
        [0, 1, -3, 0],
        [0.0, 1.0, np.nan, 0.0],
        [0, 1, None, 0],
        ["a", "b", None, "a"],
        np.array(["a", "b", np.nan, "a"], dtype=object),
        pd.Series([0, 1, None, 0], dtype="Int64"),
        pd.Categorical(["a", "b", None, "a"]),
        pl.Series(["a", "b", None, "a"]),
    ],
    ids=str,
)
def test_unassigned_samples_have_the_code_minus_one(labels):
    np.testing.assert_array_equal(LabelCoding.of(labels, "v").codes(labels, "v"), [0, 1, -1, 0])


def test_what_marks_unassigned_samples_can_be_said():
    labels = ["a", "noise", "b", "a"]
    np.testing.assert_array_equal(LabelCoding.of(labels, "v", "noise").codes(labels, "v"), [0, -1, 1, 0])
    np.testing.assert_array_equal(LabelCoding.of([1, -1, 1, -1], "v", []).codes([1, -1], "v"), [1, 0])
    np.testing.assert_array_equal(LabelCoding.of([0, 1, 9, 0], "v", [9, "none"]).codes([9, 1], "v"), [-1, 1])


def test_new_samples_keep_the_coding_and_unknown_labels_are_named():
    coding = LabelCoding.of(["b", "a", "c", "a"], "leiden")
    np.testing.assert_array_equal(coding.codes(["c", None], "leiden"), [2, -1])
    with pytest.raises(ValueError, match=r"'leiden' has the label 'zebra' \(row 1\).*'a', 'b', 'c'"):
        coding.codes(["a", "zebra"], "leiden")
    with pytest.raises(ValueError, match="has the label 1"):
        coding.codes([1, 2], "leiden")


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([0.5, 1.0, 2.0], ["'v' holds 0.5", "not a label", "reshape"]),
        ([0.0, np.inf, 2.0], ["inf", "not a label"]),
        ([1, "a", 1], ["types ['int', 'str']", "one type"]),
        ([[1, 2], [3, 4]], ["shape (2, 2)"]),
        ([0, 0, 0], ["only the cluster 0", "Remove it"]),
        ([0, 0, -1], ["only the cluster 0", "1 samples are unassigned", "unassigned=[]"]),
        ([-1, -1, -1], ["no cluster at all"]),
        (["a", "b", "c"], ["3 different labels for 3 samples"]),
        (np.array(["2020", "2021"], dtype="M8[Y]"), ["datetime64"]),
        (np.array([1j, 2]), ["complex"]),
    ],
    ids=str,
)
def test_what_is_no_labelling_is_refused(labels, words):
    with pytest.raises(ValueError, match="View 'v'") as error:
        LabelCoding.of(labels, "v")
    for word in words:
        assert word in str(error.value)


def test_only_text_and_categories_speak_for_themselves():
    for labels in (
        ["a", "b", None],
        np.array(["a", "b"]),
        np.array(["a", None], dtype=object),
        pd.Series(["a", "b"]),
        pd.Series([1, 2], dtype="category"),
        pd.Categorical([1, 2]),
        pl.Series(["a", "b"], dtype=pl.Categorical),
    ):
        assert is_label_view(labels), labels
    for other in (
        [1, 2],
        np.arange(3),
        np.zeros(3),
        np.zeros((3, 1)),
        pd.Series([1.0, 2.0]),
        [[1.0], [2.0]],
        None,
        "ab",
        [],
    ):
        assert not is_label_view(other), other


def test_unassigned_samples_are_those_with_the_code_minus_one():
    for labels, marker in (
        ([1, -1, 2, -7, 1], None),
        ([1, -1, 2, -7, 1], [2, "noise"]),
        (["a", None, "noise", "b", "a"], [2, "noise"]),
        (pd.Series([1.0, np.nan, 3.0, -2.0, 1.0]), None),
    ):
        codes = LabelCoding.of(labels, "v", marker).codes(labels, "v")
        assert unassigned_samples(labels, "v", marker).tolist() == (codes == -1).tolist()
    assert unassigned_samples([1, 1, 1], "v").tolist() == [False] * 3  # one cluster is no coding, but samples have it
