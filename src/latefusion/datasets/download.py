"""Files from the web, kept in a cache folder: checked, resumed, tried again, and never half there.

A file is written next to its place as ``<name>.part`` and takes its place only when it is whole and its checksum is
right, so what stands in the cache is good. A transfer that broke off goes on where it stopped, if the server can do
that and says that the file has not changed since. Proxies are taken from the environment (``https_proxy`` and so on).

Where the checksum of a file was known beforehand, nothing else is accepted. Where it was not, that of the first one is
noted in ``<name>.sha256`` (trust on first use): it shows later damage and changes, but not that the first one was
right.
"""

from __future__ import annotations

import contextlib
import email.message
import hashlib
import http.client
import json
import logging
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

LOGGER = logging.getLogger(__name__)

BLOCK = 2**16
# Answers that may be another one in a moment: timeout, too early, too many requests, and troubles of the server.
PASSING = (408, 425, 429, 500, 502, 503, 504)
LONGEST_PAUSE = 60.0
LOCK_PAUSE = 0.05


class DownloadError(OSError):
    """A file could not be fetched."""


class ChecksumError(DownloadError):
    """A file is not the one that was expected."""


class _Interrupted(Exception):  # the transfer is tried again
    def __init__(self, reason: str, pause: float = 0.0) -> None:
        super().__init__(reason)
        self.pause = pause


class RemoteFile(NamedTuple):
    """A file on the web.

    Attributes
    ----------
    url : str
        Its address, http or https.
    filename : str
        Its name in the cache.
    sha256 : str or None
        Its checksum, where it is known.
    """

    url: str
    filename: str
    sha256: str | None = None


def cache_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """Where downloads are kept.

    Parameters
    ----------
    folder : str or path-like, default=None
        By default the environment variable ``LATEFUSION_CACHE``, or else the folder ``latefusion`` where this platform
        keeps caches of users.

    Returns
    -------
    Path
        It need not exist.
    """
    chosen = folder or os.environ.get("LATEFUSION_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "latefusion"


def download(
    source: RemoteFile,
    *,
    folder: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    timeout: float = 30.0,
    n_retries: int = 4,
    pause: float = 1.0,
) -> Path:
    """The path of a file in the cache, fetched if it is not there.

    Parameters
    ----------
    source : RemoteFile
    folder : str or path-like, default=None
        The cache; by default that of `cache_folder`.
    download_if_missing : bool, default=True
        Whether to fetch it; if not, its absence is an error.
    timeout : float, default=30.0
        Seconds without a sign of life after which a transfer counts as broken off.
    n_retries : int, default=4
        How often to try again after a transfer broke off or the server had trouble.
    pause : float, default=1.0
        Seconds before the first of these; each later one waits twice as long, or as long as the server asks for.

    Returns
    -------
    Path

    Raises
    ------
    ChecksumError
        If what came is not what was expected.
    DownloadError
        If nothing came, or it could not be written.
    """
    if urllib.parse.urlsplit(source.url).scheme not in ("http", "https"):
        raise DownloadError(f"{source.url!r} is no address on the web: it must begin with http:// or https://.")
    target = cache_folder(folder) / source.filename
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target.with_name(f"{source.filename}.lock"), source, n_retries * timeout + 60):
            expected = source.sha256 or _noted(target)
            if target.exists() and (expected is None or _checksum(target) == expected):
                return target
            if not download_if_missing:
                raise DownloadError(
                    f"{str(target)!r} is not there or damaged, and it may not be downloaded: fetch {source.url} and "
                    f"put it there, or pass download_if_missing=True."
                )
            LOGGER.info("downloading %s to %s", source.url, target)
            _bring(source, target, expected, timeout, n_retries, pause)
            return target
    except DownloadError:
        raise
    except OSError as error:  # a full disk, a folder without rights
        raise DownloadError(
            f"{source.url} cannot be kept in {str(target.parent)!r}: {error}. Make room there, or choose another "
            f"folder with LATEFUSION_CACHE."
        ) from error


def _bring(
    source: RemoteFile, target: Path, expected: str | None, timeout: float, n_retries: int, pause: float
) -> None:
    part = target.with_name(f"{target.name}.part")
    resumed = part.exists()
    for attempt in range(n_retries + 1):
        try:
            _transfer(source.url, part, timeout, known=expected is not None)
            found = _checksum(part)
            if expected is not None and found != expected:
                _forget(part)
                if resumed:  # the old part was to blame, or the file has changed on the server since
                    resumed = False
                    raise _Interrupted("the parts of the file do not fit together")
                raise ChecksumError(
                    f"{source.url} gave a file with SHA-256 {found}, but {expected} was expected: it was damaged on "
                    f"the way, or is another one now. {_advice(source, target)}"
                )
            target.with_name(f"{target.name}.sha256").write_text(found + "\n")
            os.replace(part, target)
            _forget(part)
            return
        except _Interrupted as interruption:
            if attempt == n_retries:
                raise DownloadError(
                    f"{source.url} could not be downloaded in {n_retries + 1} attempts: {interruption}. Try again "
                    f"later: what has arrived is kept. Behind a proxy, set https_proxy."
                ) from interruption
            resumed = resumed or part.exists()
            wait = min(LONGEST_PAUSE, max(pause * 2**attempt, interruption.pause))
            LOGGER.info("%s: %s; trying again in %.1f s", source.url, interruption, wait)
            time.sleep(wait)


