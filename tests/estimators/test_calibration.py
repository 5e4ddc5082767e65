"""Repeated clusterings of halves: what is counted, on which samples, and under which names of clusters."""

import numpy as np
import pytest

import latefusion as lf
from latefusion.assignment import Membership
from latefusion.estimators import calibration
from latefusion.estimators.calibration import calibrate, count_kept

N = 40
LINE = lf.Views([np.arange(N, dtype=float)[:, None]])
FEATURES = np.zeros(1, dtype=bool)
THIRDS = np.repeat([0, 1, 2], [10, 20, 10])


def by_position(views, seed, rows):
    """Clusters of the line that do not depend on the samples, with other names for every seed."""
    names = np.random.default_rng(seed).permutation(3)

    def label(others, diagonals):
        return names[np.searchsorted([10, 30], others.arrays[0][:, 0], side="right")]

    return label(views, None), label


def test_a_clustering_that_does_not_depend_on_samples_keeps_all():
    kept, compared = count_kept(LINE, THIRDS, 3, by_position, FEATURES, n_divisions=3)
    np.testing.assert_array_equal(compared, 3)
    np.testing.assert_array_equal(kept, 3)


def test_samples_that_are_in_another_cluster_are_not_kept():
    labels = THIRDS.copy()
    labels[[12, 13]] = 0
    kept, _ = count_kept(LINE, labels, 3, by_position, FEATURES, n_divisions=3)
    np.testing.assert_array_equal(np.flatnonzero(kept == 0), [12, 13])
    assert np.all(kept[np.setdiff1d(np.arange(N), [12, 13])] == 3)


def test_labels_are_those_of_samples_that_were_not_clustered():
    """Every clustering sees one half, and labels the other."""
    seen = []

    def remember(views, seed, rows):
        labels, label = by_position(views, seed, rows)

        def label_others(others, diagonals):
            seen.append((set(views.arrays[0][:, 0]), set(others.arrays[0][:, 0])))
            return label(others, diagonals)

        return labels, label_others

    count_kept(LINE, THIRDS, 3, remember, FEATURES, n_divisions=2)
    assert len(seen) == 4
    for own, others in seen:
        assert own | others == set(range(N))
        assert len(own) == len(others) == N // 2
    assert seen[0] == seen[1][::-1] != seen[2]


def test_names_are_matched_on_the_samples_that_were_clustered():
    """A clustering of which the labels for others are exchanged keeps none of these."""

    def exchange(views, seed, rows):
        labels, label = by_position(views, seed, rows)
        names = np.random.default_rng(seed).permutation(3)
        return labels, lambda others, diagonals: names[[1, 2, 0]][np.argsort(names)[label(others, diagonals)]]

    kept, _ = count_kept(LINE, THIRDS, 3, exchange, FEATURES, n_divisions=2)
    assert kept.sum() == 0


def test_kernels_are_those_of_the_samples():
    kernel = np.add.outer(np.arange(N), 100.0 * np.arange(N))

    def check(views, seed, rows):
        (own,) = views.arrays
        rows = np.diagonal(own) / 101
        np.testing.assert_array_equal(own, np.add.outer(rows, 100 * rows))

        def label(others, diagonals):
            unseen = diagonals[0] / 101
            np.testing.assert_array_equal(others.arrays[0], np.add.outer(unseen, 100 * rows))
            return np.zeros(len(unseen), dtype=int)

        return np.zeros(len(rows), dtype=int), label

    kept, compared = count_kept(
        lf.Views([kernel]), np.zeros(N, dtype=int), 1, check, np.ones(1, dtype=bool), n_divisions=2
    )
    np.testing.assert_array_equal(kept, compared)


def test_of_many_samples_some_are_divided(monkeypatch):
    monkeypatch.setattr(calibration, "MOST_SAMPLES", 10)
    monkeypatch.setattr(calibration, "SAMPLES_PER_CLUSTER", 8)
    kept, compared = count_kept(LINE, THIRDS, 3, by_position, FEATURES, n_divisions=2)
    assert np.count_nonzero(compared) == 24
    np.testing.assert_array_equal(kept, compared)
    assert calibrate(np.eye(3)[THIRDS], kept, compared, None, 4).n_samples == 24


def test_halves_that_cannot_be_clustered_are_an_error_that_says_why():
    def refuse(views, seed, rows):
        raise ValueError("n_clusters=30 is too large.")

    with pytest.raises(ValueError, match=r"halves of the samples, and 20 samples cannot be clustered: n_clusters=30"):
        count_kept(LINE, THIRDS, 3, refuse, FEATURES, n_divisions=1)


def test_a_calibration_describes_itself():
    generator = np.random.default_rng(0)
    scores = 3 * generator.standard_normal((2000, 3))
    kept = generator.binomial(6, Membership(0.5, 0.2)(scores).max(axis=1))
    found = calibrate(scores, kept, np.full(2000, 6), None, 12)
    assert (found.n_clusterings, found.n_samples) == (12, 2000)
    assert found.kept == pytest.approx(kept.mean() / 6)
    assert found.curve.error < 0.02
    assert repr(found) == (
        f"Calibration of memberships: samples kept their cluster in {kept.mean() / 6:.0%} of 12000 comparisons, in 12 "
        f"clusterings of halves of 2000 samples. Mean difference of membership and this share: {found.curve.error:.3f}."
    )
