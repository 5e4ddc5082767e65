"""Partitions as they are given: names, ids, and who is assigned where."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

import latefusion as lf
from latefusion.estimators.given_partitions import (
    assigned_samples,
    is_clusterer,
    labels_of,
    labels_of_columns,
    partition_columns,
    read_partitions,
)
from latefusion.similarities import GivenPartition


def columns_of(partitions, ids=None):
    maps = [GivenPartition().fit_map(one, name) for name, one in partitions.items()]
    return partition_columns(list(partitions.values()), maps, list(partitions), ids), maps


def test_rows_of_series_are_matched_by_id_and_absent_samples_are_missing():
    first = pd.Series([1, 1, 2], index=list("abc"))
    second = pd.Series(["x", "y", "x"], index=list("dcb"))
    found, ids = read_partitions({"first": first, "second": second})
    assert ids.tolist() == list("abcd")
    np.testing.assert_array_equal(found["first"], [1, 1, 2, np.nan])
    assert found["second"].tolist()[1:] == ["x", "y", "x"]
    assert pd.isna(found["second"][0])


def test_views_keep_their_ids_and_the_order_of_their_rows():
    """Views are matched already: an index of the frames in them is not matched again."""
    frames = {"a": pd.DataFrame({"x": [0, 1, 1]}, index=[2, 1, 0]), "b": pd.DataFrame({"y": [5, 6, 5]})}
    views = lf.Views(frames, sample_ids=["p", "q", "r"])
    found, ids = read_partitions(views)
    assert ids.tolist() == ["p", "q", "r"]
    assert found["a"].tolist() == [0, 1, 1]
    assert found["b"].tolist() == [5, 6, 5]
    model = lf.consensus(views, 2, random_state=0)
    assert model.sample_ids_.tolist() == ["p", "q", "r"]


def test_partitions_are_taken_by_name():
    found, _ = read_partitions({"b": [1, 2], "a": [3, 4]}, ["a", "b"])
    assert list(found) == ["a", "b"]
    with pytest.raises(ValueError, match=r"fitted on the partitions \['a', 'b'\]; got \['a', 'c'\]"):
        read_partitions({"a": [1, 2], "c": [1, 2]}, ["a", "b"])


def test_columns_tell_who_is_assigned_and_give_the_labels_back():
    views, maps = columns_of({"words": np.array(["u", "v", "u", "w"]), "numbers": np.array([3, -1, 4, 3])})
    assert assigned_samples(views).tolist() == [[True, True], [True, False], [True, True], [True, True]]
    words, numbers = labels_of_columns(views, maps)
    assert (words.labels.tolist(), words.names) == ([0, 1, 0, 2], ["u", "v", "w"])
    assert (numbers.labels.tolist(), numbers.names) == ([0, -1, 1, 0], ["3", "4"])


def test_samples_without_any_cluster_are_named():
    with pytest.raises(ValueError, match=r"1 samples are unassigned in every partition; the first is sample 'q'"):
        columns_of({"a": np.array([0, -1, 1]), "b": np.array([1, -1, 0])}, np.array(["p", "q", "r"]))


def test_clusterers_give_their_labels():
    data = np.array([[0.0], [0.1], [5.0]])
    fitted = KMeans(2, n_init=1, random_state=0).fit(data)
    assert is_clusterer(fitted)
    assert not is_clusterer(data)
    assert labels_of(fitted, "k") is fitted.labels_
    with pytest.raises(ValueError, match="'k' is a KMeans without labels_"):
        labels_of(KMeans(2), "k")
