"""Local alignment of chunked views: counts, partitions and consensus rows, the same in any blocks."""

import numpy as np
import pytest

from latefusion import LocalAlignmentClustering
from latefusion.distributed import local_alignment as room
from latefusion.distributed.local_alignment import LocalAlignmentClustering as Chunked


@pytest.fixture
def fitted(planted, chunked):
    views, _ = planted
    options = {"n_clusters": 4, "kernel": "linear", "count_samples": 100, "random_state": 0}
    return LocalAlignmentClustering(**options).fit(views), Chunked(**options).fit(chunked(views, 170))


def test_counts_and_their_error_are_those_in_memory(fitted):
    in_memory, found = fitted
    assert found.neighbor_counts_.shape == (4, 1200)
    np.testing.assert_allclose(found.neighbor_counts_.compute(), in_memory.neighbor_counts_)
    assert found.neighbor_count_error_ == pytest.approx(in_memory.neighbor_count_error_)


def test_partitions_are_those_in_memory_up_to_sign(fitted):
    in_memory, found = fitted
    for one, other in zip(found.partitions_, in_memory.partitions_, strict=True):
        one = one.compute()
        np.testing.assert_allclose(one @ one.T, other @ other.T, atol=1e-9)


def test_consensus_does_not_depend_on_the_blocks(fitted, monkeypatch):
    _, found = fitted
    whole = found.consensus_.compute()
    monkeypatch.setattr(room, "CLOSENESS_ENTRIES", 100 * 13)  # thirteen rows at a time
    np.testing.assert_allclose(found.consensus_.compute(), whole, atol=1e-12)
    np.testing.assert_allclose(whole.T @ whole, np.eye(4), atol=1e-9)
