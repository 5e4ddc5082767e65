"""Which column contains the ids: words that differ in every row, but not values that happen to differ."""

import numpy as np
import pytest

from latefusion.datasets import load_files, load_views
from latefusion.datasets.id_columns import take_ids
from latefusion.datasets.options import TableOptions

pd = pytest.importorskip("pandas")


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (["ann", "bob", "cem"], "the first column, which holds text that differs in every row"),
        (["2020-01-01", "2020-01-02", "2020-01-03"], "the first column, which holds text that differs in every row"),
        (["north", "south", "north "], "no column of ids: the first column holds text, but 'north' occurs 2 times"),
        (["a", None, "b"], "no column of ids: the first column holds text, but is empty in 1 row"),
        ([None, None, "b"], "no column of ids: the first column holds text, but is empty in 2 rows"),
        (["12 %", "3.5 %", "4 %"], "no column of ids: the first column holds amounts, such as '12 %'"),
        (["$1,200.50", "-$3", "($4)"], "no column of ids: the first column holds amounts, such as '$1,200.50'"),
        (["1.200,50 €", "3 €", "4 €"], "no column of ids: the first column holds amounts, such as '1.200,50 €'"),
        (
            ["a word and some more words", "what one writes in a review", "this is good, I would say"],
            "no column of ids: the first column holds sentences",
        ),
        (pd.to_timedelta([1, 2, 3], unit="s"), "no column of ids: the first column holds durations"),
        ([1.0, 2.0, 3.0], "no column of ids: the first column holds numbers"),
    ],
)
def test_a_first_column_of_text_and_why(values, reason, tmp_path):
    frame = pd.DataFrame({"first": values, "b": [1.0, 2.0, 3.0]})
    ids = take_ids(frame, tmp_path / "t.csv", TableOptions())
    assert ids.reason == reason
    assert (ids.values is None) == reason.startswith("no column")
    assert list(frame.columns) == (["first", "b"] if ids.values is None else ["b"])


def test_repeated_words_are_data(tmp_path):
    (tmp_path / "t.csv").write_text("region,a\nnorth,1\nsouth,2\nnorth,3\n")
    data = load_views(tmp_path / "t.csv")
    assert data.views.sample_ids is None
    assert data.views.arrays[0]["region"].tolist() == ["north", "south", "north"]
    named = load_views(tmp_path / "t.csv", id_column="a").views
    assert named.sample_ids.tolist() == ["1", "2", "3"]


def test_empty_rows_below_a_table_do_not_count(tmp_path):
    (tmp_path / "t.csv").write_text("who,a\nann,1\nbob,2\n,\n,\n")
    assert load_views(tmp_path / "t.csv").views.sample_ids.tolist() == ["ann", "bob"]


def test_columns_that_were_not_the_ids_are_numbers_again(tmp_path):
    """Two columns have names of ids, so neither is; both were read as text."""
    (tmp_path / "t.csv").write_text("n;sample_id;patient_id;b\n1;1,5;7;1\n2;2,5;?;2\n")
    (array,) = load_views(tmp_path / "t.csv").views.arrays
    assert array[0].tolist() == [1, 1.5, 7, 1]


@pytest.mark.parametrize("name", ["customer_id", "userId", "order-ID", "Customer ID"])
def test_a_first_column_with_a_name_of_ids_holds_the_ids(tmp_path, name):
    (tmp_path / "a.csv").write_text(f"{name},x\n007,1\n12,2\n3,5\n")
    (tmp_path / "b.csv").write_text(f"{name},y\n3,1\n007,2\n12,5\n")
    data = load_files([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert data.views.sample_ids.tolist() == ["007", "12", "3"]
    assert data.views.arrays[1].ravel().tolist() == [2, 5, 1]


@pytest.mark.parametrize("text", ["paid,x\n7,1\n12,2\n3,5\n", "shop_id,x\n7,1\n7,2\n3,5\n"])
def test_numbers_that_repeat_or_have_another_name_are_no_ids(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    data = load_files([tmp_path / "a.csv"])
    assert data.views.sample_ids is None
    assert data.views.arrays[0].shape == (3, 2)
    assert data.views.arrays[0].dtype == np.float64
