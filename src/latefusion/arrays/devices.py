"""Installed array libraries, and the devices that they can use."""

from __future__ import annotations

import importlib
import os
from typing import Any, NamedTuple

# Libraries whose arrays are clustered on their device.
BACKENDS = ("numpy", "torch", "cupy", "dask")


class Device(NamedTuple):
    """A device for computations.

    Attributes
    ----------
    backend : str
        Library that can use it.
    name : str
        Such as "cuda:0".
    description : str
        Description by the library.
    n_bytes : int or None
        Its memory; None if unknown.
    """

    backend: str
    name: str
    description: str
    n_bytes: int | None = None


def find_backends() -> dict[str, str | None]:
    """Version of every array library, None if it cannot be imported."""
    found = {name: _imported(name) for name in BACKENDS}
    return {name: None if library is None else str(library.__version__) for name, library in found.items()}


def find_devices() -> list[Device]:
    """The processor, and every accelerator that an installed library can use; imports these libraries.

    Returns
    -------
    list of Device
    """
    return [Device("numpy", "cpu", f"{os.cpu_count()} cores"), *_of_torch(), *_of_cupy()]


def _of_torch() -> list[Device]:
    torch = _imported("torch")
    if torch is None:
        return []
    found = []
    if torch.cuda.is_available():
        for index in range(torch.cuda.device_count()):
            one = torch.cuda.get_device_properties(index)
            found.append(Device("torch", f"cuda:{index}", str(one.name), int(one.total_memory)))
    if torch.backends.mps.is_available():
        found.append(Device("torch", "mps", "Apple GPU"))
    return found


def _of_cupy() -> list[Device]:
    cupy = _imported("cupy")
    if cupy is None:
        return []
    runtime = cupy.cuda.runtime
    try:
        indices = range(runtime.getDeviceCount())
    except runtime.CUDARuntimeError:  # no driver, or no device
        return []
    found = [runtime.getDeviceProperties(index) for index in indices]
    return [
        Device("cupy", f"cuda:{index}", one["name"].decode(), int(one["totalGlobalMem"]))
        for index, one in enumerate(found)
    ]


def _imported(name: str) -> Any:
    """A library, or None if it is not installed or broken (for example without its drivers)."""
    try:
        return importlib.import_module(name)
    except (ImportError, OSError):
        return None
