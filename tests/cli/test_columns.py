"""Options about columns: kinds, views of one table, and what they do to a run."""

import argparse
import json

import numpy as np
import pandas as pd
import pytest

from latefusion.cli import main
from latefusion.cli.columns import (
    add_column_arguments,
    column_kinds,
    number_or_word,
    read_view_file,
    view_columns,
    view_weights,
)
from latefusion.encoding.column_kinds import KINDS

RNG = np.random.default_rng(0)
GROUP = RNG.integers(0, 2, 80)


def parsed(*words):
    parser = argparse.ArgumentParser()
    add_column_arguments(parser)
    return parser.parse_args(list(words))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame(
        {
            "id": [f"p{row}" for row in range(80)],
            "zip": np.where(GROUP, 10115, 80331),
            "colour": np.where(RNG.random(80) < 0.8, np.where(GROUP, "red", "blue"), "green"),
            "spend_food": [f"${value:,.2f}" for value in 1000 * (1 + GROUP) + RNG.normal(0, 90, 80)],
            "spend_fun": GROUP + RNG.normal(0, 0.4, 80),
            "note": "x",
        }
    )
    table.loc[3, "colour"] = None
    table.to_csv("all.csv", index=False)
    return tmp_path


def test_options_become_kinds():
    options = parsed("--category", "zip", "--drop", "note", "--ordered", "size=S, M,L", "--date", "since")
    assert column_kinds(options) == {"zip": "category", "since": "date", "note": "drop", "size": ["S", "M", "L"]}
    assert column_kinds(parsed("--duration", "time", "--number", "n")) == {"time": "duration", "n": "number"}
    assert column_kinds(parsed()) is None


@pytest.mark.parametrize("words", [["--ordered", "size"], ["--ordered", "size=S"], ["--category", "a", "--drop", "a"]])
def test_contradictions_are_refused(words):
    with pytest.raises(ValueError, match=r"--(ordered|drop)"):
        column_kinds(parsed(*words))


def test_options_become_views(tmp_path):
    assert view_columns(parsed()) is None
    assert view_columns(parsed("--views", "auto")) == "auto"
    assert view_columns(parsed("--view", "a=x,y", "--view", "b=z_*")) == {"a": ["x", "y"], "b": ["z_*"]}
    (tmp_path / "views.csv").write_text("column,view\nx,a\nz,b\ny,a\n")
    assert view_columns(parsed("--views", str(tmp_path / "views.csv"))) == {"a": ["x", "y"], "b": ["z"]}
    for words in (
        ["--view", "a"],
        ["--view", "a="],
        ["--view", "a=x", "--view", "a=y"],
        ["--view", "a=x", "--views", "auto"],
    ):
        with pytest.raises(ValueError, match="--view"):
            view_columns(parsed(*words))
    (tmp_path / "bad.csv").write_text("x,a,b\n")
    with pytest.raises(ValueError, match="line 1: expected a column and its view"):
        read_view_file(tmp_path / "bad.csv")
    with pytest.raises(FileNotFoundError, match="--views takes 'auto' or a table"):
        read_view_file(tmp_path / "absent.csv")


def run(capsys, *words):
    assert main(["cluster", "all.csv", "-k", "2", "--json", "--quiet", *words]) == 0
    return json.loads(capsys.readouterr().out)


def test_kinds_of_columns_are_told_and_can_be_overruled(folder, capsys):
    found = run(capsys)
    assert found["columns"] == {
        "all": {
            "zip": "number",
            "colour": "category",
            "spend_food": "number",
            "spend_fun": "number",
            "note": "constant",
        }
    }
    found = run(capsys, "--category", "zip", "--drop", "spend_fun")
    assert found["columns"]["all"] == {
        "zip": "category",
        "colour": "category",
        "spend_food": "number",
        "note": "constant",
    }


def test_views_of_one_table_are_saved_and_predicted(folder, capsys):
    found = run(
        capsys, "--view", "where=zip,colour", "--view", "spending=spend_*", "-o", "labels.csv", "--save", "m.model"
    )
    assert [(view["name"], view["columns"]) for view in found["views"]] == [("where", 2), ("spending", 2)]
    labels = pd.read_csv("labels.csv")
    assert abs(np.corrcoef(labels["label"], GROUP)[0, 1]) > 0.9
    assert main(["predict", "m.model", "all.csv", "-o", "again.csv", "--quiet"]) == 0
    pd.testing.assert_series_equal(pd.read_csv("again.csv")["label"], labels["label"])


def test_views_by_kind(folder, capsys):
    assert [view["name"] for view in run(capsys, "--views", "auto")["views"]] == ["numbers", "categories"]


def test_several_tables_have_views_already(folder, capsys):
    (folder / "other.csv").write_text((folder / "all.csv").read_text())
    assert main(["cluster", "all.csv", "other.csv", "-k", "2", "--views", "auto"]) == 1
    assert "divide the columns of one table, but the files contain 2 views" in capsys.readouterr().err


def test_weights_of_views(folder, capsys):
    assert view_weights(parsed("--weight", "a=2", "--weight", "b=.5")) == {"a": 2.0, "b": 0.5}
    assert view_weights(parsed()) is None
    for bad in ("a", "a=", "=2", "a=x"):
        with pytest.raises(ValueError, match="must be VIEW=NUMBER"):
            view_weights(parsed("--weight", bad))
    few, many = (run(capsys, "--views", "auto", "--weight", f"numbers={c}")["views"][0]["weight"] for c in (0.1, 10))
    assert few < many


