"""Numbers in text, and what stands for a missing one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latefusion.datasets import load_views
from latefusion.datasets.text_values import GAPS, as_numbers, is_gap, parses
from tests.properties import examples

pd = pytest.importorskip("pandas")

MARKERS = ["NA", "n/a", "N/A", "nan", "NULL", "-", "?", ".", "", "None", "#N/A", "missing", "Missing", " ? "]


@pytest.mark.parametrize("marker", MARKERS)
@pytest.mark.parametrize(("separator", "decimal"), [(",", "."), (";", ",")])
def test_markers_among_numbers_are_gaps(tmp_path, marker, separator, decimal):
    assert is_gap(marker)
    lines = [["id", "a", "b"], ["s1", f"1{decimal}5", "1"], ["s2", marker, "2"], ["s3", f"-2{decimal}25", "3"]]
    (tmp_path / "t.csv").write_text("\n".join(separator.join(line) for line in lines))
    (array,) = load_views(tmp_path / "t.csv").views.arrays
    assert isinstance(array, np.ndarray)
    np.testing.assert_array_equal(array, [[1.5, 1], [np.nan, 2], [-2.25, 3]])


@examples(60)
@given(
    st.lists(st.one_of(st.floats(allow_nan=False).map(repr), st.sampled_from(sorted(GAPS)), st.none()), min_size=1),
    st.sampled_from([".", ","]),
    st.booleans(),
)
def test_numbers_and_gaps_come_back(values, decimal, word):
    """All are numbers, or with a single word among them none is."""
    shown = [value if value is None or value in GAPS else value.replace(".", decimal) for value in values]
    expected = [np.nan if value is None or value in GAPS else float(value) for value in values]
    if word:
        assert as_numbers(pd.Series([*shown, "word"], dtype=object), decimal) is None
        assert as_numbers(pd.Series(["word", *shown], dtype=object), decimal) is None
    else:
        found = as_numbers(pd.Series(shown, dtype=object, name="x"), decimal)
        assert found.name == "x"
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("text", ["1_000", "12 %", "$5", "2020-01-01", "1.2.3", "+", "seven", "True", "1,2,3"])
def test_what_is_not_a_number(text):
    assert not parses(text)
    assert as_numbers(pd.Series([text])) is None
    assert as_numbers(pd.Series(["1", text])) is None


def test_thousands_depend_on_the_decimal_sign():
    assert as_numbers(pd.Series(["1,234", "5"])).tolist() == [1234, 5]
    assert as_numbers(pd.Series(["1.234", "5,5"]), ",").tolist() == [1234, 5.5]
    assert as_numbers(pd.Series(["1.5", "5,5"]), ",") is None
