import json
import re
import sqlite3

import numpy as np
import pytest

import latefusion as lf
from latefusion.cli import main
from latefusion.experiments.sources import EMBEDDED
from latefusion.progress import progress_listener
from tests.experiments.test_store import file_size


@pytest.fixture
def folder(tmp_path):
    data = lf.datasets.make_views(40, 3, random_state=0)
    kernels = {f"kernel_{p}": lf.kernels.gaussian_kernel(view) for p, view in enumerate(data.views.arrays)}
    (tmp_path / "data").mkdir()
    np.savez(tmp_path / "data" / "yale_kernels.npz", y=data.target, **kernels)
    return tmp_path


def reproduce(folder, *words):
    quick = [
        "reproduce",
        "--quick",
        "--jobs",
        "1",
        "--output",
        str(folder / "out"),
        "--methods",
        "A-MKKM",
        "LF-MVC-LAM",
    ]
    return main([*quick, *words])


def test_without_a_folder_the_embedded_sets_run_and_the_rest_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("LATEFUSION_DATA", raising=False)
    assert reproduce(tmp_path, "--no-figures") == 0
    out = capsys.readouterr().out
    for name in EMBEDDED:
        assert name in out
    assert "not evaluated: AR10P (ar10p_kernels.npz or AR10P_Kmatrix.mat)" in out
    assert "LATEFUSION_DATA" in out
    assert (tmp_path / "out" / "report.html").exists()


def test_a_folder_its_figures_and_a_second_run(folder, capsys, monkeypatch):
    monkeypatch.setenv("LATEFUSION_DATA", str(folder / "data"))
    reports = []
    with progress_listener(lambda *report: reports.append(report)):
        assert reproduce(folder, "--only", "YALE", "--format", "latex", "csv") == 0
    first = capsys.readouterr()
    assert "YALE: 40 samples, 3 views, 3 classes (same kernels)" in first.out
    assert "points from the printed ones" in first.out
    evaluated = [report for report in reports if "cells" in report[0]]  # the figures fit models as well
    assert [fraction for _, fraction in evaluated] == sorted(fraction for _, fraction in evaluated)
    assert evaluated[-1][1] == 1.0
    assert re.match(r"(\d+) of \1 cells, yale", evaluated[-1][0])
    assert {path.suffix for path in (folder / "out" / "tables").iterdir()} == {".tex", ".csv"}
    assert (folder / "out" / "figures" / "surface-yale_kernels.svg").exists()
    reports.clear()
    with progress_listener(lambda *report: reports.append(report)):
        assert reproduce(folder, "--only", "YALE", "--no-figures") == 0
    second = capsys.readouterr()
    assert second.err == ""
    assert reports == [("0 of 0 cells", 0.0)]
    assert second.out == first.out
    assert reproduce(folder, "--only", "YALE", "--no-figures", "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert {row["method"] for row in answer["results"]} == {"A-MKKM", "LF-MVC-LAM"}
    assert answer["report"].startswith(str(folder / "out"))


def test_an_archive_gives_the_same_tables_without_the_data(folder, capsys):
    assert reproduce(folder, "--data", str(folder / "data"), "--no-figures") == 0
    first = capsys.readouterr().out
    archive = (folder / "out" / "archive.json").rename(folder / "handed-on.json")
    elsewhere = folder / "elsewhere"
    assert main(["reproduce", "--from", str(archive), "--output", str(elsewhere)]) == 0
    assert capsys.readouterr().out == first.replace(str(folder / "out"), str(elsewhere))
    assert (elsewhere / "figures" / "surface-yale_kernels.png").exists()
    assert main(["reproduce", "--from", str(folder / "nowhere.json"), "--output", str(elsewhere)]) == 1
    assert "nowhere.json" in capsys.readouterr().err


def test_results_can_be_shown_without_running(folder, capsys):
    assert reproduce(folder, "--data", str(folder / "data"), "--no-run", "--no-figures") == 0
    assert re.search(r"YALE +0 of \d+ +everything", capsys.readouterr().out)


def test_a_full_disk_is_named_and_the_next_run_goes_on(folder, capsys):
    options = ["--data", str(folder / "data"), "--no-figures"]
    with file_size(14_000):
        assert reproduce(folder, *options) == 1
    error = capsys.readouterr().err
    assert re.search(r"results\.sqlite.*Earlier results are intact", error)
    with sqlite3.connect(folder / "out" / "results.sqlite") as database:
        before = database.execute("SELECT * FROM cells").fetchall()
    assert before
    assert reproduce(folder, *options) == 0
    with sqlite3.connect(folder / "out" / "results.sqlite") as database:
        assert set(before) < set(database.execute("SELECT * FROM cells").fetchall())


def test_failures_are_kept_until_retry(folder, capsys):
    options = ["--data", str(folder / "data"), "--no-figures"]
    assert reproduce(folder, *options, "--time-limit", "0.001") == 0
    assert "took more than 0.001 s" in capsys.readouterr().out
    assert reproduce(folder, *options) == 0
    assert "took more than 0.001 s" in capsys.readouterr().out
    assert reproduce(folder, *options, "--retry") == 0
    assert "took more" not in capsys.readouterr().out


def test_errors_name_the_problem(folder, capsys):
    assert reproduce(folder, "--data", str(folder / "nowhere")) == 1
    assert "not a folder" in capsys.readouterr().err
    assert reproduce(folder, "--only", "Plant") == 1
    assert "Unknown data set 'Plant'" in capsys.readouterr().err
    (folder / "out").write_text("a file where a folder should be")
    assert reproduce(folder, "--data", str(folder / "data")) == 1
    assert "is a file. Give the name of a folder" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["reproduce", "--jobs", "0"])


