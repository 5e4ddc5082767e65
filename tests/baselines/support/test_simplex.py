"""Projection on the probability simplex and quadratic programmes over it, by their optimality conditions."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from latefusion.baselines.support.simplex import project_rows_to_simplex, simplex_quadratic
from tests.properties import examples

seeds = st.integers(0, 2**32 - 1)


@examples(60)
@given(seed=seeds, n=st.integers(1, 5), d=st.integers(1, 12), scale=st.sampled_from([1e-12, 1e-3, 1.0, 50.0]))
def test_projection_is_the_nearest_point(seed, n, d, scale):
    generator = np.random.default_rng(seed)
    matrix = scale * generator.standard_normal((n, d))
    nearest = project_rows_to_simplex(matrix)
    assert nearest.min() >= 0
    np.testing.assert_allclose(nearest.sum(axis=1), 1, atol=1e-12)
    distance = np.linalg.norm(nearest - matrix, axis=1)
    for candidate in (generator.dirichlet(np.ones(d), size=n), np.eye(d)[generator.integers(d, size=n)]):
        for step in (1.0, 0.1, 1e-4):
            other = (1 - step) * nearest + step * candidate
            assert np.all(distance <= np.linalg.norm(other - matrix, axis=1) + 1e-10)


@examples(30)
@given(seed=seeds, d=st.integers(1, 8))
def test_points_of_the_simplex_stay(seed, d):
    points = np.random.default_rng(seed).dirichlet(np.ones(d), size=4)
    np.testing.assert_allclose(project_rows_to_simplex(points), points, atol=1e-14)


@pytest.mark.parametrize("offset", [0.0, 4096.0, -4096.0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_offset_does_not_move_the_projection(offset, dtype):
    rows = np.array([[0.0, 0.0, -4.0, 0.0], [0.5, 0.25, -4.0, 0.0]], dtype=dtype)
    projected = project_rows_to_simplex(rows + np.asarray(offset, dtype))
    assert projected.dtype == dtype
    np.testing.assert_allclose(projected, [[1 / 3, 1 / 3, 0, 1 / 3], [7 / 12, 4 / 12, 0, 1 / 12]], rtol=1e-6)


@pytest.mark.parametrize("size", [1e20, -1e20, 1e300])
def test_entries_far_beyond_one_are_compared_among_themselves(size):
    np.testing.assert_array_equal(project_rows_to_simplex(np.full((1, 4), size)), [[0.25] * 4])


def test_one_entry_far_above_the_others_takes_all():
    np.testing.assert_array_equal(project_rows_to_simplex(np.array([[1e20, 3.0, 0.0]])), [[1.0, 0.0, 0.0]])


def assert_optimal(quadratic, weights):
    """KKT: where a weight is positive the gradient is lowest, and nowhere is it lower."""
    scale = np.abs(quadratic).max()
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    gradient = quadratic @ weights / scale
    lowest = weights @ gradient
    assert np.all(gradient >= lowest - 1e-9)
    np.testing.assert_allclose(gradient[weights > 1e-9], lowest, atol=1e-9)


@examples(150)
@given(seed=seeds, size=st.integers(1, 9), rank=st.integers(1, 9), scale=st.sampled_from([1e-200, 1e-6, 1.0, 1e12]))
def test_quadratic_programme_is_optimal(seed, size, rank, scale):
    factor = np.random.default_rng(seed).standard_normal((size, min(rank, size)))
    quadratic = scale * factor @ factor.T
    assert_optimal(quadratic, simplex_quadratic(quadratic))


@examples(60)
@given(seed=seeds, size=st.integers(1, 5), copies=st.integers(2, 3))
@example(seed=217588, size=5, copies=2)  # twins that are fixed at zero first, and freed again
@example(seed=369, size=4, copies=3)  # a zero singular value that rounding lifts above the unit round-off
def test_twins_share_their_weight(seed, size, copies):
    factor = np.random.default_rng(seed).uniform(size=(size, 6))
    factor = np.repeat(factor, copies, axis=0)
    weights = simplex_quadratic(factor @ factor.T)
    assert_optimal(factor @ factor.T, weights)
    shared = weights.reshape(size, copies)
    np.testing.assert_allclose(shared, shared.mean(axis=1, keepdims=True).repeat(copies, axis=1), atol=1e-8)


def test_closed_form_of_a_diagonal_problem():
    diagonal = np.array([1.0, 2.0, 4.0])
    np.testing.assert_allclose(simplex_quadratic(np.diag(diagonal)), (1 / diagonal) / np.sum(1 / diagonal), rtol=1e-12)


def test_a_free_direction_takes_all_weight():
    np.testing.assert_allclose(simplex_quadratic(np.diag([1.0, 0.0, 3.0])), [0.0, 1.0, 0.0], atol=1e-12)


def test_degenerate_problems_have_equal_weights():
    np.testing.assert_allclose(simplex_quadratic(np.zeros((4, 4))), 0.25)
    np.testing.assert_allclose(simplex_quadratic(np.ones((4, 4))), 0.25)
    np.testing.assert_allclose(simplex_quadratic(np.array([[7.0]])), 1.0)


def test_a_dominated_view_gets_nothing():
    weights = simplex_quadratic(np.array([[1.0, 2.0], [2.0, 5.0]]))
    np.testing.assert_allclose(weights, [1.0, 0.0], atol=1e-12)
