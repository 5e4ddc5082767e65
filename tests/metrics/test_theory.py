"""The lemmas and theorems of the paper, as properties of random problems."""

from __future__ import annotations

import math

import array_api_compat.numpy as xp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latefusion.arrays import polar
from latefusion.metrics import cluster_means, empirical_error, generalization_bound, objective_gap
from tests.properties import examples

ROUNDING = 1e-10


def orthonormal(generator, rows, columns):
    return np.linalg.qr(generator.standard_normal((rows, columns)))[0]


class Problem:
    """Random partitions, rotations and unit weights of the size that hypothesis draws."""

    def __init__(self, seed, n_views, n_clusters, n_extra):
        generator = np.random.default_rng(seed)
        self.generator, self.n_views, self.n_clusters = generator, n_views, n_clusters
        self.n_samples = n_clusters + n_extra
        self.partitions = [orthonormal(generator, self.n_samples, n_clusters) for _ in range(n_views)]
        self.rotations = [orthonormal(generator, n_clusters, n_clusters) for _ in range(n_views)]
        weights = np.abs(generator.standard_normal(n_views))
        self.weights = weights / np.linalg.norm(weights)

    @property
    def fused(self):
        return sum(b * h @ w for b, h, w in zip(self.weights, self.partitions, self.rotations, strict=True))

    def gap(self, consensus, partitions=None):
        return objective_gap(partitions or self.partitions, self.rotations, self.weights, consensus)

    def some_consensus(self):
        return orthonormal(self.generator, self.n_samples, self.n_clusters)


problems = st.builds(
    Problem, st.integers(0, 2**32 - 1), st.integers(1, 5), n_clusters=st.integers(1, 6), n_extra=st.integers(0, 40)
)


@examples(60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.floats(-3, 3))
def test_lemma_1_squared_trace(seed, size, shift):
    matrix = np.random.default_rng(seed).standard_normal((size, size)) + shift * np.eye(size)
    assert np.trace(matrix) ** 2 <= size * np.trace(matrix.T @ matrix) * (1 + ROUNDING)


@examples(60)
@given(problems)
def test_lemma_2_norm_of_the_fused_partitions_and_its_sharper_form(problem):
    total = np.sum(problem.fused**2)
    sharp = problem.n_views * problem.n_clusters
    assert total <= sharp * (1 + ROUNDING)
    assert sharp <= problem.n_views**2 * problem.n_clusters


@examples(60)
@given(problems)
def test_the_three_quantities_are_what_they_are_called(problem):
    consensus, fused = problem.some_consensus(), problem.fused
    gap = problem.gap(consensus)
    kernel, alignment = fused @ fused.T, np.trace(consensus.T @ fused) ** 2 / problem.n_clusters
    assert gap.residual == pytest.approx(np.trace(kernel) - np.trace(consensus.T @ kernel @ consensus), abs=ROUNDING)
    assert gap.surrogate == pytest.approx(np.trace(kernel) - alignment, abs=ROUNDING)
    assert gap.bound == pytest.approx(problem.n_views**2 * problem.n_clusters - alignment, abs=ROUNDING)


@examples(60)
@given(problems)
def test_residual_surrogate_and_bound_are_nested(problem):
    for consensus in (problem.some_consensus(), polar(problem.fused, xp=xp).isometry):
        gap = problem.gap(consensus)
        assert -ROUNDING <= gap.residual <= gap.surrogate + ROUNDING
        assert gap.surrogate <= gap.bound + ROUNDING


@examples(60)
@given(problems)
def test_locally_weighted_partitions_stay_below_the_bound(problem):
    shares = problem.generator.uniform(0, 1, (problem.n_views, problem.n_samples, 1))
    weighted = [share * partition for share, partition in zip(shares, problem.partitions, strict=True)]
    gap = problem.gap(problem.some_consensus(), weighted)
    assert gap.residual <= gap.surrogate + ROUNDING
    assert gap.surrogate <= gap.bound + ROUNDING


@examples(60)
@given(problems)
def test_lemma_3_the_polar_factor_minimizes_the_residual(problem):
    best = problem.gap(polar(problem.fused, xp=xp).isometry)
    leading = np.linalg.svd(problem.fused, full_matrices=False)[0]
    assert best.residual == pytest.approx(problem.gap(leading).residual, abs=ROUNDING)
    assert best.residual == pytest.approx(0, abs=ROUNDING)
    for _ in range(5):
        other = problem.gap(problem.some_consensus())
        assert best.residual <= other.residual + ROUNDING
        assert best.bound <= other.bound + ROUNDING


@examples(60)
@given(problems)
def test_the_residual_sees_only_the_span_of_the_consensus(problem):
    consensus = problem.some_consensus()
    turned = consensus @ orthonormal(problem.generator, problem.n_clusters, problem.n_clusters)
    assert problem.gap(turned).residual == pytest.approx(problem.gap(consensus).residual, abs=ROUNDING)


def test_the_surrogate_equals_the_residual_for_equal_singular_values():
    problem = Problem(seed=0, n_views=1, n_clusters=3, n_extra=20)
    gap = problem.gap(problem.fused)
    assert gap.residual == pytest.approx(0, abs=ROUNDING)
    assert gap.surrogate == pytest.approx(0, abs=ROUNDING)
    assert gap.bound == pytest.approx(0, abs=ROUNDING)


