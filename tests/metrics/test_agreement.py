"""Agreement of subspaces: principal angles, whatever the basis."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from latefusion.metrics import adjusted_rand, observed_agreement, pairwise_agreement, subspace_agreement
from tests.properties import examples


def random_basis(generator, n, k):
    return np.linalg.qr(generator.standard_normal((n, k)))[0]


@examples(40)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 20), k=st.integers(1, 6))
def test_agreement_is_the_mean_cosine_of_principal_angles(seed, n, k):
    n = max(n, k)
    generator = np.random.default_rng(seed)
    left, right = random_basis(generator, n, k), random_basis(generator, n, k)
    agreement = subspace_agreement(left, right)
    assert agreement == pytest.approx(np.cos(scipy.linalg.subspace_angles(left, right)).mean(), abs=1e-9)
    assert 0.0 <= agreement <= 1.0
    assert agreement == pytest.approx(subspace_agreement(right, left), abs=1e-12)
    rotation = random_basis(generator, k, k)
    assert agreement == pytest.approx(subspace_agreement(left @ rotation, right), abs=1e-12)
    assert subspace_agreement(left, left @ rotation) == pytest.approx(1.0, abs=1e-12)


def test_orthogonal_subspaces_do_not_agree():
    basis = np.eye(6)
    assert subspace_agreement(basis[:, :3], basis[:, 3:]) == 0.0
    assert subspace_agreement(basis[:, :3], basis[:, 1:4]) == pytest.approx(2 / 3)


def test_zero_columns_count_as_disagreement():
    basis = np.eye(5)[:, :2].copy()
    partial = basis.copy()
    partial[:, 1] = 0.0
    assert subspace_agreement(partial, basis) == 0.5


def test_agreement_never_exceeds_one():
    basis = random_basis(np.random.default_rng(0), 50, 7).astype(np.float32)
    assert subspace_agreement(basis, basis) <= 1.0


def test_pairs_are_compared_by_the_samples_that_both_know():
    generator = np.random.default_rng(0)
    labels = generator.integers(-1, 3, size=(3, 40))
    table = pairwise_agreement(labels)
    np.testing.assert_array_equal(table, table.T)
    np.testing.assert_array_equal(np.diag(table), 1)
    both = (labels[0] >= 0) & (labels[2] >= 0)
    assert table[0, 2] == adjusted_rand(labels[0][both], labels[2][both])


def test_nothing_in_common_is_not_a_number():
    table = pairwise_agreement([np.array([0, 1, -1, -1]), np.array([-1, -1, 0, 1])])
    assert np.isnan(table[0, 1])


def test_a_view_that_no_sample_has_does_not_agree():
    """It is not known, and neither 0 nor 1."""
    partition = np.linalg.qr(np.random.default_rng(0).standard_normal((6, 2)))[0]
    mask = np.array([[True, False]] * 6)
    assert np.isnan(observed_agreement(partition, partition, mask, 1))
    assert observed_agreement(partition, partition, mask, 0) == pytest.approx(1.0)
