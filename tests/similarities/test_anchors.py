"""Anchor graphs: doubly stochastic, connected enough, sparse factors that new samples pass through, too."""

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from latefusion.arrays import to_numpy
from latefusion.datasets import make_views
from latefusion.partitions import fit_base_partitions
from latefusion.similarities import GraphSimilarity
from latefusion.similarities import anchors as module
from latefusion.similarities.adaptive import connected_components
from latefusion.similarities.anchors import NEAREST_ANCHORS, CoordinateTransform
from tests.properties import examples

VIEWS = make_views(400, 3, n_views=2, n_features=4, random_state=0).views.arrays
VIEW = VIEWS[0]


def fit_anchor_graph(view, n_clusters, **options):
    return GraphSimilarity(method="anchors", **options).similarity(view, n_clusters)


def test_weights_are_their_definition():
    factor, extension = fit_anchor_graph(VIEW, 3, n_anchors=40)
    anchors = extension.feature_map.anchors + np.median(VIEW, axis=0)  # they are kept relative to the medians
    squares = np.sum((VIEW[:, None] - anchors) ** 2, axis=2)
    ties = np.zeros_like(squares)
    for i, row in enumerate(squares):
        order = np.argsort(row)
        gaps = row[order[NEAREST_ANCHORS]] - row[order[:NEAREST_ANCHORS]]
        ties[i, order[:NEAREST_ANCHORS]] = gaps / gaps.sum()
    np.testing.assert_allclose(factor.toarray(), ties @ np.diag(1 / ties.sum(axis=0)) @ ties.T, atol=1e-10)
    assert sp.issparse(factor.features)
    assert factor.features.nnz == 400 * NEAREST_ANCHORS


def test_anchors_lie_nearer_to_the_samples_than_samples_drawn_at_random():
    """Rounds of k-means never raise the mean squared distance to the nearest one."""

    def cost(anchors):
        return np.mean(np.min(np.sum((VIEW[:, None] - anchors) ** 2, axis=2), axis=1))

    for seed in range(5):
        _, extension = fit_anchor_graph(VIEW, 3, n_anchors=12, random_state=seed)
        anchors = extension.feature_map.anchors + np.median(VIEW, axis=0)
        drawn = VIEW[np.random.RandomState(seed).choice(400, 12, replace=False)]
        assert cost(anchors) < 0.9 * cost(drawn)


@examples(25)
@given(
    seed=st.integers(0, 2**32 - 1),
    shape=st.tuples(st.integers(2, 60), st.integers(1, 4)),
    n_anchors=st.integers(2, 30),
    metric=st.sampled_from(["euclidean", "cosine"]),
    coarse=st.booleans(),
    scale=st.sampled_from([1e-140, 1.0, 1e140]),
)
def test_graphs_are_doubly_stochastic(seed, shape, n_anchors, metric, coarse, scale):
    rows = np.random.default_rng(seed).standard_normal(shape)
    rows = scale * (np.round(rows) if coarse else rows)
    # With more anchors than samples all different samples are anchors.
    assume(len(np.unique(CoordinateTransform.of(rows, metric)(rows), axis=0)) >= (2 if n_anchors >= shape[0] else 10))
    similarity = fit_anchor_graph(rows, 2, n_anchors=n_anchors, metric=metric)[0].toarray()
    assert similarity.min() >= 0
    np.testing.assert_allclose(similarity.sum(axis=1), 1, atol=1e-9)
    assert np.linalg.eigvalsh(similarity)[-1] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("container", [np.array, sp.csr_array])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-9), ("float32", 1e-3)])
def test_training_samples_get_their_rows_back(metric, container, dtype, tolerance, monkeypatch):
    view = container(np.where(VIEW > 0, VIEW, 0.0).astype(dtype))
    factor, extension = fit_anchor_graph(view, 3, n_anchors=50, metric=metric)
    assert factor.features.dtype == dtype
    monkeypatch.setattr("latefusion.similarities.anchors.BLOCK_ENTRIES", 4 * 13)
    again = extension.features(view[20:90])
    assert again.dtype == dtype
    np.testing.assert_allclose(again.toarray(), factor.features[20:90].toarray(), atol=tolerance)


def test_a_row_depends_on_its_sample_without_jumps():
    _, extension = fit_anchor_graph(VIEW, 3, n_anchors=40)
    line = VIEW[0] + np.linspace(0, 1, 20_001)[:, None] * (VIEW[1] - VIEW[0])
    rows = extension.features(line).toarray()
    assert np.count_nonzero(np.diff((rows > 0).astype(int), axis=0)) > 5  # anchors change along the way
    assert np.abs(np.diff(rows, axis=0)).max() < 1e-3


