"""Compressed tables hold what the tables hold; damage and bombs are refused by name, in bounded memory."""

import bz2
import gzip
import lzma
import tracemalloc

import numpy as np
import pytest

from latefusion.datasets import compression, load_files, load_views
from latefusion.datasets.compression import compression_of, first_bytes, open_unpacked, uncompressed_name

pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")

TEXT = b"id,a,b\ns1,1,2\ns2,3,4\n"


def zstandard(content):
    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


PACKERS = {
    ".gz": ("gzip", gzip.compress),
    ".bz2": ("bzip2", bz2.compress),
    ".xz": ("xz", lzma.compress),
    ".zst": ("Zstandard", zstandard),
}


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("name", ["rna.csv{}", "rna.csv", "rna.tsv{}", "rna{}"])
def test_a_compressed_table_is_read_under_any_name(tmp_path, suffix, name):
    kind, pack = PACKERS[suffix]
    path = tmp_path / name.format(suffix)
    path.write_bytes(pack(TEXT))
    assert compression_of(path) == kind
    assert first_bytes(path, 4) == TEXT[:4]
    data = load_views(path)
    assert data.name == "rna"
    assert data.views.names == ("rna",)
    assert data.views.sample_ids.tolist() == ["s1", "s2"]
    np.testing.assert_array_equal(data.views.arrays[0], [[1, 2], [3, 4]])


def test_plain_text_under_the_name_of_a_compression_is_text(tmp_path):
    (tmp_path / "rna.csv.gz").write_bytes(TEXT)
    assert load_views(tmp_path / "rna.csv.gz").views.names == ("rna",)
    (tmp_path / "letters.csv").write_bytes(b"BZh,a\ns1,1\ns2,3\n")
    assert compression_of(tmp_path / "letters.csv") == ""


def test_compressed_tables_in_folders_and_next_to_others(tmp_path):
    (tmp_path / "rna.csv.gz").write_bytes(gzip.compress(TEXT))
    (tmp_path / "labels.tsv.xz").write_bytes(lzma.compress(b"id\tkind\ns2\tx\ns1\ty\n"))
    assert load_views(tmp_path).target.tolist() == [1, 0]
    (tmp_path / "pro.csv").write_bytes(TEXT)
    data = load_files([tmp_path / "rna.csv.gz", tmp_path / "pro.csv"], label_file=tmp_path / "labels.tsv.xz")
    assert data.views.names == ("rna", "pro")
    assert data.target.tolist() == [1, 0]


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_file_that_is_cut_short_is_refused_by_name(tmp_path, suffix):
    path = tmp_path / f"rna.csv{suffix}"
    rng = np.random.default_rng(0)
    content = PACKERS[suffix][1](b"id,a\n" + b"".join(b"s%d,%f\n" % (row, rng.normal()) for row in range(2000)))
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"rna\.csv\.\w+' is compressed with .* cannot be unpacked .*again"):
        load_views(path)


@pytest.mark.parametrize("suffix", PACKERS)
def test_what_unpacks_to_far_more_than_its_size_is_refused_early(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(compression, "ALWAYS_ALLOWED", 2**22)
    path = tmp_path / f"bomb.csv{suffix}"
    path.write_bytes(PACKERS[suffix][1](b"id,a\n" + b"s,0\n" * 2**24))
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"bomb\.csv\.\w+' has .* and unpacks to more than .*Unpack the file first"):
        load_views(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    limit = max(2**22, compression.LARGEST_RATIO * path.stat().st_size)
    assert peak < 3 * limit + 2**24  # and what the decoder of xz needs for itself


def test_the_limit_is_half_of_the_free_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(compression, "available_memory", lambda: 30)
    (tmp_path / "rna.csv.gz").write_bytes(gzip.compress(TEXT))
    with (
        pytest.raises(ValueError, match=r"unpacks to more than 15 bytes|unpacks to more than"),
        open_unpacked(tmp_path / "rna.csv.gz"),
    ):
        pass
    monkeypatch.setattr(compression, "available_memory", lambda: None)
    with open_unpacked(tmp_path / "rna.csv.gz") as stream:
        assert stream.read() == TEXT


def test_names_without_their_compression(tmp_path):
    names = {"a.csv.gz": "a.csv", "a.b.tsv.BZ2": "a.b.tsv", "a.gz": "a.txt", "a.csv": "a.csv", "a": "a"}
    assert {one: uncompressed_name(tmp_path / one).name for one in names} == names
