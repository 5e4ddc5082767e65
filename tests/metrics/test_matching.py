"""Matching the clusters of two clusterings: invariances, the optimum, and what is called split, merged, appeared."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latefusion.metrics import match_clusters
from latefusion.metrics.matching import majorities
from tests.properties import examples


@st.composite
def label_pairs(draw, max_groups=5):
    size = draw(st.integers(1, 40))
    vector = st.lists(st.integers(0, max_groups - 1), min_size=size, max_size=size)
    return np.array(draw(vector)), np.array(draw(vector))


@examples(60)
@given(label_pairs())
def test_a_clustering_matches_itself(pair):
    labels, _ = pair
    found = match_clusters(labels, labels)
    assert found.names == {one: one for one in np.unique(labels).tolist()}
    np.testing.assert_array_equal(found.rename(labels), labels)
    assert (found.appeared, found.vanished, found.splits, found.merges) == ([], [], {}, {})
    assert found.agreement == 1
    assert found.notes == ["All clusters are kept."]


@examples(60)
@given(label_pairs(), st.permutations(range(5)), st.permutations(range(5)))
def test_names_of_clusters_do_not_matter(pair, first, second):
    """Other names of the new clusters change nothing; other names of the old ones change the ids and nothing else."""
    before, after = pair
    found = match_clusters(before, after)
    renamed = match_clusters(before, np.array(second)[after])
    np.testing.assert_array_equal(renamed.rename(np.array(second)[after]), found.rename(after))
    assert renamed.splits == found.splits
    assert renamed.merges == found.merges

    names = np.array([f"old {one}" for one in first])
    text = match_clusters(names[before], after).rename(after)
    numbers = found.rename(after)
    kept = np.isin(numbers, before)
    np.testing.assert_array_equal(text[kept], names[numbers[kept]])
    assert not set(text[~kept]) & set(names)


@examples(60)
@given(label_pairs(max_groups=4))
def test_as_many_samples_as_possible_keep_their_cluster(pair):
    """Among all ways to pair clusters, of which one is most of the other."""
    before, after = pair
    found = match_clusters(before, after)
    goes_to, comes_from = majorities(found.counts, found.unknown)
    side = max(found.counts.shape)
    possible = np.zeros((side, side), dtype=int)
    possible[: len(found.first), : len(found.second)] = np.where(goes_to | comes_from, found.counts, 0)
    best = max(possible[np.arange(side), list(order)].sum() for order in permutations(range(side)))
    assert np.sum(found.rename(after) == before) == best


@examples(60)
@given(label_pairs())
def test_ids_are_one_to_one_and_new_ones_are_new(pair):
    before, after = pair
    found = match_clusters(before, after, n_ids=9)
    assert len({*found.ids}) == len(found.ids)
    assert {*found.appeared} == {*found.ids} - {*found.first}
    assert {*found.vanished} == {*found.first} - {*found.ids}
    assert all(one >= 9 for one in found.appeared)
    table = found.clusters
    assert table["samples"].sum() == table["samples_second"].sum() == len(before)
    assert {one["cluster"]: one["change"] == "appeared" for one in table} == {
        one: one in found.appeared for one in [*found.first, *found.appeared]
    }


def test_split_and_merge_and_what_the_text_says():
    before = np.repeat([0, 1, 2], [30, 30, 20])
    after = np.repeat([5, 7, 8, 5], [30, 16, 14, 20])
    found = match_clusters(before, after)
    assert found.names == {5: 0, 7: 1, 8: 3}
    assert found.splits == {1: [1, 3]}
    assert found.merges == {0: [0, 2]}
    assert (found.appeared, found.vanished) == ([3], [2])
    assert found.clusters["change"].tolist() == ["merged", "split", "vanished", "appeared"]
    assert found.table.records()[1] == {"first": 1, "0": 0, "1": 16, "3": 14}
    text = repr(found)
    for line in (
        "80 common samples, 3 and 3 clusters: adjusted Rand index 0.462",
        "Cluster 1 split into 1 (16 samples), 3 (14 samples).",
        "Clusters 0, 2 merged into 0.",
        "Appeared: 3 (14 samples).",
        "Vanished: 2.",
    ):
        assert line in text
    html = found._repr_html_()
    assert html.count("<table>") == 2
    assert "Vanished: 2." in html
    assert found.to_frame()["cluster"].tolist() == [0, 1, 2, 3]


def test_a_stray_sample_does_not_pass_on_an_id():
    """Without majorities, the best pairs would give the id of a dissolved cluster to whatever has one sample of it."""
    before = np.repeat([0, 0, 1, 1], [50, 1, 49, 1])
    after = np.repeat([0, 1, 0, 1], [50, 1, 49, 1])
    found = match_clusters(before, after)
    assert found.names == {0: 0, 1: 2}
    assert (found.appeared, found.vanished) == ([2], [1])


def test_samples_without_a_cluster_before_count_against_a_pair():
    """A new cluster of unknown samples does not take over the cluster of the one sample that was known."""
    before, after = np.array([0, 0, 1, 1, 1, 1]), np.array([0, 0, 1, 1, 1, 1])
    known = np.array([True, True, True, False, False, False])
    assert match_clusters(before, after, known=known).names[1] == 1  # all that is known of 1 is in it
    more = np.array([1, 1, 1, 0, 0, 0, 0]), np.array([0, 0, 1, 1, 1, 1, 1]), np.arange(7) < 3
    assert match_clusters(more[0], more[1], known=more[2]).names == {0: 1, 1: 2}


def test_sizes_and_clusters_of_samples_that_only_one_contains():
    found = match_clusters([0, 0], [4, 4], first=[0, 0, 1, 1, 1], second=[4, 4, 4, 9])
    assert found.clusters.records() == [
        {"cluster": 0, "change": "kept", "second": 4, "samples": 2, "samples_second": 3, "common": 2},
        {"cluster": 1, "change": "vanished", "second": None, "samples": 3, "samples_second": 0, "common": 0},
        {"cluster": 2, "change": "appeared", "second": 9, "samples": 0, "samples_second": 1, "common": 0},
    ]


def test_nothing_is_known():
    found = match_clusters([0, 1], [0, 1], known=np.zeros(2, dtype=bool))
    assert (found.appeared, found.vanished) == ([2, 3], [0, 1])
    assert np.isnan(found.agreement)


def test_other_labels_cannot_be_renamed():
    with pytest.raises(ValueError, match=r"labels contains 7, which is not one of the clusters \[0, 1\]"):
        match_clusters([0, 1], [0, 1]).rename([0, 7])
