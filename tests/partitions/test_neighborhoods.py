"""Neighbor counts against a naive stable sort, and their extension to new samples."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from latefusion.arrays import to_numpy
from latefusion.datasets import make_views
from latefusion.kernels import KERNELS, fit_kernel, gaussian_kernel, standardize_kernel
from latefusion.partitions import neighborhoods as room
from latefusion.partitions.neighborhoods import (
    SampledNeighborhoods,
    count_neighbors,
    draw_samples,
    neighborhood_size,
    sampled_thresholds,
)
from latefusion.similarities import GraphSimilarity, KernelSimilarity
from tests.properties import examples

seeds = st.integers(0, 2**32 - 1)


def naive_counts(similarity, n_neighbors):
    """Sort every row, nearest first and ties by index; the sample itself is nobody's neighbor."""
    counts = np.zeros(len(similarity), dtype=int)
    for i, row in enumerate(similarity):
        others = [j for j in np.argsort(-row, kind="stable") if j != i]
        counts[others[:n_neighbors]] += 1
    return counts


def similarity_matrix(seed, n, levels):
    """Symmetric with unit diagonal; few levels give many ties."""
    generator = np.random.default_rng(seed)
    values = generator.standard_normal((n, n)) if levels == 0 else generator.integers(levels, size=(n, n)) / levels
    symmetric = np.tril(values, -1) + np.tril(values, -1).T
    np.fill_diagonal(symmetric, 1.0)
    return symmetric


@examples(80)
@given(seed=seeds, n=st.integers(2, 25), share=st.floats(0.01, 1.0), levels=st.sampled_from([0, 1, 2, 5]))
def test_counts_are_those_of_a_stable_sort(seed, n, share, levels):
    similarity = similarity_matrix(seed, n, levels)
    n_neighbors = neighborhood_size(share, n)
    found = count_neighbors(similarity, [n_neighbors])[0]
    np.testing.assert_array_equal(found.counts, naive_counts(similarity, n_neighbors))
    assert found.counts.sum() == n * n_neighbors
    np.fill_diagonal(similarity, -np.inf)
    np.testing.assert_array_equal(found.thresholds, np.sort(similarity, axis=1)[:, -n_neighbors])


def test_blocks_of_rows_change_nothing(monkeypatch):
    similarity = similarity_matrix(0, 23, 3)
    expected = count_neighbors(similarity, [5])[0]
    monkeypatch.setattr("latefusion.partitions.neighborhoods.BLOCK_ENTRIES", 23 * 4)
    found = count_neighbors(similarity, [5])[0]
    np.testing.assert_array_equal(found.counts, expected.counts)
    np.testing.assert_array_equal(found.thresholds, expected.thresholds)


def test_the_matrix_is_not_touched():
    similarity = similarity_matrix(0, 10, 0)
    similarity.setflags(write=False)
    assert count_neighbors(similarity, [9])[0].counts.tolist() == [9] * 10


@pytest.mark.parametrize("problem", ["synth", "digits"])
def test_golden_counts(golden, problem):
    """Exact, the ties of view 6 of the digits included."""
    kernels, stored = golden(f"problem_{problem}")["K"], golden(f"lfmvc_lam_fixed_{problem}")
    for number, share in enumerate(stored["taus"], start=1):
        n_neighbors = neighborhood_size(float(share), len(kernels[0]))
        assert n_neighbors == stored[f"t{number}_neighbours"].item()
        for kernel, expected in zip(kernels, stored[f"t{number}_counts"], strict=True):
            np.testing.assert_array_equal(count_neighbors(kernel, [n_neighbors])[0].counts, expected)
        found = count_neighbors(np.mean(kernels, axis=0), [n_neighbors])[0]
        np.testing.assert_array_equal(found.counts, stored[f"t{number}_counts0"].ravel())


@pytest.mark.parametrize("name", sorted(KERNELS))
@examples(15)
@given(seed=seeds, n=st.integers(3, 25), n_neighbors=st.integers(1, 24), single=st.booleans())
def test_training_samples_get_their_counts_back(name, seed, n, n_neighbors, single):
    """From every kernel, the indefinite one included, whose similarities may exceed one."""
    rows = np.random.default_rng(seed).standard_normal((n, 3)).astype(np.float32 if single else np.float64)
    fitted = fit_kernel(name, rows)
    kernel, statistics = standardize_kernel(fitted(rows))
    assume(np.all(statistics.inverse_root > 0))
    found = count_neighbors(kernel, [min(n_neighbors, n - 1)])[0]
    again = statistics.apply(fitted(rows.copy(), rows), fitted.diagonal(rows))
    np.testing.assert_array_equal(found.count_new(again), found.counts)


