"""A file is there whole or not at all."""

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import latefusion
from latefusion import atomic_files
from latefusion.atomic_files import atomic_write, check_target
from tests.cli.shell import IS_ROOT
from tests.experiments.test_store import file_size


def test_content_takes_its_place_and_nothing_else_remains(tmp_path):
    with atomic_write(tmp_path / "a") as stream:
        stream.write(b"one")
        assert not (tmp_path / "a").exists()
    with atomic_write(tmp_path / "a") as stream:
        stream.write(b"two")
        assert (tmp_path / "a").read_bytes() == b"one"
    assert (tmp_path / "a").read_bytes() == b"two"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_whatever_breaks_in_leaves_what_was_there(tmp_path, error):
    (tmp_path / "a").write_bytes(b"old")

    def break_in():
        with atomic_write(tmp_path / "a") as stream:
            stream.write(b"half")
            raise error

    with pytest.raises(error):
        break_in()
    assert (tmp_path / "a").read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


def test_rights_are_those_of_an_ordinary_file(tmp_path):
    (tmp_path / "ordinary").touch()
    with atomic_write(tmp_path / "a"):
        pass
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == stat.S_IMODE((tmp_path / "ordinary").stat().st_mode)


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "far" / "a")
    with atomic_write(tmp_path / "link") as stream:
        stream.write(b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "far" / "a").read_bytes() == b"x"


def test_a_device_is_written_to():
    with atomic_write(os.devnull) as stream:
        stream.write(b"x")
    assert not os.path.isfile(os.devnull)


def test_places_that_cannot_be_written_are_refused_with_the_way_out(tmp_path, monkeypatch):
    with pytest.raises(IsADirectoryError, match=r"is a folder\. Give the name of a file"):
        check_target(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"folder .*nowhere' does not exist. Create it"):
        check_target(tmp_path / "nowhere" / "a")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # who is root may write everywhere
    with pytest.raises(PermissionError, match="permission denied for the folder"):
        check_target(tmp_path / "a")


HALF = """
import sys, time
from latefusion.atomic_files import atomic_write

with atomic_write(sys.argv[1]) as stream:
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
    with atomic_write(tmp_path / "a") as stream:
        stream.write(b"one")
        (part,) = tmp_path.iterdir()
        assert part.name.endswith(".part")
    assert (tmp_path / "a").read_bytes() == b"one"
    with pytest.raises(KeyboardInterrupt), atomic_write(tmp_path / "a") as stream:
        raise KeyboardInterrupt
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="only Linux has files without a name")
def test_file_systems_that_cannot_are_no_error(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic_files, "_open_nameless", lambda folder: None)
    with atomic_write(tmp_path / "a") as stream:
        stream.write(b"one")
    assert (tmp_path / "a").read_bytes() == b"one"


def test_errors_of_the_system_name_the_file_that_was_asked_for(tmp_path, monkeypatch):
    """Whatever fails (creating, writing, naming, replacing), the temporary file is not mentioned."""
    monkeypatch.chdir(tmp_path)
    refusal = OSError(errno.EIO, "Input/output error", str(tmp_path / ".latefusion.part"))

    def fail(first, *words, **options):
        named = [] if isinstance(first, int) else [str(first)]  # as the system does it
        raise OSError(errno.EIO, "Input/output error", *named)

    for module, name in ((os, "fsync"), (os, "link"), (os, "replace")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, fail)
            with pytest.raises(OSError, match="Input/output error") as caught, atomic_write("a.csv") as stream:
                stream.write(b"x")
        assert caught.value.filename == "a.csv", name
        assert list(tmp_path.iterdir()) == []
    with monkeypatch.context() as patch:
        patch.setattr(atomic_files, "_open_nameless", lambda folder: None)
        patch.setattr(Path, "open", fail)
        with pytest.raises(OSError, match=r"Input/output error: 'a\.csv'"), atomic_write("a.csv"):
            pass
    with pytest.raises(OSError, match=r"\.latefusion\.part") as caught, atomic_write("a.csv"):
        raise refusal  # about another file, which the caller has opened: it keeps its name
    assert caught.value is refusal


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
def test_a_full_device_is_named():
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"), atomic_write("/dev/full") as stream:
        stream.write(b"x")


def test_a_full_disk_is_named_and_what_was_there_stays(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    refused = pytest.raises(OSError, match=r"File too large: .*/a'")
    with file_size(1000), refused, atomic_write(tmp_path / "a") as stream:
        stream.write(bytes(5000))
    assert (tmp_path / "a").read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


@pytest.mark.skipif(not IS_ROOT or not Path("/proc").is_dir(), reason="others than root are refused before")
def test_a_file_system_of_the_system_is_named():
    with pytest.raises(OSError, match=r"'/proc/nope\.csv'"), atomic_write("/proc/nope.csv") as stream:
        stream.write(b"x")


def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path):
    name = "n" * os.pathconf(tmp_path, "PC_NAME_MAX")
    with atomic_write(tmp_path / name) as stream:
        stream.write(b"x")
    assert (tmp_path / name).read_bytes() == b"x"
    with pytest.raises(OSError, match="File name too long") as caught, atomic_write(tmp_path / f"{name}n") as stream:
        stream.write(b"x")
    assert caught.value.filename == str(tmp_path / f"{name}n")


def test_places_are_called_as_the_user_called_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to(tmp_path / "gone" / "a")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(FileNotFoundError, match=r"^'far/a' cannot be written: the folder 'far' does not exist"):
        check_target("far/a")
    with pytest.raises(FileNotFoundError, match="the folder 'file' is not a folder"):
        check_target("file/a")
    with pytest.raises(FileNotFoundError, match=r"^'dangling' cannot be written: the folder '.*gone' does not exist"):
        check_target("dangling")
    with pytest.raises(OSError, match=r"^'loop'|'loop'$"), atomic_write("loop"):
        pass


def test_a_read_only_file_is_not_replaced(tmp_path, monkeypatch):
    """The rights of the folder would allow it. Rights are simulated, since root may write everywhere."""
    (tmp_path / "a").write_bytes(b"precious")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "a")
    with pytest.raises(PermissionError, match="the file is read-only"), atomic_write(tmp_path / "a") as stream:
        stream.write(b"x")
    assert (tmp_path / "a").read_bytes() == b"precious"
