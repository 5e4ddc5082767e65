"""HDF5 files: opened as they are, and refused in bounded time where the HDF5 library would never come back."""

import base64
import lzma
import os
import time
from pathlib import Path

import h5py
import pytest

from latefusion.datasets import load_views
from latefusion.datasets.hdf5 import open_hdf5

# An .h5mu file with some bytes of its tree of names overwritten, found by tests/trust/fuzz_files.py; listing the names
# in it does not end.
ENDLESS = Path(__file__).parent / "endless.h5mu.xz.txt"


@pytest.fixture
def endless(tmp_path):
    path = tmp_path / "cells.h5mu"
    path.write_bytes(lzma.decompress(base64.b64decode(ENDLESS.read_text())))
    return path


def test_a_valid_file_is_opened_directly(tmp_path):
    path = tmp_path / "whole.h5"
    with h5py.File(path, "w") as file:
        file["group/numbers"] = [1.0, 2.0]
        file["group"].attrs["kind"] = "table"
    for _ in range(2):
        with open_hdf5(path) as root:
            assert root["group/numbers"][()].tolist() == [1.0, 2.0]


@pytest.mark.skipif(os.name == "nt", reason="no limit on processor time")
def test_a_file_without_end_is_refused(endless):
    start = time.perf_counter()
    with pytest.raises(ValueError, match="does not finish"), open_hdf5(endless):
        pass
    assert time.perf_counter() - start < 100
    with pytest.raises(ValueError, match=r"cells\.h5mu.*download it again"):
        load_views(endless)  # known by now: no second wait


def test_a_file_that_has_changed_is_looked_at_again(tmp_path, endless):
    path = tmp_path / "changing.h5"
    with h5py.File(path, "w") as file:
        file["numbers"] = [1.0]
    with open_hdf5(path):
        pass
    path.write_bytes(endless.read_bytes())
    with pytest.raises(ValueError, match="damaged"), open_hdf5(path):
        pass


def test_errors_of_the_system_pass_through(tmp_path):
    (tmp_path / "text.h5").write_text("no HDF5 at all")
    with pytest.raises(OSError, match="signature"), open_hdf5(tmp_path / "text.h5"):
        pass
    with pytest.raises(FileNotFoundError, match="absent"), open_hdf5(tmp_path / "absent.h5"):
        pass
