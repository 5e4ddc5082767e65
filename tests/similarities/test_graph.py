"""Self-tuning neighbour graphs: symmetric, normalised, connected enough, and extended to new samples."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from latefusion.datasets import make_views
from latefusion.kernels import gaussian_kernel, mean_distance
from latefusion.similarities import GraphSimilarity
from latefusion.similarities.factor import Factor
from latefusion.similarities.graph import NeighborSearch
from tests.properties import examples

seeds = st.integers(0, 2**32 - 1)
VIEW = make_views(60, 3, n_views=1, n_features=4, random_state=0).views.arrays[0]


def naive_graph(rows, n_neighbors):
    """The module docstring, entry by entry; no ties, no duplicates."""
    n = len(rows)
    distances = np.array([[np.linalg.norm(x - y) for y in rows] for x in rows])
    order = np.argsort(distances, axis=1)
    widths = distances[np.arange(n), order[:, max(1, round(0.7 * n_neighbors))]]
    directed = np.zeros((n, n))
    for i in range(n):
        for j in order[i, : n_neighbors + 1]:
            directed[i, j] = np.exp(-(distances[i, j] ** 2) / (widths[i] * widths[j]))
    graph = (directed + directed.T) / 2
    degrees = graph.sum(axis=1)
    return graph / np.sqrt(np.outer(degrees, degrees))


def assert_normalised_graph(matrix):
    assert sp.issparse(matrix)
    assert np.isfinite(matrix.data).all()
    assert matrix.data.min() >= 0
    np.testing.assert_allclose(matrix.toarray(), matrix.toarray().T, atol=1e-7)
    # D^{-1/2} A D^{-1/2} has the eigenvector D^{1/2} 1 with eigenvalue one, and none above.
    assert np.linalg.eigvalsh(matrix.toarray())[-1] == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("n_neighbors", [3, 10])
def test_graph_is_its_definition(n_neighbors):
    matrix, extension = GraphSimilarity(n_neighbors).similarity(VIEW, n_clusters=60)
    np.testing.assert_allclose(matrix.toarray(), naive_graph(VIEW, n_neighbors), atol=1e-12)
    assert extension.n_neighbors == n_neighbors


@examples(30)
@given(
    seed=seeds,
    shape=st.tuples(st.integers(2, 25), st.integers(1, 4)),
    n_neighbors=st.integers(1, 30),
    metric=st.sampled_from(["euclidean", "cosine"]),
    coarse=st.booleans(),
    scale=st.sampled_from([1e-140, 1.0, 1e140]),
)
def test_graphs_are_symmetric_normalised_and_finite(seed, shape, n_neighbors, metric, coarse, scale):
    rows = np.random.default_rng(seed).standard_normal(shape)
    rows = scale * (np.round(rows) if coarse else rows)
    matrix, extension = GraphSimilarity(n_neighbors, metric=metric).similarity(rows, 2)
    assert_normalised_graph(matrix)
    again = extension.features(rows[:3]).toarray()
    assert np.isfinite(again).all()
    assert again.min() >= 0


@pytest.mark.parametrize("n_clusters", [1, 2, 4, 8])
def test_no_more_components_than_clusters(n_clusters):
    centers = np.repeat(np.arange(8.0) * 1000, 6)[:, None]
    rows = centers + np.random.default_rng(0).standard_normal((48, 2))
    matrix, extension = GraphSimilarity(3).similarity(rows, n_clusters)
    assert connected_components(matrix, directed=False)[0] <= n_clusters
    # Neighbours are added only as far as needed.
    assert extension.n_neighbors in ((3,) if n_clusters == 8 else (6, 12, 24, 47))


def test_few_samples_have_few_neighbours():
    matrix, extension = GraphSimilarity(10).similarity(VIEW[:3], 2)
    assert extension.n_neighbors == 2
    assert matrix.shape == (3, 3)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("container", [np.array, sp.csr_array])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-7), ("float32", 2e-3)])
def test_training_samples_get_their_rows_back(metric, container, dtype, tolerance):
    view = container(VIEW.astype(dtype))
    matrix, extension = GraphSimilarity(5, metric=metric).similarity(view, 3)
    assert matrix.dtype == dtype
    np.testing.assert_allclose(extension.features(view[4:20]).toarray(), matrix.toarray()[4:20], atol=tolerance)


def test_blocks_of_new_samples_change_nothing(monkeypatch):
    _, extension = GraphSimilarity(5).similarity(VIEW, 3)
    whole = extension.features(VIEW + 0.1).toarray()
    monkeypatch.setattr("latefusion.similarities.graph.BLOCK_ENTRIES", 60 * 7)
    np.testing.assert_allclose(extension.features(VIEW + 0.1).toarray(), whole, atol=1e-12)


def test_large_views_take_anchors(monkeypatch):
    monkeypatch.setattr("latefusion.similarities.graph.EXACT_SAMPLES", 50)
    assert isinstance(GraphSimilarity().similarity(VIEW, 3)[0], Factor)
    assert sp.issparse(GraphSimilarity(method="exact").similarity(VIEW, 3)[0])
    factor, _ = GraphSimilarity(n_anchors=12).similarity(VIEW, 3)
    assert factor.feature_map.width == 12


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_an_offset_does_no_harm(offset):
    """Distances of new samples are as exact as those of the training samples, far from the origin, too."""
    rows = np.round(VIEW * 2**10) / 2**10
    matrix, extension = GraphSimilarity().similarity(rows + offset, 3)
    np.testing.assert_allclose(matrix.toarray(), GraphSimilarity().similarity(rows, 3)[0].toarray(), atol=1e-6)
    np.testing.assert_allclose(extension.features(rows + offset).toarray(), matrix.toarray(), atol=1e-6)


def test_duplicates_survive():
    rows = np.repeat(VIEW[:4], 15, axis=0)
    matrix, extension = GraphSimilarity(10).similarity(rows, 4)
    assert_normalised_graph(matrix)
    assert np.isfinite(extension.features(rows).toarray()).all()
    same, _ = GraphSimilarity(10).similarity(np.ones((20, 2)), 1)
    assert_normalised_graph(same)


def test_cosine_ignores_the_length_of_rows():
    lengths = np.random.default_rng(0).uniform(0.1, 10, size=(60, 1))
    one, _ = GraphSimilarity(metric="cosine").similarity(VIEW, 3)
    other, _ = GraphSimilarity(metric="cosine").similarity(VIEW * lengths, 3)
    np.testing.assert_allclose(one.toarray(), other.toarray(), atol=1e-7)


def test_neighbourhoods_are_ranked_by_a_gaussian_of_the_distance():
    matrix, extension = GraphSimilarity().similarity(VIEW, 3)
    expected = gaussian_kernel(VIEW[:7], VIEW, sigma=mean_distance(VIEW))
    np.testing.assert_allclose(extension.closeness(VIEW[:7], matrix[:7]), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"metric": "manhattan"}, ["metric", "'euclidean'", "'cosine'", "'manhattan'"]),
        ({"n_neighbors": 0}, ["n_neighbors", "at least 1", "0"]),
        ({"n_neighbors": -3}, ["n_neighbors", "at least 1", "-3"]),
        ({"n_neighbors": 2.5}, ["n_neighbors", "integer", "2.5"]),
        ({"method": "fast"}, ["method", "'exact'", "'anchors'", "'fast'"]),
        ({"n_anchors": 1}, ["n_anchors", "at least 2", "1"]),
    ],
)
def test_what_a_graph_refuses(parameters, words):
    with pytest.raises(ValueError, match=r"\w") as caught:
        GraphSimilarity(**parameters).similarity(VIEW, 3)
    assert all(word in str(caught.value) for word in words), caught.value


def test_a_sample_far_off_does_not_blur_the_others():
    """Distances are differences of large numbers once the origin lies far from the samples."""
    rows = np.concatenate([VIEW, [[1e12, 1e12, 1e12, 1e12]]])
    matrix, extension = GraphSimilarity(5).similarity(rows, 3)
    np.testing.assert_allclose(extension.features(rows).toarray(), matrix.toarray(), atol=1e-9)


@pytest.mark.parametrize("n_samples", [2, 10, 60])
def test_one_search_serves_all_sizes(n_samples):
    search = NeighborSearch(VIEW[:n_samples])
    for size in (3, 1, 30, 5):
        shared, own = (GraphSimilarity(size).similarity(VIEW[:n_samples], 2, one)[0] for one in (search, None))
        np.testing.assert_allclose(shared.toarray(), own.toarray(), atol=1e-12)
    others = search.others(7)
    assert others.shape == (n_samples, min(7, n_samples - 1))
    assert not (others == np.arange(n_samples)[:, None]).any()


def test_a_sample_far_from_all_others_keeps_its_nearest_neighbors():
    """Its weights underflow; their ratios remain."""
    view = np.random.default_rng(0).standard_normal((40, 3))
    _, extension = GraphSimilarity(5).similarity(view, 2)
    for distance in (1e3, 1e6):
        features = extension.features(np.full((1, 3), distance)).toarray()[0]
        assert np.all(np.isfinite(features))
        assert features.max() > 0
        nearest = np.argsort(np.linalg.norm(view - distance, axis=1))[:6]
        assert set(np.flatnonzero(features)) <= set(nearest)
