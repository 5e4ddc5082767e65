"""What commands tell the report about classes, colours and outcomes."""

import argparse

import numpy as np
import pandas as pd
import pytest

from latefusion.cli.labels import Known
from latefusion.cli.pages import named_classes, with_outcome
from latefusion.types import MultiViewDataset, Views

OPTIONS = {"id": None, "separator": None, "decimal": None, "outcome": None}


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
    names = {}
    exec(with_outcome("views = 3", options(outcome="clinic.csv")), names)
    assert names["views"] == 3
    pd.testing.assert_frame_equal(names["clinic"], table)
    assert with_outcome("views = 3", options()) == "views = 3"