def test_training_samples_get_their_counts_back_in_spite_of_ties():
    rows = np.array([[i, j] for i in range(5) for j in range(5)], dtype=float)
    kernel = gaussian_kernel(rows)
    for n_neighbors in (1, 4, 6, 24):
        found = count_neighbors(kernel, [n_neighbors])[0]
        np.testing.assert_array_equal(found.count_new(gaussian_kernel(rows.copy(), rows, sigma=1.0)), found.counts)


def test_new_samples_fall_into_the_neighborhoods_they_are_near_enough_for():
    similarity = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.5], [0.2, 0.5, 1.0]])
    found = count_neighbors(similarity, [1])[0]
    np.testing.assert_array_equal(found.thresholds, [0.9, 0.9, 0.5])
    new = np.array([[0.95, 0.1, 0.1], [0.91, 0.92, 0.6], [0.0, 0.0, 0.0], [0.3, 0.2, 1.0]])
    np.testing.assert_array_equal(found.count_new(new), [1, 3, 0, found.counts[2]])


@pytest.mark.parametrize(
    ("neighborhood", "n_samples", "expected"),
    [
        (0.5, 5, 3),
        (0.1, 15, 2),
        (0.3, 5, 2),
        (0.25, 10, 3),
        (0.001, 10, 1),
        (1.0, 10, 9),
        (1, 10, 1),
        (3, 10, 3),
        (100, 10, 9),
        (np.int64(4), 10, 4),
        (np.float32(0.5), 5, 3),
        (0.5, 2, 1),
    ],
)
def test_neighborhood_size_rounds_halves_up(neighborhood, n_samples, expected):
    assert neighborhood_size(neighborhood, n_samples) == expected


def sample_neighborhoods(features, n_neighbors, n_columns):
    n_samples = len(features[0])
    samples, references = draw_samples(n_samples, n_columns)
    closeness = (one[references] @ one[samples].T for one in features)
    thresholds = sampled_thresholds(samples, references, closeness, n_samples, [n_neighbors], len(features))
    return SampledNeighborhoods(samples, thresholds, n_samples)


def test_sampled_counts_are_within_their_bound(seed):
    rng = np.random.default_rng(seed)
    features = [rng.standard_normal((3000, 6)) for _ in range(2)]
    features = [one / np.linalg.norm(one, axis=1, keepdims=True) for one in features]
    sampled = sample_neighborhoods(features, 900, 400)
    for start in range(0, 3000, 700):
        rows = slice(start, min(start + 700, 3000))
        sampled.count(rows, [one[rows] @ one[sampled.samples].T for one in features])
    results = sampled.results()
    similarities = [one @ one.T for one in features]
    for (estimate,), similarity in zip(results, [*similarities, np.mean(similarities, axis=0)], strict=True):
        exact = count_neighbors(similarity, [900])[0].counts
        error = (estimate.counts - exact) / exact
        bound = estimate.relative_errors
        assert np.mean(np.abs(error) <= 2 * bound) > 0.93
        assert abs(error.mean()) < 0.02
        assert estimate.relative_errors.max() < 0.5


def test_all_neighborhoods_sampled_are_the_exact_counts():
    rng = np.random.default_rng(0)
    features = rng.standard_normal((200, 4))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    sampled = sample_neighborhoods([features], 20, 200)
    sampled.count(slice(0, 200), [features @ features.T])
    exact = count_neighbors(features @ features.T, [20])[0]
    assert not exact.relative_errors.any()
    for (estimate,) in sampled.results():
        np.testing.assert_allclose(estimate.counts, exact.counts)


def test_new_samples_are_counted_by_the_sampled_neighborhoods():
    rng = np.random.default_rng(0)
    features = rng.standard_normal((500, 4))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    sampled = sample_neighborhoods([features], 100, 60)
    similarity = features @ features[sampled.samples].T
    sampled.count(slice(0, 500), [similarity])
    (counts,) = sampled.results()[0]
    np.testing.assert_allclose(counts.count_new(similarity), counts.counts, rtol=1e-12)


