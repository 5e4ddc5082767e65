import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from latefusion.datasets.joining import Part, join_samples, other_spelling
from tests.properties import examples

names = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True)


def part(ids, name, sparse=False, dtype=np.float64):
    """A view whose values tell which sample and which view they belong to."""
    array = np.array([[ord(one), len(name)] for one in ids], dtype=dtype)
    return Part(scipy.sparse.csr_array(array) if sparse else array, np.array(ids), f"{name}.csv")


@examples(60)
@given(names, names, st.booleans())
def test_every_row_is_where_its_sample_is_and_nowhere_else(first, second, sparse):
    parts = {"x": part(first, "x"), "xy": part(second, "xy", sparse)}
    if not set(first) & set(second):
        with pytest.raises(ValueError, match=r"x\.csv has no sample in common"):
            join_samples(parts)
        return
    views = join_samples(parts)
    assert sorted(views.sample_ids) == sorted({*first, *second})
    for view, ids in enumerate((first, second)):
        observed = np.isin(views.sample_ids, ids)
        mask = np.ones_like(observed) if views.mask is None else views.mask[:, view]
        np.testing.assert_array_equal(mask, observed)
        array = views.arrays[view]
        dense = array.toarray() if scipy.sparse.issparse(array) else array
        expected = [ord(one) for one in views.sample_ids[observed]]
        np.testing.assert_array_equal(dense[observed, 0], expected)
        lacking = dense[~observed]
        assert (lacking == 0).all() if scipy.sparse.issparse(array) else np.isnan(lacking).all()


@examples(40)
@given(names, st.integers(1, 3), st.data())
def test_tables_with_the_same_rows_are_joined_as_those_in_another_order(ids, n_views, data):
    same = join_samples({"x" * (1 + at): part(ids, "x" * (1 + at)) for at in range(n_views)})
    moved = [data.draw(st.permutations(ids)) for _ in range(n_views)]
    other = join_samples({"x" * (1 + at): part(own, "x" * (1 + at)) for at, own in enumerate(moved)}, order=ids)
    assert same.sample_ids.tolist() == other.sample_ids.tolist() == ids
    assert same.names == other.names
    assert same.mask is None
    assert other.mask is None
    for one, two in zip(same.arrays, other.arrays, strict=True):
        np.testing.assert_array_equal(one, two)


def test_same_samples_in_another_order_need_no_mask():
    views = join_samples({"x": part("abc", "x"), "xy": part("cab", "xy")})
    assert views.mask is None
    np.testing.assert_array_equal(views.arrays[0][:, 0], views.arrays[1][:, 0])


def test_a_given_order_is_kept_and_float32_stays():
    views = join_samples({"x": part("ab", "x", dtype=np.float32), "xy": part("bc", "xy")}, order=["c", "b", "a"])
    assert views.sample_ids.tolist() == ["c", "b", "a"]
    assert views.arrays[0].dtype == np.float32


def test_samples_outside_the_given_order_are_refused():
    with pytest.raises(ValueError, match=r"xy\.csv has 1 samples that are not in the list of all samples, such as 'c'"):
        join_samples({"x": part("ab", "x"), "xy": part("bc", "xy")}, order=["a", "b"])


def test_integers_become_floats_only_with_missing_rows():
    views = join_samples({"x": part("ab", "x", dtype=np.int64), "xy": part("abc", "xy", dtype=np.int64)})
    assert [array.dtype.kind for array in views.arrays] == ["f", "i"]


def test_rows_without_any_value_are_absent():
    empty = Part(np.array([[1.0, np.nan], [np.nan, np.nan]]), None, "x.csv")
    views = join_samples({"x": empty, "y": Part(np.ones((2, 1)), None, "y.csv")})
    assert views.mask.tolist() == [[True, True], [False, True]]


def test_without_ids_rows_must_agree_and_ids_are_for_all_or_none():
    with pytest.raises(ValueError, match=r"different numbers of rows, \{'x\.csv': 2, 'y\.csv': 3\}"):
        join_samples({"x": Part(np.ones((2, 1)), None, "x.csv"), "y": Part(np.ones((3, 1)), None, "y.csv")})
    with pytest.raises(ValueError, match=r"'x\.csv'\] have sample ids and \['y\.csv'\] have none"):
        join_samples({"x": part("ab", "x"), "y": Part(np.ones((2, 1)), None, "y.csv")})


