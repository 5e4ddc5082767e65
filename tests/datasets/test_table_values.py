"""Tables of numbers are arrays, others data frames of simple values; anything else is refused."""

import datetime
import decimal

import numpy as np
import pytest

from latefusion.datasets import load_views

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


def stored(tmp_path, **columns):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"n": [1.0, 2.0, 3.0], **columns}).to_parquet(path)
    return path


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([None, [1, 2], [3]], r"row 2: array\(\[1, 2\]\) \(a ndarray\)"),
        ([{"a": 1.0}, {"a": 2.0}, None], r"row 1: \{'a': 1\.0\} \(a dict\)"),
        ([None, None, b"xy"], r"row 3: b'xy' \(a bytes\)"),
        ([list(range(1000)), None, None], r"row 1: array\(\[.{1,40}… \(a ndarray\)"),
    ],
)
def test_columns_of_lists_and_objects_are_refused(tmp_path, values, shown):
    path = stored(tmp_path, odd=values)
    with pytest.raises(
        ValueError, match=rf"t\.parquet': column 'odd' .* the first in {shown}\. Split it.*or remove it"
    ):
        load_views(path)


def test_objects_that_are_numbers_dates_or_durations(tmp_path):
    days = [datetime.date(1, 1, 1), None, datetime.date(9999, 12, 31)]
    times = [datetime.time(1, 30), None, datetime.time(0, 0, 1)]
    amounts = [decimal.Decimal("1.5"), None, decimal.Decimal("-2")]
    (frame,) = load_views(stored(tmp_path, day=days, time=times, amount=amounts, nothing=[None] * 3)).views.arrays
    np.testing.assert_array_equal(frame["amount"], [1.5, np.nan, -2])
    assert frame["amount"].dtype == frame["nothing"].dtype == np.float64
    assert frame["day"].dtype.kind == "M"
    assert frame["day"].dt.year.tolist()[::2] == [1, 9999]
    assert frame["time"].dt.total_seconds().tolist()[::2] == [5400, 1]
    assert frame["nothing"].isna().all()


def test_digits_that_are_stored_as_text_stay_text(tmp_path):
    (frame,) = load_views(stored(tmp_path, code=["01234", None, "7"])).views.arrays
    assert frame["code"].tolist() == ["01234", None, "7"]


def test_exact_decimals_alone_are_an_array(tmp_path):
    (array,) = load_views(stored(tmp_path, amount=[decimal.Decimal("1.5"), None, decimal.Decimal("-2")])).views.arrays
    np.testing.assert_array_equal(array, [[1, 1.5], [2, np.nan], [3, -2]])


def test_numbers_that_are_not_floats_stay_an_array(tmp_path):
    path = stored(tmp_path, whole=pd.array([1, None, 3], dtype="Int64"), flag=[True, False, True])
    (array,) = load_views(path).views.arrays
    np.testing.assert_array_equal(array, [[1, 1, 1], [2, np.nan, 0], [3, 3, 1]])


@pytest.mark.parametrize("text", ["a,b\n,\n,\n", "a,b\n?,NA\n-,\n", "id,a\nx,?\ny,?\n"])
def test_a_table_of_gaps_is_an_array_of_gaps(tmp_path, text):
    """The estimators say that the view is missing for all samples."""
    (tmp_path / "t.csv").write_text(text)
    views = load_views(tmp_path / "t.csv").views
    assert np.isnan(views.arrays[0]).all()
    assert not views.mask.any()


def test_infinite_values_stay_infinite(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\ninf,x\n-inf,y\n1e400,x\n")
    assert load_views(tmp_path / "t.csv").views.arrays[0]["a"].tolist() == [np.inf, -np.inf, np.inf]


def test_many_different_words(tmp_path):
    words = [f"word {number}" for number in range(100_000)]
    path = tmp_path / "t.csv"
    path.write_text("n,word\n" + "\n".join(f"{number},{word}" for number, word in enumerate(words)))
    (frame,) = load_views(path).views.arrays
    assert frame["word"].tolist() == words


def test_names_that_are_equal_as_text_are_refused(tmp_path):
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame([[1.0, "x"], [2.0, "y"]], columns=["1", "2"])
    frame.to_parquet(path)
    frame.columns = [1, "1"]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pd, "read_parquet", lambda file: frame)
        with pytest.raises(ValueError, match=r"t\.parquet' has 2 columns with the name '1'. Rename them"):
            load_views(path)
