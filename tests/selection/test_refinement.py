"""Samples that move between clusters while the criterion rises."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import latefusion as lf
from latefusion.selection.criterion import Criterion, joint_neighbors, view_neighbors
from latefusion.selection.refinement import refine
from latefusion.similarities.graph import NeighborSearch

DATA = lf.datasets.make_views(120, 3, n_views=2, n_features=[8, 12], random_state=0)


def criterion_of(views, view_labels, known=None):
    searches, shares = [NeighborSearch(view) for view in views], np.full(len(views), 1 / len(views))
    return Criterion(joint_neighbors(searches, shares), view_neighbors(searches), view_labels, shares, shares, known)


CRITERION = criterion_of(DATA.views.arrays, [[DATA.target], [DATA.target]])


def value(labels):
    return CRITERION.score(labels, 3).value


def test_true_clusters_stay():
    np.testing.assert_array_equal(refine(DATA.target, 3, CRITERION), DATA.target)


def test_wrong_labels_are_corrected():
    wrong = DATA.target.copy()
    wrong[::7] = (wrong[::7] + 1) % 3
    np.testing.assert_array_equal(refine(wrong, 3, CRITERION), DATA.target)


@given(st.integers(0, 10_000), st.floats(0.0, 0.9))
def test_the_criterion_never_falls_and_no_cluster_vanishes(seed, share):
    generator = np.random.default_rng(seed)
    labels = np.where(generator.random(120) < share, generator.integers(3, size=120), DATA.target)
    found = refine(labels, 3, CRITERION)
    assert value(found) >= value(labels)
    assert set(found) == set(labels)


def test_names_of_clusters_do_not_matter():
    labels = np.random.default_rng(0).integers(3, size=120)
    names = np.array([2, 0, 1])
    np.testing.assert_array_equal(refine(names[labels], 3, CRITERION), names[refine(labels, 3, CRITERION)])


def test_the_order_of_samples_does_not_matter():
    labels = np.random.default_rng(0).integers(3, size=120)
    order = np.random.default_rng(1).permutation(120)
    view_labels = [[DATA.target[order]]] * 2
    shuffled = criterion_of([view[order] for view in DATA.views.arrays], view_labels)
    np.testing.assert_array_equal(refine(labels[order], 3, shuffled), refine(labels, 3, CRITERION)[order])


def test_samples_without_any_view_keep_their_labels():
    known = np.arange(120) >= 5
    criterion = criterion_of(DATA.views.arrays, [[DATA.target], [DATA.target]], known)
    labels = np.random.default_rng(0).integers(3, size=120)
    np.testing.assert_array_equal(refine(labels, 3, criterion)[:5], labels[:5])


def test_breadth_is_not_given_up():
    """A second view with other clusters: from a compromise, no round may leave that view unexplained."""
    generator = np.random.default_rng(0)
    other = generator.permutation(DATA.target)
    centers = 6 * generator.standard_normal((3, 8))
    views = [DATA.views.arrays[0], centers[other] + 0.1 * generator.standard_normal((120, 8))]
    criterion = criterion_of(views, [[DATA.target], [other]])
    labels = np.where(np.arange(120) < 60, DATA.target, other)
    least = criterion.score(labels, 3).breadth
    found = refine(labels, 3, criterion, least)
    assert criterion.score(found, 3).breadth >= least
    free = refine(labels, 3, criterion)
    assert criterion.score(free, 3).breadth < least
