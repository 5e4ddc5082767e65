"""Objects as trees of words and numbers: the way back gives the same, and nothing else can be named."""

import json
from collections import Counter

import hypothesis.extra.numpy as arrays_of
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

import latefusion as lf
from latefusion.outputs import tree
from latefusion.outputs.tree import UnknownContentError, describe, known_classes, rebuild
from latefusion.partitions.partitions import PartitionKey
from tests.outputs.likeness import alike
from tests.properties import examples


def there_and_back(value):
    arrays = {}
    return rebuild(json.loads(json.dumps(describe(value, arrays))), arrays.__getitem__)


plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
numbers = arrays_of.arrays(
    st.sampled_from(["<f8", "<f4", "<i8", "|u1", "|b1", "<U3"]),
    arrays_of.array_shapes(min_dims=0, min_side=0, max_side=3),
)
keys = plain | st.tuples(st.integers(), st.text())
values = st.recursive(
    plain | numbers | st.builds(PartitionKey, st.integers(), st.text()) | st.builds(range, st.integers(0, 9)),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(keys, inner),
    max_leaves=8,
)


@examples(60)
@given(values)
def test_the_way_back_gives_the_same(value):
    assert alike(there_and_back(value), value)


@pytest.mark.parametrize(
    "value",
    [
        np.float32(0.1),
        np.array(["a", None, ("b", 2)], dtype=object),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        scipy.sparse.csr_array(np.eye(3)),
        scipy.sparse.csc_matrix(np.eye(3)),
        np.dtype("<f4"),
        np.random.RandomState(3),
        slice(2, None, 3),
        lf.kernels.KERNELS["laplace"],
        lf.GraphSimilarity(7),
        NearestNeighbors().fit(np.arange(12.0).reshape(6, 2)),
        lf.Views({"a": np.eye(2)}, mask=[[True], [False]], sample_ids=["x", "y"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_models_are_made_of(value):
    found = there_and_back(value)
    assert str(found) == str(value) if isinstance(value, slice) else alike(found, value)


def test_an_array_that_is_held_twice_is_kept_once():
    array, arrays = np.arange(3), {}
    first, second = rebuild(describe([array, array], arrays), arrays.__getitem__)
    assert len(arrays) == 1
    assert first is second


def test_no_two_classes_share_a_name():
    """Classes are found by bare names, so that they may move between modules."""
    names = Counter(found.__name__ for found in set(tree._classes()))
    assert [name for name, times in names.items() if times > 1] == []
    assert all(found.__module__.startswith("latefusion.") for found in known_classes().values())


def own_kernel(X, Y):
    return X @ Y.T


class OwnPartition:
    def similarity(self):
        pass


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (own_kernel, "the function own_kernel, which was given by you"),
        (lambda X, Y: X, "a model file holds no code"),
        (OwnPartition(), "OwnPartition, which was given by you"),
        (np.ma.masked_array([1.0]), "MaskedArray, which a model file cannot hold"),
        (np.zeros(2, dtype="f8,i4"), "an array of type"),
        (NearestNeighbors(metric="cosine"), "NearestNeighbors, which a model file cannot hold"),
        ({1, 2}, "builtins.set, which a model file cannot hold"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_place(value, words):
    with pytest.raises(ValueError, match=words) as refused:
        describe({"deep": [value]}, {})
    assert str(refused.value).startswith("model['deep'][0] ")


@pytest.mark.parametrize(
    "node",
    [
        {"object": "os.system", "fields": {"command": "touch x"}},
        {"object": "system", "fields": {}},
        {"object": "Popen", "fields": {"args": "id"}},
        {"object": "MultiViewDataset", "fields": {}},  # a class of the package, but no part of a model
        {"object": "GraphSimilarity", "fields": {}},
        {"object": "PartitionKey", "fields": {"view": 1, "similarity": "x", "more": 2}},
        {"object": "GraphSimilarity", "fields": {"n_neighbors": 5, "__class__": "x"}},
        {"reduce": ["os.system", ["id"]]},
        {"kernel": "os.system"},
        {"dtype": "O"},
        {},
        [1, 2],
    ],
    ids=str,
)
def test_nothing_else_can_be_named(node):
    with pytest.raises(UnknownContentError):
        rebuild(node, {}.__getitem__)


def test_indices_of_sparse_matrices_are_looked_at():
    """Products with a matrix whose indices lie outside would read foreign memory."""
    arrays = {}
    node = describe(scipy.sparse.csr_array(np.eye(3)), arrays)
    arrays[node["sparse"]["indices"]["array"]] = np.array([0, 1, 10**6], dtype=np.int32)
    with pytest.raises(ValueError, match="indices"):
        rebuild(node, arrays.__getitem__)


def test_parameters_that_are_younger_than_the_file_have_their_default():
    arrays = {}
    tree = describe(lf.GlobalAlignmentClustering(4, regularization=2.0), arrays)
    del tree["fields"]["reference"]
    again = rebuild(tree, arrays.__getitem__)
    assert again.get_params() == lf.GlobalAlignmentClustering(4, regularization=2.0).get_params()
