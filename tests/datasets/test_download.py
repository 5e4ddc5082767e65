"""Downloads from a server on this machine: whatever it does, the cache holds complete files or none."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from latefusion.datasets import download as module
from latefusion.datasets.download import DownloadError, RemoteFile, cache_folder, download
from latefusion.progress import progress_listener
from tests.datasets.web import Site, serving

pytest.importorskip("pooch")

CONTENT = np.random.default_rng(0).bytes(300_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
OTHER = np.random.default_rng(1).bytes(300_000)
OTHER_SHA256 = hashlib.sha256(OTHER).hexdigest()


@pytest.fixture(autouse=True)
def surroundings(monkeypatch):
    """No proxy, and no pauses between attempts."""
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr("pooch.core.time", SimpleNamespace(sleep=lambda seconds: None))


@pytest.fixture
def web():
    """Serve one file; gives its site and its address."""
    with serving({"/file.zip": (site := Site(CONTENT))}) as address:
        yield site, f"{address}/file.zip"


def get(url, folder, sha256=SHA256, **options):
    return download(RemoteFile(url, "file.zip", sha256), folder=folder, **options)


def names(folder):
    return sorted(path.name for path in Path(folder).iterdir())


@pytest.mark.parametrize("sha256", [SHA256, None])
def test_a_file_is_downloaded_once_and_silently(web, tmp_path, sha256, capfd):
    site, url = web
    for _ in range(2):
        assert get(url, tmp_path, sha256).read_bytes() == CONTENT
    assert len(site.requests) == 1
    assert names(tmp_path) == ["file.zip", "file.zip.sha256"]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("sha256", [SHA256, None])
def test_a_transfer_that_ends_too_early_is_repeated(web, tmp_path, sha256):
    site, url = web
    site.plan = [("cut", 100_000), 503]
    assert get(url, tmp_path, sha256).read_bytes() == CONTENT
    assert len(site.requests) == 3


def test_the_progress_of_a_transfer_is_reported(web, tmp_path):
    _, url = web
    reports = []
    with progress_listener(lambda *report: reports.append(report)):
        get(url, tmp_path)
        assert len(reports) >= len(CONTENT) / module.CHUNK_BYTES
        del reports[:-1]
        get(url, tmp_path)  # from the cache
    assert reports == [(f"downloading {url}", 1.0)]


@pytest.mark.parametrize("step", [("cut", 100_000), 404, 500])
@pytest.mark.parametrize("sha256", [SHA256, None])
def test_failure_leaves_nothing_and_names_address_file_and_way_out(web, tmp_path, step, sha256):
    site, url = web
    site.plan = [step] * 3
    with pytest.raises(DownloadError) as caught:
        get(url, tmp_path, sha256)
    message = str(caught.value)
    assert message.startswith(f"{url} could not be downloaded in 3 attempts: ")
    assert message.endswith(
        f"(behind a proxy, set https_proxy), or download the file by other means and save it as "
        f"{str(tmp_path / 'file.zip')!r}."
    )
    assert names(tmp_path) == []


def test_a_file_that_was_saved_by_hand_is_used(web, tmp_path):
    site, url = web
    (tmp_path / "file.zip").write_bytes(CONTENT)
    for sha256 in (SHA256, None):
        assert get(url, tmp_path, sha256, download_if_missing=False).read_bytes() == CONTENT
    assert site.requests == []


def test_the_network_is_gone(tmp_path):
    with serving({}) as address:
        pass
    with pytest.raises(DownloadError, match=r"file\.zip could not be downloaded.*refused.*save it as '.*file\.zip'"):
        get(f"{address}/file.zip", tmp_path)


def test_a_server_that_stops_sending(web, tmp_path, monkeypatch):
    site, url = web
    monkeypatch.setattr(module, "TIMEOUT_SECONDS", 0.2)
    site.plan = [("stall", 1.5)]
    assert get(url, tmp_path).read_bytes() == CONTENT


def test_corrupted_files_are_refused(web, tmp_path):
    site, url = web
    site.content = OTHER
    with pytest.raises(DownloadError, match=rf"{url} is not the expected file.*{SHA256} but got {OTHER_SHA256}"):
        get(url, tmp_path)
    assert names(tmp_path) == []


def test_a_damaged_file_in_the_cache_is_replaced(web, tmp_path):
    _, url = web
    for sha256 in (SHA256, None):
        (path := get(url, tmp_path, sha256)).write_bytes(CONTENT[:-1] + b"?")
        with pytest.raises(DownloadError, match="missing or damaged, and download_if_missing=False"):
            get(url, tmp_path, sha256, download_if_missing=False)
        assert get(url, tmp_path, sha256).read_bytes() == CONTENT
        path.unlink()


def test_the_first_download_sets_the_checksum(web, tmp_path):
    site, url = web
    path = get(url, tmp_path, None)
    assert (tmp_path / "file.zip.sha256").read_text().strip() == SHA256
    path.unlink()
    site.content = OTHER
    with pytest.raises(DownloadError, match=r"If you trust the new file, delete '.*file\.zip' and its \.sha256 file"):
        get(url, tmp_path, None)
    (tmp_path / "file.zip.sha256").unlink()
    assert get(url, tmp_path, None).read_bytes() == OTHER


@pytest.mark.parametrize("scheme", ["file", "ftp"])
def test_only_http_addresses_are_opened(tmp_path, scheme):
    (tmp_path / "secret").write_text("x")
    with pytest.raises(DownloadError, match="No connection adapters"):
        get(f"{scheme}://{tmp_path}/secret", tmp_path / "cache", None)
    assert names(tmp_path / "cache") == []


def test_absence_is_an_error_where_downloads_are_not_wanted(web, tmp_path):
    site, url = web
    with pytest.raises(DownloadError, match=rf"'.*file\.zip' is missing.*Download {url} and save it there"):
        get(url, tmp_path / "new", download_if_missing=False)
    assert site.requests == []
    assert names(tmp_path) == []


def test_proxies_of_the_environment_are_used(web, tmp_path, monkeypatch):
    """Asked for a host that does not exist, the server on this machine answers in its place."""
    site, _ = web
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving({"http://data.invalid/file.zip": Site(CONTENT)}) as proxy:
        monkeypatch.setenv("http_proxy", proxy)
        assert get("http://data.invalid/file.zip", tmp_path).read_bytes() == CONTENT
    assert site.requests == []


PROGRAM = """
import resource, signal, sys
from latefusion.datasets.download import DownloadError, RemoteFile, download
url, sha256, folder, most_bytes = sys.argv[1:]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(most_bytes), int(most_bytes)))
try:
    download(RemoteFile(url, "file.zip", sha256), folder=folder)
