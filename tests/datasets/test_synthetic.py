"""Planted views: what every knob promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from sklearn.cluster import KMeans

from latefusion.datasets import make_views
from latefusion.metrics import adjusted_rand
from tests.properties import examples


def kmeans(array, n_clusters):
    return KMeans(n_clusters, n_init=5, random_state=0).fit_predict(array)


def centers_of(dataset, view):
    array = dataset.views.arrays[view]
    return np.stack([array[dataset.target == cluster].mean(axis=0) for cluster in np.unique(dataset.target)])


def same_arrays(one, other):
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one.arrays, other.arrays, strict=True))


def test_defaults():
    dataset = make_views(random_state=0)
    assert dataset.views.shape == (300, 30)
    assert dataset.views.names == ("view_0", "view_1", "view_2")
    assert dataset.views.mask is None
    assert np.bincount(dataset.target).tolist() == [100, 100, 100]


def test_one_seed_one_data_set():
    one, two, other = (make_views(missing=0.3, random_state=seed) for seed in (5, 5, 6))
    assert same_arrays(one.views, two.views)
    np.testing.assert_array_equal(one.target, two.target)
    np.testing.assert_array_equal(one.views.mask, two.views.mask)
    assert not same_arrays(one.views, other.views)


def test_a_random_state_object_moves_on():
    state = np.random.RandomState(0)
    assert not same_arrays(make_views(random_state=state).views, make_views(random_state=state).views)


def test_samples_are_shuffled():
    assert np.count_nonzero(np.diff(make_views(random_state=0).target)) > 100


@pytest.mark.parametrize("n_features", [2, 4, 25])
def test_clusters_are_found_in_every_view_at_low_noise(seed, n_features):
    dataset = make_views(200, 4, n_features=n_features, noise=0.2, random_state=seed)
    for array in dataset.views.arrays:
        assert adjusted_rand(dataset.target, kmeans(array, 4)) > 0.99


@examples(60)
@given(st.integers(2, 8), st.integers(1, 12), st.floats(0.1, 50), st.integers(0, 2**32 - 1))
def test_nearest_centers_are_the_separation_apart(n_clusters, n_features, separation, seed):
    dataset = make_views(
        2 * n_clusters, n_clusters, n_features=n_features, noise=0, separation=separation, random_state=seed
    )
    for view in range(3):
        distances = pdist(centers_of(dataset, view))
        assert distances.min() == pytest.approx(separation)
        if n_features >= n_clusters:
            np.testing.assert_allclose(distances, separation)


def test_noise_is_the_standard_deviation_around_the_centers():
    dataset = make_views(4000, n_views=2, noise=[0.5, 2.0], random_state=0)
    for view, noise in enumerate([0.5, 2.0]):
        rest = dataset.views.arrays[view] - centers_of(dataset, view)[dataset.target]
        assert rest.std() == pytest.approx(noise, rel=0.02)


def test_views_together_show_more_than_one_alone():
    dataset = make_views(600, 4, n_views=4, separation=3.0, random_state=0)
    alone = [adjusted_rand(dataset.target, kmeans(array, 4)) for array in dataset.views.arrays]
    joined = adjusted_rand(dataset.target, kmeans(np.hstack(dataset.views.arrays), 4))
    assert joined > max(alone) + 0.1


def test_uninformative_views_show_nothing_and_change_nothing():
    plain = make_views(500, random_state=3)
    padded = make_views(500, n_uninformative=2, random_state=3)
    assert padded.views.names[-2:] == ("noise_0", "noise_1")
    assert same_arrays(plain.views, type(plain.views)(padded.views.arrays[:3]))
    for array in padded.views.arrays[-2:]:
        assert abs(adjusted_rand(padded.target, kmeans(array, 3))) < 0.05
        assert array.std() == pytest.approx(1, rel=0.05)


def test_widths_one_by_one():
    dataset = make_views(50, n_views=2, n_features=[3, 7, 2], n_uninformative=1, random_state=0)
    assert dataset.views.widths == (3, 7, 2)


@pytest.mark.parametrize(("n_clusters", "n_views"), [(3, 2), (4, 2), (5, 3), (3, 4), (6, 2)])
def test_complementary_views_show_all_clusters_only_together(n_clusters, n_views):
    dataset = make_views(30 * n_clusters, n_clusters, n_views=n_views, noise=0.2, complementary=True, random_state=0)
    together = np.zeros((n_clusters, n_clusters), dtype=bool)
    for view in range(n_views):
        centers = centers_of(dataset, view)
        apart = np.linalg.norm(centers[:, None] - centers, axis=-1) > 1
        assert 0 < apart.sum() < n_clusters * (n_clusters - 1)
        together |= apart
    np.testing.assert_array_equal(together, ~np.eye(n_clusters, dtype=bool))
    assert adjusted_rand(dataset.target, kmeans(np.hstack(dataset.views.arrays), n_clusters)) > 0.99


@pytest.mark.parametrize(
    ("n_samples", "balance", "sizes"),
    [
        (10, None, [4, 3, 3]),
        (100, [0.7, 0.2, 0.1], [70, 20, 10]),
        (10, [0.55, 0.25, 0.2], [6, 2, 2]),
        (3, None, [1, 1, 1]),
    ],
)
def test_cluster_sizes(n_samples, balance, sizes):
    assert np.bincount(make_views(n_samples, balance=balance, random_state=0).target).tolist() == sizes


@examples(60)
@given(st.integers(4, 60), st.integers(2, 5), st.floats(0, 1), st.integers(0, 2), st.integers(0, 2**32 - 1))
def test_missing_rows(n_samples, n_views, share, n_uninformative, seed):
    total = n_views + n_uninformative
    # The largest fraction that leaves every sample a view, less a sample for rounding.
    missing = share * max(0, 1 - 1 / total - 1.5 / n_samples)
    options = {"n_views": n_views, "n_uninformative": n_uninformative, "random_state": seed}
    full = make_views(n_samples, **options)
    views = make_views(n_samples, missing=missing, **options).views
    mask = np.ones((n_samples, total), dtype=bool) if views.mask is None else views.mask
    assert (~mask).sum(axis=0).tolist() == [int(missing * n_samples + 0.5)] * total
    assert mask.any(axis=1).all()
    for array, complete, observed in zip(views.arrays, full.views.arrays, mask.T, strict=True):
        assert np.isnan(array[~observed]).all()
        np.testing.assert_array_equal(array[observed], complete[observed])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 2}, "n_clusters=3 must be <= n_samples=2"),
        ({"n_samples": 0}, "n_samples must be an integer >= 1; got 0"),
        ({"n_clusters": 2.0}, "n_clusters must be an integer >= 1; got 2.0"),
        ({"n_views": 0}, "n_views must be an integer >= 1; got 0"),
        ({"n_uninformative": -1}, "n_uninformative must be an integer >= 0; got -1"),
        ({"n_features": [3, 4]}, r"n_features has 2 entries, but there are n_views \+ n_uninformative = 3 views"),
        ({"n_features": 0}, "n_features must be an integer >= 1; got 0"),
        ({"n_features": 2.5}, "n_features must be an integer >= 1; got 2.5"),
        ({"noise": -1.0}, "noise must be a finite number >= 0; got -1.0"),
        ({"noise": float("nan")}, "noise must be a finite number >= 0; got nan"),
        ({"noise": [1.0, 2.0]}, "noise has 2 entries, but there are n_views = 3 views"),
        ({"separation": -2}, "separation must be a finite number >= 0; got -2"),
        ({"separation": "wide"}, "separation must be a finite number >= 0; got 'wide'"),
        ({"balance": [0.5, 0.5]}, r"one proportion for each of n_clusters=3; got shape \(2,\)"),
        ({"balance": [0.5, 0.5, 0.5]}, "sum to 1.5. Divide them"),
        ({"balance": [1.5, -0.25, -0.25]}, "positive proportions"),
        (
            {"balance": [0.998, 0.001, 0.001]},
            "Cluster 1 with proportion 0.001 gets none of n_samples=300",
        ),
        ({"missing": 1.0}, "missing must be a fraction >= 0 and < 1; got 1.0"),
        ({"missing": -0.1}, "missing must be a fraction >= 0 and < 1; got -0.1"),
        ({"missing": 0.7}, "missing=0.7 removes 210 of 300 samples from each of 3 views.*allows 200"),
        ({"missing": 0.5, "n_views": 1}, "from each of 1 views"),
        ({"complementary": True, "n_clusters": 2}, "complementary=True requires n_clusters >= 3"),
        ({"complementary": True, "n_views": 1}, "got n_clusters=3 and n_views=1"),
    ],
)
def test_impossible_wishes_are_refused_with_a_reason(options, message):
    with pytest.raises(ValueError, match=message):
        make_views(**options)