def test_no_figures_without_matplotlib(folder, capsys, monkeypatch):
    def absent(*args, **kwargs):
        raise ImportError("Plots need matplotlib")

    monkeypatch.setattr("latefusion.cli.reproduce.draw_figures", absent)
    assert reproduce(folder, "--data", str(folder / "data")) == 0
    assert "No figures: Plots need matplotlib" in capsys.readouterr().err


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_neither_data_nor_archives_are_overwritten(folder, capsys):
    data, out = folder / "data", folder / "out"
    assert reproduce(folder, "--data", str(data), "--no-figures") == 0
    (folder / "door").symlink_to(data)
    before = contents(folder)
    for words, message in (
        (["--data", data, "--output", data, "--force"], "would be read as a table of the input folder"),
        (["--data", data, "--output", folder / "door", "--force"], "would be read as a table of the input folder"),
        (["--data", out / "tables", "--output", out], "would be read as a table of the input folder"),
        (["--from", out / "archive.json", "--output", out, "--force"], "would overwrite the input"),
        (["--from", folder / "door" / ".." / "out" / "archive.json", "--output", out], "would overwrite the input"),
    ):
        assert main(["reproduce", "--quick", "--no-figures", *map(str, words)]) == 1
        assert message in capsys.readouterr().err
        assert contents(folder) == before


def test_links_among_the_results_do_not_lead_to_the_data(folder, capsys):
    table = folder / "data" / "table.csv"
    table.write_text("id,a\nx,1\n")
    (folder / "out" / "tables").mkdir(parents=True)
    for link in ("results.csv", "tables/any.csv"):
        (folder / "out" / link).symlink_to(table)
        assert reproduce(folder, "--data", str(folder / "data"), "--force") == 1
        assert f"would overwrite the input {str(table)!r}" in capsys.readouterr().err
        (folder / "out" / link).unlink()
    assert table.read_text() == "id,a\nx,1\n"


def test_a_folder_with_other_things_needs_force(folder, capsys):
    (folder / "out").mkdir()
    (folder / "out" / "report.md").write_text("my own")
    options = ["--data", str(folder / "data"), "--no-figures"]
    assert reproduce(folder, *options) == 1
    assert "exists and is not the folder of an earlier evaluation" in capsys.readouterr().err
    assert (folder / "out" / "report.md").read_text() == "my own"
    assert reproduce(folder, *options, "--force") == 0
    assert (folder / "out" / "report.md").read_text() != "my own"


def test_results_may_be_kept_beside_the_data_sets(folder):
    for _ in range(2):
        assert (
            reproduce(folder, "--data", str(folder / "data"), "--no-figures", "--output", str(folder / "data/r")) == 0
        )