def _advice(source: RemoteFile, target: Path) -> str:
    if source.sha256 is not None:
        return "Try again later, or report it."
    return f"The first download had the other one. If the change is meant, delete {str(target)!r} and its .sha256."


def _transfer(url: str, part: Path, timeout: float, *, known: bool) -> None:
    """Bring what is lacking of a file, or all of it.

    A part is only continued if the server can tell that it is of the same file (`If-Range`), or if the checksum of the
    whole is known and will tell.
    """
    have = part.stat().st_size if part.exists() else 0
    validator = _validator(part)
    headers = {"User-Agent": "latefusion", "Accept-Encoding": "identity"}
    if have and (validator or known):
        headers["Range"] = f"bytes={have}-"
        if validator:
            headers["If-Range"] = validator
    else:
        have = 0
    try:
        # A new opener sees the proxies of the environment as they are now.
        opener = urllib.request.build_opener()
        with opener.open(urllib.request.Request(url, headers=headers), timeout=timeout) as answer:
            start = _first_byte(answer)
            if start not in (0, have):
                _forget(part)
                raise _Interrupted(f"the server sent bytes from {start}, but {have} were asked for")
            _note_validator(part, answer.headers)
            _write(answer, part, start)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            _forget(part)  # it is longer than the file has ever been
            raise _Interrupted("the part that was there did not belong to the file") from error
        reason = f"the server answered {error.code} {error.reason}"
        if error.code in PASSING:
            raise _Interrupted(reason, _retry_after(error.headers)) from error
        raise DownloadError(f"{url} cannot be downloaded: {reason}. Has it moved?") from error
    except urllib.error.URLError as error:
        raise _Interrupted(f"the server cannot be reached ({error.reason})") from error
    except (http.client.HTTPException, ConnectionError, TimeoutError) as error:
        raise _Interrupted(f"the transfer broke off ({type(error).__name__}: {error})") from error


def _write(answer: Any, part: Path, start: int) -> None:
    length = answer.headers.get("Content-Length")
    with part.open("r+b" if start else "wb") as stream:
        stream.truncate(start)
        stream.seek(start)
        while block := answer.read1(BLOCK):  # what has arrived, in contrast to `read`, which may lose it on a timeout
            stream.write(block)
        written = stream.tell() - start
        stream.flush()
        os.fsync(stream.fileno())
    # A connection that ends too early looks like the end of the file.
    if length is not None and written != int(length):
        raise _Interrupted(f"the transfer broke off after {written} of {length} bytes")


def _first_byte(answer: Any) -> int:
    if answer.status != http.HTTPStatus.PARTIAL_CONTENT:
        return 0
    span = answer.headers.get("Content-Range", "")  # such as "bytes 100-199/200"
    first = span.removeprefix("bytes").strip().partition("-")[0]
    return int(first) if first.isdigit() else -1


def _retry_after(headers: email.message.Message) -> float:
    seconds = headers.get("Retry-After", "")
    return float(seconds) if seconds.isdigit() else 0.0


def _validator_file(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _note_validator(part: Path, headers: email.message.Message) -> None:
    """Remember what the server calls this state of the file; a weak tag (``W/``) does not promise the same bytes."""
    tag = headers.get("ETag", "")
    validator = tag if tag and not tag.startswith("W/") else headers.get("Last-Modified", "")
    _validator_file(part).write_text(json.dumps({"validator": validator}))


def _validator(part: Path) -> str:
    try:
        return str(json.loads(_validator_file(part).read_text())["validator"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _forget(part: Path) -> None:
    part.unlink(missing_ok=True)
    _validator_file(part).unlink(missing_ok=True)


def _noted(target: Path) -> str | None:
    note = target.with_name(f"{target.name}.sha256")
    return note.read_text().strip() or None if note.exists() else None


def _checksum(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextlib.contextmanager
def _locked(lock: Path, source: RemoteFile, patience: float) -> Iterator[None]:
    """Hold a lock that the system itself gives up when its process ends, however that happens."""
    with lock.open("a+b") as stream:
        deadline = time.monotonic() + patience
        while not _try_lock(stream.fileno()):
            if time.monotonic() > deadline:
                raise DownloadError(
                    f"Another process has been downloading {source.url} for {patience:.0f} s: wait for it, or end it."
                )
            time.sleep(LOCK_PAUSE)
        yield  # closing the file gives the lock up


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