@pytest.mark.parametrize(
    ("own", "other", "how"),
    [
        (["p1", "p2"], ["P1", "P2"], "upper and lower case"),
        (["1", "2"], ["001", "002"], "zeros at the beginning"),
        (["s1", "s2"], ["s01", "s02"], "zeros at the beginning"),
        (["1.0", "2.0"], ["1", "2"], "'.0' at the end"),
        (["TCGA.01.A", "TCGA.02.A"], ["TCGA-01-A", "TCGA-02-A"], "points, hyphens"),
        (["X1.a", "X2.a"], ["1-a", "2-a"], "the letter X"),
    ],
)
def test_ids_that_differ_only_in_how_they_are_written(own, other, how):
    parts = {"x": Part(np.ones((2, 1)), np.array(own), "x.csv"), "y": Part(np.ones((2, 1)), np.array(other), "y.csv")}
    with pytest.raises(ValueError, match=rf"2 of its 2 ids differ only in .*{how}.*{own[0]!r} and {other[0]!r}"):
        join_samples(parts)


def test_ids_and_columns_that_match_nothing_are_not_called_transposed():
    parts = {
        "x": Part(np.ones((2, 2)), np.array(["a", "b"]), "x.csv", ["u", "v"]),
        "y": Part(np.ones((2, 2)), np.array(["c", "d"]), "y.csv", ["w", "z"]),
    }
    with pytest.raises(ValueError, match=r"no sample in common.*theirs like 'c'\. Write the ids in the same way"):
        join_samples(parts)


@examples(40)
@given(names, names)
def test_data_frames_are_joined_like_arrays(first, second):
    pandas = pytest.importorskip("pandas")
    if not set(first) & set(second):
        return
    numbers = {"x": part(first, "x"), "xy": part(second, "xy")}
    frames = {}
    for name, one in numbers.items():
        rows = range(3, 3 + len(one.ids))
        frames[name] = one._replace(array=pandas.DataFrame({"n": one.array[:, 0], "word": list(one.ids)}, index=rows))
    expected, views = join_samples(numbers), join_samples(frames)
    assert views.sample_ids.tolist() == expected.sample_ids.tolist()
    np.testing.assert_array_equal(views.observed, expected.observed)
    for frame, array, observed in zip(views.arrays, expected.arrays, views.observed.T, strict=True):
        assert list(frame.index) == list(range(len(views)))
        np.testing.assert_array_equal(frame["n"], array[:, 0])
        assert frame["word"][observed].tolist() == views.sample_ids[observed].tolist()
        assert frame[~observed].isna().all(axis=None)


def test_rows_of_data_frames_without_any_value_are_absent():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, np.nan], "b": ["x", None]}, index=[5, 9])
    views = join_samples({"x": Part(frame, None, "x.csv"), "y": Part(np.ones((2, 1)), None, "y.csv")})
    assert views.mask.tolist() == [[True, True], [False, True]]
    assert list(views.arrays[0].index) == [0, 1]


def test_other_spellings_are_found():
    assert other_spelling(["a01", "b2"], ["A01", "c"]) == ("upper and lower case", 1, "a01", "A01")
    assert other_spelling(["7"], ["007"]) == ("zeros at the beginning", 1, "7", "007")
    assert other_spelling(["x"], ["y"]) is None
    assert other_spelling([], ["y"]) is None


def test_files_without_ids_are_named_once():
    """Columns of one table are several parts."""
    nameless = Part(np.zeros((2, 1)), None, "b.csv", reason="why")
    with pytest.raises(ValueError, match=r"\['a\.csv'\] have sample ids and \['b\.csv'\] have none \(b\.csv: why\)"):
        join_samples({"a": Part(np.zeros((2, 1)), np.array(["p", "q"]), "a.csv"), "b": nameless, "c": nameless})
