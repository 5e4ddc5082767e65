"""K-means with several starts: finds planted clusters, in every array library, and never does worse than its starts."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from latefusion.arrays import to_numpy
from latefusion.assignment import kmeans as room


def planted(n_samples=3000, n_clusters=5, noise=0.3, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    centers = 2 * np.linalg.qr(rng.standard_normal((n_clusters, n_clusters)))[0]
    target = rng.integers(n_clusters, size=n_samples)
    return (centers[target] + noise * rng.standard_normal((n_samples, n_clusters))).astype(dtype), target


def nearest_centers(rows, centers):
    return np.argmin(np.sum((rows[:, None] - to_numpy(centers)) ** 2, axis=2), axis=1)


def test_planted_clusters_in_every_namespace(xp, monkeypatch):
    monkeypatch.setattr(room, "SUBSET_ROWS", 500)
    monkeypatch.setattr(room, "SUBSET_ROWS_PER_CLUSTER", 10)
    rows, target = planted()
    found = room.kmeans(xp.asarray(rows), 5, n_init=4, generator=np.random.RandomState(0), xp=xp)
    assert adjusted_rand_score(target, nearest_centers(rows, found)) > 0.98


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_as_good_as_scikit_learn(seed, dtype):
    import array_api_compat.numpy as xnp

    rows, _ = planted(noise=0.9, seed=seed, dtype=dtype)
    found = room.kmeans(rows, 5, n_init=10, generator=np.random.RandomState(0), xp=xnp)
    reference = KMeans(5, n_init=10, random_state=0).fit(rows)
    assert found.dtype == dtype
    cost = np.sum((rows - found[nearest_centers(rows, found)]) ** 2)
    assert cost <= reference.inertia_ * 1.002


def test_blocks_change_nothing(monkeypatch):
    import array_api_compat.numpy as xnp

    rows, _ = planted(n_samples=700)
    whole = room.kmeans(rows, 5, n_init=3, generator=np.random.RandomState(1), xp=xnp)
    monkeypatch.setattr(room, "BLOCK_ENTRIES", 1000)
    parts = room.kmeans(rows, 5, n_init=3, generator=np.random.RandomState(1), xp=xnp)
    np.testing.assert_allclose(parts, whole, atol=1e-10)


def test_duplicates_and_one_cluster():
    import array_api_compat.numpy as xnp

    rows = np.repeat(np.eye(3), 50, axis=0)
    found = room.kmeans(rows, 3, n_init=2, generator=np.random.RandomState(0), xp=xnp)
    np.testing.assert_allclose(np.sort(found, axis=0), np.sort(np.eye(3), axis=0), atol=1e-12)
    one = room.kmeans(rows, 1, n_init=2, generator=np.random.RandomState(0), xp=xnp)
    np.testing.assert_allclose(one[0], rows.mean(axis=0))
    many = room.kmeans(rows, 5, n_init=2, generator=np.random.RandomState(0), xp=xnp)
    assert np.all(np.isfinite(many))


@pytest.mark.parametrize("noise", [0.3, 0.9, 3.0])
def test_starts_left_out_early_would_not_have_won(seed, noise):
    """On all rows none of them costs noticeably less than the best of those that are kept."""
    import array_api_compat.numpy as xnp

    rows, _ = planted(n_samples=20_000, noise=noise, seed=seed)
    subset, generator = rows[:5000], np.random.RandomState(seed)
    drawn = room.kmeans_plus_plus_rows(subset, 5, n_starts=10, generator=generator, xp=xnp)
    starts = room._settle(subset, subset[drawn], 1e-4, xnp)
    kept = room._hopeful(subset, starts, xnp)
    costs, costs_of_kept = (room.gather_members(rows, one, xnp).costs for one in (starts, kept))
    assert len(kept) < 10 or noise > 1  # without clusters every start finds something else
    assert costs_of_kept.min() <= costs.min() * (1 + 1e-3)


def test_equal_and_hopeless_starts_are_left_out(xp):
    rows, target = planted(noise=0.1)
    right = np.array([rows[target == label].mean(axis=0) for label in range(5)])
    wrong = right.copy()
    wrong[0] = wrong[1] + 0.01
    starts = np.stack([wrong, right, right[::-1], wrong])
    kept = to_numpy(room._hopeful(xp.asarray(rows), xp.asarray(starts), xp))
    assert kept.shape == (1, 5, 5)
    np.testing.assert_allclose(np.sort(kept[0], axis=0), np.sort(right, axis=0))


def test_a_start_that_stands_still_is_left_alone(monkeypatch):
    import array_api_compat.numpy as xnp

    rows, target = planted(noise=0.3)
    right = np.array([rows[target == label].mean(axis=0) for label in range(5)])
    seen = []
    step = room.gather_members
    monkeypatch.setattr(
        room, "gather_members", lambda rows, starts, xp: seen.append(len(starts)) or step(rows, starts, xp)
    )
    settled = room._settle(rows, np.stack([rows[:5], right, rows[10:15]]), 1e-6, xnp)
    assert settled.shape == (3, 5, 5)
    assert seen[0] == 3
    assert seen == sorted(seen, reverse=True)
    assert seen[-1] < 3


def test_iterations_end_where_every_center_is_the_mean_of_its_rows(xp, monkeypatch):
    """Whichever way centers move: here all of them go down, so that movements do not cancel each other out."""
    monkeypatch.setattr(room, "TOLERANCE", 0.0)
    rows, _ = planted(noise=0.5)
    found = room.kmeans(xp.asarray(rows), 5, n_init=3, generator=np.random.RandomState(0), xp=xp)
    far = found + 1.0
    again, n_passes = room.finish_starts(
        lambda centers: room.gather_members(xp.asarray(rows), centers, xp), far[None, ...], 1e-12, xp=xp
    )
    assert n_passes > 1
    for centers in (found, again):
        labels = nearest_centers(rows, centers)
        means = [rows[labels == cluster].mean(axis=0) for cluster in range(5)]
        np.testing.assert_allclose(to_numpy(centers), means, atol=1e-5)


def test_starts_without_hope_are_left_out():
    """Two clusters; one start puts both centers into one of them, which costs twice as much and more."""
    import array_api_compat.numpy as xnp

    rows = np.concatenate([np.zeros((30, 2)), np.full((30, 2), 4.0)]) + planted(60, 2, noise=1.0)[0]
    good = np.array([rows[:30].mean(axis=0), rows[30:].mean(axis=0)])
    worse = good + np.array([[0.9, -0.9], [-0.9, 0.9]])
    costs = room.gather_members(rows, np.stack([good, worse]), xnp).costs
    assert 1.05 < costs[1] / costs[0] < 2
    kept = room._hopeful(rows, np.stack([worse, good]), xnp)
    np.testing.assert_array_equal(kept, good[None])


def test_a_cost_of_zero_may_be_rounded_below_zero():
    for seed in range(40):
        rows = np.repeat(np.random.default_rng(seed).standard_normal((2, 3)), 5, axis=0)
        centers = room.kmeans(rows, 4, n_init=2, generator=np.random.RandomState(0), xp=np)
        np.testing.assert_allclose(np.unique(centers.round(8), axis=0), np.unique(rows.round(8), axis=0))
