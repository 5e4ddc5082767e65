"""Fitted models and what is gathered from them, made once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import latefusion as lf
from latefusion.interpretation.gather import gather


@pytest.fixture(scope="session")
def planted():
    return lf.datasets.make_views(n_samples=90, n_clusters=3, n_views=2, n_features=4, separation=8.0, random_state=0)


@pytest.fixture(scope="session")
def aligned(planted):
    return lf.GlobalAlignmentClustering(3, random_state=0).fit(planted.views)


@pytest.fixture(scope="session")
def deciding(planted):
    return lf.LateFusionClustering(range(2, 5), random_state=0).fit(planted.views)


@pytest.fixture(scope="session")
def labelings(planted):
    """Three partitions of the same samples; in the second, ten of them are unassigned."""
    names = np.array(["a", "b", "c"])[planted.target]
    second = np.where(np.arange(90) < 10, -1, planted.target)
    return {"text": names, "partial": second, "coarse": (planted.target > 0).astype(int)}


@pytest.fixture(scope="session")
def agreed(labelings):
    return lf.ConsensusClustering(3, random_state=0).fit(labelings)


@pytest.fixture
def gathered(aligned, planted):
    return gather(aligned, planted.views)


@pytest.fixture
def incomplete(gathered):
    """The first view is missing for nine samples."""
    first, *others = gathered.views
    return replace(gathered, views=[replace(first, observed=np.arange(90) >= 9), *others])
