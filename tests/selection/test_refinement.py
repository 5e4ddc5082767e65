"""Samples that move between clusters while the criterion rises."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import latefusion as lf
from latefusion.selection.criterion import Criterion, joint_neighbors, view_neighbors
from latefusion.selection.refinement import move_halves, refine
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


def blobs():
    """Five clusters in two views; cluster 4 consists of two groups that are near each other."""
    generator = np.random.default_rng(0)
    groups = np.repeat(np.arange(6), 40)
    views = []
    for n_columns in (4, 6):
        centers = 8 * generator.standard_normal((6, n_columns))
        centers[5] = centers[4] + 2
        views.append(centers[groups] + generator.standard_normal((240, n_columns)))
    return views, groups, np.minimum(groups, 4)


def halves_problem():
    """True labels, labels with one half of cluster 4 in cluster 0, the criterion, and rows that separate the groups."""
    views, groups, truth = blobs()
    wrong = np.where(groups == 5, 0, truth)
    return truth, wrong, criterion_of(views, [[truth], [truth]]), np.eye(6)[groups] + 0.01


def test_half_of_a_cluster_moves_as_a_whole():
    """Half of a cluster in a wrong one: single samples stay with their neighbors, the half goes back."""
    truth, wrong, criterion, rows = halves_problem()
    np.testing.assert_array_equal(refine(wrong, 5, criterion), wrong)
    np.testing.assert_array_equal(move_halves(wrong, rows, 5, criterion), truth)


def test_halves_of_true_clusters_stay():
    truth, _, criterion, rows = halves_problem()
    np.testing.assert_array_equal(move_halves(truth, rows, 5, criterion), truth)


@given(st.integers(0, 10_000), st.floats(0.0, 0.9))
def test_moves_of_halves_never_lower_the_criterion_and_no_cluster_vanishes(seed, share):
    generator = np.random.default_rng(seed)
    labels = np.where(generator.random(120) < share, generator.integers(3, size=120), DATA.target)
    found = move_halves(labels, DATA.views.arrays[0], 3, CRITERION)
    assert value(found) >= value(labels)
    assert set(found) == set(labels)


def test_order_and_names_do_not_matter_for_halves():
    _, wrong, criterion, rows = halves_problem()
    views, _, truth = blobs()
    order, names = np.random.default_rng(1).permutation(240), np.array([2, 0, 1, 4, 3])
    shuffled = criterion_of([view[order] for view in views], [[truth[order]]] * 2)
    found = move_halves(names[wrong][order], rows[order], 5, shuffled)
    np.testing.assert_array_equal(found, names[move_halves(wrong, rows, 5, criterion)][order])


def test_equal_rows_and_clusters_of_one_sample_have_no_halves():
    _, wrong, criterion, _ = halves_problem()
    np.testing.assert_array_equal(move_halves(wrong, np.ones((240, 3)), 5, criterion), wrong)
    single = wrong.copy()
    single[0] = 5
    assert set(move_halves(single, np.random.default_rng(0).random((240, 3)), 6, criterion)) == set(range(6))


def test_moves_of_halves_keep_the_breadth():
    _, wrong, criterion, rows = halves_problem()
    np.testing.assert_array_equal(move_halves(wrong, rows, 5, criterion, least_breadth=3.0), wrong)


def test_halves_of_a_large_cluster_stay():
    """Labels of more equal sizes can have more information; a cluster without a gap is not divided for that."""
    generator = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], [200, 20, 20])
    views = [10 * generator.standard_normal((3, 4))[groups] + generator.standard_normal((240, 4)) for _ in range(2)]
    criterion = criterion_of(views, [[groups], [groups]])
    rows = np.hstack([np.eye(3)[groups], 0.2 * views[0]])
    np.testing.assert_array_equal(move_halves(groups, rows, 3, criterion), groups)
