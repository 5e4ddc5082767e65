"""Objects as trees of text and numbers: decoding gives the same object, and nothing else can be named."""

import json

import hypothesis.extra.numpy as arrays_of
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors

import latefusion as lf
from latefusion.outputs.tree import SchemaError, decode, encode
from latefusion.selection.cluster_number import NumberEvidence
from tests.outputs.likeness import alike
from tests.properties import examples


def stored(value):
    """The tree of a value, through JSON, and its arrays."""
    arrays = []

    def store(array):
        arrays.append(array)
        return len(arrays) - 1

    return json.loads(json.dumps(encode(value, store))), arrays


def there_and_back(value):
    node, arrays = stored(value)
    return decode(node, arrays.__getitem__)


plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
numbers = arrays_of.arrays(
    st.sampled_from(["<f8", "<f4", "<i8", "|u1", "|b1", "<U3"]),
    arrays_of.array_shapes(min_dims=0, min_side=0, max_side=3),
)
keys = plain | st.tuples(st.integers(), st.text())
values = st.recursive(
    plain
    | numbers
    | st.builds(NumberEvidence, st.integers(), *[st.floats()] * 3)
    | st.builds(range, st.integers(0, 9)),
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
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_models_are_made_of(value):
    found = there_and_back(value)
    assert str(found) == str(value) if isinstance(value, slice) else alike(found, value)


def test_equal_parts_become_one_object_but_types_differ():
    """1, 1.0 and True are equal for Python, but not the same value."""
    one, two, three = there_and_back([NumberEvidence(1, 2.0, 3.0, 4.0)] * 2 + [NumberEvidence(1, 2, 3.0, 4.0)])
    assert one is two
    assert type(three.stability) is int


def own_kernel(X, Y):
    return X @ Y.T


class OwnPartition:
    def similarity(self):
        pass


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (own_kernel, "the function own_kernel. It is your own code"),
        (lambda X, Y: X, "which a model file cannot contain: loading a file executes nothing"),
        (OwnPartition(), "OwnPartition. It is your own code"),
        (np.ma.masked_array([1.0]), "MaskedArray. A model file contains NumPy arrays, sparse"),
        (np.zeros(2, dtype="f8,i4"), "an array of type .* which a model file cannot contain"),
        (NearestNeighbors(metric="cosine"), "NearestNeighbors. A model file contains"),
        (KMeans(), "KMeans. A model file cannot contain it. Give the labels that it predicts as a view"),
        ({1, 2}, "builtins.set. A model file contains"),
        (np.longdouble(1), "numpy.longdouble. A model file contains"),
        (lf.Views([np.eye(2)]), "Views. A model file contains"),
    ],
)
def test_what_cannot_be_stored_is_refused_by_its_position(value, words):
    with pytest.raises(ValueError, match=words) as refused:
        encode({"deep": [value]}, str)
    assert str(refused.value).startswith("model['deep'][0] ")


@pytest.mark.parametrize(
    "node",
    [
        {"part": "os.system", "fields": {"command": "touch x"}},
        {"part": "system", "fields": {}},
        {"part": "Popen", "fields": {"args": "id"}},
        {"part": ["os", "system"], "fields": {}},
        {"part": "MultiViewDataset", "fields": {}},  # a class of the package, but not part of a model
        {"part": "Partitions", "fields": {}},
        {"part": "TrainingState", "fields": {}},
        {"part": "GlobalAlignmentClustering", "fields": {}},
        {"part": "GraphSimilarity", "fields": {}},
        {"part": "GraphSimilarity", "fields": None},
        {"part": "GraphSimilarity"},
        {"part": "NearestCenter", "fields": {"centers": {"list": []}}},
        {"part": "NumberEvidence", "fields": {"n_clusters": 1, "stability": 1.0, "standard_error": 0, "more": 2}},
        {"part": "Preparation", "fields": {"kind": "counts", "weights": None, "shift": None, "__class__": "x"}},
        {"reduce": ["os.system", ["id"]]},
        {"call": "x"},
        {"_part": "x"},
        {"__class__": "x"},
        {"kernel": "os.system"},
        {"dtype": "O"},
        {"scalar": ["O", 1]},
        {"scalar": ["<f8", [1]]},
        {"scalar": ["<M8[D]", 1]},
        {"list": [], "tuple": []},
        {},
        [1, 2],
    ],
    ids=str,
)
def test_nothing_else_can_be_named(node):
    with pytest.raises(SchemaError):
        decode(node, {}.__getitem__)


def test_indices_of_sparse_matrices_are_checked():
    """Products with a matrix whose indices are out of range would read foreign memory."""
    node, arrays = stored(scipy.sparse.csr_array(np.eye(3)))
    arrays[node["sparse"]["indices"]["array"]] = np.array([0, 1, 10**6], dtype=np.int32)
    with pytest.raises(ValueError, match="indices"):
        decode(node, arrays.__getitem__)
