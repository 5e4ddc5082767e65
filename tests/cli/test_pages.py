"""What commands tell the report about classes, colours and outcomes."""

import argparse

import numpy as np
import pandas as pd
import pytest

from latefusion.cli.pages import label_heading, named_classes, with_outcome
from latefusion.types import MultiViewDataset, Views

OPTIONS = {"id": None, "separator": None, "decimal": None, "outcome": None}


def options(**given):
    return argparse.Namespace(**(OPTIONS | given))


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("patient,subtype\na,x\nb,y\n", "subtype"),
        ("patient;Klasse;age\na;x;1\nb;y;2\n", "age"),
        ("patient,cell_type,note\na,x,1\nb,y,2\n", "cell_type"),
    ],
)
def test_the_classes_of_a_file_have_the_name_of_its_column(tmp_path, text, heading):
    file = tmp_path / "truth.csv"
    file.write_text(text)
    assert label_heading(options(labels=str(file))) == heading


def test_classes_of_a_column_have_its_name():
    data = MultiViewDataset(Views([np.ones((3, 1))]), np.array([0, 1, 0]), target_names=("a", "b"))
    found = named_classes(data, options(labels="kind"))
    assert (found.name, found.tolist()) == ("kind", ["a", "b", "a"])
    assert named_classes(data, options(labels=None)).tolist() == ["a", "b", "a"]
    assert named_classes(MultiViewDataset(Views([np.ones((3, 1))])), options(labels="kind")) is None


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_code_of_an_outcome_reads_its_table(tmp_path, monkeypatch, separator):
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame({"id": ["a", "b"], "stage": ["I", "II"], "age": [1.5, 2.5]})
    table.to_csv("clinic.csv", index=False, sep=separator)
    names = {}
    exec(with_outcome("views = 3", options(outcome="clinic.csv")), names)
    assert names["views"] == 3
    pd.testing.assert_frame_equal(names["clinic"], table)
    assert with_outcome("views = 3", options()) == "views = 3"
