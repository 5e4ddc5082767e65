"""Columns out of any objects, and words that are numbers, dates or durations."""

import datetime
import time
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latefusion.encoding.columns import (
    ISO,
    Column,
    NotAValue,
    as_words,
    column_of,
    parse_dates,
    parse_durations,
    parse_numbers,
)
from tests.properties import examples

DAY = datetime.date(2024, 2, 29)


def test_numbers_of_all_types_are_numbers():
    column = column_of([1, 2.5, True, Decimal("0.5"), np.int8(3), None, float("nan")])
    assert column.words is None
    np.testing.assert_array_equal(column.values, [1, 2.5, 1, 0.5, 3, np.nan, np.nan])
    assert column.missing.tolist() == [False] * 5 + [True] * 2


def test_dates_and_durations_keep_their_type():
    dates = column_of([DAY, None, datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.UTC)])
    assert dates.values.dtype.kind == "M"
    assert str(dates.values[2]) == "2024-02-29T12:00:00.000000"
    assert dates.missing.tolist() == [False, True, False]
    assert column_of([datetime.timedelta(hours=1), None]).values.dtype.kind == "m"


@pytest.mark.parametrize("marker", ["", "NA", "n/a", "NaN", "null", "-", "?", ".", "#N/A", " "])
def test_markers_of_missing_values_are_no_words(marker):
    column = column_of(["a", marker, "b", "a"])
    assert column.words == ("a", "b")
    assert column.values.tolist() == [0, -1, 1, 0]


def test_values_of_several_types_are_words():
    column = column_of([1, "1", 1.0, 2.5, "x", DAY])
    assert column.words == ("1", "2.5", "x", "2024-02-29")
    assert column.values.tolist() == [0, 0, 0, 1, 2, 3]


@pytest.mark.parametrize("value", [[1, 2], {"a": 1}, {1}, np.zeros(2), object(), b"x"[0:0].__class__])
def test_objects_that_are_no_values_are_named_with_their_row(value):
    with pytest.raises(NotAValue) as caught:
        column_of(["a", value])
    assert caught.value.row == 1


def test_a_column_without_values_is_a_column_of_missing_numbers():
    column = column_of([None, None])
    assert column.words is None
    assert column.missing.all()


@examples(25)
@given(st.lists(st.one_of(st.none(), st.text(), st.integers(), st.floats(), st.booleans(), st.dates()), max_size=20))
def test_any_mixture_of_values_is_a_column(values):
    column = column_of(values)
    assert len(column.values) == len(values)
    if column.words is not None:
        assert len(set(column.words)) == len(column.words)
        assert column.values.max(initial=-1) < len(column.words)
        assert column.counts().sum() == np.sum(~column.missing)


