"""Tables as coordinates: columns are used, or left out with a reason."""

import numpy as np
import pytest

from latefusion.encoding.columns import column_of
from latefusion.encoding.table_encoding import fit_table_encoding, unknown_values
from tests.encoding.tables import COLUMNS, EXPECTED, KINDS, RNG, N, dates


def test_kinds_are_listed_in_the_order_of_the_columns_and_left_out_ones_have_a_note():
    encoding = fit_table_encoding(COLUMNS)
    assert list(encoding.kinds) == list(KINDS)
    assert encoding.kinds == EXPECTED
    for name, kind in encoding.left_out.items():
        assert any(f"{name!r}" in note and "left out" in note for note in encoding.notes), (name, kind)


def test_the_order_of_columns_only_permutes_coordinates():
    columns = {name: COLUMNS[name] for name in ("number", "words", "dates")}
    backwards = dict(reversed(columns.items()))
    forward, reverse = fit_table_encoding(columns), fit_table_encoding(backwards)
    one, other = forward(columns), reverse(backwards)
    for name in columns:
        own = forward.owners == [coding.name for coding in forward.codings].index(name)
        same = reverse.owners == [coding.name for coding in reverse.codings].index(name)
        np.testing.assert_array_equal(one[:, own], other[:, same])


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
