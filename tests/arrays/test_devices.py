"""Libraries and accelerators, found where they are and not made up where they are not."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from latefusion.arrays import devices, find_backends, find_devices


@pytest.fixture
def library(monkeypatch):
    """Put something in the place of a library."""

    def pretend(name, content):
        monkeypatch.setitem(sys.modules, name, content)

    pretend("torch", None)
    pretend("cupy", None)
    return pretend


def torch_with(n_cuda, mps=False):
    card = SimpleNamespace(name="Card", total_memory=2**34)
    cuda = SimpleNamespace(
        is_available=lambda: n_cuda > 0, device_count=lambda: n_cuda, get_device_properties=lambda place: card
    )
    backends = SimpleNamespace(mps=SimpleNamespace(is_available=lambda: mps))
    return SimpleNamespace(cuda=cuda, backends=backends, __version__="9.9")


def test_libraries_have_versions_or_none(library):
    found = find_backends()
    assert set(found) == set(devices.BACKENDS)
    assert found["numpy"] == np.__version__
    assert found["torch"] is None
    library("torch", torch_with(0))
    assert find_backends()["torch"] == "9.9"


def test_without_accelerators_there_is_the_processor(library):
    for torch in (None, torch_with(0)):
        library("torch", torch)
        assert [(one.backend, one.name) for one in find_devices()] == [("numpy", "cpu")]


def test_accelerators_of_torch(library):
    library("torch", torch_with(2, mps=True))
    found = find_devices()
    assert [one.name for one in found] == ["cpu", "cuda:0", "cuda:1", "mps"]
    assert found[1] == ("torch", "cuda:0", "Card", 2**34)


def test_accelerators_of_cupy_or_none_without_a_driver(library):
    class NoDriver(RuntimeError):
        pass

    def fail():
        raise NoDriver

    properties = {"name": b"Card", "totalGlobalMem": 2**33}
    runtime = SimpleNamespace(
        CUDARuntimeError=NoDriver, getDeviceCount=lambda: 1, getDeviceProperties=lambda place: properties
    )
    library("cupy", SimpleNamespace(cuda=SimpleNamespace(runtime=runtime), __version__="1"))
    assert find_devices()[1:] == [("cupy", "cuda:0", "Card", 2**33)]
    runtime.getDeviceCount = fail
    assert find_devices()[1:] == []
