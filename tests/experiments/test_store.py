import os
import resource
from contextlib import contextmanager

import pytest

import latefusion
from latefusion.experiments.protocol import Point
from latefusion.experiments.store import Outcome, ResultStore, code_version

POINT = Point({"regularization": 0.1, "kind": "a"}, 0.25, {"accuracy": [0.1, 1 / 3]}, [1.5, 2.5])


@contextmanager
def file_size(most):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_what_was_written_is_read(tmp_path, small_cells):
    store = ResultStore(tmp_path / "new" / "results.sqlite")
    first, second, third = small_cells[:3]
    store.record(first, Outcome(1.5, [POINT, POINT]))
    store.record(second, Outcome(2.5, [], "out of memory"))
    store.close()
    again = ResultStore(tmp_path / "new" / "results.sqlite").load(small_cells)
    assert again == {first: Outcome(1.5, [POINT, POINT]), second: Outcome(2.5, [], "out of memory")}
    assert third not in again


def test_results_belong_to_code_and_data(tmp_path, small_cells):
    from dataclasses import replace

    path = tmp_path / "results.sqlite"
    cell = small_cells[0]
    ResultStore(path, "1").record(cell, Outcome(1.0, [POINT]))
    assert ResultStore(path, "2").load([cell]) == {}
    other = replace(cell, source=replace(cell.source, checksum="another"))
    assert ResultStore(path, "1").load([other, cell]) == {cell: Outcome(1.0, [POINT])}


def test_a_cell_that_is_run_again_is_replaced(tmp_path, small_cells):
    store = ResultStore(tmp_path / "results.sqlite")
    store.record(small_cells[0], Outcome(1.0, [], "crashed"))
    store.record(small_cells[0], Outcome(2.0, [POINT]))
    assert store.load(small_cells) == {small_cells[0]: Outcome(2.0, [POINT])}


def test_a_full_disk_leaves_what_was_written(tmp_path, small_cells):
    path = tmp_path / "results.sqlite"
    store = ResultStore(path)
    store.record(small_cells[0], Outcome(1.0, [POINT]))
    with (
        file_size(path.stat().st_size),
        pytest.raises(OSError, match=r"results\.sqlite.*Earlier results are intact"),
    ):
        store.record(small_cells[1], Outcome(1.0, [POINT] * 5000))
    assert store.load(small_cells) == {small_cells[0]: Outcome(1.0, [POINT])}
    store.record(small_cells[1], Outcome(2.0, [POINT]))
    store.close()
    assert len(ResultStore(path).load(small_cells)) == 2


def test_a_folder_without_rights(tmp_path, small_cells):
    locked = tmp_path / "locked"
    store = ResultStore(locked / "results.sqlite")
    store.record(small_cells[0], Outcome(1.0, [POINT]))
    store.close()
    locked.chmod(0o555)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        with pytest.raises(OSError, match="locked/deeper' cannot be created or opened"):
            ResultStore(locked / "deeper" / "results.sqlite")
        with pytest.raises(OSError, match=r"locked.*(cannot be created or opened|cannot be read or written)"):
            ResultStore(locked / "results.sqlite").record(small_cells[1], Outcome(1.0, [POINT]))
    finally:
        if root:
            os.seteuid(0)
        locked.chmod(0o755)
    assert len(ResultStore(locked / "results.sqlite").load(small_cells)) == 1


def test_a_file_that_is_no_database(tmp_path):
    (tmp_path / "results.sqlite").write_text("something else entirely, and long enough to be looked at" * 20)
    with pytest.raises(OSError, match=r"results\.sqlite.*not a database"):
        ResultStore(tmp_path / "results.sqlite")


def test_the_version_of_the_code_names_the_release_and_changes_with_what_computes(tmp_path):
    assert code_version().startswith(f"{latefusion.__version__}+")
    for room in ("solvers", "report", "experiments"):
        (tmp_path / room).mkdir()
    versions = [code_version(tmp_path)]
    for file in ("solvers/one.py", "experiments/protocol.py", "report/page.py", "experiments/tables.py"):
        (tmp_path / file).write_text("pass")
        versions.append(code_version(tmp_path))
    empty, solver, protocol, report, table = versions
    assert len({empty, solver, protocol}) == 3
    assert protocol == report == table
