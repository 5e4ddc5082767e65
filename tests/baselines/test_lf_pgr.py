from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.metrics import adjusted_rand_score

from latefusion.arrays import memory
from latefusion.baselines.lf_pgr import (
    ProxyGraphRefinement,
    _expression_penalty,
    exact_expression,
    projected_expression,
    solve_lf_pgr,
)
from latefusion.baselines.support.simplex import project_rows_to_simplex
from latefusion.datasets import make_views
from latefusion.kernels import gaussian_kernel, standardize_kernel

WEIGHTS = {"l0p25_b0p1": (0.25, 0.1), "l1_b1": (1.0, 1.0), "l8_b10": (8.0, 10.0)}
# How the corrected and the literal reading are called here.
READINGS = {"fix": "projected", "lit": "published"}


def kernels_of(seed, n_samples=40):
    data = make_views(n_samples, 3, n_views=3, noise=2.0, random_state=seed)
    return [standardize_kernel(gaussian_kernel(view))[0] for view in data.views.arrays]


def stacked_of(seed, n_samples=30):
    generator = np.random.default_rng(seed)
    return np.concatenate([np.linalg.qr(generator.standard_normal((n_samples, 3)))[0] for _ in range(2)], axis=1)


@pytest.mark.parametrize("name", ["synth", "digits"])
@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_golden(golden, name, reading, weights):
    problem, expected = golden(f"problem_{name}"), golden(f"lfpgr_{name}")
    graph_weight, regularization = WEIGHTS[weights]
    result, state = solve_lf_pgr(
        problem["K"],
        int(problem["k"]),
        graph_weight=graph_weight,
        regularization=regularization,
        updates=READINGS[reading],
        max_iter=11,
    )
    prefix = f"{reading}_{weights}"
    assert result.n_iter == len(expected[f"{prefix}_obj"])
    np.testing.assert_allclose(result.objective, expected[f"{prefix}_obj"], rtol=1e-8)
    np.testing.assert_allclose(state.terms, expected[f"{prefix}_terms"], atol=1e-8)
    consensus, known = result.consensus, expected[f"{prefix}_F"]
    np.testing.assert_allclose(consensus @ consensus.T, known @ known.T, atol=1e-8)
    for key, graph in ((f"{prefix}_Z", state.graph), (f"{prefix}_Zrows40", state.graph[:40])):
        if key in expected:
            np.testing.assert_allclose(graph, expected[key], atol=1e-8)


def test_penalty_is_the_expression_error_with_a_minus(seed):
    generator = np.random.default_rng(seed)
    graph = generator.random((12, 12))
    partition = np.linalg.qr(generator.standard_normal((12, 3)))[0]
    error = 0.7 * np.sum((partition - graph @ partition) ** 2)
    penalty = _expression_penalty(graph, 0.7, as_published=False)
    np.testing.assert_allclose(penalty, penalty.T, atol=1e-12)
    assert -np.trace(partition.T @ penalty @ partition) == pytest.approx(error)


def test_partitions_minimise_their_block(seed):
    kernels = kernels_of(seed)
    _, state = solve_lf_pgr(kernels, 3, max_iter=2, tol=0.0)
    _, before = solve_lf_pgr(kernels, 3, max_iter=1, tol=0.0)
    generator = np.random.default_rng(seed)

    def cost(kernel, partition):
        error = np.sum((partition - before.graph @ partition) ** 2)
        return np.trace(kernel) - np.trace(partition.T @ kernel @ partition) + error

    for kernel, partition in zip(kernels, state.partitions, strict=True):
        np.testing.assert_allclose(partition.T @ partition, np.eye(3), atol=1e-10)
        for size in (1e-3, 0.1, 10.0):
            other = np.linalg.qr(partition + size * generator.standard_normal(partition.shape))[0]
            assert cost(kernel, partition) <= cost(kernel, other) + 1e-10


def test_first_partitions_are_those_of_the_kernels(seed):
    kernels = kernels_of(seed)
    _, state = solve_lf_pgr(kernels, 3, max_iter=1)
    for kernel, partition in zip(kernels, state.partitions, strict=True):
        vectors = np.linalg.eigh(kernel)[1][:, -3:]
        np.testing.assert_allclose(partition @ partition.T, vectors @ vectors.T, atol=1e-8)


@pytest.mark.parametrize("ratio", [1e-3, 1.0, 50.0])
def test_projected_rows_are_projections_of_the_ridge_solution(seed, ratio):
    stacked = stacked_of(seed)
    similarity = stacked @ stacked.T
    ridge = similarity @ np.linalg.inv(similarity + ratio * np.eye(30))
    graph = projected_expression(stacked, ratio)
    np.testing.assert_array_equal(np.diag(graph), 0.0)
    np.testing.assert_allclose(graph.sum(axis=1), 1.0)
    assert graph.min() >= 0
    for row in range(30):
        others = np.arange(30) != row
        expected = project_rows_to_simplex(ridge[row : row + 1, others])[0]
        np.testing.assert_allclose(graph[row, others], expected, atol=1e-9)


