"""Tables of results."""

import numpy as np
import pytest

from latefusion.results import SHOWN_ROWS, ResultTable


@pytest.fixture
def table():
    columns = {"cluster": [0, 0, 1], "feature": ["age", "<b>", None], "p": np.array([0.5, 1e-9, np.nan])}
    return ResultTable(columns, notes=["A note & more."], formats={"p": lambda value: f"p={value:.1g}"})


def test_columns_rows_and_parts(table):
    assert len(table) == 3
    np.testing.assert_array_equal(table["cluster"], [0, 0, 1])
    assert table[1] == {"cluster": 0, "feature": "<b>", "p": 1e-9}
    assert table[-1]["feature"] is None
    part = table[table["cluster"] == 0]
    assert isinstance(part, ResultTable)
    assert [row["feature"] for row in part] == ["age", "<b>"]
    assert part.notes == table.notes
    assert table[:2].records() == [table[0], table[1]]
    assert len(table[[2, 0]]) == 2


def test_rows_are_plain_python_values(table):
    assert {type(value) for value in table[0].values()} == {int, str, float}


def test_unknown_columns_and_rows_are_named(table):
    with pytest.raises(KeyError, match=r"Unknown column 'q'.*cluster, feature, p"):
        table["q"]
    with pytest.raises(IndexError, match="Row 3 of a table with 3 rows"):
        table[3]


def test_columns_have_one_length():
    with pytest.raises(ValueError, match=r"equal lengths, got \[1, 2\]"):
        ResultTable({"a": [1], "b": [1, 2]})


def test_it_prints_itself(table):
    text = repr(table)
    assert text.splitlines()[0].split() == ["cluster", "feature", "p"]
    assert "p=1e-09" in text
    assert "–" in text
    assert text.endswith("A note & more.")


def test_html_is_escaped(table):
    page = table._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "A note &amp; more." in page


def test_long_tables_are_cut_and_say_so():
    text = repr(ResultTable({"row": np.arange(1000)}))
    assert text.endswith(f"… and {1000 - SHOWN_ROWS} more rows")
    assert len(text.splitlines()) == SHOWN_ROWS + 3


def test_an_empty_table_prints():
    assert repr(ResultTable({"a": [], "b": []})).splitlines()[0].split() == ["a", "b"]


def test_a_data_frame_has_the_same_columns(table):
    pd = pytest.importorskip("pandas")
    frame = table.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame) == ["cluster", "feature", "p"]
    assert frame["p"].isna().tolist() == [False, False, True]


def test_cells_are_those_that_are_printed(table):
    header, rows = table.shown_cells(2)
    assert header == list(table.columns)
    assert len(rows) == 2
    for line, row in zip(repr(table).splitlines()[2:], rows, strict=False):
        assert line.split() == " ".join(row).split()
