from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from latefusion.baselines.spectral import (
    BestViewSpectral,
    SpectralEmbedding,
    nearest_affinities,
    normalized_cut,
    rounding_loss,
    solve_single_views,
)
from latefusion.baselines.support.graphs import normalized_affinities
from latefusion.datasets import make_views
from latefusion.metrics import clustering_accuracy


def golden_affinities(problem):
    views = [problem[f"X{view + 1}"] for view in range(len(problem["sigma"]))]
    return [
        np.exp(-cdist(view, view, "sqeuclidean") / (2 * sigma**2))
        for view, sigma in zip(views, problem["sigma"], strict=True)
    ]


@pytest.mark.parametrize("name", ["synth", "digits"])
def test_golden_embeddings(golden, name):
    problem, expected = golden(f"problem_{name}"), golden(f"sc_{name}")
    affinities = golden_affinities(problem)
    normalized = normalized_affinities(affinities, [str(view) for view in range(len(affinities))])
    embeddings = solve_single_views(normalized, int(problem["k"]))
    for embedding, vectors, values in zip(embeddings, expected["F"], expected["eigs"], strict=True):
        np.testing.assert_allclose(embedding.values, values, atol=1e-10)
        np.testing.assert_allclose(embedding.vectors @ embedding.vectors.T, vectors @ vectors.T, atol=1e-8)


@pytest.mark.parametrize("name", ["synth", "digits"])
def test_golden_labels(golden, name):
    problem, expected = golden(f"problem_{name}"), golden(f"sc_{name}")
    k = int(problem["k"])
    model = BestViewSpectral(k, similarity="precomputed", n_init=50, random_state=0).fit(golden_affinities(problem))
    accuracies = [clustering_accuracy(problem["y"], labels) for labels in model.view_labels_]
    np.testing.assert_allclose(accuracies, expected["metrics"][:, 0], atol=0.02)
    for embedding, inertia in zip(model.view_consensus_, expected["inertia"], strict=True):
        rows = embedding / np.linalg.norm(embedding, axis=1, keepdims=True)
        found = KMeans(k, n_init=200, random_state=1).fit(rows).inertia_
        assert found <= inertia * (1 + 1e-6)


def test_chosen_view_has_the_lowest_loss_and_gives_the_labels(seed):
    data = make_views(90, n_views=2, n_uninformative=1, random_state=seed)
    model = BestViewSpectral(3, random_state=0).fit(data.views)
    assert model.view_ == np.argmin(model.view_losses_)
    assert model.view_ != 2
    np.testing.assert_array_equal(model.labels_, model.view_labels_[model.view_])
    np.testing.assert_array_equal(model.view_weights_, np.arange(3) == model.view_)
    assert model.view_labels_.shape == (3, 90)
    assert model.objective_[0] == model.view_objectives_[model.view_]


def test_labels_of_a_view_do_not_depend_on_the_other_views(seed):
    data = make_views(60, n_views=3, random_state=seed)
    together = BestViewSpectral(3, random_state=7).fit(data.views)
    for view, array in enumerate(data.views.arrays):
        alone = BestViewSpectral(3, random_state=7).fit([array])
        np.testing.assert_array_equal(together.view_labels_[view], alone.labels_)


def test_normalised_cut_is_its_definition_and_above_the_spectral_bound(seed):
    generator = np.random.default_rng(seed)
    affinity = generator.random((20, 20))
    affinity = affinity + affinity.T
    np.fill_diagonal(affinity, 0.0)
    labels = generator.integers(0, 3, 20)
    by_definition = sum(
        affinity[labels == cluster][:, labels != cluster].sum() / affinity[labels == cluster].sum()
        for cluster in range(3)
    )
    cut = normalized_cut(affinity, labels, 3)
    assert cut == pytest.approx(by_definition)
    assert normalized_cut(nearest_affinities(affinity, 19), labels, 3) == pytest.approx(cut)
    embedding = solve_single_views(normalized_affinities([affinity], ["only"]), 3)[0]
    assert cut >= 3 - embedding.values.sum() - 1e-12
    assert rounding_loss(cut, embedding) >= 0


def test_blocks_lose_nothing_and_one_cluster_has_nothing_to_lose():
    affinity = np.kron(np.eye(3), np.ones((4, 4)))
    embedding = solve_single_views([affinity / 4], 3)[0]
    assert rounding_loss(normalized_cut(affinity, np.repeat([0, 1, 2], 4), 3), embedding) == pytest.approx(0, abs=1e-12)
    assert rounding_loss(0.0, SpectralEmbedding(np.ones(1), np.ones((4, 1)) / 2)) == 0.0


def test_neighbour_affinities_keep_the_largest_and_are_symmetric(seed):
    generator = np.random.default_rng(seed)
    affinity = generator.random((15, 15))
    affinity = affinity + affinity.T
    kept = nearest_affinities(affinity, 4).toarray()
    np.testing.assert_array_equal(kept, kept.T)
    for sample in range(15):
        others = np.delete(np.arange(15), sample)
        nearest = others[np.argsort(-affinity[sample, others])[:4]]
        np.testing.assert_array_equal(kept[sample, nearest], affinity[sample, nearest])
    assert np.count_nonzero(kept) < 15 * 14


def test_neighbourhood_recovers_planted_clusters(seed):
    data = make_views(90, n_views=2, random_state=seed)
    model = BestViewSpectral(3, neighborhood=0.2, random_state=0).fit(data.views)
    assert adjusted_rand_score(model.labels_, data.target) > 0.7


def test_a_sample_without_neighbours_is_an_error_that_names_view_and_sample():
    kernel = np.eye(6) + 0.5
    lonely = kernel.copy()
    lonely[4, :] = lonely[:, 4] = -0.1
    lonely[4, 4] = 0.0
    with pytest.raises(ValueError, match=r"(?s)'right'.*4"):
        BestViewSpectral(2, similarity="precomputed").fit({"left": kernel, "right": lonely})
