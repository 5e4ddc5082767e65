"""Files and methods as a person names them."""

import argparse
from pathlib import Path

import numpy as np
import pytest

import latefusion as lf
from latefusion.cli.inputs import OURS, configured, find_method, input_files, read, with_columns
from tests.cli.shell import write_tables


@pytest.fixture
def files(tmp_path):
    write_tables(tmp_path)
    return [tmp_path / "genes.csv", tmp_path / "proteins.csv"]


def test_columns_keep_their_names(files):
    data, notes = read(files, None)
    views = with_columns(data)
    assert notes == []
    assert list(views.arrays[0].columns) == [f"genes_{place}" for place in range(10)]
    np.testing.assert_array_equal(views.arrays[1], data.views.arrays[1])


def test_classes_are_a_column_or_a_file(files, tmp_path):
    assert read(files, None, str(tmp_path / "truth.csv")).data.target_names == ("S0", "S1", "S2")
    with pytest.raises(ValueError, match="No file has a column 'kind' of classes"):
        read(files, None, "kind")
    with pytest.raises(ValueError, match="has no column 'name' of ids"):
        read(files, "name")


@pytest.mark.parametrize("name", ["GAM", "lf-mvc-gam", "LF-MVC-GAM"])
def test_names_in_any_case(name):
    assert find_method(name) is lf.GlobalAlignmentClustering


def test_unknown_names_are_met_with_known_ones():
    with pytest.raises(ValueError, match=r"no method 'mkkm-rm'. Did you mean MKKM-MR"):
        find_method("mkkm-rm")


def test_options_go_where_they_are_known():
    model = configured(OURS["late-fusion"], "auto", "kernels", 7)
    assert (model.n_clusters, model.partition, model.random_state) == ("auto", "precomputed", 7)
    with pytest.raises(ValueError, match="cannot choose the number of clusters"):
        configured(OURS["LF-MVC-GAM"], "auto", "features", 7)


def test_everything_that_is_read_is_an_input(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = argparse.Namespace(files=[Path("a.csv")], labels="kind", model=Path("m"))
    assert input_files(options) == [Path("a.csv"), Path("m")]
    (tmp_path / "kind").touch()
    assert input_files(options) == [Path("a.csv"), Path("m"), Path("kind")]
    assert input_files(argparse.Namespace(files=[], labels="truth.csv")) == [Path("truth.csv")]


def test_infinite_values_are_found_by_the_names_in_the_table(tmp_path):
    (tmp_path / "a.csv").write_text("id,x,y\nann,1,2\nbob,3,inf\n")
    with pytest.raises(ValueError, match="View 'a' has 1 infinite values, the first in column 'y' of sample 'bob'"):
        read([tmp_path / "a.csv"], None)
