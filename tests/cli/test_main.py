import subprocess
import sys

import pytest

import latefusion
from latefusion.cli import main


def test_version_and_help(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert latefusion.__version__ in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "demo" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["fuse"], ["demo", "--colour"]])
def test_wrong_words_exit_with_two(words, capsys):
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 2
    assert "usage: latefusion" in capsys.readouterr().err


def test_wrong_input_exits_with_one_and_says_why(capsys, tmp_path):
    assert main(["compare", str(tmp_path / "nothing.npz")]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("latefusion compare: ")
    assert "nothing.npz" in captured.err
    assert captured.out == ""


def test_installed_command():
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from latefusion.cli import main; raise SystemExit(main(['compare', '--methods', 'x']))",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "unknown methods ['x']" in done.stderr