@pytest.mark.parametrize("n_clusters", [1, 2, 8])
def test_no_more_components_than_clusters(n_clusters):
    centers = np.repeat(np.arange(8.0) * 1000, 60)[:, None]
    rows = centers + np.random.default_rng(0).standard_normal((480, 2))
    factor, extension = fit_anchor_graph(rows, n_clusters, n_anchors=80)
    components, labels = connected_components(sp.csr_array(factor.toarray()))
    assert components <= n_clusters
    if n_clusters == 8:
        assert extension.feature_map.n_neighbors == NEAREST_ANCHORS
        base = fit_base_partitions([rows], [GraphSimilarity(method="anchors", n_anchors=80)], 8)
        # The eigenvalue one comes once per component, and its eigenvectors are constant on each.
        for partition in (base.vectors[0], base.mean.rows):
            np.testing.assert_allclose(partition.T @ partition, np.eye(8), atol=1e-8)
            for component in range(8):
                assert np.ptp(partition[labels == component], axis=0).max() < 1e-8


@pytest.mark.parametrize("n_views", [1, 2])
def test_partitions_are_eigenvectors_of_the_graph(n_views):
    views = VIEWS[:n_views]
    partition = GraphSimilarity(method="anchors", n_anchors=60)
    base = fit_base_partitions(views, [partition] * n_views, 5)
    formed = [partition.similarity(view, 5)[0].toarray() for view in views]
    for found, similarity in zip([*base.vectors, base.mean.rows], [*formed, np.mean(formed, axis=0)], strict=True):
        expected = np.linalg.eigh(similarity)[1][:, -5:]
        np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-8)


def test_neighbourhoods_are_ranked_by_a_gaussian_of_the_distance():
    _, extension = fit_anchor_graph(VIEW, 3, n_anchors=40)
    known = extension.with_columns(VIEW, np.arange(10))
    distances = np.linalg.norm(VIEW[:30, None] - VIEW[:10], axis=2)
    expected = np.exp(-(distances**2) / (2 * extension.sigma**2))
    np.testing.assert_allclose(known.closeness(VIEW[:30]), expected, atol=1e-10)


def test_samples_that_are_all_alike_are_refused():
    rows = np.outer(np.arange(1.0, 30.0), [1.0, 2.0])
    with pytest.raises(ValueError, match=r"at least 2 different anchors.*method='exact'"):
        fit_anchor_graph(sp.csr_array(rows), 2, metric="cosine", n_anchors=2)


@pytest.mark.parametrize(
    ("n_anchors", "n_clusters", "expected"), [(None, 3, 500), (None, 50, 500), (None, 70, 700), (33, 70, 33)]
)
def test_many_clusters_get_more_anchors_and_whoever_names_a_number_gets_it(n_anchors, n_clusters, expected):
    rows = np.random.default_rng(0).standard_normal((1000, 3))
    assert fit_anchor_graph(rows, n_clusters, n_anchors=n_anchors)[0].feature_map.width == expected


def test_ties_get_wider_until_there_is_no_further_anchor():
    """Or the search for a connected graph would not end where samples are too far apart for any."""
    _, extension = fit_anchor_graph(VIEW, 3, n_anchors=9)
    apart, totals = np.eye(9), np.ones(9)
    widths, found = [], extension.feature_map
    while found is not None and len(widths) < 9:
        widths.append(found.n_neighbors)
        found = found.widened(apart, totals, 3)
    assert widths == [5, 8]
    assert extension.feature_map.widened(np.ones((9, 9)), totals, 3) is None


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_anchor_graphs_on_a_device_are_those_of_numpy(metric, monkeypatch):
    """Rows of Φ are dense there, and ΦᵀΦ is known."""
    monkeypatch.setattr(module, "DEVICE_BLOCK_ENTRIES", 100 * 40)
    there = array_api_strict.asarray(VIEW)
    factor, extension = fit_anchor_graph(VIEW, 3, n_anchors=40, metric=metric)
    found, other = fit_anchor_graph(there, 3, n_anchors=40, metric=metric)
    np.testing.assert_allclose(to_numpy(other.features(there)), extension.features(VIEW).toarray(), atol=1e-10)
    np.testing.assert_allclose(to_numpy(found.products), (factor.features.T @ factor.features).toarray(), atol=1e-10)
    assert found.features is None
    assert other.sigma == pytest.approx(extension.sigma)


def test_graphs_on_a_device_are_connected_by_more_anchors():
    """As in NumPy, where there are more components than clusters."""
    far = np.repeat(100.0 * np.arange(4), 50)[:, None] + np.random.default_rng(0).standard_normal((200, 3))
    _, extension = fit_anchor_graph(far, 2, n_anchors=40)
    _, other = fit_anchor_graph(array_api_strict.asarray(far), 2, n_anchors=40)
    assert other.feature_map.n_neighbors == extension.feature_map.n_neighbors > NEAREST_ANCHORS
