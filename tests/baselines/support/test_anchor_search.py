"""Anchors of a view, and the nearest of them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from scipy.spatial.distance import cdist

from latefusion.arrays import memory
from latefusion.baselines.support import anchor_search
from latefusion.baselines.support.anchor_search import (
    AnchorGroups,
    NearestAnchors,
    anchor_affinity,
    draw_anchors,
    group_anchors,
    nearest_anchors,
    search_all,
    search_groups,
)


def points(seed, n_samples=300, width=3):
    return np.random.default_rng(seed).standard_normal((n_samples, width))


def test_all_pairs_give_the_nearest_anchors_also_in_blocks(seed, monkeypatch):
    rows, anchors = points(seed), points(seed + 5, 40)
    distances = cdist(rows, anchors, "sqeuclidean")
    expected = np.argsort(distances, axis=1)[:, :5]
    for entries in (2**21, 40 * 7):
        monkeypatch.setattr(anchor_search, "BLOCK_ENTRIES", entries)
        for given in (rows, scipy.sparse.csr_array(rows)):
            found = search_all(given, anchors, 5)
            np.testing.assert_array_equal(found.indices, expected)
            np.testing.assert_allclose(found.squared, np.take_along_axis(distances, expected, axis=1), atol=1e-12)


def test_grouped_search_is_exact_where_candidates_are_all_anchors(seed):
    rows, anchors = points(seed), points(seed + 5, 40)
    groups = group_anchors(anchors, np.random.RandomState(seed))
    assert set(groups.labels) == set(range(6))
    found, expected = search_groups(rows, anchors, groups, 4), search_all(rows, anchors, 4)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.squared, expected.squared, atol=1e-12)


def test_grouped_search_is_nearly_exact_and_never_nearer(seed):
    rows, anchors = points(seed, 3000), points(seed + 5, 400)
    groups = group_anchors(anchors, np.random.RandomState(seed))
    for given in (rows, scipy.sparse.csr_array(rows)):
        found, expected = search_groups(given, anchors, groups, 3), search_all(rows, anchors, 3)
        assert 0 < np.mean(np.any(found.indices != expected.indices, axis=1)) < 0.1
        assert np.all(found.squared >= expected.squared - 1e-12)
        distances = cdist(rows, anchors, "sqeuclidean")
        np.testing.assert_allclose(found.squared, np.take_along_axis(distances, found.indices, axis=1), atol=1e-12)


def test_a_group_of_one_anchor_and_unused_anchors(seed):
    rows = points(seed)
    anchors = np.concatenate([points(seed + 5, 5), [[90.0, 0.0, 0.0]]])
    groups = AnchorGroups(np.array([0, 0, 0, 0, 0, 1]), np.stack([anchors[:5].mean(axis=0), anchors[5]]))
    np.testing.assert_array_equal(search_groups(rows, anchors, groups, 2).indices, search_all(rows, anchors, 2).indices)


def test_search_depends_on_the_number_of_pairs_and_not_on_the_origin(seed, monkeypatch):
    rows, anchors = points(seed), points(seed + 5, 60)
    exact = search_all(rows, anchors, 3)
    near = nearest_anchors(rows + 1e6, anchors + 1e6, 3, np.random.RandomState(0))
    np.testing.assert_array_equal(near.indices, exact.indices)
    np.testing.assert_allclose(near.squared, exact.squared, atol=1e-8)
    monkeypatch.setattr(anchor_search, "EXACT_PAIRS", 300 * 60 - 1)
    monkeypatch.setattr(anchor_search, "CANDIDATES", 1)
    grouped = nearest_anchors(rows, anchors, 3, np.random.RandomState(0))
    middle = anchors.mean(axis=0)
    groups = group_anchors(anchors - middle, np.random.RandomState(0))
    expected = search_groups(rows - middle, anchors - middle, groups, 3)
    np.testing.assert_array_equal(grouped.indices, expected.indices)
    assert np.any(grouped.indices != exact.indices)


def test_affinities_are_gaussians_of_the_mean_distance(seed):
    rows, anchors = points(seed), points(seed + 5, 40)
    near = search_all(rows, anchors, 4)
    affinity = anchor_affinity(near, 40).toarray()
    assert np.all(np.count_nonzero(affinity, axis=1) == 4)
    np.testing.assert_allclose(np.linalg.norm(affinity, axis=1), 1.0)
    sigma = np.sqrt(near.squared).mean()
    raw = np.exp(-(cdist(rows, anchors) ** 2) / (2 * sigma**2))
    ratio = affinity / raw
    for row, columns in enumerate(near.indices):
        np.testing.assert_allclose(ratio[row, columns], ratio[row, columns[0]])


def test_cosine_affinities_are_cosines_and_never_zero(seed):
    rows, anchors = (one / np.linalg.norm(one, axis=1, keepdims=True) for one in (points(seed), points(seed + 5, 40)))
    near = search_all(rows, anchors, 3)
    affinity = anchor_affinity(near, 40, "cosine").toarray()
    cosines = np.take_along_axis(rows @ anchors.T, near.indices, axis=1)
    expected = cosines / np.linalg.norm(cosines, axis=1, keepdims=True)
    np.testing.assert_allclose(np.take_along_axis(affinity, near.indices, axis=1), expected, atol=1e-10)
    opposite = anchor_affinity(NearestAnchors(np.array([[0, 1]]), np.array([[3.0, 4.0]])), 2, "cosine").toarray()
    np.testing.assert_array_equal(opposite, np.finfo(float).eps)


def test_coinciding_samples_and_outliers_have_finite_affinities():
    zero = anchor_affinity(NearestAnchors(np.zeros((3, 1), dtype=np.intp), np.zeros((3, 1))), 1).toarray()
    np.testing.assert_allclose(zero, 1.0)
    far = np.full((100, 1), 1e-6)
    far[0] = 1e6
    affinity = anchor_affinity(NearestAnchors(np.zeros((100, 1), dtype=np.intp), far), 1).toarray()
    assert 0 < affinity[0, 0] < 1e-9
    np.testing.assert_allclose(affinity[1:], 1.0)


def test_anchors_are_the_samples_where_these_are_few(seed):
    rows = points(seed, 30)
    np.testing.assert_array_equal(draw_anchors(rows, 30, np.random.RandomState(0)), rows)
    np.testing.assert_array_equal(draw_anchors(scipy.sparse.csr_array(rows), 50, np.random.RandomState(0)), rows)


def test_anchors_are_centers(seed):
    rows = points(seed, 400)
    anchors = draw_anchors(rows, 20, np.random.RandomState(seed))
    assert anchors.shape == (20, 3)
    chosen = rows[np.random.default_rng(seed).choice(400, 20, replace=False)]
    assert cdist(rows, anchors).min(axis=1).mean() < cdist(rows, chosen).min(axis=1).mean()
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(
        np.linalg.norm(draw_anchors(unit, 20, np.random.RandomState(seed), unit=True), axis=1), 1.0
    )


def test_wide_anchors_need_memory(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda like=None: 1000)
    with pytest.raises(MemoryError, match="smaller n_anchors"):
        draw_anchors(points(0), 50, np.random.RandomState(0))
