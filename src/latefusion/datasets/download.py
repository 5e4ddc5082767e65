"""Files from the web, downloaded by pooch on first use and kept in a cache folder.

A file appears in the cache only when it is complete and its checksum is right. If the checksum is not known in
advance, the SHA-256 of the first download is stored as ``<name>.sha256`` and required from then on. This detects later
damage and changes. It does not prove that the first download was right.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from latefusion.datasets.optional import require
from latefusion.progress import report_progress

LOGGER = logging.getLogger(__name__)

N_RETRIES = 2
TIMEOUT_SECONDS = 30.0
CHUNK_BYTES = 2**16
# Threads that ask for the same file wait for one transfer.
_LOCK = threading.Lock()


class DownloadError(OSError):
    """A file could not be downloaded, or is not the expected one."""


class RemoteFile(NamedTuple):
    """A file on the web.

    Attributes
    ----------
    url : str
        Its address, http or https.
    filename : str
        Its name in the cache.
    sha256 : str or None
        Its checksum, if known.
    """

    url: str
    filename: str
    sha256: str | None = None


def cache_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """The folder for downloads.

    Parameters
    ----------
    folder : str or path-like, default=None
        By default the environment variable ``LATEFUSION_CACHE``, or else the folder ``latefusion`` in the user's cache
        folder of this platform.

    Returns
    -------
    Path
        The folder may not exist yet.
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
    source: RemoteFile, *, folder: str | os.PathLike[str] | None = None, download_if_missing: bool = True
) -> Path:
    """The path of a file in the cache, downloaded if it is missing or damaged.

    Parameters
    ----------
    source : RemoteFile
    folder : str or path-like, default=None
        The cache; by default that of `cache_folder`.
    download_if_missing : bool, default=True
        If False, a missing or damaged file is an error.

    Returns
    -------
    Path

    Raises
    ------
    DownloadError
        If the file could not be downloaded or stored, or its checksum is wrong.
    ImportError
        If pooch is not installed.
    """
    target = cache_folder(folder) / source.filename
    pooch = require("pooch", target, extra="datasets", action="Downloading")
    note = target.with_name(f"{source.filename}.sha256")
    try:
        with _LOCK:
            expected = source.sha256 or (note.read_text().strip() if note.exists() else "") or None
            if target.is_file() and expected in (None, pooch.file_hash(str(target))):
                return target
            if not download_if_missing:
                raise DownloadError(
                    f"{str(target)!r} is missing or damaged, and download_if_missing=False. Download {source.url} and "
                    f"save it there, or pass download_if_missing=True."
                )
            LOGGER.info("downloading %s to %s", source.url, target)
            _fetch(pooch, source, target, expected)
            note.write_text(f"{pooch.file_hash(str(target))}\n")
            return target
    except DownloadError:
        raise
    except OSError as error:
        raise DownloadError(
            f"{source.url} could not be stored as {str(target)!r}: {error}. Free space or change permissions there, or "
            f"set LATEFUSION_CACHE to another folder."
        ) from error


def _fetch(pooch: Any, source: RemoteFile, target: Path, expected: str | None) -> None:
    requests = importlib.import_module("requests")  # pooch needs it
    registry, urls = {source.filename: expected}, {source.filename: source.url}
    manager = pooch.create(target.parent, "", registry=registry, urls=urls, retry_if_failed=N_RETRIES)
    try:
        with _silenced(pooch.get_logger()):
            manager.fetch(source.filename, downloader=functools.partial(_transfer, requests))
    except requests.RequestException as error:
        raise DownloadError(
            f"{source.url} could not be downloaded in {N_RETRIES + 1} attempts: {error}. Check the network connection "
            f"(behind a proxy, set https_proxy), or download the file by other means and save it as {str(target)!r}."
        ) from error
    except ValueError as error:  # the checksum
        way_out = f"If you trust the new file, delete {str(target)!r} and its .sha256 file."
        raise DownloadError(
            f"{source.url} is not the expected file. {error} {'Try again later.' if source.sha256 else way_out}"
        ) from error


def _transfer(requests: Any, url: str, path: str, _: Any) -> None:
    """Write the content of an address to a file; what pooch calls a downloader."""
    # Without compression in transit the checksum is that of the published bytes, and their number is known.
    options = {"stream": True, "timeout": TIMEOUT_SECONDS, "headers": {"Accept-Encoding": "identity"}}
    with requests.get(url, **options) as response, open(path, "wb") as stream:
        response.raise_for_status()
        n_bytes = int(response.headers.get("Content-Length", 0))
        for chunk in response.iter_content(CHUNK_BYTES):
            stream.write(chunk)
            if n_bytes:
                report_progress(f"downloading {url}", stream.tell() / n_bytes)
        if stream.tell() < n_bytes:  # some versions of requests take this for the end of the file
            raise requests.ConnectionError(f"the transfer ended after {stream.tell()} of {n_bytes} bytes")


@contextlib.contextmanager
def _silenced(logger: logging.Logger) -> Iterator[None]:
    """Switch off messages below warnings: the logger of pooch prints them to the standard error."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
