"""What commands tell the report about classes, colours and outcomes."""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import latefusion as lf
from latefusion.cli.inputs import read
from latefusion.cli.labels import Known
from latefusion.cli.pages import named_classes, reading_code
from latefusion.interpretation.annotation import annotation_columns
from latefusion.types import MultiViewDataset, Views

OPTIONS = {"id": None, "separator": None, "decimal": None, "outcome": None, "transpose": [], "labels": None}


def options(**given):
    return argparse.Namespace(**(OPTIONS | given))


def test_classes_have_the_name_of_their_column():
    data = MultiViewDataset(Views([np.ones((3, 1))]), np.array([0, 1, 0]), target_names=("a", "b"))
    found = named_classes(data, Known(name="kind"))
    assert (found.name, found.tolist()) == ("kind", ["a", "b", "a"])
    assert named_classes(data, Known()).tolist() == ["a", "b", "a"]
    assert named_classes(MultiViewDataset(Views([np.ones((3, 1))])), Known(name="kind")) is None


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_code_of_an_outcome_reads_its_table(tmp_path, monkeypatch, separator):
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame({"id": ["a", "b"], "stage": ["I", "II"], "age": [1.5, 2.5]})
    table.to_csv("clinic.csv", index=False, sep=separator)
    names = {"lf": lf}
    exec(reading_code(options(files=[Path("clinic.csv")], outcome="clinic.csv")), names)
    assert names["views"].sample_ids.tolist() == ["a", "b"]
    pd.testing.assert_frame_equal(names["clinic"], table)
    assert "clinic =" not in reading_code(options(files=[Path("clinic.csv")]))


@pytest.mark.parametrize("columns", [["a"], ["a", "b"], []])
def test_the_code_of_annotation_reads_it_and_leaves_its_column_out_of_the_views(tmp_path, monkeypatch, columns):
    """From one table, from two, and from a table of its own, semicolons and missing classes included."""
    monkeypatch.chdir(tmp_path)
    ids, classes = [f"s{one}" for one in range(6)], ["x", "y", "x", None, "y", None]
    views = {name: pd.DataFrame({"id": ids, "v": np.arange(6) + 0.5, "w": 1.5}) for name in "ab"}
    for name, frame in views.items():
        frame = frame.assign(kind=classes) if name in columns else frame
        frame.sample(frac=1.0, random_state=0).to_csv(f"{name}.csv", index=False, sep=";")
    pd.DataFrame({"id": ids, "kind": classes}).to_csv("kind.csv", index=False)
    files = [Path("a.csv"), Path("b.csv")]
    given = options(files=files, labels="kind" if columns else "kind.csv")
    data, _, _, known = read(given)
    code = reading_code(given, known)
    names = {"lf": lf}
    exec(code, names)
    assert names["data"].feature_names == data.feature_names == {"a": ["v", "w"], "b": ["v", "w"]}
    found = annotation_columns(names["annotation"], data.views.sample_ids, 6).columns
    (expected,) = annotation_columns(known.annotation, data.views.sample_ids, 6).columns
    (column,) = (one for one in found if one.name == "kind")
    np.testing.assert_array_equal(column.values, expected.values)


def test_a_column_of_hints_is_no_part_of_the_views_in_the_code():
    code = reading_code(options(files=[Path("a.csv")], hints="kind"))
    assert "drop=['kind']" in code
