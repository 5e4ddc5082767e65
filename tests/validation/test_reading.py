"""`read_views`: one pure function from any input to checked views, for training samples and new ones."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.sparse import csr_array

from latefusion.types import Views
from latefusion.validation import InputRules, as_table, open_views, read_views, reorder_rows

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


MISSING = replace(RULES, missing=True)


@pytest.mark.parametrize("kind", INPUTS)
def test_opened_views_keep_their_types(kind):
    _, schema = read_views(INPUTS[kind], RULES)
    views = open_views(INPUTS[kind], RULES, schema)
    first = INPUTS[kind].arrays[0] if isinstance(INPUTS[kind], Views) else INPUTS[kind]["a"]
    assert type(views.arrays[0]) is type(first)
    again, _ = read_views(views[3:7], RULES, schema)
    np.testing.assert_array_equal(dense(again.arrays[0]), A[3:7])


def test_rows_of_opened_views_are_those_of_read_views():
    ids = [f"s{row}" for row in range(12)]
    X = {"a": pd.DataFrame(A, index=ids)[::-1], "b": pd.DataFrame(B, index=ids)[2:]}
    views, schema = read_views(X, MISSING)
    opened = open_views(X, MISSING, schema)
    assert opened.sample_ids.tolist() == views.sample_ids.tolist()
    np.testing.assert_array_equal(opened.mask, views.observed)
    rows = np.array([0, 5, 11])
    some, _ = read_views(opened[rows], MISSING, schema)
    for part, whole in zip(some.arrays, views.arrays, strict=True):
        np.testing.assert_array_equal(part, whole[rows])
    np.testing.assert_array_equal(some.observed, views.observed[rows])


def test_kept_gaps_stay_where_the_others_are_imputed():
    holed = A.copy()
    holed[4, 1] = np.nan
    X = {"a": holed, "b": sp.csr_array(np.where(np.sort(B, axis=None)[-2] < B, np.nan, B))}
    views, schema = read_views(X, MISSING)
    kept, _ = read_views(X, MISSING, schema.keeping_gaps())
    np.testing.assert_array_equal(kept.arrays[0], holed)
    np.testing.assert_array_equal(kept.arrays[1].toarray(), X["b"].toarray())
    assert np.isfinite(views.arrays[0]).all()


def test_labels_become_one_column():
    assert as_table(["a", "b"]).shape == (2, 1)
    assert as_table(np.arange(3)).shape == (3, 1)
    assert as_table(pd.Series([1, 2], index=["p", "q"])).index.tolist() == ["p", "q"]
    assert as_table(A) is A


@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_rows_are_reordered_and_those_of_absent_samples_are_zero(convert):
    array, rows = convert(np.arange(1.0, 7.0).reshape(3, 2)), np.array([2, -1, 0, 1])
    found, observed = reorder_rows(array, np.array([True, False, True]), rows)
    found = found.toarray() if convert is csr_array else found
    np.testing.assert_array_equal(found, [[5, 6], [0, 0], [1, 2], [3, 4]])
    np.testing.assert_array_equal(observed, [True, False, True, False])
    whole, everything = reorder_rows(array, None, np.array([1, 0, 2]))
    assert everything is None
    assert whole.shape == (3, 2)


def test_samples_without_any_view_are_allowed_by_the_rules():
    views = {"a": np.array([[1.0, 2.0], [np.nan, np.nan], [3.0, 5.0]])}
    rules = InputRules("X", missing=True)
    with pytest.raises(ValueError, match="All views are missing for 1 samples"):
        read_views(views, rules)
    np.testing.assert_array_equal(read_views(views, replace(rules, some_view=False))[0].mask[:, 0], [True, False, True])
