"""Views hold several arrays together; indexing cuts samples, never views."""

import copy
import dataclasses
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.model_selection import KFold
from sklearn.utils import resample

from latefusion.types import MultiViewDataset, SolverResult, Views

A = np.arange(12.0).reshape(6, 2)
B = np.arange(18.0).reshape(6, 3)


@pytest.fixture
def views():
    mask = np.ones((6, 2), dtype=bool)
    mask[1, 0] = False
    return Views({"color": A, "shape": B}, mask=mask, sample_ids=list("uvwxyz"))


def test_shape_counts_samples_and_all_columns(views):
    assert (len(views), views.shape, views.n_views, views.widths) == (6, (6, 5), 2, (2, 3))
    assert views.names == ("color", "shape")
    assert repr(views) == "Views(6 samples; color: 2, shape: 3)"
    assert [name for name, _ in views.items()] == ["color", "shape"]


def test_names_by_default():
    assert Views([A, B]).names == ("view_0", "view_1")


@pytest.mark.parametrize(
    "key",
    [
        slice(1, 4),
        [4, 0, 0],
        np.array([True, False] * 3),
        np.array([5, 1]),
        -2,
        (slice(2), slice(None)),
        ([3], ...),
        [],
    ],
    ids=str,
)
def test_rows_of_everything_are_cut_alike(views, key):
    rows = np.atleast_1d(np.arange(6)[key[0] if isinstance(key, tuple) else key])
    part = views[key]
    np.testing.assert_array_equal(part.arrays[0], A[rows])
    np.testing.assert_array_equal(part.arrays[1], B[rows])
    np.testing.assert_array_equal(part.mask, views.mask[rows])
    np.testing.assert_array_equal(part.sample_ids, views.sample_ids[rows])
    assert part.names == views.names


@pytest.mark.parametrize(
    "container",
    [
        pd.DataFrame,
        pl.DataFrame,
        *(getattr(sp, f"{kind}_array") for kind in ("csr", "csc", "coo", "dia", "bsr", "lil")),
    ],
    ids=lambda container: f"{container.__module__.split('.')[0]}-{container.__name__}",
)
def test_rows_are_cut_in_every_kind_of_array(container):
    part = Views([container(A)])[[4, 1]].arrays[0]
    dense = part.toarray() if sp.issparse(part) else np.asarray(part)
    np.testing.assert_array_equal(dense, A[[4, 1]])


def test_scikit_learn_splits_samples_not_views(views):
    parts = [views[test] for _, test in KFold(3).split(views)]
    assert [part.shape for part in parts] == [(2, 5)] * 3
    assert resample(views, n_samples=4, random_state=0).shape == (4, 5)


def test_views_cannot_be_changed(views):
    with pytest.raises(AttributeError, match="immutable"):
        views.names = ("a", "b")
    with pytest.raises(ValueError, match="read-only"):
        views.mask[0, 0] = False
    with pytest.raises(ValueError, match="read-only"):
        views.sample_ids[0] = "q"


def test_views_cannot_be_taken_for_a_sequence_of_arrays(views):
    with pytest.raises(TypeError, match="cannot be iterated"):
        list(views)
    with pytest.raises(IndexError, match="samples only"):
        views[:, 0]


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda views: pickle.loads(pickle.dumps(views))])
def test_copies_are_equal(views, twin):
    other = twin(views)
    assert other.names == views.names
    np.testing.assert_array_equal(other.mask, views.mask)
    np.testing.assert_array_equal(other.sample_ids, views.sample_ids)
    for mine, theirs in zip(views.arrays, other.arrays, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"arrays": []}, ["no views", "at least one"]),
        ({"arrays": np.zeros((3, 3, 2))}, ["(3, 3, 2)", "list or a dict", "[X]"]),
        ({"arrays": pd.DataFrame(A)}, ["(6, 2)", "list or a dict"]),
        ({"arrays": [A, B], "names": ["a"]}, ["2 views", "1 names", "one name per view"]),
        ({"arrays": [A, B], "names": ["a", "a"]}, ["must be unique", "'a'"]),
        ({"arrays": {1: A, "1": B}}, ["must be unique", "'1'"]),
        ({"arrays": {"a": A, "b": B[:, 0]}}, ["'b'", "two-dimensional", "(6,)"]),
        ({"arrays": {"a": A, "b": [[1.0, 2.0]] * 6}}, ["'b'", "two-dimensional", "list"]),
        ({"arrays": {"a": A, "b": B[:5]}}, ["'a': 6", "'b': 5", "same number of rows", "NaN"]),
        ({"arrays": [A, B], "mask": np.ones((6, 3))}, ["mask", "(6, 3)", "(6, 2)"]),
        ({"arrays": [A, B], "sample_ids": [1, 2]}, ["sample_ids", "(2,)", "(6,)"]),
    ],
)
def test_what_views_refuse(arguments, words):
    with pytest.raises(ValueError, match=r"\w") as caught:
        Views(**arguments)
    assert all(word in str(caught.value) for word in words), caught.value


def test_results_name_their_parts_and_data_sets_are_frozen(views):
    result = SolverResult(A, None, [1.0], 1, True)
    assert (result.rotations, result.mixing, result.labels) == (None, None, None)
    data = MultiViewDataset(views)
    assert data.kind == "features"
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.name = "other"


def test_without_a_mask_everything_is_observed():
    arrays, mask = [np.zeros((3, 2)), np.zeros((3, 1))], np.eye(3, 2, dtype=bool)
    assert Views(arrays).observed.all()
    np.testing.assert_array_equal(Views(arrays, mask=mask).observed, mask)


def test_views_in_notebooks_are_a_table_of_escaped_names():
    mask = np.array([[True, True], [True, False], [True, True]])
    page = Views({"a<b>": np.zeros((3, 4)), "c": np.ones((3, 2), dtype=np.float32)}, mask=mask)._repr_html_()
    assert "3 samples, 2 views" in page
    assert "<td>a&lt;b&gt;</td><td>4</td><td>3</td><td>ndarray</td><td>float64</td>" in page
    assert "<td>c</td><td>2</td><td>2</td><td>ndarray</td><td>float32</td>" in page


def test_a_name_is_not_an_index():
    views = Views({"rna": np.eye(3), "protein": np.ones((3, 2))})
    with pytest.raises(
        IndexError, match=r"indexed by samples, not by 'rna'\. A single view is dict\(views.items\(\)\)\['rna'\]"
    ):
        views["rna"]


def test_a_data_set_prints_sizes_instead_of_values():
    views = Views({"a": np.ones((4, 2))})
    data = MultiViewDataset(views, target=np.array([0, 1, 1, 0]), name="small")
    assert repr(data) == "MultiViewDataset(small: Views(4 samples; a: 2); 2 known classes)"
    assert repr(MultiViewDataset(views)) == "MultiViewDataset(Views(4 samples; a: 2))"
