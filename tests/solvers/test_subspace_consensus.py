"""Consensus of subspaces: equal to the algorithm on all samples, and blind to what must not matter."""

from dataclasses import replace

import array_api_compat.numpy as xp
import numpy as np
import pytest

from latefusion.solvers import solve_alignment
from latefusion.solvers.subspace_consensus import Subspaces


def bases(seed, widths=(2, 5, 7), n_samples=40):
    rng = np.random.default_rng(seed)
    return [np.linalg.qr(rng.standard_normal((n_samples, width)))[0] for width in widths]


def spaces_of(matrices):
    together = np.hstack(matrices)
    return Subspaces.of([np.eye(one.shape[1]) for one in matrices], together.T @ together)


def fused_rows(matrices, spaces, n_shared_components=4, regularization=0.5):
    coefficients, result = spaces.fuse(n_shared_components, regularization=regularization, max_iter=50, tol=0.0)
    return sum(one @ own for one, own in zip(matrices, coefficients, strict=True)), result


def test_the_small_space_takes_the_steps_of_all_samples(seed):
    """The dense reference: M from the mean projection, alignment on n rows, U from its rotations and weights."""
    matrices = bases(seed)
    mean = sum(one @ one.T for one in matrices)
    average = np.linalg.eigh(mean)[1][:, ::-1][:, :4]
    dense = solve_alignment(matrices, average, regularization=0.5, max_iter=50, tol=0.0, xp=xp)
    expected = 0.5 * average + sum(
        weight * one @ rotation for weight, one, rotation in zip(dense.weights, matrices, dense.rotations, strict=True)
    )
    found, result = fused_rows(matrices, spaces_of(matrices))
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-8)
    np.testing.assert_allclose(result.objective[:20], dense.objective[:20], rtol=1e-10)


def test_the_objective_never_falls(seed):
    matrices = bases(seed, widths=(1, 3, 8, 8))
    objective = fused_rows(matrices, spaces_of(matrices))[1].objective
    assert np.all(np.diff(objective) > -1e-10)


def test_the_choice_of_bases_does_not_matter(seed):
    matrices = bases(seed)
    rng = np.random.default_rng(seed)
    turned = [one @ np.linalg.qr(rng.standard_normal((one.shape[1],) * 2))[0] for one in matrices]
    here, there = (fused_rows(one, spaces_of(one))[0] for one in (matrices, turned))
    np.testing.assert_allclose(here @ here.T, there @ there.T, atol=1e-7)


def test_copies_that_share_count_as_one(seed):
    matrices = bases(seed)
    copies = [*matrices, matrices[0], matrices[0]]
    shared = replace(spaces_of(copies), factors=np.sqrt([1 / 3, 1, 1, 1 / 3, 1 / 3]))
    alone, together = fused_rows(matrices, spaces_of(matrices))[0], fused_rows(copies, shared)[0]
    np.testing.assert_allclose(alone @ alone.T, together @ together.T, atol=1e-7)
    np.testing.assert_allclose(shared.values[:5], spaces_of(matrices).values[:5])


def test_eigenvalues_are_one_for_what_all_have_in_common(seed):
    common = bases(seed, widths=(3,))[0]
    np.testing.assert_allclose(spaces_of([common, common]).values, 1.0)
    first, second = np.hsplit(bases(seed, widths=(6,))[0], 2)
    np.testing.assert_allclose(spaces_of([first, second]).values, 0.5)


def test_overlap_is_one_for_the_same_subspace_only(seed):
    first, second = np.hsplit(bases(seed, widths=(6,))[0], 2)
    overlap = spaces_of([first, second, first, np.hstack([first, second])]).overlap()
    expected = [[1, 0, 1, 0.5], [0, 1, 0, 0.5], [1, 0, 1, 0.5], [0.5, 0.5, 0.5, 1]]
    np.testing.assert_allclose(overlap, expected, atol=1e-12)


def test_more_directions_than_there_are_stay_empty(seed):
    matrices = bases(seed, widths=(2,))
    rows, _ = fused_rows(matrices, spaces_of(matrices), n_shared_components=5)
    assert np.linalg.matrix_rank(rows) == 2


@pytest.mark.parametrize("widths", [(1, 1), (3, 9)])
def test_weights_are_on_the_sphere(seed, widths):
    matrices = bases(seed, widths)
    weights = fused_rows(matrices, spaces_of(matrices), n_shared_components=2)[1].weights
    assert np.all(weights >= 0)
    np.testing.assert_allclose(np.sum(weights**2), 1.0)


def test_a_partition_without_agreement_has_no_trust(seed):
    rng = np.random.default_rng(seed)
    common = bases(seed, widths=(3,), n_samples=200)[0]
    alike = [np.linalg.qr(common + 0.02 * rng.standard_normal(common.shape))[0] for _ in range(3)]
    finer = np.linalg.qr(np.hstack([common, rng.standard_normal((200, 6))]))[0]
    noise = np.linalg.qr(rng.standard_normal((200, 9)))[0]
    spaces = spaces_of([*alike, finer, noise])
    trust = spaces.trust(np.eye(5), 200)
    assert trust[:4].min() > 0.8
    assert trust[4] < 0.05


def test_copies_are_no_witnesses(seed):
    first, second, third = bases(seed)
    same = np.ones((3, 3))
    np.testing.assert_array_equal(spaces_of([first, first, first]).trust(same, 40), 1.0)
    same = np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]])
    copied = spaces_of([first, second, third, third]).trust(same, 400)
    np.testing.assert_allclose(copied[:3], spaces_of([first, second, third]).trust(np.eye(3), 400))


@pytest.mark.parametrize("size", [1e-8, 1e6])
def test_the_unit_of_factors_does_not_matter(seed, size):
    """With λ in the same unit, U is in that unit, too."""
    matrices = bases(seed)
    spaces = spaces_of(matrices)
    scaled = replace(spaces, factors=size * spaces.factors)
    here = fused_rows(matrices, spaces)[0]
    there = fused_rows(matrices, scaled, regularization=0.5 * size)[0] / size
    np.testing.assert_allclose(there @ there.T, here @ here.T, atol=1e-6)


def test_what_counts_as_a_direction():
    """An eigenvalue a thousand million times smaller than the largest does, one that may be a rounding error not."""
    matrices = [np.eye(8)[:, [column]] for column in range(3)]
    spaces = replace(spaces_of(matrices), factors=np.sqrt([1.0, 1e-9, 1e-13]))
    coefficients, _ = spaces.fuse(3, regularization=1e9, max_iter=5, tol=0.0)
    pulled = np.abs(np.vstack(coefficients))
    np.testing.assert_allclose(pulled[:2, :2], 1e9 * np.eye(2), rtol=1e-3, atol=1e6)
    assert pulled[2].max() < 10