def test_gap_of_the_golden_run(golden):
    problem, stored = golden("problem_synth"), golden("lfmvc_gam_fixed_synth")
    gaps = [objective_gap(problem["HP"], stored[f"l{i}_W"], stored[f"l{i}_beta"], stored[f"l{i}_F"]) for i in (1, 2, 3)]
    assert all(0 < gap.residual < gap.surrogate < gap.bound < 27 for gap in gaps)
    # The golden λ grow, and with them the pull of M away from the fused partitions.
    assert gaps[0].residual < gaps[1].residual < gaps[2].residual


def test_a_partial_isometry_is_accepted_and_other_consensus_refused():
    problem = Problem(seed=1, n_views=2, n_clusters=3, n_extra=10)
    flat = problem.some_consensus()
    flat[:, 0] = 0
    assert problem.gap(flat).residual > 0
    with pytest.raises(ValueError, match="columns of consensus are not orthonormal"):
        problem.gap(2 * flat)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": np.ones(3)}, "2 partitions, 2 rotations and weights of shape"),
        ({"rotations": [np.eye(3)]}, "2 partitions, 1 rotations"),
        ({"rotations": [np.eye(2), np.eye(3)]}, "View 0 has a partition of shape"),
        ({"partitions": [np.eye(13)[:, :3], np.eye(12)[:, :3]]}, "View 1 has a partition of shape"),
        ({"partitions": [np.full((13, 3), np.nan)] * 2}, r"partitions\[0\] has NaN"),
        ({"consensus": np.ones(13)}, "consensus has shape"),
    ],
)
def test_gap_input_is_checked(change, message):
    problem = Problem(seed=1, n_views=2, n_clusters=3, n_extra=10)
    given_input = {
        "partitions": problem.partitions,
        "rotations": problem.rotations,
        "weights": problem.weights,
        "consensus": problem.some_consensus(),
    }
    with pytest.raises(ValueError, match=message):
        objective_gap(**(given_input | change))


@examples(60)
@given(problems, st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_range_theorem_of_the_empirical_error(problem, share, seed):
    m = problem.n_views
    regularized = share * math.sqrt(m) * problem.some_consensus()
    labels = np.random.default_rng(seed).integers(problem.n_clusters, size=problem.n_samples)
    error = empirical_error(problem.fused + regularized, labels)
    assert 1 - 4 * m - ROUNDING <= error <= 1 + 4 * m + ROUNDING


@examples(60)
@given(problems, st.integers(0, 2**32 - 1))
def test_empirical_error_is_invariant_to_rotation_and_to_names(problem, seed):
    labels = np.random.default_rng(seed).integers(3, size=problem.n_samples)
    turn = orthonormal(problem.generator, problem.n_clusters, problem.n_clusters)
    error = empirical_error(problem.fused, labels)
    assert empirical_error(problem.fused @ turn, np.array(["u", "v", "w"])[labels]) == pytest.approx(error)


def test_empirical_error_term_by_term():
    rows = np.array([[1.0, 0.0], [3.0, 0.0], [0.0, 2.0]])
    # Centers (2, 0) and (0, 2): the best products are 2, 6 and 4.
    assert empirical_error(rows, ["a", "a", "b"]) == pytest.approx(1 - 12 / 3)


def test_empirical_error_of_new_samples_uses_the_given_centers():
    rows, labels = np.array([[1.0, 0.0], [3.0, 0.0], [0.0, 2.0]]), [0, 0, 1]
    centers = cluster_means(rows, labels)
    np.testing.assert_array_equal(centers, [[2.0, 0.0], [0.0, 2.0]])
    assert empirical_error(rows, centers=centers) == empirical_error(rows, labels)
    assert empirical_error(np.array([[0.0, 0.25]]), centers=centers) == 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either labels"),
        ({"labels": [0, 1], "centers": np.ones((1, 2))}, "either labels"),
        ({"labels": [0, 1, 1]}, "2 representations but 3 labels"),
        ({"labels": [0, None]}, "labels has missing labels"),
        ({"centers": np.ones((2, 3))}, "centers have 3 columns but representations have 2"),
        ({"centers": np.ones(2)}, "centers has shape"),
    ],
)
def test_empirical_error_input_is_checked(arguments, message):
    with pytest.raises(ValueError, match=message):
        empirical_error(np.ones((2, 2)), **arguments)


def test_the_bound_by_hand():
    expected = math.sqrt(math.pi / 2) * 3 / 10 + 8 * 2 * math.sqrt(math.log(20) / 200)
    assert generalization_bound(100, 2, 3) == pytest.approx(expected)


@examples(60)
@given(st.integers(1, 10**6), st.integers(1, 50), st.integers(1, 100), st.floats(1e-9, 0.999))
def test_the_bound_falls_with_the_root_of_n(n_samples, n_views, n_clusters, delta):
    bound = generalization_bound(n_samples, n_views, n_clusters, delta=delta)
    assert generalization_bound(4 * n_samples, n_views, n_clusters, delta=delta) == pytest.approx(bound / 2)
    assert generalization_bound(n_samples, n_views + 1, n_clusters, delta=delta) > bound
    assert generalization_bound(n_samples, n_views, n_clusters + 1, delta=delta) > bound
    assert generalization_bound(n_samples, n_views, n_clusters, delta=delta / 2) > bound


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_samples": 0}, "n_samples=0 should be an integer of at least 1"),
        ({"n_views": 2.5}, "n_views=2.5"),
        ({"n_clusters": True}, "n_clusters=True"),
        ({"delta": 0.0}, "delta must be a probability.*got 0.0"),
        ({"delta": 1}, "got 1"),
    ],
)
def test_the_bound_refuses_impossible_numbers(arguments, message):
    with pytest.raises(ValueError, match=message):
        generalization_bound(**({"n_samples": 10, "n_views": 2, "n_clusters": 3} | arguments))
