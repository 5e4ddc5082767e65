"""Ids of clusters that stay, and the tree of how clusters split."""

import numpy as np
import pandas as pd
import pytest

from latefusion.selection import NumberPath, PathCluster
from latefusion.selection.number_path import trace_clusters

# 90 samples: one cluster of 30, and one of 60 that splits into 40 and 20.
TWO = np.repeat([0, 1], [30, 60])
THREE = np.repeat([2, 0, 1], [30, 40, 20])
FOUR = np.repeat([3, 1, 2, 0], [30, 40, 12, 8])


def nested(n_clusters=3):
    return trace_clusters([2, 3, 4], [TWO, THREE, FOUR], n_clusters)


def test_nested_clusters_give_their_tree():
    assert nested().clusters == (
        PathCluster(2, 0, 60, None, None),
        PathCluster(2, 2, 30, None, None),
        PathCluster(3, 0, 40, 0, 1.0),
        PathCluster(3, 1, 20, 0, 1.0),
        PathCluster(3, 2, 30, 2, 1.0),
        PathCluster(4, 0, 40, 0, 1.0),
        PathCluster(4, 1, 12, 1, 1.0),
        PathCluster(4, 2, 30, 2, 1.0),
        PathCluster(4, 3, 8, 1, 1.0),
    )
    assert (
        repr(nested())
        == str(nested())
        == (
            "cluster 0: 60 samples at n_clusters=2; 40 at 4\n"
            "    cluster 1: 20 samples at n_clusters=3, 100% from cluster 0; 12 at 4\n"
            "        cluster 3: 8 samples at n_clusters=4, 100% from cluster 1\n"
            "cluster 2: 30 samples at n_clusters=2; 30 at 4"
        )
    )
    assert [(depth, one.cluster) for depth, one in nested().tree()] == [(0, 0), (1, 1), (2, 3), (0, 2)]


@pytest.mark.parametrize(("number", "labels"), [(2, TWO), (3, THREE), (4, FOUR)])
def test_the_labels_of_the_model_are_the_ids_at_its_number(number, labels):
    path = nested(number)
    np.testing.assert_array_equal(path.labels_for(number), labels)
    assert path.n_clusters == number
    # Elsewhere the clusters are the same, only their names differ.
    for other, column in zip((TWO, THREE, FOUR), path.labels.T, strict=True):
        pairs = {*zip(other.tolist(), column.tolist(), strict=True)}
        assert len(pairs) == len(np.unique(other)) == len(np.unique(column))


@pytest.mark.parametrize("anchor", [2, 3, 4])
def test_the_largest_successor_keeps_the_id_of_its_parent(anchor):
    path = nested(anchor)
    two, three, four = (path.labels_for(number) for number in (2, 3, 4))
    assert two[0] == three[0] == four[0]  # the cluster that never splits
    assert two[30] == three[30] == four[30]  # the largest part
    assert three[70] == four[70]
    assert three[70] not in two
    assert four[-1] not in [*two, *three]


def test_shares_are_those_of_the_parent():
    before, after = np.repeat([0, 1], [50, 50]), np.repeat([0, 1, 2, 1], [40, 20, 30, 10])
    rows = {one.cluster: one for one in trace_clusters([2, 3], [before, after], 2).clusters if one.n_clusters == 3}
    assert rows == {
        0: PathCluster(3, 0, 40, 0, 1.0),
        1: PathCluster(3, 1, 30, 1, 1.0),
        # 10 of its samples come from cluster 0, and 20 from cluster 1.
        2: PathCluster(3, 2, 30, 1, 2 / 3),
    }


def test_a_cluster_that_dissolves_has_an_id_of_its_own():
    coarse = np.repeat([0, 1, 2], [40, 40, 20])  # no cluster comes mainly from the last
    fine = np.concatenate([np.repeat([0, 1], [30, 10]), np.repeat([2, 3], [30, 10]), np.repeat([0, 2, 1, 3], 5)])
    for anchor in (3, 4):
        path = trace_clusters([3, 4], [coarse, fine], anchor)
        before, after = path.labels.T
        assert before[-1] not in after
        assert len(np.unique(path.labels)) == 5
        assert {one.parent for one in path.clusters if one.n_clusters == 4} == {before[0], before[40]}


def test_the_order_of_the_samples_permutes_the_ids():
    order = np.random.default_rng(0).permutation(90)
    path = trace_clusters([2, 3, 4], [one[order] for one in (TWO, THREE, FOUR)], 3)
    np.testing.assert_array_equal(path.labels, nested().labels[order])
    assert path.clusters == nested().clusters


def test_names_of_the_other_clusterings_do_not_matter():
    path = trace_clusters([2, 3, 4], [1 - TWO, THREE, np.array([2, 0, 3, 1])[FOUR]], 3)
    np.testing.assert_array_equal(path.labels, nested().labels)


def test_sizes_sum_to_the_samples_at_every_number():
    generator = np.random.default_rng(0)
    path = trace_clusters([2, 3, 5, 8], [generator.integers(0, k, 200) for k in (2, 3, 5, 8)], 3)
    table = pd.DataFrame(path.to_dict())
    assert table.groupby("n_clusters")["size"].sum().to_dict() == dict.fromkeys((2, 3, 5, 8), 200)
    assert table.groupby("n_clusters")["cluster"].nunique().to_dict() == {2: 2, 3: 3, 5: 5, 8: 8}
    assert list(table.columns) == list(PathCluster._fields)
    assert table["share"].dropna().between(0, 1, inclusive="right").all()
    assert sorted(one.cluster for _, one in path.tree()) == np.unique(path.labels).tolist()


def test_a_single_number_is_a_path():
    path = trace_clusters([3], [THREE], 3)
    assert path.numbers == (3,)
    assert str(path).count("\n") == 2
    assert {one.parent for one in path.clusters} == {None}


def test_numbers_outside_the_path_are_named():
    with pytest.raises(ValueError, match=r"n_clusters=7 is not one of the numbers of this path, \[2, 3, 4\]"):
        nested().labels_for(7)


def test_a_path_cannot_be_changed():
    path = nested()
    assert isinstance(path, NumberPath)
    with pytest.raises(AttributeError):
        path.numbers = (2,)
