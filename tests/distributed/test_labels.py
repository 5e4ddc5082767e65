"""K-means by sums over pieces: the same centres as in memory, in passes that are counted."""

import dask.array as da
import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from latefusion.assignment.rules import assign_by_kmeans, assign_by_pivoted_qr
from latefusion.distributed import passes
from latefusion.distributed.chunks import ChunkedViews
from latefusion.distributed.labels import fit_rule, lazy_labels

RNG = np.random.default_rng(0)
TARGET = np.arange(6000) % 4
ROWS = np.eye(4)[TARGET] + 0.2 * RNG.standard_normal((6000, 4))


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("chunks", [6000, 1000, 77])
def test_centers_are_those_of_kmeans_in_memory(chunks, kept, monkeypatch):
    monkeypatch.setattr(passes, "memory_of_workers", lambda: 1e12 if kept else 0.0)
    seen = []
    lazy = da.from_array(ROWS, chunks=(chunks, -1)).map_blocks(
        lambda block, block_info=None: seen.append(block_info and block_info[0]["chunk-location"][0]) or block,
        dtype=float,
    )
    names, run = [], passes.run
    monkeypatch.setattr(passes, "run", lambda result, views, name: names.append(name) or run(result, views, name))
    rule = fit_rule(ChunkedViews(("a",), (lazy,)), ROWS, "kmeans", 5, np.random.RandomState(0))
    assert {*names} == {"k-means"}
    n_reads = [seen.count(chunk) for chunk in range(-(-6000 // chunks))]
    assert n_reads == [1 if kept else len(names)] * len(n_reads)
    labels, expected = assign_by_kmeans(ROWS, 4, n_init=5, random_state=0)
    order = [int(np.argmin(np.sum((expected.centers - one) ** 2, axis=1))) for one in rule.centers]
    assert sorted(order) == [0, 1, 2, 3]
    np.testing.assert_allclose(rule.centers, expected.centers[order], atol=1e-8)
    found, confidence = lazy_labels(rule, lazy)
    assert adjusted_rand_score(found.compute(), labels) == 1.0
    np.testing.assert_allclose(confidence.compute(), expected.confidence(ROWS), atol=1e-8)


def test_other_rules_are_fitted_on_the_subset():
    """The other rows are not read."""
    lazy = da.from_array(ROWS, chunks=(500, -1)).map_blocks(lambda block: 1 / 0, meta=ROWS[:0])
    rule = fit_rule(ChunkedViews(("a",), (lazy,)), ROWS[:600], "cluster_qr", 1, np.random.RandomState(0))
    np.testing.assert_array_equal(rule.predict(ROWS), assign_by_pivoted_qr(ROWS[:600], 4)[1].predict(ROWS))
