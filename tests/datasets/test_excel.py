"""Workbooks: a sheet is a table wherever it stands in the sheet, and several sheets are several views."""

import datetime
import io
import re
import zipfile

import numpy as np
import pytest

from latefusion.datasets import load_files, load_views
from latefusion.datasets.excel import sheet_names
from latefusion.datasets.options import TableOptions
from latefusion.datasets.overview import describe_table

pd = pytest.importorskip("pandas")
openpyxl = pytest.importorskip("openpyxl")

MIXED = [
    ["id", "n", "share", "word", "day", "flag", "took", "odd"],
    ["s1", 1, 0.5, "red", datetime.datetime(2020, 1, 2), True, datetime.time(1, 30), 7],
    ["s2", "?", "#DIV/0!", None, None, False, None, "seven"],
    ["s3", 2.5, "1,250.5", "blue", datetime.datetime(2021, 3, 4), True, datetime.time(0, 0, 1), 7.5],
]


def write(path, above=0, left=0, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for number, row in enumerate(rows, start=1 + above):
            for position, value in enumerate(row, start=1 + left):
                sheet.cell(number, position, value)
    book.save(path)
    return path


@pytest.mark.parametrize("suffix", [".xlsx", ".xlsm"])
@pytest.mark.parametrize(("above", "left"), [(0, 0), (3, 2)])
def test_a_sheet_with_columns_of_all_kinds(tmp_path, suffix, above, left):
    data = load_views(write(tmp_path / f"book{suffix}", above, left, Data=MIXED))
    assert data.views.names == ("book",)
    assert data.views.sample_ids.tolist() == ["s1", "s2", "s3"]
    (frame,) = data.views.arrays
    np.testing.assert_array_equal(frame["n"], [1, np.nan, 2.5])
    np.testing.assert_array_equal(frame["share"], [0.5, np.nan, 1250.5])
    assert frame["word"].tolist() == ["red", None, "blue"]
    assert frame["day"].dtype.kind == "M"
    assert frame["day"].dt.day.tolist()[::2] == [2, 4]
    assert frame["flag"].tolist() == [True, False, True]
    assert frame["took"].dt.total_seconds().tolist()[::2] == [5400, 1]
    assert frame["odd"].tolist() == ["7", "seven", "7.5"]


def test_numbers_are_an_array(tmp_path):
    rows = [["id", "a", "b"], [7, 1, 0.1], [12, 2, None]]
    views = load_views(write(tmp_path / "book.xlsx", Data=rows)).views
    np.testing.assert_array_equal(views.arrays[0], [[1, 0.1], [2, np.nan]])
    assert views.sample_ids.tolist() == ["7", "12"]
    views = load_views(write(tmp_path / "book.xlsx", Data=[[1, 2.5], [3, 4]])).views
    np.testing.assert_array_equal(views.arrays[0], [[1, 2.5], [3, 4]])
    pd.DataFrame([[1, 2.5], [3, 4]], index=["x", "y"]).to_excel(tmp_path / "book.xlsx")
    views = load_views(tmp_path / "book.xlsx").views
    np.testing.assert_array_equal(views.arrays[0], [[1, 2.5], [3, 4]])
    assert views.sample_ids.tolist() == ["x", "y"]


def test_sheets_are_views_and_may_hold_the_labels(tmp_path):
    path = write(
        tmp_path / "study.xlsx",
        genes=[["id", "g"], ["a", 1], ["b", 2], ["c", 3]],
        notes=[],
        visits=[["id", "ward"], ["c", "x"], ["a", "y"]],
        Labels=[["id", "type"], ["a", "u"], ["b", "v"], ["c", "u"]],
    )
    assert sheet_names(path) == ["genes", "visits", "Labels"]
    data = load_views(path)
    assert data.views.names == ("genes", "visits")
    assert data.views.mask.tolist() == [[True, True], [True, False], [True, True]]
    assert data.views.arrays[1]["ward"].fillna("-").tolist() == ["y", "-", "x"]
    assert data.target_names == ("u", "v")
    (tmp_path / "clicks.csv").write_text("id,n\nb,1\nc,2\n")
    both = load_files([path, tmp_path / "clicks.csv"])
    assert both.views.names == ("genes", "visits", "clicks")
    assert both.target.tolist() == [0, 1, 0]
    found = load_files([path, tmp_path / "clicks.csv"], id_column="id")
    assert found.views.sample_ids.tolist() == ["a", "b", "c"]


def test_hidden_sheets_are_not_read(tmp_path):
    path = write(tmp_path / "book.xlsx", a=[["id", "g"], ["x", 1]], b=[["id", "g"], ["x", 1]])
    book = openpyxl.load_workbook(path)
    book["b"].sheet_state = "hidden"
    book.save(path)
    assert load_views(path).views.names == ("book",)


def test_a_workbook_in_a_folder_is_one_table(tmp_path):
    write(tmp_path / "a.xlsx", Sheet1=[["id", "g"], ["x", 1], ["y", 2]])
    (tmp_path / "b.csv").write_text("id,w\nx,red\ny,blue\n")
    assert load_views(tmp_path).views.names == ("a", "b")
    write(tmp_path / "a.xlsx", u=[["id", "g"], ["x", 1]], v=[["id", "g"], ["x", 1]])
    with pytest.raises(ValueError, match=r"a\.xlsx' has several sheets with values, 'u', 'v', where one table"):
        load_views(tmp_path)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["id", "g"], ["x", 1], ["x", 2]], "has the sample id 'x' 2 times .in column 'id', in row 5 and in row 6"),
        ([["id", "g"], ["x", 1], [None, 2]], "has no id in row 6"),
        ([["id", "g", "g"], ["x", 1, 2]], "has 2 columns with the name 'g'"),
        ([["id", "g"]], "has 0 rows and 1 columns of values"),
        ([["id"], ["x"]], "has 1 rows and 0 columns of values"),
    ],
)
def test_errors_name_the_sheet_and_its_row(tmp_path, rows, message):
    path = write(tmp_path / "book.xlsx", above=3, genes=rows, other=[["id", "g"], ["x", 1]])
    with pytest.raises(ValueError, match=rf"Sheet 'genes': .*book\.xlsx' {message}"):
        load_views(path)


