"""Tables as coordinates: kinds are recognized, every column counts alike, nothing depends on names or units."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latefusion.encoding.columns import ISO, Column, column_of
from latefusion.encoding.table_encoding import MOST_LEVELS, OTHER, as_words, fit_table_encoding, unknown_values
from tests.properties import examples

RNG = np.random.default_rng(0)
N = 60
ANIMALS = ["fox", "bear", "owl", "cat", "dog", "mouse", "hare"]
START = datetime.date(2020, 1, 1)


def dates(n_days):
    return [START + datetime.timedelta(days=int(day)) for day in RNG.integers(0, n_days, N)]


KINDS = {
    "number": RNG.standard_normal(N),
    "whole numbers": RNG.integers(0, 5, N),
    "money": [f"${value:,.0f}" for value in RNG.integers(10, 9999, N)],
    "shares": [f"{value} %" for value in RNG.integers(0, 100, N)],
    "gaps": ["?" if row % 5 == 0 else str(row * 7 % 13) for row in range(N)],
    "words": RNG.choice(["north", "south", "east"], N),
    "yes and no": RNG.choice(["yes", "no"], N),
    "dates": dates(900),
    "written dates": [one.strftime("%d.%m.%Y") for one in dates(900)],
    "clock": [f"{hour:02d}:15" for hour in RNG.integers(0, 24, N)],
    "durations": [datetime.timedelta(minutes=int(one)) for one in RNG.integers(1, 500, N)],
    "text": [f"the {ANIMALS[row % 3]} and the {ANIMALS[3 + row % 4]} went home {row}" for row in range(N)],
    "names": [f"Name{row}" for row in range(N)],
    "customer_id": RNG.permutation(N) + 1000,
    "counter": np.arange(N),
    "constant": ["x"] * N,
    "same number": [3.0] * N,
    "empty": [None] * N,
    "nearly empty": [1.0, 2.0] + [None] * (N - 2),
}
EXPECTED = {
    "number": "number", "whole numbers": "number", "money": "number", "shares": "number", "gaps": "number",
    "words": "category", "yes and no": "category", "dates": "date", "written dates": "date", "clock": "duration",
    "durations": "duration", "text": "text", "names": "id", "customer_id": "id", "counter": "id",
    "constant": "constant", "same number": "constant", "empty": "empty", "nearly empty": "empty",
}  # fmt: skip
COLUMNS = {name: column_of(values) for name, values in KINDS.items()}


@pytest.mark.parametrize("name", KINDS)
def test_the_kind_of_a_column_is_recognized(name):
    assert fit_table_encoding({name: COLUMNS[name]}).kinds == {name: EXPECTED[name]}


def test_kinds_are_listed_in_the_order_of_the_columns_and_left_out_ones_have_a_note():
    encoding = fit_table_encoding(COLUMNS)
    assert list(encoding.kinds) == list(KINDS)
    assert encoding.kinds == EXPECTED
    for name, kind in encoding.left_out.items():
        assert any(f"{name!r}" in note and "left out" in note for note in encoding.notes), (name, kind)


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


def test_the_order_of_columns_only_permutes_coordinates():
    columns = {name: COLUMNS[name] for name in ("number", "words", "dates")}
    backwards = dict(reversed(columns.items()))
    forward, reverse = fit_table_encoding(columns), fit_table_encoding(backwards)
    one, other = forward(columns), reverse(backwards)
    for name in columns:
        own = forward.owners == [coding.name for coding in forward.codings].index(name)
        same = reverse.owners == [coding.name for coding in reverse.codings].index(name)
        np.testing.assert_array_equal(one[:, own], other[:, same])


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


def test_unknown_categories_are_missing_and_noted():
    encoding = fit_table_encoding({"c": column_of(["a", "b"] * 10)})
    new = {"c": column_of(["a", "z", None])}
    assert np.isnan(encoding(new)).all(axis=1).tolist() == [False, True, True]
    assert unknown_values(encoding, new) == [
        "Column 'c' has categories that were not in the training samples, such as 'z', in 1 row. They are taken as "
        "missing."
    ]
    numbers = fit_table_encoding({"c": column_of(["$1", "$2", "$3"] * 5)})
    assert unknown_values(numbers, {"c": column_of(["$4", "€4", "many", None])}) == [
        "Column 'c' has values that are not numbers as in the training samples, such as '€4', in 2 rows. They are "
        "taken as missing."
    ]


def test_a_kind_can_be_given():
    zips = column_of(RNG.choice([10115, 20095, 80331], N))
    assert fit_table_encoding({"zip": zips}).kinds == {"zip": "number"}
    encoding = fit_table_encoding({"zip": zips}, {"zip": "category"})
    assert encoding.kinds == {"zip": "category"}
    assert set(encoding.codings[0].levels) == {"10115", "20095", "80331"}
    assert fit_table_encoding(COLUMNS, {"words": "drop"}).kinds["words"] == "drop"
    sizes = column_of(RNG.choice(["S", "M", "L"], N))
    ordered = fit_table_encoding({"size": sizes}, {"size": ["S", "M", "L"]})
    assert ordered.kinds == {"size": "ordered"}
    ranks = ordered({"size": column_of(["S", "M", "L"])}).ravel()
    assert np.diff(ranks)[0] == pytest.approx(np.diff(ranks)[1])
    assert np.diff(ranks)[0] > 0


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


def test_numbers_become_words_as_people_write_them():
    assert as_words(Column(np.array([1.0, np.nan, 12345678.0, 0.5]))).words == ("0.5", "1", "12345678")


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


def test_notes_say_what_is_the_matter():
    def note(values, **wanted):
        return fit_table_encoding({"c": column_of(values)}, wanted).notes

    assert note(["North", "north "] * 5 + ["south"] * 9) == (
        "Column 'c' has categories that differ only by case or blanks, such as 'North' and 'north'. They are taken as "
        "the same.",
    )
    assert note([f"n{row}" for row in range(9)]) == (
        "Column 'c' looks like an id and is left out. To use it, set its kind with column_kinds.",
    )
    assert note([f"n{row}" for row in range(9)], c="category") == (
        "Column 'c' has a different category in every row and is left out.",
    )
    assert note(["x"] * 9) == ("Column 'c' has the same value in all rows and is left out.",)
    assert note([3.0] * 9) == ("Column 'c' has the same value in all rows and is left out.",)
    assert note(["alpha beta", "gamma delta", "eta zeta"], c="text") == (
        "Column 'c' has no words by which its texts differ and is left out.",
    )
    assert note(["x", "y"] * 5, c="drop") == ()
    assert note([None] * 9) == ("Column 'c' has no values and is left out.",)
    assert note([1.0] + [None] * 99) == ("Column 'c' has only 1 value in 100 rows and is left out.",)


def test_unusable_values_are_noted_for_every_column():
    encoding = fit_table_encoding({"n": column_of([1.0, 2.0, 3.5] * 3), "c": column_of(["a", "b", "a"] * 3)})
    assert len(unknown_values(encoding, {"n": column_of([1.0]), "c": column_of(["z"])})) == 1


def test_three_different_numbers_named_as_ids_are_ids():
    assert fit_table_encoding({"row_id": column_of([11, 7, 9])}).kinds == {"row_id": "id"}


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


WRITTEN_YEARS = {
    "years": ([1987, 1999, 2004, None, 2024], "%Y"),
    "years as words": (["1987", "1999", "2004", "?", "2024"], "%Y"),
    "months": ([198701, 199901, 200401, None, 202401], "%Y%m"),
    "days": ([19870101, 19990101, 20040101, None, 20240101], ISO),
    "days as words": (["19870101", "19990101", "20040101", "", "20240101"], ISO),
}


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


def test_new_samples_may_have_words_where_the_training_samples_had_numbers_or_timestamps():
    encoding = fit_table_encoding({"x": column_of([1.0, 2.0, 4.0]), "day": column_of(dates(30)[:3])})
    new = {"x": column_of(["1,5", "2,25", "many"]), "day": column_of(["2024-02-29", "soon", None])}
    numbers, days = (coding.numbers(new[coding.name]) for coding in encoding.codings)
    np.testing.assert_array_equal(numbers, [1.5, 2.25, np.nan])
    np.testing.assert_array_equal(days, [19782, np.nan, np.nan])
    notes = unknown_values(encoding, new)
    assert len(notes) == 2
    assert "'x' has values that are not numbers as in the training samples, such as 'many', in 1 row" in notes[0]
    assert "'day' has values that are not dates as in the training samples, such as 'soon', in 1 row" in notes[1]


def test_an_ordered_column_with_one_of_its_categories_is_constant():
    encoding = fit_table_encoding({"size": column_of(["S", "S", "XS"] * 4)}, {"size": ["S", "M"]})
    assert encoding.kinds == {"size": "constant"}
    assert len(encoding.notes) == 2


@pytest.mark.parametrize(
    ("words", "note"),
    [
        (["1", "2", "more"], "67% of its different values are numbers, but 'more' is not"),
        (["2020-01-01", "2020-01-02", "soon"], "67% of its different values are dates, but 'soon' is not"),
        (["1", "a", "b"], None),
        (["north", "south", "east"], None),
    ],
)
def test_categories_that_are_nearly_numbers_are_noted(words, note):
    encoding = fit_table_encoding({"c": column_of(words * 5)})
    assert encoding.kinds == {"c": "category"}
    assert [f"Column 'c' is taken as category: {note}" in one for one in encoding.notes] == [True] * (note is not None)
    assert fit_table_encoding({"c": column_of(words * 5)}, {"c": "category"}).notes == ()
