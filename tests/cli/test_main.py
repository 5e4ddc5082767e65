import subprocess
import sys

import pytest

import latefusion
from latefusion.cli import info, main
from latefusion.cli.main import COMMANDS, build_parser


def test_version_and_help(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert latefusion.__version__ in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "demo" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["fuse"], ["demo", "--color"]])
def test_wrong_words_exit_with_two(words, capsys):
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 2
    assert "usage: latefusion" in capsys.readouterr().err


def test_wrong_input_exits_with_one_and_an_error_message(capsys, tmp_path):
    assert main(["compare", str(tmp_path / "nothing.npz")]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("latefusion compare: ")
    assert "nothing.npz" in captured.err
    assert captured.out == ""


def test_without_arguments_the_help_is_printed(capsys):
    with pytest.raises(SystemExit) as stop:
        main([])
    assert stop.value.code == 2
    assert "latefusion cluster genes.csv proteins.csv -o labels.csv" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    assert COMMANDS[command][1:20] in out
    assert f"usage: latefusion {command}" in out


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ValueError("one\n  two"), 1, "latefusion info: one two\n"),
        (PermissionError(13, "Permission denied", "a.csv"), 1, "latefusion info: Permission denied: 'a.csv'\n"),
        (MemoryError(), 1, "latefusion info: MemoryError\n"),
        (ImportError("install it"), 1, "latefusion info: install it\n"),
        (KeyboardInterrupt(), 130, "latefusion info: interrupted\n"),
    ],
)
def test_errors_become_a_line_and_a_code(error, code, message, capsys, monkeypatch):
    def fail(options):
        raise error

    monkeypatch.setattr(info, "run", fail)
    assert main(["info"]) == code
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", message)


def test_mistakes_of_ours_are_not_hidden(monkeypatch):
    monkeypatch.setattr(info, "run", lambda options: {}["bug"])
    with pytest.raises(KeyError):
        main(["info"])


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
    assert "Unknown method 'x'" in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_examples_of_itself(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    lines = capsys.readouterr().out.partition("examples:")[2].strip().splitlines()
    assert lines
    assert all(line.strip().startswith(f"latefusion {command}") for line in lines)
    for line in lines:  # explanations stand behind two spaces
        words = line.strip().partition("  ")[0].partition(" > ")[0].split()[1:]
        build_parser(command).parse_args(words)
