"""Files and methods as a person names them."""

import argparse

import numpy as np
import pytest

import latefusion as lf
from latefusion.cli.inputs import OURS, add_file_arguments, configured, find_method, read, with_columns
from tests.cli.shell import write_tables


@pytest.fixture
def files(tmp_path):
    write_tables(tmp_path)
    return [tmp_path / "genes.csv", tmp_path / "proteins.csv"]


def options(*words):
    parser = argparse.ArgumentParser()
    add_file_arguments(parser)
    return parser.parse_args(list(map(str, words)))


def test_columns_keep_their_names(files):
    data, notes = read(options(*files))
    views = with_columns(data)
    assert notes == []
    assert list(views.arrays[0].columns) == [f"genes_{place}" for place in range(10)]
    np.testing.assert_array_equal(views.arrays[1], data.views.arrays[1])


def test_classes_are_a_column_or_a_file(files, tmp_path):
    assert read(options(*files, "--labels", tmp_path / "truth.csv")).data.target_names == ("S0", "S1", "S2")
    with pytest.raises(ValueError, match="No file has a column 'kind' of classes"):
        read(options(*files, "--labels", "kind"))
    with pytest.raises(ValueError, match="has no column 'name' of ids"):
        read(options(*files, "--id", "name"))


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
