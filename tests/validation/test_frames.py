"""Numbers and views out of data frames, and frames of the same kind."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from latefusion.validation import columns_of, is_frame
from latefusion.validation.frames import (
    check_columns,
    frame_like,
    frame_to_array,
    is_numeric_frame,
    split_levels,
)

VALUES = np.arange(12.0).reshape(4, 3)
IDS = ["s1", "s2", "s3", "s4"]


def frame(ids=IDS, values=VALUES):
    return pd.DataFrame(values, index=ids, columns=["a", "b", "c"])


@pytest.mark.parametrize(
    ("thing", "expected"),
    [
        (pd.DataFrame(VALUES), True),
        (pl.DataFrame(VALUES), True),
        (pa.table({"a": [1.0]}), True),
        (pa.record_batch({"a": [1.0]}), True),
        (pa.array([1.0]), False),
        (pd.Series([1.0]), False),
        (VALUES, False),
        ([[1.0]], False),
        ({"a": [1.0]}, False),
    ],
)
def test_what_is_a_frame(thing, expected):
    assert is_frame(thing) is expected


def test_columns_keep_their_names():
    assert columns_of(frame()) == ["a", "b", "c"]
    assert columns_of(pl.DataFrame({"x": [1], "y": [2]})) == ["x", "y"]
    assert columns_of(pd.DataFrame(VALUES)) == [0, 1, 2]
    pairs = pd.MultiIndex.from_product([["rna"], ["a", "b", "c"]])
    assert columns_of(pd.DataFrame(VALUES, columns=pairs)) == [("rna", "a"), ("rna", "b"), ("rna", "c")]


NUMERIC = {
    "float": pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}),
    "integers and booleans": pd.DataFrame({"a": [1, 2], "b": [True, False]}),
    "nullable": pd.DataFrame({"a": pd.array([1, 2], dtype="Int64"), "b": pd.array([True, False], dtype="boolean")}),
    "nullable float": pd.DataFrame({"a": pd.array([1.0, 2.0], dtype="Float64")}),
    "arrow": pd.DataFrame({"a": pd.array([1.0, 2.0], dtype="double[pyarrow]")}),
    "sparse": pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 2.0])}),
    "polars": pl.DataFrame({"a": [1.0, 2.0], "b": [3, 4]}),
    "polars booleans": pl.DataFrame({"a": [True, False]}),
    "polars decimals": pl.DataFrame({"a": [Decimal("1.5"), Decimal("2.5")]}),
}


@pytest.mark.parametrize("kind", NUMERIC)
def test_numbers_come_out(kind):
    array = np.asarray(frame_to_array(NUMERIC[kind]), dtype=np.float64)
    expected = [
        [float(cell) for cell in row]
        for row in zip(*(NUMERIC[kind][name] for name in NUMERIC[kind].columns), strict=True)
    ]
    np.testing.assert_array_equal(array, expected)


def test_single_precision_is_kept():
    single = VALUES.astype(np.float32)
    assert frame_to_array(pd.DataFrame(single)).dtype == np.float32
    assert frame_to_array(pl.DataFrame(single)).dtype == np.float32
    assert frame_to_array(pd.DataFrame(single).astype({0: np.float64})).dtype == np.float64
    assert frame_to_array(pd.DataFrame({"a": pd.array([1.0], dtype="Float32")})).dtype == np.float32


@pytest.mark.parametrize(
    "missing",
    [
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
        pd.DataFrame({"a": pd.array([True, None], dtype="boolean")}),
        pd.DataFrame({"a": pd.array([1.0, None], dtype="double[pyarrow]")}),
        pl.DataFrame({"a": [1, None]}),
        pl.DataFrame({"a": [1.0, None]}),
    ],
)
def test_nulls_become_nan(missing):
    array = np.asarray(frame_to_array(missing), dtype=np.float64)
    np.testing.assert_array_equal(array, [[1.0], [np.nan]])


DAY = datetime.date(2020, 1, 1)
NOT_NUMERIC = {
    "text": pd.DataFrame({"good": [1.0], "bad": ["x"]}),
    "objects": pd.DataFrame({"bad": pd.Series([1.0], dtype=object)}),
    "categories": pd.DataFrame({"bad": pd.Categorical([1])}),
    "dates": pd.DataFrame({"bad": pd.to_datetime([DAY])}),
    "durations": pd.DataFrame({"bad": pd.to_timedelta([1], unit="s")}),
    "periods": pd.DataFrame({"bad": pd.period_range("2020", periods=1, freq="D")}),
    "complex": pd.DataFrame({"bad": [1j]}),
    "polars text": pl.DataFrame({"bad": ["x"]}),
    "polars dates": pl.DataFrame({"bad": [DAY]}),
    "polars categories": pl.DataFrame({"bad": ["x"]}, schema={"bad": pl.Categorical}),
    "pyarrow text": pa.table({"bad": ["x"]}),
}


@pytest.mark.parametrize("kind", NOT_NUMERIC)
def test_frames_with_other_columns_are_not_numeric(kind):
    assert not is_numeric_frame(NOT_NUMERIC[kind])


@pytest.mark.parametrize("kind", NUMERIC)
def test_frames_of_numbers_and_booleans_are_numeric(kind):
    assert is_numeric_frame(NUMERIC[kind])


def test_repeated_columns_are_refused():
    with pytest.raises(ValueError, match=r"View 'v' has several columns of the same name: \['a'\]. Rename"):
        check_columns(pd.DataFrame(VALUES, columns=["a", "a", "b"]), "View 'v'")
    with pytest.raises(ValueError, match="several columns of the same name"):
        check_columns(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), "X")


def test_pairs_as_columns_are_views():
    pairs = pd.MultiIndex.from_tuples([("rna", "a"), ("pro", "a"), ("rna", "b")])
    parts = split_levels(pd.DataFrame(VALUES, index=IDS, columns=pairs))
    assert list(parts) == ["rna", "pro"]
    assert columns_of(parts["rna"]) == ["a", "b"]
    np.testing.assert_array_equal(parts["pro"], VALUES[:, [1]])
    for other in (frame(), pl.DataFrame(VALUES), pa.table({"a": [1.0]}), VALUES, {"x": frame()}):
        assert split_levels(other) is other


def test_tables_of_pyarrow():
    table = pa.table({"a": [1, None, 3], "b": [True, False, None], "c": pa.array([0.5, 1.5, 2.5], pa.float32())})
    assert columns_of(table) == ["a", "b", "c"]
    np.testing.assert_array_equal(frame_to_array(table), [[1, 1, 0.5], [np.nan, 0, 1.5], [3, np.nan, 2.5]])
    assert frame_to_array(table.select(["c"])).dtype == np.float32


def test_without_narwhals_it_is_asked_for(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "narwhals", None)
    with pytest.raises(ImportError, match=r"pyarrow.lib.Table need narwhals: pip install 'latefusion\[frames\]'"):
        frame_to_array(pa.table({"a": [1.0]}))
    assert frame_to_array(frame()).shape == (4, 3)  # pandas needs none


@pytest.mark.parametrize(
    "like", [frame(), pl.DataFrame(VALUES), pa.table({"a": [1.0]})], ids=lambda one: type(one).__name__
)
def test_columns_become_a_frame_of_the_same_kind(like):
    made = frame_like({"label": np.array([2, 0]), "id": np.array(["x", "y"])}, like, index=["r", "s"])
    assert type(made) is type(like)
    assert columns_of(made) == ["label", "id"]
    assert np.asarray(made["label"]).tolist() == [2, 0]
    assert np.asarray(made["id"]).tolist() == ["x", "y"]
    if isinstance(like, pd.DataFrame):
        assert made.index.tolist() == ["r", "s"]