def test_what_is_not_a_table(tmp_path):
    with pytest.raises(ValueError, match=r"book\.xlsx' contains no sheet with values"):
        load_views(write(tmp_path / "book.xlsx", empty=[]))
    with pytest.raises(ValueError, match="give all but one of them other names"):
        load_views(write(tmp_path / "book.xlsx", labels=[["a"], [1]], classes=[["a"], [1]]))
    write(tmp_path / "far.xlsx", Data=[["id", "g"], ["x", 1]])
    book = openpyxl.load_workbook(tmp_path / "far.xlsx")
    for row in range(1000, 2000):
        book.active.cell(row, 16384, 1)
    book.save(tmp_path / "far.xlsx")
    with pytest.raises(ValueError, match=r"far\.xlsx', sheet 'Data': the values are far apart"):
        load_views(tmp_path / "far.xlsx")


def test_archives_that_unpack_to_too_much_are_refused(tmp_path):
    path = write(tmp_path / "book.xlsx", Data=[["id", "g"], ["x", 1]])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/image.bin", bytes(2**28 + 1))
    with pytest.raises(ValueError, match=r"book\.xlsx' unpacks to .*the limit that protects the memory"):
        load_views(path)


def test_damaged_workbooks_are_refused_by_name(tmp_path):
    path = write(tmp_path / "book.xlsx", Data=[["id", "g"], ["x", 1]])
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"book\.xlsx' cannot be read as an Excel workbook"):
        load_views(path)
    held = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(held, "w") as new:
        for name in old.namelist():
            new.writestr(name, re.sub(rb"</row>", b"<row>", old.read(name)))
    path.write_bytes(held.getvalue())
    with pytest.raises(ValueError, match=r"book\.xlsx' cannot be read as an Excel workbook"):
        load_views(path)


def test_without_openpyxl_the_extra_is_named(tmp_path, monkeypatch):
    path = write(tmp_path / "book.xlsx", Data=[["id", "g"], ["x", 1]])
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"book\.xlsx' needs openpyxl.*pip install 'latefusion\[excel\]'"):
        load_views(path)


def test_contents_of_a_sheet(tmp_path):
    path = write(tmp_path / "book.xlsx", genes=MIXED, other=[["id", "g"], ["x", 1]])
    found = describe_table(path, TableOptions(sheet="genes"))
    assert found.file == f"{path}, sheet genes"
    assert found.written == {"format": "Excel"}
    assert found.ids == ["s1", "s2", "s3"]
