"""Memory is asked for before it is taken: the smallest of all limits counts, and errors say what to do."""

from types import SimpleNamespace

import numpy as np
import pytest

from latefusion.arrays import available_memory, memory, require_memory


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A made-up system: what it says about its memory, and the control groups of this process."""
    monkeypatch.setattr(memory, "PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "CGROUPS", tmp_path / "cgroups")

    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return write


def test_this_computer_has_some():
    available = available_memory()
    assert available > 2**20
    assert available_memory(np.zeros(3)) == pytest.approx(available, rel=0.5)


def test_what_the_system_could_hand_out(system):
    system(proc__meminfo="MemTotal: 9000 kB\nMemFree: 10 kB\nMemAvailable:  700 kB\n")
    assert available_memory() == 700 * 1024


@pytest.mark.parametrize(("limit", "room"), [("1000000", 1_000_000 - 600_000 + 50_000), ("max", 700 * 1024)])
def test_limits_of_containers(system, limit, room):
    system(
        proc__meminfo="MemAvailable: 700 kB\n",
        proc__self__cgroup="0::/job/step\n",
        cgroups__job__memory_dot_max=limit,
        cgroups__job__memory_dot_current="600000",
        cgroups__job__memory_dot_stat="anon 1\ninactive_file 50000\n",
        cgroups__job__step__memory_dot_max="max",
    )
    assert available_memory() == room


def test_limits_of_the_first_version(system):
    system(
        proc__meminfo="MemAvailable: 700 kB\n",
        proc__self__cgroup="9:cpu,memory:/elsewhere\n2:pids:/\n",
        cgroups__memory__memory_dot_limit_in_bytes="300000",
        cgroups__memory__memory_dot_usage_in_bytes="400000",
        cgroups__memory__memory_dot_stat="total_inactive_file 1000\n",
    )
    assert available_memory() == 0


def test_without_meminfo_the_total_memory_or_nothing(system, monkeypatch):
    monkeypatch.setattr(memory.os, "sysconf_names", {"SC_PHYS_PAGES": 1, "SC_PAGE_SIZE": 2})
    monkeypatch.setattr(memory.os, "sysconf", lambda name: {"SC_PHYS_PAGES": 50, "SC_PAGE_SIZE": 4096}[name])
    assert available_memory() == 50 * 4096
    monkeypatch.setattr(memory.os, "sysconf_names", {})
    assert available_memory() is None
    require_memory(2**80, "Anything", "Never mind.")


def test_a_device_has_memory_of_its_own(monkeypatch):
    """On a GPU what the library holds in reserve counts as free; of other devices nothing is known."""
    cuda = SimpleNamespace(
        mem_get_info=lambda device: (100, 1000), memory_reserved=lambda device: 50, memory_allocated=lambda device: 20
    )
    monkeypatch.setitem(memory.sys.modules, "torch", SimpleNamespace(cuda=cuda))
    monkeypatch.setattr(memory.array_api_compat, "is_torch_array", lambda array: array is not None)
    on = lambda kind: SimpleNamespace(device=SimpleNamespace(type=kind))  # noqa: E731
    assert available_memory(on("cuda")) == 130
    assert available_memory(on("mps")) is None


def test_the_error_names_needed_and_free_memory(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda like=None: 3 * 2**20)
    require_memory(3 * 2**20, "A kernel", "Take a factor.")
    with pytest.raises(
        MemoryError, match=r"^A kernel needs at least 2 GiB of memory, but only 3 MiB are free\. Take a"
    ):
        require_memory(2**31, "A kernel", "Take a factor.")
    with pytest.raises(MemoryError, match=r"16\.0 TiB of memory, but only 3 MiB are free \(NumPy\)"):
        require_memory(2**44, "A kernel", "Take a factor.", like=np.zeros(1))
