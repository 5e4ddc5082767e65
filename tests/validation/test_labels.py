"""Views of labels among others: found where they are meant, coded alike later, matched by sample id."""

import numpy as np
import pandas as pd
import pytest

from latefusion import GivenPartition, Views
from latefusion.validation.labels import code_label_views, fit_label_codings

FEATURES = np.arange(8.0).reshape(4, 2)
TEXT = ["b", "a", "b", None]


def test_labels_are_found_by_word_object_or_type():
    views = {"x": FEATURES, "t": TEXT, "n": np.array([0, 1, 1, -1])}
    assert list(fit_label_codings(views, "auto")) == ["t"]
    assert list(fit_label_codings(views, {"x": "graph", "t": "kernel", "n": "labels"})) == ["t", "n"]
    assert list(fit_label_codings(views, ["graph", "labels", GivenPartition()])) == ["t", "n"]
    assert not fit_label_codings({"x": FEATURES}, GivenPartition())
    assert not fit_label_codings(np.zeros((2, 2, 3)), "precomputed")


def test_labels_become_a_column_of_numbers_and_the_rest_stays():
    views = {"x": FEATURES, "t": TEXT}
    codings = fit_label_codings(views, "auto")
    coded = code_label_views(views, codings)
    assert coded["x"] is FEATURES
    np.testing.assert_array_equal(coded["t"], [[1.0], [0.0], [1.0], [-1.0]])
    np.testing.assert_array_equal(code_label_views({"x": FEATURES, "t": ["a"]}, codings)["t"], [[0.0]])
    assert code_label_views(views, {}) is views


def test_series_keep_their_sample_ids():
    series = pd.Series(["b", "a"], index=["s1", "s0"])
    coded = code_label_views({"t": series}, fit_label_codings({"t": series}, "auto"))["t"]
    assert list(coded.index) == ["s1", "s0"]
    assert coded.to_numpy().ravel().tolist() == [1.0, 0.0]


def test_frames_of_one_column_and_views_are_read():
    views = Views({"x": FEATURES, "t": pd.DataFrame({"leiden": TEXT})}, mask=np.ones((4, 2), dtype=bool))
    coded = code_label_views(views, fit_label_codings(views, {"x": "graph", "t": "labels"}))
    assert isinstance(coded, Views)
    assert coded.mask.all()
    np.testing.assert_array_equal(coded.arrays[1], [[1.0], [0.0], [1.0], [-1.0]])


def test_the_object_says_what_is_unassigned():
    codings = fit_label_codings({"t": ["x", "y", "?"]}, GivenPartition("labels", unassigned="?"))
    np.testing.assert_array_equal(codings["t"].codes(["?", "y"], "t"), [-1, 1])


def test_errors_name_the_view():
    with pytest.raises(ValueError, match="View 't' has only the cluster 'a'"):
        fit_label_codings({"t": ["a", "a"]}, "auto")
    series = pd.Series(["a", "b", "b", "z"], index=["s3", "s2", "s1", "s0"])
    codings = fit_label_codings({"t": series[:3]}, "auto")
    with pytest.raises(ValueError, match="View 't' has the label 'z' \\(sample 's0'\\)"):
        code_label_views({"t": series}, codings)