def test_exact_counts_from_blocks_are_those_of_the_whole(monkeypatch):
    views = make_views(40, 3, n_views=2, n_features=4, random_state=0).views.arrays
    extensions = [KernelSimilarity("linear", method="factor").similarity(view, 3)[1] for view in views]
    monkeypatch.setattr(room, "CLOSENESS_ENTRIES", 40 * 9)
    known, blocks = room.count_by_closeness(views, extensions, [6])
    similarities = [one.closeness(view) for one, view in zip(known, views, strict=True)]
    for (found,), whole in zip(blocks, [*similarities, np.mean(similarities, axis=0)], strict=True):
        expected = count_neighbors(whole, [6])[0]
        np.testing.assert_array_equal(found.counts, expected.counts)
        np.testing.assert_allclose(found.thresholds, expected.thresholds, atol=1e-12)


@pytest.mark.parametrize(
    "partition", [GraphSimilarity(), GraphSimilarity(method="anchors"), KernelSimilarity("linear")]
)
def test_counts_by_closeness(partition, monkeypatch):
    """All neighborhoods are looked at in a small problem, some in a large one; new samples are counted by the same."""
    views = make_views(1200, 3, n_views=2, n_features=5, random_state=0).views.arrays
    extensions = [partition.similarity(view, 3)[1] for view in views]
    monkeypatch.setattr(room, "CLOSENESS_ENTRIES", 2**17)
    known, exact = room.count_by_closeness(views, extensions, [360])
    whole = [one.closeness(view) for one, view in zip(known, views, strict=True)]
    for (found,), closeness in zip(exact, [*whole, np.mean(whole, axis=0)], strict=True):
        np.testing.assert_array_equal(found.counts, count_neighbors(closeness, [360])[0].counts)
    known, sampled = room.count_by_closeness(views, extensions, [360], 300)
    for (estimate,), (expected,) in zip(sampled, exact, strict=True):
        error = np.abs(estimate.counts - expected.counts)
        assert np.mean(error <= 2 * estimate.relative_errors * np.maximum(1, estimate.counts)) > 0.9
        assert abs(np.mean(estimate.counts - expected.counts)) < 0.02 * 360
    for (estimate,), extension, view in zip(sampled[:2], known, views, strict=True):
        closeness = extension.closeness(view[100:200])
        assert closeness.shape == (100, 300)
        np.testing.assert_allclose(estimate.count_new(closeness), estimate.counts[100:200])


def test_several_sizes_are_counted_as_each_alone(xp):
    similarities = [similarity_matrix(seed, 50, 4) for seed in (0, 1)]
    sizes = (12, 3, 30)
    samples, references = draw_samples(50, 20)
    blocks = [slice(0, 30), slice(30, 50)]

    def whole(sizes):
        return [count_neighbors(one, sizes) for one in similarities]

    def sampled(sizes):
        def closeness(rows):
            return (xp.asarray(one[rows][:, samples]) for one in similarities)

        thresholds = sampled_thresholds(samples, references, closeness(references), 50, sizes, 2)
        neighborhoods = SampledNeighborhoods(samples, thresholds, 50)
        for rows in blocks:
            neighborhoods.count(rows, closeness(rows))
        return neighborhoods.results()

    for counted in (whole, sampled):
        alone = [[one for (one,) in counted([size])] for size in sizes]
        for several, *separate in zip(counted(sizes), *alone, strict=True):
            for one, expected in zip(several, separate, strict=True):
                np.testing.assert_array_equal(to_numpy(one.counts), to_numpy(expected.counts))
                np.testing.assert_array_equal(to_numpy(one.thresholds), to_numpy(expected.thresholds))
        assert to_numpy(several[1].counts).sum() < to_numpy(several[0].counts).sum() < to_numpy(several[2].counts).sum()


@pytest.mark.parametrize("n_columns", [None, 80])
def test_several_sizes_by_closeness(n_columns):
    views = make_views(150, 3, n_views=2, n_features=5, random_state=0).views.arrays
    extensions = [
        GraphSimilarity().similarity(views[0], 3)[1],
        GraphSimilarity(method="anchors").similarity(views[1], 3)[1],
    ]
    _, several = room.count_by_closeness(views, extensions, (20, 60), n_columns)
    for position, size in enumerate((20, 60)):
        _, alone = room.count_by_closeness(views, extensions, [size], n_columns)
        for one, (expected,) in zip(several, alone, strict=True):
            np.testing.assert_array_equal(one[position].counts, expected.counts)
