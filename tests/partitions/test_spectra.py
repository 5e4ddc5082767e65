"""Leading eigenpairs of every form that a similarity takes, against LAPACK on the formed matrix."""

import numpy as np
import pytest
import scipy.sparse as sp

from latefusion.datasets import make_views
from latefusion.kernels import fit_kernel
from latefusion.partitions import partitions as module
from latefusion.partitions import spectra as room
from latefusion.partitions.partitions import Block
from latefusion.partitions.spectra import fit_spectrum, leading_eigenpairs
from latefusion.similarities import GivenPartition, GraphSimilarity, KernelSimilarity, PrecomputedSimilarity
from latefusion.similarities.factor import Factor, fit_linear_map, fit_nystrom_map

VIEW = np.random.default_rng(0).standard_normal((50, 4)) + np.repeat(np.eye(2, 4) * 5, 25, axis=0)
SPARSE = sp.csr_array(np.where(VIEW > 0.5, VIEW, 0.0))
SIMILARITIES = {
    "kernel": (KernelSimilarity(), VIEW),
    "kernel of sparse rows": (KernelSimilarity(), SPARSE),
    "graph": (GraphSimilarity(8), VIEW),
    "linear": (KernelSimilarity("linear", method="factor"), VIEW),
    "linear of sparse rows": (KernelSimilarity("linear", method="factor"), SPARSE),
    "Nyström": (KernelSimilarity(method="factor", n_landmarks=30), VIEW),
    "anchors": (GraphSimilarity(method="anchors", n_anchors=12), VIEW),
    "precomputed": (PrecomputedSimilarity(), VIEW @ VIEW.T),
}


def extend(spectrum, view, diagonal=None):
    return Block(0, "any", None, spectrum.extension, spectrum.projection).rows(view, diagonal)


def formed(similarity, view):
    matrix, _ = similarity.similarity(view, 2)
    return matrix.toarray() if isinstance(matrix, Factor) or sp.issparse(matrix) else matrix


@pytest.fixture(params=SIMILARITIES)
def case(request):
    return SIMILARITIES[request.param]


def test_eigenpairs_are_those_of_the_formed_matrix(case):
    similarity, view = case
    spectrum = fit_spectrum(view, similarity, 3, 2)
    matrix = formed(similarity, view)
    np.testing.assert_allclose(spectrum.values, np.linalg.eigvalsh(matrix)[::-1][:3], atol=1e-8)
    np.testing.assert_allclose(spectrum.vectors.T @ spectrum.vectors, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(matrix @ spectrum.vectors, spectrum.vectors * spectrum.values, atol=1e-8)


def diagonal_of(similarity, view):
    return np.diagonal(view) if isinstance(similarity, PrecomputedSimilarity) else None


def test_training_samples_get_their_rows_back(case):
    similarity, view = case
    spectrum = fit_spectrum(view, similarity, 3, 2)
    np.testing.assert_allclose(extend(spectrum, view, diagonal_of(similarity, view)), spectrum.vectors, atol=1e-8)


def test_rows_do_not_depend_on_the_blocks_they_come_in(case, monkeypatch):
    similarity, view = case
    spectrum, diagonal = fit_spectrum(view, similarity, 3, 2), diagonal_of(similarity, view)
    whole = extend(spectrum, view, diagonal)
    monkeypatch.setattr(module, "BLOCK_ENTRIES", 7 * spectrum.projection.shape[0])
    np.testing.assert_allclose(extend(spectrum, view, diagonal), whole, atol=1e-12)


@pytest.mark.parametrize("method", ["exact", "factor"])
def test_directions_that_are_not_there_are_zero(method):
    spectrum = fit_spectrum(VIEW[:, :2], KernelSimilarity("linear", method=method), 5, 2)
    assert np.all(spectrum.values[:2] > 0)
    assert not spectrum.values[2:].any()
    assert not spectrum.vectors[:, 2:].any()
    assert not extend(spectrum, VIEW[:, :2])[:, 2:].any()


def test_negative_eigenvalues_are_no_directions():
    graph = fit_spectrum(VIEW, GraphSimilarity(8), 50, 2)
    assert np.linalg.eigvalsh(formed(GraphSimilarity(8), VIEW))[0] < -1e-3
    assert np.all(graph.values >= 0)
    np.testing.assert_array_equal(graph.vectors.any(axis=0), graph.values > 0)


def test_single_precision_stays(case):
    similarity, view = case
    spectrum = fit_spectrum(view.astype(np.float32), similarity, 2, 2)
    again = extend(spectrum, view.astype(np.float32), diagonal_of(similarity, view))
    assert spectrum.vectors.dtype == spectrum.projection.dtype == again.dtype == np.float32
    np.testing.assert_allclose(again, spectrum.vectors, atol=1e-3)


def test_scattered_rows_are_as_loud_as_if_everybody_had_them():
    generator = np.random.default_rng(0)
    view, observed = generator.standard_normal((40, 5)), np.zeros(100, dtype=bool)
    observed[generator.permutation(100)[:40]] = True
    spectrum = fit_spectrum(view, KernelSimilarity(), 4, 2)
    scattered = spectrum.scattered(observed, 80)  # 20 have no view at all
    assert not scattered.vectors[~observed].any()
    np.testing.assert_allclose(np.sum(scattered.vectors**2, axis=0), 0.5)
    np.testing.assert_allclose(extend(scattered, view), scattered.vectors[observed], atol=1e-10)
    np.testing.assert_array_equal(scattered.values, spectrum.values)


def test_all_directions_of_a_given_labeling_are_there_and_count_alike():
    """However few are asked for: one for every cluster but one, which is what its labels span without the constant."""
    labels = (np.arange(50) % 7)[:, None].astype(float)
    spectrum = fit_spectrum(labels, GivenPartition("labels"), 3, 2)
    np.testing.assert_array_equal(spectrum.values, np.ones(6))
    np.testing.assert_allclose(spectrum.vectors.T @ spectrum.vectors, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(spectrum.vectors.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(extend(spectrum, labels[:9]), spectrum.vectors[:9], atol=1e-12)


def test_null_directions_are_zero():
    values, vectors = np.array([3.0, 2.0, 0.0, 0.0]), np.linalg.qr(np.random.default_rng(0).random((4, 4)))[0]
    found, leading, projection = leading_eigenpairs(vectors * values @ vectors.T, 3)
    np.testing.assert_allclose(found, values[:3])
    np.testing.assert_allclose(projection[:, :2], leading[:, :2] / values[:2])
    assert not leading[:, 2].any()
    assert not projection[:, 2].any()


WIDE = make_views(700, 4, n_views=1, n_features=60, random_state=0).views.arrays[0]
SPARSE = sp.csr_array(np.where(WIDE > 0.5, WIDE, 0.0))
SHORT = sp.csr_array(np.where(np.random.default_rng(0).random((640, 900)) < 0.05, 1.0, 0.0))


def make_factor(name, dtype="float64"):
    if name == "nystrom":
        view = WIDE.astype(dtype)
        return Factor(view, fit_nystrom_map(view, fit_kernel("gaussian", view), n_landmarks=50))
    if name == "anchors":
        return GraphSimilarity(method="anchors", n_anchors=50).similarity(WIDE.astype(dtype), 4)[0]
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