@pytest.mark.parametrize("ratio", [1e-2, 1.0])
def test_exact_rows_are_the_minimisers_of_the_quadratic_programme(seed, ratio):
    stacked = stacked_of(seed, 12)
    projected = projected_expression(stacked, ratio)
    graph = exact_expression(stacked, projected, projected, ratio)
    np.testing.assert_array_equal(np.diag(graph), 0.0)
    np.testing.assert_allclose(graph.sum(axis=1), 1.0)

    def cost(row, weights):
        return np.sum((stacked[row] - weights @ stacked) ** 2) + ratio * np.sum(weights**2)

    improved = 0.0
    for row in range(12):
        others = np.arange(12) != row
        found = minimize(
            lambda weights, row=row, others=others: (
                np.sum((stacked[row] - weights @ stacked[others]) ** 2) + ratio * np.sum(weights**2)
            ),
            np.full(11, 1 / 11),
            bounds=[(0, 1)] * 11,
            constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert cost(row, graph[row]) == pytest.approx(found.fun, abs=1e-8)
        improved += cost(row, projected[row]) - cost(row, graph[row])
    assert improved > 1e-4


@pytest.mark.parametrize(("graph_weight", "regularization"), [(0.1, 1.0), (1.0, 1e-3), (1.0, 1.0), (32.0, 10.0)])
def test_objective_of_exact_updates_never_rises_and_is_that_of_the_result(seed, graph_weight, regularization):
    kernels = kernels_of(seed)
    options = {"graph_weight": graph_weight, "regularization": regularization, "max_iter": 15, "tol": 0.0}
    result, state = solve_lf_pgr(kernels, 3, updates="exact", **options)
    objective = np.array(result.objective)
    assert np.all(np.diff(objective) <= 1e-10 * objective[0])
    recomputed = regularization * np.sum(state.graph**2)
    for kernel, partition in zip(kernels, state.partitions, strict=True):
        recomputed += np.trace(kernel) - np.trace(partition.T @ kernel @ partition)
        recomputed += graph_weight * np.sum((partition - state.graph @ partition) ** 2)
    assert objective[-1] == pytest.approx(recomputed, rel=1e-10)
    projected, _ = solve_lf_pgr(kernels, 3, **options)
    assert objective[0] < projected.objective[0]


def test_consensus_holds_leading_eigenvectors_of_the_symmetrised_graph(seed):
    result, state = solve_lf_pgr(kernels_of(seed), 3)
    values, vectors = np.linalg.eigh((state.graph + state.graph.T) / 2)
    assert values[-3] - values[-4] > 1e-6
    np.testing.assert_allclose(result.consensus @ result.consensus.T, vectors[:, -3:] @ vectors[:, -3:].T, atol=1e-8)


def test_published_rows_sum_to_two(seed):
    _, state = solve_lf_pgr(kernels_of(seed), 3, updates="published")
    np.testing.assert_array_equal(np.diag(state.graph), 1.0)
    np.testing.assert_allclose(state.graph.sum(axis=1), 2.0)


def test_a_larger_penalty_gives_more_neighbors(seed):
    data = make_views(60, 3, random_state=seed)
    sizes = [
        ProxyGraphRefinement(3, regularization=regularization, random_state=0).fit(data.views).graph_.nnz
        for regularization in (0.01, 1.0, 100.0)
    ]
    assert sizes[0] < sizes[1] < sizes[2]


@pytest.mark.parametrize("updates", ["projected", "exact"])
def test_every_view_twice_is_twice_the_graph_weight_and_half_the_penalty(seed, updates):
    """The two terms of H_p are doubled, so the problem is that with half the penalty of the graph."""
    kernels = kernels_of(seed)
    once, first = solve_lf_pgr(kernels, 3, regularization=0.5, updates=updates)
    twice, second = solve_lf_pgr([*kernels, *kernels], 3, regularization=1.0, updates=updates)
    np.testing.assert_allclose(second.graph, first.graph, atol=1e-6)
    assert twice.objective[-1] == pytest.approx(2 * once.objective[-1], rel=1e-8)


@pytest.mark.parametrize("updates", ["projected", "exact", "published"])
@pytest.mark.parametrize("n_samples", [2, 3])
def test_few_samples(updates, n_samples):
    view = np.random.default_rng(0).standard_normal((n_samples, 4))
    model = ProxyGraphRefinement(2, updates=updates, random_state=0).fit([view, view[:, :2]])
    assert set(model.labels_) == {0, 1}


def test_coinciding_samples():
    view = np.repeat(np.random.default_rng(0).standard_normal((4, 5)), 6, axis=0)
    model = ProxyGraphRefinement(4, random_state=0).fit([view, view[:, :3]])
    assert adjusted_rand_score(np.arange(24) // 6, model.labels_) == 1.0


def test_memory_is_checked_for_the_graph(monkeypatch):
    """There is enough for two kernels, and not for three matrices more."""
    view = np.random.default_rng(0).standard_normal((50, 3))
    monkeypatch.setattr(memory, "available_memory", lambda like=None: int(2.5 * 50**2 * 8))
    with pytest.raises(MemoryError, match=r"ProxyGraphRefinement learns a 50 x 50 graph.*Use fewer samples"):
        ProxyGraphRefinement(2).fit([view])


def test_documentation_says_that_it_is_a_reconstruction():
    assert "RECONSTRUCTION" in ProxyGraphRefinement.__doc__
    assert "not compare" in " ".join(ProxyGraphRefinement.__doc__.split())
