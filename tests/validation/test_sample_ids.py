"""Rows are matched by sample id or refused with the reason; results carry the ids."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import latefusion as lf
from latefusion.validation import match_rows
from latefusion.validation.sample_ids import ids_of, sample_index, spelling_difference

VALUES = np.arange(12.0).reshape(4, 3)
IDS = ["s1", "s2", "s3", "s4"]


def frame(ids=IDS, values=VALUES):
    return pd.DataFrame(values, index=ids, columns=["a", "b", "c"])


def test_equal_indices_need_no_matching():
    matched = match_rows({"x": frame(), "y": VALUES, "z": frame()["a"]})
    assert not matched.rows
    assert list(matched.ids) == IDS


@pytest.mark.parametrize(
    "views",
    [
        {"x": VALUES, "y": pl.DataFrame(VALUES)},
        {"x": pd.DataFrame(VALUES), "y": VALUES},
        {"x": pd.DataFrame(VALUES, index=[0, 1, 2, 3]), "y": pd.DataFrame(VALUES)},
    ],
)
def test_row_numbers_are_not_ids(views):
    assert match_rows(views).ids is None
    assert ids_of(views["x"]) is None


@pytest.mark.parametrize(
    "ids",
    [
        IDS,
        [10, 30, 20, 40],
        pd.date_range("2020", periods=4),
        pd.MultiIndex.from_product([["p", "q"], [1, 2]]),
        pd.Index([0.5, 1.5, 2.5, 3.5]),
    ],
    ids=["text", "integers", "dates", "pairs", "floats"],
)
def test_rows_are_matched_by_id(ids):
    index = frame(ids).index
    matched = match_rows({"x": frame(ids), "y": frame(ids).iloc[[2, 0, 3, 1]], "z": frame(ids).iloc[1:]}, missing=True)
    assert matched.rows["x"].tolist() == [0, 1, 2, 3]
    assert matched.rows["y"].tolist() == [1, 3, 0, 2]
    assert matched.rows["z"].tolist() == [-1, 0, 1, 2]
    assert list(matched.ids) == list(np.asarray(index))


@pytest.mark.parametrize(
    ("views", "words"),
    [
        ({"x": frame(), "y": frame(["s1", "s2", "s2", "s4"])}, ["'y'", "'s2'", "unique", "repeated rows"]),
        ({"x": frame([7, 7, 8, 9])}, ["'x'", "sample id 7 ", "unique"]),
        ({"x": frame(), "y": frame(["s1", "s2", "s3", "q9"])}, ["'y' does not have 1 of the 4", "view 'x'", "'s4'"]),
        ({"x": frame(), "y": frame()[:3]}, ["'y' does not have 1", "'s4'", "Keep the samples"]),
        ({"x": frame()[:3], "y": frame()}, ["'x' does not have 1", "view 'y'", "'s4'"]),
        (
            {"x": pd.DataFrame(VALUES), "y": frame()},
            ["0, 1, 2 and 1 more", "view 'x' contains only row numbers", "sample ids"],
        ),
        (
            {"x": frame(), "y": frame(IDS[::-1]), "z": VALUES, "w": pl.DataFrame(VALUES)},
            ["['x', 'y']", "['z', 'w']", "different orders", "index"],
        ),
    ],
)
def test_ids_that_cannot_be_matched_are_refused(views, words):
    with pytest.raises(ValueError, match=r"\w") as caught:
        match_rows(views)
    assert all(word in str(caught.value) for word in words), caught.value
    assert "reset_index" not in str(caught.value)


SPELLINGS = {
    "numbers against text": (["552", "553", "554", "555"], ".astype(str)"),
    "numbers against text, blanks": ([" 552", "553 ", "554", "555"], ".astype(str).str.strip()"),
    "numbers against text, leading zeros": (["0552", "0553", "0554", "0555"], ".str.replace("),
}


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("difference", SPELLINGS)
def test_ids_in_another_spelling_are_named_with_a_remedy_that_works(difference, missing):
    """`reset_index` is right only where the rows are in the same order."""
    ids, remedy = SPELLINGS[difference]
    first, second = frame([552, 553, 554, 555]), frame(ids)
    for order, advised in (([0, 1, 2, 3], True), ([3, 0, 1, 2], False)):
        with pytest.raises(ValueError, match="written differently") as caught:
            match_rows({"x": first, "y": second.iloc[order]}, missing=missing)
        text = str(caught.value)
        assert f"({difference})" in text
        assert remedy in text
        assert f"552 in view 'x' is {ids[0]!r} in view 'y'" in text
        assert ("reset_index" in text) is advised
    code = text.split("frame.index = ")[1].split(" in each view")[0]
    repaired = [one.set_axis(eval(code, {"frame": one})) for one in (first, second.iloc[[3, 0, 1, 2]])]
    assert match_rows(dict(enumerate(repaired))).rows[1].tolist() == [1, 2, 3, 0]


def test_case_and_zeros_inside_are_spellings_too():
    text = spelling_difference("x", ["P01", "P02"], "y", ["p2", "p1"])
    assert "(leading zeros, upper and lower case): 'P01' in view 'x' is 'p1' in view 'y'" in text


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["a", "b"], ["c", "d"]),
        (["a", "A"], ["b", "B"]),
        (["a1", "A1"], ["a01", "q"]),  # both would become the same sample
        ([("p", 1)], [("P", 1)]),
        ([pd.Timestamp(2020, 1, 1)], ["2020-01-01"]),
    ],
)
def test_other_differences_are_not_called_spelling(first, second):
    assert not spelling_difference("x", first, "y", second)


def test_some_ids_in_another_spelling_are_a_warning():
    with pytest.warns(UserWarning, match=r"counted twice.*'s4' in view 'x' is 'S4' in view 'y'"):
        matched = match_rows({"x": frame(), "y": frame(["s1", "s2", "s3", "S4"])}, missing=True)
    assert len(matched.ids) == 5


def test_few_shared_ids_are_a_warning():
    first, second = lf.datasets.make_views(200, 3, n_views=2, random_state=0).views.arrays
    X = {"a": pd.DataFrame(first, index=range(1000, 1200)), "b": pd.DataFrame(second, index=range(1195, 1395))}
    with pytest.warns(UserWarning, match="in another view as well") as warned:
        lf.GlobalAlignmentClustering(3, random_state=0).fit(X)
    assert [str(one.message).split(" are in")[0] for one in warned] == [
        "Only 5 of the 200 samples of view 'a'",
        "Only 5 of the 200 samples of view 'b'",
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lf.GlobalAlignmentClustering(3, random_state=0).fit({"a": X["a"], "b": X["b"].set_axis(range(1100, 1300))})


def test_the_index_of_results_has_type_and_name_of_the_frames():
    days = pd.date_range("2020", periods=4, name="day")
    index = sample_index([VALUES, frame(days), frame(days[::-1])], np.asarray(days)[[2, 0]])
    pd.testing.assert_index_equal(index, days[[2, 0]], exact=True)
    joined = sample_index([frame(days)[:3], frame(days)[1:]], np.asarray(days))
    assert joined.name == "day"
    assert sample_index([frame(days).rename_axis("x")[:3], frame(days)[1:]], np.asarray(days)).name is None
    assert sample_index([VALUES], None) is None
    assert list(sample_index([frame()], np.array(["q", "s1"]))) == ["q", "s1"]
