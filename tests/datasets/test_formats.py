"""Files are known by their content: the error says what a file is and what to do with it."""

import gzip
import io
import pickle
import tarfile
import zipfile

import numpy as np
import pytest

import latefusion as lf
from latefusion.datasets import load_files, load_views
from latefusion.datasets.formats import check_content, identify


def zipped(*names):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name in names:
            archive.writestr(name, "content")
    return held.getvalue()


def tarred():
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("rna.csv"))
    return held.getvalue()


def npy():
    held = io.BytesIO()
    np.save(held, np.eye(2))
    return held.getvalue()


FILES = {
    "book.xlsb": (zipped("[Content_Types].xml", "xl/workbook.bin"), r"a binary Excel workbook \(\.xlsb\)\. Save it as"),
    "book.csv": (zipped("[Content_Types].xml", "xl/workbook.xml"), r"an Excel workbook.*rename it to end in \.xlsx"),
    "book.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", r"an old Office document, such as an Excel \.xls workbook.*CSV"),
    "book.ods": (zipped("mimetype", "META-INF/manifest.xml", "content.xml"), "an OpenDocument file. Save each sheet"),
    "text.docx": (zipped("word/document.xml"), "a Word document"),
    "rna.zip": (zipped("rna.csv"), "a zip archive with 'rna.csv'. Unpack it"),
    "many.zip": (zipped(*"abcde"), "a zip archive with 'a', 'b', 'c' and 2 more"),
    "store.zip": (zipped("x/zarr.json"), "a zipped Zarr store"),
    "groups.model": (zipped("model.json", "array_0.npy"), "a model file of latefusion.*latefusion predict"),
    "x.npy": (npy(), "a single NumPy array.*numpy.savez"),
    "x.pkl": (pickle.dumps([1]), "a pickle.*may run code"),
    "x.rds": (gzip.compress(b"X\n\0\0\0\3\0\4\2\1"), r"an R object \(\.rds\)\. In R, write"),
    "x.RData": (gzip.compress(b"RDX3\nX\n"), "an R workspace.*write.csv"),
    "x.tar.gz": (gzip.compress(tarred()), "a tar archive. Unpack"),
    "x.npz.gz": (gzip.compress(zipped("view_0.npy")), "a zip archive. Unpack"),
    "x.h5ad.gz": (gzip.compress(b"\x89HDF\r\n\x1a\n"), "an HDF5 file, compressed with gzip. Unpack"),
    "matrix.mtx.gz": (
        gzip.compress(b"%%MatrixMarket matrix coordinate"),
        "a sparse matrix in Matrix Market form.*read_10x_mtx",
    ),
    "GSE1_series_matrix.txt.gz": (gzip.compress(b'!Series_title\t"x"\n'), "a GEO series matrix.*transpose"),
    "counts.hdf5": (b"\x89HDF\r\n\x1a\n", r"an HDF5 file.*\.h5mu.*\.h5 if Cell Ranger did"),
    "fig.pdf": (b"%PDF-1.7", "a PDF document"),
    "fig.png": (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    "fig.jpg": (b"\xff\xd8\xff\xe0", "a JPEG image"),
    "fig.tif": (b"II*\0", "a TIFF image"),
    "a.parquet": (b"ARROW1\0\0", r"an Arrow \(Feather\) file.*rename it to end in \.feather"),
    "b.parquet": (b"\xff\xff\xff\xff", r"a stream of Arrow tables.*rename it to end in \.feather or \.arrow"),
    "a.db": (b"SQLite format 3\0", "an SQLite database"),
    "a.json": (b'[{"a": 1}]', "a JSON file"),
    "page.csv": (b"\n<!DOCTYPE html>\n<html>", "a web page.*download the file again"),
    "a.csv": (b"PAR1\0\0PAR1", r"a Parquet file\. Its name ends in '\.csv': rename it to end in \.parquet"),
    "b.csv": (zipped("view_0.npy"), r"an \.npz archive\. .*rename it to end in \.npz"),
}


@pytest.mark.parametrize("name", FILES)
def test_errors_name_the_format_and_the_remedy(tmp_path, name):
    content, message = FILES[name]
    (tmp_path / name).write_bytes(content)
    for read in (load_views, lambda path: load_files([path, path.with_name("other.csv")]), check_content):
        with pytest.raises(ValueError, match=rf"{name.replace('.', '[.]')}' is {message}"):
            read(tmp_path / name)


@pytest.mark.parametrize("name", ["book.xls", "x.rds", "fig.png", "x.npy"])
def test_the_name_does_not_hide_the_content(tmp_path, name):
    (tmp_path / "table.csv").write_bytes(FILES[name][0])
    with pytest.raises(ValueError, match=rf"table\.csv' is {FILES[name][1]}"):
        load_views(tmp_path / "table.csv")
    with pytest.raises(ValueError, match=rf"table\.csv' is {FILES[name][1]}"):
        load_views(tmp_path)


def test_a_real_model_is_recognized(tmp_path):
    lf.save(lf.GlobalAlignmentClustering(2), tmp_path / "groups.npz")
    with pytest.raises(ValueError, match=r"groups\.npz' is a model file of latefusion"):
        load_views(tmp_path / "groups.npz")


def test_text_and_what_can_be_read_pass(tmp_path):
    np.savez(tmp_path / "a.npz", view_0=np.eye(2))
    check_content(tmp_path / "a.npz")
    assert identify(tmp_path / "a.npz").suffixes == (".npz",)
    (tmp_path / "a.csv").write_text("PK,a\nX,1\n")
    (tmp_path / "b.csv").write_bytes(b"")
    (tmp_path / "c.csv").write_bytes(b"PK\3\4 damaged")
    assert identify(tmp_path / "b.csv") is None
    assert "damaged zip archive" in identify(tmp_path / "c.csv").what
