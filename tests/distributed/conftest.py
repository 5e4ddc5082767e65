"""Planted views, chunked in many ways; pieces small enough that there are several."""

import dask
import dask.array as da
import numpy as np
import pytest

from latefusion.datasets import make_views
from latefusion.distributed import chunks


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(chunks, "LEAST_ENTRIES", 2**12)
    with dask.config.set(scheduler="threads", num_workers=2):
        yield


@pytest.fixture(scope="session")
def planted():
    """Three views of 1200 samples in four clusters, by name, and the clusters."""
    data = make_views(n_samples=1200, n_clusters=4, random_state=0)
    return {name: np.asarray(view) for name, view in data.views.items()}, data.target


@pytest.fixture(scope="session")
def many():
    """The same with more samples than kernels and graphs of all pairs are made for."""
    data = make_views(n_samples=10_500, n_clusters=4, random_state=0)
    return {name: np.asarray(view) for name, view in data.views.items()}, data.target


@pytest.fixture
def chunked():
    """Chunk views: by one size for all, or by one per view."""

    def cut(views, chunks=300):
        sizes = chunks if isinstance(chunks, list) else [chunks] * len(views)
        return {
            name: da.from_array(view, chunks=(size, -1))
            for (name, view), size in zip(views.items(), sizes, strict=True)
        }

    return cut
