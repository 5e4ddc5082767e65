import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from latefusion.datasets.labels import encode_labels, plain
from tests.properties import examples


def groups(labels):
    return np.equal.outer(labels, labels)


@examples(60)
@given(st.lists(st.integers(-3, 6), min_size=1, max_size=30), st.sampled_from([(-1,), (-1, 1), (1, -1)]))
def test_numbers_keep_their_groups_and_their_order(values, shape):
    """Renumbering is monotone and onto 0 … k−1, whatever the first number and the shape of the vector."""
    codes, names = encode_labels(np.array(values, dtype=float).reshape(shape), "here")
    assert names == ()
    assert set(codes) == set(range(len(set(values))))
    assert (groups(codes) == groups(np.array(values))).all()
    assert np.argsort(codes, kind="stable").tolist() == np.argsort(values, kind="stable").tolist()


@examples(60)
@given(st.lists(st.integers(0, 3), min_size=5, max_size=30), st.booleans(), st.booleans())
def test_one_hot_tables_equal_their_vector(values, lying, sparse):
    classes, codes = np.unique(values, return_inverse=True)
    if len(classes) < 2:
        return
    table = np.eye(len(classes))[codes]
    table = table.T if lying else table
    found, _ = encode_labels(scipy.sparse.csc_matrix(table) if sparse else table, "here")
    np.testing.assert_array_equal(found, codes)


def test_words_become_names():
    codes, names = encode_labels(np.array(["b", "a", "b"], dtype=object), "here")
    assert codes.tolist() == [1, 0, 1]
    assert names == ("a", "b")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([]), "here: the labels are empty"),
        (np.array([0.5, 1]), "the label of sample 1 is 0.5"),
        (np.array([1, np.nan, 2, np.nan]), "the label of sample 2 is nan.*2 of 4"),
        (np.array([[1, 2], [3, 4], [5, 6]]), r"one-hot.*shape \(3, 2\)"),
        (np.array([[1, 1], [0, 1], [1, 0]]), r"one-hot.*shape \(3, 2\)"),
        (np.array([1j, 2]), "complex"),
        (np.array(["a", None, "b"], dtype=object), "1 of . samples have no label, such as sample 2"),
        (np.array(["a", ""]), "1 of . samples have no label, such as sample 2"),
    ],
)
def test_what_is_no_label_is_refused(values, message):
    with pytest.raises(ValueError, match=f"^here.*{message}|{message}"):
        encode_labels(values, "here")


def test_plain_names():
    assert {plain(name) for name in ("true_label", "TrueLabel", "TRUE LABEL")} == {"truelabel"}
