"""Theorems of the alignment solver, and the numbers of the authors' (corrected) code."""

import array_api_compat.numpy as xnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latefusion.arrays import polar, to_numpy
from latefusion.partitions.neighborhoods import count_neighbors, neighborhood_size
from latefusion.solvers import (
    alignment_objective,
    compress_partitions,
    mix_partitions,
    solve_alignment,
    weigh_partitions,
)
from tests.properties import examples


def random_problem(seed, n=60, k=3, m=4):
    rng = np.random.default_rng(seed)
    partitions = [np.linalg.qr(rng.standard_normal((n, k)))[0] for _ in range(m)]
    average = np.linalg.qr(sum(partitions) + 0.3 * rng.standard_normal((n, k)))[0]
    return partitions, average


def projector(F):
    return F @ F.T


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("version", ["fixed", "published"])
@pytest.mark.parametrize("problem", ["synth", "digits"])
def test_global_alignment_reproduces_golden_numbers(golden, problem, version, compressed):
    data, reference = golden(f"problem_{problem}"), golden(f"lfmvc_gam_{version}_{problem}")
    partitions, average = list(data["HP"]), data["M"]
    for index, regularization in enumerate(reference["lambdas"], start=1):
        check_against_golden(partitions, average, regularization, reference, f"l{index}", compressed, version)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("version", ["fixed", "published"])
@pytest.mark.parametrize("problem", ["synth", "digits"])
def test_local_alignment_reproduces_golden_numbers(golden, problem, version, compressed):
    data, reference = golden(f"problem_{problem}"), golden(f"lfmvc_lam_{version}_{problem}")
    n_samples = len(data["M"])
    for t, fraction in enumerate(reference["taus"], start=1):
        size = neighborhood_size(fraction, n_samples)
        assert size == reference[f"t{t}_neighbours"][0]
        counts = [count_neighbors(kernel, [size])[0].counts for kernel in [*data["K"], data["K"].mean(axis=0)]]
        np.testing.assert_array_equal(counts[:-1], reference[f"t{t}_counts"])
        np.testing.assert_array_equal(counts[-1], reference[f"t{t}_counts0"])
        partitions, average = weigh_partitions(list(data["HP"]), data["M"], counts, n_samples)
        for index, regularization in enumerate(reference["lambdas"], start=1):
            check_against_golden(partitions, average, regularization, reference, f"t{t}_l{index}", compressed, version)


def check_against_golden(partitions, average, regularization, reference, prefix, compressed, version):
    small = compress_partitions(partitions, average, xp=xnp) if compressed else (partitions, average)
    options = {"init": "identity", "max_iter": 101, "accumulate": version == "published"}
    result = solve_alignment(*small, regularization=regularization, **options, xp=xnp)
    consensus = mix_partitions(partitions, average, result.mixing)
    objective = reference[f"{prefix}_obj"].ravel()
    assert result.n_iter == len(objective)
    np.testing.assert_allclose(result.objective, objective, rtol=1e-10)
    np.testing.assert_allclose(projector(consensus), projector(reference[f"{prefix}_F"]), atol=1e-8)
    np.testing.assert_allclose(result.rotations, reference[f"{prefix}_W"], atol=1e-8)
    np.testing.assert_allclose(result.weights, reference[f"{prefix}_beta"].ravel(), atol=1e-8)


@given(
    seed=st.integers(0, 10_000),
    k=st.integers(1, 5),
    m=st.integers(1, 5),
    extra=st.integers(0, 60),
    regularization=st.floats(0.0, 32.0),
    init=st.sampled_from(["align", "identity"]),
)
@examples(60)
def test_feasible_and_monotone(seed, k, m, extra, regularization, init):
    partitions, average = random_problem(seed, n=k + 1 + extra, k=k, m=m)
    result = solve_alignment(partitions, average, regularization=regularization, init=init, max_iter=30, xp=xnp)
    assert np.all(np.diff(result.objective) >= -1e-9 * np.abs(result.objective[-1]))
    np.testing.assert_allclose(result.consensus.T @ result.consensus, np.eye(k), atol=1e-8)
    for rotation in result.rotations:
        np.testing.assert_allclose(rotation.T @ rotation, np.eye(k), atol=1e-8)
    assert np.all(result.weights >= 0)
    assert np.linalg.norm(result.weights) == pytest.approx(1.0)


