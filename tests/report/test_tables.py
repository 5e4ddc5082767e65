import numpy as np

from latefusion.report.tables import shown_table
from latefusion.results import ResultTable


def test_a_table_is_shown_as_it_is_printed():
    table = ResultTable({"name": ["a", "b"], "p": [0.25, np.nan]}, ["A note."])
    shown = shown_table(table, "title")
    assert shown == ("title", ["name", "p"], [["a", "0.25"], ["b", "\u2013"]], [False, True], ("A note.",), 0)


def test_rows_that_are_left_out_are_counted():
    shown = shown_table(ResultTable({"n": np.arange(100)}))
    assert len(shown.rows) + shown.n_more == 100
    assert shown.n_more > 0


def test_numbers_as_text_are_numbers():
    assert shown_table(ResultTable({"a": ["x"], "b": ["$1"]}), texts_are_numbers=True).is_number == [False, True]
