"""HDF5 files from untrusted sources, checked in another process before they are opened.

The HDF5 library runs in circles on some damaged files, inside a call that nothing in Python can end. All that were
found do so when names are listed, so a process of its own lists them first, with a limit on its time: it costs a
fraction of a second and reads no array.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from latefusion.datasets.optional import require

# Of the processor, which is what running in circles takes; more for every mebibyte, into which thousands of names fit.
SECONDS = 5
SECONDS_PER_MEBIBYTE = 1
MOST_SECONDS = 300
# By the clock a busy machine or a slow disk may need many times as long.
PATIENCE = 20

_LIST_NAMES = """
import sys, h5py
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, 2 * (int(sys.argv[2]),))
except ImportError:
    pass
with h5py.File(sys.argv[1], "r") as root:
    root.visititems(lambda name, found: dict(found.attrs).clear())
"""


@contextlib.contextmanager
def open_hdf5(file: Path) -> Iterator[Any]:
    """The root of an HDF5 file, for reading.

    Parameters
    ----------
    file : Path

    Yields
    ------
    h5py.File

    Raises
    ------
    ValueError
        If the HDF5 library does not finish reading the file.
    """
    h5py = require("h5py", file)
    with file.open("rb"):  # errors of the system come first
        pass
    facts = file.stat()
    if not _comes_to_an_end(str(file.resolve()), facts.st_mtime_ns, facts.st_size):
        raise ValueError(
            f"{str(file)!r} is damaged: the HDF5 library does not finish listing the names in it. Copy or "
            f"download it again."
        )
    with h5py.File(file, "r") as root:
        yield root


@lru_cache(maxsize=256)
def _comes_to_an_end(path: str, _changed: int, size: int) -> bool:
    """Whether the names in a file can be listed, or that fails at once; the file is known by its time and size."""
    seconds = min(SECONDS + SECONDS_PER_MEBIBYTE * (size >> 20), MOST_SECONDS)
    command = [sys.executable, "-c", _LIST_NAMES, path, str(seconds)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE * seconds, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode >= 0  # below zero: ended by the limit, or crashed
