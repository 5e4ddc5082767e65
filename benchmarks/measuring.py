"""What the benchmarks share: the machine in words, seconds, peak memory, and rows that are saved as they come.

Needs the standard library only, so that it can be imported in the environments of other packages, too; drawing needs
matplotlib.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import platform
import resource
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

# Colours that stay apart for colour-blind readers (Okabe and Ito).
BLUE, ORANGE, GREEN, PURPLE, SKY, RED, YELLOW, GREY = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#F0E442",
    "#7F7F7F",
)


def machine():
    """The machine and the libraries that matter for speed, in words."""
    model = platform.machine()
    cpu_file = Path("/proc/cpuinfo")
    if cpu_file.exists():
        names = [line.split(":", 1)[1].strip() for line in cpu_file.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ", ".join(f"{name} {version_of(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    return (
        f"{threads()} thread(s) on {os.cpu_count()} CPU core(s) ({model}), {memory:.0f} GiB memory, "
        f"{platform.system()}; Python {platform.python_version()}, {packages}"
    )


def threads():
    """Threads that matrix products use."""
    named = os.environ.get("OPENBLAS_NUM_THREADS") or os.environ.get("OMP_NUM_THREADS")
    return int(named) if named else len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def version_of(package):
    """Version of an installed package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def with_peak_memory(run):
    """What a call returns, and by how many MiB it raised the memory of the process at most.

    On Linux the high-water mark of the process is reset first; elsewhere it is that of the whole life of the process,
    so a call should have its own process.
    """
    return_free_memory()
    reset = Path("/proc/self/clear_refs")
    if reset.exists():
        reset.write_text("5")
    before = _memory("VmRSS")
    result = run()
    return result, max(0.0, _memory("VmHWM") - before)


def return_free_memory():
    """Give memory that is free within the process back to the system, so that it is not used again unseen."""
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def _memory(field):
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def best_seconds(run, repeats=3):
    """Shortest time of several calls, and what the last one returned."""
    times = []
    for _ in range(repeats):
        result = None  # what the last call made is free before the next
        start = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - start)
    return min(times), result


def save(path, rows, **facts):
    """Write rows, below the machine and other facts; nothing without a path."""
    if path is not None:
        path.write_text(json.dumps({"machine": machine(), **facts, "rows": rows}, indent=1) + "\n")


def figure(**options):
    """A figure and its axes, without the frame lines that carry no information."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    return pyplot.subplots(layout="constrained", **options)
