"""Columns of one table as views: every way to name them, and what is refused (tests/validation/test_views.py)."""

import numpy as np
import pandas as pd
import pytest

from latefusion.validation import column_groups


@pytest.mark.parametrize(
    ("group", "positions"),
    [
        (slice(1, 3), [1, 2]),
        (slice(None, None, 2), [0, 2]),
        ([0, 3], [0, 3]),
        (np.array([2]), [2]),
        ([-1], [3]),
        (2, [2]),
        ("b", [1]),
        (["d", "a"], [3, 0]),
        (pd.Index(["a", "c"]), [0, 2]),
        ([True, False, True, False], [0, 2]),
        (np.array([False, False, False, True]), [3]),
        (range(2), [0, 1]),
    ],
    ids=str,
)
def test_columns_of_one_table(group, positions):
    assert [one % 4 for one in column_groups({"v": group}, 4, list("abcd"))["v"]] == positions


def test_tables_without_groups_and_groups_without_names():
    assert column_groups(None, 4, None)["view_0"].tolist() == [0, 1, 2, 3]
    groups = column_groups([[0, 1], slice(2, 4)], 4, None)
    assert {name: group.tolist() for name, group in groups.items()} == {"view_0": [0, 1], "view_1": [2, 3]}


def test_names_of_columns_need_not_be_text():
    pairs = [("r", 1), ("r", 2), ("s", 1), ("s", 2)]
    assert column_groups({"v": [("s", 1)]}, 4, pairs)["v"].tolist() == [2]
    assert column_groups({"v": ("s", 1)}, 4, pairs)["v"].tolist() == [2]
    assert column_groups({"v": [0, 3]}, 4, [0, 1, 2, 3])["v"].tolist() == [0, 3]


@pytest.mark.parametrize(
    ("group", "columns", "said"),
    [
        (slice("a", "b"), list("abcd"), "slices must contain positions"),
        ([4], None, "contains the column positions [4], but X has 4 columns"),
        ([True, False], None, "2 booleans"),
        (["a", "e"], list("abcd"), "does not have: ['e']"),
        (["a"], None, "X has no column names"),
        ([1], [1, 0, 2, 3], "names of other columns"),
        ([], None, "has no columns"),
        (3.5, None, "must be a slice"),
    ],
)
def test_what_is_no_group_of_columns(group, columns, said):
    with pytest.raises(ValueError, match="View 'v'") as error:
        column_groups({"v": group}, 4, columns)
    assert said in str(error.value)
