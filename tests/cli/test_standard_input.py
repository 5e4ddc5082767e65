"""A table from standard input is a file as long as the command runs."""

import argparse
import gzip
import io
import json
import sys
import tempfile
from pathlib import Path

import pytest

from latefusion.cli import main
from latefusion.cli.inputs import add_file_arguments, read
from latefusion.cli.standard_input import displayed, reproducible, standard_input
from tests.cli.shell import write_tables

TABLE = "id;größe;farbe\na;1,5;rot\nb;2,5;grün\nc;?;rot\n"


class Pipe:
    def __init__(self, content, terminal=False):
        self.buffer, self.terminal = io.BytesIO(content), terminal

    def isatty(self):
        return self.terminal


@pytest.fixture
def pipe(tmp_path, monkeypatch):
    """Set the standard input; temporary files lie in a folder of their own."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.chdir(tmp_path)
    return lambda content, **more: monkeypatch.setattr(sys, "stdin", Pipe(content, **more))


def options(*words):
    parser = argparse.ArgumentParser()
    add_file_arguments(parser)
    return parser.parse_args(list(map(str, words)))


@pytest.mark.parametrize(
    "content",
    [TABLE.encode(), TABLE.encode("utf-16"), TABLE.encode("cp1252"), gzip.compress(TABLE.encode())],
    # A compressed file contains the time, so its bytes would name the test differently in every process.
    ids=["UTF-8", "UTF-16", "Windows", "gzip"],
)
def test_a_table_in_any_encoding(tmp_path, pipe, content):
    pipe(content)
    data = read(options("-")).data
    assert data.views.names == ("stdin",)
    assert data.views.sample_ids.tolist() == ["a", "b", "c"]
    assert data.views.arrays[0]["farbe"].tolist() == ["rot", "grün", "rot"]
    assert data.views.arrays[0]["größe"].tolist()[:2] == [1.5, 2.5]
    assert list((tmp_path / "tmp").iterdir()) == []


def test_beside_other_files_and_transposed(tmp_path, pipe):
    (tmp_path / "b.csv").write_text("id,n\na,1\nb,2\n")
    pipe(b"gene,a,b\ng1,1,2\ng2,3,4\n")
    views = read(options("b.csv", "-", "--transpose", "-")).data.views
    assert views.names == ("b", "stdin")
    assert views.arrays[1].tolist() == [[1, 3], [2, 4]]


def test_errors_call_it_stdin_and_remove_the_file(tmp_path, pipe):
    pipe(b"id,a\nx,1\nx,2\n")
    with pytest.raises(ValueError, match=r"^'stdin' has the sample id 'x' 2 times .*--id"):
        read(options("-"))
    assert list((tmp_path / "tmp").iterdir()) == []
    pipe(b"")
    with pytest.raises(ValueError, match=r"^'stdin' is empty"):
        read(options("-"))
    pipe(TABLE.encode())
    with pytest.raises(ValueError, match=r"Standard input \(-\) was given twice"):
        read(options("-", "-"))
    pipe(TABLE.encode(), terminal=True)
    with pytest.raises(ValueError, match=r"Standard input \(-\) is a terminal\. Pipe"):
        read(options("-"))


def test_options_without_standard_input_stay_as_they_are():
    given = options("a.csv")
    with standard_input(given) as available:
        assert available is given
    assert displayed({"file": "a.csv"}, given, given) == {"file": "a.csv"}
    assert reproducible([Path("-"), Path("a.csv")]) == [Path("stdin.csv"), Path("a.csv")]


def test_commands_read_it(tmp_path, pipe, capsys):
    write_tables(tmp_path)
    content = (tmp_path / "genes.csv").read_bytes()
    pipe(content)
    assert main(["cluster", "-", "proteins.csv", "-k", "3", "--json", "--quiet", "-o", "labels.csv"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["files"] == ["-", "proteins.csv"]
    pipe(content)
    assert main(["info", "-", "proteins.csv", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [one["file"] for one in answer["files"]] == ["stdin", "proteins.csv"]
    assert set(answer["together"]["overlap"]["files"]) == {"stdin", "proteins.csv"}
