"""The machine and the state of the code that computed a leaderboard."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

from latefusion.arrays.memory import available_memory, size_in_words
from latefusion.experiments.store import PACKAGE

LIBRARIES = ("numpy", "scipy", "scikit-learn")


def machine() -> str:
    """The machine and the libraries that matter for speed, without a name of the machine.

    Returns
    -------
    str
    """
    cores = os.cpu_count() or 1
    memory = available_memory()
    words = [
        f"{cores} CPU core{'s' * (cores > 1)} ({_processor()})",
        *([] if memory is None else [f"{size_in_words(memory)} free memory"]),
        platform.system(),
        f"Python {platform.python_version()}",
        *(f"{name} {version(name)}" for name in LIBRARIES),
        "one thread per process",
    ]
    return ", ".join(words)


def commit(folder: Path = PACKAGE) -> str | None:
    """The commit of the code, if the package is a checkout of its repository without changes.

    Parameters
    ----------
    folder : Path, default=PACKAGE

    Returns
    -------
    str or None
    """
    if _git(folder, "ls-files", "--error-unmatch", "version.py") is None or _git(folder, "status", "--porcelain", "."):
        return None
    return _git(folder, "rev-parse", "HEAD")


def _git(folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):  # git is not installed, or this is not a repository
        return None
    return done.stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
