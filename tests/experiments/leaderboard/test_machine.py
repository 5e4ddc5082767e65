import platform
import subprocess

import numpy as np

from latefusion.experiments.leaderboard.machine import commit, machine


def git(folder, *words):
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b.c", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_the_machine_is_described_without_its_name():
    words = machine()
    assert f"numpy {np.__version__}" in words
    assert "CPU core" in words
    assert platform.node() not in words.split()


def test_only_a_clean_checkout_has_a_commit(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "version.py").write_text("1")
    assert commit(package) is None
    git(tmp_path, "init", "-q")
    assert commit(package) is None  # installed into a folder of another repository
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    assert commit(package) == git(tmp_path, "rev-parse", "HEAD")
    (tmp_path / "notes.txt").write_text("elsewhere")
    assert commit(package) == git(tmp_path, "rev-parse", "HEAD")
    (package / "version.py").write_text("2")
    assert commit(package) is None
