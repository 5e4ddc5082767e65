"""Free memory, and errors before allocations that would exceed it.

A system that overcommits memory kills the process instead of raising an error. So the free memory is checked before
every allocation that grows with the square of the number of samples. The checked size is a lower bound of the memory
that is used, so that no computation is refused that could succeed. If the free memory is unknown, nothing is refused.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import array_api_compat

from latefusion.arrays.namespace import device_name
from latefusion.types import Array

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")


def available_memory(like: Array = None) -> int | None:
    """Bytes that can still be allocated on the device of an array.

    Parameters
    ----------
    like : array, default=None
        An array on the device in question; the memory of the computer when None.

    Returns
    -------
    int or None
        None when it is unknown.
    """
    if array_api_compat.is_cupy_array(like):
        cupy = sys.modules["cupy"]
        with like.device:
            return int(cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes())
    if array_api_compat.is_torch_array(like) and like.device.type != "cpu":
        if like.device.type != "cuda":
            return None
        cuda = sys.modules["torch"].cuda
        held = cuda.memory_reserved(like.device) - cuda.memory_allocated(like.device)  # by torch, for later use
        return int(cuda.mem_get_info(like.device)[0] + held)
    return min([*_free_memory(), *_free_shares()], default=None)


def require_memory(n_bytes: int, what: str, advice: str, like: Array = None) -> None:
    """Raise a `MemoryError` if there is less memory than needed.

    Parameters
    ----------
    n_bytes : int
        Lower bound of the memory that is needed.
    what : str
        Subject of the error message.
    advice : str
        Last sentences of the error message: the remedy.
    like : array, default=None
        An array on the device in question; the memory of the computer when None.
    """
    available = available_memory(like)
    if available is not None and n_bytes > available:
        where = "" if like is None else f" ({device_name(like)})"
        needed, free = size_in_words(n_bytes), size_in_words(available)
        raise MemoryError(f"{what} needs at least {needed} of memory, but only {free} are free{where}. {advice}")


def size_in_words(n_bytes: int) -> str:
    """A number of bytes such as "1.5 GiB"."""
    size = float(n_bytes)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:,.1f} TiB"


def _free_memory() -> Iterator[int]:
    """Available memory of the system; its total memory if the available memory is unknown."""
    try:
        lines = (PROC / "meminfo").read_text().splitlines()
        yield from (1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except OSError:
        if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
            yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _free_shares() -> Iterator[int]:
    """Memory that containers and job schedulers allow for this process: its control groups, of both versions."""
    try:
        groups = [line.split(":", 2) for line in (PROC / "self" / "cgroup").read_text().splitlines()]
    except OSError:
        return
    for _, controllers, path in groups:
        if controllers == "":
            yield from _free_in_groups(CGROUPS, path, "memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            yield from _free_in_groups(CGROUPS / "memory", path, *names)


def _free_in_groups(root: Path, path: str, limit: str, usage: str, reclaimable: str) -> Iterator[int]:
    group = root / path.lstrip("/")
    while True:
        try:
            most = (group / limit).read_text().strip()
            if most != "max":
                statistics = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
                cached = int(statistics.get(reclaimable, 0))
                yield max(0, int(most) - int((group / usage).read_text()) + cached)
        except OSError:
            pass  # inside a container the group may have another path; its limit is then at the root
        if group == root or root not in group.parents:
            return
        group = group.parent
