"""Views in CSV and Parquet: how files are written differs, what they contain does not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latefusion.datasets import load_files, load_views
from tests.properties import examples

pd = pytest.importorskip("pandas")

VALUES = pd.DataFrame(
    {"größe": [1.5, -2.0, 3e5, 0.25], "b": [1.0, 2.0, np.nan, 4.0]}, index=pd.Index(["s1", "s2", "s3", "s4"], name="id")
)


def folder_of(place, **tables):
    place.mkdir(exist_ok=True)
    for name, table in tables.items():
        table.to_csv(place / f"{name}.csv")
    return place


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
@pytest.mark.parametrize(("separator", "decimal"), [(",", "."), (";", "."), (";", ","), ("\t", ".")])
@pytest.mark.parametrize("quoted", [False, True])
def test_all_dialects_give_the_same_table(tmp_path, encoding, separator, decimal, quoted):
    path = tmp_path / "view.csv"
    VALUES.to_csv(path, sep=separator, decimal=decimal, encoding=encoding, quoting=1 if quoted else 0)
    dataset = load_views(path)
    assert dataset.views.names == ("view",)
    assert dataset.views.sample_ids.tolist() == ["s1", "s2", "s3", "s4"]
    np.testing.assert_array_equal(dataset.views.arrays[0], VALUES.to_numpy())
    assert dataset.target is None


@examples(30)
@given(
    st.lists(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3), min_size=2, max_size=6),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["index", "R", "none", "counted", "no names"]),
)
def test_numbers_come_back(tmp_path, rows, separator, form):
    """Ids in a column, ids without a name as R writes them, no ids, counted columns, no names: the numbers stay."""
    frame = pd.DataFrame(rows, columns=["a", "b", "c"], index=[f"s{row}" for row in range(len(rows))])
    path = tmp_path / "view.csv"
    if form == "index":
        frame.to_csv(path, sep=separator)
    elif form == "R":
        lines = frame.to_csv(sep=separator).splitlines()
        path.write_text("\n".join([lines[0][1:], *lines[1:]]))
    elif form == "none":
        frame.to_csv(path, sep=separator, index=False)
    elif form == "counted":
        frame.set_axis([0, 1, 2], axis=1).to_csv(path, sep=separator, index=False)
    else:
        frame.to_csv(path, sep=separator, index=False, header=False)
    views = load_views(path).views
    np.testing.assert_allclose(views.arrays[0], rows, rtol=1e-12)
    assert (views.sample_ids is not None) == (form in ("index", "R"))


def test_parquet_and_csv_give_the_same_table(tmp_path):
    pytest.importorskip("pyarrow")
    VALUES.to_csv(tmp_path / "a.csv")
    VALUES.to_parquet(tmp_path / "b.parquet")
    VALUES.reset_index().to_parquet(tmp_path / "c.parquet")
    VALUES.reset_index(drop=True).astype(np.float32).to_parquet(tmp_path / "d.parquet")
    first = load_views(tmp_path / "a.csv").views
    for name in ("b", "c"):
        other = load_views(tmp_path / f"{name}.parquet").views
        np.testing.assert_array_equal(other.arrays[0], first.arrays[0])
        assert other.sample_ids.tolist() == first.sample_ids.tolist()
    plain = load_views(tmp_path / "d.parquet").views
    assert plain.arrays[0].dtype == np.float32
    assert plain.sample_ids is None


def test_a_folder_is_joined_by_id(tmp_path):
    other = pd.DataFrame({"x": [30.0, 10.0, 50.0]}, index=["s3", "s1", "s5"])
    classes = pd.DataFrame({"what": ["u", "v", "u", "v", "u", "w"]}, index=["s5", "s4", "s3", "s2", "s1", "s0"])
    dataset = load_views(folder_of(tmp_path / "study", genes=VALUES, lipids=other, labels=classes))
    assert dataset.name == "study"
    assert dataset.views.names == ("genes", "lipids")
    assert dataset.views.sample_ids.tolist() == ["s1", "s2", "s3", "s4", "s5"]
    assert dataset.views.mask.T.tolist() == [[True, True, True, True, False], [True, False, True, False, True]]
    np.testing.assert_array_equal(dataset.views.arrays[1][:, 0], [10, np.nan, 30, np.nan, 50])
    assert dataset.target.tolist() == [0, 1, 0, 1, 0]
    assert dataset.target_names == ("u", "v")
    assert "3 are not in every view" in dataset.description


def test_order_of_rows_does_not_matter(tmp_path):
    other = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]}, index=VALUES.index)
    straight = load_views(folder_of(tmp_path / "a", u=VALUES, v=other)).views
    mixed = load_views(folder_of(tmp_path / "b", u=VALUES, v=other.iloc[[2, 0, 3, 1]])).views
    assert mixed.mask is None
    np.testing.assert_array_equal(mixed.arrays[1], straight.arrays[1])


@pytest.mark.parametrize("name", ["id", "Sample_ID", "patient", "barcode"])
def test_ids_of_digits_stay_as_they_are(tmp_path, name):
    (tmp_path / "v.csv").write_text(f"{name},a\n007,1\n7,2\n")
    assert load_views(tmp_path / "v.csv").views.sample_ids.tolist() == ["007", "7"]


def test_ids_that_were_asked_for(tmp_path):
    (tmp_path / "v.csv").write_text("a,tube\n1,01\n2,02\n")
    views = load_views(tmp_path / "v.csv", id_column="tube").views
    assert views.sample_ids.tolist() == ["01", "02"]
    assert views.widths == (1,)
    with pytest.raises(ValueError, match=r"v\.csv' has no column 'rack' of ids; its columns are 'a', 'tube'"):
        load_views(tmp_path / "v.csv", id_column="rack")


def test_classes_in_a_column_are_no_features(tmp_path):
    (tmp_path / "v.csv").write_text("a,Class\n1,3\n2,5\n3,3\n")
    dataset = load_views(tmp_path / "v.csv")
    assert dataset.views.widths == (1,)
    assert dataset.target.tolist() == [0, 1, 0]
    (tmp_path / "w.csv").write_text("a,species\n1,oak\n2,elm\n3,oak\n")
    dataset = load_views(tmp_path / "w.csv", label_column="species")
    assert dataset.target_names == ("elm", "oak")
    with pytest.raises(ValueError, match=r"no table has a column 'genus'.*'a'"):
        load_views(tmp_path / "v.csv", label_column="genus")


@pytest.mark.parametrize("text", ["x\ny\nx\n", "label\nx\ny\nx\n", "1\n2\n1\n", "y\n1\n2\n1\n"])
def test_labels_without_ids_go_by_row(tmp_path, text):
    """A list of words alone begins with the first label: its first line is taken for a name and is then one short."""
    (tmp_path / "a.csv").write_text("p,q\n1,2\n3,4\n5,6\n")
    (tmp_path / "labels.csv").write_text(text)
    if text.startswith("x"):
        with pytest.raises(ValueError, match=r"labels\.csv' has 2 labels, but there are 3 samples"):
            load_views(tmp_path)
    else:
        assert load_views(tmp_path).target.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    "text", ["1 2.5\n3 4\n", "1,2.5,\n3,4,\n", "a,b\n1,2.5,\n3,4,\n", "a,b,\n1,2.5,\n3,4,\n", "\n1,2.5\n\n3,4\n"]
)
def test_blanks_trailing_separators_and_empty_lines(tmp_path, text):
    (tmp_path / "v.txt").write_text(text)
    np.testing.assert_array_equal(load_views(tmp_path / "v.txt").views.arrays[0], [[1, 2.5], [3, 4]])


def test_a_wide_file_and_numbers_behind_ids(tmp_path):
    wide = np.random.default_rng(0).normal(size=(3, 30_000))
    pd.DataFrame(wide, index=["x", "y", "z"]).to_csv(tmp_path / "wide.csv", header=False)
    views = load_views(tmp_path / "wide.csv").views
    assert views.sample_ids.tolist() == ["x", "y", "z"]
    np.testing.assert_allclose(views.arrays[0], wide)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, r"has no tables .*It contains nothing"),
        ({"notes.md": "x", "labels.csv": "1\n2\n"}, r"has no tables .*It contains labels\.csv, notes\.md"),
        (
            {"a.csv": "id,p\nx,1\nx,2\n"},
            r"a\.csv' has the sample id 'x' 2 times \(in column 'id', in line 2 and in line 3\)",
        ),
        (
            {"a.csv": "p,p\n1,2\n"},
            r"a\.csv', line 1: several columns with the same name, 'p' \(2 times: columns 1 and 2",
        ),
        ({"a.csv": "p,q\n1,2\n", "a.tsv": "p\tq\n1\t2\n"}, r"several tables for the view 'a': \['a\.csv', 'a\.tsv'\]"),
        ({"a.csv": "p,q\n1,2\n", "b.csv": "p,q\n1,2\n3,4\n"}, r"different numbers of rows"),
        ({"a.csv": "id,q\nx,2\n", "b.csv": "p,q\n1,2\n3,4\n"}, r"a\.csv'\] have sample ids and .*b\.csv'\] have none"),
        ({"a.csv": "id,q\nx,2\n", "b.csv": "id,q\nX,2\n"}, r"a\.csv has no sample in common.*'x', theirs like 'X'"),
        ({"a.csv": "id,q\nx,2\ny,3\n", "labels.csv": "id,c\nx,2\n"}, r"1 of 2 samples have no label, such as 'y'"),
        ({"a.csv": "p,q\n1,2\n3,4\n", "labels.csv": "1\n2\n3\n"}, r"labels\.csv' has 3 labels, but there are 2"),
        ({"a.csv": "p,q\n1,2\n", "labels.csv": "1\n", "y.csv": "2\n"}, r"several files of labels"),
        ({"a.csv": "p,q\n1,2\n", "labels.csv": "u,v\n1,2\n"}, r"labels\.csv' has the columns 'column 0'|'u', 'v'"),
        ({"a.csv": "p,q\n"}, r"a\.csv' has a line of names and 0 rows of values, so there is nothing"),
        ({"a.csv": "p,q\n1,2,\n3,4,5\n"}, r"a\.csv', line 3: 3 values, but there are 2 names in line 1"),
        ({"a.csv": "\n\n"}, r"a\.csv' is empty"),
        (
            {"a.csv": "p,q\n1,2\n3,4,5,6\n"},
            r"a\.csv', line 3: 4 values, but there are 2 names in line 1 \(separated by comma\)",
        ),
        ({"a.csv": "p,q\n1,2\n3,\0\n"}, r"a\.csv' contains zero bytes"),
        (
            {"a.csv": "id,label,p\nx,1,1\n", "b.csv": "id,label,p\nx,2,1\n"},
            r"b\.csv' has the label 2 for sample 'x', but '.*a\.csv' has 1",
        ),
        ({"a.parquet": "PAR1 is how it begins"}, r"a\.parquet' cannot be read as a Parquet file"),
    ],
)
def test_broken_folders_are_refused_by_file(tmp_path, files, message):
    place = tmp_path / "study"
    place.mkdir()
    if "a.parquet" in files:
        pytest.importorskip("pyarrow")
    for name, text in files.items():
        (place / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        load_views(place)


def test_words_make_a_view_a_data_frame(tmp_path):
    (tmp_path / "a.csv").write_text("id,p,q,r\nx,1,red,?\ny,2,,3.5\nz,,,\n")
    data = load_views(tmp_path / "a.csv")
    (frame,) = data.views.arrays
    expected = pd.DataFrame(
        {"p": [1.0, 2.0, np.nan], "q": ["red", np.nan, np.nan], "r": [np.nan, 3.5, np.nan]}, index=range(3)
    )
    pd.testing.assert_frame_equal(frame, expected)
    assert data.feature_names == {"a": ["p", "q", "r"]}
    assert data.views.sample_ids.tolist() == ["x", "y", "z"]
    assert data.views.mask[:, 0].tolist() == [True, True, False]


def test_words_and_numbers_are_joined_by_id(tmp_path):
    (tmp_path / "customers.csv").write_text("id;region;spent\nc1;Nord;1,5\nc2;Süd;2,5\nc3;Nord;0,5\n", "utf-16")
    (tmp_path / "survey.csv").write_text("id,q1,q2\nc3,5,yes\nc4,3,no\nc1,2,yes\n")
    (tmp_path / "clicks.csv").write_text("id,n\nc4,1\nc2,2\n")
    for data in (load_views(tmp_path), load_files(sorted(tmp_path.glob("*.csv")))):
        assert data.views.names == ("clicks", "customers", "survey")
        clicks, customers, survey = data.views.arrays
        assert data.views.sample_ids.tolist() == ["c4", "c2", "c1", "c3"]
        np.testing.assert_array_equal(clicks, [[1], [2], [np.nan], [np.nan]])
        assert customers["region"].fillna("-").tolist() == ["-", "Süd", "Nord", "Nord"]
        np.testing.assert_array_equal(customers["spent"], [np.nan, 2.5, 1.5, 0.5])
        assert survey["q2"].fillna("-").tolist() == ["no", "-", "yes", "yes"]
        assert survey["q1"].dtype == customers["spent"].dtype == np.float64
        assert list(survey.index) == [0, 1, 2, 3]
        expected = [[True, False, True], [True, True, False], [False, True, True], [False, True, True]]
        assert data.views.mask.tolist() == expected


def test_types_of_parquet_files_are_kept(tmp_path):
    pytest.importorskip("pyarrow")
    sizes = pd.Categorical(["S", "L", None], categories=["S", "M", "L"], ordered=True)
    frame = pd.DataFrame(
        {
            "day": pd.to_datetime(["2020-01-01", None, "2021-05-01"]),
            "size": sizes,
            "took": pd.to_timedelta([1, None, 3], unit="h"),
            "flag": pd.array([True, None, False], dtype="boolean"),
            "count": pd.array([1, None, 3], dtype="Int64"),
            "small": np.array([1, 2, 3], dtype=np.float32),
            "word": ["a", None, "b"],
        },
        index=pd.Index(["x", "y", "z"], name="who"),
    )
    frame.to_parquet(tmp_path / "a.parquet")
    views = load_views(tmp_path / "a.parquet").views
    pd.testing.assert_frame_equal(views.arrays[0], frame.reset_index(drop=True))
    assert views.sample_ids.tolist() == ["x", "y", "z"]
    (tmp_path / "b.csv").write_text("id,p\nz,1\nv,2\nx,3\n")
    joined = load_views(tmp_path).views
    kept = joined.arrays[0].iloc[:3]
    for column in ("day", "size", "took", "flag", "count", "small"):
        assert kept[column].dtype == frame[column].dtype
    assert joined.arrays[0].iloc[3].isna().all()


def test_transposed_tables_contain_numbers_only(tmp_path):
    (tmp_path / "a.csv").write_text("gene,s1,s2\ng1,1,?\ng2,3,4\n")
    np.testing.assert_array_equal(load_views(tmp_path / "a.csv", transpose=True).views.arrays[0], [[1, 3], [np.nan, 4]])
    (tmp_path / "a.csv").write_text("gene;s1;s2\ng1;1,5;?\nsex;f;m\n")
    with pytest.raises(
        ValueError, match=r"a\.csv': rows that are not numbers: 'sex'\. In 'sex', 2 of 2 .* 'f' in column 's1'"
    ):
        load_views(tmp_path / "a.csv", transpose=True)


def test_why_a_table_has_no_ids_is_said_where_others_have_some(tmp_path):
    (tmp_path / "a.csv").write_text("id,q\nx,2\ny,3\n")
    (tmp_path / "b.csv").write_text("region,q\nnorth,2\nnorth,3\n")
    with pytest.raises(
        ValueError, match=r"b\.csv'\] have none \(.*b\.csv: no column of ids: the first .* 'north' occurs 2 times\)"
    ):
        load_views(tmp_path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("what\nred\nblue\nred\n", [1, 0, 1]), ("what\n1\n2\n1\n", [0, 1, 0]), ("what\nu\nv\nw\n", [0, 1, 2])],
)
def test_a_label_file_of_one_column_goes_by_row(tmp_path, text, expected):
    (tmp_path / "a.csv").write_text("p,q\n1,x\n3,y\n5,x\n")
    (tmp_path / "labels.csv").write_text(text)
    assert load_views(tmp_path).target.tolist() == expected


def test_without_pandas_the_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "v.csv").write_text("p,q\n1,2\n")
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match=r"v\.csv' needs pandas.*latefusion\[io\]"):
        load_views(tmp_path / "v.csv")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("patient,p\nx,1\ny,2\n", "patient;q\nx;1\ny;2\n", "patient"),
        ("patient,p\nx,1\ny,2\n", "case,q\nx,1\ny,2\n", ""),
        ("p,q\n1,2\n3,4\n", "p,q\n1,2\n3,4\n", ""),
        (",p\nx,1\ny,2\n", ",q\nx,1\ny,2\n", ""),
        ("x,1\ny,2\n", "x,3\ny,4\n", ""),
    ],
)
def test_the_name_of_the_ids_is_kept_where_all_tables_have_it(tmp_path, first, second, expected):
    (tmp_path / "a.csv").write_text(first)
    (tmp_path / "b.csv").write_text(second)
    assert load_views(tmp_path).id_name == expected
    assert load_files([tmp_path / "a.csv", tmp_path / "b.csv"]).id_name == expected