def test_unknown_columns_are_refused(folder, capsys):
    assert main(["cluster", "all.csv", "-k", "2", "--category", "zipp"]) == 1
    assert "columns that no view has: ['zipp']" in capsys.readouterr().err


def test_every_kind_has_an_option():
    others = {"ordered"}  # takes the categories as well
    assert {*column_kinds(parsed(*(word for kind in KINDS if kind not in others for word in (f"--{kind}", kind))))} == {
        *KINDS
    } - others


def test_durations(folder, capsys):
    table = pd.read_csv("all.csv")
    table["spend_fun"] = [f"{1 + one}:{row % 60:02d}" for row, one in enumerate(GROUP)]
    table["zip"] = 3600 + 60 * GROUP
    table.to_csv("all.csv", index=False)
    found = run(capsys, "--duration", "zip", "--duration", "spend_fun")["columns"]["all"]
    assert (found["zip"], found["spend_fun"]) == ("duration", "duration")
    assert main(["cluster", "all.csv", "-k", "2", "--duration", "colour"]) == 1
    assert "Column 'colour' was declared as duration, but" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "value"), [("-999", -999), ("9.5", 9.5), ("unknown", "unknown"), ("1e3", 1000.0)])
def test_a_marker_is_a_number_if_it_can_be_one(text, value):
    assert number_or_word(text) == value
    assert type(number_or_word(text)) is type(value)
    assert parsed("--missing-values", text).missing_values == value


@pytest.mark.parametrize(
    ("column", "marker"),
    [("spend_fun", "-999"), ("spend_fun", "unknown"), ("colour", "unknown"), ("spend_food", "-999")],
)
def test_a_marker_stands_for_empty_cells(folder, capsys, column, marker):
    table = pd.read_csv("all.csv", dtype=str)
    expected, written = table.copy(), table.copy()
    expected.loc[::7, column], written.loc[::7, column] = None, marker
    expected.to_csv("all.csv", index=False)
    gaps = run(capsys, "-o", "expected.csv", "--force")
    written.to_csv("all.csv", index=False)
    found = run(capsys, "-o", "labels.csv", "--missing-values", marker, "--save", "m.model")
    pd.testing.assert_frame_equal(pd.read_csv("labels.csv"), pd.read_csv("expected.csv"))
    assert found["warnings"] == gaps["warnings"]
    assert any("missing values" in one for one in found["warnings"])
    assert main(["predict", "m.model", "all.csv", "-o", "again.csv", "--quiet"]) == 0
    pd.testing.assert_frame_equal(pd.read_csv("again.csv"), pd.read_csv("labels.csv"))


def test_absent_columns_are_missing_values_if_allowed(folder, capsys):
    run(capsys, "--save", "strict.model")
    run(capsys, "--save", "lenient.model", "--missing-columns", "allow")
    table = pd.read_csv("all.csv")
    table.drop(columns="colour").to_csv("few.csv", index=False)
    table.assign(colour="").to_csv("empty.csv", index=False)
    assert main(["predict", "strict.model", "few.csv"]) == 1
    message = capsys.readouterr().err
    assert "View 'all' does not have the columns ['colour'] that LateFusionClustering was fitted on" in message
    assert "take their values as missing with --missing-columns allow." in message
    labels = {}
    for name, words in {
        "lenient": ["lenient.model", "few.csv"],
        "allowed": ["strict.model", "few.csv", "--missing-columns", "allow"],
        "gaps": ["strict.model", "empty.csv"],
    }.items():
        assert main(["predict", *words, "-o", f"{name}.csv", "--quiet"]) == 0
        labels[name] = (folder / f"{name}.csv").read_text()
    assert labels["lenient"] == labels["allowed"] == labels["gaps"]
    assert main(["predict", "lenient.model", "few.csv", "--missing-columns", "error"]) == 1


def test_errors_of_the_fit_name_options(folder, capsys):
    table = pd.read_csv("all.csv")
    table[["id", "note"]].to_csv("all.csv", index=False)
    assert main(["cluster", "all.csv", "-k", "2"]) == 1
    message = capsys.readouterr().err
    assert "has no column that can be used: {'note': 'constant'}" in message
    assert "with --category, --number or similar" in message
    assert "column_kinds" not in message


@pytest.mark.parametrize(
    "words", [["--category", "zip"], ["--weight", "all=2"], ["--missing-values", "9"], ["--missing-columns", "allow"]]
)
def test_options_that_a_method_does_not_have_are_named(folder, capsys, words):
    assert main(["cluster", "all.csv", "-k", "2", "--method", "MKKM", *words]) == 1
    message = capsys.readouterr().err
    assert f"does not support {words[0]}" in message
    assert "Use one of late-fusion, LF-MVC-GAM, LF-MVC-LAM." in message


def test_notes_on_new_samples_use_the_names_of_the_views(folder, capsys):
    run(capsys, "--save", "m.model")
    table = pd.read_csv("all.csv")
    table.loc[5, "spend_fun"] = None
    table.drop(columns="colour").to_csv("new_all.csv", index=False)
    assert main(["predict", "m.model", "new_all.csv", "--missing-columns", "allow"]) == 0
    printed = capsys.readouterr()
    assert "View 'all' does not have the columns ['colour']. Their values are taken as missing." in printed.out
    assert "View 'all' has 1 missing value (" in printed.out
    assert "'new_all'" not in printed.out