except DownloadError as error:
    sys.exit(str(error))
"""


def process(url, folder, most_bytes):
    command = [sys.executable, "-c", PROGRAM, url, SHA256, str(folder), str(most_bytes)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files as Linux does")
def test_a_disk_without_room(web, tmp_path):
    _, url = web
    running = process(url, tmp_path, 100_000)
    _, message = running.communicate(timeout=120)
    assert running.returncode == 1
    assert f"{url} could not be stored as '{tmp_path / 'file.zip'}'" in message
    assert "set LATEFUSION_CACHE to another folder" in message
    assert names(tmp_path) == []


def test_a_cache_that_cannot_be_made(web, tmp_path):
    _, url = web
    (tmp_path / "file").touch()
    with pytest.raises(DownloadError, match=r"could not be stored as .*LATEFUSION_CACHE"):
        get(url, tmp_path / "file" / "cache")


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files as Linux does")
def test_threads_share_a_transfer_and_processes_do_not_disturb_it(web, tmp_path):
    site, url = web
    running = process(url, tmp_path, 10**6)
    found = []
    threads = [threading.Thread(target=lambda: found.append(get(url, tmp_path).read_bytes())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [CONTENT] * 4
    assert running.communicate(timeout=120)[1] == ""
    assert 1 <= len(site.requests) <= 2
    assert names(tmp_path) == ["file.zip", "file.zip.sha256"]


def test_without_pooch_the_error_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"Downloading '.*file\.zip' needs pooch.*latefusion\[datasets\]"):
        get("http://data.invalid/file.zip", tmp_path)


def test_the_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("LATEFUSION_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"
    assert cache_folder(tmp_path) == tmp_path
    monkeypatch.delenv("LATEFUSION_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    monkeypatch.setattr(module.sys, "platform", "linux")
    assert cache_folder() == tmp_path / "latefusion"
    monkeypatch.setattr(module.sys, "platform", "win32")
    assert cache_folder() == tmp_path / "latefusion"
    monkeypatch.setattr(module.sys, "platform", "darwin")
    assert cache_folder().parts[-3:] == ("Library", "Caches", "latefusion")
