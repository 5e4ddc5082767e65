"""Base partitions: leading eigenvectors of every similarity and of their mean, with an exact extension."""

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp

from latefusion.arrays import memory, to_numpy
from latefusion.datasets import make_views
from latefusion.kernels import gaussian_kernel, standardize_kernel
from latefusion.partitions import fit_base_partitions
from latefusion.partitions.neighborhoods import count_neighbors
from latefusion.similarities import GraphSimilarity, KernelSimilarity, PrecomputedSimilarity
from tests.partitions.rows import extend

VIEWS = make_views(50, 3, n_views=3, n_features=4, random_state=0).views.arrays
KERNEL, GRAPH = KernelSimilarity(), GraphSimilarity(5)
LINEAR, NYSTROM = KernelSimilarity("linear", method="factor"), KernelSimilarity(method="factor")


def projector(vectors):
    return vectors @ vectors.T


@pytest.mark.parametrize("problem", ["problem_synth", "problem_digits"])
def test_golden_partitions(golden, problem):
    data = golden(problem)
    k = int(data["k"])
    views = [data[f"X{position + 1}"] for position in range(len(data["K"]))]
    base = fit_base_partitions(views, [KERNEL] * len(views), k)
    for p, (partition, expected) in enumerate(zip(base.vectors, data["HP"], strict=True)):
        np.testing.assert_allclose(projector(partition), projector(expected), atol=1e-7)
        # For a kernel the projection is V Λ⁻¹ (and, for the mean, V Λ⁻¹ / m).
        own, mean = (np.linalg.norm(one[p].projection, axis=0) for one in (base.blocks, base.mean.blocks))
        np.testing.assert_allclose(1 / own, data["eigvals_HP"][p], rtol=1e-8)
        np.testing.assert_allclose(1 / mean / len(views), data["eigvals_M"].ravel(), rtol=1e-8)
    np.testing.assert_allclose(projector(base.mean.rows), projector(data["M"]), atol=1e-7)


@pytest.mark.parametrize(
    "similarities",
    [[KERNEL] * 3, [GRAPH] * 3, [KERNEL, GRAPH, KERNEL], [LINEAR] * 3, [LINEAR, GRAPH, NYSTROM]],
    ids=["kernel", "graph", "both", "factor", "all"],
)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-6), ("float32", 2e-2)])
def test_training_samples_get_their_rows_back(similarities, dtype, tolerance):
    views = [view.astype(dtype) for view in VIEWS]
    base = fit_base_partitions(views, similarities, 3, n_neighbors=10)
    rows = extend(base, [view[5:25] for view in views])
    for partition, extended in zip(base.vectors, rows.vectors, strict=True):
        assert extended.dtype == dtype
        np.testing.assert_allclose(extended, partition[5:25], atol=tolerance)
    np.testing.assert_allclose(rows.mean.rows, base.mean.rows[5:25], atol=tolerance)
    for neighbors, counts in zip(base.counts, rows.counts, strict=True):
        np.testing.assert_allclose(counts, neighbors.counts[5:25], rtol=1e-4)


