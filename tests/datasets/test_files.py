"""The door to all formats: which reader is taken, and what never gets as far as a reader."""

import os

import numpy as np
import pytest
import scipy.io

from latefusion.datasets import load_views

DENSE = np.arange(12.0).reshape(4, 3)


def test_missing_file_and_unknown_format(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"File not found: .*nowhere\.npz"):
        load_views(tmp_path / "nowhere.npz")
    (tmp_path / "table.foo").write_text("a,b\n1,2\n")
    with pytest.raises(
        ValueError, match=r"table\.foo' ends in '\.foo', but only \.npz, \.mat, \.h5, \.h5mu, \.h5ad, \.csv.*\.txt"
    ):
        load_views(tmp_path / "table.foo")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
def test_a_pipe_is_refused_before_it_is_read(tmp_path):
    os.mkfifo(tmp_path / "rna.csv")
    with pytest.raises(ValueError, match=r"rna\.csv' is a pipe or a device.*Save the data to a file"):
        load_views(tmp_path / "rna.csv")


@pytest.mark.parametrize("suffix", [".npz", ".mat", ".h5mu", ".h5", ".csv", ".parquet", ".feather"])
def test_empty_files(tmp_path, suffix):
    path = tmp_path / f"nothing{suffix}"
    path.touch()
    with pytest.raises(ValueError, match=r"nothing\.\w+' is empty"):
        load_views(path)


def test_names_in_capitals_and_strings_are_paths(tmp_path):
    np.savez(tmp_path / "a.npz", view_0=DENSE)
    (tmp_path / "a.npz").rename(tmp_path / "A.NPZ")
    assert load_views(str(tmp_path / "A.NPZ")).name == "A"


def test_content_of_another_format_than_the_name(tmp_path):
    np.savez(tmp_path / "a.npz", view_0=DENSE)
    (tmp_path / "a.npz").rename(tmp_path / "a.mat")
    with pytest.raises(
        ValueError, match=r"a\.mat' is an \.npz archive\. Its name ends in '\.mat': rename it to end in \.npz"
    ):
        load_views(tmp_path / "a.mat")
    scipy.io.savemat(tmp_path / "b.mat", {"X": DENSE})
    (tmp_path / "b.mat").rename(tmp_path / "b.csv")
    with pytest.raises(ValueError, match=r"b\.csv' is a MATLAB file\. .*rename it to end in \.mat"):
        load_views(tmp_path / "b.csv")
    (tmp_path / "c.npz").write_bytes(b"\x89HDF\r\n\x1a\n")
    with pytest.raises(ValueError, match=r"c\.npz' is an HDF5 file.*\.h5mu or \.h5ad or \.h5 or \.mat"):
        load_views(tmp_path / "c.npz")


def test_options_of_tables_are_for_tables(tmp_path):
    np.savez(tmp_path / "a.npz", view_0=DENSE)
    with pytest.raises(ValueError, match="id_column='id' requires tables"):
        load_views(tmp_path / "a.npz", id_column="id")
    with pytest.raises(ValueError, match="label_column='class' requires tables"):
        load_views(tmp_path / "a.npz", label_column="class")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_no_right_to_read(tmp_path):
    for suffix in (".npz", ".csv"):
        path = tmp_path / f"secret{suffix}"
        path.write_bytes(b"1,2\n3,4\n")
        path.chmod(0)
        with pytest.raises(PermissionError, match=r"Permission denied .*secret"):
            load_views(path)
    folder = tmp_path / "closed"
    folder.mkdir(mode=0)
    with pytest.raises(PermissionError, match=r"Permission denied .*closed"):
        load_views(folder)
    folder.chmod(0o700)


def test_permission_errors_name_the_file(tmp_path, monkeypatch):
    np.savez(tmp_path / "a.npz", view_0=DENSE)

    def refuse(self, *args, **kwargs):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(PermissionError, match=r"Permission denied: '.*a\.npz'"):
        load_views(tmp_path / "a.npz")
    monkeypatch.setattr("pathlib.Path.iterdir", refuse)
    with pytest.raises(PermissionError, match="Permission denied"):
        load_views(tmp_path)
