from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from latefusion.interpretation.annotation import (
    CLASSES,
    category_column,
    classes_of_clusters,
    column_unit,
    numbers_of_clusters,
    read_annotation,
    words_of,
)
from latefusion.interpretation.class_table import class_table

IDS = [f"p{one}" for one in range(90)]


@pytest.fixture
def named(gathered):
    return replace(gathered, ids=IDS)


def test_frames_are_matched_by_id_in_any_order(named):
    kinds = np.array(["x", "y", "z"])[named.labels]
    frame = pd.DataFrame({"kind": kinds, "size": np.arange(90.0)}, index=IDS).iloc[::-1].drop("p7")
    found = {one.name: one for one in read_annotation(frame, named).columns}
    expected = kinds.astype(object)
    expected[7] = None
    np.testing.assert_array_equal(words_of(found["kind"]), expected)
    assert np.isnan(found["size"].values[7])
    np.testing.assert_array_equal(np.delete(found["size"].values, 7), np.delete(np.arange(90.0), 7))


def test_a_list_of_another_length_is_called_what_it_is(named):
    with pytest.raises(ValueError, match=r"^The annotation has 3 values for 90 samples\. Give one per sample\.$"):
        read_annotation([1, 2, 3], named)


@pytest.mark.parametrize("name", ["stage", None])
def test_series_and_arrays_are_one_column(named, name):
    series = pd.Series(["a", "b"] * 45, index=IDS, name=name)
    (column,) = read_annotation(series[::-1], named).columns
    assert column.name == (name or "values")
    assert words_of(column).tolist() == ["a", "b"] * 45
    (plain,) = read_annotation(["a", "b"] * 45, named).columns
    assert words_of(plain).tolist() == ["a", "b"] * 45


def test_known_classes_come_first_and_are_categories(named):
    data = replace(named, target=np.array([10, 9, 2] * 30))
    first, second = read_annotation({"age": np.linspace(20, 80, 90)}, data).columns
    assert (first.name, first.levels) == (CLASSES, ("2", "9", "10"))
    assert (second.name, second.kind) == ("age", "number")
    assert [one.name for one in read_annotation(None, data).columns] == [CLASSES]
    assert read_annotation(None, named).columns == ()


def test_messages_are_about_annotation(named):
    with pytest.raises(ValueError, match="The annotation has no sample id in common with the clustering"):
        read_annotation(pd.DataFrame({"a": [1.5, 2.5]}, index=["u", "v"]), named)
    with pytest.raises(ValueError, match="column 'a' has 3 values"):
        read_annotation({"a": [1, 2, 3]}, named)
    texts = [f"a long text about patient number {one} in many words" for one in range(90)]
    found = read_annotation({"kind": ["a", "b"] * 45, "code": [f"X{one}" for one in range(90)], "text": texts}, named)
    assert all("outcome" not in note and "tested" not in note for note in found.notes)
    assert any("'code'" in note for note in found.notes)


def test_counts_and_scores_are_those_of_the_class_table(named):
    column = category_column("kind", [None, *np.array(["x", "y", "z"])[named.labels][1:]])
    found, expected = classes_of_clusters(column, named), class_table(named.labels, words_of(column))
    np.testing.assert_array_equal(found.counts, expected.counts)
    assert found.scores == expected.scores
    assert found.clusters == tuple(named.clusters)
    assert "1 of 90 samples have no class" in found.notes[0]


def test_quartiles_are_in_the_unit_of_the_user(named):
    spend = [f"${one * 10}" for one in range(90)]
    days = pd.to_datetime("2020-01-01") + pd.to_timedelta(np.arange(90), unit="D")
    columns = {one.name: one for one in read_annotation({"spend": spend, "seen": days}, named).columns}
    table = numbers_of_clusters(columns["spend"], named)
    for cluster in range(3):
        own = 10.0 * np.flatnonzero(named.labels == cluster)
        assert table["values"][cluster] == len(own)
        assert table["median"][cluster].startswith("$")
        assert float(table["median"][cluster][1:].replace(",", "")) == pytest.approx(np.median(own), abs=0.51)
    assert column_unit(columns["seen"]).whole_days
    assert all(len(text) == len("2020-01-01") for text in numbers_of_clusters(columns["seen"], named)["median"])


def test_a_cluster_without_values_has_dashes(named):
    values = np.where(named.labels == 1, np.nan, 1.5 + np.arange(90))
    (column,) = read_annotation({"size": values}, named).columns
    row = numbers_of_clusters(column, named)[1]
    assert (row["values"], row["median"]) == (0, "\u2013")
