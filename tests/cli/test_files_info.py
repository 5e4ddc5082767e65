"""What `latefusion info` says about files."""

import json

import pytest

import latefusion as lf
from latefusion.cli import main
from tests.cli.shell import write_tables


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def output_of(capsys, *words):
    assert main(["info", *words]) == 0
    return capsys.readouterr().out


def answer(capsys, *words):
    return json.loads(output_of(capsys, *words, "--json"))


def test_a_table_for_people_and_programs(folder, capsys):
    (folder / "t.csv").write_text("id|a|b|c\nx|1|u|\ny|2|v|3\nx|4|w|\n")
    out = output_of(capsys, "t.csv")
    assert out.startswith("t.csv: 3 rows, 4 columns\n")
    assert "text, separated by pipe, decimal '.', UTF-8, names in line 1" in out
    assert "column 'id' (a usual name of ids), 3 ids, 1 of them more than once: x (2 times)" in out
    assert "number: 2, id: 1" in out
    assert "2 cells (22.2%), in 1 of 3 columns; most: c 2" in out
    assert "These files cannot be clustered: 't.csv' has the sample id 'x' 2 times" in out
    found = answer(capsys, "t.csv")
    (table,) = found["files"]
    assert (table["n_rows"], table["kinds"], table["missing"]) == (3, {"number": 2, "id": 1}, 2)
    assert table["duplicate_ids"] == {"x": 2}
    assert table["columns"][1] == {"name": "b", "kind": "id", "missing": 0, "distinct": 3}
    assert "--id" in found["together"]["problem"]


def test_several_tables_and_how_their_ids_overlap(folder, capsys):
    lines = (folder / "proteins.csv").read_text().splitlines()
    (folder / "proteins.csv").write_text("\n".join(lines[:31]))
    found = answer(capsys, "genes.csv", "proteins.csv")["together"]
    assert found["problem"] is None
    assert (found["overlap"]["n_samples"], found["overlap"]["in_all"]) == (90, 30)
    assert found["overlap"]["files"]["genes.csv"] == {"samples": 90, "only_here": 60, "not_here": 0}
    assert "90 samples in all, 30 of them in every file" in output_of(capsys, "genes.csv", "proteins.csv")


def test_a_folder_is_its_tables(folder, capsys):
    (folder / "study").mkdir()
    (folder / "genes.csv").rename(folder / "study" / "genes.csv")
    (folder / "truth.csv").rename(folder / "study" / "labels.csv")
    found = answer(capsys, "study")
    assert [one["file"] for one in found["files"]] == ["study/genes.csv", "study/labels.csv"]
    assert found["together"]["problem"] is None


def test_options_of_tables_are_those_of_other_commands(folder, capsys):
    (folder / "t.txt").write_text("gene:p000:p001\ng1:1:2\ng2:3:4\n")
    found = answer(capsys, "t.txt", "genes.csv", "--separator", ":")
    assert [one["written"]["separator"] for one in found["files"]] == ["':'", "comma"]
    assert "Transposed?" in found["together"]["problem"]
    assert "--transpose t.txt" in found["together"]["problem"]
    (folder / "t.txt").write_text("gene,p000,p001\ng1,1,2\ng2,3,4\n")
    found = answer(capsys, "t.txt", "genes.csv", "--transpose", "t.txt")
    assert found["together"]["problem"] is None
    assert found["together"]["overlap"]["in_all"] == 2
    assert "columns are samples" in output_of(capsys, "t.txt", "--transpose", "all")


def test_many_columns_are_summed_up_and_names_cannot_disturb(folder, capsys):
    names = ",".join(f"c{number}" for number in range(30))
    (folder / "t.csv").write_text(f'id,"\x1b[31m",{names}\n' + "x," + ",".join("1" * 31) + "\n")
    out = output_of(capsys, "t.csv")
    assert "… and 16 more" in out
    assert "\x1b" not in out


def test_a_model(folder, capsys, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    data = lf.datasets.make_views(60, 3, random_state=0)
    lf.save(lf.GlobalAlignmentClustering(3, random_state=0).fit(data.views), folder / "groups.model")
    out = output_of(capsys, "groups.model")
    for words in (
        "groups.model: a model of latefusion",
        "GlobalAlignmentClustering",
        "view_0 (10 columns), view_1 (10 columns)",
        "2023-11-14T22:13:20+00:00 (UTC)",
        f"latefusion {lf.__version__}",
        "version 1",
    ):
        assert words in out
    (model,) = answer(capsys, "groups.model")["files"]
    assert (model["n_clusters"], model["n_samples"], model["views"]["view_2"]) == (3, 60, 10)
    assert "together" not in answer(capsys, "groups.model")


def test_what_cannot_be_read_ends_with_one_line(folder, capsys):
    (folder / "a.pdf").write_bytes(b"%PDF")
    assert main(["info", "genes.csv", "a.pdf"]) == 1
    assert capsys.readouterr().err == (
        "latefusion info: 'a.pdf' is a PDF document. Ask for the table itself, as CSV.\n"
    )
    assert main(["info", "nothing.csv"]) == 1
    assert "File not found: 'nothing.csv'" in capsys.readouterr().err


def test_columns_that_are_not_numbers(folder, capsys):
    (folder / "t.csv").write_text("id;a;farbe;tag\nx;1,5;rot;2020-01-02\ny;2;;2020-01-03\nz;;rot;\n", "cp1252")
    out = output_of(capsys, "t.csv")
    assert "text, separated by semicolon, decimal ',', UTF-8, names in line 1" in out
    kinds = {
        column["name"]: (column["kind"], column["missing"]) for column in answer(capsys, "t.csv")["files"][0]["columns"]
    }
    assert kinds == {"a": ("number", 1), "farbe": ("category", 1), "tag": ("date", 1)}
    assert "cannot be clustered" not in out


def test_a_first_column_of_repeated_words_and_why_it_is_not_the_ids(folder, capsys):
    (folder / "t.csv").write_text("region,a\nnorth,1\nsouth,2\nnorth,3\n")
    out = output_of(capsys, "t.csv")
    assert "no column of ids: the first column holds text, but 'north' occurs 2 times; another column" in out


def test_sheets_of_a_workbook(folder, capsys):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(folder / "book.xlsx") as writer:
        pd.DataFrame({"id": ["x", "y"], "a": [1, 2]}).to_excel(writer, sheet_name="one", index=False)
        pd.DataFrame({"id": ["y", "z"], "w": ["u", "v"]}).to_excel(writer, sheet_name="two", index=False)
    found = answer(capsys, "book.xlsx")
    assert [one["file"] for one in found["files"]] == ["book.xlsx, sheet one", "book.xlsx, sheet two"]
    assert found["together"]["overlap"]["in_all"] == 1
    assert found["files"][1]["columns"][0]["name"] == "w"
    assert "Excel" in output_of(capsys, "book.xlsx")