NUMBERS = {
    "plain": (["1", "-2.5", "1e3"], [1, -2.5, 1000], ""),
    "percent": (["12 %", "7,5%", "100%"], [12, 7.5, 100], "%"),
    "currency": (["$1,200.50", "$80", "$-3"], [1200.5, 80, -3], "$"),
    "euro": (["1.200,50 €", "80 €", "7,25 €"], [1200.5, 80, 7.25], "€"),
    "thousands": (["1,200", "3,400,000", "5"], [1200, 3400000, 5], ""),
    "thousands by apostrophes": (["1'200", "3'400'000"], [1200, 3400000], ""),
    "decimal comma": (["1,5", "2,25"], [1.5, 2.25], ""),
    "units": (["70 kg", "81.5 kg", "90kg"], [70, 81.5, 90], "kg"),
    "some without unit": (["5 mg", "7"], [5, 7], "mg"),
    "words among them": (["3", "many", "4"], [3, np.nan, 4], ""),
    "codes": (["A12", "B34", "C56"], [np.nan, np.nan, np.nan], ""),
    "other units": (["5 kg", "300 g", "6 kg"], [5, np.nan, 6], "kg"),
    "one comma shows the sign of all": (["1,234 €", "3,5 €", "1.234,50 €"], [1.234, 3.5, 1234.5], "€"),
    "another sign among them": (["3,5 %", "4,5 %", "1.234,5 %", "6.5 %"], [3.5, 4.5, 1234.5, np.nan], "%"),
    "groups of two": (["Rs 1,00,000", "Rs 12,34,567"], [100000, 1234567], "Rs"),
    "no groups": (["1,2,3", "1.2.3", "12,34.5", "4"], [np.nan, np.nan, np.nan, 4], ""),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_words_that_are_numbers(kind):
    words, expected, unit = NUMBERS[kind]
    parsed = parse_numbers(words)
    np.testing.assert_array_equal(parsed.values, expected)
    assert parsed.how == unit
    assert parsed.ambiguous == ""
    np.testing.assert_array_equal(parse_numbers(words, parsed.how, parsed.decimal).values, expected)


AMOUNTS = st.tuples(st.integers(-(10**9), 10**9), st.integers(0, 3), st.booleans())


def written(amount, decimal):
    """A number of thousandths with a decimal sign, with or without separators of thousands."""
    thousandths, digits, grouped = amount
    text = f"{thousandths / 1000:{',' * grouped}.{digits}f} €"
    return text if decimal == "." else text.translate(str.maketrans(".,", ",."))


@examples(100)
@given(st.lists(AMOUNTS, min_size=1, max_size=8), st.sampled_from(".,"))
def test_a_column_has_one_decimal_sign(amounts, decimal):
    words = [written(amount, decimal) for amount in amounts]
    expected = [round(float(f"{thousandths / 1000:.{digits}f}"), 3) for thousandths, digits, _ in amounts]
    with_sign = parse_numbers(words, decimal=decimal)
    np.testing.assert_allclose(with_sign.values, expected)
    alone = np.concatenate([parse_numbers([word], with_sign.how, decimal).values for word in words])
    np.testing.assert_array_equal(alone, with_sign.values)
    of_file = parse_numbers(words, assumed=decimal)
    assert of_file.ambiguous == ""
    if any({".", ","} <= set(word) for word in words):  # a word with both signs shows which is the decimal sign
        np.testing.assert_array_equal(parse_numbers(words).values, with_sign.values)


@pytest.mark.parametrize(
    ("words", "ambiguous"),
    [
        (["1,234 €", "2,500 €"], "1,234 €"),
        (["7 kg", "1.234 kg"], "1.234 kg"),
        (["1,234 €", "999.5 €"], ""),
        (["1,234 €", "0,5 €"], ""),
        (["1,234,567"], ""),
        (["1,234 €", "502 €"], ""),
        (["1,234 €", "502 €", "1995 €"], "1,234 €"),
        (["12", "7"], ""),
    ],
)
def test_ambiguous_numbers_are_named_unless_the_file_shows_its_sign(words, ambiguous):
    assert parse_numbers(words).ambiguous == ambiguous
    assert parse_numbers(words, assumed=",").ambiguous == ""
    assert parse_numbers(["1,234 €"], assumed=",").values.tolist() == [1.234]
    assert parse_numbers(["1,234 €"]).values.tolist() == [1234]


def test_values_of_a_column_overrule_the_sign_of_the_file():
    assert parse_numbers(["3,5 %", "1,234 %"], assumed=".").values.tolist() == [3.5, 1.234]


@examples(25)
@given(st.lists(st.floats(-1e9, 1e9).map(lambda x: round(x, 2)), min_size=1, max_size=10))
def test_written_numbers_are_read_again(values):
    np.testing.assert_allclose(parse_numbers([f"${value:,.2f}" for value in values]).values, values)
    np.testing.assert_allclose(parse_numbers([repr(value) for value in values]).values, values)


DATES = {
    "ISO": (["2024-02-29", "2023-01-01"], ISO),
    "ISO with time and zone": (["2024-02-29T12:00:00Z", "2024-03-01T00:00:00+01:00"], ISO),
    "points": (["29.02.2024", "01.03.2024"], "%d.%m.%Y"),
    "days first": (["29/02/2024", "01/03/2024"], "%d/%m/%Y"),
    "months first": (["02/29/2024", "03/01/2024"], "%m/%d/%Y"),
    "months by name": (["29 Feb 2024", "1 Mar 2024"], "%d %b %Y"),
    "with a clock": (["29.02.2024 13:45", "01.03.2024 08:00"], "%d.%m.%Y %H:%M"),
}


@pytest.mark.parametrize("kind", DATES)
def test_words_that_are_dates(kind):
    words, form = DATES[kind]
    parsed = parse_dates(words)
    assert parsed.how == form
    assert parsed.share == 1.0
    first = (datetime.date(2024, 2, 29) - datetime.date(1970, 1, 1)).days
    assert int(parsed.values[0]) == first


@pytest.mark.parametrize("words", [["12", "2024"], ["a b", "c"], ["1.5", "2.5"], ["31.02.2024", "99.99.2024"], []])
def test_words_that_are_no_dates(words):
    assert parse_dates(words).share == 0.0


def test_ambiguous_days_and_months_follow_the_sign():
    assert parse_dates(["03/04/2024"]).how == "%m/%d/%Y"
    assert parse_dates(["03.04.2024"]).how == "%d.%m.%Y"


def test_clocks_are_durations():
    np.testing.assert_array_equal(parse_durations(["01:30", "00:00:15", "noon"]).values, [5400, 15, np.nan])


def test_lookup_hides_missing_values():
    column = Column(np.array([1, -1, 0]), ("a", "b"))
    np.testing.assert_array_equal(column.lookup(np.array([10.0, 20.0])), [20, np.nan, 10])
    assert column.lookup(np.array([5, 6]), -1).tolist() == [6, -1, 5]
    assert column.hidden(np.array([True, False, False])).values.tolist() == [-1, -1, 0]
    assert column.without("b").values.tolist() == [-1, -1, 0]
    assert Column(np.array([1.0, 9.0])).without(9).missing.tolist() == [False, True]


def test_missing_values_of_pandas_are_missing():
    words = column_of([pd.NA, "a", pd.NaT])
    assert words.values.tolist() == [-1, 0, -1]
    dates = column_of([pd.NaT, DAY])
    assert dates.values.dtype.kind == "M"
    assert dates.missing.tolist() == [True, False]
    assert column_of([pd.NaT, datetime.timedelta(1)]).missing.tolist() == [True, False]


def test_a_marker_that_does_not_occur_changes_nothing():
    words = Column(np.array([1, 0]), ("a", "b"))
    assert words.without("c").values.tolist() == [1, 0]
    dates = column_of([DAY, DAY])
    assert dates.without(0) is dates
    assert Column(np.array([1.0])).without("1").values.tolist() == [1.0]


def test_times_of_other_zones_are_times_of_utc(monkeypatch):
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        noon, evening = parse_dates(["2024-01-01T12:00:00+00:00", "2024-01-01T12:00:00-06:00"]).values % 1
    finally:
        monkeypatch.undo()
        time.tzset()
    assert (noon, evening) == (0.5, 0.75)


def test_hidden_dates_are_missing():
    dates = column_of([DAY, DAY]).hidden(np.array([True, False]))
    assert dates.missing.tolist() == [True, False]


@examples(60)
@given(
    st.lists(st.sampled_from(["a", "b", "7", "-999"]), min_size=1, max_size=9), st.sampled_from(["a", -999, -999.0, 7])
)
def test_a_word_that_marks_missing_values_is_like_an_empty_cell(words, marker):
    written = "-999" if marker == -999 else str(marker)
    empty = column_of([*(None if word == written else word for word in words), "other"])
    marked = column_of([*words, "other"]).without(marker)
    assert marked.words == empty.words
    assert marked.values.tolist() == empty.values.tolist()


def test_numbers_become_words_as_people_write_them():
    assert as_words(Column(np.array([1.0, np.nan, 12345678.0, 0.5]))).words == ("0.5", "1", "12345678")
