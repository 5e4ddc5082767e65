import csv
import dataclasses
import itertools
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from latefusion.cli import main
from latefusion.experiments.protocol import FULL, Cell, Point, plan
from latefusion.experiments.runner import Limits, cheapest_first, run_cells
from latefusion.progress import progress_listener

POINT = Point({}, 0.0, {"accuracy": [1.0]}, [])


def misbehave(cell):
    """What a cell does is in the name of its method."""
    if cell.method == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if cell.method == "exit":
        os._exit(3)
    if cell.method == "raise":
        raise ArithmeticError("singular matrix")
    if cell.method == "sleep":
        subprocess.run(["sleep", "60"], check=False)
    if cell.method == "memory":
        np.ones(2**28)  # 2 GiB
    if cell.method == "orphan":
        Path(cell.grid).write_text(str(os.getpid()))
        time.sleep(60)
    return [POINT]


def stream(cell):
    """Two results, then what the name of the method says."""
    yield cell.seeds
    yield os.getpid()
    misbehave(cell)


def cells_of(source, *methods):
    return [Cell(source, method, "oracle", "{}", (seed,)) for seed, method in enumerate(methods)]


def run(cells, **options):
    found = {}
    run_cells(cells, found.__setitem__, work=misbehave, **options)
    return found


def test_parallel_is_serial(small_cells, small_outcomes):
    some = small_cells[::4]
    found = {}
    run_cells(some, found.__setitem__, jobs=2)
    assert set(found) == set(some)
    for cell in some:
        assert [point._replace(seconds=0) for point in found[cell].points] == [
            point._replace(seconds=0) for point in small_outcomes[cell].points
        ]


def test_what_goes_wrong_becomes_a_reason_and_the_rest_goes_on(small_source):
    cells = cells_of(small_source, "fine", "crash", "fine", "raise", "exit", "fine")
    found = run(cells, jobs=2)
    assert [found[cell].reason for cell in cells] == [
        "",
        "crashed (signal 11)",
        "",
        "ArithmeticError: singular matrix",
        "crashed (exit code 3)",
        "",
    ]
    assert all(outcome.points == ([] if outcome.reason else [POINT]) for outcome in found.values())


def test_time_is_limited_per_cell(small_source):
    cells = cells_of(small_source, "sleep", "fine", "fine")
    start = time.monotonic()
    found = run(cells, jobs=2, limits=Limits(seconds=1.0))
    assert time.monotonic() - start < 20
    assert [found[cell].reason for cell in cells] == ["took more than 1 s", "", ""]


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited on Linux only")
def test_memory_is_limited_per_cell(small_source):
    cells = cells_of(small_source, "memory", "fine")
    found = run(cells, limits=Limits(memory=512))
    assert found[cells[0]].reason.startswith("out of memory")
    assert found[cells[1]].reason == ""
    assert run(cells[1:], limits=Limits(memory=4096))[cells[1]].reason == ""


@pytest.mark.parametrize("fresh", [False, True])
def test_results_before_a_failure_are_kept(small_source, fresh):
    cells = cells_of(small_source, "fine", "raise", "sleep", "exit", "fine")
    found = {}
    run_cells(cells, found.__setitem__, work=stream, limits=Limits(seconds=2.0), fresh=fresh)
    assert [found[cell].points[0] for cell in cells] == [cell.seeds for cell in cells]
    assert [len(found[cell].points) for cell in cells] == [2] * 5
    assert [bool(found[cell].reason) for cell in cells] == [False, True, True, True, False]
    first, second, _, _, last = (found[cell].points[1] for cell in cells)
    assert last not in (first, second)
    assert (first == second) != fresh


def test_a_cell_can_be_left_out_by_the_outcomes_so_far(small_source):
    cells = cells_of(small_source, "fine", "raise", "fine", "fine")
    found, reports = {}, []
    with progress_listener(lambda *report: reports.append(report)):
        run_cells(
            cells, found.__setitem__, work=misbehave, skip=lambda _: any(one.reason for one in found.values()), jobs=1
        )
    assert list(found) == cells[:2]
    assert [words.endswith("(left out)") for words, _ in reports] == [False, False, False, True, True]
    assert reports[-1][1] == 1.0
    run_cells(cells, found.__setitem__, work=misbehave, skip=lambda _: True)
    assert len(found) == 2


def test_an_error_while_recording_ends_the_run_and_its_workers(small_source):
    def full(cell, outcome):
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        run_cells(cells_of(small_source, "fine", "sleep"), full, work=misbehave, jobs=2)


