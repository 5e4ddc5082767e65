"""Fixtures shared by the tests of estimators: arrays of other libraries."""

import importlib.util

import array_api_strict
import pytest

needs_torch = pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="no torch")


def has_gpu(library):
    if importlib.util.find_spec(library) is None:
        return False
    module = importlib.import_module(library)
    return module.cuda.is_available()


LIBRARIES = [
    pytest.param("torch cpu", marks=pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="no torch")),
    pytest.param("torch cuda", marks=pytest.mark.skipif(not has_gpu("torch"), reason="no torch with a GPU")),
    pytest.param("cupy", marks=pytest.mark.skipif(not has_gpu("cupy"), reason="no CuPy with a GPU")),
    "strict",
]


@pytest.fixture(params=LIBRARIES)
def moved(request, monkeypatch):
    """A function that moves NumPy arrays to a device."""
    if request.param == "strict":
        # Rows are cut by x[:5] and counted by len(x), which all libraries with a device allow.
        kind = type(array_api_strict.zeros(1))
        monkeypatch.setattr(kind, "_validate_index", lambda *args, **kwargs: None, raising=False)
        monkeypatch.setattr(kind, "__len__", lambda array: array.shape[0], raising=False)
        return array_api_strict.asarray
    library, _, device = request.param.partition(" ")
    module = importlib.import_module(library)
    return lambda array: module.asarray(array, **({"device": device} if device else {}))