def test_objective_is_the_eliminated_form(seed):
    # With the best W and β the objective is (Σ ‖H_pᵀF‖_*²)^½ + λ Tr(FᵀM), and it equals the original formula.
    partitions, average = random_problem(seed)
    result = solve_alignment(partitions, average, regularization=0.7, xp=xnp)
    F = result.consensus
    nuclear = np.array([np.linalg.svd(H.T @ F, compute_uv=False).sum() for H in partitions])
    eliminated = np.sqrt((nuclear**2).sum()) + 0.7 * np.trace(F.T @ average)
    fused = sum(b * H @ W for b, H, W in zip(result.weights, partitions, result.rotations, strict=True))
    original = np.trace(F.T @ fused) + 0.7 * np.trace(F.T @ average)
    assert result.objective[-1] == pytest.approx(eliminated, rel=1e-12)
    assert result.objective[-1] == pytest.approx(original, rel=1e-12)
    assert alignment_objective(F, nuclear, average, 0.7, xp=xnp) == pytest.approx(eliminated, rel=1e-12)


def test_no_nearby_point_does_better(seed):
    # At a converged point no feasible perturbation of one block raises the objective.
    partitions, average = random_problem(seed)
    result = solve_alignment(partitions, average, regularization=0.5, max_iter=5000, tol=1e-15, xp=xnp)

    def value(F, W, beta):
        fused = sum(b * H @ w for b, H, w in zip(beta, partitions, W, strict=True))
        return np.trace(F.T @ fused) + 0.5 * np.trace(F.T @ average)

    rng = np.random.default_rng(seed)
    best = value(result.consensus, result.rotations, result.weights)
    for _ in range(50):
        F = polar(result.consensus + 1e-3 * rng.standard_normal(result.consensus.shape), xp=xnp).isometry
        assert value(F, result.rotations, result.weights) <= best + 1e-9
        W = [polar(w + 1e-3 * rng.standard_normal(w.shape), xp=xnp).isometry for w in result.rotations]
        assert value(result.consensus, W, result.weights) <= best + 1e-9
        beta = np.abs(result.weights + 1e-3 * rng.standard_normal(len(partitions)))
        assert value(result.consensus, result.rotations, beta / np.linalg.norm(beta)) <= best + 1e-9


@pytest.mark.parametrize("init", ["align", "identity"])
@pytest.mark.parametrize("twin", [False, True])
def test_compressed_equals_direct(seed, init, twin):
    partitions, average = random_problem(seed, n=200)
    if twin:
        partitions.append(partitions[0].copy())
    direct = solve_alignment(partitions, average, regularization=0.5, init=init, xp=xnp)
    blocks, small_average = compress_partitions(partitions, average, xp=xnp)
    assert len(small_average) == (len(partitions) + 1 - twin) * 3
    small = solve_alignment(blocks, small_average, regularization=0.5, init=init, xp=xnp)
    assert small.n_iter == direct.n_iter
    np.testing.assert_allclose(small.objective, direct.objective, rtol=1e-12)
    np.testing.assert_allclose(small.weights, direct.weights, atol=1e-12)
    np.testing.assert_allclose(mix_partitions(partitions, average, small.mixing), direct.consensus, atol=1e-12)
    if twin:
        assert small.weights[0] == pytest.approx(small.weights[-1], abs=1e-12)


def test_few_samples_are_not_compressed():
    partitions, average = random_problem(0, n=10, k=3, m=4)
    blocks, small_average = compress_partitions(partitions, average, xp=xnp)
    assert small_average is average
    assert all(a is b for a, b in zip(blocks, partitions, strict=True))


