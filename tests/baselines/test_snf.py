"""SNF: golden networks, the diffusion step, and views that do not matter."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

from latefusion.baselines.snf import SimilarityNetworkFusion, normalize_network, solve_snf
from latefusion.baselines.support.scaled_affinity import largest_entries, scaled_affinity, view_distances
from latefusion.baselines.support.spectral_labels import rank_cluster_numbers, rotation_labels, spectral_embedding
from latefusion.datasets import make_views

PROBLEMS = pytest.mark.parametrize("name", ["synth", "digits"])


def affinities(problem, distance="euclidean"):
    views = [problem[f"X{view + 1}"] for view in range(len(problem["sigma"]))]
    return [
        scaled_affinity(view_distances(view, "features", standardize=False, distance=distance), 20, 0.5)
        for view in views
    ]


@PROBLEMS
def test_golden(golden, name):
    problem, expected = golden(f"problem_{name}"), golden(f"snf_{name}")
    columns, k = expected["columns"], int(problem["k"])
    given = affinities(problem)
    for own, reference in zip(given, expected["W"], strict=True):
        np.testing.assert_allclose(own[:, columns], reference, atol=1e-10 if name == "synth" else 1e-7)
    result, fused, networks = solve_snf(given, k, ties="last")
    np.testing.assert_allclose(fused[:, columns], expected["P"], atol=1e-8)
    np.testing.assert_allclose(fused.sum(axis=1), expected["P_rowsum"], atol=1e-8)
    assert np.linalg.norm(fused) == pytest.approx(float(expected["P_fro"]), abs=1e-8)
    assert len(networks) == len(given)
    np.testing.assert_allclose(spectral_embedding(fused, len(fused))[0], expected["eigvals"], atol=1e-8)
    reference = expected["U"] @ expected["U"].T
    np.testing.assert_allclose(result.consensus @ result.consensus.T, reference, atol=1e-8)
    assert adjusted_rand_score(rotation_labels(result.consensus), expected["labels"]) > 0.99
    best = rank_cluster_numbers(fused, range(2, 13), weighted=False)[:2]
    assert best == expected["k_estimates"][:2].tolist()


@PROBLEMS
def test_golden_first_rounds_and_squared_distances(golden, name):
    problem, expected = golden(f"problem_{name}"), golden(f"snf_{name}")
    columns, k, given = expected["columns"], int(problem["k"]), affinities(problem)
    for rounds in (1, 5):
        if f"P_t{rounds}" in expected:
            fused = solve_snf(given, k, max_iter=rounds, ties="last")[1]
            np.testing.assert_allclose(fused[:, columns], expected[f"P_t{rounds}"], atol=1e-8)
    result, fused, _ = solve_snf(affinities(problem, "sqeuclidean"), k, ties="last")
    np.testing.assert_allclose(fused[:, columns], expected["P_squared_distance"], atol=1e-8)
    assert adjusted_rand_score(rotation_labels(result.consensus), expected["labels_squared_distance"]) > 0.99


def test_golden_labels_from_features(golden):
    problem, expected = golden("problem_synth"), golden("snf_synth")
    views = [problem[f"X{view}"] for view in (1, 2, 3)]
    for rule in ("published", "rotation", "kmeans"):
        model = SimilarityNetworkFusion(3, standardize=False, assign_labels=rule, random_state=0).fit(views)
        assert adjusted_rand_score(model.labels_, expected["labels"]) > 0.99


def test_networks_are_symmetric_with_half_on_the_diagonal(seed):
    affinity = np.random.default_rng(seed).random((20, 20))
    affinity += affinity.T
    before = affinity.copy()
    network = normalize_network(affinity)
    np.testing.assert_allclose(np.diagonal(network), 0.5)
    np.testing.assert_array_equal(network, network.T)
    # The mean of N(W), whose rows sum to one, and its transpose
    assert network.sum() == pytest.approx(20.0)
    np.testing.assert_array_equal(affinity, before)
    np.testing.assert_allclose(normalize_network(7 * affinity), network, atol=1e-14)
    np.testing.assert_array_equal(normalize_network(np.zeros((3, 3))), 0.5 * np.eye(3))


def test_a_round_is_its_formula(seed, monkeypatch):
    monkeypatch.setattr("latefusion.baselines.snf.BLOCK_COLUMNS", 7)
    data = make_views(30, 3, n_views=3, random_state=seed)
    given = [
        scaled_affinity(view_distances(view, "features", standardize=True, distance="euclidean"), 6, 0.5)
        for view in data.views.arrays
    ]
    start = [normalize_network(one) for one in given]
    local = [largest_entries(one, 6).toarray() for one in start]
    expected = [
        normalize_network(local[view] @ sum(start[other] for other in range(3) if other != view) / 2 @ local[view].T)
        for view in range(3)
    ]
    networks = solve_snf(given, 3, n_neighbors=6, max_iter=1)[2]
    for found, formula in zip(networks, expected, strict=True):
        np.testing.assert_allclose(found, formula, atol=1e-13)


def test_networks_settle_and_agree(seed):
    data = make_views(60, 3, n_views=3, noise=1.5, random_state=seed)
    model = SimilarityNetworkFusion(3, max_iter=60, random_state=0).fit(data.views)
    assert model.objective_[-1] < 1e-4 < model.objective_[0]


def test_an_uninformative_view_is_outvoted(seed):
    data = make_views(90, 3, n_views=3, n_uninformative=1, noise=1.0, random_state=seed)
    assert adjusted_rand_score(SimilarityNetworkFusion(3, random_state=0).fit_predict(data.views), data.target) > 0.9


def test_a_single_view_is_its_own_network(seed):
    view = np.random.default_rng(seed).standard_normal((25, 4))
    model = SimilarityNetworkFusion(2, standardize=False, random_state=0).fit([view])
    affinity = scaled_affinity(view_distances(view, "features", standardize=False, distance="euclidean"), 20, 0.5)
    np.testing.assert_allclose(model.graph_, normalize_network(normalize_network(affinity)), atol=1e-14)
    assert model.n_iter_ == 1
    assert model.converged_


def test_sparse_views_give_the_same_network(seed):
    views = [view * (np.abs(view) > 0.5) for view in make_views(40, 3, random_state=seed).views.arrays]
    dense = SimilarityNetworkFusion(3, random_state=0).fit(views)
    sparse = SimilarityNetworkFusion(3, random_state=0).fit([scipy.sparse.csr_array(view) for view in views])
    np.testing.assert_allclose(sparse.graph_, dense.graph_, atol=1e-10)


def test_the_network_does_not_depend_on_units_or_constant_columns(seed):
    views = make_views(40, 3, random_state=seed).views.arrays
    reference = SimilarityNetworkFusion(3, random_state=0).fit(views)
    other = [np.column_stack([100.0 * view + 3.0, np.full(40, 2.0)]) for view in views]
    np.testing.assert_allclose(
        SimilarityNetworkFusion(3, random_state=0).fit(other).graph_, reference.graph_, atol=1e-9
    )


def test_ties_do_not_make_the_network_depend_on_the_order_of_samples(seed):
    generator = np.random.default_rng(seed)
    views = [generator.integers(0, 2, size=(50, 5)).astype(float) for _ in range(2)]
    order = generator.permutation(50)
    first = SimilarityNetworkFusion(2, n_neighbors=5, random_state=0).fit(views)
    second = SimilarityNetworkFusion(2, n_neighbors=5, random_state=0).fit([view[order] for view in views])
    np.testing.assert_allclose(second.graph_, first.graph_[np.ix_(order, order)], atol=1e-9)


def test_coinciding_samples_are_clusters():
    heap = np.repeat([0, 1, 2], 12)
    views = [np.eye(3)[heap], 5.0 * np.eye(3)[(heap + 1) % 3]]
    assert adjusted_rand_score(SimilarityNetworkFusion(3, random_state=0).fit_predict(views), heap) == 1.0


def test_few_samples_reduce_the_neighbours_and_the_solver_refuses_too_many():
    data = make_views(12, 3, random_state=0)
    assert SimilarityNetworkFusion(3, random_state=0).fit(data.views).n_neighbors_ == 11
    with pytest.raises(ValueError, match=r"n_neighbors=20 must be at least 1 and below n_samples=12"):
        solve_snf([np.ones((12, 12))] * 2, 3)


def test_estimated_numbers_of_clusters(seed):
    data = make_views(90, 4, n_views=3, noise=0.5, random_state=seed)
    model = SimilarityNetworkFusion(4, random_state=0).fit(data.views)
    assert model.estimate_n_clusters((2, 3, 4, 5, 6, 7))[0] == 4
