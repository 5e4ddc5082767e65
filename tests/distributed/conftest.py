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


@pytest.fixture
def many(planted, monkeypatch):
    """The same where 1200 samples are many: too many for kernels, graphs, counts and searches of all of them."""
    monkeypatch.setattr("latefusion.similarities.kernel.NYSTROM_SAMPLES", 1000)
    monkeypatch.setattr("latefusion.similarities.graph.EXACT_SAMPLES", 1000)
    monkeypatch.setattr("latefusion.partitions.neighborhoods.EXACT_COUNTS", 1000)
    monkeypatch.setattr("latefusion.partitions.gram.EXACT_COUNTS", 1000)
    monkeypatch.setattr("latefusion.similarities.kernel.SUBSET_ROWS", 900)
    monkeypatch.setattr("latefusion.similarities.graph.DEFAULT_ANCHORS", 50)
    monkeypatch.setattr("latefusion.assignment.rules.SMALL_SAMPLES", 1000)
    monkeypatch.setattr("latefusion.assignment.kmeans.SUBSET_ROWS", 900)
    monkeypatch.setattr("latefusion.selection.spaces.SEARCH_SAMPLES", 400)
    return planted


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
