"""Detection of the format of a file by its content, with advice for unsupported formats.

Several formats share a signature: Excel workbooks, model files and ``.npz`` are all zip archives, so they are
identified by the names of their members. Files without a known signature are read as text.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import NamedTuple

from latefusion.datasets.compression import compression_of, first_bytes, uncompressed_name

MODEL = "a model file of latefusion"


class Format(NamedTuple):
    """The format of a file.

    Attributes
    ----------
    what : str
        With its article, such as "an Excel workbook".
    advice : str
        What to do with it.
    suffixes : tuple of str
        Suffixes of such files, if the format is supported.
    """

    what: str
    advice: str
    suffixes: tuple[str, ...] = ()


_SPREADSHEET = "Save each sheet as a CSV file."
_OLD_EXCEL = "Save it as .xlsx, or each sheet as a CSV file."
_R = "In R, write each table with write.csv(x, 'x.csv')."
_IMAGE = "Compute features first, and save them as a table with a row per sample."
_UNPACK = "Unpack it, and give the files or the folder."
_HDF5 = "It is .h5mu if MuData wrote it, .h5ad if AnnData did, .h5 if Cell Ranger did, .mat if MATLAB did."
_ARROW = (".feather", ".arrow", ".ipc")
_MATLAB = Format("a MATLAB file", "", (".mat",))

# The position of the signature, the signature, and the format; the first that fits is taken.
SIGNATURES: tuple[tuple[int, bytes, Format], ...] = (
    (0, b"MATLAB", _MATLAB),
    (0, b"\x89HDF", Format("an HDF5 file", _HDF5, (".h5mu", ".h5ad", ".h5", ".mat"))),
    (0, b"PAR1", Format("a Parquet file", "", (".parquet", ".pq"))),
    (0, b"\x93NUMPY", Format("a single NumPy array", "Save it with numpy.savez('views.npz', view_0=array).")),
    (0, b"ARROW1", Format("an Arrow (Feather) file", "", _ARROW)),
    (0, b"FEA1", Format("a Feather file", "", _ARROW)),
    (0, b"\xff\xff\xff\xff", Format("a stream of Arrow tables", "", _ARROW)),
    (
        0,
        b"\xd0\xcf\x11\xe0",
        Format("an old Office document, such as an Excel .xls workbook", _OLD_EXCEL),
    ),
    (0, b"RDX", Format("an R workspace (.RData)", _R)),
    (0, b"RDA", Format("an R workspace (.RData)", _R)),
    (0, b"X\n\0\0\0", Format("an R object (.rds)", _R)),
    (0, b"%PDF", Format("a PDF document", "Ask for the table itself, as CSV.")),
    (0, b"\x89PNG", Format("a PNG image", _IMAGE)),
    (0, b"\xff\xd8\xff", Format("a JPEG image", _IMAGE)),
    (0, b"GIF8", Format("a GIF image", _IMAGE)),
    (0, b"II*\0", Format("a TIFF image", _IMAGE)),
    (0, b"MM\0*", Format("a TIFF image", _IMAGE)),
    (0, b"SQLite format 3", Format("an SQLite database", "Export each table as CSV.")),
    (0, b"7z\xbc\xaf'\x1c", Format("a 7z archive", _UNPACK)),
    (0, b"Rar!", Format("a RAR archive", _UNPACK)),
    (257, b"ustar", Format("a tar archive", _UNPACK)),
    (0, b"$FL", Format("an SPSS file", "Export it as CSV.")),
    (0, b"<stata_dta>", Format("a Stata file", "Export it as CSV.")),
)
_PICKLE = re.compile(rb"\x80[\x02-\x05]")
TEXTS: tuple[tuple[re.Pattern[bytes], Format], ...] = (
    (
        re.compile(rb"\s*<(!doctype\s+html|html)", re.IGNORECASE),
        Format(
            "a web page",
            "It may be an error page of a failed download. Open it in a browser, and download the file again.",
        ),
    ),
    (re.compile(rb"\s*<\?xml"), Format("an XML file", "Export the table as CSV.")),
    (re.compile(rb"\s*(\{\s*\"|\[\s*[\[{])"), Format("a JSON file", "pandas.read_json(...).to_csv('table.csv').")),
    (
        re.compile(rb"%%MatrixMarket"),
        Format(
            "a sparse matrix in Matrix Market form",
            "Counts of 10x Genomics: scanpy.read_10x_mtx(folder).write_h5ad('cells.h5ad').",
        ),
    ),
    (
        re.compile(rb"![A-Z][a-z]+_\w+"),
        Format(
            "a GEO series matrix",
            "Keep the lines between !series_matrix_table_begin and !series_matrix_table_end; its columns are samples, "
            "so add transpose=True.",
        ),
    ),
    (re.compile(rb"##fileformat=VCF"), Format("a VCF file of variants", "Save genotypes as a table.")),
)
# Members of zip archives, and what an archive with such a member is.
MEMBERS: tuple[tuple[re.Pattern[str], Format], ...] = (
    (re.compile(r"xl/workbook\.xml"), Format("an Excel workbook", "", (".xlsx", ".xlsm"))),
    (re.compile(r"xl/workbook\.bin"), Format("a binary Excel workbook (.xlsb)", "Save it as .xlsx.")),
    (re.compile(r"word/document\.xml"), Format("a Word document", "Save its table as a CSV file.")),
    (
        re.compile(r"model\.json"),
        Format(MODEL, "It contains no data. Use latefusion predict MODEL FILE to label new samples."),
    ),
    (
        re.compile(r"(.*/)?(zarr\.json|\.zgroup|\.zarray)"),
        Format("a zipped Zarr store", "Open it with anndata or zarr."),
    ),
    (re.compile(r"META-INF/manifest\.xml"), Format("an OpenDocument file", _SPREADSHEET)),
    (re.compile(r".*\.npy"), Format("an .npz archive", "", (".npz",))),
)


def identify(file: Path) -> Format | None:
    """The format of a file; None for text.

    Parameters
    ----------
    file : Path

    Returns
    -------
    Format or None
        For compressed files the format of the content. Only compressed text is supported.

    Examples
    --------
    >>> import tempfile
    >>> from latefusion.datasets.formats import identify
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "table.csv")
    ...     _ = path.write_bytes(b"%PDF-1.7")
    ...     identify(path).what
    'a PDF document'
    """
    beginning = first_bytes(file)
    compression = compression_of(file)
    found = _binary(beginning) or _text(beginning)
    if beginning.startswith(b"PK"):
        found = Format("a zip archive", _UNPACK) if compression else _zip(file)
    if found is None or not compression or not found.suffixes:
        return found
    return Format(f"{found.what}, compressed with {compression}", "Unpack it first.")


def check_content(file: Path) -> None:
    """Raise an error for a file whose content and suffix are of different formats."""
    found = identify(file)
    suffix = uncompressed_name(file).suffix.lower()
    if found is None or suffix in found.suffixes:
        return
    if found.suffixes:
        advice = f"Its name ends in {suffix!r}: rename it to end in {' or '.join(found.suffixes)}. {found.advice}"
    else:
        advice = found.advice
    raise ValueError(f"{str(file)!r} is {found.what}. {advice.strip()}")


def _binary(beginning: bytes) -> Format | None:
    if _PICKLE.match(beginning):
        return Format("a pickle", "It may run code when loaded: in Python, save its arrays with numpy.savez.")
    return next((form for at, sign, form in SIGNATURES if beginning[at : at + len(sign)] == sign), None)


def _text(beginning: bytes) -> Format | None:
    text = beginning.removeprefix(b"\xef\xbb\xbf")
    return next((form for pattern, form in TEXTS if pattern.match(text)), None)


def _zip(file: Path) -> Format:
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, LookupError, NotImplementedError) as error:
        return Format(f"a damaged zip archive ({error})", "Copy or download it again.", (".npz", ".xlsx", ".xlsm"))
    for pattern, form in MEMBERS:
        if any(map(pattern.fullmatch, names)):
            return form
    if not names:
        return Format("an empty zip archive", "Copy or download it again.", (".npz", ".xlsx", ".xlsm"))
    shown = ", ".join(map(repr, names[:3])) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return Format(f"a zip archive with {shown}", _UNPACK)
