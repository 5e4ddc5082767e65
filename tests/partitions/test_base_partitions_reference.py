"""M from all views side by side: one similarity of one table, and base partitions that do not know of it."""

import numpy as np
import pytest
import scipy.sparse as sp

from latefusion.datasets import make_views
from latefusion.partitions import fit_base_partitions
from latefusion.partitions.neighborhoods import count_neighbors
from latefusion.partitions.sources import join_coordinates
from latefusion.similarities import GraphSimilarity, KernelSimilarity
from tests.partitions.rows import extend

VIEWS = make_views(80, 3, n_views=2, n_features=[5, 7], random_state=0).views.arrays
KERNEL, GRAPH = KernelSimilarity("linear"), GraphSimilarity(8)
SIMILARITIES = {
    "kernels and a graph": ([KERNEL, KERNEL], GRAPH),
    "graphs": ([GRAPH, GRAPH], GRAPH),
    "both": ([KERNEL, GRAPH], KERNEL),
}


def with_reference(views, own, reference):
    return fit_base_partitions(views, own, 3, reference=reference)


def projector(rows):
    return rows @ rows.T


@pytest.mark.parametrize("name", SIMILARITIES)
def test_partitions_are_those_of_views_alone_and_of_all_side_by_side(name):
    own, reference = SIMILARITIES[name]
    base = fit_base_partitions(VIEWS, own, 3, reference=reference)
    for view, similarity, partition in zip(VIEWS, own, base.vectors, strict=True):
        alone = fit_base_partitions([view], [similarity], 3)
        np.testing.assert_allclose(projector(partition), projector(alone.vectors[0]), atol=1e-10)
        np.testing.assert_allclose(projector(partition), projector(alone.mean.rows), atol=1e-10)
    table, _ = join_coordinates(VIEWS, np.ones(2))
    together = fit_base_partitions([table], [reference], 3)
    np.testing.assert_allclose(projector(base.mean.rows), projector(together.mean.rows), atol=1e-10)


@pytest.mark.parametrize("name", SIMILARITIES)
def test_training_samples_get_their_rows_back(name):
    own, reference = SIMILARITIES[name]
    base = fit_base_partitions(VIEWS, own, 3, reference=reference, n_neighbors=20)
    rows = extend(base, VIEWS)
    for found, expected in zip([*rows.vectors, rows.mean.rows], [*base.vectors, base.mean.rows], strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-8)
    for found, expected in zip(rows.counts, base.counts, strict=True):
        np.testing.assert_allclose(found, expected.counts, rtol=1e-6)


def test_missing_views_of_new_samples_are_not_read():
    base = with_reference(VIEWS, *SIMILARITIES["both"])
    mask = np.ones((80, 2), dtype=bool)
    mask[:10, 0] = False
    mask[70:, 1] = False
    views = [np.where(seen[:, None], view, np.nan) for view, seen in zip(VIEWS, mask.T, strict=True)]
    rows = extend(base, views, mask)
    whole = extend(base, VIEWS)
    for found, expected, seen in zip(rows.vectors, whole.vectors, mask.T, strict=True):
        np.testing.assert_allclose(found, expected * seen[:, None], atol=1e-12)
    np.testing.assert_allclose(rows.mean.rows, whole.mean.rows * mask.all(axis=1)[:, None], atol=1e-12)
    assert rows.counts is None
    nobody = extend(base, [np.full((2, 5), np.nan), VIEWS[1][:2]], np.array([[False, True]] * 2))
    assert not nobody.mean.rows.any()
    np.testing.assert_allclose(nobody.vectors[1], whole.vectors[1][:2], atol=1e-12)


def test_the_unit_of_a_view_does_not_matter():
    base = with_reference(VIEWS, *SIMILARITIES["graphs"])
    scaled = with_reference([VIEWS[0] * 1e3, VIEWS[1]], *SIMILARITIES["graphs"])
    np.testing.assert_allclose(projector(base.mean.rows), projector(scaled.mean.rows), atol=1e-8)


def test_neighbors_of_m_are_those_among_all_views():
    base = fit_base_partitions(VIEWS, [KERNEL, KERNEL], 3, reference=KERNEL, n_neighbors=20)
    table, _ = join_coordinates(VIEWS, np.ones(2))
    matrix, _ = KERNEL.similarity(table, 3)
    expected = count_neighbors(matrix.toarray() if hasattr(matrix, "toarray") else matrix, [20])[0]
    np.testing.assert_array_equal(base.counts[-1].counts, expected.counts)


def test_a_sparse_view_is_not_filled():
    sparse = sp.csr_array(np.where(VIEWS[1] > 0, VIEWS[1], 0.0))
    base = with_reference([VIEWS[0], sparse], [GRAPH, GRAPH], GRAPH)
    filled = with_reference([VIEWS[0], sparse.toarray()], [GRAPH, GRAPH], GRAPH)
    assert sp.issparse(base.mean.blocks[0].extension.training)
    np.testing.assert_allclose(projector(base.mean.rows), projector(filled.mean.rows), atol=1e-8)
