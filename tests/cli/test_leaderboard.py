import json
import sqlite3

import pytest

from latefusion.cli import main
from latefusion.experiments.leaderboard.results import read_leaderboard
from tests.experiments.leaderboard.conftest import data_folder  # noqa: F401 (a fixture)

QUICK = ["--seeds", "2", "--jobs", "1"]


@pytest.fixture
def command(data_folder, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.delenv("LATEFUSION_DATA", raising=False)

    def run(*words, output="out", methods=("A-MKKM", "NEMO"), only=("small",)):
        options = ["--data", str(data_folder), "--output", str(tmp_path / output)]
        return main(["leaderboard", *options, "--methods", *methods, "--only", *only, *QUICK, *words])

    return run


@pytest.fixture
def results(tmp_path):
    return lambda output="out": read_leaderboard(tmp_path / output / "leaderboard.json")


def numbers(board):
    """Everything that two runs share."""
    return {cell.key: (cell.seeds, cell.acc, cell.nmi, cell.ari, cell.reason) for cell in board.cells}


def test_all_boards_of_a_set_are_run_printed_and_written(command, results, capsys):
    assert command() == 0
    out = capsys.readouterr().out
    assert "Board 'complete': 1 data set, 2 methods" in out
    assert "Board 'missing': 4 data sets, 1 method" in out
    assert "No result, not ranked (does not support missing views): A-MKKM." in out
    board = results()
    assert (board.limits.seconds, board.limits.memory_mib, board.limits.seeds) == (120.0, 6144, 2)
    assert {cell.reason for cell in board.cells} == {None, "does not support missing views"}
    assert all(cell.seeds == [0, 1] and cell.seconds > 0 for cell in board.cells if cell.reason is None)
    assert len(board.cells) == 2 * len(board.sets) == 10


def test_an_interrupted_run_continues(command, results, tmp_path, capsys):
    assert command("--no-run") == 0
    assert {cell.reason for cell in results().cells} == {"not run", "does not support missing views"}
    assert command() == 0
    whole = numbers(results())
    with sqlite3.connect(tmp_path / "out" / "leaderboard.sqlite") as database:
        database.execute("DELETE FROM cells WHERE rowid % 2 = 0")
        (kept,) = database.execute("SELECT count(*) FROM cells").fetchone()
    assert 0 < kept < 6
    seconds = {cell.key: cell.seconds for cell in results().cells}
    assert command() == 0
    assert numbers(results()) == whole
    assert sum(seconds[cell.key] == cell.seconds for cell in results().cells if cell.seeds) == kept
    assert command("--no-run", "--json") == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["format"] == 1


def test_parts_merge_to_the_whole(command, results, tmp_path, capsys):
    assert command() == 0
    for part in (1, 2):
        assert command("--part", f"{part}/2", output=f"part{part}") == 0
    files = [str(tmp_path / f"part{part}" / "leaderboard.json") for part in (1, 2)]
    assert main(["leaderboard", "--output", str(tmp_path / "merged"), "--from", *files]) == 0
    assert numbers(results("merged")) == numbers(results())
    assert main(["leaderboard", "--output", str(tmp_path / "part1"), "--from", *files]) == 1
    assert "would overwrite the input" in capsys.readouterr().err


def test_failures_are_kept_and_repeated_on_request(command, results, tmp_path):
    def outcome():
        with sqlite3.connect(tmp_path / "out" / "leaderboard.sqlite") as database:
            ((seconds, reason),) = database.execute("SELECT seconds, reason FROM cells").fetchall()
        assert reason == "took more than 1 s"
        (cell,) = results().cells
        assert cell.reason == "time limit 1 s"
        return seconds

    words = ["--time-limit", "1", "--boards", "complete"]
    options = {"only": ["digits"], "methods": ["LateFusionClustering"]}
    assert command(*words, **options) == 0
    first = outcome()
    assert command(*words, **options) == 0
    assert outcome() == first
    assert command(*words, "--retry", **options) == 0
    assert outcome() != first


def test_a_result_is_confirmed_and_a_changed_one_is_not(command, tmp_path, data_folder, capsys):  # noqa: F811
    assert command("--boards", "complete") == 0
    path = tmp_path / "out" / "leaderboard.json"
    check = ["leaderboard", "--check", str(path), "--share", "1", "--data", str(data_folder), "--jobs", "1"]
    capsys.readouterr()
    assert main(check) == 0
    assert capsys.readouterr().out == "All 12 scores of 2 cells are the same.\n"
    content = json.loads(path.read_text())
    cell = next(cell for cell in content["cells"] if cell["method"] == "NEMO")
    cell["nmi"][1] -= 0.125
    path.write_text(json.dumps(content))
    assert main(check) == 1
    captured = capsys.readouterr()
    assert "1 of 12 scores of 2 cells differ" in captured.err
    assert f"NEMO on 'small' (board 'complete', seed 1): nmi {cell['nmi'][1]:g}, found " in captured.err
    assert "NEMO" in captured.out
    assert main([*check, "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["differences"]
    assert (found["method"], found["seed"], found["score"]) == ("NEMO", 1, "nmi")


def test_inputs_and_other_folders_are_not_written_to(command, tmp_path, capsys):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("mine")
    assert command(output="notes") == 1
    assert "is not the folder of an earlier leaderboard" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "notes").iterdir()] == ["mine.txt"]


def test_the_page_shows_the_results(command, results, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert command("--page", str(page)) == 0
    assert f"Page: {page}" in capsys.readouterr().out
    text = page.read_text(encoding="utf-8")
    board = results()
    for name in (*(one.name for one in board.sets), *(one.name for one in board.methods)):
        assert f">{name}</" in text
    assert "does not support missing views" in text
    again = tmp_path / "again.html"
    merged = ["leaderboard", "--output", str(tmp_path / "merged"), "--from", str(tmp_path / "out" / "leaderboard.json")]
    assert main([*merged, "--page", str(again), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["page"] == str(again)
    assert again.read_text(encoding="utf-8") == text


def test_the_page_replaces_no_other_file_and_is_checked_first(command, tmp_path, capsys):
    (tmp_path / "notes.html").write_text("mine")
    assert command("--page", str(tmp_path / "notes.html")) == 1
    assert "is not a report of latefusion" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert command("--page", str(tmp_path / "notes.txt")) == 1
    assert ".html" in capsys.readouterr().err
    assert (tmp_path / "notes.html").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--methods", "other"], "Unknown method 'other'"),
        (["--only", "other"], "Unknown data set 'other'"),
        (["--data", "nowhere"], "File or folder not found: 'nowhere'"),
        (["--from", "nowhere.json"], "nowhere.json"),
    ],
)
def test_wrong_names_are_errors(command, words, message, capsys):
    assert command(*words) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--part", "3/2"], ["--part", "1"], ["--share", "0"], ["--share", "much"]])
def test_wrong_numbers_are_errors_of_the_command_line(command, words):
    with pytest.raises(SystemExit) as error:
        command(*words)
    assert error.value.code == 2


def calls(tmp_path, output):
    """Methods, data sets and reasons of the stored cells."""
    with sqlite3.connect(tmp_path / output / "leaderboard.sqlite") as database:
        return set(database.execute("SELECT method, dataset, reason FROM cells").fetchall())


@pytest.fixture
def counted(monkeypatch):
    """The cells that were run, in place of those that were reused."""
    from latefusion.cli import leaderboard

    found = []

    def run_cells(cells, *arguments, **options):
        found.extend(cell.place for cell in cells if not options["skip"](cell))
        return real(cells, *arguments, **options)

    real = leaderboard.run_cells
    monkeypatch.setattr(leaderboard, "run_cells", run_cells)
    return found


def test_cells_of_an_earlier_file_are_reused_and_the_others_run(command, results, tmp_path, counted, capsys):
    assert command("--boards", "complete") == 0
    earlier, path = results(), tmp_path / "out" / "leaderboard.json"
    content = json.loads(path.read_text())
    assert all(len(one["code"]) == 12 for one in content["cells"])
    assert all(len(one["checksum"]) == 64 for one in content["sets"])
    next(one for one in content["cells"] if one["method"] == "NEMO")["code"] = "earlier"
    (tmp_path / "earlier.json").write_text(json.dumps(content))
    reuse = ["--reuse", str(tmp_path / "earlier.json"), "--boards", "complete"]
    counted.clear()
    capsys.readouterr()
    assert command(*reuse, output="new") == 0
    assert counted == [("complete", "small", "NEMO")]
    assert f"1 of 2 cells of {tmp_path / 'earlier.json'} are reused." in capsys.readouterr().out
    again = results("new")
    assert numbers(again) == numbers(earlier)
    assert [cell for cell in again.cells if cell.method == "A-MKKM"] == [
        cell for cell in earlier.cells if cell.method == "A-MKKM"
    ]
    assert [cell.code for cell in again.cells] == [cell.code for cell in earlier.cells]
    counted.clear()
    assert command("--boards", "complete", "--no-run", output="new") == 0  # they are in the store now
    assert results("new").cells == again.cells
    assert counted == []


def test_cells_without_code_or_of_other_data_are_run_again(command, tmp_path, counted, capsys):
    assert command("--boards", "complete") == 0
    content = json.loads((tmp_path / "out" / "leaderboard.json").read_text())
    other = {**content, "sets": [{**one, "checksum": "0" * 64} for one in content["sets"]]}
    old = {
        **content,
        "sets": [{key: value for key, value in one.items() if key != "checksum"} for one in content["sets"]],
        "cells": [{key: value for key, value in one.items() if key != "code"} for one in content["cells"]],
    }
    for name, changed in (("other", other), ("old", old)):
        counted.clear()
        (tmp_path / "earlier.json").write_text(json.dumps(changed))
        assert command("--boards", "complete", "--reuse", str(tmp_path / "earlier.json"), output=name) == 0
        assert len(counted) == 2
    assert "0 of 2 cells" in capsys.readouterr().out


def test_a_time_limit_is_reused_but_repeated_on_request(command, results, tmp_path, counted):
    options = {"only": ["digits"], "methods": ["LateFusionClustering"]}
    words = ["--time-limit", "1", "--boards", "complete"]
    assert command(*words, **options) == 0
    reuse = [*words, "--reuse", str(tmp_path / "out" / "leaderboard.json")]
    counted.clear()
    assert command(*reuse, output="new", **options) == 0
    assert counted == []
    assert numbers(results("new")) == numbers(results())
    assert calls(tmp_path, "new") == {("LateFusionClustering", "digits", "took more than 1 s")}
    assert command(*reuse, "--retry", output="newer", **options) == 0
    assert counted == [("complete", "digits", "LateFusionClustering")]


def test_a_reused_file_is_never_written_to_and_has_the_same_limits(command, tmp_path, capsys):
    assert command("--boards", "complete") == 0
    path = tmp_path / "out" / "leaderboard.json"
    assert command("--reuse", str(path)) == 1
    assert "would overwrite the input" in capsys.readouterr().err
    assert command("--reuse", str(path), "--time-limit", "60", output="new") == 1
    assert "computed with seconds=120, but this run has seconds=60" in capsys.readouterr().err


def test_given_clusterings_have_their_own_board_and_methods(command, results, tmp_path, data_folder, capsys):  # noqa: F811
    methods = ["ConsensusClustering", "indicator-kmeans", "LF-MVC-GAM", "A-MKKM"]
    assert command("--boards", "clusterings", methods=methods) == 0
    assert "Board 'clusterings': 1 data set, 3 methods" in capsys.readouterr().out
    board = results()
    assert [one.name for one in board.sets] == ["small, 2 to 6 clusters"]
    assert {one.name for one in board.methods} == {*methods[:3]}
    assert all(cell.seeds == [0, 1] and min(cell.acc) > 0.6 for cell in board.cells)
    path = tmp_path / "out" / "leaderboard.json"
    check = ["leaderboard", "--check", str(path), "--share", "1", "--data", str(data_folder), "--jobs", "1"]
    assert main(check) == 0
    assert "All 18 scores of 3 cells are the same." in capsys.readouterr().out


def test_the_oracle_stands_beside_the_results_and_is_stored_and_reused(command, results, tmp_path, counted, capsys):
    words, methods = ["--boards", "complete", "--oracle", "2"], ["SNF", "A-MKKM"]
    assert command(*words, methods=methods) == 0
    board = results()
    (entry,) = board.oracle
    (cell,) = (cell for cell in board.cells if cell.method == "SNF")
    assert (entry.key, entry.points, entry.reason) == (cell.key, 2, None)
    assert set(entry.parameters) == {"n_neighbors", "width"}
    assert 0.5 < entry.acc <= 1
    counted.clear()
    assert command(*words, methods=methods) == 0
    assert command(*words, "--reuse", str(tmp_path / "out" / "leaderboard.json"), methods=methods, output="new") == 0
    assert counted == []
    assert results("new").oracle == results().oracle == [entry]
    assert command("--boards", "complete", methods=methods) == 0
    assert results().oracle == []
