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

    Until then it has no name at all, where the system can do that, so that even a killed process leaves nothing behind;
    elsewhere it lies beside that place, and an error or Ctrl-C removes it. What was there before stays until the end.

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
    nameless = _open_nameless(target.parent)
    try:
        with part.open("xb") if nameless is None else os.fdopen(nameless, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())  # or a crash of the machine could leave an empty file under the final name
            if nameless is not None:
                _give_name(nameless, part)
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _open_nameless(folder: Path) -> int | None:
    """A file of the folder without a name, which goes when the process does; None where there is no such thing."""
    flag = getattr(os, "O_TMPFILE", None)  # Linux
    if flag is None or not Path("/proc/self/fd").is_dir():
        return None
    try:
        return os.open(folder, flag | os.O_WRONLY, 0o666)
    except OSError:  # not every file system can
        return None


def _give_name(handle: int, path: Path) -> None:
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        # With folders given, Python follows the link in /proc to the file itself.
        os.link(f"/proc/self/fd/{handle}", path.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


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
