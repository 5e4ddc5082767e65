"""Leading eigenpairs of every form that a similarity takes, against LAPACK on the formed matrix."""

import numpy as np
import pytest
import scipy.sparse as sp

from latefusion.partitions import partitions as module
from latefusion.partitions.partitions import Block
from latefusion.partitions.spectra import fit_spectrum
from latefusion.similarities import GivenPartition, GraphSimilarity, KernelSimilarity, PrecomputedSimilarity
from latefusion.similarities.factor import Factor

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
