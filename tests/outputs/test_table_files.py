"""Tables of results in files of every format."""

import io

import numpy as np
import pandas as pd
import pytest

from latefusion.outputs import table_files
from latefusion.outputs.table_files import table_target, write_table, write_text
from latefusion.outputs.targets import LABELS, PROFILE_COLUMNS, PROFILES

COLUMNS = {name: np.array([0.5, 1.5]) for name in PROFILE_COLUMNS} | {"feature": np.array(["=1+1", "age"], object)}


@pytest.mark.parametrize("suffix", ["", ".csv", ".tsv", ".txt", ".parquet"])
def test_a_table_comes_back_from_every_format_and_may_be_replaced(suffix, tmp_path):
    path = tmp_path / f"profiles{suffix}"
    for _ in range(2):
        write_table(COLUMNS, path, PROFILES)
    separator = {"": ",", ".csv": ","}.get(suffix, "\t")
    back = pd.read_parquet(path) if suffix == ".parquet" else pd.read_csv(path, sep=separator)
    assert list(back.columns) == list(COLUMNS)
    assert back["p"].tolist() == [0.5, 1.5]
    # Text files may be opened by spreadsheets.
    assert back["feature"][0] == ("=1+1" if suffix == ".parquet" else "'=1+1")


def test_a_table_of_another_kind_is_not_replaced(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("id,label\na,1\n")
    with pytest.raises(ValueError, match=r"exists and is not a table of profiles\. Give another name, or pass force="):
        write_table(COLUMNS, path, PROFILES)
    write_table(COLUMNS, path, PROFILES, force=True)
    with pytest.raises(ValueError, match="exists and is not a table of labels"):
        write_table({"id": np.arange(2), "label": np.arange(2)}, path, LABELS)


def test_unknown_formats_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"ends in '\.xlsx', but a table of profiles is written as \.csv"):
        write_table(COLUMNS, tmp_path / "profiles.xlsx", PROFILES)


def test_parquet_without_its_library_is_refused_before_any_work(tmp_path, monkeypatch):
    def refuse():
        raise ImportError("Writing Parquet needs pyarrow")

    monkeypatch.setattr(table_files, "_parquet", refuse)
    with pytest.raises(ImportError, match="needs pyarrow"):
        table_target(tmp_path / "profiles.parquet", PROFILES)
    assert table_target(tmp_path / "profiles.csv", PROFILES, "-o").option == "-o"


def test_text_leaves_the_stream_open():
    stream = io.BytesIO()
    write_text({"a": np.array([1, 2])}, stream, "\t")
    assert stream.getvalue() == b"a\n1\n2\n"
