"""Downloads from a server on this machine: whatever it does, the cache holds whole files or none."""

from __future__ import annotations

import errno
import hashlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from latefusion.datasets import download as module
from latefusion.datasets.download import ChecksumError, DownloadError, RemoteFile, cache_folder, download
from tests.datasets.web import Site, serving

CONTENT = np.random.default_rng(0).bytes(300_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
OTHER = np.random.default_rng(1).bytes(300_000)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def web():
    """Serve one site; gives the site, a function that downloads it and its cache."""
    with serving({"/file.zip": (site := Site(CONTENT))}) as address:
        yield site, f"{address}/file.zip"


def get(url, folder, sha256=SHA256, **options):
    return download(RemoteFile(url, "file.zip", sha256), folder=folder, **{"timeout": 2.0, "pause": 0.01, **options})


def names(folder):
    return sorted(path.name for path in Path(folder).iterdir())


def test_a_file_comes_once_and_leaves_nothing_else(web, tmp_path):
    site, url = web
    for _ in range(2):
        assert get(url, tmp_path).read_bytes() == CONTENT
    assert len(site.requests) == 1
    assert names(tmp_path) == ["file.zip", "file.zip.lock", "file.zip.sha256"]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("tag", ['"1"', None])
def test_a_broken_transfer_goes_on_where_it_can(web, tmp_path, known, ranges, tag):
    site, url = web
    site.plan, site.ranges, site.tag = [("cut", 100_000), ("cut", 0), 503], ranges, tag
    assert get(url, tmp_path, SHA256 if known else None).read_bytes() == CONTENT
    asked = [request.get("Range") for request in site.requests]
    # Without a tag and without a checksum nobody could tell whether the parts are of one file.
    resumable = known or tag is not None
    assert asked[0] is None
    assert asked[1] == ("bytes=100000-" if resumable else None)
    assert site.requests[1].get("If-Range") == tag
    if ranges and resumable:
        assert asked[3] == "bytes=100000-"


def test_a_part_is_kept_for_the_next_process(web, tmp_path):
    site, url = web
    site.plan = [("cut", 120_000)]
    with pytest.raises(DownloadError, match=r"in 1 attempts: the transfer broke off after 120000 of 300000 bytes"):
        get(url, tmp_path, n_retries=0)
    assert not (tmp_path / "file.zip").exists()
    assert get(url, tmp_path).read_bytes() == CONTENT
    assert site.requests[-1]["Range"] == "bytes=120000-"


@pytest.mark.parametrize("known", [True, False])
def test_a_file_that_changes_in_between_is_not_mixed(web, tmp_path, known):
    site, url = web
    site.content, site.tag, site.plan = OTHER, '"0"', [("cut", 150_000)]
    with pytest.raises(DownloadError):
        get(url, tmp_path, n_retries=0)
    site.content, site.tag = CONTENT, '"1"'
    assert get(url, tmp_path, SHA256 if known else None).read_bytes() == CONTENT


def test_a_part_of_another_file_is_found_out_by_the_checksum(web, tmp_path):
    """A server without tags continues whatever it is asked to continue."""
    site, url = web
    site.tag = None
    (tmp_path / "file.zip.part").write_bytes(OTHER[:1000])
    assert get(url, tmp_path).read_bytes() == CONTENT
    assert [request.get("Range") for request in site.requests] == ["bytes=1000-", None]


def test_a_part_that_is_too_long_or_answered_from_elsewhere(web, tmp_path):
    site, url = web
    (tmp_path / "file.zip.part").write_bytes(CONTENT + b"more")
    assert get(url, tmp_path).read_bytes() == CONTENT
    (tmp_path / "file.zip").unlink()
    (tmp_path / "file.zip.part").write_bytes(CONTENT[:1000])
    site.plan = [("shift", 7)]
    assert get(url, tmp_path).read_bytes() == CONTENT


def test_corrupted_files_are_refused(web, tmp_path):
    site, url = web
    site.content = OTHER
    with pytest.raises(ChecksumError, match=rf"SHA-256 {hashlib.sha256(OTHER).hexdigest()}, but {SHA256} was expected"):
        get(url, tmp_path)
    assert names(tmp_path) == ["file.zip.lock"]


def test_a_damaged_file_in_the_cache_is_replaced(web, tmp_path):
    _, url = web
    for sha256 in (SHA256, None):
        (path := get(url, tmp_path, sha256)).write_bytes(CONTENT[:-1] + b"?")
        assert get(url, tmp_path, sha256).read_bytes() == CONTENT
        path.unlink()


def test_trust_on_first_use(web, tmp_path):
    site, url = web
    get(url, tmp_path, None)
    assert (tmp_path / "file.zip.sha256").read_text().strip() == SHA256
    (tmp_path / "file.zip").unlink()
    site.content, site.tag = OTHER, '"2"'
    with pytest.raises(ChecksumError, match=r"first download had the other one.*delete"):
        get(url, tmp_path, None)


@pytest.mark.parametrize("status", [500, 502, 503, 429, 408])
def test_troubles_that_pass(web, tmp_path, status):
    site, url = web
    site.plan = [status, status]
    assert get(url, tmp_path).read_bytes() == CONTENT
    assert len(site.requests) == 3


def test_troubles_that_do_not_pass(web, tmp_path):
    site, url = web
    with pytest.raises(DownloadError, match=r"nowhere cannot be downloaded: the server answered 404"):
        get(url.replace("file.zip", "nowhere"), tmp_path)
    site.plan = [403]
    with pytest.raises(DownloadError, match="answered 403"):
        get(url, tmp_path)
    assert len(site.requests) == 1
    site.plan = [500] * 9
    with pytest.raises(DownloadError, match="in 3 attempts: the server answered 500"):
        get(url, tmp_path, n_retries=2)


def test_the_server_says_how_long_to_wait(web, tmp_path, monkeypatch):
    site, url = web
    site.plan, site.headers = [503, 500, 503], {"Retry-After": "7"}
    waits = []
    monkeypatch.setattr(module.time, "sleep", waits.append)
    get(url, tmp_path, pause=4.0)
    assert waits == [7.0, 8.0, 16.0]


def test_a_server_that_falls_asleep(web, tmp_path):
    site, url = web
    site.plan = [("stall", 1.5)]
    assert get(url, tmp_path, timeout=0.2).read_bytes() == CONTENT
    assert site.requests[1]["Range"] == "bytes=150000-"
    (tmp_path / "file.zip").unlink()
    site.plan = [("stall", 1.0)] * 2
    with pytest.raises(DownloadError, match=r"in 2 attempts: the transfer broke off \(TimeoutError"):
        get(url, tmp_path, timeout=0.2, n_retries=1)


def test_nobody_there(tmp_path):
    with serving({}) as address:
        pass
    with pytest.raises(DownloadError, match=r"cannot be reached \(.*refused.*https_proxy"):
        get(f"{address}/file.zip", tmp_path, n_retries=1)


def test_other_schemes_are_refused(tmp_path):
    (tmp_path / "secret").write_text("x")
    with pytest.raises(DownloadError, match="no address on the web"):
        get(f"file://{tmp_path}/secret", tmp_path)


def test_absence_is_an_error_where_downloads_are_not_wanted(web, tmp_path):
    site, url = web
    with pytest.raises(DownloadError, match="may not be downloaded: fetch http"):
        get(url, tmp_path, download_if_missing=False)
    assert site.requests == []
    get(url, tmp_path)
    assert get(url, tmp_path, download_if_missing=False).read_bytes() == CONTENT


def test_proxies_of_the_environment_are_used(web, tmp_path, monkeypatch):
    """Asked for a host that does not exist, the server on this machine answers in its place."""
    site, _ = web
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving({"http://data.invalid/file.zip": Site(CONTENT)}) as proxy:
        monkeypatch.setenv("http_proxy", proxy)
        assert get("http://data.invalid/file.zip", tmp_path).read_bytes() == CONTENT
    assert site.requests == []


def test_a_full_disk_leaves_the_old_file_and_names_the_way_out(web, tmp_path, monkeypatch):
    _, url = web
    kept = get(url, tmp_path / "a")
    real = module._write

    def full(answer, part, start):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(module, "_write", full)
    with pytest.raises(DownloadError, match=r"cannot be kept in .*No space left.*LATEFUSION_CACHE"):
        get(url, tmp_path / "b")
    assert kept.read_bytes() == CONTENT
    monkeypatch.setattr(module, "_write", real)
    assert get(url, tmp_path / "b").read_bytes() == CONTENT


def test_a_cache_that_cannot_be_made(web, tmp_path):
    _, url = web
    (tmp_path / "file").touch()
    with pytest.raises(DownloadError, match="cannot be kept in"):
        get(url, tmp_path / "file" / "cache")


def test_threads_and_processes_share_one_transfer(web, tmp_path):
    site, url = web
    program = (
        "import sys; from latefusion.datasets.download import *;"
        "download(RemoteFile(sys.argv[1], 'file.zip', sys.argv[2]), folder=sys.argv[3])"
    )
    process = subprocess.Popen([sys.executable, "-c", program, url, SHA256, str(tmp_path)])
    threads = [threading.Thread(target=get, args=(url, tmp_path)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert process.wait(120) == 0
    assert (tmp_path / "file.zip").read_bytes() == CONTENT
    assert len(site.requests) == 1


def test_waiting_for_another_process_ends(web, tmp_path, monkeypatch):
    _, url = web
    monkeypatch.setattr(module, "_try_lock", lambda descriptor: False)
    ticks = iter(range(0, 10_000, 100))
    monkeypatch.setattr(module.time, "monotonic", lambda: next(ticks))
    monkeypatch.setattr(module.time, "sleep", lambda seconds: None)
    with pytest.raises(DownloadError, match="Another process has been downloading"):
        get(url, tmp_path)


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
