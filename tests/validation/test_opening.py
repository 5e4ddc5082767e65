"""Containers of views: one table is divided by groups of columns, patterns or kinds."""

import numpy as np
import pandas as pd
import pytest

from latefusion.validation import InputRules
from latefusion.validation.opening import open_input, parts

N = 30
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "age": RNG.normal(40, 9, N),
        "region": RNG.choice(["north", "south"], N),
        "since": pd.date_range("2020-01-01", periods=N),
        "spend_food": RNG.normal(size=N),
        "spend_fun": RNG.normal(size=N),
        "note": [
            f"the customer asked about {RNG.choice(['prices', 'returns', 'gifts'])} number {row}" for row in range(N)
        ],
    },
    index=[f"c{row}" for row in range(N)],
)


def test_columns_are_grouped_by_kind():
    given = open_input(TABLE, InputRules("Any", views="auto"))
    assert {name: list(view.columns) for name, view in given.views.items()} == {
        "numbers": ["age", "spend_food", "spend_fun"],
        "categories": ["region"],
        "dates": ["since"],
        "note": ["note"],
    }
    assert given.table_width == 6


def test_given_kinds_change_the_groups():
    rules = InputRules("Any", views="auto", column_kinds={"note": "drop", "since": "drop"})
    assert {name: list(view.columns) for name, view in open_input(TABLE, rules).views.items()} == {
        "categories": ["region"],
        "numbers": ["age", "spend_food", "spend_fun"],
    }


def test_a_pattern_stands_for_all_columns_that_match():
    rules = InputRules("Any", views={"people": ["age", "region"], "spending": ["spend_*"]})
    given = open_input(TABLE, rules)
    assert list(given.views["spending"].columns) == ["spend_food", "spend_fun"]
    numbers = open_input(TABLE[["age", "spend_food", "spend_fun"]], InputRules("Any", views={"s": ["spend_*"]}))
    np.testing.assert_array_equal(numbers.views["s"], TABLE[["spend_food", "spend_fun"]])
    with pytest.raises(ValueError, match=r"does not have: \['earn_\*'\]"):
        open_input(TABLE, InputRules("Any", views={"s": ["earn_*"]}))


def test_one_array_of_numbers_is_one_automatic_view():
    given = open_input(np.ones((3, 2)), InputRules("Any", views="auto"))
    assert list(given.views) == ["view_0"]


def test_parts_of_any_input():
    assert len(parts([np.ones((3, 2)), np.ones((3, 1))])) == 2
    assert parts(TABLE)[0] is TABLE
