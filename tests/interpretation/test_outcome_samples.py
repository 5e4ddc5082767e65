"""Matching of ids: nothing is lost without a note, and wrong ids are named on both sides."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from latefusion.encoding.columns import as_words
from latefusion.interpretation.outcome_samples import match_table

IDS = [f"TCGA-{number:02d}" for number in range(6)]


def values_of(matched, name="age"):
    return matched.columns[name].values.tolist()


@pytest.fixture
def frame():
    return pd.DataFrame({"patient": IDS[::-1], "age": [5.0, 4.0, 3.0, 2.0, 1.0, 0.0]})


def test_ids_in_a_column_in_the_index_and_in_polars_give_the_same(frame):
    as_index, as_polars = frame.set_index("patient"), pl.from_pandas(frame)
    for table in (frame, as_index, as_polars, frame[["age", "patient"]]):
        matched = match_table(table, IDS, 6)
        assert values_of(matched) == [0, 1, 2, 3, 4, 5]
        assert list(matched.columns) == ["age"]
        assert matched.present.all()
        assert not matched.notes


def test_numbers_and_words_are_the_same_ids():
    frame = pd.DataFrame({"id": ["3", "1", "2"], "age": [30.0, 10.0, 20.0]})
    assert values_of(match_table(frame, np.array([1.0, 2.0, 3.0]), 3)) == [10, 20, 30]


def test_the_column_with_most_ids_in_common_is_taken():
    frame = pd.DataFrame({"nr": ["1", "2", "3"], "barcode": ["b", "c", "a"], "id": ["a", "x", "y"]})
    matched = match_table(frame, ["a", "b", "c"], 3)
    assert list(matched.columns) == ["nr", "id"]
    words = as_words(matched.columns["nr"])
    assert [words.words[code] for code in words.values] == ["3", "1", "2"]


def test_partial_overlap_is_counted_on_both_sides(frame):
    frame["patient"] = [*IDS[:3], "X1", "X2", None]
    matched = match_table(frame, IDS, 6)
    assert matched.present.tolist() == [True] * 3 + [False] * 3
    np.testing.assert_array_equal(np.isnan(matched.columns["age"].values), ~matched.present)
    assert matched.notes == (
        "Left out of all tests: 3 of 6 samples, which are not in the outcome table ('TCGA-03', 'TCGA-04', 'TCGA-05').",
        "Not used: 2 of 6 rows of the outcome table, which belong to no sample ('X1', 'X2').",
        "Not used: 1 of 6 rows of the outcome table, which have no id in column 'patient'.",
    )


@pytest.mark.parametrize(
    ("change", "hint"),
    [
        (
            str.lower,
            "6 ids differ only in upper and lower case, such as 'tcga-00' and 'TCGA-00'. Write them in the same",
        ),
        (lambda one: one.replace("-", "."), "6 ids differ only in points, hyphens"),
        (lambda one: f"{one}-01A", "The first 7 characters of 6 ids are equal. Cut the longer ids to this length."),
        (lambda one: f"patient {one[-1]}", "Write the ids in the same way."),
    ],
)
def test_without_overlap_both_sides_and_the_difference_are_named(change, hint, frame):
    frame["patient"] = [change(one) for one in IDS]
    with pytest.raises(ValueError, match="no sample id in common") as error:
        match_table(frame, IDS, 6)
    assert "Its column 'patient' has ids like" in str(error.value)
    assert "the samples are 'TCGA-00', 'TCGA-01', 'TCGA-02' and 3 more" in str(error.value)
    assert hint in str(error.value)


def test_repeated_ids_are_refused(frame):
    frame.loc[1, "patient"] = IDS[0]
    with pytest.raises(ValueError, match="sample id 'TCGA-00' 2 times in column 'patient'"):
        match_table(frame, IDS, 6)
    with pytest.raises(ValueError, match="2 times in its index"):
        match_table(frame.set_index("patient"), IDS, 6)
    frame["patient"] = [*IDS[:2], *IDS[:2], *IDS[:2]]
    with pytest.raises(ValueError, match="in column 'patient', and 1 other id more than once"):
        match_table(frame, IDS, 6)


def test_a_table_without_ids_is_refused_for_samples_with_ids():
    with pytest.raises(ValueError, match=r"no column of ids \(its columns are 'empty', 'age'\).*such as 'TCGA-00'"):
        match_table(pd.DataFrame({"empty": [np.nan, np.nan], "age": [1.0, 2.0]}), IDS, 6)


@pytest.mark.parametrize("first", [[414.79, 3.5, 2.25], [414, 3, 2], ["Dead", "Alive", "Alive"], ["1.5", "2", "3"]])
def test_values_are_not_called_ids(first):
    """A frame with the default index has none; its first column is not a candidate, whatever it contains."""
    with pytest.raises(ValueError, match=r"has no column of ids \(its columns are 'time', 'sex'\)") as error:
        match_table(pd.DataFrame({"time": first, "sex": ["f", "f", "m"]}), ["p0", "p1", "p2"], 3)
    assert "Add a column of ids, set them as its index, or give a dict of arrays" in str(error.value)
    with pytest.raises(ValueError, match="Its column 'nr' has ids like '7', '8', '9'"):
        match_table(pd.DataFrame({"nr": [7, 8, 9]}), ["1", "2", "3"], 3)


def test_a_single_column_may_be_a_series_or_an_array():
    age = pd.Series([2.0, 0.0, 1.0], index=["c", "a", "b"], name="age")
    assert values_of(match_table(age, ["a", "b", "c"], 3)) == [0, 1, 2]
    assert values_of(match_table([5, 6, 7], ["a", "b", "c"], 3), "values") == [5, 6, 7]
    with pytest.raises(ValueError, match=r"^The outcome table has 2 values for 3 samples\. Give one per sample\.$"):
        match_table([5, 6], ["a", "b", "c"], 3)


def test_samples_without_ids_are_matched_by_order_with_a_note(frame):
    matched = match_table(frame, None, 6)
    assert values_of(matched) == [5, 4, 3, 2, 1, 0]
    assert matched.notes == ("The samples have no ids. The 6 rows of the outcome table are matched by their order.",)
    assert matched.names[2] == "row 2"
    with pytest.raises(ValueError, match="6 rows for 5 samples, and the samples have no ids"):
        match_table(frame, None, 5)


def test_arrays_are_in_the_order_of_the_samples():
    matched = match_table({"age": np.arange(3.0), "sex": ["f", None, "m"]}, ["a", "b", "c"], 3)
    assert values_of(matched) == [0, 1, 2]
    assert matched.columns["sex"].missing.tolist() == [False, True, False]
    assert matched.names[1] == "sample 'b'"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"age": [1, 2]}, r"one value per sample \(3\), but column 'age' has 2 values"),
        ({}, "it has no columns"),
        (np.zeros((3, 2)), "must be a data frame or series with sample ids, or a dict of arrays.*got ndarray"),
        (pd.DataFrame({"id": []}), "has 0 rows and 1 columns. Give one row per sample"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "several columns of the same name"),
        (
            pd.DataFrame({"id": ["a"], "x": [[1]]}),
            r"list in row 0, column 'x': \[1\].* Split the column, or remove it\.$",
        ),
    ],
)
def test_other_tables_are_refused(table, message):
    with pytest.raises(ValueError, match=message):
        match_table(table, ["a", "b", "c"], 3)


def test_series_with_ids_are_brought_into_the_order_of_the_samples():
    """Equal lengths are not equal orders."""
    age = pd.Series([2.0, 0.0, 1.0], index=["c", "a", "b"])
    matched = match_table({"age": age, "rank": age.to_numpy(), "some": age[:2]}, ["a", "b", "c"], 3)
    assert values_of(matched) == [0, 1, 2]
    assert values_of(matched, "rank") == [2, 0, 1]
    assert matched.columns["some"].missing.tolist() == [False, True, False]
    assert values_of(match_table({"age": age}, None, 3)) == [2, 0, 1]
    with pytest.raises(ValueError, match="Column 'age' of the outcome table has no sample id in common"):
        match_table({"age": age.rename(str.upper)}, ["a", "b", "c"], 3)
    with pytest.raises(ValueError, match="Column 'age' of the outcome table has repeated sample ids"):
        match_table({"age": pd.concat([age, age])}, ["a", "b", "c"], 3)


@pytest.mark.parametrize("unit", ["ns", "us", "s"])
def test_dates_and_durations_in_arrays_are_those_of_frames(unit):
    days, waits = pd.to_datetime(["2020-01-01", None, "2021-06-01"]), pd.to_timedelta([90, 3600, None], unit="s")
    table = {"day": days.to_numpy().astype(f"M8[{unit}]"), "wait": waits.to_numpy().astype(f"m8[{unit}]")}
    frame = pd.DataFrame({"id": ["a", "b", "c"], **table})
    arrays, expected = (match_table(one, ["a", "b", "c"], 3).columns for one in (table, frame))
    for name, kind in (("day", "M"), ("wait", "m")):
        assert arrays[name].values.dtype.kind == expected[name].values.dtype.kind == kind
        np.testing.assert_array_equal(arrays[name].values, expected[name].values)
