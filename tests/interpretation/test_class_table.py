import numpy as np
import pandas as pd
import pytest

import latefusion as lf
from latefusion.interpretation import class_table


def test_counts_are_those_of_the_contingency_table():
    rng = np.random.default_rng(0)
    labels, classes = rng.integers(0, 3, 50), rng.integers(0, 4, 50)
    found = class_table(labels, classes)
    np.testing.assert_array_equal(found.counts, lf.metrics.contingency(labels, classes))
    assert (found.clusters, found.classes) == ((0, 1, 2), ("0", "1", "2", "3"))
    assert found.scores == lf.metrics.clustering_scores(classes, labels)
    assert found.notes == ()


def test_numbers_are_sorted_as_numbers_and_words_after_them():
    assert class_table([0, 0, 1, 1], [10, 9, 2, 2]).classes == ("2", "9", "10")
    assert class_table([0, 0, 1, 1], ["b", "10", "2", "a"]).classes == ("2", "10", "a", "b")


def test_missing_clusters_and_classes_are_counted():
    found = class_table([0, 0, 1, -1, 1], ["a", None, "b", "a", "NA"])
    assert found.counts.tolist() == [[1, 0], [0, 1]]
    assert found.notes == (
        "1 of 5 samples have no cluster and are left out.",
        "2 of 5 samples have no class and are left out.",
    )


def test_classes_are_matched_by_id():
    labels = pd.Series([0, 0, 1, 1], index=["p", "q", "r", "s"])
    found = class_table(labels, pd.Series(["b", "a", "a"], index=["s", "p", "q"]))
    assert found.counts.tolist() == [[2, 0], [0, 1]]
    assert found.notes == ("1 of 4 samples have no class and are left out.",)


def test_a_model_is_read_with_its_ids():
    data = lf.datasets.make_views(60, 3, n_features=4, random_state=0)
    ids = [f"p{row}" for row in range(60)]
    frames = {name: pd.DataFrame(array, index=ids) for name, array in data.views.items()}
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(frames)
    classes = pd.Series(data.target, index=ids)
    np.testing.assert_array_equal(class_table(model, classes[::-1]).counts, class_table(model, data.target).counts)


def test_table_has_the_most_common_class_and_prints_itself():
    found = class_table(["x", "x", "x", "y"], ["share", "share", "b", "b"])
    table = found.table()
    assert table["most common"].tolist() == ["share", "b"]
    assert table["share (class)"].tolist() == [2, 0]
    assert "67%" in repr(found)
    assert "Agreement: accuracy 0.750" in found._repr_html_()
    assert found.to_frame().loc["x"].to_dict() == {"b": 1, "share": 2}


@pytest.mark.parametrize(
    ("classes", "message"),
    [([None, None], "No sample has both a cluster and a class"), ([1], "classes has 1 values for 2 samples")],
)
def test_wrong_classes_are_refused(classes, message):
    with pytest.raises(ValueError, match=message):
        class_table([0, 1], classes)
