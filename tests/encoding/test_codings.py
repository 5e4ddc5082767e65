"""Codings of columns: every column has a variance of one, and nothing depends on names or units."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latefusion.encoding.codings import MOST_LEVELS, OTHER
from latefusion.encoding.columns import ISO, Column, column_of
from latefusion.encoding.table_encoding import fit_table_encoding
from tests.encoding.tables import COLUMNS, EXPECTED, RNG, N, dates
from tests.properties import examples

WRITTEN_YEARS = {
    "years": ([1987, 1999, 2004, None, 2024], "%Y"),
    "years as words": (["1987", "1999", "2004", "?", "2024"], "%Y"),
    "months": ([198701, 199901, 200401, None, 202401], "%Y%m"),
    "days": ([19870101, 19990101, 20040101, None, 20240101], ISO),
    "days as words": (["19870101", "19990101", "20040101", "", "20240101"], ISO),
}


@pytest.mark.parametrize("name", [name for name, kind in EXPECTED.items() if kind not in ("id", "constant", "empty")])
def test_every_column_has_a_variance_of_one(name):
    encoding = fit_table_encoding({name: COLUMNS[name]})
    coordinates = encoding({name: COLUMNS[name]})
    known = ~np.isnan(coordinates).any(axis=1)
    assert coordinates[known].var(axis=0).sum() == pytest.approx(1.0, rel=0.02)
    assert len(encoding.owners) == coordinates.shape[1]


@examples(25)
@given(st.integers(2, 40), st.integers(0, 1000))
def test_a_category_with_many_values_is_one_column(n_levels, seed):
    words = [f"level {one}" for one in np.random.default_rng(seed).integers(0, n_levels, 400)]
    coordinates = fit_table_encoding({"c": column_of(words)})({"c": column_of(words)})
    if len(set(words)) > 1:
        assert coordinates.var(axis=0).sum() == pytest.approx(1.0)


@examples(25)
@given(st.permutations(["red", "green", "blue"]), st.integers(0, 100))
def test_names_of_categories_do_not_matter(names, seed):
    codes = np.random.default_rng(seed).integers(0, 3, 30)
    first, second = (column_of(np.array(own)[codes]) for own in (["red", "green", "blue"], names))
    np.testing.assert_array_equal(
        fit_table_encoding({"c": first}, {"c": "category"})({"c": first}),
        fit_table_encoding({"c": second}, {"c": "category"})({"c": second}),
    )


@examples(25)
@given(st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
def test_units_do_not_matter(scale, shift):
    values = np.random.default_rng(0).standard_normal(50)
    first, second = column_of(values), column_of(values * scale + shift)
    np.testing.assert_allclose(
        fit_table_encoding({"x": first})({"x": first}), fit_table_encoding({"x": second})({"x": second}), atol=1e-6
    )


def test_categories_that_differ_by_case_and_blanks_are_one():
    column = column_of(["North", "north ", "SOUTH", "south", "north"] * 4)
    encoding = fit_table_encoding({"region": column})
    assert encoding.codings[0].levels == ("north", "SOUTH")
    assert "differ only by case or blanks" in encoding.notes[0]


def test_rare_categories_share_one_place():
    words = ["a"] * 50 + ["b"] * 40 + [f"rare {one}" for one in range(10)]
    encoding = fit_table_encoding({"c": column_of(words)})
    assert encoding.codings[0].levels == ("a", "b", OTHER)
    new = encoding.codings[0].positions(column_of(["a", "never seen", None]))
    assert new.tolist() == [0, 2, -1]
    many = [f"w{one}" for one in range(1000) for _ in range(3)]
    assert len(fit_table_encoding({"c": column_of(many)}).codings[0].levels) == MOST_LEVELS + 1


def test_ordered_categories_keep_their_order():
    column = Column(np.array([0, 1, 2] * 5), ("low", "middle", "high"), ordered=True, categories=True)
    encoding = fit_table_encoding({"c": column})
    assert encoding.kinds == {"c": "ordered"}
    np.testing.assert_allclose(encoding({"c": column})[:3, 0], [-(1.5**0.5), 0.0, 1.5**0.5])


def test_the_order_of_categories_must_be_known():
    with pytest.raises(
        ValueError, match=r"Column 'size' was declared as ordered.*column_kinds=\{'size': \['L', 'M', 'S'\]\}"
    ):
        fit_table_encoding({"size": column_of(["S", "M", "L"] * 5)}, {"size": "ordered"})


@pytest.mark.parametrize("kind", ["number", "date", "duration"])
def test_a_kind_that_the_values_contradict_is_refused(kind):
    with pytest.raises(ValueError, match=f"Column 'c' was declared as {kind}, but 'north' is not a {kind}"):
        fit_table_encoding({"c": column_of(["north", "south"] * 5)}, {"c": kind})


def test_some_words_among_numbers_are_missing_and_noted():
    column = column_of([str(one) for one in range(20, 39)] + ["unknown"])
    encoding = fit_table_encoding({"age": column})
    assert encoding.kinds == {"age": "number"}
    assert encoding.notes == (
        "Column 'age' contains numbers, but also 1 other word, such as 'unknown', in 1 row. They are taken as missing.",
    )


def test_dates_have_a_season_if_they_span_a_year():
    assert fit_table_encoding({"d": column_of(dates(900))}).codings[0].parts == ("trend", "season")
    assert fit_table_encoding({"d": column_of(dates(90))}).codings[0].parts == ("trend",)
    clock = [datetime.datetime(2020, 1, 1 + row % 20, row % 24) for row in range(N)]
    assert fit_table_encoding({"d": column_of(clock)}).codings[0].parts == ("trend", "time of day")


def test_durations_are_seconds_and_dates_days():
    durations = column_of([datetime.timedelta(minutes=1), datetime.timedelta(days=1), None])
    coding = fit_table_encoding({"d": durations}, {"d": "duration"}).codings[0]
    np.testing.assert_array_equal(coding.numbers(durations), [60.0, 86_400.0, np.nan])
    days = column_of([datetime.date(1970, 1, 2), datetime.datetime(1970, 1, 3, 12)])
    np.testing.assert_array_equal(fit_table_encoding({"d": days}).codings[0].numbers(days), [1.0, 2.5])


def test_the_season_repeats_every_year():
    coding = fit_table_encoding({"d": column_of(dates(900))}).codings[0]
    spring, again, autumn = coding(
        column_of([datetime.date(year, month, 1) for year, month in ((2020, 3), (2021, 3), (2020, 9))])
    )
    np.testing.assert_allclose(spring[1:], again[1:], atol=0.05)
    assert np.linalg.norm(spring[1:] - autumn[1:]) > 1


def test_new_numbers_must_have_the_unit_of_the_training():
    coding = fit_table_encoding({"c": column_of(["$1", "$2", "$3"] * 5)}).codings[0]
    assert np.isnan(coding(column_of(["€4", "€5"]))).all()


def test_a_single_rare_category_is_not_lost():
    assert fit_table_encoding({"c": column_of(["a"] * 5 + ["b"] * 4 + ["once"])}).codings[0].levels == ("a", "b", OTHER)


def test_ranks_with_a_variance_of_one_are_used():
    coding = fit_table_encoding({"c": column_of(["low"] * 5 + ["high"] * 5)}, {"c": ["low", "middle", "high"]}).codings[
        0
    ]
    np.testing.assert_allclose(coding(column_of(["low", "middle", "high"])).ravel(), [-1, 0, 1])


def test_new_samples_are_read_with_the_decimal_sign_of_the_training_samples():
    encoding = fit_table_encoding({"price": column_of(["3,5 €", "1.200,50 €", "7 €"])})
    assert encoding.notes == ()
    (coding,) = encoding.codings
    np.testing.assert_array_equal(coding.numbers(column_of(["1,234 €"])), [1.234])
    np.testing.assert_array_equal(coding.numbers(column_of(["1,234 €", "1,234.5 €"])), [1.234, np.nan])


def test_a_note_says_what_was_assumed_for_ambiguous_numbers():
    words = [f"{row},{100 + row} €" for row in range(1, 9)]
    (note,) = fit_table_encoding({"price": column_of(words)}).notes
    assert "'price' has numbers such as '1,101 €', in which ',' may be a decimal sign or separate thousands" in note
    assert "It is taken to separate thousands. If this is wrong, read the file with decimal=','" in note
    (note,) = fit_table_encoding({"price": column_of([word.replace(",", ".") for word in words])}).notes
    assert "It is taken as the decimal sign. If this is wrong, read the file with decimal=','" in note
    known = column_of(words)._replace(decimal=",")
    encoding = fit_table_encoding({"price": known})
    assert encoding.notes == ()
    np.testing.assert_allclose(encoding.codings[0].numbers(known)[:2], [1.101, 2.102])


def test_declared_kinds_name_values_that_are_taken_as_missing():
    column = column_of(["3", "4", "5", "6", "many"])
    for wanted in (None, {"x": "number"}):
        (note,) = fit_table_encoding({"x": column}, wanted).notes
        assert "'x' contains numbers, but also 1 other word, such as 'many', in 1 row" in note


@pytest.mark.parametrize("case", WRITTEN_YEARS)
def test_numbers_are_dates_if_the_user_says_so(case):
    values, form = WRITTEN_YEARS[case]
    column = column_of(values)
    assert fit_table_encoding({"when": column}).kinds == {"when": "number"}
    encoding = fit_table_encoding({"when": column}, {"when": "date"})
    (coding,) = encoding.codings
    assert (coding.kind, coding.how, coding.parts) == ("date", form, ("trend",))
    assert encoding.notes == ()
    expected = [(datetime.date(year, 1, 1) - datetime.date(1970, 1, 1)).days for year in (1987, 1999, 2004, 2024)]
    np.testing.assert_array_equal(coding.numbers(column), [*expected[:3], np.nan, expected[3]])
    np.testing.assert_array_equal(coding.numbers(column.take(np.array([4]))), expected[3:])


def test_years_as_numbers_and_as_dates_have_the_same_coordinates():
    years = column_of(RNG.integers(1987, 2025, N).tolist())
    number, date = (fit_table_encoding({"year": years}, {"year": kind}) for kind in ("number", "date"))
    np.testing.assert_allclose(number({"year": years}), date({"year": years}), atol=2e-3)


@pytest.mark.parametrize("values", [[3, 5, 8], [1.5, 2.5, 3.5], [99999999, 88888888, 77777777]])
def test_other_numbers_are_not_dates(values):
    with pytest.raises(ValueError, match=r"'x' was declared as date, but '.+' is not a date, and only 0%"):
        fit_table_encoding({"x": column_of(values)}, {"x": "date"})


def test_dates_on_the_same_day_of_every_year_have_no_season():
    yearly = column_of([datetime.date(year, 6, 30) for year in range(2000, 2020)])
    assert fit_table_encoding({"day": yearly}).codings[0].parts == ("trend",)
    quarterly = column_of([datetime.date(year, month, 1) for year in range(2000, 2010) for month in (1, 4, 7, 10)])
    assert fit_table_encoding({"day": quarterly}).codings[0].parts == ("trend", "season")


def test_an_ordered_column_with_one_of_its_categories_is_constant():
    encoding = fit_table_encoding({"size": column_of(["S", "S", "XS"] * 4)}, {"size": ["S", "M"]})
    assert encoding.kinds == {"size": "constant"}
    assert len(encoding.notes) == 2
