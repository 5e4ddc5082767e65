"""What is in a table is told whether or not it can be clustered."""

import pytest

from latefusion.datasets.options import TableOptions, table_options
from latefusion.datasets.overview import describe_table, shared_samples

pd = pytest.importorskip("pandas")


def overview(tmp_path, text, name="t.csv", **options):
    (tmp_path / name).write_text(text)
    return describe_table(tmp_path / name, TableOptions(**options))


def test_kinds_of_columns_gaps_and_classes(tmp_path):
    text = (
        "id;n;flag;day;day2;word;same;void;class\n"
        "a;1,5;True;2020-01-02;3.4.2020;x;7;;u\n"
        "b;;False;;4.4.2020;y;7;;v\n"
        "c;2;;2020-01-04 10:30;5.4.2020;x;7;;u\n"
    )
    found = overview(tmp_path, text)
    kinds = {one.name: (one.kind, one.missing, one.distinct) for one in found.columns}
    assert kinds == {
        "n": ("number", 1, 2),
        "flag": ("boolean", 1, 2),
        "day": ("date", 1, 2),
        "day2": ("date", 0, 3),
        "word": ("category", 0, 2),
        "same": ("constant", 0, 1),
        "void": ("empty", 3, 0),
    }
    assert (found.n_rows, found.n_columns, found.label_column) == (3, 9, "class")
    assert found.written["separator"] == "semicolon"
    assert found.written["decimal"] == ","


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        ("id,a\nx,1\n", "id", "a usual name of ids"),
        (",a\nx,1\ny,2\n", "", "the first column, which has no name"),
        ("word,a\nx,1\n", "word", "the first column, which holds text that differs in every row"),
        ("a,sample_id\n1,x\n2,y\n", "sample_id", "a usual name of ids"),
        ("a,b\n1,2\n", None, "no column of ids: the first column holds numbers"),
        ("label,a\nx,1\n", None, "no column of ids: the first column holds classes"),
    ],
)
def test_which_column_holds_the_ids_and_why(tmp_path, text, column, reason):
    found = overview(tmp_path, text)
    assert (found.id_column, found.id_reason) == (column, reason)
    asked = overview(tmp_path, "id,a\nx,1\ny,2\n", id_column="a")
    assert (asked.id_column, asked.id_reason, asked.ids) == ("a", "given by the user", ["1", "2"])


def test_repeated_and_missing_ids_are_counted(tmp_path):
    found = overview(tmp_path, "id,a\nx,1\ny,2\nx,3\n,4\nx,5\n,\n")
    assert found.duplicate_ids == {"x": 3}
    assert (found.missing_ids, found.n_rows, len(found.ids)) == (1, 5, 4)


def test_parquet_has_an_index(tmp_path):
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": [1.0, 2.0]}, index=["x", "y"]).to_parquet(tmp_path / "t.parquet")
    found = describe_table(tmp_path / "t.parquet", TableOptions())
    assert (found.id_reason, found.ids, found.written) == ("the index in the file", ["x", "y"], {"format": "Parquet"})


def test_how_samples_overlap(tmp_path):
    first = overview(tmp_path, "id,a\nx,1\ny,2\nz,3\n", "a.csv")
    (tmp_path / "b.csv").write_text("gene,y,z,w\ng1,1,2,3\n")
    options = table_options(None, None, None, None, [tmp_path / "b.csv"])
    second = describe_table(tmp_path / "b.csv", options)
    found = shared_samples([first, second])
    assert (found["n_samples"], found["in_all"]) == (4, 2)
    assert found["files"][first.file] == {"samples": 3, "only_here": 1, "not_here": 1}
    assert shared_samples([first]) is None
    assert shared_samples([first, overview(tmp_path, "a,b\n1,2\n", "c.csv")]) is None
