"""Fixtures shared by all tests: golden numbers, data sets, planted views, array namespaces."""

from __future__ import annotations

import os
from pathlib import Path

import array_api_strict
import numpy as np
import pytest

COMMITTED = Path(__file__).parent
FOLDERS = ("golden", "golden_modern")
SHARED = Path(os.environ.get("LATEFUSION_SHARED", Path(__file__).parents[2] / "shared"))


@pytest.fixture
def golden():
    """Load a golden file by name; the larger ones live outside the repository and are skipped where they are absent."""

    def load(name):
        for path in (place / folder / f"{name}.npz" for place in (COMMITTED, SHARED) for folder in FOLDERS):
            if path.exists():
                with np.load(path, allow_pickle=False) as archive:
                    return dict(archive)
        pytest.skip(f"golden file {name}.npz is not in the repository and the shared folder is not here")

    return load


@pytest.fixture
def shared_data():
    """Path of a real data set by name; skipped where the shared folder is absent."""

    def find(name):
        path = SHARED / "data" / f"{name}.npz"
        if not path.exists():
            pytest.skip(f"data set {name}.npz is not here (set LATEFUSION_SHARED to the folder that holds data/)")
        return path

    return find


@pytest.fixture(params=["numpy", "array_api_strict"])
def xp(request):
    """An array namespace: the algorithms must not care which."""
    import array_api_compat.numpy

    return {"numpy": array_api_compat.numpy, "array_api_strict": array_api_strict}[request.param]


@pytest.fixture(params=[0, 1])
def seed(request):
    return request.param


@pytest.fixture(scope="session")
def conflict():
    """Two views of 120 samples with equally clear, different clusters, by name, and the clusters of both."""
    rng = np.random.default_rng(0)
    first = np.repeat(np.arange(3), 40)
    second = rng.permutation(first)
    centers = 6 * rng.standard_normal((2, 3, 6))
    noise = 0.5 * rng.standard_normal((2, 120, 6))
    return {"left": centers[0][first] + noise[0], "right": centers[1][second] + noise[1]}, first, second
