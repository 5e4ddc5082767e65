"""`read_views`: one pure function from any input to checked views, for training samples and new ones."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from latefusion.types import Views
from latefusion.validation import InputRules, read_views

RNG = np.random.default_rng(0)
A, B = RNG.standard_normal((12, 3)), RNG.standard_normal((12, 2))
RULES = InputRules("Any", n_clusters=2)
INPUTS = {
    "dict": {"a": A, "b": B},
    "views": Views({"a": A, "b": B}),
    "pandas": {"a": pd.DataFrame(A), "b": pd.DataFrame(B)},
    "polars": {"a": pl.DataFrame(A), "b": pl.DataFrame(B)},
    "sparse": {"a": sp.csr_array(A), "b": sp.csr_matrix(B)},
}


def dense(array):
    return array.toarray() if sp.issparse(array) else np.asarray(array)


@pytest.mark.parametrize("kind", INPUTS)
def test_every_container_gives_the_same_views(kind):
    views, schema = read_views(INPUTS[kind], RULES)
    assert schema.names == views.names == ("a", "b")
    assert schema.widths == (3, 2)
    assert schema.n_samples == 12
    for array, expected in zip(views.arrays, (A, B), strict=True):
        np.testing.assert_array_equal(dense(array), expected)


@pytest.mark.parametrize("kind", INPUTS)
def test_training_samples_are_read_again_by_their_schema(kind):
    views, schema = read_views(INPUTS[kind], RULES)
    again, same = read_views(INPUTS[kind], RULES, schema)
    assert same is schema
    for first, second in zip(views.arrays, again.arrays, strict=True):
        np.testing.assert_array_equal(dense(first), dense(second))


def test_one_table_is_divided_by_the_rules():
    rules = replace(RULES, views={"a": slice(3), "b": [3, 4]})
    views, schema = read_views(np.hstack([A, B]), rules)
    assert schema.n_features == 5
    np.testing.assert_array_equal(views.arrays[1], B)


def test_nothing_is_written_into_the_input():
    frames = {"a": pd.DataFrame(A.copy()), "b": pd.DataFrame(B.copy())}
    read_views(frames, RULES)
    np.testing.assert_array_equal(frames["a"].to_numpy(), A)


def test_rules_and_schema_cannot_be_changed():
    _, schema = read_views(INPUTS["dict"], RULES)
    for one, name in ((RULES, "missing"), (schema, "names")):
        with pytest.raises(FrozenInstanceError):
            setattr(one, name, None)


def test_rows_of_nan_are_missing_where_the_rules_allow_it():
    holed = A.copy()
    holed[3] = np.nan
    views, _ = read_views({"a": holed, "b": B}, replace(RULES, missing=True))
    assert views.mask.tolist() == [[row != 3, True] for row in range(12)]
    with pytest.raises(ValueError, match="'a'"):
        read_views({"a": holed, "b": B}, RULES)


def test_new_samples_must_have_the_columns_of_the_schema():
    _, schema = read_views(INPUTS["dict"], RULES)
    with pytest.raises(ValueError, match=r"View 'a' has 2 columns"):
        read_views({"a": A[:2, :2], "b": B[:2]}, RULES, schema)
    few, _ = read_views({"b": B[:1], "a": A[:1]}, RULES, schema)
    assert few.names == ("a", "b")
    assert len(few) == 1


MIXED = pd.DataFrame({"region": ["a", "b", "a", "c"] * 3, "x": A[:, 0], "y": A[:, 1], "same": 1.0})


@pytest.mark.parametrize("views", ["auto", {"who": ["region"], "numbers": ["x", "y"]}])
def test_groups_of_numbers_in_a_mixed_table_are_read_again(views):
    rules = replace(RULES, views=views)
    found, schema = read_views(MIXED, rules)
    again, _ = read_views(MIXED[["y", "region", "x"]].assign(more=1), replace(rules, missing=True), schema)
    for first, second in zip(found.arrays, again.arrays, strict=True):
        np.testing.assert_array_equal(first, second)


def test_columns_that_were_left_out_may_be_absent():
    with pytest.warns(UserWarning, match="Column 'same' has the same value in all rows"):
        found, schema = read_views({"m": MIXED}, RULES)
    again, _ = read_views({"m": MIXED.drop(columns="same")}, RULES, schema)
    np.testing.assert_array_equal(found.arrays[0], again.arrays[0])
    with pytest.raises(ValueError, match=r"does not have the columns \['region'\]"):
        read_views({"m": MIXED.drop(columns="region")}, RULES, schema)


def test_an_enum_of_polars_is_ordered():
    sizes = pl.Enum(["S", "M", "L"])
    frame = pl.DataFrame({"size": pl.Series(["M", "S", "L", None] * 3, dtype=sizes), "x": A[:, 0]})
    _, schema = read_views({"v": frame}, RULES)
    assert schema.views[0].table.kinds == {"size": "ordered", "x": "number"}
    assert schema.views[0].table.codings[0].levels == ("S", "M", "L")