def test_blocks_of_new_samples_change_nothing(monkeypatch):
    base = fit_base_partitions(VIEWS, [KERNEL] * 3, 3, n_neighbors=10)
    whole = extend(base, VIEWS)
    monkeypatch.setattr("latefusion.estimators.consensus_map.BLOCK_ENTRIES", 50 * 7)
    parts = extend(base, VIEWS)
    np.testing.assert_allclose(parts.mean.rows, whole.mean.rows, atol=1e-12)
    for one, other in zip(parts.vectors + parts.counts, whole.vectors + whole.counts, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_precomputed_kernels_give_the_same_and_take_diagonals_in_blocks(monkeypatch):
    raw = [gaussian_kernel(view) * scale for view, scale in zip(VIEWS, (1.0, 2.0, 3.0), strict=True)]
    given = fit_base_partitions(raw, [PrecomputedSimilarity()] * 3, 3)
    computed = fit_base_partitions(VIEWS, [KERNEL] * 3, 3)
    np.testing.assert_allclose(projector(given.mean.rows), projector(computed.mean.rows), atol=1e-8)
    monkeypatch.setattr("latefusion.estimators.consensus_map.BLOCK_ENTRIES", 50 * 7)
    rows = extend(given, raw, diagonals=[np.diagonal(raw[0]), None, None])
    np.testing.assert_allclose(rows.mean.rows, given.mean.rows, atol=1e-8)


@pytest.mark.parametrize("partition", [KERNEL, GRAPH])
def test_partitions_are_orthonormal(partition):
    base = fit_base_partitions(VIEWS, [partition] * 3, 4)
    for partition in [*base.vectors, base.mean.rows]:
        np.testing.assert_allclose(partition.T @ partition, np.eye(4), atol=1e-10)


def test_missing_directions_are_zero_not_made_up():
    """A linear kernel of two columns has rank two: of five columns of its partition three are zero."""
    flat = VIEWS[0][:, :2]
    base = fit_base_partitions([flat, VIEWS[1]], [KernelSimilarity("linear"), KERNEL], 5)
    vectors = base.vectors[0]
    np.testing.assert_allclose(vectors.T @ vectors, np.diag([1.0, 1.0, 0.0, 0.0, 0.0]), atol=1e-10)
    assert not extend(base, [flat, VIEWS[1]]).vectors[0][:, 2:].any()


def test_as_many_clusters_as_samples():
    base = fit_base_partitions([view[:6] for view in VIEWS], [KERNEL] * 3, 6)
    for partition in base.vectors:  # centering removes one direction of every view
        np.testing.assert_allclose(partition.T @ partition, np.diag([1.0] * 5 + [0.0]), atol=1e-8)


def test_counts_are_those_of_every_similarity_and_of_their_mean():
    kernels = [standardize_kernel(gaussian_kernel(view))[0] for view in VIEWS]
    base = fit_base_partitions(VIEWS, [KERNEL] * 3, 3, n_neighbors=7)
    for neighbors, kernel in zip(base.counts, [*kernels, np.mean(kernels, axis=0)], strict=True):
        np.testing.assert_array_equal(neighbors.counts, count_neighbors(kernel, [7])[0].counts)


def test_parallel_and_serial_agree():
    one = fit_base_partitions(VIEWS, [KERNEL, GRAPH, KERNEL], 3)
    other = fit_base_partitions(VIEWS, [KERNEL, GRAPH, KERNEL], 3, n_jobs=2)
    np.testing.assert_array_equal(one.mean.rows, other.mean.rows)


def test_the_mean_of_graphs_stays_sparse():
    seen = []

    class Recorder(GraphSimilarity):
        def similarity(self, view, n_clusters):
            matrix, extension = super().similarity(view, n_clusters)
            seen.append(matrix)
            return matrix, extension

    base = fit_base_partitions(VIEWS, [Recorder(5)] * 3, 3)
    assert all(sp.issparse(matrix) for matrix in seen)
    mean = sum(matrix.toarray() for matrix in seen) / 3
    values = np.sum(base.mean.rows * (mean @ base.mean.rows), axis=0)
    np.testing.assert_allclose(mean @ base.mean.rows, base.mean.rows * values, atol=1e-9)


@pytest.mark.parametrize("n_neighbors", [None, 10])
def test_factors_equal_gram_matrices(n_neighbors):
    formed = fit_base_partitions(VIEWS, [KernelSimilarity("linear", method="exact")] * 3, 3, n_neighbors=n_neighbors)
    factors = fit_base_partitions(VIEWS, [LINEAR] * 3, 3, n_neighbors=n_neighbors)
    for one, other in zip([*formed.vectors, formed.mean.rows], [*factors.vectors, factors.mean.rows], strict=True):
        np.testing.assert_allclose(projector(one), projector(other), atol=1e-8)
    if n_neighbors is not None:
        for one, other in zip(formed.counts, factors.counts, strict=True):
            np.testing.assert_array_equal(one.counts, other.counts)


@pytest.mark.parametrize(
    ("others", "n_neighbors", "n_copies"),
    [((GRAPH,), None, 1), ((GRAPH,), 7, 2), ((LINEAR,), None, 2), ((GRAPH, NYSTROM), (7, 9), 2), ((KERNEL,), 7, 0)],
)
def test_what_joins_a_dense_kernel_is_asked_for_before_it_is_formed(others, n_neighbors, n_copies, monkeypatch):
    """An n x n array where neither graph nor factor would have made one."""
    monkeypatch.setattr("latefusion.similarities.kernel.KERNEL_COPIES", 0)
    views, similarities = VIEWS[: len(others) + 1], [KERNEL, *others]
    size = n_copies * 50 * 50 * 8
    monkeypatch.setattr(memory, "available_memory", lambda like=None: size)
    fit_base_partitions(views, similarities, 3, n_neighbors=n_neighbors)
    fit_base_partitions(views[1:], others, 3, n_neighbors=n_neighbors)
    if n_copies > 0:
        monkeypatch.setattr(memory, "available_memory", lambda like=None: size - 1)
        words = rf"{len(others)} of {len(views)} views .* 50 x 50 numbers in {n_copies} copies.*method='factor'"
        with pytest.raises(MemoryError, match=words):
            fit_base_partitions(views, similarities, 3, n_neighbors=n_neighbors)
        fit_base_partitions(views[1:], others, 3, n_neighbors=n_neighbors)


def test_views_of_another_library_stay_there(monkeypatch):
    """As on a device: kernels go through factors, none is formed, and partitions are those of NumPy."""
    kind = type(array_api_strict.zeros(1))
    monkeypatch.setattr(kind, "_validate_index", lambda *args, **kwargs: None, raising=False)
    monkeypatch.setattr(kind, "__len__", lambda array: array.shape[0], raising=False)
    generator = np.random.default_rng(0)
    views = [generator.standard_normal((60, 4)), generator.standard_normal((60, 3))]
    there = [array_api_strict.asarray(view) for view in views]
    expected = fit_base_partitions(views, [KernelSimilarity("linear", method="factor")] * 2, 3)
    for method in ("auto", "factor"):
        found = fit_base_partitions(there, [KernelSimilarity("linear", method=method)] * 2, 3)
        for one, other in zip([*found.vectors, found.mean.rows], [*expected.vectors, expected.mean.rows], strict=True):
            assert isinstance(one, kind)
            one = to_numpy(one)
            np.testing.assert_allclose(one @ one.T, other @ other.T, atol=1e-9)
    with pytest.raises(ValueError, match="method='exact' needs NumPy arrays"):
        fit_base_partitions(there, [KernelSimilarity("linear", method="exact")] * 2, 3)


@pytest.mark.parametrize("n_neighbors", [None, 15])
@pytest.mark.parametrize(
    "similarities", [(KERNEL, KERNEL, GRAPH), (GRAPH, GRAPH, KERNEL), (GRAPH, GRAPH, GRAPH), (LINEAR, KERNEL, NYSTROM)]
)
def test_known_partitions_change_nothing_and_are_not_computed_again(similarities, n_neighbors):
    known = fit_base_partitions(VIEWS[:2], similarities[:2], 3, n_neighbors=n_neighbors)
    again = fit_base_partitions(VIEWS, similarities, 3, n_neighbors=n_neighbors, known=known)
    fresh = fit_base_partitions(VIEWS, similarities, 3, n_neighbors=n_neighbors)
    for one, other in zip((*again.vectors, again.mean.rows), (*fresh.vectors, fresh.mean.rows), strict=True):
        np.testing.assert_allclose(projector(one), projector(other), atol=1e-10)
    for one, other in zip(again.counts or (), fresh.counts or (), strict=True):
        np.testing.assert_array_equal(one.counts, other.counts)
    for view, similarity in enumerate(similarities[:2]):
        assert (again.vectors[view] is known.vectors[view]) == (similarity in (KERNEL, GRAPH))


@pytest.mark.parametrize("n_neighbors", [None, 15])
def test_known_partitions_beside_a_reference(n_neighbors):
    options = {"reference": GRAPH, "n_neighbors": n_neighbors}
    known = fit_base_partitions(VIEWS[:2], [KERNEL, LINEAR], 3, **options)
    again = fit_base_partitions(VIEWS, [KERNEL, LINEAR, GRAPH], 3, known=known, **options)
    fresh = fit_base_partitions(VIEWS, [KERNEL, LINEAR, GRAPH], 3, **options)
    assert again.vectors[:2] == known.vectors
    for one, other in zip((*again.vectors, again.mean.rows), (*fresh.vectors, fresh.mean.rows), strict=True):
        np.testing.assert_allclose(projector(one), projector(other), atol=1e-10)
    for one, other in zip(again.counts or (), fresh.counts or (), strict=True):
        np.testing.assert_array_equal(one.counts, other.counts)


def test_known_partitions_are_not_used_if_views_are_missing():
    """They are of other samples then."""
    mask = np.ones((50, 3), dtype=bool)
    mask[:9, 2] = False
    known = fit_base_partitions(VIEWS[:2], [KERNEL] * 2, 3)
    again = fit_base_partitions(VIEWS, [KERNEL] * 3, 3, mask=mask, known=known)
    fresh = fit_base_partitions(VIEWS, [KERNEL] * 3, 3, mask=mask)
    for one, other in zip(again.vectors, fresh.vectors, strict=True):
        np.testing.assert_array_equal(one, other)
