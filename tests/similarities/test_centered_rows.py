"""Centred, scaled rows that are never written out act like the matrix they stand for."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from latefusion.similarities import centered_rows as room
from latefusion.similarities.centered_rows import CenteredRows, centered_lengths

RNG = np.random.default_rng(0)
ROWS = np.where(RNG.random((30, 12)) < 0.3, RNG.standard_normal((30, 12)), 0.0) + np.eye(30, 12)
MEAN, SCALE = RNG.standard_normal(12), RNG.random(30)


@pytest.mark.parametrize("container", [np.array, sp.csr_array])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_products_are_those_of_the_matrix(container, dtype, monkeypatch):
    monkeypatch.setattr(room, "BLOCK_ENTRIES", 12 * 7)
    rows = ROWS.astype(dtype)
    expected = (rows.astype(np.float64) - MEAN) * SCALE[:, None]
    operator = pickle.loads(pickle.dumps(CenteredRows(container(rows), MEAN, SCALE)))
    right, left = RNG.standard_normal((12, 4)), RNG.standard_normal((30, 4))
    np.testing.assert_allclose(operator @ right, expected @ right, atol=1e-12)
    np.testing.assert_allclose(operator @ right[:, 0], expected @ right[:, 0], atol=1e-12)
    np.testing.assert_allclose(operator.T @ left, expected.T @ left, atol=1e-12)
    np.testing.assert_allclose(operator.T @ left[:, :1], expected.T @ left[:, :1], atol=1e-12)
    some = CenteredRows(container(rows[:5]), MEAN, SCALE[:5])
    products = operator.inner_products(some)
    assert isinstance(products, np.ndarray)
    assert products.dtype == dtype
    np.testing.assert_allclose(products, expected @ expected[:5].T, atol=1e-12 if dtype == "float64" else 1e-5)


def test_dense_rows_can_be_written_out():
    expected = (ROWS - MEAN) * SCALE[:, None]
    np.testing.assert_allclose(CenteredRows(ROWS, MEAN, SCALE)[3:8], expected[3:8])


@pytest.mark.parametrize("container", [np.array, sp.csr_array])
def test_lengths(container, monkeypatch):
    monkeypatch.setattr(room, "BLOCK_ENTRIES", 12 * 7)
    np.testing.assert_allclose(centered_lengths(container(ROWS), MEAN), np.linalg.norm(ROWS - MEAN, axis=1))


def test_an_offset_does_no_harm_in_single_precision():
    """Far from the origin single precision would lose what is left after centring."""
    rows = (RNG.standard_normal((30, 12)) + 1000.0).astype(np.float32)
    mean = rows.mean(axis=0, dtype=np.float64)
    right = RNG.standard_normal((12, 3))
    found = CenteredRows(rows, mean, np.ones(30)) @ right
    np.testing.assert_allclose(found, (rows.astype(np.float64) - mean) @ right, atol=1e-9)
