"""Files and methods as a person names them."""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import latefusion as lf
from latefusion.cli.inputs import (
    OURS,
    add_file_arguments,
    configured,
    empty_cells,
    find_method,
    input_files,
    read,
    with_columns,
)
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
    data, notes, *_ = read(options(*files))
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
    with pytest.raises(ValueError, match=r"Unknown method 'mkkm-rm'. Did you mean MKKM-MR"):
        find_method("mkkm-rm")


def test_options_go_where_they_are_known():
    model = configured(OURS["late-fusion"], "auto", "kernels", 7)
    assert (model.n_clusters, model.similarity, model.random_state) == ("auto", "precomputed", 7)
    with pytest.raises(ValueError, match="needs a fixed number of clusters"):
        configured(OURS["LF-MVC-GAM"], "auto", "features", 7)


def transpose(file):
    table = pd.read_csv(file, index_col=0).T
    table.to_csv(file, index_label="feature")


def test_errors_name_options_of_the_command_line(files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two words.csv").write_text((tmp_path / "genes.csv").read_text())
    transpose("two words.csv")
    with pytest.raises(ValueError, match=r"read it with --transpose 'two words\.csv'\.$"):
        read(options("two words.csv", "proteins.csv"))
    (tmp_path / "t.csv").write_text("id~a\nx~1\n")
    with pytest.raises(ValueError, match=r"give another one with --separator \(semicolon"):
        read(options("t.csv"))
    (tmp_path / "t.tsv").write_text("id\ta\nx\t1,234\n")
    with pytest.raises(ValueError, match="Give --decimal , for a decimal comma"):
        read(options("t.tsv"))
    with pytest.raises(ValueError, match=r"--transpose names 'x\.csv', which is not one of the files \['t\.csv'\]"):
        read(options("t.csv", "--transpose", "x.csv"))


def test_transposed_files_by_name_or_all(files):
    upright = read(options(*files)).data
    transpose(files[0])
    some = read(options(*files, "--transpose", files[0])).data
    transpose(files[1])
    both = read(options(*files, "--transpose", "all")).data
    for data in (some, both):
        order = {one: row for row, one in enumerate(data.views.sample_ids.tolist())}
        rows = [order[one] for one in upright.views.sample_ids.tolist()]
        for view, expected in zip(data.views.arrays, upright.views.arrays, strict=True):
            np.testing.assert_allclose(view[rows], expected)


def test_tables_with_the_same_columns_may_be_transposed(tmp_path):
    for name in ("rna", "methylation"):
        rows = [f"g{row}," + ",".join(f"{row + column}.5" for column in range(6)) for row in range(4)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["gene,p0,p1,p2,p3,p4,p5", *rows]))
    notes = read(options(tmp_path / "rna.csv", tmp_path / "methylation.csv")).notes
    assert notes == ["The tables share 6 column names, such as 'p0'. If columns are samples, add --transpose all."]
    assert read(options(tmp_path / "rna.csv", tmp_path / "methylation.csv", "--transpose", "all")).notes == []


def test_an_infinite_value_is_named_by_line_or_sample(tmp_path):
    (tmp_path / "a.csv").write_text("p,q\n1,2\n\n3,inf\n")
    with pytest.raises(ValueError, match="in column 'q' of line 4"):
        read(options(tmp_path / "a.csv"))
    (tmp_path / "a.csv").write_text("id,p,q\nx,1,2\n\ny,3,inf\n")
    with pytest.raises(ValueError, match="in column 'q' of sample 'y'"):
        read(options(tmp_path / "a.csv"))


def test_empty_cells_are_counted(tmp_path):
    (tmp_path / "a.csv").write_text("id,p,q\nx,1,2\ny,3,\nz,,\n")
    (tmp_path / "b.csv").write_text("id,word\nx,up\ny,\nz,down\n")
    assert empty_cells(read(options(tmp_path / "a.csv", tmp_path / "b.csv")).data) == [
        "View 'a' has 1 missing value (25.0%), imputed from the other columns."
    ]


def test_everything_that_is_read_is_an_input(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = argparse.Namespace(files=[Path("a.csv")], labels="kind", model=Path("m"))
    assert input_files(given) == [Path("a.csv"), Path("m")]
    (tmp_path / "kind").touch()
    assert input_files(given) == [Path("a.csv"), Path("m"), Path("kind")]
    assert input_files(argparse.Namespace(files=[], labels="truth.csv")) == [Path("truth.csv")]


def test_a_column_without_values_has_nothing_to_impute(tmp_path):
    (tmp_path / "a.csv").write_text("id,x,qc\nann,1,\nbob,3,\n")
    assert empty_cells(read(options(tmp_path / "a.csv")).data) == []
    (tmp_path / "a.csv").write_text("id,x,y,qc\nann,1,2,\nbob,3,,\n")
    assert empty_cells(read(options(tmp_path / "a.csv")).data) == [
        "View 'a' has 1 missing value (25.0%), imputed from the other columns."
    ]


def test_infinite_values_are_found_by_the_names_in_the_table(tmp_path):
    (tmp_path / "a.csv").write_text("id,x,y\nann,1,2\nbob,3,inf\n")
    with pytest.raises(ValueError, match="View 'a' has 1 infinite values, the first in column 'y' of sample 'bob'"):
        read(options(tmp_path / "a.csv"))


def test_tables_with_words_come_as_data_frames(tmp_path):
    (tmp_path / "a.csv").write_text("id,n,word\nx,1,red\ny,,blue\n")
    data = read(options(tmp_path / "a.csv")).data
    (frame,) = with_columns(data).arrays
    assert frame is data.views.arrays[0]
    (tmp_path / "a.csv").write_text("id,word,n\nx,red,1\ny,blue,-inf\n")
    with pytest.raises(ValueError, match="View 'a' has 1 infinite values, the first in column 'n' of sample 'y'"):
        read(options(tmp_path / "a.csv"))