def test_eigenvector_signs_and_rotations_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    partitions, average = random_problem(seed)
    reference = solve_alignment(partitions, average, regularization=0.25, xp=xnp)
    turned = [H @ np.linalg.qr(rng.standard_normal((3, 3)))[0] for H in partitions]
    again = solve_alignment(turned, average, regularization=0.25, xp=xnp)
    assert again.n_iter == reference.n_iter
    np.testing.assert_allclose(again.consensus, reference.consensus, atol=1e-10)
    np.testing.assert_allclose(again.weights, reference.weights, atol=1e-10)
    flipped = average * np.array([1.0, -1.0, 1.0])
    again = solve_alignment(turned, flipped, regularization=0.25, xp=xnp)
    np.testing.assert_allclose(projector(again.consensus), projector(reference.consensus), atol=1e-10)
    identity = solve_alignment(partitions, average, regularization=0.25, init="identity", xp=xnp)
    other = solve_alignment(turned, average, regularization=0.25, init="identity", xp=xnp)
    assert not np.allclose(projector(identity.consensus), projector(other.consensus), atol=1e-3)


def test_order_of_views_and_samples_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    partitions, average = random_problem(seed)
    reference = solve_alignment(partitions, average, regularization=1.0, xp=xnp)
    order, rows = rng.permutation(len(partitions)), rng.permutation(len(average))
    shuffled = solve_alignment([partitions[p][rows] for p in order], average[rows], regularization=1.0, xp=xnp)
    np.testing.assert_allclose(shuffled.weights, reference.weights[order], atol=1e-10)
    np.testing.assert_allclose(shuffled.consensus, reference.consensus[rows], atol=1e-10)


def test_one_view_gives_its_own_partition():
    partitions, _ = random_problem(3, m=1)
    result = solve_alignment(partitions, partitions[0], regularization=1.0, xp=xnp)
    np.testing.assert_allclose(projector(result.consensus), projector(partitions[0]), atol=1e-12)
    assert result.weights == pytest.approx([1.0])


def test_missing_directions_stay_missing():
    # Two views that span one direction each: the consensus has rank two of three, and no arbitrary third direction.
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((30, 2)))[0]
    zeros = np.zeros((30, 2))
    partitions = [np.column_stack([Q[:, :1], zeros]), np.column_stack([Q[:, 1:], zeros])]
    average = np.column_stack([Q, zeros[:, :1]])
    result = solve_alignment(partitions, average, regularization=1.0, xp=xnp)
    np.testing.assert_allclose(projector(result.consensus), projector(Q), atol=1e-10)
    np.testing.assert_allclose(mix_partitions(partitions, average, result.mixing), result.consensus, atol=1e-10)


def test_same_steps_in_every_namespace(xp, seed):
    partitions, average = random_problem(seed)
    reference = solve_alignment(partitions, average, regularization=0.5, xp=xnp)
    moved = [xp.asarray(H) for H in partitions]
    blocks, small = compress_partitions(moved, xp.asarray(average), xp=xp)
    result = solve_alignment(blocks, small, regularization=0.5, xp=xp)
    consensus = mix_partitions(moved, xp.asarray(average), result.mixing)
    np.testing.assert_allclose(to_numpy(consensus), reference.consensus, atol=1e-12)
    np.testing.assert_allclose(to_numpy(result.weights), reference.weights, atol=1e-12)


def test_single_precision_agrees(seed):
    partitions, average = random_problem(seed)
    reference = solve_alignment(partitions, average, regularization=1.0, xp=xnp)
    single = [H.astype(np.float32) for H in partitions]
    result = solve_alignment(single, average.astype(np.float32), regularization=1.0, xp=xnp)
    assert result.consensus.dtype == np.float32
    np.testing.assert_allclose(projector(result.consensus), projector(reference.consensus), atol=2e-3)


def test_callback_sees_every_iteration_and_cap_is_reported():
    partitions, average = random_problem(0)
    seen = []
    result = solve_alignment(partitions, average, regularization=0.1, max_iter=2, callback=seen.append, xp=xnp)
    assert [state.objective for state in seen] == result.objective
    assert result.n_iter == 2
    assert not result.converged
