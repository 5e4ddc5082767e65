"""What the similarities of a view work on: scaled features, points behind a kernel, all views side by side."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import euclidean_distances

from latefusion.encoding import column_statistics, fit_preparation
from latefusion.encoding.preparation import DIRECTED
from latefusion.kernels import gaussian_kernel, linear_kernel, standardize_kernel
from latefusion.partitions.partitions import Block
from latefusion.partitions.sources import (
    count_samples,
    feature_source,
    joint_source,
    kernel_source,
    known_samples,
    mask_zero_rows,
    observed_mask,
    take_samples,
    without_view,
)
from latefusion.partitions.spectra import fit_spectrum
from latefusion.similarities import GraphSimilarity, KernelSimilarity, PrecomputedSimilarity

RNG = np.random.default_rng(0)
POINTS = RNG.standard_normal((30, 4))
MEASURED = RNG.standard_normal((30, 3)) * [1, 100, 10_000]
COUNTS = sp.csr_array(RNG.poisson(0.3, (30, 40)).astype(float))
SIMILARITIES = {"graph 5": GraphSimilarity(5), "kernel": KernelSimilarity()}
OF_KERNEL = {"graph 5": GraphSimilarity(5), "kernel": PrecomputedSimilarity()}
KERNEL = linear_kernel(POINTS + 1.0)
DIAGONAL = np.diagonal(KERNEL)


def block_of(source, name, n_components=3):
    spectrum = fit_spectrum(source.training(name), source.similarities[name], n_components, 2)
    return Block(0, name, source.encoding_of(name), spectrum.extension, spectrum.projection), spectrum.vectors


def mean_squared(points):
    return euclidean_distances(points, squared=True).mean()


def test_features_are_scaled_once_for_all_similarities():
    source = feature_source(MEASURED, SIMILARITIES)
    np.testing.assert_array_equal(source.coordinates, fit_preparation(column_statistics(MEASURED))(MEASURED))
    assert source.kind == "measurements"
    assert all(source.training(name) is source.coordinates for name in SIMILARITIES)


@pytest.mark.parametrize("view", [POINTS, MEASURED, COUNTS], ids=["coordinates", "measurements", "counts"])
def test_training_features_come_back_to_their_place_and_row(view):
    source = feature_source(view, SIMILARITIES)
    gap = source.encoding(view) - source.coordinates
    assert np.abs(gap).max() == 0
    for name in SIMILARITIES:
        block, vectors = block_of(source, name)
        np.testing.assert_allclose(block.rows(block.encoding(view)), vectors, atol=1e-8)


def test_some_samples_keep_the_scaling_of_all():
    source = feature_source(MEASURED, SIMILARITIES)
    part = source.take(np.array([3, 1, 20]))
    np.testing.assert_array_equal(part.coordinates, source.coordinates[[3, 1, 20]])
    assert part.encoding is source.encoding


def test_points_behind_a_kernel_have_its_inner_products():
    source = kernel_source(KERNEL, OF_KERNEL)
    np.testing.assert_allclose(source.coordinates @ source.coordinates.T, standardize_kernel(KERNEL)[0], atol=1e-8)
    assert source.kind == "kernel"
    assert source.training("kernel") is KERNEL
    np.testing.assert_array_equal(source.training("graph 5"), source.coordinates)


def test_an_indefinite_kernel_has_the_points_of_its_positive_part():
    kernel = np.tanh(KERNEL - 1)
    standardized = standardize_kernel(kernel)[0]
    values, vectors = np.linalg.eigh(standardized)
    assert values[0] < -0.1
    points = kernel_source(kernel, OF_KERNEL).coordinates
    np.testing.assert_allclose(points @ points.T, (vectors * np.maximum(values, 0)) @ vectors.T, atol=1e-8)


def test_training_samples_of_a_kernel_come_back_to_their_place_and_row():
    source = kernel_source(KERNEL, OF_KERNEL)
    np.testing.assert_allclose(source.encoding(KERNEL, DIAGONAL), source.coordinates, atol=1e-8)
    for name in OF_KERNEL:
        block, vectors = block_of(source, name)
        np.testing.assert_allclose(block.rows(block.encoding(KERNEL, DIAGONAL), DIAGONAL), vectors, atol=1e-7)


def test_new_samples_of_a_kernel_keep_their_similarities_to_training_samples():
    gram = gaussian_kernel(POINTS)
    source = kernel_source(gram[:20, :20], OF_KERNEL)
    placed = source.encoding(gram[20:, :20])
    _, statistics = standardize_kernel(gram[:20, :20])
    expected = statistics.apply(gram[20:, :20], np.ones(10))
    np.testing.assert_allclose(placed @ source.coordinates.T, expected, atol=1e-6)


def test_some_samples_of_a_kernel_keep_their_places():
    rows = np.array([4, 0, 9, 17, 22])
    whole = kernel_source(KERNEL, OF_KERNEL)
    part = whole.take(rows)
    np.testing.assert_array_equal(part.kernel, KERNEL[np.ix_(rows, rows)])
    np.testing.assert_array_equal(part.coordinates, whole.coordinates[rows])


@pytest.mark.parametrize("name", ["graph 5", "kernel"])
@pytest.mark.parametrize("of_kernel", [True, False])
def test_crossing_to_other_samples_is_what_new_samples_get(name, of_kernel):
    seen, unseen = np.arange(0, 30, 2), np.arange(1, 30, 2)
    if of_kernel:
        whole = kernel_source(KERNEL, {"graph 5": GraphSimilarity(5), "kernel": PrecomputedSimilarity()})
    else:
        whole = feature_source(POINTS, {"graph 5": GraphSimilarity(5), "kernel": KernelSimilarity()})
    part = whole.take(seen)
    block, vectors = block_of(part, name, 4)
    # A sample that has been seen gets its own row back, one that has not gets a row of its own.
    np.testing.assert_allclose(whole.cross(block, seen, seen), vectors, atol=1e-7)
    assert whole.cross(block, seen, unseen).shape == (15, 4)


def joint_of(views, shares=None):
    sources = [feature_source(view, SIMILARITIES) for view in views]
    return joint_source(sources, SIMILARITIES, np.ones(len(views)) if shares is None else shares)


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_joint_distances_are_sums_of_distances_of_mean_one(offset):
    shares = np.array([1.0, 0.25])
    joint = joint_of([POINTS + offset * np.array([1, -1, 1, -1]), MEASURED], shares)
    parts = [
        euclidean_distances(view, squared=True)
        for view in (POINTS, fit_preparation(column_statistics(MEASURED))(MEASURED))
    ]
    expected = sum(share * part / part.mean() for share, part in zip(shares, parts, strict=True))
    centered = joint.coordinates - joint.coordinates.mean(axis=0)
    np.testing.assert_allclose(euclidean_distances(centered, squared=True), expected, atol=1e-5)
    assert mean_squared(centered) == pytest.approx(1.25)


def test_joint_scaling_is_exact_in_single_precision():
    views = [(POINTS + 1e3 * np.array([1, -1, 1, -1])).astype(np.float32), MEASURED.astype(np.float32)]
    joint = joint_of(views)
    assert joint.coordinates.dtype == np.float32
    assert mean_squared(joint.coordinates - joint.coordinates.mean(axis=0)) == pytest.approx(2.0, rel=1e-2)


def test_a_sparse_view_keeps_all_views_sparse():
    joint = joint_of([POINTS, COUNTS])
    assert sp.issparse(joint.coordinates)
    np.testing.assert_allclose(
        joint.coordinates.toarray(), joint_of([POINTS, COUNTS.toarray()]).coordinates, atol=1e-12
    )
    wide = sp.csr_array((np.ones(60), (np.arange(60) % 30, np.arange(60) * 10**4)), shape=(30, 6 * 10**5))
    assert joint_of([POINTS, wide]).coordinates.nnz == POINTS.size + 60


def test_training_samples_come_back_to_their_joint_place():
    sources = [
        feature_source(MEASURED, SIMILARITIES),
        kernel_source(KERNEL, OF_KERNEL),
        feature_source(COUNTS, SIMILARITIES),
    ]
    joint = joint_source(sources, SIMILARITIES, np.ones(3))
    placed = joint.encoding([MEASURED, KERNEL, COUNTS], [None, DIAGONAL, None])
    assert sp.issparse(placed)
    np.testing.assert_allclose(placed.toarray(), joint.coordinates.toarray(), atol=1e-8)
    assert joint.training("kernel") is joint.coordinates
    assert joint.kind == "joint"


def test_a_view_without_any_distance_is_passed_over():
    joint = joint_of([POINTS, np.ones((30, 2))])
    assert joint.encoding.scales[1] == 0
    assert mean_squared(joint.coordinates) == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["features", "kernel"])
def test_a_partial_source_is_that_of_the_samples_it_has(kind):
    generator = np.random.default_rng(1)
    view, observed = generator.standard_normal((50, 4)), np.arange(50) % 3 > 0
    own = np.flatnonzero(observed)
    if kind == "features":
        inner = feature_source(view[own], {"kernel": KernelSimilarity()})
    else:
        inner = kernel_source(gaussian_kernel(view[own]), {"kernel": PrecomputedSimilarity()})
    source = replace(inner, observed=observed)
    chosen = np.array([0, 1, 2, 7, 8, 9, 30, 31, 44])
    part = source.take(chosen)
    np.testing.assert_array_equal(part.observed, observed[chosen])
    among = np.flatnonzero(np.isin(own, chosen))
    np.testing.assert_array_equal(part.training("kernel"), inner.take(among).training("kernel"))
    seen, unseen = np.arange(0, 50, 2), np.arange(1, 50, 2)
    block, _ = block_of(source.take(seen), "kernel")
    rows = source.cross(block, seen, unseen)
    assert not rows[~observed[unseen]].any()
    here, there = (np.flatnonzero(np.isin(own, one)) for one in (seen, unseen))
    np.testing.assert_allclose(rows[observed[unseen]], inner.cross(block, here, there))
    assert count_samples([source]) == len(own)
    assert count_samples([source, replace(inner, observed=~observed)]) == 50
    np.testing.assert_array_equal(observed_mask([source])[:, 0], observed)
    assert observed_mask([inner]) is None


@pytest.mark.parametrize("kind", ["features", "kernel"])
def test_new_samples_meet_those_that_have_the_view(kind):
    """A kernel of new samples has a column for every training sample, also for those that lack the view."""
    generator = np.random.default_rng(1)
    view, new, observed = generator.standard_normal((50, 4)), generator.standard_normal((6, 4)), np.arange(50) % 3 > 0
    if kind == "features":
        inner, source = (feature_source(view[observed], SIMILARITIES, one) for one in (None, observed))
        given = known = new
    else:
        inner, source = (kernel_source(linear_kernel(view[observed]), OF_KERNEL, one) for one in (None, observed))
        given, known = new @ view.T, new @ view[observed].T
    diagonal = np.sum(new**2, axis=1)
    np.testing.assert_allclose(source.encoding(given, diagonal), inner.encoding(known, diagonal), atol=1e-12)
    (block, _), (expected, _) = (block_of(one, "kernel") for one in (source, inner))
    np.testing.assert_allclose(
        block.rows(block.encoding(given), diagonal), expected.rows(expected.encoding(known), diagonal), atol=1e-12
    )


def test_without_a_view_samples_with_another_view_remain():
    views = [RNG.normal(size=(8, 3)), RNG.normal(size=(8, 2))]
    first, second = np.arange(8) < 6, np.arange(8) > 1
    sources = [feature_source(view[seen], {}, seen) for view, seen in zip(views, (first, second), strict=True)]
    rest, kept = without_view(sources, 1)
    np.testing.assert_array_equal(kept, np.flatnonzero(first))
    assert [one.observed for one in rest] == [None]  # all of them have it
    np.testing.assert_array_equal(rest[0].coordinates, sources[0].coordinates)
    both = take_samples(sources, np.array([1, 3]))
    assert both[0].observed is None
    np.testing.assert_array_equal(both[1].observed, [False, True])
    complete = [replace(one, observed=None) for one in sources]
    assert without_view(complete, 0)[0][0] is complete[1]


def test_rows_of_zeros_are_missing_where_directions_are_compared():
    counts = COUNTS.toarray()
    counts[[4, 9]] = 0.0
    seen = np.arange(30) > 5
    sources = [
        feature_source(counts, SIMILARITIES),
        feature_source(counts[seen], SIMILARITIES, seen),
        feature_source(np.where(seen[:, None], MEASURED, 0.0), SIMILARITIES),
        kernel_source(KERNEL, OF_KERNEL),
    ]
    mask = observed_mask(sources)
    heard, directed = mask_zero_rows(sources, mask, DIRECTED)
    filled = (counts != 0).any(axis=1)
    assert directed.tolist() == [True, True, False, False]
    np.testing.assert_array_equal(heard[:, 0], filled)
    np.testing.assert_array_equal(heard[:, 1], filled & seen)
    assert heard[:, 2:].all()
    np.testing.assert_array_equal(mask, observed_mask(sources))  # not written into


def test_views_without_rows_of_zeros_lose_none():
    view = COUNTS[(COUNTS != 0).sum(axis=1) > 0]
    mask, directed = mask_zero_rows(
        [feature_source(view, SIMILARITIES)], np.ones((view.shape[0], 1), dtype=bool), DIRECTED
    )
    assert mask.all()
    assert directed.all()


def test_rows_of_zeros_stay_where_all_others_coincide():
    view = np.zeros((12, 8))
    view[:7, :3] = 1.0
    sources = [feature_source(view, SIMILARITIES)]
    assert sources[0].kind == "counts"
    mask, directed = mask_zero_rows(sources, np.ones((12, 1), dtype=bool), DIRECTED)
    assert mask.all()
    assert not directed.any()


def test_rows_of_zeros_stay_in_views_of_other_kinds():
    mask, directed = mask_zero_rows(
        [feature_source(COUNTS, SIMILARITIES)], np.ones((COUNTS.shape[0], 1), dtype=bool), ("distribution",)
    )
    assert mask.all()
    assert not directed.any()


def test_samples_are_known_by_any_view():
    mask = np.array([[True, False], [False, True], [False, False]])
    assert known_samples(mask).tolist() == [True, True, False]
    assert known_samples(mask[:2]) is None
    assert known_samples(None) is None
