"""The answer goes where it was asked for."""

import argparse
import json

import numpy as np
import pytest

from latefusion.cli.answers import (
    add_answer_arguments,
    check_outputs,
    count_novel,
    put_answer,
    put_labels,
    put_table,
    without_nan,
)
from latefusion.outputs import Labels
from latefusion.outputs.targets import PROFILES
from latefusion.summaries import novelty_line

FOUND = Labels(np.array(["a", "b"]), np.array([1, 0]), np.array([0.5, np.nan]), np.array([0.25, 7.0]))


def options(*words):
    parser = argparse.ArgumentParser()
    add_answer_arguments(parser)
    return parser.parse_args(words)


def test_json_holds_the_labels_unless_a_file_does(tmp_path, capsys):
    put_answer({"n": 2}, FOUND, options("--json"), str)
    printed = json.loads(capsys.readouterr().out)
    assert printed == {
        "n": 2,
        "samples": {"id": ["a", "b"], "label": [1, 0], "confidence": [0.5, None], "novelty": [0.25, 7.0]},
    }
    put_answer({"n": 2}, FOUND, options("--json", "-o", "x.csv"), str)
    assert json.loads(capsys.readouterr().out) == {"n": 2}


def test_labels_and_words_do_not_mix_on_the_standard_output(capsys, tmp_path):
    asked = options("-o", str(tmp_path / "labels.csv"))
    put_labels(FOUND, asked)
    put_answer({}, FOUND, asked, lambda answer: "words")
    assert capsys.readouterr() == ("words\n", "")
    assert (tmp_path / "labels.csv").read_text().splitlines()[1] == "a,1,0.5,0.25"
    put_answer({}, FOUND, options("-o", "-"), lambda answer: "words")
    assert capsys.readouterr() == ("", "words\n")
    put_answer({}, FOUND, options("--quiet"), lambda answer: "words")
    put_labels(FOUND, options())
    assert capsys.readouterr() == ("", "")


def test_places_are_checked_first(tmp_path):
    with pytest.raises(ValueError, match="Use only one of them"):
        check_outputs(options("-o", "-", "--json"), [])
    with pytest.raises(ValueError, match=r"-o 'labels.doc' ends in '.doc', but a table of labels is written as .csv"):
        check_outputs(options("-o", "labels.doc"), [])
    with pytest.raises(ValueError, match=r"but a table of profiles is written as \.csv"):
        check_outputs(options("-o", "profiles.doc"), [], PROFILES)
    with pytest.raises(IsADirectoryError):
        check_outputs(argparse.Namespace(**vars(options()), save=tmp_path), [])


def test_tables_of_any_kind_are_written_where_they_were_asked_for(tmp_path, capfdbinary):
    put_table({"a": np.array([1])}, options("-o", str(tmp_path / "t.csv")), PROFILES, "profiles")
    assert (tmp_path / "t.csv").read_text() == "a\n1\n"
    put_table({"a": np.array([1])}, options("-o", "-"), PROFILES, "profiles")
    assert capfdbinary.readouterr().out.endswith(b"a\n1\n")
    put_table({"a": np.array([1])}, options(), PROFILES, "profiles")
    assert capfdbinary.readouterr().out == b""


def test_help_says_what_is_written(capsys):
    parser = argparse.ArgumentParser()
    add_answer_arguments(parser, "all rows", "some rows")
    parser.print_help()
    text = " ".join(capsys.readouterr().out.split())
    assert "write all rows (.csv, .tsv" in text
    assert "print JSON, with some rows" in text


def test_far_samples_are_counted():
    assert count_novel(FOUND) == 1
    assert novelty_line(1, 2, "training samples")[0].startswith("Novelty: 1 of 2 samples is farther from all training")
    assert count_novel(FOUND._replace(novelty=None)) is None
    assert novelty_line(None, 2, "training samples") == []


def test_json_knows_no_nan():
    assert without_nan({1: [np.nan, 2.0, {"x": np.inf}]}) == {"1": [None, 2.0, {"x": None}]}
