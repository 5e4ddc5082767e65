"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A stream whose content takes its place when all of it has been written.

    Until then it lies beside that place; an error or Ctrl-C removes it and leaves what was there before.

    Parameters
    ----------
    path : str or path-like

    Yields
    ------
    binary stream

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from latefusion.outputs import whole_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(f"{folder}/a.txt") as stream:
    ...         _ = stream.write(b"all of it")
    ...     Path(f"{folder}/a.txt").read_text()
    'all of it'
    """
    check_target(path)
    if _is_device(Path(path)):
        with Path(path).open("wb") as stream:
            yield stream
        return
    target = Path(path).resolve()  # a link stays a link
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())  # or a crash of the machine could leave an empty file under the final name
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def check_target(path: str | os.PathLike[str]) -> None:
    """Refuse a place that cannot be written to, before any work is done for it."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder: give the name of a file in it.")
    if _is_device(target):
        return
    folder = target.resolve().parent
    if not folder.is_dir():
        raise FileNotFoundError(
            f"{str(path)!r} cannot be written: there is no folder {str(folder)!r}. Create it first."
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(
            f"{str(path)!r} cannot be written: there is no right to write to the folder {str(folder)!r}. Choose "
            f"another one."
        )


def _is_device(path: Path) -> bool:
    """Whether a path is a pipe or a device, such as /dev/stdout, which cannot be replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()
