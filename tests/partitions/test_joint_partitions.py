"""M from all views side by side: one similarity of one table, and base partitions that do not know of it."""

import numpy as np
import pytest
import scipy.sparse as sp

from latefusion.datasets import make_views
from latefusion.partitions import count_neighbors, fit_base_partitions
from latefusion.partitions.joint_partitions import fit_joint_partitions
from latefusion.partitions.sources import join_coordinates
from latefusion.similarities import GraphPartition, KernelPartition
from tests.partitions.rows import extend

VIEWS = make_views(80, 3, n_views=2, n_features=[5, 7], random_state=0).views.arrays
KERNEL, GRAPH = KernelPartition("linear"), GraphPartition(8)
SIMILARITIES = {
    "kernels and a graph": ([KERNEL, KERNEL], GRAPH),
    "graphs": ([GRAPH, GRAPH], GRAPH),
    "both": ([KERNEL, GRAPH], KERNEL),
}


def projector(rows):
    return rows @ rows.T


@pytest.mark.parametrize("name", SIMILARITIES)
def test_partitions_are_those_of_views_alone_and_of_all_side_by_side(name):
    own, reference = SIMILARITIES[name]
    base = fit_joint_partitions(VIEWS, own, reference, 3)
    for view, similarity, partition in zip(VIEWS, own, base.partitions, strict=True):
        alone = fit_base_partitions([view], [similarity], 3)
        np.testing.assert_allclose(projector(partition), projector(alone.partitions[0]), atol=1e-10)
        np.testing.assert_allclose(projector(partition), projector(alone.average), atol=1e-10)
    table, _ = join_coordinates(VIEWS, np.ones(2))
    together = fit_base_partitions([table], [reference], 3)
    np.testing.assert_allclose(projector(base.average), projector(together.average), atol=1e-10)


@pytest.mark.parametrize("name", SIMILARITIES)
def test_training_samples_get_their_rows_back(name):
    own, reference = SIMILARITIES[name]
    base = fit_joint_partitions(VIEWS, own, reference, 3, n_neighbors=20)
    rows = extend(base, VIEWS)
    for found, expected in zip([*rows.partitions, rows.average], [*base.partitions, base.average], strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-8)
    for found, expected in zip(rows.counts, base.neighbors, strict=True):
        np.testing.assert_allclose(found, expected.counts, rtol=1e-6)


def test_views_that_new_samples_lack_are_not_read():
    base = fit_joint_partitions(VIEWS, *SIMILARITIES["both"], 3)
    mask = np.ones((80, 2), dtype=bool)
    mask[:10, 0] = False
    mask[70:, 1] = False
    views = [np.where(seen[:, None], view, np.nan) for view, seen in zip(VIEWS, mask.T, strict=True)]
    rows = extend(base, views, mask)
    whole = extend(base, VIEWS)
    for found, expected, seen in zip(rows.partitions, whole.partitions, mask.T, strict=True):
        np.testing.assert_allclose(found, expected * seen[:, None], atol=1e-12)
    np.testing.assert_allclose(rows.average, whole.average * mask.all(axis=1)[:, None], atol=1e-12)
    assert rows.counts is None
    nobody = extend(base, [np.full((2, 5), np.nan), VIEWS[1][:2]], np.array([[False, True]] * 2))
    assert not nobody.average.any()
    np.testing.assert_allclose(nobody.partitions[1], whole.partitions[1][:2], atol=1e-12)


def test_the_unit_of_a_view_does_not_matter():
    base = fit_joint_partitions(VIEWS, *SIMILARITIES["graphs"], 3)
    scaled = fit_joint_partitions([VIEWS[0] * 1e3, VIEWS[1]], *SIMILARITIES["graphs"], 3)
    np.testing.assert_allclose(projector(base.average), projector(scaled.average), atol=1e-8)


def test_neighbors_of_m_are_those_among_all_views():
    base = fit_joint_partitions(VIEWS, [KERNEL, KERNEL], KERNEL, 3, n_neighbors=20)
    table, _ = join_coordinates(VIEWS, np.ones(2))
    matrix, _ = KERNEL.similarity(table, 3)
    expected = count_neighbors(matrix.toarray() if hasattr(matrix, "toarray") else matrix, 20)
    np.testing.assert_array_equal(base.neighbors[-1].counts, expected.counts)


def test_a_sparse_view_is_not_filled():
    sparse = sp.csr_array(np.where(VIEWS[1] > 0, VIEWS[1], 0.0))
    base = fit_joint_partitions([VIEWS[0], sparse], [GRAPH, GRAPH], GRAPH, 3)
    filled = fit_joint_partitions([VIEWS[0], sparse.toarray()], [GRAPH, GRAPH], GRAPH, 3)
    assert sp.issparse(base.parts[-1].extensions[0].training)
    np.testing.assert_allclose(projector(base.average), projector(filled.average), atol=1e-8)
