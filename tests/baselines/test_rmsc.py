"""RMSC: golden runs, the Gram matrix route against the full decomposition, and walks that fall into parts."""

from __future__ import annotations

import numpy as np
import pytest

from latefusion.baselines.rmsc import (
    RobustMultiViewSpectral,
    default_regularization,
    share_transitions,
    solve_rmsc,
    stationary_distribution,
    threshold_singular_values,
    walk_embedding,
)
from latefusion.kernels import gaussian_kernel
from tests.baselines.proximal import lower_dense_singular_values

AUTHORS = {"penalty": 1e-3, "penalty_growth": 1.9, "max_iter": 300, "tol": 1e-6}


def random_walk(affinity):
    return affinity / affinity.sum(axis=1, keepdims=True)


def golden_affinities(problem):
    return [gaussian_kernel(problem[f"X{p + 1}"], sigma=float(sigma)) for p, sigma in enumerate(problem["sigma"])]


@pytest.mark.parametrize("problem", ["synth", "digits"])
def test_golden(golden, problem):
    data, reference = golden(f"problem_{problem}"), golden(f"rmsc_{problem}")
    transitions = [random_walk(affinity) for affinity in golden_affinities(data)]
    for prefix, regularization in zip(["l1", "l2"], reference["lambdas"], strict=True):
        found = share_transitions(transitions, regularization=float(regularization), **AUTHORS)
        assert found.converged
        # Their counter stands one above the number of iterations.
        assert len(found.objective) + 1 == int(reference[f"{prefix}_steps"])
        if f"{prefix}_P" in reference:
            np.testing.assert_allclose(found.shared, reference[f"{prefix}_P"], atol=1e-9)
        nuclear_norm = np.linalg.norm(found.shared, "nuc")
        assert nuclear_norm == pytest.approx(float(reference[f"{prefix}_nuclear"]), rel=1e-8)
        magnitude = float(reference[f"{prefix}_l1E"])
        # The objective is recorded at the low-rank copy of P, which lags behind by the last step.
        assert found.objective[-1] == pytest.approx(nuclear_norm + regularization * magnitude, rel=2e-3)
        distribution = stationary_distribution(found.shared)
        np.testing.assert_allclose(distribution, reference[f"{prefix}_pi"], atol=1e-8)
        embedding, expected = walk_embedding(found.shared, distribution, int(data["k"])), reference[f"{prefix}_U"]
        np.testing.assert_allclose(embedding @ embedding.T, expected @ expected.T, atol=1e-8)


def test_golden_labels(golden):
    data, reference = golden("problem_synth"), golden("rmsc_synth")
    model = RobustMultiViewSpectral(n_clusters=3, similarity="precomputed", random_state=0)
    model.fit(golden_affinities(data))
    agreement = np.zeros((3, 3), dtype=int)
    np.add.at(agreement, (model.labels_, reference["l1_labels"] - 1), 1)
    assert agreement.max(axis=1).sum() >= 0.98 * len(model.labels_)


def test_shared_rows_are_distributions(golden):
    transitions = [random_walk(affinity) for affinity in golden_affinities(golden("problem_synth"))]
    found = share_transitions(transitions, regularization=0.05, **AUTHORS)
    assert found.shared.min() >= 0
    np.testing.assert_allclose(found.shared.sum(axis=1), 1.0, atol=1e-10)


def test_one_view_at_a_high_price_of_errors_is_kept(seed):
    transition = random_walk(np.random.default_rng(seed).uniform(size=(20, 20)))
    found = share_transitions([transition], regularization=1e3, **AUTHORS)
    np.testing.assert_allclose(found.shared, transition, atol=1e-6)


@pytest.mark.parametrize("expected_rank", [0, 25], ids=["subset", "all"])
@pytest.mark.parametrize("threshold", [1e-4, 0.05, 2.0, 1e3])
def test_threshold_agrees_with_the_full_decomposition(seed, threshold, expected_rank):
    matrix = random_walk(np.random.default_rng(seed).uniform(size=(25, 25)))
    lowered, nuclear_norm, rank = threshold_singular_values(matrix, threshold, expected_rank)
    expected, expected_norm = lower_dense_singular_values(matrix, threshold)
    np.testing.assert_allclose(lowered, expected, atol=1e-10)
    assert nuclear_norm == pytest.approx(expected_norm, abs=1e-10)
    assert rank == np.count_nonzero(np.linalg.svd(matrix, compute_uv=False) > threshold)


def test_stationary_distribution_of_an_undirected_walk(seed):
    uniform = np.random.default_rng(seed).uniform(size=(15, 15))
    affinity = uniform + uniform.T
    expected = affinity.sum(axis=1) / affinity.sum()
    np.testing.assert_allclose(stationary_distribution(random_walk(affinity)), expected, atol=1e-7)


def test_stationary_distribution_of_a_walk_in_parts():
    walk = np.zeros((6, 6))
    walk[:2, :2] = 1 / 2
    walk[2:5, 2:5] = 1 / 3
    walk[5, :2] = 1 / 2  # leaves for the first part and never comes back
    distribution = stationary_distribution(walk)
    np.testing.assert_allclose(distribution[:2], 1 / 4, atol=1e-6)
    np.testing.assert_allclose(distribution[2:5], 1 / 6, atol=1e-6)
    assert 0 < distribution[5] < 1e-6
    embedding = walk_embedding(walk, distribution, 2)
    assert np.linalg.matrix_rank(np.vstack([embedding[:2], embedding[2:5]]), tol=1e-6) == 2
    np.testing.assert_allclose(embedding[0], embedding[1], atol=1e-6)


@pytest.mark.parametrize("n_clusters", [2, 3, 5])
def test_clusters_fade_below_the_break_even_price_and_stay_at_the_default(n_clusters):
    walk = np.kron(np.eye(n_clusters), np.full((6, 6), 1 / 6))
    default = default_regularization(len(walk), 2, n_clusters)
    # The second singular value of k separate clusters is one, that of none is zero. Break-even is half the default.
    low, kept = (
        np.linalg.svd(share_transitions([walk, walk], regularization=price, **AUTHORS).shared, compute_uv=False)[1]
        for price in (0.25 * default, default)
    )
    assert low < 0.6
    assert kept > 0.9


def test_default_regularization_is_the_quoted_one_in_large_problems():
    assert default_regularization(2000, 6, 10) == 0.005


def test_few_samples_keep_their_clusters(seed):
    generator = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], 10)
    views = [6.0 * np.eye(3)[truth] + generator.standard_normal((30, 3)) for _ in range(2)]
    order = generator.permutation(30)
    model, permuted = (
        RobustMultiViewSpectral(n_clusters=3, random_state=0).fit(X) for X in (views, [view[order] for view in views])
    )
    for expected, found in ((truth, model.labels_), (truth[order], permuted.labels_)):
        assert len({(a, b) for a, b in zip(expected, found, strict=True)}) == 3


def test_single_precision_affinities(golden):
    affinities = golden_affinities(golden("problem_synth"))
    double = solve_rmsc(affinities, 3)
    single = solve_rmsc([affinity.astype(np.float32) for affinity in affinities], 3)
    projectors = [result.consensus @ result.consensus.T for result in (double, single)]
    np.testing.assert_allclose(projectors[0], projectors[1], atol=1e-4)


def test_sample_without_affinity_is_named():
    affinity = np.eye(4)
    affinity[2, 2] = 0.0
    with pytest.raises(ValueError, match="Sample 2 has degree 0"):
        solve_rmsc([np.ones((4, 4)), affinity], 2)
