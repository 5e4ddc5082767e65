"""Files that are written completely or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A stream whose content replaces a file when all of it has been written.

    Until then the content is in an unnamed file, if the system supports it, so that even a killed process leaves no
    file. Otherwise it is in a temporary file in the same folder, which is removed after an error or Ctrl-C. The
    previous file stays until the end. Errors of the system name ``path``, never the temporary file.

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
    >>> from latefusion.outputs import atomic_write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(f"{folder}/a.txt") as stream:
    ...         _ = stream.write(b"all of it")
    ...     Path(f"{folder}/a.txt").read_text()
    'all of it'
    """
    check_target(path)
    if is_special(path):
        with _named(path), Path(path).open("wb") as stream:
            yield stream
        return
    target = Path(path).resolve()  # a link stays a link
    part = target.with_name(f".latefusion.{secrets.token_hex(4)}.part")
    nameless = _open_nameless(target.parent)
    try:
        with _named(path, part):
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


@contextlib.contextmanager
def _named(path: str | os.PathLike[str], part: Path | None = None) -> Iterator[None]:
    """Replace the name of the temporary file in errors of the system by the name of the target."""
    try:
        yield
    except OSError as error:
        # Errors of writes have no file name. Errors about other files, which the caller reads meanwhile, are unchanged.
        ours = error.filename is None or str(error.filename) == str(part) or str(error.filename2) == str(part)
        if error.errno is None or not ours:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _open_nameless(folder: Path) -> int | None:
    """A file in the folder without a name, which is removed with the process; None if this is not supported."""
    flag = getattr(os, "O_TMPFILE", None)  # Linux
    if flag is None or not Path("/proc/self/fd").is_dir():
        return None
    try:
        return os.open(folder, flag | os.O_WRONLY, 0o666)
    except OSError:  # not every file system supports it
        return None


def _give_name(handle: int, path: Path) -> None:
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        # With folders given, Python follows the link in /proc to the file itself.
        os.link(f"/proc/self/fd/{handle}", path.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        os.close(folder)


def check_target(path: str | os.PathLike[str]) -> None:
    """Raise an error if a path cannot be written to."""
    given, target = str(path), Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{given!r} is a folder. Give the name of a file in it.")
    if is_special(target):
        return
    try:
        folder = target.resolve().parent
    except RuntimeError as error:  # Python before 3.13
        raise OSError(f"{given!r} cannot be written: it is a link to itself. Remove it.") from error
    shown = str(target.parent if folder == target.parent.resolve() else folder)  # elsewhere only through a link
    if not folder.is_dir():
        found = "is not a folder" if folder.exists() else "does not exist"
        raise FileNotFoundError(f"{given!r} cannot be written: the folder {shown!r} {found}. Create it first.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(
            f"{given!r} cannot be written: permission denied for the folder {shown!r}. Choose another one."
        )
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(f"{given!r} cannot be written: the file is read-only. Choose another name.")


def is_special(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a pipe or a device, such as /dev/stdout, which can be written to but not replaced."""
    target = Path(path)
    return target.exists() and not target.is_file() and not target.is_dir()