def test_nothing_to_do_starts_nothing(small_source):
    assert run([]) == {}


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] not in "ZX"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_workers_end_with_the_process_that_started_them(tmp_path):
    mark = tmp_path / "pid"
    script = f"""
from latefusion.experiments.protocol import Cell
from latefusion.experiments.runner import run_cells
from latefusion.experiments.sources import Source
from tests.experiments.test_runner import misbehave
if __name__ == "__main__":
    source = Source("x", "", "", 1, 1, 1)
    run_cells([Cell(source, "orphan", "oracle", {str(mark)!r}, (0,))], print, work=misbehave)
"""
    parent = subprocess.Popen([sys.executable, "-c", script], cwd=Path(__file__).parents[2])
    wait_for(lambda: mark.exists() and mark.read_text(), parent)
    worker = int(mark.read_text())
    assert alive(worker)
    parent.kill()
    parent.wait()
    wait_for(lambda: not alive(worker))


def wait_for(condition, process=None, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        assert process is None or process.poll() is None, "ended too early"
        time.sleep(0.02)


COMMAND = "from latefusion.cli import main; raise SystemExit(main())"
OPTIONS = ["--quick", "--only", "planted", "--no-figures", "--jobs", "2"]
OPTIONS += ["--methods", "A-MKKM", "RMKKM", "OPLFMVC", "concat-kmeans", "LF-MVC-GAM"]


def rows(path):
    if not path.exists():
        return {}
    with sqlite3.connect(path) as database:
        try:
            return {row[:7]: row[7:] for row in database.execute("SELECT * FROM cells")}
        except sqlite3.OperationalError:  # killed before the table was made
            return {}


def scores(folder):
    """All results but for the seconds, which no two runs share."""
    lines = list(csv.DictReader((folder / "results.csv").read_text().splitlines()))
    return [{key: value for key, value in line.items() if key != "seconds"} for line in lines]


@pytest.mark.parametrize("most_kills", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_kills_lose_no_cell_and_change_no_number(tmp_path, most_kills):
    """Started again, the run goes on where it was; the tables are those of a run that nobody disturbed."""
    draw = random.Random(most_kills)
    database = tmp_path / "killed" / "results.sqlite"
    command = [sys.executable, "-c", COMMAND, "reproduce", *OPTIONS, "--output", str(database.parent)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    kills = starts = 0
    while kills < most_kills and starts < 5 * most_kills:
        starts += 1
        before = rows(database)
        process = subprocess.Popen(command, **quiet)
        wait_for(lambda known=before, child=process: len(rows(database)) > len(known) or child.poll() is not None)
        if process.poll() is not None:
            shutil.rmtree(database.parent)  # on a fast machine all cells are done before the last kill: begin again
            continue
        time.sleep(draw.uniform(0, 0.1))
        seen = rows(database)
        process.kill()
        process.wait()
        kills += 1
        after = rows(database)
        assert before.items() <= seen.items() <= after.items()
        with sqlite3.connect(database) as opened:
            assert opened.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert kills == most_kills
    subprocess.run(command, check=True, **quiet)
    assert main(["reproduce", *OPTIONS, "--output", str(tmp_path / "whole")]) == 0
    assert scores(database.parent) == scores(tmp_path / "whole")
    assert rows(database).keys() == rows(tmp_path / "whole" / "results.sqlite").keys()


def test_progress_is_the_share_of_the_cost(small_source):
    """A cell with twice as many samples counts four times, whatever becomes of it."""
    larger = dataclasses.replace(small_source, name="larger", n_samples=2 * small_source.n_samples)
    cells = [*cells_of(small_source, "fine", "raise"), *cells_of(larger, "fine")]
    reports = []
    with progress_listener(lambda *report: reports.append(report)):
        run(cells)
    name = small_source.name
    assert [message for message, _ in reports] == [
        "0 of 3 cells",
        f"1 of 3 cells, {name}, fine",
        f"2 of 3 cells, {name}, raise",
        "3 of 3 cells, larger, fine",
    ]
    assert [fraction for _, fraction in reports] == pytest.approx([0, 1 / 6, 2 / 6, 1])


def test_cheapest_first_keeps_groups_together_and_loses_nothing(small_source):
    larger = dataclasses.replace(small_source, name="larger", n_samples=10 * small_source.n_samples)
    cells = plan([larger, small_source], ["A-MKKM", "RMKKM"], FULL)
    ordered = cheapest_first(cells)
    assert sorted(map(str, ordered)) == sorted(map(str, cells))
    groups = [key for key, _ in itertools.groupby(ordered, lambda cell: (cell.source.name, cell.method, cell.protocol))]
    assert len(groups) == len(set(groups)) == 8
    assert groups[0] == (small_source.name, "A-MKKM", "label-free")
    assert groups[-1] == ("larger", "RMKKM", "oracle")
    assert groups.index((small_source.name, "RMKKM", "oracle")) > groups.index(("larger", "A-MKKM", "oracle"))
