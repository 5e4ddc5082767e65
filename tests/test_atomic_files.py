"""A file is there whole or not at all."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import latefusion
from latefusion import atomic_files
from latefusion.atomic_files import check_target, whole_file


def test_content_takes_its_place_and_nothing_else_remains(tmp_path):
    with whole_file(tmp_path / "a") as stream:
        stream.write(b"one")
        assert not (tmp_path / "a").exists()
    with whole_file(tmp_path / "a") as stream:
        stream.write(b"two")
        assert (tmp_path / "a").read_bytes() == b"one"
    assert (tmp_path / "a").read_bytes() == b"two"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_whatever_breaks_in_leaves_what_was_there(tmp_path, error):
    (tmp_path / "a").write_bytes(b"old")

    def break_in():
        with whole_file(tmp_path / "a") as stream:
            stream.write(b"half")
            raise error

    with pytest.raises(error):
        break_in()
    assert (tmp_path / "a").read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


def test_rights_are_those_of_an_ordinary_file(tmp_path):
    (tmp_path / "ordinary").touch()
    with whole_file(tmp_path / "a"):
        pass
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == stat.S_IMODE((tmp_path / "ordinary").stat().st_mode)


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "far" / "a")
    with whole_file(tmp_path / "link") as stream:
        stream.write(b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "far" / "a").read_bytes() == b"x"


def test_a_device_is_written_to():
    with whole_file(os.devnull) as stream:
        stream.write(b"x")
    assert not os.path.isfile(os.devnull)


def test_places_that_cannot_be_written_are_refused_with_the_way_out(tmp_path, monkeypatch):
    with pytest.raises(IsADirectoryError, match="is a folder: give the name of a file"):
        check_target(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no folder .*nowhere'. Create it"):
        check_target(tmp_path / "nowhere" / "a")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # who is root may write everywhere
    with pytest.raises(PermissionError, match="no right to write to the folder"):
        check_target(tmp_path / "a")


HALF = """
import sys, time
from latefusion.atomic_files import whole_file

with whole_file(sys.argv[1]) as stream:
    stream.write(b"half")
    stream.flush()
    print("written", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="only Linux has files without a name")
@pytest.mark.parametrize("kind", ["SIGKILL", "SIGTERM"])
def test_a_killed_process_leaves_nothing_behind(tmp_path, kind):
    (tmp_path / "a").write_bytes(b"old")
    environment = {**os.environ, "PYTHONPATH": str(Path(latefusion.__file__).parents[1])}
    command = [sys.executable, "-c", HALF, str(tmp_path / "a")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as running:
        assert running.stdout.readline() == b"written\n"
        running.send_signal(getattr(signal, kind))
        assert running.wait(30) != 0
    assert (tmp_path / "a").read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


def test_systems_without_nameless_files_write_beside_the_place(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    with whole_file(tmp_path / "a") as stream:
        stream.write(b"one")
        (part,) = tmp_path.iterdir()
        assert part.name.startswith(".a.")
    assert (tmp_path / "a").read_bytes() == b"one"
    with pytest.raises(KeyboardInterrupt), whole_file(tmp_path / "a") as stream:
        raise KeyboardInterrupt
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="only Linux has files without a name")
def test_file_systems_that_cannot_are_no_error(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic_files, "_open_nameless", lambda folder: None)
    with whole_file(tmp_path / "a") as stream:
        stream.write(b"one")
    assert (tmp_path / "a").read_bytes() == b"one"
