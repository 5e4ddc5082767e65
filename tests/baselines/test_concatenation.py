"""Concatenation: scales, sparse input, kernels, and agreement with the lines of scikit-learn it stands for."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.cluster import KMeans, SpectralClustering

from latefusion.baselines.concatenation import (
    ConcatKMeans,
    ConcatSpectral,
    concatenate_views,
    mean_kernel_features,
    neighbor_graph,
    normalized_cut,
    scale_view,
)
from latefusion.kernels import combine_kernels, gaussian_kernel, standardize_kernel


@pytest.fixture
def counts(seed):
    generator = np.random.default_rng(seed)
    return generator.poisson(2.0, size=(40, 60)) * (generator.uniform(size=(40, 60)) < 0.04) * 1.0


@pytest.fixture
def planted(seed):
    generator = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], 20)
    return truth, [6.0 * np.eye(3)[truth] * size + size * generator.standard_normal((60, 3)) for size in (1.0, 1e3)]


def same_clustering(first, second):
    return len({(a, b) for a, b in zip(first, second, strict=True)}) == len(set(first)) == len(set(second))


def test_dense_view_has_equal_variances(seed):
    view = np.random.default_rng(seed).standard_normal((50, 4)) * [1.0, 10.0, 100.0, 1e-3] + 5.0
    scaled = scale_view(view)
    np.testing.assert_allclose(scaled.mean(axis=0), 0.0, atol=1e-10)
    np.testing.assert_allclose(scaled.var(axis=0), 1 / 4)


def test_constant_column_says_nothing(seed):
    view = np.random.default_rng(seed).standard_normal((50, 3))
    with_constant = np.hstack([view, np.full((50, 1), 0.1)])
    scaled = scale_view(with_constant)
    np.testing.assert_allclose(scaled[:, 3], 0.0, atol=1e-12)
    np.testing.assert_allclose(scaled[:, :3], scale_view(view), atol=1e-12)


def test_counts_keep_their_zeros_and_lose_their_lengths(counts):
    scaled = scale_view(counts)
    np.testing.assert_array_equal(scaled == 0, counts == 0)
    lengths = np.linalg.norm(scaled, axis=1)[counts.any(axis=1)]
    np.testing.assert_allclose(lengths, lengths[0])
    assert np.mean(np.sum(scaled**2, axis=1)) == pytest.approx(1.0)


def test_sparse_view_stays_sparse_and_gives_the_same_numbers(counts):
    sparse = scale_view(scipy.sparse.csr_array(counts))
    assert scipy.sparse.issparse(sparse)
    np.testing.assert_allclose(sparse.toarray(), scale_view(counts))


def test_sparse_storage_of_a_dense_view(seed):
    view = np.random.default_rng(seed).standard_normal((20, 3))
    np.testing.assert_allclose(scale_view(scipy.sparse.csr_array(view)), scale_view(view))


def test_concatenation_is_sparse_only_where_that_pays(counts, seed):
    dense = np.random.default_rng(seed).standard_normal((40, 30))
    sparse = scipy.sparse.csr_array(counts)
    assert scipy.sparse.issparse(concatenate_views([sparse, sparse]))
    mixed = concatenate_views([sparse, dense])
    assert isinstance(mixed, np.ndarray)
    np.testing.assert_allclose(mixed, np.hstack([scale_view(counts), scale_view(dense)]))


@pytest.mark.parametrize("estimator", [ConcatKMeans, ConcatSpectral])
def test_scale_of_a_view_does_not_matter(planted, estimator):
    truth, views = planted
    model = estimator(n_clusters=3, random_state=0).fit(views)
    assert same_clustering(truth, model.labels_)
    scaled = estimator(n_clusters=3, random_state=0).fit([views[0], 1e-6 * views[1]])
    np.testing.assert_array_equal(scaled.labels_, model.labels_)


@pytest.mark.parametrize("estimator", [ConcatKMeans, ConcatSpectral])
def test_topics_are_found_in_sparse_and_dense_counts(seed, estimator):
    generator = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], 20)
    own_words = np.arange(60) // 20 == truth[:, None]
    counts = generator.poisson(np.where(own_words, 0.6, 0.01)).astype(float)
    for view in (counts, scipy.sparse.csr_array(counts)):
        model = estimator(n_clusters=3, n_init=20, random_state=0).fit([view])
        assert same_clustering(truth, model.labels_)


def test_kernel_features_reproduce_the_mean_kernel(seed):
    generator = np.random.default_rng(seed)
    kernels = [gaussian_kernel(generator.standard_normal((20, width))) for width in (3, 5)]
    features = mean_kernel_features(kernels)
    mean = combine_kernels([standardize_kernel(kernel)[0] for kernel in kernels])
    np.testing.assert_allclose(features @ features.T, mean, atol=1e-10)


@pytest.mark.parametrize("estimator", [ConcatKMeans, ConcatSpectral])
def test_kernels_and_features_together(planted, estimator):
    truth, views = planted
    kernels = [gaussian_kernel(view) for view in views]
    model = estimator(n_clusters=3, similarity="precomputed", random_state=0).fit(kernels)
    assert same_clustering(truth, model.labels_)
    mixed = estimator(n_clusters=3, similarity=["precomputed", "auto"], random_state=0).fit([kernels[0], views[1]])
    assert same_clustering(truth, mixed.labels_)


def test_the_lines_it_stands_for(planted):
    _, views = planted
    together = np.hstack([(view - view.mean(0)) / view.std(0) / np.sqrt(view.shape[1]) for view in views])
    kmeans = KMeans(4, n_init=10, random_state=3).fit(together)
    model = ConcatKMeans(n_clusters=4, random_state=3).fit(views)
    assert model.objective_[0] == pytest.approx(kmeans.inertia_, rel=1e-6)
    spectral = SpectralClustering(4, affinity="nearest_neighbors", n_neighbors=30, random_state=3).fit(together)
    graph = ConcatSpectral(n_clusters=4, n_neighbors=30, random_state=3).fit(views)
    np.testing.assert_array_equal(graph.labels_, spectral.labels_)


def test_cut_of_separate_parts_is_zero():
    graph = scipy.sparse.block_diag([np.ones((3, 3)), np.ones((2, 2))], format="csr")
    assert normalized_cut(graph, np.array([0, 0, 0, 1, 1])) == pytest.approx(0.0)
    assert normalized_cut(graph, np.array([0, 0, 1, 1, 1])) == pytest.approx(2 / 6 + 2 / 7)


def test_more_neighbors_than_samples(seed):
    view = np.random.default_rng(seed).standard_normal((6, 2))
    assert neighbor_graph(view, 50).shape == (6, 6)
    model = ConcatSpectral(n_clusters=2, n_neighbors=50, random_state=0).fit([view])
    assert set(model.labels_) == {0, 1}


def test_as_many_clusters_as_samples(seed):
    view = np.random.default_rng(seed).standard_normal((6, 2))
    for estimator in (ConcatKMeans, ConcatSpectral):
        assert sorted(estimator(n_clusters=6, random_state=0).fit([view]).labels_) == list(range(6))
