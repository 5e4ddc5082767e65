"""The score of a clustering without labels: nearest neighbors and informations."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

import latefusion as lf
from latefusion.metrics import neighbor_information, shared_information
from latefusion.selection.criterion import (
    JOINT_NEIGHBORS,
    LEAST_ATTAINED,
    VIEW_NEIGHBORS,
    Criterion,
    joint_neighbors,
    relative_weights,
    view_neighbors,
)
from latefusion.similarities.graph import NeighborSearch

DATA = lf.datasets.make_views(60, 3, n_views=2, n_features=[4, 7], random_state=0)
VIEWS = DATA.views.arrays


class Found(NamedTuple):
    joint: list
    views: list


def find(views, shares, mask=None, shared=None):
    searches = [NeighborSearch(view) for view in views]
    joint = () if shared is None else [NeighborSearch(shared)]
    return Found(joint_neighbors(searches, shares, mask, joint), view_neighbors(searches, mask))


def sets(neighbors):
    return [set(row) for row in neighbors.tolist()]


def nearest(view, n_neighbors):
    return NearestNeighbors(n_neighbors=n_neighbors).fit(view).kneighbors(return_distance=False)


def test_neighbors_are_the_nearest_of_every_view():
    found = find(VIEWS, np.ones(2))
    for view, neighbors in zip(VIEWS, found.views, strict=True):
        assert sets(neighbors) == sets(nearest(view, VIEW_NEIGHBORS))


@pytest.mark.parametrize("shares", [[1.0, 1.0], [1.0, 0.2], [0.0, 1.0]])
def test_joint_neighbors_are_the_nearest_side_by_side(shares):
    scaled = [view * np.sqrt(share / view.var(axis=0).sum()) for view, share in zip(VIEWS, shares, strict=True)]
    found = find(VIEWS, np.array(shares))
    assert sets(found.joint[0]) == sets(nearest(np.hstack(scaled), JOINT_NEIGHBORS))


def test_a_sample_is_not_its_own_neighbor():
    twins = np.repeat(VIEWS[0][:10], 3, axis=0)
    found = find([twins], np.ones(1))
    assert all(row not in neighbors for row, neighbors in enumerate(sets(found.joint[0])))
    assert all(row not in neighbors for row, neighbors in enumerate(sets(found.views[0])))


def test_neither_unit_nor_container_of_a_view_matters():
    reference = find(VIEWS, np.ones(2))
    for others in ([VIEWS[0] * 1e6, VIEWS[1] * 1e-6], [sp.csr_array(VIEWS[0]), VIEWS[1]]):
        found = find(others, np.ones(2))
        assert sets(found.joint[0]) == sets(reference.joint[0])
        assert [sets(one) for one in found.views] == [sets(one) for one in reference.views]


def test_the_origin_of_a_view_does_not_matter():
    found = find([VIEWS[0] + 1e9, VIEWS[1]], np.ones(2))
    assert sets(found.views[0]) == sets(nearest(VIEWS[0], VIEW_NEIGHBORS))


def test_a_constant_view_does_not_change_joint_neighbors():
    found = find([VIEWS[0], np.ones((60, 2))], np.ones(2))
    assert sets(found.joint[0]) == sets(nearest(VIEWS[0], JOINT_NEIGHBORS))


@pytest.mark.parametrize("n_samples", [2, 3, 6])
def test_few_samples_are_all_neighbors(n_samples):
    found = find([VIEWS[0][:n_samples]], np.ones(1))
    others = [set(range(n_samples)) - {row} for row in range(n_samples)]
    assert sets(found.views[0]) == others
    assert all(len(row) == min(JOINT_NEIGHBORS, n_samples - 1) for row in sets(found.joint[0]))


@pytest.fixture(scope="module")
def criterion():
    view_labels = [[DATA.target, np.roll(DATA.target, 1)], [DATA.target]]
    return Criterion(*find(VIEWS, np.ones(2)), view_labels, np.array([0.25, 0.75]), np.array([0.5, 0.5]))


def test_score_is_the_mean_of_the_three_informations(criterion):
    labels = np.random.default_rng(0).integers(3, size=60)
    joint = neighbor_information(labels, criterion.joint_neighbors[0], 3)
    alone = [neighbor_information(labels, one, 3) for one in criterion.view_neighbors]
    single = [
        np.mean([shared_information(labels, one, 3) for one in view_labels]) for view_labels in criterion.view_labels
    ]
    expected = (joint + criterion.neighbor_weights @ alone + criterion.label_weights @ single) / 3
    assert criterion.score(labels, 3).value == pytest.approx(expected)


def test_informations_in_views_are_relative_to_those_of_the_view_alone(criterion):
    """The clusters of a view explain it fully: with weights, every view contributes its share of the same number."""
    attained = [
        max(neighbor_information(own, neighbors, 3) for own in several)
        for several, neighbors in zip(criterion.view_labels, criterion.view_neighbors, strict=True)
    ]
    contributions = criterion.neighbor_weights * attained
    np.testing.assert_allclose(contributions / contributions.sum(), criterion.shares)
    np.testing.assert_allclose(contributions.sum(), criterion.shares @ attained)
    # The clusterings of a view: what each contains about itself, not about the others of the same view.
    attained = [max(shared_information(own, own, 3) for own in several) for several in criterion.view_labels]
    contributions = criterion.label_weights * attained
    np.testing.assert_allclose(contributions / contributions.sum(), criterion.shares)
    np.testing.assert_allclose(contributions.sum(), criterion.shares @ attained)


def test_score_per_entropy_is_that_of_equal_clusters_if_they_are_equal(criterion):
    score = criterion.score(DATA.target, 3)
    np.testing.assert_allclose(score.per_entropy(DATA.target, 3).value, score.value)
    unequal = np.repeat([0, 1], [50, 10])
    entropy = -(5 / 6 * np.log(5 / 6) + 1 / 6 * np.log(1 / 6)) / np.log(2)
    found = score.per_entropy(unequal, 2)
    np.testing.assert_allclose([found.value, *found.parts], np.array([score.value, *score.parts]) / np.sqrt(entropy))
    assert found.breadth == score.breadth
    assert score.per_entropy(np.zeros(60, dtype=int), 1).value == score.value


def test_relative_weights():
    shares = np.array([0.5, 0.5, 0.0])
    np.testing.assert_allclose(relative_weights(shares, np.array([0.4, 0.4, 0.9])), shares)
    np.testing.assert_allclose(relative_weights(shares, np.array([0.8, 0.4, 0.0])), [0.375, 0.75, 0.0])
    np.testing.assert_array_equal(relative_weights(shares, np.zeros(3)), shares)
    weights = relative_weights(shares, np.array([0.8, 1e-6, 0.0]))  # what has no clusters gets no large weight
    assert weights[1] / weights[0] == pytest.approx(1 / LEAST_ATTAINED)


def test_several_ways_to_fill_in_rows_are_criteriond_by_their_mean(criterion):
    labels = np.random.default_rng(0).integers(3, size=60)
    other = [np.roll(criterion.joint_neighbors[0], 7, axis=0)]
    both = [*criterion.joint_neighbors, *other]
    values = [replace(criterion, joint_neighbors=one).score(labels, 3).value for one in (other, both)]
    assert values[1] == pytest.approx((criterion.score(labels, 3).value + values[0]) / 2)
    assert values[0] != values[1]


def test_the_truth_scores_best(criterion):
    rng = np.random.default_rng(0)
    right = criterion.score(DATA.target, 3)
    worse = DATA.target.copy()
    worse[:15] = rng.integers(3, size=15)
    scores = [right.value, criterion.score(worse, 3).value, criterion.score(rng.integers(3, size=60), 3).value]
    assert 1 >= scores[0] > scores[1] > scores[2] >= 0
    assert criterion.score(np.zeros(60, dtype=int), 3).value == 0


def test_samples_of_which_nothing_is_known_change_no_score(criterion):
    n_samples = len(criterion.view_labels[0][0])
    labels = np.random.default_rng(0).integers(3, size=n_samples)

    def with_strangers(rows):
        return np.concatenate([np.full((7, *rows.shape[1:]), -1), np.where(rows < 0, rows, rows + 7)])

    joint, views = (
        [with_strangers(one) for one in own] for own in (criterion.joint_neighbors, criterion.view_neighbors)
    )
    view_labels = [[np.concatenate([np.full(7, -1), one]) for one in own] for own in criterion.view_labels]
    other = Criterion(joint, views, view_labels, criterion.shares, criterion.presence, np.arange(n_samples + 7) >= 7)
    found = other.score(np.concatenate([np.zeros(7, dtype=int), labels]), 3)
    assert found.value == criterion.score(labels, 3).value
    np.testing.assert_array_equal(found.parts, criterion.score(labels, 3).parts)


def test_names_of_clusters_do_not_change_a_score(criterion):
    one, other = criterion.score(DATA.target, 3), criterion.score((DATA.target + 1) % 3, 3)
    assert one.value == pytest.approx(other.value)
    np.testing.assert_allclose(one.parts, other.parts)


def test_a_score_knows_its_uncertainty(criterion):
    score = criterion.score(DATA.target, 3)
    assert len(score.parts) > 1
    assert score.standard_error == pytest.approx(score.parts.std(ddof=1) / np.sqrt(len(score.parts)))


def test_samples_that_come_in_turns_leave_every_part_with_all_clusters():
    labels = np.arange(100) % 5
    neighbors = (np.arange(100)[:, None] + [5, 10]) % 100
    score = Criterion([neighbors], [neighbors], [[labels]], np.ones(1), np.ones(1)).score(labels, 5)
    assert score.value == pytest.approx(1)
    assert score.parts.min() > 0.7


@pytest.mark.parametrize("n_samples", [2, 3])
def test_few_samples_have_a_score_without_uncertainty(n_samples):
    neighbors = np.array([[1], [0], [0]])[:n_samples]
    labels = np.arange(n_samples) % 2
    score = Criterion([neighbors], [neighbors], [[labels]], np.ones(1), np.ones(1)).score(labels, 2)
    assert np.isfinite(score.value)
    assert score.standard_error == 0


def test_neighbors_of_samples_with_missing_views():
    generator = np.random.default_rng(0)
    coordinates = [generator.standard_normal((30, 3)), generator.standard_normal((30, 4))]
    everything = np.ones((30, 2), dtype=bool)
    plain, masked = (find(coordinates, np.ones(2), mask) for mask in (None, everything))
    for one, other in zip([plain.joint[0], *plain.views], [masked.joint[0], *masked.views], strict=True):
        np.testing.assert_array_equal(np.sort(one, axis=1), np.sort(other, axis=1))
    mask = everything.copy()
    mask[:10, 0] = mask[20:, 1] = False
    parts = [view[seen] for view, seen in zip(coordinates, mask.T, strict=True)]
    found = find(parts, np.ones(2), mask)
    for neighbors, seen in zip(found.views, mask.T, strict=True):
        assert (neighbors[~seen] == -1).all()
        assert seen[neighbors[seen]].all()
    for sample, neighbors in enumerate(found.joint[0]):
        assert mask[neighbors][:, mask[sample]].any(axis=1).all()
    shared = generator.standard_normal((30, 2))
    alone = find([shared], np.ones(1)).joint[0]
    together = find(parts, np.ones(2), mask, shared).joint[0]
    np.testing.assert_array_equal(np.sort(alone, axis=1), np.sort(together, axis=1))


def test_view_labels_of_samples_that_have_the_view_count():
    mask = np.ones((60, 2), dtype=bool)
    mask[::2, 1] = False
    observed = mask[:, 1]
    found = find([VIEWS[0], VIEWS[1][observed]], np.ones(2), mask)
    partly = np.where(observed, DATA.target, -1)
    shares = np.array([0.25, 0.75])
    criterion = Criterion(*found, [[DATA.target], [partly]], shares, shares)
    labels = np.random.default_rng(0).integers(3, size=60)
    single = [shared_information(labels[own], DATA.target[own], 3) for own in mask.T]
    near = [neighbor_information(labels, one, 3) for one in found.views]
    joint = neighbor_information(labels, found.joint[0], 3)
    expected = (joint + criterion.neighbor_weights @ near + criterion.label_weights @ single) / 3
    assert criterion.score(labels, 3).value == pytest.approx(expected)
