"""Kinds of columns are recognized from their values."""

import pytest

from latefusion.encoding.columns import column_of
from latefusion.encoding.table_encoding import fit_table_encoding
from tests.encoding.tables import COLUMNS, EXPECTED, KINDS


@pytest.mark.parametrize("name", KINDS)
def test_the_kind_of_a_column_is_recognized(name):
    assert fit_table_encoding({name: COLUMNS[name]}).kinds == {name: EXPECTED[name]}


def test_three_different_numbers_named_as_ids_are_ids():
    assert fit_table_encoding({"row_id": column_of([11, 7, 9])}).kinds == {"row_id": "id"}


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
