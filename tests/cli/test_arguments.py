"""Words of the command line are values, or wrong usage."""

import argparse
from pathlib import Path

import pytest

from latefusion.cli import main
from latefusion.cli.arguments import file_path, number_of_clusters, positive_number, seed


@pytest.mark.parametrize(
    ("text", "value"),
    [("5", 5), ("1", 1), ("auto", "auto"), ("2-6", range(2, 7)), ("4-4", range(4, 5)), ("2,4,6", [2, 4, 6])],
)
def test_numbers_of_clusters_are_those_of_the_estimators(text, value):
    assert number_of_clusters(text) == value


@pytest.mark.parametrize("text", ["", "five", "0", "5-2", "1-4", "-3", "2,x", "1,4", "2,", "2-4,6", "2--4", "²", "2.5"])
def test_other_words_are_not_numbers_of_clusters(text):
    with pytest.raises(argparse.ArgumentTypeError, match=r"must be|is not a number|is empty"):
        number_of_clusters(text)


def test_numbers_have_bounds():
    assert (positive_number("1"), seed("0"), seed("4294967295")) == (1, 0, 2**32 - 1)
    for read, text in (
        (positive_number, "0"),
        (positive_number, "-5"),
        (seed, "-1"),
        (seed, "4294967296"),
        (seed, "1.5"),
    ):
        with pytest.raises(argparse.ArgumentTypeError, match="must be an integer"):
            read(text)


def test_an_empty_name_is_not_the_current_folder(capsys):
    assert file_path("a.csv") == Path("a.csv")
    for words in (["cluster", ""], ["cluster", "a.csv", "-o", ""], ["predict", "", "a.csv"], ["demo", "--output", ""]):
        with pytest.raises(SystemExit) as stop:
            main(words)
        assert stop.value.code == 2
        assert "the name of a file or folder is empty" in capsys.readouterr().err
