"""Neighbour counts against a naive stable sort, and their extension to new samples."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from latefusion.kernels import KERNELS, fit_kernel, gaussian_kernel, standardize_kernel
from latefusion.partitions import count_neighbors, neighborhood_size
from latefusion.partitions.neighborhoods import SampledNeighborhoods

seeds = st.integers(0, 2**32 - 1)


def naive_counts(similarity, n_neighbors):
    """Sort every row, nearest first and ties by index; the sample itself is nobody's neighbour."""
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


@settings(max_examples=80, deadline=None)
@given(seed=seeds, n=st.integers(2, 25), share=st.floats(0.01, 1.0), levels=st.sampled_from([0, 1, 2, 5]))
def test_counts_are_those_of_a_stable_sort(seed, n, share, levels):
    similarity = similarity_matrix(seed, n, levels)
    n_neighbors = neighborhood_size(share, n)
    found = count_neighbors(similarity, n_neighbors)
    np.testing.assert_array_equal(found.counts, naive_counts(similarity, n_neighbors))
    assert found.counts.sum() == n * n_neighbors
    np.fill_diagonal(similarity, -np.inf)
    np.testing.assert_array_equal(found.thresholds, np.sort(similarity, axis=1)[:, -n_neighbors])


def test_blocks_of_rows_change_nothing(monkeypatch):
    similarity = similarity_matrix(0, 23, 3)
    expected = count_neighbors(similarity, 5)
    monkeypatch.setattr("latefusion.partitions.neighborhoods.BLOCK_ENTRIES", 23 * 4)
    found = count_neighbors(similarity, 5)
    np.testing.assert_array_equal(found.counts, expected.counts)
    np.testing.assert_array_equal(found.thresholds, expected.thresholds)


def test_the_matrix_is_not_touched():
    similarity = similarity_matrix(0, 10, 0)
    similarity.setflags(write=False)
    assert count_neighbors(similarity, 9).counts.tolist() == [9] * 10


@pytest.mark.parametrize("problem", ["synth", "digits"])
def test_golden_counts(golden, problem):
    """Exact, the ties of view 6 of the digits included."""
    kernels, stored = golden(f"problem_{problem}")["K"], golden(f"lfmvc_lam_fixed_{problem}")
    for number, share in enumerate(stored["taus"], start=1):
        n_neighbors = neighborhood_size(float(share), len(kernels[0]))
        assert n_neighbors == stored[f"t{number}_neighbours"].item()
        for kernel, expected in zip(kernels, stored[f"t{number}_counts"], strict=True):
            np.testing.assert_array_equal(count_neighbors(kernel, n_neighbors).counts, expected)
        found = count_neighbors(np.mean(kernels, axis=0), n_neighbors)
        np.testing.assert_array_equal(found.counts, stored[f"t{number}_counts0"].ravel())


@pytest.mark.parametrize("name", sorted(KERNELS))
@settings(max_examples=15, deadline=None)
@given(seed=seeds, n=st.integers(3, 25), n_neighbors=st.integers(1, 24), single=st.booleans())
def test_training_samples_get_their_counts_back(name, seed, n, n_neighbors, single):
    """From every kernel, the indefinite one included, whose similarities may exceed one."""
    rows = np.random.default_rng(seed).standard_normal((n, 3)).astype(np.float32 if single else np.float64)
    fitted = fit_kernel(name, rows)
    kernel, statistics = standardize_kernel(fitted(rows))
    assume(np.all(statistics.inverse_root > 0))
    found = count_neighbors(kernel, min(n_neighbors, n - 1))
    again = statistics.apply(fitted(rows.copy(), rows), fitted.diagonal(rows))
    np.testing.assert_array_equal(found.count_new(again), found.counts)


def test_training_samples_get_their_counts_back_in_spite_of_ties():
    rows = np.array([[i, j] for i in range(5) for j in range(5)], dtype=float)
    kernel = gaussian_kernel(rows)
    for n_neighbors in (1, 4, 6, 24):
        found = count_neighbors(kernel, n_neighbors)
        np.testing.assert_array_equal(found.count_new(gaussian_kernel(rows.copy(), rows, sigma=1.0)), found.counts)


def test_new_samples_fall_into_the_neighbourhoods_they_are_near_enough_for():
    similarity = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.5], [0.2, 0.5, 1.0]])
    found = count_neighbors(similarity, 1)
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
def test_neighbourhood_size_rounds_halves_up(neighborhood, n_samples, expected):
    assert neighborhood_size(neighborhood, n_samples) == expected


def test_sampled_counts_lie_within_their_bound(seed):
    rng = np.random.default_rng(seed)
    features = [rng.standard_normal((3000, 6)) for _ in range(2)]
    features = [one / np.linalg.norm(one, axis=1, keepdims=True) for one in features]
    sampled = SampledNeighborhoods.draw(lambda rows: [one[rows] for one in features], 3000, 900, 400, seed=seed)
    for start in range(0, 3000, 700):
        rows = slice(start, min(start + 700, 3000))
        sampled.count(rows, [one[rows] for one in features])
    results = sampled.results()
    similarities = [one @ one.T for one in features]
    for estimate, similarity in zip(results, [*similarities, np.mean(similarities, axis=0)], strict=True):
        exact = count_neighbors(similarity, 900).counts
        error = (estimate.counts - exact) / exact
        bound = estimate.relative_errors
        assert np.mean(np.abs(error) <= 2 * bound) > 0.93
        assert abs(error.mean()) < 0.02
        assert estimate.relative_errors.max() < 0.5


def test_all_neighbourhoods_sampled_are_the_exact_counts():
    rng = np.random.default_rng(0)
    features = rng.standard_normal((200, 4))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    sampled = SampledNeighborhoods.draw(lambda rows: [features[rows]], 200, 20, 200)
    sampled.count(slice(0, 200), [features])
    exact = count_neighbors(features @ features.T, 20)
    assert not exact.relative_errors.any()
    for estimate in sampled.results():
        np.testing.assert_allclose(estimate.counts, exact.counts)


def test_new_samples_are_counted_by_the_sampled_neighbourhoods():
    rng = np.random.default_rng(0)
    features = rng.standard_normal((500, 4))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    sampled = SampledNeighborhoods.draw(lambda rows: [features[rows]], 500, 100, 60)
    sampled.count(slice(0, 500), [features])
    counts = sampled.results()[0]
    np.testing.assert_allclose(counts.count_new(features @ sampled.columns[0].T), counts.counts, rtol=1e-12)


def test_several_sizes_are_counted_as_each_alone():
    generator = np.random.default_rng(0)
    similarity = similarity_matrix(0, 30, 0)
    for one, size in zip(count_neighbors(similarity, (3, 8)), (3, 8), strict=True):
        np.testing.assert_array_equal(one.counts, count_neighbors(similarity, size).counts)
    rows = [generator.standard_normal((50, 4)), generator.standard_normal((50, 3))]

    def counted(sizes):
        neighborhoods = SampledNeighborhoods.draw(lambda samples: [part[samples] for part in rows], 50, sizes, 20)
        neighborhoods.count(slice(0, 50), rows)
        return neighborhoods.results()

    for several, first, second in zip(counted([5, 12]), counted(5), counted(12), strict=True):
        for one, alone in zip(several, (first, second), strict=True):
            np.testing.assert_array_equal(one.counts, alone.counts)
            np.testing.assert_array_equal(one.thresholds, alone.thresholds)
