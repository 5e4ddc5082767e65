"""Compressed tables: gzip, bzip2, xz and Zstandard, recognized by content and unpacked within limits.

A small file can unpack to terabytes. Unpacking stops at `LARGEST_RATIO` times the size of the file (but not below
`ALWAYS_ALLOWED`), and at half of the free memory.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from latefusion.arrays import available_memory, size_in_words
from latefusion.datasets.optional import require

SUFFIXES = (".gz", ".bgz", ".bz2", ".xz", ".zst")
# Sparse tables of counts have ratios of about 50.
LARGEST_RATIO = 200
ALWAYS_ALLOWED = 2**28
BLOCK = 2**20
# What the libraries raise when a file is damaged; pyarrow's errors are ValueError and OSError.
DAMAGED = (OSError, EOFError, ValueError, MemoryError, zlib.error, lzma.LZMAError)


def _open_zstandard(file: Path) -> Any:
    return require("pyarrow", file).input_stream(str(file), compression="zstd")


OPENERS: dict[str, tuple[bytes, Callable[[Path], Any]]] = {
    "gzip": (b"\x1f\x8b", gzip.open),
    "bzip2": (b"BZh", bz2.open),
    "xz": (b"\xfd7zXZ\0", lzma.open),
    "Zstandard": (b"\x28\xb5\x2f\xfd", _open_zstandard),
}


def compression_of(file: Path) -> str:
    """Name of the compression of a file by its first bytes; empty if it is not compressed."""
    with file.open("rb") as stream:
        beginning = stream.read(10)
    found = next((name for name, (signature, _) in OPENERS.items() if beginning.startswith(signature)), "")
    # Text may begin with these three letters, but not with the bytes after them.
    return "" if found == "bzip2" and beginning[4:10] != b"1AY&SY" else found


def uncompressed_name(file: Path) -> Path:
    """The path without the suffix of a compression: ``rna.csv`` for ``rna.csv.gz``, ``rna.txt`` for ``rna.gz``."""
    if file.suffix.lower() not in SUFFIXES:
        return file
    inner = file.with_suffix("")
    return inner if inner.suffix else inner.with_suffix(".txt")


def first_bytes(file: Path, count: int = 1024) -> bytes:
    """The first bytes of the content, unpacked; empty if unpacking fails."""
    compression = compression_of(file)
    with contextlib.suppress(*DAMAGED), OPENERS[compression][1](file) if compression else file.open("rb") as stream:
        return bytes(stream.read(count))
    return b""


@contextlib.contextmanager
def open_unpacked(file: Path) -> Iterator[BinaryIO]:
    """The content of a file as a stream that can be read several times.

    Parameters
    ----------
    file : Path

    Yields
    ------
    binary stream

    Raises
    ------
    ValueError
        If the content is damaged, or unpacks to more than the limits.
    """
    compression = compression_of(file)
    if not compression:
        with file.open("rb") as stream:
            yield stream
        return
    yield _unpacked(file, compression)


def _unpacked(file: Path, compression: str) -> io.BytesIO:
    limit = max(ALWAYS_ALLOWED, LARGEST_RATIO * file.stat().st_size)
    free = available_memory()
    limit = limit if free is None else min(limit, free // 2)
    content = io.BytesIO()
    try:
        with OPENERS[compression][1](file) as stream:
            while content.tell() <= limit and (block := stream.read(BLOCK)):
                content.write(block)
    except DAMAGED as error:
        raise ValueError(
            f"{str(file)!r} is compressed with {compression} and cannot be unpacked ({error or type(error).__name__}). "
            f"It may be truncated or damaged. Copy or download it again."
        ) from error
    if content.tell() > limit:
        raise ValueError(
            f"{str(file)!r} has {size_in_words(file.stat().st_size)} and unpacks to more than {size_in_words(limit)}, "
            f"the limit that protects the memory. Unpack the file first, or store it as Parquet."
        )
    content.seek(0)
    return content
