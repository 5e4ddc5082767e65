"""Inner products of features: those of all rows together, dense, sparse and mixed."""

from dataclasses import replace

import dask.array as da
import numpy as np
import pytest
import scipy.sparse

from latefusion import GivenPartition, GraphSimilarity, KernelSimilarity, PrecomputedSimilarity
from latefusion.distributed.chunks import ChunkedViews
from latefusion.distributed.features import FeatureMaps, feature_products, fitter_of
from latefusion.encoding.coordinates import Unchanged

RNG = np.random.default_rng(0)
CENTERS = 4 * RNG.standard_normal((3, 5))
VIEWS = [CENTERS[np.arange(600) % 3] + RNG.standard_normal((600, 5)) for _ in range(3)]
SIMILARITIES = [KernelSimilarity("linear"), GraphSimilarity(n_anchors=30), KernelSimilarity(n_landmarks=40)]


def features_of(views, similarities):
    extensions = [
        one.fitter(600, 3).fit(lambda rows, view=view: view[rows], np.asarray(view.mean(axis=0)))
        for one, view in zip(similarities, views, strict=True)
    ]
    dtype = np.result_type(*[view.dtype for view in views])
    return FeatureMaps(range(len(views)), [Unchanged()] * len(views), extensions, dtype)


def rows_of(fitted, views):
    """Features of every map."""
    return fitted.features(fitted.coordinates(views))


def chunked(views, chunks=130):
    names = tuple(map(str, range(len(views))))
    return ChunkedViews(names, tuple(da.from_array(view, chunks=(chunks, -1), asarray=False) for view in views))


@pytest.mark.parametrize("chosen", [[0, 1, 2], [0, 2, 2], [1, 1, 1], [1, 0, 1]])
def test_products_are_those_of_all_features_side_by_side(chosen):
    similarities = [SIMILARITIES[one] for one in chosen]
    fitted, products = feature_products(chunked(VIEWS), features_of(VIEWS, similarities), 3)
    whole = np.concatenate(
        [one.toarray() if scipy.sparse.issparse(one) else one for one in rows_of(fitted, VIEWS)],
        axis=1,
        dtype=np.float64,
    )
    np.testing.assert_allclose(products.gram, whole.T @ whole, atol=1e-9)
    projection = RNG.standard_normal((whole.shape[1], 4))
    np.testing.assert_allclose(fitted.project(rows_of(fitted, VIEWS), projection), whole @ projection, atol=1e-9)
    for position, one in enumerate(chosen):
        if one == 1:  # rows of a normalised graph sum to one: its leading eigenvalue is one
            part = slice(*fitted.edges[position : position + 2])
            assert np.linalg.eigvalsh(products.gram[part, part])[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("sparse", [False, True])
def test_samples_with_missing_views_have_no_features_there_and_are_kept_apart(sparse):
    seen = RNG.random((600, 3)) < 0.6
    seen[:40] = True  # also a piece without missing views
    seen[~seen.any(axis=1), 0] = True
    features = replace(features_of(VIEWS, SIMILARITIES), has_missing=True)
    holes = [np.where(own[:, None], view, np.nan) for view, own in zip(VIEWS, seen.T, strict=True)]
    if sparse:
        holes = [scipy.sparse.csr_array(view) for view in holes]
    fitted, products = feature_products(chunked(holes, 40), features, 3)
    whole = [one.toarray() if scipy.sparse.issparse(one) else one for one in rows_of(fitted, VIEWS)]
    whole = np.concatenate([own[:, None] * one for one, own in zip(whole, seen.T, strict=True)], axis=1)
    shares = seen.mean(axis=1)
    assert products.grams.keys() == {*shares.tolist()}
    for power in (0.0, -0.5, -1.0):
        np.testing.assert_allclose(products.weighted(power), (whole.T * shares**power) @ whole, atol=1e-9)


def test_blocks_of_features_are_the_features():
    fitted = features_of(VIEWS, SIMILARITIES)
    linear, graph, gaussian = rows_of(fitted, VIEWS)
    start = 0
    for block in fitted.blocks(VIEWS):
        dense, sparse = block.values
        rows = slice(start, start + len(dense))
        np.testing.assert_allclose(dense, np.hstack([linear, gaussian])[rows])
        np.testing.assert_allclose(sparse.toarray(), graph.toarray()[rows])
        start = rows.stop
    assert start == 600


def test_sparse_chunks_have_the_products_of_dense_ones():
    views = [np.maximum(view, 0) for view in VIEWS]
    _, dense = feature_products(chunked(views), features_of(views, [KernelSimilarity("linear")] * 3), 3)
    sparse = [scipy.sparse.csr_array(view) for view in views]
    _, found = feature_products(chunked(sparse), features_of(sparse, [KernelSimilarity("linear")] * 3), 3)
    np.testing.assert_allclose(found.gram, dense.gram, atol=1e-9)


def test_a_graph_of_too_many_components_gets_more_anchors_per_sample():
    far = [np.repeat(np.arange(12.0), 50)[:, None] * 1000 + RNG.standard_normal((600, 2))]
    fitted, _ = feature_products(chunked(far), features_of(far, [GraphSimilarity(n_anchors=120)]), 2)
    in_memory, _ = GraphSimilarity(n_anchors=120, method="anchors").similarity(far[0], 2)
    assert fitted.extensions[0].feature_map.n_neighbors == in_memory.feature_map.n_neighbors > 5


def test_more_columns_than_products_can_be_held_of_are_refused():
    wide = [RNG.standard_normal((600, 4000)) for _ in range(2)]
    with pytest.raises(ValueError, match=r"8000 x 8000 products.*Reduce the columns"):
        feature_products(chunked(wide), features_of(wide, [KernelSimilarity("linear")] * 2), 3)


EXACT = [KernelSimilarity(method="exact"), GraphSimilarity(method="exact")]


@pytest.mark.parametrize(
    "similarity", [PrecomputedSimilarity(), GivenPartition("labels"), "precomputed", object(), *EXACT]
)
def test_what_needs_all_samples_at_once_is_refused_by_view(similarity):
    with pytest.raises(ValueError, match=r"View 'a' is chunked, but its similarity .* needs all samples at once"):
        fitter_of(similarity, "a", 100, 3)
