"""Consensus rows: projected, weighed by counts, and the same in any blocks."""

import numpy as np
import pytest

from latefusion import LocalAlignmentClustering
from latefusion.distributed import rows as room
from latefusion.distributed.alignment import LocalAlignmentClustering as Chunked
from latefusion.distributed.features import observed


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


def test_a_sample_is_trusted_by_the_weight_of_its_views():
    blocks = [np.array([[1.0], [np.nan], [2.0]]), np.array([[3.0], [4.0], [np.nan]])]
    np.testing.assert_array_equal(observed(blocks), [[1, 1], [0, 1], [1, 0]])
    trusted = room.rows_with_confidence(
        lambda blocks, numbers: numbers[:, None], np.array([0.6, 0.8]), blocks, np.arange(3)
    )
    np.testing.assert_allclose(trusted, [[0, 1.0], [1, 0.8], [2, 0.6]])
