"""Arrow files of all forms give the table that Parquet gives; damaged ones are refused by name."""

import numpy as np
import pytest

from latefusion.datasets import load_views

pd = pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")
ipc = pytest.importorskip("pyarrow.ipc")

SIZES = pd.Categorical(["S", "L", None, "M"], categories=["S", "M", "L"], ordered=True)
MIXED = pd.DataFrame(
    {
        "id": ["s1", "s2", "s3", "s4"],
        "n": [1.5, np.nan, 2.5, 3.0],
        "size": SIZES,
        "day": pd.to_datetime(["2020-01-01", None, "2021-05-01", "2022-01-01"]),
        "took": pd.to_timedelta([1, 2, None, 4], unit="h"),
        "flag": pd.array([True, None, False, True], dtype="boolean"),
        "count": pd.array([1, None, 3, 4], dtype="Int64"),
        "word": ["a", None, "b", "a"],
    }
)
NUMBERS = MIXED[["id", "n", "count"]]


def write_file(frame, path):
    table = pyarrow.Table.from_pandas(frame)
    with ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)


def write_stream(frame, path):
    table = pyarrow.Table.from_pandas(frame)
    with ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


WRITERS = {
    "t.feather": lambda frame, path: frame.to_feather(path),
    "u.feather": lambda frame, path: frame.to_feather(path, compression="zstd"),
    "t.arrow": write_file,
    "t.ipc": write_stream,
    "t.pq": lambda frame, path: frame.to_parquet(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_all_forms_give_the_same_table(tmp_path, name):
    WRITERS[name](MIXED, tmp_path / name)
    views = load_views(tmp_path / name).views
    pd.testing.assert_frame_equal(views.arrays[0], MIXED.drop(columns="id"))
    assert views.sample_ids.tolist() == ["s1", "s2", "s3", "s4"]
    assert views.arrays[0]["size"].cat.ordered
    WRITERS[name](NUMBERS, tmp_path / name)
    (array,) = load_views(tmp_path / name).views.arrays
    np.testing.assert_array_equal(array, [[1.5, 1], [np.nan, np.nan], [2.5, 3], [3, 4]])


def test_the_index_is_the_ids(tmp_path):
    write_file(MIXED.set_index("id"), tmp_path / "t.arrow")
    assert load_views(tmp_path / "t.arrow").views.sample_ids.tolist() == ["s1", "s2", "s3", "s4"]


def test_files_of_polars(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"id": ["a", "b"], "n": [1, None], "word": ["x", None]})
    frame.with_columns(polars.col("word").cast(polars.Categorical).alias("kind")).write_ipc(tmp_path / "t.arrow")
    (found,) = load_views(tmp_path / "t.arrow").views.arrays
    np.testing.assert_array_equal(found["n"], [1, np.nan])
    assert found["word"].tolist() == ["x", None]
    assert isinstance(found["kind"].dtype, pd.CategoricalDtype)


@pytest.mark.parametrize("name", ["t.feather", "t.ipc", "t.pq"])
def test_truncated_files_are_refused_by_name(tmp_path, name):
    WRITERS[name](MIXED, tmp_path / name)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=rf"{name}' cannot be read as an? (Arrow|Parquet).* file .*Copy it again"):
        load_views(tmp_path / name)


def test_offsets_outside_of_the_table_are_refused(tmp_path):
    """pyarrow itself would read the memory behind the table."""
    path = tmp_path / "t.arrow"
    offsets = np.array([0, 10**9, 2, 3, 4], dtype=np.int32).tobytes()
    words = pyarrow.StringArray.from_buffers(4, pyarrow.py_buffer(offsets), pyarrow.py_buffer(b"abcd"))
    table = pyarrow.table({"n": [1.0, 2.0, 3.0, 4.0], "word": words})
    with ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(ValueError, match=r"t\.arrow' cannot be read as an Arrow"):
        load_views(path)


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    MIXED.to_feather(tmp_path / "t.feather")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"t\.feather' needs pyarrow.*latefusion\[io\]"):
        load_views(tmp_path / "t.feather")
