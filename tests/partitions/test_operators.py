"""Eigenvectors from products alone equal those of the matrix."""

import numpy as np
import pytest
import scipy.sparse as sp

from latefusion.datasets import make_views
from latefusion.kernels import fit_kernel
from latefusion.partitions import operators as room
from latefusion.similarities.anchors import fit_anchor_graph
from latefusion.similarities.factor import Factor, fit_linear_map, fit_nystrom_map

WIDE = make_views(700, 4, n_views=1, n_features=60, random_state=0).views.arrays[0]
SPARSE = sp.csr_array(np.where(WIDE > 0.5, WIDE, 0.0))
SHORT = sp.csr_array(np.where(np.random.default_rng(0).random((640, 900)) < 0.05, 1.0, 0.0))


def make_factor(name, dtype="float64"):
    if name == "nystrom":
        view = WIDE.astype(dtype)
        return Factor(view, fit_nystrom_map(view, fit_kernel("gaussian", view), n_landmarks=50))
    if name == "anchors":
        return fit_anchor_graph(WIDE.astype(dtype), 4, n_anchors=50)[0]
    view = {"dense": WIDE, "sparse": SPARSE, "short": SHORT}[name].astype(dtype)
    return Factor(view, fit_linear_map(view))


def projector(vectors):
    return vectors @ vectors.T


@pytest.mark.parametrize("name", ["dense", "sparse", "short", "nystrom", "anchors"])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 1e-5)])
def test_feature_matrices_multiply_to_the_similarity(name, dtype, tolerance, monkeypatch):
    monkeypatch.setattr(room, "BLOCK_ENTRIES", 2**12)
    factor = make_factor(name, dtype)
    features = room.feature_matrix(factor)
    assert features.dtype == np.float64
    similarity = factor.toarray()
    assert similarity.dtype == dtype
    np.testing.assert_allclose(features @ (features.T @ np.eye(len(similarity))), similarity, atol=tolerance)
    gram = room.gram_matrix(features)
    np.testing.assert_allclose(
        gram.toarray() if sp.issparse(gram) else gram, features.T @ (features @ np.eye(features.shape[1])), atol=1e-9
    )


@pytest.mark.parametrize("solver", ["gram", "lanczos"])
@pytest.mark.parametrize("name", ["dense", "sparse", "short", "nystrom", "anchors"])
def test_both_solvers_find_the_eigenvectors(name, solver, monkeypatch):
    monkeypatch.setattr(room, "takes_gram", lambda *_, **__: solver == "gram")
    factor = make_factor(name)
    features = room.feature_matrix(factor)
    rows = features @ room.leading_projection(features, 4, np.float64)
    expected = np.linalg.eigh(factor.toarray())[1][:, -4:]
    np.testing.assert_allclose(projector(rows), projector(expected), atol=1e-8)


def test_factors_side_by_side_are_one_factor():
    parts = [room.feature_matrix(make_factor(name)) for name in ("dense", "sparse", "nystrom", "anchors")]
    stack = room.SideBySide(parts)
    explicit = np.hstack([part @ np.eye(part.shape[1]) for part in parts])
    right, left = np.random.default_rng(0).standard_normal((stack.shape[1], 3)), explicit[:, :3]
    np.testing.assert_allclose(stack @ right, explicit @ right, atol=1e-10)
    np.testing.assert_allclose(stack.T @ left, explicit.T @ left, atol=1e-10)
    assert [len(part) for part in stack.split(right)] == [part.shape[1] for part in parts]


def test_mean_similarity_is_the_mean():
    factors = [make_factor(name) for name in ("dense", "anchors")]
    graph = sp.random_array((700, 700), density=0.01, random_state=0)
    graph = (graph + graph.T).tocsr()
    mean = room.MeanSimilarity([room.feature_matrix(factor) for factor in factors], [graph])
    expected = (factors[0].toarray() + factors[1].toarray() + graph.toarray()) / 3
    np.testing.assert_allclose(mean @ np.eye(700), expected, atol=1e-12)


@pytest.mark.parametrize("name", ["dense", "sparse", "wide"])
def test_a_factor_of_low_rank_has_zero_columns(name):
    low = np.random.default_rng(0).standard_normal((700, 3)) @ np.random.default_rng(1).standard_normal((3, 650))
    low = {"dense": low[:, :30], "sparse": sp.csr_array(low), "wide": low}[name]
    features = room.feature_matrix(Factor(low, fit_linear_map(low)))
    rows = features @ room.leading_projection(features, 5, np.float64)
    np.testing.assert_allclose(rows.T @ rows, np.diag([1.0, 1.0, 1.0, 0.0, 0.0]), atol=1e-8)


def test_narrow_factors_take_their_gram_matrix():
    assert room.takes_gram(448, 10, dense=True)
    assert not room.takes_gram(20_000, 10, dense=True)
    assert not room.takes_gram(20_000, 1000, dense=True)
    assert room.takes_gram(100, 10, dense=False)
    assert not room.takes_gram(448, 10, dense=False)


def test_two_runs_are_equal():
    features = room.feature_matrix(make_factor("short"))
    one, other = (room.leading_projection(features, 4, np.float64) for _ in range(2))
    np.testing.assert_array_equal(one, other)
